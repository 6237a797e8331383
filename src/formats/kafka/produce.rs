//! What the broker's produce path looks at besides the batch itself.

use super::TimestampType;

/// Settings of broker, topic and request that decide what a producer's batches may be.
///
/// The default is a topic with Kafka's default settings and a request of no particular version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Produce {
    /// Version of the Produce request: from 3 on it holds exactly one batch of magic 2, below 7 no zstd.
    pub version: Option<i16>,
    /// The topic's `max.message.bytes`.
    pub max_message_bytes: u32,
    /// The topic's `segment.bytes`.
    pub segment_bytes: u32,
    /// Whether the topic's `cleanup.policy` has `compact`: then each record needs a key.
    pub compacted: bool,
    /// The topic's `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// The least and the greatest timestamp that the topic takes, ms.
    pub timestamps: Option<(i64, i64)>,
    /// Whether messages of magic 0 and 1 are converted to record batches, as brokers do since version 3.0.
    pub converts: bool,
}

impl Default for Produce {
    fn default() -> Self {
        Produce {
            version: None,
            max_message_bytes: i32::MAX as u32,
            segment_bytes: i32::MAX as u32,
            compacted: false,
            timestamp_type: TimestampType::CreateTime,
            timestamps: None,
            converts: true,
        }
    }
}
