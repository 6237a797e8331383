//! What a leader writes into a batch when it appends it: in place, and without reading the records again.

use super::attributes::{Attributes, TimestampType};
use super::fields::HeaderFields;
use super::{BatchHeader, RecordBatch};
use crate::{Detail, Error, ErrorKind, Result, crc32c};

/// Changes to the header of a record batch, magic 2.
///
/// The checksum follows the changes by [`crc32c::patch()`], in a few nanoseconds for a batch of any size. Only the
/// difference enters it: a batch whose checksum did not match its bytes before still has a wrong one after, where hashing
/// the batch again would have made damage look sound. Offset and leader epoch are outside the checksum.
///
/// The result is byte for byte what Kafka's leader writes (`DefaultRecordBatch.setLastOffset`,
/// `setPartitionLeaderEpoch`, `setMaxTimestamp`).
///
/// ```
/// use batchwise::kafka::{HeaderPatch, RecordBatch, TimestampType};
/// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// // `bytes` came from a producer and was checked.
/// let next = HeaderPatch::new()
///     .base_offset(1000)
///     .partition_leader_epoch(5)
///     .log_append_time(1_714_000_123_456)
///     .apply(&mut bytes)?;
/// assert_eq!(next, 1002);
/// let batch = RecordBatch::parse(&bytes, 0)?;
/// batch.verify_checksum()?;
/// assert_eq!(batch.attributes().timestamp_type(), TimestampType::LogAppendTime);
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a patch changes nothing before it is applied"]
pub struct HeaderPatch {
    base_offset: Option<i64>,
    partition_leader_epoch: Option<i32>,
    timestamps: Option<(TimestampType, i64)>,
    producer: Option<(i64, i16, i32)>,
    delete_horizon: Option<i64>,
}

impl HeaderPatch {
    /// Changes nothing yet.
    pub const fn new() -> Self {
        HeaderPatch {
            base_offset: None,
            partition_leader_epoch: None,
            timestamps: None,
            producer: None,
            delete_horizon: None,
        }
    }

    /// Offset of the first record. Outside the checksum.
    pub const fn base_offset(mut self, offset: i64) -> Self {
        self.base_offset = Some(offset);
        self
    }

    /// Epoch of the leader that appends. Outside the checksum.
    pub const fn partition_leader_epoch(mut self, epoch: i32) -> Self {
        self.partition_leader_epoch = Some(epoch);
        self
    }

    /// For a topic of `LogAppendTime`: sets that bit, and `maxTimestamp` to `now` in ms.
    ///
    /// Where that changes anything the attributes are written anew from the bits that have a meaning, and reserved bits
    /// become 0.
    pub const fn log_append_time(mut self, now: i64) -> Self {
        self.timestamps = Some((TimestampType::LogAppendTime, now));
        self
    }

    /// For a topic of `CreateTime`: clears the `LogAppendTime` bit, and sets `maxTimestamp` to the greatest timestamp of
    /// the records, in ms, which the caller found when it checked them.
    ///
    /// A batch of a well-made producer has both already: nothing changes, and its own checksum reaches the consumer.
    /// Otherwise reserved bits become 0 as in [`log_append_time`](Self::log_append_time).
    pub const fn create_time(mut self, max_timestamp: i64) -> Self {
        self.timestamps = Some((TimestampType::CreateTime, max_timestamp));
        self
    }

    /// Id and epoch of the producer, and the sequence number of the first record; -1 each for none.
    pub const fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> Self {
        self.producer = Some((id, epoch, base_sequence));
        self
    }

    /// The time, in ms, from which tombstones in the batch may be dropped: sets the delete-horizon bit and
    /// `baseTimestamp`.
    ///
    /// Records under `CreateTime` are timed relative to `baseTimestamp`, so this is for batches whose records do not
    /// depend on it: those of `LogAppendTime`, and empty ones. For others their records have to be written again.
    pub const fn delete_horizon(mut self, ms: i64) -> Self {
        self.delete_horizon = Some(ms);
        self
    }

    /// Applies the changes to the batch at the start of `bytes`, and returns the offset after its last record.
    ///
    /// Takes the same time for a batch of any size: reads and writes the header only.
    ///
    /// # Errors
    /// Those of [`RecordBatch::parse`]; `LastOffsetDeltaNegative`; `OffsetOutOfRange` if the offsets would be negative
    /// or above the greatest; `DeleteHorizonNotAllowed` if a delete horizon would move the timestamps of the records. After an
    /// error `bytes` are as they were.
    pub fn apply(&self, bytes: &mut [u8]) -> Result<i64> {
        let batch = RecordBatch::parse(bytes, 0)?;
        let len = batch.bytes().len();
        let old = HeaderFields::read(batch.header());
        let new = self.changed(old)?;
        let next = next_offset(&new)?;
        let crc = patch_crc(&old, &new, len);
        let Some(header) = bytes.first_chunk_mut::<{ BatchHeader::SIZE }>() else { return Ok(next) };
        put(header, 0, new.base_offset.to_be_bytes());
        put(header, 12, new.partition_leader_epoch.to_be_bytes());
        put(header, 17, crc.to_be_bytes());
        put(header, 21, new.attributes.0.to_be_bytes());
        put(header, 27, new.base_timestamp.to_be_bytes());
        put(header, 35, new.max_timestamp.to_be_bytes());
        put(header, 43, new.producer_id.to_be_bytes());
        put(header, 51, new.producer_epoch.to_be_bytes());
        put(header, 53, new.base_sequence.to_be_bytes());
        Ok(next)
    }

