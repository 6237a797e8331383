//! Every checksum of a batch, in one pass that keeps what stamping needs.

use super::header::CHECKSUM_HEAD;
use super::message::{UNHASHED, filled, frame_end};
use super::{Batch, BatchHeader, MessageHeader};
use crate::{Detail, Error, ErrorKind, Result, xxh3};
use alloc::vec::Vec;
use core::ops::Range;

/// Where the messages of a batch start, and their checksums. Memory that is used again from batch to batch.
///
/// Its size follows the bytes of the batch, never a number that the batch claims.
#[derive(Clone, Debug, Default)]
pub struct FrameList {
    /// Start of each frame in the blob.
    starts: Vec<usize>,
    /// Room for the head of the batch checksum's input, then the checksums as they lie in the frames: with the head put
    /// in, the input is one piece.
    input: Vec<u8>,
    /// End of the last frame in the blob.
    end: usize,
}

/// Frames that are walked, then hashed together while they are in the first-level cache.
const TOGETHER: usize = 64;

impl FrameList {
    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no frame.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where frame `index` lies in the batch, counted from the batch's first byte; `None` past the last one.
    #[must_use]
    pub fn range(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.end);
        Some(BatchHeader::SIZE + start..BatchHeader::SIZE + end)
    }

    /// The checksums of the frames, as stored.
    pub fn checksums(&self) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        self.checksum_bytes().as_chunks::<8>().0.iter().map(|c| u64::from_le_bytes(*c))
    }

    fn checksum_bytes(&self) -> &[u8] {
        self.input.get(CHECKSUM_HEAD..).unwrap_or_default()
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.input.clear();
        self.input.resize(CHECKSUM_HEAD, 0);
        self.end = 0;
    }

    /// The batch checksum of a batch with this header and all of these frames.
    #[must_use]
    pub fn batch_checksum(&mut self, header: BatchHeader<'_>) -> u64 {
        let (head, len) = header.checksum_head();
        if self.input.is_empty() {
            self.clear();
        }
        let from = CHECKSUM_HEAD - len;
        self.input[from..CHECKSUM_HEAD].copy_from_slice(&head[..len]);
        xxh3::hash64(&self.input[from..])
    }

    /// Puts in a frame that lies at `start..end` of the blob.
    pub(super) fn push(&mut self, start: usize, end: usize, checksum: u64) {
        if self.input.is_empty() {
            self.clear();
        }
        self.starts.push(start);
        self.input.extend_from_slice(&checksum.to_le_bytes());
        self.end = end;
    }
}

/// The batch checksum of a batch with this header and the frames of these indexes.
pub(super) fn batch_checksum_of(header: BatchHeader<'_>, frames: &FrameList, indexes: Range<usize>) -> u64 {
    let (head, len) = header.checksum_head();
    let mut input = head[..len].to_vec();
    input.extend_from_slice(&frames.checksum_bytes()[8 * indexes.start..8 * indexes.end]);
    xxh3::hash64(&input)
}

pub(super) fn verify(batch: &Batch<'_>, frames: &mut FrameList) -> Result<()> {
    let blob = batch.blob();
    frames.clear();
    loop {
        let from = frames.starts.len();
        walk(blob, frames);
        let new = &frames.starts[from..];
        if new.is_empty() {
            break;
        }
        if let Err(index) = hash(blob, new, frames.end, &frames.input[CHECKSUM_HEAD + 8 * from..]) {
            // What lies behind a damaged frame is not known.
            let index = from + index;
            let (start, end) = (frames.starts[index], frames.range(index).map_or(0, |r| r.end - BatchHeader::SIZE));
            frames.starts.truncate(index);
            frames.input.truncate(CHECKSUM_HEAD + 8 * index);
            frames.end = start;
            return Err(message_error(batch, start, end));
        }
        if new.len() < TOGETHER {
            break;
        }
    }
    filled(batch.header(), blob, frames.end, frames.starts.len() as u64, batch.blob_offset())?;
    let (stored, computed) = (batch.header().batch_checksum(), frames.batch_checksum(batch.header()));
    if stored == computed {
        return Ok(());
    }
    let detail = Detail::ChecksumAt { stored, computed, log_offset: batch.header().base_offset() };
    Err(batch.header().error(ErrorKind::BatchChecksumMismatch, detail, "batch_checksum", batch.offset()))
}

pub(super) fn list(batch: &Batch<'_>, frames: &mut FrameList) -> Result<()> {
    let blob = batch.blob();
    frames.clear();
    let mut len = usize::MAX;
    while len != frames.len() {
        len = frames.len();
        walk(blob, frames);
    }
    filled(batch.header(), blob, frames.end, frames.len() as u64, batch.blob_offset())
}

/// Puts the next whole frames into the list, as many as are hashed together.
fn walk(blob: &[u8], frames: &mut FrameList) {
    let mut at = frames.end;
    for _ in 0..TOGETHER {
        let Some(end) = frame_end(blob, at) else { break };
        frames.starts.push(at);
        frames.input.extend_from_slice(&blob[at..at + UNHASHED]);
        at = end;
    }
    frames.end = at;
}

/// Compares the checksums of frames that start at `starts` and end at `end`; the index of the first that differs.
fn hash(blob: &[u8], starts: &[usize], end: usize, stored: &[u8]) -> Result<(), usize> {
    let ends = starts[1..].iter().copied().chain([end]);
    for (index, ((&start, end), stored)) in starts.iter().zip(ends).zip(stored.as_chunks::<8>().0).enumerate() {
        if xxh3::hash64(&blob[start + UNHASHED..end]) != u64::from_le_bytes(*stored) {
            return Err(index);
        }
    }
    Ok(())
}

#[cold]
fn message_error(batch: &Batch<'_>, start: usize, end: usize) -> Error {
    let frame = &batch.blob()[start..end];
    let Some(header) = MessageHeader::new(frame) else {
        unreachable!("a frame has a header");
    };
    let detail = Detail::ChecksumAt {
        stored: header.checksum(),
        computed: xxh3::hash64(&frame[UNHASHED..]),
        log_offset: batch.header().base_offset().saturating_add(header.offset_delta().into()),
    };
    Error::new(ErrorKind::MessageChecksumMismatch, detail, "checksum", batch.blob_offset() + start as u64)
}
