//! Compaction of one batch: a subset of its records, under the same offsets and sequence numbers.

use super::attributes::{Attributes, TimestampType};
use super::draft::{Draft, write_header};
use super::fields::HeaderFields;
use super::{BatchHeader, LENGTH_END, Record, RecordBatch};
use crate::codec::{Codec, Compressor, Decoder};
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;

/// What to keep of a batch besides the records that are asked for. The default keeps nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    delete_horizon: Option<i64>,
    ends_empty_transaction: bool,
    keep_empty: bool,
}

impl Retention {
    /// The time, in ms, from which tombstones may be dropped: now and the topic's `delete.retention.ms`. Written to a
    /// batch that keeps a tombstone and has no such time yet.
    #[must_use]
    pub const fn delete_horizon(mut self, ms: i64) -> Self {
        self.delete_horizon = Some(ms);
        self
    }

    /// Whether the batch is the marker of a transaction of which no record is left: it gets the delete horizon as well.
    #[must_use]
    pub const fn ends_empty_transaction(mut self, is_marker: bool) -> Self {
        self.ends_empty_transaction = is_marker;
        self
    }

    /// Whether to keep the header of a batch of which no record is kept: for the last batch of a producer that is still
    /// active, whose sequence number would be lost, and for the last batch of the log, whose offset would be.
    #[must_use]
    pub const fn keep_empty(mut self, keep: bool) -> Self {
        self.keep_empty = keep;
        self
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// Every record was kept and nothing else had to change: the same bytes.
    Unchanged,
    /// A new batch of the kept records.
    Changed,
    /// No record was kept: the header alone, which stands for the offsets and sequence numbers.
    Emptied,
    /// No record was kept, and nothing was written.
    Dropped,
}

/// Rewrites batches, and messages of older magic, as Kafka's log cleaner does (`MemoryRecords.filterTo`), and keeps the memory for the next.
///
/// Offsets, base offset, last offset, sequence numbers, producer and leader epoch stay. Under `CreateTime` base and
/// greatest timestamp become those of the kept records, under `LogAppendTime` the time of the append stays. What is
/// written anew is compressed with the batch's codec at its own level.
///
/// ```
/// use batchwise::kafka::{RecordBatch, Retention, Rewriter, Rewritten};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// let batch = RecordBatch::parse(bytes, 0)?;
/// let mut compacted = Vec::new();
/// let kept = Rewriter::new().rewrite(&batch, Retention::default(), |r| r.value() == Some(b"world"), &mut compacted)?;
/// assert_eq!(kept, Rewritten::Changed);
/// let batch = RecordBatch::parse(&compacted, 0)?;
/// batch.verify_checksum()?;
/// assert_eq!((batch.header().records_count(), batch.last_offset()), (1, 1));
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Rewriter {
    pub(super) decoder: Decoder,
    draft: Draft,
    pub(super) kept: Vec<bool>,
    pub(super) compressors: [Option<Compressor>; Codec::ALL.len()],
}

impl Rewriter {
    /// Without memory yet. The records of one batch may decompress to 64 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decompresses with `decoder`, for its limit.
    #[must_use]
    pub fn decoder(self, decoder: Decoder) -> Self {
        Rewriter { decoder, ..self }
    }

