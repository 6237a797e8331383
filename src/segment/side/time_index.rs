//! Kafka's `.timeindex`: 12 bytes for each entry, the greatest timestamp so far and the last offset of its batch.
//!
//! There is no checksum. The file of an active segment is longer than its entries and ends in zeros.

use super::keys::Keys;
use super::{Log, SideFile, Told, before_zeros};
use crate::formats::Severity;
use crate::validate::Batch;
use crate::{Detail, ErrorKind};
use std::sync::Arc;

layout! {
    /// An entry of Kafka's `.timeindex`.
    pub struct TimeIndexEntry: 12 bytes, big_endian {
        /// Greatest timestamp of the log up to here, ms.
        0 timestamp: i64,
        /// Last offset of the batch that has it, relative to the file's number.
        8 relative_offset: i32,
    }
}

pub(super) fn entries(side: &SideFile) -> impl ExactSizeIterator<Item = TimeIndexEntry<'_>> {
    before_zeros(&side.bytes, |e| TimeIndexEntry(e).relative_offset() == 0).iter().map(TimeIndexEntry)
}

pub(super) fn check(side: &SideFile, told: &mut Told<'_>) {
    told.check_size(side.bytes.len(), TimeIndexEntry::SIZE);
    let mut before: Option<TimeIndexEntry<'_>> = None;
    for (i, entry) in entries(side).enumerate() {
        let at = i * TimeIndexEntry::SIZE;
        if let Some(before) = before.filter(|b| entry.timestamp() < b.timestamp()) {
            let detail = Detail::Mismatch { stored: entry.timestamp(), computed: before.timestamp() };
            told.error(ErrorKind::TimeIndexNotMonotonic, detail, "timestamp", at);
        }
        let floor = before.map_or(0, |b| b.relative_offset());
        if entry.relative_offset() < floor {
            let detail = Detail::Mismatch { stored: entry.relative_offset().into(), computed: floor.into() };
            told.error(ErrorKind::TimeIndexNotMonotonic, detail, "relativeOffset", at + 8);
        }
        before = Some(entry);
    }
}

/// The comparison with the log.
#[derive(Clone, Debug)]
pub(super) struct Compare {
    offsets: Keys,
    timestamps: Arc<[i64]>,
    /// Greatest timestamp so far.
    greatest: i64,
    /// Entries with another timestamp than the log has there, and that.
    others: Vec<(usize, i64)>,
}

impl Compare {
    pub(super) fn new(side: &SideFile) -> Self {
        let offset = |e: TimeIndexEntry<'_>| side.base_offset.saturating_add_signed(e.relative_offset().into());
        let timestamps = entries(side).map(TimeIndexEntry::timestamp).collect();
        Compare { offsets: Keys::new(entries(side).map(offset)), timestamps, greatest: i64::MIN, others: Vec::new() }
    }

    #[inline]
    pub(super) fn batch(&mut self, batch: &Batch, amid: bool) {
        let summary = &batch.summary;
        let (Some(last), false) = (summary.next_offset.and_then(|next| next.checked_sub(1)), summary.damaged) else {
            return;
        };
        if amid && !self.offsets.begun() {
            self.offsets.begin_at(summary.lowest_offset().unwrap_or(last));
        }
        let Compare { offsets, timestamps, greatest, others } = self;
        let timestamp = summary.timestamp.unwrap_or(i64::MIN);
        offsets.tick(last, |entry| {
            if timestamps[entry] != timestamp || timestamp < *greatest {
                others.push((entry, timestamp.max(*greatest)));
            }
        });
        *greatest = timestamp.max(*greatest);
    }

    pub(super) fn join(&mut self, part: Compare) {
        // What the part took for the greatest may have been surpassed before.
        for entry in part.offsets.behind() {
            let known = part.others.iter().any(|(e, _)| *e == entry) || part.offsets.has_missed(entry);
            if self.timestamps[entry] < self.greatest && !known {
                self.others.push((entry, self.greatest));
            }
        }
        self.offsets.join(part.offsets);
        self.others.extend(part.others);
        self.greatest = self.greatest.max(part.greatest);
    }

    pub(super) fn finish(mut self, log: &Log<'_>, told: &mut Told<'_>) {
        if !log.is_sound() {
            return;
        }
        let mut tell = |detail, field, at| {
            told.tell(Severity::Warning, ErrorKind::TimeIndexMismatch, detail, field, at);
        };
        for entry in self.offsets.clone().missed() {
            let rule = "must be the last offset of a batch";
            let detail = Detail::Value { found: self.offsets.of(entry) as i64, rule };
            tell(detail, "relativeOffset", entry * TimeIndexEntry::SIZE + 8);
        }
        self.others.sort_unstable();
        for (entry, expected) in self.others {
            let detail = Detail::Mismatch { stored: self.timestamps[entry], computed: expected };
            tell(detail, "timestamp", entry * TimeIndexEntry::SIZE);
        }
    }
}