    /// The header with the changes made, but for the checksum.
    #[inline]
    fn changed(&self, mut fields: HeaderFields) -> Result<HeaderFields> {
        if let Some(offset) = self.base_offset {
            fields.base_offset = offset;
        }
        if let Some(epoch) = self.partition_leader_epoch {
            fields.partition_leader_epoch = epoch;
        }
        if let Some((kind, max_timestamp)) = self.timestamps
            && (fields.attributes.timestamp_type(), fields.max_timestamp) != (kind, max_timestamp)
        {
            let known = Attributes(fields.attributes.0 & Attributes::KNOWN);
            fields.attributes = known.with(Attributes::LOG_APPEND_TIME, kind == TimestampType::LogAppendTime);
            fields.max_timestamp = max_timestamp;
        }
        if let Some((id, epoch, base_sequence)) = self.producer {
            (fields.producer_id, fields.producer_epoch, fields.base_sequence) = (id, epoch, base_sequence);
        }
        if let Some(horizon) = self.delete_horizon {
            let is_create_time = fields.attributes.timestamp_type() == TimestampType::CreateTime;
            check_horizon(horizon, &fields, is_create_time && fields.records_count != 0)?;
            fields.attributes = fields.attributes.with(Attributes::DELETE_HORIZON, true);
            fields.base_timestamp = horizon;
        }
        Ok(fields)
    }
}

#[inline]
fn put<const N: usize>(header: &mut [u8; BatchHeader::SIZE], at: usize, field: [u8; N]) {
    header[at..at + N].copy_from_slice(&field);
}

/// The checksum that goes with `new`, for a batch of `len` bytes.
///
/// A patch depends on nothing but the difference, so only that is made, from registers and as words: bytes 19 to 58, of
/// which those up to 20 are not covered but do not differ, and the timestamps and the producer's id are words of their own.
/// Writing both headers to memory first, field by field, cost 20 ns: reading it back in words waits for the small writes.
#[inline]
fn patch_crc(old: &HeaderFields, new: &HeaderFields, len: usize) -> u32 {
    let attributes = (old.attributes.0 ^ new.attributes.0) as u16;
    let epoch = (old.producer_epoch ^ new.producer_epoch) as u16;
    let sequence = (old.base_sequence ^ new.base_sequence) as u32;
    let difference = [
        u64::from(attributes) << 32, // bytes 21 and 22 of 19 to 26
        (old.base_timestamp ^ new.base_timestamp) as u64,
        (old.max_timestamp ^ new.max_timestamp) as u64,
        (old.producer_id ^ new.producer_id) as u64,
        u64::from(epoch) << 48 | u64::from(sequence) << 16, // bytes 51 to 56 of 51 to 58
    ];
    let mut bytes = [0; 40];
    for (to, word) in bytes.chunks_exact_mut(8).zip(difference) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    match difference {
        [0, 0, 0, 0, 0] => old.crc,
        // Bytes 19 to 42: all that most stamps change.
        [_, _, _, 0, 0] => crc32c::patch(old.crc, &[0; 24], &bytes[..24], (len - 43) as u64),
        _ => crc32c::patch(old.crc, &[0; 40], &bytes, (len - 59) as u64),
    }
}

fn check_horizon(horizon: i64, fields: &HeaderFields, times_records: bool) -> Result<()> {
    let rule = match times_records {
        true if horizon != fields.base_timestamp => "moves the timestamps of the records, which are relative to it",
        _ if horizon < 0 => "must not be negative",
        _ => return Ok(()),
    };
    let detail = Detail::Value { found: horizon, rule };
    Err(Error::new(ErrorKind::DeleteHorizonNotAllowed, detail, "baseTimestamp", 27))
}

/// The offset after the last record's.
#[inline]
fn next_offset(fields: &HeaderFields) -> Result<i64> {
    let delta = fields.last_offset_delta;
    if delta < 0 {
        let detail = Detail::Value { found: delta.into(), rule: "must not be negative" };
        return Err(Error::new(ErrorKind::LastOffsetDeltaNegative, detail, "lastOffsetDelta", 23));
    }
    let next = fields.base_offset.checked_add(i64::from(delta) + 1).filter(|_| fields.base_offset >= 0);
    next.ok_or_else(|| {
        let rule = "must leave all offsets of the batch and the next within 0 and 9223372036854775807";
        let detail = Detail::Value { found: fields.base_offset, rule };
        Error::new(ErrorKind::OffsetOutOfRange, detail, "baseOffset", 0)
    })
}
