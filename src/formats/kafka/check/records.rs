//! The records of a record batch.

use super::{oddities, plain, skip};
use crate::formats::kafka::rules::Judge;
use crate::formats::kafka::{BatchHeader, Produce, Record, RecordBatch, Records, TimestampType, control};
use crate::{Detail, Error, ErrorKind, Within};

/// Checks the records in `bytes`, the batch's payload or what it decompresses to; tells how many were read.
pub(super) fn check(
    batch: &RecordBatch<'_>,
    bytes: &[u8],
    within: Within,
    produce: &Produce,
    judge: &mut Judge<'_>,
) -> u64 {
    // A negative count is reported with the header.
    let Ok(mut records) = Records::over(batch, bytes, within) else { return 0 };
    if batch.header().records_count() == 0 {
        return 0;
    }
    let mut walk = Walk::new(batch, within, produce);
    if let Some(plain) = plain::read(batch, bytes, produce, judge.is_client()) {
        walk.count = batch.header().records_count() as u64;
        walk.max_timestamp = plain.max_timestamp;
        walk.first_timestamp(plain.first_timestamp_delta, Raw { bytes, at: 0 }, judge);
        walk.end(judge);
        return walk.count;
    }
    loop {
        let start = records.consumed();
        match records.next() {
            Some(Ok(record)) => {
                let raw = &bytes[start..records.consumed()];
                walk.record(&record, raw, start, judge);
                oddities::check(raw, &record, |error| {
                    judge.report_once(error.moved_by(walk.position(start)).within(within));
                });
            }
            Some(Err(error)) => {
                failed(batch, bytes, within, error, judge);
                return walk.count;
            }
            None => break,
        }
    }
    walk.end(judge);
    walk.count
}

/// Reports why the records cannot be read.
fn failed(batch: &RecordBatch<'_>, bytes: &[u8], within: Within, error: Error, judge: &mut Judge<'_>) {
    if within == Within::Input || !judge.is_client() {
        judge.report(error);
        return;
    }
    // The produce path skips keys and values of compressed records, and does not see all that a reader sees.
    judge.report_as(error, skip::check(bytes, batch.header().records_count()).is_err());
}

/// A record's bytes from its length on, and where among the records they stand.
#[derive(Clone, Copy)]
struct Raw<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What the records tell one after the other.
struct Walk<'a> {
    batch: &'a RecordBatch<'a>,
    produce: &'a Produce,
    within: Within,
    count: u64,
    last_delta: i64,
    base_timestamp: i64,
    max_timestamp: i64,
    has_own_timestamps: bool,
}

impl<'a> Walk<'a> {
    fn new(batch: &'a RecordBatch<'a>, within: Within, produce: &'a Produce) -> Self {
        Walk {
            batch,
            produce,
            within,
            count: 0,
            last_delta: -1,
            base_timestamp: batch.header().base_timestamp(),
            max_timestamp: i64::MIN,
            has_own_timestamps: batch.attributes().timestamp_type() == TimestampType::CreateTime,
        }
    }

    /// Where byte `at` of the records stands.
    fn position(&self, at: usize) -> u64 {
        let base = if self.within == Within::Input { self.batch.offset() + BatchHeader::SIZE as u64 } else { 0 };
        base + at as u64
    }

    #[cold]
    fn error(&self, kind: ErrorKind, detail: Detail, field: &'static str, raw: Raw<'_>) -> Error {
        Error::new(kind, detail, field, self.position(raw.at + oddities::place_of(field, raw.bytes)))
            .within(self.within)
    }