    /// Appends to `out` what is left of `batch` when only the records stay for which `keep` is true. It is called once
    /// for each, in order; what it is given has offset and timestamp relative to the batch's.
    ///
    /// # Errors
    /// `CrcMismatch`: a batch that is damaged is not made to look sound. Those of [`RecordBatch::decoded_records`] and of the
    /// records. Where records are written
    /// anew, what Kafka's cleaner refuses: `OffsetDeltaNotIncreasing`, `OffsetDeltaOutOfRange`, `TimestampNegative`; and
    /// `DeleteHorizonNotAllowed` if it is negative, `CompressFailed`, `BatchTooLarge`. `out` is then as it was.
    pub fn rewrite(
        &mut self,
        batch: &RecordBatch<'_>,
        retention: Retention,
        mut keep: impl FnMut(&Record<'_>) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<Rewritten> {
        batch.verify_checksum()?;
        let records = batch.decoded_records(&mut self.decoder)?;
        let mut has_tombstones = false;
        self.kept.clear();
        for record in records.clone() {
            let record = record?;
            let is_kept = keep(&record);
            has_tombstones |= is_kept && record.value().is_none();
            self.kept.push(is_kept);
        }
        if !self.kept.contains(&true) {
            if !retention.keep_empty {
                return Ok(Rewritten::Dropped);
            }
            out.extend_from_slice(&empty_batch(batch.header()));
            return Ok(Rewritten::Emptied);
        }
        let wants_horizon = has_tombstones || retention.ends_empty_transaction;
        let new_horizon =
            retention.delete_horizon.filter(|_| wants_horizon && !batch.attributes().has_delete_horizon());
        if new_horizon.is_none() && !self.kept.contains(&false) {
            out.extend_from_slice(batch.bytes());
            return Ok(Rewritten::Unchanged);
        }
        if let Some(horizon @ ..0) = new_horizon {
            let detail = Detail::Value { found: horizon, rule: "must not be negative" };
            return Err(Error::new(ErrorKind::DeleteHorizonNotAllowed, detail, "baseTimestamp", batch.offset() + 27));
        }
        self.draft.clear();
        self.draft.horizon = match new_horizon {
            None if batch.attributes().has_delete_horizon() => Some(batch.header().base_timestamp()),
            horizon => horizon,
        };
        for (record, _) in records.zip(&self.kept).filter(|(_, is_kept)| **is_kept) {
            let record = record?;
            check_order(batch, self.draft.last_delta, record.offset_delta())?;
            self.draft.append(
                timestamp_of(batch, &record)?,
                record.offset_delta(),
                record.key(),
                record.value(),
                record.headers(),
            )?;
        }
        let mut fields = HeaderFields::read(batch.header());
        let known = Attributes(fields.attributes.0 & Attributes::KNOWN);
        fields.attributes = known.with(Attributes::DELETE_HORIZON, self.draft.horizon.is_some());
        let compressor = match Codec::from_number(batch.codec()) {
            None => None,
            Some(codec) => {
                let slot = &mut self.compressors[usize::from(codec.number()) - 1];
                if slot.is_none() {
                    *slot = Some(Compressor::new(codec, None)?);
                }
                slot.as_mut()
            }
        };
        let start = out.len();
        if let Err(e) = self.draft.finish_into(fields, compressor, out) {
            out.truncate(start);
            return Err(e);
        }
        Ok(Rewritten::Changed)
    }
}

fn check_order(batch: &RecordBatch<'_>, last: Option<i32>, delta: i32) -> Result<()> {
    let (kind, rule) = if delta < 0 || delta > batch.header().last_offset_delta() {
        (ErrorKind::OffsetDeltaOutOfRange, "must be 0 to lastOffsetDelta")
    } else if last.is_some_and(|last| delta <= last) {
        (ErrorKind::OffsetDeltaNotIncreasing, "must be above that of the record before")
    } else {
        return Ok(());
    };
    let at = batch.offset() + BatchHeader::SIZE as u64;
    Err(Error::new(kind, Detail::Value { found: delta.into(), rule }, "offsetDelta", at))
}

fn timestamp_of(batch: &RecordBatch<'_>, record: &Record<'_>) -> Result<i64> {
    let timestamp = match batch.attributes().timestamp_type() {
        TimestampType::LogAppendTime => batch.header().max_timestamp(),
        TimestampType::CreateTime => batch.header().base_timestamp().wrapping_add(record.timestamp_delta()),
    };
    if timestamp >= -1 {
        return Ok(timestamp);
    }
    let detail = Detail::Value { found: timestamp, rule: "must be at least -1, which is for none" };
    let at = batch.offset() + BatchHeader::SIZE as u64;
    Err(Error::new(ErrorKind::TimestampNegative, detail, "timestampDelta", at))
}

/// What stands for a batch of which no record is left: its header, not compressed, without a delete horizon.
fn empty_batch(header: BatchHeader<'_>) -> [u8; BatchHeader::SIZE] {
    let fields = HeaderFields::read(header);
    let stays = Attributes::LOG_APPEND_TIME | Attributes::TRANSACTIONAL | Attributes::CONTROL;
    let mut batch = [0; BatchHeader::SIZE];
    let fields = HeaderFields {
        batch_length: (BatchHeader::SIZE - LENGTH_END) as i32,
        attributes: Attributes(fields.attributes.0 & stays),
        base_timestamp: -1,
        records_count: 0,
        ..fields
    };
    write_header(&mut batch, fields);
    batch
}
