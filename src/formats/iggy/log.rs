//! Logs of stamped batches, as the server walks them: strictly when a peer sends a segment, and when it starts.

use super::index::last_position_error;
use super::request::check_count;
use super::{
    Batch, BatchHeader, FrameList, IndexEntry, Revision, decode, decode_exact, index_entries, write_index_entry,
};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;
use core::fmt;

/// Bytes of the log between two entries of an index that a receiver makes.
const INDEX_STRIDE: u64 = 64 << 10;

/// What a sound log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Number of batches.
    pub batches: u64,
    /// Number of messages.
    pub messages: u64,
    /// Last offset.
    pub end_offset: u64,
    /// Time of the first batch's append, µs.
    pub start_timestamp: u64,
    /// Time of the last batch's append, µs.
    pub end_timestamp: u64,
    /// Greatest time of an append, µs.
    pub max_timestamp: u64,
    /// Bytes of an `.index` file: an entry for the first batch, and for each one that starts 64 KiB or more behind the last
    /// entry's.
    pub index: Vec<u8>,
}

/// Why a log is refused, and the batch at which that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogError {
    /// Where the batch starts in the log, bytes.
    pub position: u64,
    /// What is wrong with it.
    pub error: Error,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (batch at byte {})", self.error, self.position)
    }
}

impl core::error::Error for LogError {}

/// The strictest walk of the reference, for batches that are verified and shown to it one after the other.
///
/// Partition ids are not compared.
#[derive(Clone, Debug)]
pub struct LogWalk {
    next_offset: u64,
    indexed: u64,
    summary: LogSummary,
}

impl LogWalk {
    /// A walk through a log whose first offset is `start_offset`: the number in its file's name.
    #[must_use]
    pub fn new(start_offset: u64) -> Self {
        LogWalk { next_offset: start_offset, indexed: 0, summary: LogSummary::default() }
    }

    /// The next batch, verified.
    ///
    /// # Errors
    /// In the reference's order: `BaseOffsetMismatch` of the first batch or `OffsetsNotContiguous` of a later one,
    /// `BatchEmpty`, `OffsetOverflow`.
    pub fn push(&mut self, batch: &Batch<'_>) -> Result<()> {
        let header = batch.header();
        let (expected, found) = (self.next_offset, header.base_offset());
        let first = self.summary.batches == 0;
        if found != expected {
            let kind = if first { ErrorKind::BaseOffsetMismatch } else { ErrorKind::OffsetsNotContiguous };
            return Err(header.error(kind, Detail::Expected { expected, found }, "base_offset", batch.offset()));
        }
        check_count(batch)?;
        let overflow = || {
            let detail = Detail::Value { found: found as i64, rule: "must leave room for all messages below 2^64" };
            header.error(ErrorKind::OffsetOverflow, detail, "base_offset", batch.offset())
        };
        let end = header.last_offset().ok_or_else(overflow)?;
        let time = header.base_timestamp();
        let summary = &mut self.summary;
        if first || batch.offset().saturating_sub(self.indexed) >= INDEX_STRIDE {
            self.indexed = batch.offset();
            write_index_entry(&mut summary.index, found, time, batch.offset());
        }
        self.next_offset = end.checked_add(1).ok_or_else(overflow)?;
        summary.batches += 1;
        summary.messages += u64::from(header.message_count());
        summary.end_offset = end;
        summary.start_timestamp = if first { time } else { summary.start_timestamp };
        summary.end_timestamp = time;
        summary.max_timestamp = summary.max_timestamp.max(time);
        Ok(())
    }

    /// The offset that has to come next.
    #[must_use]
    pub const fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// The end of the log.
    ///
    /// # Errors
    /// `LogEmpty` if there was no batch.
    pub fn finish(self) -> Result<LogSummary> {
        if self.summary.batches == 0 {
            return Err(Error::new(ErrorKind::LogEmpty, Detail::None, "batch", 0));
        }
        Ok(self.summary)
    }
}

