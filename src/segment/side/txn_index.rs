//! Kafka's `.txnindex`: 34 bytes for each aborted transaction whose marker is in the segment.

use super::{SideFile, Told};
use crate::{Detail, ErrorKind};

layout! {
    /// An entry of Kafka's `.txnindex`.
    pub struct AbortedTxn: 34 bytes, big_endian {
        /// Version of the entry: 0.
        0 version: i16,
        /// Producer of the transaction.
        2 producer_id: i64,
        /// First offset of the transaction.
        10 first_offset: i64,
        /// Offset of the marker.
        18 last_offset: i64,
        /// Last stable offset when the marker was written.
        26 last_stable_offset: i64,
    }
}

pub(super) fn entries(side: &SideFile) -> impl Iterator<Item = AbortedTxn<'_>> {
    side.bytes.as_chunks().0.iter().map(AbortedTxn)
}

pub(super) fn check(side: &SideFile, told: &mut Told<'_>) {
    told.check_size(side.bytes.len(), AbortedTxn::SIZE);
    let mut floor = i64::try_from(side.base_offset).unwrap_or(i64::MAX);
    for (i, entry) in entries(side).enumerate() {
        let at = i * AbortedTxn::SIZE;
        let mut wrong = |found, rule, field, at| {
            told.error(ErrorKind::TxnIndexInvalid, Detail::Value { found, rule }, field, at);
        };
        if entry.version() != 0 {
            wrong(entry.version().into(), "must be 0", "version", at);
        }
        if entry.last_offset() < floor {
            let rule = "must be above that of the entry before, and not below the number in the file's name";
            wrong(entry.last_offset(), rule, "lastOffset", at + 18);
        }
        if entry.first_offset() > entry.last_offset() {
            wrong(entry.first_offset(), "must not be above the last offset", "firstOffset", at + 10);
        }
        floor = entry.last_offset().saturating_add(1);
    }
}
