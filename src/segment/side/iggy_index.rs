//! Iggy's `.index`: 24 bytes for each entry, a batch's offset, time and place.

use super::keys::Keys;
use super::{Log, SideFile, Told};
use crate::formats::{Severity, iggy};
use crate::validate::Batch;
use crate::{Detail, ErrorKind};
use std::sync::Arc;

const ENTRY: usize = iggy::IndexEntry::SIZE;

pub(super) fn check(side: &SideFile, told: &mut Told<'_>) {
    let left = side.bytes.len() % ENTRY;
    if left > 0 {
        // Readers pass over them.
        let detail = Detail::Length { needed: ENTRY as u64, available: left as u64 };
        told.tell(Severity::Warning, ErrorKind::IndexSizeInvalid, detail, "entry", side.bytes.len() - left);
    }
    let mut before = None;
    for (i, entry) in iggy::index_entries(&side.bytes).enumerate() {
        if before.is_some_and(|before| entry.position() <= before) {
            let rule = "must be above that of the entry before";
            let detail = Detail::Value { found: entry.position() as i64, rule };
            told.error(ErrorKind::IndexNotMonotonic, detail, "position", i * ENTRY + 16);
        }
        before = Some(entry.position());
    }
}

/// The comparison with the log.
#[derive(Clone, Debug)]
pub(super) struct Compare {
    positions: Keys,
    /// Offset and time of each entry.
    entries: Arc<[(u64, u64)]>,
    /// Entries that differ from their batch, and that one's offset and time.
    others: Vec<(usize, u64, u64)>,
}

impl Compare {
    pub(super) fn new(side: &SideFile) -> Self {
        let entries = iggy::index_entries(&side.bytes);
        let positions = Keys::new(entries.clone().map(iggy::IndexEntry::position));
        let entries = entries.map(|e| (e.base_offset(), e.base_timestamp())).collect();
        Compare { positions, entries, others: Vec::new() }
    }

    #[inline]
    pub(super) fn batch(&mut self, batch: &Batch, amid: bool) {
        if amid && !self.positions.begun() {
            self.positions.begin_at(batch.offset);
        }
        let Compare { positions, entries, others } = self;
        positions.tick(batch.offset, |entry| {
            if let (Some(offset), Some(time)) = (batch.summary.first_offset, batch.summary.timestamp)
                && entries[entry] != (offset, time as u64)
                && !batch.summary.damaged
            {
                others.push((entry, offset, time as u64));
            }
        });
    }

    pub(super) fn join(&mut self, part: Compare) {
        self.positions.join(part.positions);
        self.others.extend(part.others);
    }

    pub(super) fn finish(self, log: &Log<'_>, told: &mut Told<'_>) {
        for entry in self.positions.clone().missed() {
            let position = self.positions.of(entry);
            let detail = Detail::Value { found: position as i64, rule: "must be the start of a batch" };
            // Where the log is damaged it may once have been one.
            let severity = if log.is_unreadable(position) { Severity::Warning } else { Severity::Error };
            told.tell(severity, ErrorKind::IndexPositionInvalid, detail, "position", entry * ENTRY + 16);
        }
        for (entry, offset, time) in self.others {
            let (found_offset, found_time) = self.entries[entry];
            let at = entry * ENTRY;
            if found_offset != offset {
                let detail = Detail::Expected { expected: offset, found: found_offset };
                told.error(ErrorKind::IndexOffsetMismatch, detail, "base_offset", at);
            }
            if found_time != time {
                let detail = Detail::Expected { expected: time, found: found_time };
                told.error(ErrorKind::TimeIndexMismatch, detail, "base_timestamp", at + 8);
            }
        }
    }
}