/// Checks a whole log as the server checks a segment that a peer sends: every checksum, and what [`LogWalk`] checks. No byte
/// may be left over.
///
/// # Errors
/// The first batch at which something is wrong.
///
/// ```
/// # let log = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/segments/small/00000000000000000000.log"));
/// use batchwise::iggy::{FrameList, Revision, check_log};
/// let summary = check_log(log, 0, Revision::R2, &mut FrameList::default())?;
/// assert_eq!((summary.batches, summary.messages, summary.end_offset), (60, 599, 598));
/// # Ok::<(), batchwise::iggy::LogError>(())
/// ```
pub fn check_log(
    log: &[u8],
    start_offset: u64,
    revision: Revision,
    frames: &mut FrameList,
) -> Result<LogSummary, LogError> {
    let mut walk = LogWalk::new(start_offset);
    let mut at = 0;
    while at < log.len() {
        let position = at as u64;
        let mut step = || {
            let batch = decode(&log[at..], position, revision, frames)?;
            walk.push(&batch)?;
            Ok(batch.bytes().len())
        };
        at += step().map_err(|error| LogError { position, error })?;
    }
    walk.finish().map_err(|error| LogError { position: 0, error })
}

/// What the server makes of a segment when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Bytes of the log that can be read; the server appends behind the physical end all the same.
    pub readable_bytes: u64,
    /// Last offset.
    pub end_offset: u64,
    /// Time of the first append, µs: as the index has it, else as the log has it.
    pub start_timestamp: u64,
    /// Time of the last append, µs.
    pub end_timestamp: u64,
}

/// What a server of the generation 0.9 makes of a log and its index when it starts. `None` if it takes the segment as empty.
///
/// With a whole entry in the index it steps from header to header, from the last entry's batch on, and computes no checksum.
/// Without, it walks from the start and stops at the first batch that does not verify or does not continue the offsets.
///
/// # Errors
/// `IndexPositionInvalid` if no batch starts where the last entry says: the server refuses to start
/// (`RecoveredSegmentSizeDivergence`). The offset counts in the index.
pub fn recover_log(
    log: &[u8],
    index: &[u8],
    start_offset: u64,
    revision: Revision,
    frames: &mut FrameList,
) -> Result<Option<Recovered>> {
    let (mut first, mut last) = (index_entries(index), index_entries(index));
    match (first.next(), last.next_back()) {
        (Some(first), Some(last)) => recover_from(log, first, last, revision, index).map(Some),
        _ => Ok(recover_all(log, start_offset, revision, frames)),
    }
}

fn recover_from(
    log: &[u8],
    first: IndexEntry<'_>,
    last: IndexEntry<'_>,
    revision: Revision,
    index: &[u8],
) -> Result<Recovered> {
    let mut recovered = Recovered {
        readable_bytes: last.position(),
        end_offset: last.base_offset(),
        start_timestamp: first.base_timestamp(),
        end_timestamp: last.base_timestamp(),
    };
    let at = |position| usize::try_from(position).ok().and_then(|at| log.get(at..));
    while let Some(batch) = at(recovered.readable_bytes).and_then(|rest| Batch::parse(rest, 0, revision).ok()) {
        recovered.count(batch.header());
    }
    if recovered.readable_bytes == last.position() {
        last_position_error(index)?;
    }
    Ok(recovered)
}

fn recover_all(log: &[u8], start_offset: u64, revision: Revision, frames: &mut FrameList) -> Option<Recovered> {
    let mut recovered = Recovered { readable_bytes: 0, end_offset: start_offset, start_timestamp: 0, end_timestamp: 0 };
    let (mut next_offset, mut any) = (start_offset, false);
    loop {
        let rest = log.get(recovered.readable_bytes as usize..)?;
        let Ok(batch) = Batch::parse(rest, 0, revision) else { break };
        let header = batch.header();
        if header.base_offset() != next_offset || decode_exact(batch.bytes(), 0, revision, frames).is_err() {
            break;
        }
        recovered.count(header);
        if header.message_count() > 0 {
            recovered.start_timestamp = if any { recovered.start_timestamp } else { header.base_timestamp() };
            next_offset = recovered.end_offset.saturating_add(1);
            any = true;
        }
    }
    any.then_some(recovered)
}

impl Recovered {
    /// Steps over a batch. An empty one has no last offset.
    fn count(&mut self, header: BatchHeader<'_>) {
        if let Some(last) = u64::from(header.message_count()).checked_sub(1) {
            self.end_offset = header.base_offset().saturating_add(last);
            self.end_timestamp = header.base_timestamp();
        }
        self.readable_bytes += header.batch_length();
    }
}

/// Where `base_offset` stands in a batch that starts at `offset`.
pub(super) const fn base_offset_at(offset: u64) -> u64 {
    offset + start_of(BatchHeader::FIELDS, "base_offset") as u64
}
