//! The header of a record batch.

use crate::formats::kafka::rules::Judge;
use crate::formats::kafka::{Attributes, BatchHeader, Produce, RecordBatch, TimestampType};
use crate::{Detail, Error, ErrorKind};

/// Checks the header of a batch whose checksum holds.
pub(super) fn check(batch: &RecordBatch<'_>, produce: &Produce, judge: &mut Judge<'_>) {
    let header = batch.header();
    let at = |field: u64| batch.offset() + field;
    attributes(batch, at(21), judge);
    offsets(header, &at, judge);
    counts(batch, &at, judge);
    producer(batch, &at, judge);
    let timestamp = header.max_timestamp();
    if judge.is_client() && batch.attributes().timestamp_type() == TimestampType::LogAppendTime {
        // The broker looks at it only where a record's timestamp, which this is, is missing.
        let refused = timestamp == -1 || produce.timestamp_type == TimestampType::LogAppendTime;
        let detail = Detail::Value { found: header.attributes().into(), rule: "bit 3 is the broker's to set" };
        let error = Error::new(ErrorKind::TimestampTypeFromClient, detail, "attributes", at(21));
        judge.report_as(error, refused && header.records_count() > 0);
    }
}

fn attributes(batch: &RecordBatch<'_>, at: u64, judge: &mut Judge<'_>) {
    let attributes = batch.attributes();
    let mut report = |kind, rule| {
        let detail = Detail::Value { found: attributes.0.into(), rule };
        judge.report(Error::new(kind, detail, "attributes", at));
    };
    if attributes.reserved() != 0 {
        report(ErrorKind::AttributesReservedBits, "bits 7 to 15 have no meaning");
    }
    if attributes.0 & (Attributes::CONTROL | Attributes::DELETE_HORIZON | Attributes::TRANSACTIONAL) == 0 {
        return;
    }
    if attributes.is_control() {
        report(ErrorKind::ControlBatchFromClient, "bit 5 is not for producers");
    }
    if attributes.has_delete_horizon() {
        report(ErrorKind::DeleteHorizonFromClient, "bit 6 is not for producers");
    }
    if attributes.is_transactional() && batch.header().producer_id() < 0 {
        report(ErrorKind::TransactionalWithoutProducerId, "bit 4 needs a producer id");
    }
}

fn offsets(header: BatchHeader<'_>, at: &impl Fn(u64) -> u64, judge: &mut Judge<'_>) {
    let (base, delta) = (header.base_offset(), header.last_offset_delta());
    if delta < 0 {
        let detail = Detail::Value { found: delta.into(), rule: "must not be negative" };
        judge.report(Error::new(ErrorKind::LastOffsetDeltaNegative, detail, "lastOffsetDelta", at(23)));
    }
    if judge.is_client() {
        if base != 0 {
            let detail = Detail::Value { found: base, rule: "must be 0 from a producer" };
            judge.report(Error::new(ErrorKind::BaseOffsetNotZero, detail, "baseOffset", at(0)));
        }
    } else if base < 0 || base.checked_add(delta.into()).is_none() {
        let detail = Detail::Value { found: base, rule: "must be 0 or more, and so must be the last offset" };
        judge.report(Error::new(ErrorKind::OffsetOutOfRange, detail, "baseOffset", at(0)));
    }
}

fn counts(batch: &RecordBatch<'_>, at: &impl Fn(u64) -> u64, judge: &mut Judge<'_>) {
    let header = batch.header();
    let (count, range) = (header.records_count(), i64::from(header.last_offset_delta()) + 1);
    if i64::from(count) == range && count > 0 {
        return;
    }
    let mut report = |kind, detail, field, offset| judge.report(Error::new(kind, detail, field, at(offset)));
    if count < 0 {
        let detail = Detail::Value { found: count.into(), rule: "must not be negative" };
        report(ErrorKind::RecordsCountNegative, detail, "recordsCount", 57);
    } else if count == 0 {
        report(ErrorKind::EmptyBatch, Detail::None, "recordsCount", 57);
        let payload = batch.payload().len() as u64;
        if payload > 0 {
            let detail = Detail::Length { needed: 0, available: payload };
            report(ErrorKind::EmptyBatchWithPayload, detail, "records", BatchHeader::SIZE as u64);
        } else if batch.codec() != 0 {
            let detail = Detail::Value { found: batch.codec().into(), rule: "must be 0 in a batch of no records" };
            report(ErrorKind::EmptyBatchCompressed, detail, "attributes", 21);
        }
    } else if range > 0 {
        let detail = Detail::Mismatch { stored: count.into(), computed: range };
        let kind = if i64::from(count) > range {
            ErrorKind::RecordsCountExceedsRange
        } else {
            ErrorKind::RecordsCountMismatch
        };
        report(kind, detail, "recordsCount", 57);
    }
}

fn producer(batch: &RecordBatch<'_>, at: &impl Fn(u64) -> u64, judge: &mut Judge<'_>) {
    let header = batch.header();
    let (id, epoch, sequence) = (header.producer_id(), header.producer_epoch(), header.base_sequence());
    if (id, epoch, sequence) == (-1, -1, -1) {
        return;
    }
    let mut report = |kind, found, rule, field, offset| {
        judge.report(Error::new(kind, Detail::Value { found, rule }, field, at(offset)));
    };
    if id < -1 {
        report(ErrorKind::ProducerIdInvalid, id, "must be -1 or more", "producerId", 43);
    }
    if id >= 0 && epoch < 0 {
        report(ErrorKind::ProducerEpochInvalid, epoch.into(), "must not be negative", "producerEpoch", 51);
    }
    if id < 0 && (epoch != -1 || sequence != -1) {
        let (found, field, offset) =
            if epoch != -1 { (epoch.into(), "producerEpoch", 51) } else { (sequence.into(), "baseSequence", 53) };
        report(ErrorKind::ProducerFieldsInconsistent, found, "must be -1 without a producer id", field, offset);
    }
    if id >= 0 && sequence < 0 && !batch.attributes().is_control() {
        report(ErrorKind::BaseSequenceMissing, sequence.into(), "must not be negative", "baseSequence", 53);
    }
}
