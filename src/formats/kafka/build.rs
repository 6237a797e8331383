//! Building record batches, magic 2.

use super::Header;
use super::attributes::Attributes;
use super::draft::Draft;
use super::fields::HeaderFields;
use crate::codec::{Codec, Compressor};
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;

/// A record to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Milliseconds since 1970; -1 for none.
    pub timestamp: i64,
    /// The key; `None` for null.
    pub key: Option<&'a [u8]>,
    /// The value; `None` for null.
    pub value: Option<&'a [u8]>,
    /// The headers, their keys UTF-8.
    pub headers: &'a [Header<'a>],
}

impl Default for NewRecord<'_> {
    fn default() -> Self {
        NewRecord { timestamp: -1, key: None, value: None, headers: &[] }
    }
}

/// Builds record batches of magic 2 as Kafka's own builder does, to the byte where nothing is compressed.
///
/// The settings come first, then records, then [`finish`](Self::finish), which leaves the builder with the same settings
/// and no records. Memory: the records of one batch, uncompressed, kept for the next.
///
/// ```
/// use batchwise::kafka::{NewRecord, RecordBatch, RecordBatchBuilder};
/// let mut builder = RecordBatchBuilder::new().producer(9, 0, 5);
/// builder.append(&NewRecord { timestamp: 1_714_000_000_000, value: Some(b"hello"), ..NewRecord::default() })?;
/// builder.append(&NewRecord { timestamp: 1_714_000_000_001, value: Some(b"world"), ..NewRecord::default() })?;
/// let bytes = builder.finish()?;
///
/// let batch = RecordBatch::parse(&bytes, 0)?;
/// batch.verify_checksum()?;
/// assert_eq!(batch.records()?.count(), 2);
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordBatchBuilder {
    fields: HeaderFields,
    last_offset_delta: Option<i32>,
    compressor: Option<Compressor>,
    draft: Draft,
    /// Of [`finish_in_place`](Self::finish_in_place), where it compresses.
    compressed: Vec<u8>,
}

impl Default for RecordBatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordBatchBuilder {
    /// What a producer without an id sends: base offset 0, no leader epoch, `CreateTime`, not compressed.
    #[must_use]
    pub fn new() -> Self {
        RecordBatchBuilder {
            fields: HeaderFields {
                base_offset: 0,
                batch_length: 0,
                partition_leader_epoch: -1,
                magic: 2,
                crc: 0,
                attributes: Attributes(0),
                last_offset_delta: 0,
                base_timestamp: -1,
                max_timestamp: -1,
                producer_id: -1,
                producer_epoch: -1,
                base_sequence: -1,
                records_count: 0,
            },
            last_offset_delta: None,
            compressor: None,
            draft: Draft::default(),
            compressed: Vec::new(),
        }
    }

    /// Offset of the first record; 0 from a producer.
    #[must_use]
    pub const fn base_offset(mut self, offset: i64) -> Self {
        self.fields.base_offset = offset;
        self
    }

    /// Epoch of the leader that appends; -1 from a producer.
    #[must_use]
    pub const fn partition_leader_epoch(mut self, epoch: i32) -> Self {
        self.fields.partition_leader_epoch = epoch;
        self
    }

    /// Compresses the records with `codec` at `level`, `None` for the codec's own choice; see [`Compressor::new`].
    ///
    /// # Errors
    /// `CodecUnsupported`, `CodecLevelInvalid`.
    pub fn compression(mut self, codec: Codec, level: Option<i32>) -> Result<Self> {
        self.compressor = Some(Compressor::new(codec, level)?);
        Ok(self)
    }

    /// Timestamps of `LogAppendTime`: all records are of the time `ms`, whatever they say.
    #[must_use]
    pub const fn log_append_time(mut self, ms: i64) -> Self {
        self.fields.attributes = self.fields.attributes.with(Attributes::LOG_APPEND_TIME, true);
        self.fields.max_timestamp = ms;
        self
    }

    /// Id and epoch of an idempotent producer, and the sequence number of the first record. Sequence numbers go from
    /// 2147483647 to 0.
    #[must_use]
    pub const fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> Self {
        self.fields.producer_id = id;
        self.fields.producer_epoch = epoch;
        self.fields.base_sequence = base_sequence;
        self
    }

    /// Whether the batch belongs to a transaction of its producer.
    #[must_use]
    pub const fn transactional(mut self, transactional: bool) -> Self {
        self.fields.attributes = self.fields.attributes.with(Attributes::TRANSACTIONAL, transactional);
        self
    }

    /// Whether the records are control records; see [`append_control`](Self::append_control). To be set before the first.
    #[must_use]
    pub const fn control(mut self, control: bool) -> Self {
        self.fields.attributes = self.fields.attributes.with(Attributes::CONTROL, control);
        self
    }

