//! Kafka's `.index`: 8 bytes for each entry, a last offset relative to the file's number and where its batch starts.
//!
//! There is no checksum. The file of an active segment is longer than its entries and ends in zeros.

use super::keys::Keys;
use super::{Log, SideFile, Told, before_zeros};
use crate::formats::Severity;
use crate::validate::Batch;
use crate::{Detail, ErrorKind};

layout! {
    /// An entry of Kafka's `.index`.
    pub struct OffsetIndexEntry: 8 bytes, big_endian {
        /// Last offset of the batch, or of those appended with it, relative to the file's number.
        0 relative_offset: i32,
        /// Where the batch starts in the log, bytes.
        4 position: i32,
    }
}

pub(super) fn entries(side: &SideFile) -> impl ExactSizeIterator<Item = OffsetIndexEntry<'_>> {
    before_zeros(&side.bytes, |e| OffsetIndexEntry(e).relative_offset() == 0).iter().map(OffsetIndexEntry)
}

fn offset_of(side: &SideFile, entry: OffsetIndexEntry<'_>) -> u64 {
    side.base_offset.saturating_add_signed(entry.relative_offset().into())
}

pub(super) fn check(side: &SideFile, told: &mut Told<'_>) {
    told.check_size(side.bytes.len(), OffsetIndexEntry::SIZE);
    let mut before: Option<OffsetIndexEntry<'_>> = None;
    for (i, entry) in entries(side).enumerate() {
        let at = i * OffsetIndexEntry::SIZE;
        let values = [
            ("relativeOffset", at, entry.relative_offset(), before.map(|b| b.relative_offset())),
            ("position", at + 4, entry.position(), before.map(|b| b.position())),
        ];
        for (field, at, value, before) in values {
            if value < 0 || before.is_some_and(|before| value <= before) {
                let rule = "must not be negative, and above that of the entry before";
                told.error(ErrorKind::IndexNotMonotonic, Detail::Value { found: value.into(), rule }, field, at);
            }
        }
        before = Some(entry);
    }
}

/// The comparison with the log.
#[derive(Clone, Debug)]
pub(super) struct Compare {
    positions: Keys,
    offsets: Keys,
    /// Entries whose batch ends with another offset, and that.
    others: Vec<(usize, u64)>,
}

impl Compare {
    pub(super) fn new(side: &SideFile) -> Self {
        let positions = Keys::new(entries(side).map(|e| u64::try_from(e.position()).unwrap_or(u64::MAX)));
        let offsets = Keys::new(entries(side).map(|e| offset_of(side, e)));
        Compare { positions, offsets, others: Vec::new() }
    }

    #[inline]
    pub(super) fn batch(&mut self, batch: &Batch, amid: bool) {
        let last = batch.summary.next_offset.filter(|_| !batch.summary.damaged).and_then(|next| next.checked_sub(1));
        if amid && !self.positions.begun() {
            self.positions.begin_at(batch.offset);
        }
        let Compare { positions, offsets, others } = self;
        positions.tick(batch.offset, |entry| {
            if let Some(last) = last.filter(|last| *last != offsets.of(entry)) {
                others.push((entry, last));
            }
        });
        if let Some(last) = last {
            if amid && !offsets.begun() {
                offsets.begin_at(batch.summary.lowest_offset().unwrap_or(last));
            }
            offsets.tick(last, |_| ());
        }
    }

    pub(super) fn join(&mut self, part: Compare) {
        self.positions.join(part.positions);
        self.offsets.join(part.offsets);
        self.others.extend(part.others);
    }

    pub(super) fn finish(self, log: &Log<'_>, told: &mut Told<'_>) {
        for entry in self.positions.clone().missed() {
            let position = self.positions.of(entry);
            let detail = Detail::Value { found: position as i64, rule: "must be the start of a batch" };
            // Where the log is damaged it may once have been one.
            let severity = if log.is_unreadable(position) { Severity::Warning } else { Severity::Error };
            told.tell(
                severity,
                ErrorKind::IndexPositionInvalid,
                detail,
                "position",
                entry * OffsetIndexEntry::SIZE + 4,
            );
        }
        // A follower indexed the last offset of several batches with the place of the first: that is harmless, as long
        // as some batch ends there.
        let nowhere = self.offsets.clone().missed();
        for (entry, last) in self.others {
            if nowhere.binary_search(&entry).is_ok() && log.is_sound() {
                let detail = Detail::Expected { expected: last, found: self.offsets.of(entry) };
                let at = entry * OffsetIndexEntry::SIZE;
                told.tell(Severity::Warning, ErrorKind::IndexOffsetMismatch, detail, "relativeOffset", at);
            }
        }
    }
}