    fn record(&mut self, record: &Record<'_>, bytes: &[u8], at: usize, judge: &mut Judge<'_>) {
        let raw = Raw { bytes, at };
        self.offset(record, raw, judge);
        self.timestamp(record, raw, judge);
        if record.attributes() != 0 {
            let detail = Detail::Value { found: record.attributes().into(), rule: "must be 0" };
            judge.report_once(self.error(ErrorKind::RecordAttributesNonZero, detail, "attributes", raw));
        }
        if self.produce.compacted && record.key().is_none() && judge.is_client() {
            judge.report(self.error(ErrorKind::KeyMissingOnCompactedTopic, Detail::None, "keyLength", raw));
        }
        if self.batch.attributes().is_control() && !judge.is_client() {
            control::check(self.batch, record, self.count, |kind, detail, field| {
                let of_header = |at| Error::new(kind, detail, field, self.batch.offset() + at);
                judge.report(match field {
                    "attributes" => of_header(21),
                    "recordsCount" => of_header(57),
                    _ => self.error(kind, detail, field, raw),
                });
            });
        }
        self.count += 1;
    }

    fn offset(&mut self, record: &Record<'_>, raw: Raw<'_>, judge: &mut Judge<'_>) {
        let delta = i64::from(record.offset_delta());
        if judge.is_client() {
            if delta != self.count as i64 {
                let detail = Detail::Mismatch { stored: delta, computed: self.count as i64 };
                let error = self.error(ErrorKind::OffsetDeltaNotSequential, detail, "offsetDelta", raw);
                // In place the broker would have to rewrite a compressed batch for it, which it cannot do here.
                judge.report_as_once(error, self.within == Within::Decompressed);
            }
            return;
        }
        let last = i64::from(self.batch.header().last_offset_delta());
        if delta <= self.last_delta && delta >= 0 {
            let detail = Detail::Mismatch { stored: delta, computed: self.last_delta };
            judge.report_once(self.error(ErrorKind::OffsetDeltaNotIncreasing, detail, "offsetDelta", raw));
        }
        if delta < 0 || delta > last {
            let detail = Detail::Value { found: delta, rule: "must be from 0 to lastOffsetDelta" };
            judge.report_once(self.error(ErrorKind::OffsetDeltaOutOfRange, detail, "offsetDelta", raw));
        }
        self.last_delta = delta;
    }

    fn timestamp(&mut self, record: &Record<'_>, raw: Raw<'_>, judge: &mut Judge<'_>) {
        let delta = record.timestamp_delta();
        let (timestamp, overflowed) = self.base_timestamp.overflowing_add(delta);
        if overflowed {
            let detail = Detail::Value { found: delta, rule: "must not take the timestamp past 64 bits" };
            judge.report_once(self.error(ErrorKind::TimestampOverflow, detail, "timestampDelta", raw));
        }
        if self.count == 0 {
            self.first_timestamp(delta, raw, judge);
        }
        if !self.has_own_timestamps {
            return;
        }
        if timestamp < -1 {
            let detail = Detail::Value { found: timestamp, rule: "must be -1 or more" };
            judge.report_once(self.error(ErrorKind::TimestampNegative, detail, "timestampDelta", raw));
        }
        self.max_timestamp = self.max_timestamp.max(timestamp);
        if let Some((from, to)) = self.produce.timestamps
            && judge.is_client()
            && timestamp != -1
            && !(from..=to).contains(&timestamp)
        {
            let detail = Detail::Value { found: timestamp, rule: "must be in the topic's range" };
            judge.report(self.error(ErrorKind::TimestampOutOfRange, detail, "timestampDelta", raw));
        }
    }

    fn first_timestamp(&self, delta: i64, raw: Raw<'_>, judge: &mut Judge<'_>) {
        if delta != 0 && !self.batch.attributes().has_delete_horizon() {
            let detail = Detail::Value { found: delta, rule: "is 0 in the first record of other writers" };
            judge.report(self.error(ErrorKind::FirstDeltaNotZero, detail, "timestampDelta", raw));
        }
    }

    /// After the last record.
    fn end(&self, judge: &mut Judge<'_>) {
        let stored = self.batch.header().max_timestamp();
        if self.has_own_timestamps && stored != self.max_timestamp {
            let detail = Detail::Mismatch { stored, computed: self.max_timestamp };
            let at = self.batch.offset() + 35;
            judge.report(Error::new(ErrorKind::MaxTimestampMismatch, detail, "maxTimestamp", at));
        }
    }
}