    /// The time, in ms, from which tombstones in the batch may be dropped. To be set before the first record: the
    /// records' timestamps are stored relative to it.
    #[must_use]
    pub const fn delete_horizon(mut self, ms: i64) -> Self {
        self.draft.horizon = Some(ms);
        self.fields.attributes = self.fields.attributes.with(Attributes::DELETE_HORIZON, true);
        self
    }

    /// Offset of the batch's last record relative to the first, where that is above the last record there is: what
    /// compaction leaves.
    #[must_use]
    pub const fn last_offset_delta(mut self, delta: i32) -> Self {
        self.last_offset_delta = Some(delta);
        self
    }

    /// Number of records so far.
    #[must_use]
    pub fn records_count(&self) -> usize {
        self.draft.count as usize
    }

    /// Bytes of the batch so far, as if it were not compressed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.draft.room.len()
    }

    /// Whether there is no record yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.draft.count == 0
    }

    /// Appends a record at the offset after the last.
    ///
    /// # Errors
    /// `TimestampNegative` below -1, `HeaderKeyNotUtf8`, `OffsetDeltaOutOfRange` after 2147483647, `BatchTooLarge` if the
    /// batch would not fit 31 bits; in a control batch `ControlKeyInvalid`, `ControlValueInvalid`, `EndTxnMarkerInvalid`.
    /// The batch stays as it was. Offsets of errors count the uncompressed batch.
    #[inline]
    pub fn append(&mut self, record: &NewRecord<'_>) -> Result<()> {
        let delta = match self.draft.last_delta {
            None => 0,
            Some(last) => last.checked_add(1).ok_or_else(|| {
                let detail = Detail::Value { found: i64::from(last) + 1, rule: "must be below 2147483648" };
                self.error(ErrorKind::OffsetDeltaOutOfRange, detail, "offsetDelta")
            })?,
        };
        self.append_at(delta, record)
    }

    /// Appends a record at `offset_delta` after the base offset, which may leave a gap behind the last.
    ///
    /// # Errors
    /// Those of [`append`](Self::append), and `OffsetDeltaNotIncreasing`.
    pub fn append_at(&mut self, offset_delta: i32, record: &NewRecord<'_>) -> Result<()> {
        let last = self.draft.last_delta;
        if offset_delta < 0 {
            let detail = Detail::Value { found: offset_delta.into(), rule: "must not be negative" };
            return Err(self.error(ErrorKind::OffsetDeltaOutOfRange, detail, "offsetDelta"));
        }
        if last.is_some_and(|last| offset_delta <= last) {
            let detail = Detail::Value { found: offset_delta.into(), rule: "must be above that of the record before" };
            return Err(self.error(ErrorKind::OffsetDeltaNotIncreasing, detail, "offsetDelta"));
        }
        if record.timestamp < -1 {
            let detail = Detail::Value { found: record.timestamp, rule: "must be at least -1, which is for none" };
            return Err(self.error(ErrorKind::TimestampNegative, detail, "timestampDelta"));
        }
        if record.headers.iter().any(|h| core::str::from_utf8(h.key).is_err()) {
            return Err(self.error(ErrorKind::HeaderKeyNotUtf8, Detail::None, "headerKey"));
        }
        if self.is_control() {
            Self::check_control(record, self.len() as u64)?;
        }
        let NewRecord { timestamp, key, value, headers } = *record;
        self.draft.append(timestamp, offset_delta, key, value, headers.iter().copied())
    }

    /// The batch. The builder is left with its settings and without records.
    ///
    /// # Errors
    /// `EmptyBatch` without records; `OffsetOutOfRange`; `LastOffsetDeltaNegative`, or `OffsetDeltaOutOfRange` if a last
    /// offset was set below that of the last record; `ProducerIdInvalid`, `ProducerEpochInvalid`, `BaseSequenceMissing`
    /// (unless the records are control records), `ProducerFieldsInconsistent`, `TransactionalWithoutProducerId`;
    /// `DeleteHorizonNotAllowed` if it is negative or was set after the first record; `CompressFailed`, `BatchTooLarge`.
    /// After an error the records are still there.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.finish_into(&mut out)?;
        Ok(out)
    }

    /// Appends the batch to `out`, as [`finish`](Self::finish).
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish); `out` is then as it was.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let fields = self.header()?;
        let start = out.len();
        let result = self.draft.finish_into(fields, self.compressor.as_mut(), out);
        match result {
            Ok(()) => self.draft.clear(),
            Err(_) => out.truncate(start),
        }
        result
    }

    /// The batch, as [`finish`](Self::finish), in the builder's own memory: there it is only written once.
    ///
    /// ```
    /// use batchwise::kafka::{NewRecord, RecordBatchBuilder};
    /// let mut builder = RecordBatchBuilder::new();
    /// for value in ["one batch", "and another"] {
    ///     builder.append(&NewRecord { value: Some(value.as_bytes()), ..NewRecord::default() })?;
    ///     let batch = builder.finish_in_place()?; // to be sent
    ///     assert_eq!(batch.len(), 61 + 7 + value.len());
    /// }
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn finish_in_place(&mut self) -> Result<&[u8]> {
        if self.compressor.is_some() {
            let mut compressed = core::mem::take(&mut self.compressed);
            compressed.clear();
            let result = self.finish_into(&mut compressed);
            self.compressed = compressed;
            return result.map(|()| &self.compressed[..]);
        }
        let fields = self.header()?;
        self.draft.finish_in_place(fields)?;
        let len = self.draft.room.len();
        self.draft.clear();
        Ok(self.draft.room.last(len))
    }

    /// The settings, checked against the records.
    fn header(&self) -> Result<HeaderFields> {
        let mut fields = self.fields;
        let error = |kind, found: i64, rule, field, at| Err(Error::new(kind, Detail::Value { found, rule }, field, at));
        let Some(last) = self.draft.last_delta else {
            return error(ErrorKind::EmptyBatch, 0, "must be at least 1", "recordsCount", 57);
        };
        fields.last_offset_delta = self.last_offset_delta.unwrap_or(last);
        if fields.last_offset_delta < last {
            let kind = match fields.last_offset_delta {
                ..0 => ErrorKind::LastOffsetDeltaNegative,
                _ => ErrorKind::OffsetDeltaOutOfRange,
            };
            let rule = "must not be below that of the last record";
            return error(kind, fields.last_offset_delta.into(), rule, "lastOffsetDelta", 23);
        }
        if fields.base_offset < 0 || fields.base_offset.checked_add(fields.last_offset_delta.into()).is_none() {
            let rule = "must leave all offsets of the batch within 0 and 9223372036854775807";
            return error(ErrorKind::OffsetOutOfRange, fields.base_offset, rule, "baseOffset", 0);
        }
        if let Some(horizon) = self.draft.horizon
            && (horizon < 0 || self.draft.base_timestamp != Some(horizon))
        {
            let rule = "must not be negative, and be set before the first record";
            return error(ErrorKind::DeleteHorizonNotAllowed, horizon, rule, "baseTimestamp", 27);
        }
        check_producer(&fields)?;
        Ok(fields)
    }

    pub(super) const fn is_control(&self) -> bool {
        self.fields.attributes.is_control()
    }

    pub(super) fn misplaced(&self) -> Error {
        self.error(ErrorKind::ControlRecordMisplaced, Detail::Reason("the batch was not set to be one"), "attributes")
    }

    fn error(&self, kind: ErrorKind, detail: Detail, field: &'static str) -> Error {
        Error::new(kind, detail, field, self.len() as u64)
    }
}

