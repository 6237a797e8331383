//! Order of entries: offsets and leader epochs against those of the neighbours and the name of the file.

use crate::formats::{Defect, Options, Order, Origin, Severity, Summary, is_far};
use crate::{Detail, Error, ErrorKind};

pub(super) fn check(order: &Order, next: &Summary, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
    // A producer does not know offsets and epochs yet.
    if options.origin == Origin::Client {
        return;
    }
    if let (Some(first), Some(end)) = (next.lowest_offset(), next.next_offset) {
        let mut wrong = |kind, found: u64, rule| {
            let detail = Detail::Value { found: found as i64, rule };
            defect(Error::new(kind, detail, "baseOffset", offset).into());
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
            Some(_) if order.is_misplaced(next) => {
                wrong(ErrorKind::OffsetOverlap, first, "must be below the offsets of the entry behind it");
            }
            Some(before) if is_far(before, first) => {
                let rule = "must be less than 2147483648 above the last offset before it";
                wrong(ErrorKind::RelativeOffsetOverflow, first, rule);
            }
            // Where only the last offset is known, those before it may be missing or not.
            Some(before) if first > before && !order.after_damage && next.first_offset.is_some() => {
                let detail = Detail::Offsets { first: before, last: first - 1 };
                let error = Error::new(ErrorKind::OffsetGap, detail, "baseOffset", offset);
                defect(Defect { error, severity: Severity::Info });
            }
            _ => {}
        }
    }
    if let (Some(before), Some(epoch)) = (order.epoch, next.epoch)
        && epoch < before
        && options.origin == Origin::Stored
    {
        let detail = Detail::Mismatch { stored: epoch.into(), computed: before.into() };
        let error = Error::new(ErrorKind::LeaderEpochRegression, detail, "partitionLeaderEpoch", offset + 12);
        defect(Defect { error, severity: Severity::Warning });
    }
}
