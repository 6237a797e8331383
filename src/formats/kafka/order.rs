//! Order of entries: offsets and leader epochs against those of the neighbours and the name of the file.

use super::rules::{Judge, Of};
use super::{LENGTH_END, PREFIX, batch};
use crate::formats::{Defect, Options, Order, Origin, Summary, is_far};
use crate::{Detail, Error, ErrorKind};

/// Bytes of the largest segment that Kafka opens.
const MAX_SEGMENT: u64 = i32::MAX as u64;

pub(super) fn check(order: &Order, next: &Summary, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
    let mut judge = Judge::new(options, Of::Batch, defect);
    versions(order, next, offset, &mut judge);
    // A producer does not know offsets and epochs yet.
    if options.origin == Origin::Client {
        return;
    }
    if order.resumes {
        let detail = Detail::Reason("a broker cuts the log off at the damage");
        judge.report(Error::new(ErrorKind::ResumableAfterCorruption, detail, "batch", offset));
    }
    offsets(order, next, offset, &mut judge);
    if let (Some(before), Some(epoch)) = (order.epoch, next.epoch)
        && epoch < before
    {
        let detail = Detail::Mismatch { stored: epoch.into(), computed: before.into() };
        judge.report(Error::new(ErrorKind::LeaderEpochRegression, detail, "partitionLeaderEpoch", offset + 12));
    }
}

/// A producer sends record batches and compressed messages one by one, and does not mix versions.
fn versions(order: &Order, next: &Summary, offset: u64, judge: &mut Judge<'_>) {
    let (Some(before), Some(version)) = (order.version, next.version) else { return };
    if before != version {
        let detail = Detail::Mismatch { stored: version.into(), computed: before.into() };
        judge.report(Error::new(ErrorKind::MagicMixed, detail, "magic", offset + 16));
    }
    if judge.is_client() && (before == 2 || order.compressed || next.compressed) {
        judge.report(Error::new(ErrorKind::BatchCountNotOne, Detail::None, "batch", offset));
    }
}

fn offsets(order: &Order, next: &Summary, offset: u64, judge: &mut Judge<'_>) {
    let (Some(first), Some(end)) = (next.lowest_offset(), next.next_offset) else { return };
    let mut wrong = |kind, found: u64, rule| {
        let detail = Detail::Value { found: found as i64, rule };
        judge.report(Error::new(kind, detail, "baseOffset", offset));
    };
    if let Some(base) = order.base_offset {
        if order.is_first && first < base {
            wrong(ErrorKind::OffsetBelowSegmentBase, first, "must not be below the number in the file's name");
        }
        if end.saturating_sub(base) > 1 << 31 {
            let rule = "must be less than 2147483648 above the number in the file's name";
            wrong(ErrorKind::RelativeOffsetOverflow, end - 1, rule);
        }
    }
    match order.next_offset {
        Some(before) if first < before => {
            wrong(ErrorKind::OffsetOverlap, first, "must be above the last offset before it");
        }
        Some(_) if order.ahead.is_some_and(|ahead| ahead < end) && order.is_misplaced(next) => {
            wrong(ErrorKind::OffsetOverlap, first, "must be below the offsets of the entry behind it");
        }
        Some(before) if is_far(before, first) => {
            let rule = "must be less than 2147483648 above the last offset before it";
            wrong(ErrorKind::RelativeOffsetOverflow, first, rule);
        }
        // Where only the last offset is known, those before it may be missing or not.
        Some(before) if first > before && !order.after_damage && next.first_offset.is_some() => {
            let detail = Detail::Offsets { first: before, last: first - 1 };
            judge.report(Error::new(ErrorKind::OffsetGap, detail, "baseOffset", offset));
        }
        _ => {}
    }
}

/// What is wrong with the last bytes, which are too few for an entry.
///
/// A reader of a file passes over them. One that has them in memory looks at the length, if it is there, and at the
/// magic.
pub(super) fn tail(tail: &[u8], offset: u64, options: &Options) -> Error {
    let mut kind = ErrorKind::TornTail;
    if options.origin != Origin::Stored && tail.len() < PREFIX {
        kind = ErrorKind::TrailingBytes;
    }
    if options.origin != Origin::Stored
        && let Some(prefix) = tail.first_chunk::<LENGTH_END>()
    {
        let length = i32::from_be_bytes(crate::wire::bytes_at::<8, 4, LENGTH_END>(prefix));
        let magic = tail.get(PREFIX - 1).map_or(0, |&magic| magic as i8);
        // A batch shorter than its header is found to be one when it is whole.
        let error = batch::length_of(length, magic, offset).err();
        if let Some(error) = error.filter(|e| e.kind() != ErrorKind::BatchLengthBelowHeader) {
            return error;
        }
    }
    let detail = Detail::Length { needed: PREFIX as u64 + 1, available: tail.len() as u64 };
    Error::new(kind, detail, "batch", offset)
}

/// Looks at an input as a whole.
pub(super) fn end(batches: u64, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
    if batches == 0 {
        let mut judge = Judge::new(options, Of::Batch, defect);
        judge.report(Error::new(ErrorKind::NoBatch, Detail::None, "records", offset));
        if offset == 0 {
            judge.report(Error::new(ErrorKind::EmptySegment, Detail::None, "batch", 0));
        }
    }
    if offset > MAX_SEGMENT {
        let detail = Detail::Length { needed: offset, available: MAX_SEGMENT };
        Judge::new(options, Of::Batch, defect).report(Error::new(
            ErrorKind::SegmentTooLarge,
            detail,
            "batch",
            MAX_SEGMENT,
        ));
    }
}