fn check_producer(fields: &HeaderFields) -> Result<()> {
    let error = |kind, found: i64, rule, field, at| Err(Error::new(kind, Detail::Value { found, rule }, field, at));
    let HeaderFields { attributes, producer_id, producer_epoch, base_sequence, .. } = *fields;
    match producer_id {
        -1 if producer_epoch != -1 => {
            let rule = "must be -1 without a producer id";
            error(ErrorKind::ProducerFieldsInconsistent, producer_epoch.into(), rule, "producerEpoch", 51)
        }
        -1 if base_sequence != -1 => {
            let rule = "must be -1 without a producer id";
            error(ErrorKind::ProducerFieldsInconsistent, base_sequence.into(), rule, "baseSequence", 53)
        }
        -1 if attributes.is_transactional() => {
            let rule = "must not be -1 in a transaction";
            error(ErrorKind::TransactionalWithoutProducerId, -1, rule, "producerId", 43)
        }
        -1 => Ok(()),
        ..-1 => error(ErrorKind::ProducerIdInvalid, producer_id, "must be at least -1", "producerId", 43),
        _ if producer_epoch < 0 => {
            let rule = "must not be negative with a producer id";
            error(ErrorKind::ProducerEpochInvalid, producer_epoch.into(), rule, "producerEpoch", 51)
        }
        _ if base_sequence < 0 && !(attributes.is_control() && base_sequence == -1) => {
            let rule = "must not be negative with a producer id";
            error(ErrorKind::BaseSequenceMissing, base_sequence.into(), rule, "baseSequence", 53)
        }
        _ => Ok(()),
    }
}
