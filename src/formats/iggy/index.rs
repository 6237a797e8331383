//! The sparse index beside a segment: 24 bytes per entry, no header, no checksum.

use super::BatchHeader;
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;

layout! {
    /// An entry of an `.index` file, 24 bytes: a batch of the log.
    pub struct IndexEntry: 24 bytes, little_endian {
        /// First offset of the batch.
        0 base_offset: u64,
        /// Time of its append, µs since 1970.
        8 base_timestamp: u64,
        /// Where it starts in the log, bytes.
        16 position: u64,
    }
}

/// The whole entries of an `.index` file. Bytes behind the last one are ignored by readers.
pub fn index_entries(index: &[u8]) -> impl ExactSizeIterator<Item = IndexEntry<'_>> + DoubleEndedIterator + Clone {
    index.as_chunks().0.iter().map(IndexEntry)
}

/// Appends an entry to the bytes of an `.index` file.
pub fn write_index_entry(index: &mut Vec<u8>, base_offset: u64, base_timestamp: u64, position: u64) {
    for number in [base_offset, base_timestamp, position] {
        index.extend_from_slice(&number.to_le_bytes());
    }
}

/// Compares the entries of an `.index` file with the batches of the log, which are shown to it one after the other.
///
/// The server writes one entry per flush, so not every batch has one. Offsets of errors count in the `.index` file.
///
/// ```
/// # const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/segments/small/00000000000000000000");
/// use batchwise::iggy::{decode_all, FrameList, IndexCheck, Revision};
/// # let (log, index) = (std::fs::read(format!("{DATA}.log"))?, std::fs::read(format!("{DATA}.index"))?);
/// let mut check = IndexCheck::new(&index);
/// let mut errors = Vec::new();
/// decode_all(&log, 0, Revision::R2, &mut FrameList::default(), |batch, _| {
///     check.batch(batch.offset(), batch.header(), &mut |e| errors.push(e));
/// })?;
/// check.finish(&mut |e| errors.push(e));
/// assert!(errors.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexCheck<'a> {
    index: &'a [u8],
    /// Entry that is looked at next.
    next: usize,
}

impl<'a> IndexCheck<'a> {
    /// A check of these bytes of an `.index` file.
    #[must_use]
    pub fn new(index: &'a [u8]) -> Self {
        IndexCheck { index, next: 0 }
    }

    fn entry(&self, number: usize) -> Option<IndexEntry<'a>> {
        self.index.as_chunks().0.get(number).map(IndexEntry)
    }

    /// The batch that starts at `position` of the log comes next. Batches come in the order of the log.
    ///
    /// Errors: `IndexPositionInvalid` for entries that point before it and at no batch, `IndexOffsetMismatch` and
    /// `TimeIndexMismatch` for one that points at it and differs, `IndexNotMonotonic` for one that does not come after the one before it.
    pub fn batch(&mut self, position: u64, header: BatchHeader<'_>, error: &mut dyn FnMut(Error)) {
        self.skip_to(position, error);
        while let Some(entry) = self.entry(self.next).filter(|e| e.position() == position) {
            self.order(error);
            let (offsets, times) = (ErrorKind::IndexOffsetMismatch, ErrorKind::TimeIndexMismatch);
            let pairs = [
                (offsets, "base_offset", entry.base_offset(), header.base_offset()),
                (times, "base_timestamp", entry.base_timestamp(), header.base_timestamp()),
            ];
            for (kind, field, found, expected) in pairs {
                if found != expected {
                    error(self.error(kind, Detail::Expected { expected, found }, field));
                }
            }
            self.next += 1;
        }
    }

    /// The log has no more batches.
    ///
    /// Errors: those of [`batch`](Self::batch), and `IndexSizeInvalid` for bytes that are no whole entry.
    pub fn finish(&mut self, error: &mut dyn FnMut(Error)) {
        while self.entry(self.next).is_some() {
            self.order(error);
            self.no_batch(error);
        }
        let left = self.index.len() % IndexEntry::SIZE;
        if left > 0 {
            let detail = Detail::Length { needed: IndexEntry::SIZE as u64, available: left as u64 };
            let at = (self.index.len() - left) as u64;
            error(Error::new(ErrorKind::IndexSizeInvalid, detail, "base_offset", at));
        }
    }

    fn skip_to(&mut self, position: u64, error: &mut dyn FnMut(Error)) {
        while self.entry(self.next).is_some_and(|e| e.position() < position) {
            self.order(error);
            self.no_batch(error);
        }
    }

    fn no_batch(&mut self, error: &mut dyn FnMut(Error)) {
        let position = self.entry(self.next).map_or(0, IndexEntry::position);
        let detail = Detail::Value { found: position as i64, rule: "must be the start of a batch" };
        error(self.error(ErrorKind::IndexPositionInvalid, detail, "position"));
        self.next += 1;
    }

    fn order(&self, error: &mut dyn FnMut(Error)) {
        let before = self.next.checked_sub(1).and_then(|n| self.entry(n));
        if let (Some(before), Some(entry)) = (before, self.entry(self.next))
            && entry.position() <= before.position()
        {
            let found = entry.position() as i64;
            let detail = Detail::Value { found, rule: "must be above that of the entry before" };
            error(self.error(ErrorKind::IndexNotMonotonic, detail, "position"));
        }
    }

    fn error(&self, kind: ErrorKind, detail: Detail, field: &'static str) -> Error {
        let at = self.next * IndexEntry::SIZE + start_of(IndexEntry::FIELDS, field);
        Error::new(kind, detail, field, at as u64)
    }
}

/// The batch that recovery starts at: that of the last whole entry.
pub(super) fn last_position_error(index: &[u8]) -> Result<()> {
    let entries = index_entries(index);
    let number = entries.len().saturating_sub(1);
    let position = entries.last().map_or(0, IndexEntry::position);
    let detail = Detail::Value { found: position as i64, rule: "must be the start of a batch" };
    let at = number * IndexEntry::SIZE + start_of(IndexEntry::FIELDS, "position");
    Err(Error::new(ErrorKind::IndexPositionInvalid, detail, "position", at as u64))
}
