//! The attributes of a batch of magic 2, and of a message of magic 1 in their lower byte.

use core::fmt;

/// Who sets the timestamps of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// The producer: each record has its own.
    #[default]
    CreateTime,
    /// The leader that appends the batch: all records have the batch's `maxTimestamp`.
    LogAppendTime,
}

impl TimestampType {
    /// Name, as in Kafka: `CreateTime`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TimestampType::CreateTime => "CreateTime",
            TimestampType::LogAppendTime => "LogAppendTime",
        }
    }
}

impl fmt::Display for TimestampType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The attributes of a batch, bit by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes(pub i16);

impl Attributes {
    /// Bits that hold the codec's number.
    pub const CODEC: i16 = 0x07;
    /// Bit of [`TimestampType::LogAppendTime`].
    pub const LOG_APPEND_TIME: i16 = 0x08;
    /// Bit of a batch that belongs to a transaction.
    pub const TRANSACTIONAL: i16 = 0x10;
    /// Bit of a batch of control records.
    pub const CONTROL: i16 = 0x20;
    /// Bit that makes the base timestamp a delete horizon.
    pub const DELETE_HORIZON: i16 = 0x40;
    /// Bits that have a meaning; the others are reserved.
    pub const KNOWN: i16 = 0x7F;

    /// Number of the compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    #[inline]
    #[must_use]
    pub const fn codec(self) -> u8 {
        (self.0 & Self::CODEC) as u8
    }

    /// Who set the timestamps.
    #[inline]
    #[must_use]
    pub const fn timestamp_type(self) -> TimestampType {
        if self.has(Self::LOG_APPEND_TIME) { TimestampType::LogAppendTime } else { TimestampType::CreateTime }
    }

    /// Whether the batch belongs to a transaction.
    #[inline]
    #[must_use]
    pub const fn is_transactional(self) -> bool {
        self.has(Self::TRANSACTIONAL)
    }

    /// Whether the records are control records.
    #[inline]
    #[must_use]
    pub const fn is_control(self) -> bool {
        self.has(Self::CONTROL)
    }

    /// Whether the base timestamp is a delete horizon.
    #[inline]
    #[must_use]
    pub const fn has_delete_horizon(self) -> bool {
        self.has(Self::DELETE_HORIZON)
    }

    /// The bits that have no meaning.
    #[inline]
    #[must_use]
    pub const fn reserved(self) -> i16 {
        self.0 & !Self::KNOWN
    }

    const fn has(self, bit: i16) -> bool {
        self.0 & bit != 0
    }

    /// The same attributes with `bit` set or cleared.
    #[inline]
    #[must_use]
    pub(crate) const fn with(self, bit: i16, set: bool) -> Self {
        Attributes(if set { self.0 | bit } else { self.0 & !bit })
    }
}
