//! A batch of messages.

use super::message::{filled, frame_end};
use super::{BatchHeader, FrameList, Messages, Revision, frames};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result};
use core::fmt;

/// Why bytes are no batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The bytes end before the batch does. Nothing is known to be wrong.
    NeedsMore {
        /// Bytes that are needed from the start of the batch on: 256 for the header, then the length of the batch.
        needed: u64,
        /// Bytes there.
        available: u64,
        /// Where the batch starts in the input.
        offset: u64,
    },
    /// The bytes that are there break a promise; more of them change nothing.
    Damaged(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Damaged(error)
    }
}

impl From<Failure> for Error {
    /// `TornTail` for bytes that end too early.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NeedsMore { needed, available, offset } => {
                let by_length = needed > BatchHeader::SIZE as u64;
                let at = if by_length { start_of(BatchHeader::FIELDS, "batch_length") as u64 } else { 0 };
                let field = if by_length { "batch_length" } else { "batch" };
                Error::new(ErrorKind::TornTail, Detail::Length { needed, available }, field, offset + at)
            }
            Failure::Damaged(error) => error,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(*self).fmt(f)
    }
}

impl core::error::Error for Failure {}

/// A batch whose header holds what it promises, and as many bytes as its length says.
///
/// ```
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/batches/one_hello.bin"));
/// use batchwise::iggy::{Batch, FrameList, Revision};
/// let batch = Batch::parse(bytes, 0, Revision::R2)?; // the header
/// let mut frames = FrameList::default(); // memory, to be used again for the next batch
/// batch.verify(&mut frames)?; // every message, the batch checksum
/// for message in batch.messages() {
///     assert_eq!(message?.payload(), b"hello iggy");
/// }
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    bytes: &'a [u8],
    header: BatchHeader<'a>,
    offset: u64,
}

impl<'a> Batch<'a> {
    /// The batch at the start of `bytes`, which stand at `offset` of the input. Bytes behind it are ignored.
    ///
    /// # Errors
    /// In the reference's order: too few bytes for the header, [what the header says](BatchHeader::check), too few bytes
    /// for the batch.
    pub fn parse(bytes: &'a [u8], offset: u64, revision: Revision) -> Result<Self, Failure> {
        let needs = |needed| Failure::NeedsMore { needed, available: bytes.len() as u64, offset };
        let header = BatchHeader::new(bytes).ok_or(needs(BatchHeader::SIZE as u64))?;
        header.check(revision, offset)?;
        let length = header.batch_length();
        let bytes = usize::try_from(length).ok().and_then(|len| bytes.get(..len)).ok_or(needs(length))?;
        Ok(Batch { bytes, header, offset })
    }

    /// The batch that fills `bytes`, which stand at `offset` of the input: what a replica asks of the body of a frame,
    /// before it computes any checksum.
    ///
    /// # Errors
    /// In the reference's order: too few bytes for the header, [what the header says](BatchHeader::check),
    /// `BatchLengthMismatch`.
    pub fn parse_exact(bytes: &'a [u8], offset: u64, revision: Revision) -> Result<Self> {
        let available = bytes.len() as u64;
        let short = Failure::NeedsMore { needed: BatchHeader::SIZE as u64, available, offset };
        let header = BatchHeader::new(bytes).ok_or(short)?;
        header.check(revision, offset)?;
        if header.batch_length() != available {
            return Err(exact_error(header, available, offset));
        }
        Ok(Batch { bytes, header, offset })
    }

    /// The header.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> BatchHeader<'a> {
        self.header
    }

    /// The whole batch.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the batch starts in the input, bytes.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes behind the header: the messages.
    #[inline]
    #[must_use]
    pub fn blob(&self) -> &'a [u8] {
        &self.bytes[BatchHeader::SIZE..]
    }

    /// Where [`blob`](Self::blob) starts in the input.
    #[inline]
    pub(super) const fn blob_offset(&self) -> u64 {
        self.offset + BatchHeader::SIZE as u64
    }

    /// The messages, checksums not compared.
    #[must_use]
    pub fn messages(&self) -> Messages<'a> {
        Messages::new(self.header, self.blob(), self.blob_offset())
    }

    /// Checks that whole messages fill the batch and are as many as it says; computes no checksum.
    ///
    /// # Errors
    /// `FramesNotFilling`, with the field that stops the walk.
    pub fn check_layout(&self) -> Result<()> {
        let blob = self.blob();
        let (mut at, mut count) = (0, 0);
        while let Some(end) = frame_end(blob, at) {
            at = end;
            count += 1;
        }
        filled(self.header, blob, at, count, self.blob_offset())
    }

    /// Puts the messages into `frames` without comparing their checksums: all that is needed to stamp a batch that is
    /// trusted.
    ///
    /// # Errors
    /// `FramesNotFilling`, with the field that stops the walk.
    pub fn list_frames(&self, frames: &mut FrameList) -> Result<()> {
        frames::list(self, frames)
    }

    /// Checks everything that the reference checks: the checksum of every message, the layout, the batch checksum.
    ///
    /// Afterwards `frames` has where the messages start and their checksums, up to the error if there is one.
    ///
    /// # Errors
    /// In the reference's order: `MessageChecksumMismatch` of the first message whose checksum differs,
    /// `FramesNotFilling`, `BatchChecksumMismatch`.
    pub fn verify(&self, frames: &mut FrameList) -> Result<()> {
        frames::verify(self, frames)
    }
}

#[cold]
fn exact_error(header: BatchHeader<'_>, available: u64, offset: u64) -> Error {
    let detail = Detail::Expected { expected: available, found: header.batch_length() };
    header.error(ErrorKind::BatchLengthMismatch, detail, "batch_length", offset)
}

/// The batch at the start of `bytes`, with everything checked: the routine through which all batches go in the reference.
///
/// `bytes` stand at `offset` of the input. Bytes behind the batch are ignored; an empty batch passes.
///
/// # Errors
/// Those of [`Batch::parse`] and [`Batch::verify`], in that order.
pub fn decode<'a>(
    bytes: &'a [u8],
    offset: u64,
    revision: Revision,
    frames: &mut FrameList,
) -> Result<Batch<'a>, Failure> {
    let batch = Batch::parse(bytes, offset, revision)?;
    batch.verify(frames)?;
    Ok(batch)
}

/// What a replica asks of a replicated batch: [`decode`] with the exact length checked before any checksum.
///
/// That the batch is not empty, and continues the offsets, is asked later, when it is appended.
///
/// # Errors
/// Those of [`Batch::parse_exact`] and [`Batch::verify`], in that order.
pub fn decode_exact<'a>(bytes: &'a [u8], offset: u64, revision: Revision, frames: &mut FrameList) -> Result<Batch<'a>> {
    let batch = Batch::parse_exact(bytes, offset, revision)?;
    batch.verify(frames)?;
    Ok(batch)
}

/// Checks batches that lie back to back in `bytes`, which stand at `offset` of the input, one after the other.
///
/// `each` is called with every batch and its frames. Returns how many bytes the whole, sound batches at the start take.
///
/// # Errors
/// The first failure; the batches before it were handed out. [`Failure::NeedsMore`] tells a batch cut by the end of a read
/// from a damaged one.
pub fn decode_all<'a>(
    bytes: &'a [u8],
    offset: u64,
    revision: Revision,
    frames: &mut FrameList,
    mut each: impl FnMut(Batch<'a>, &FrameList),
) -> Result<usize, Failure> {
    let mut at = 0;
    while at < bytes.len() {
        let batch = decode(&bytes[at..], offset + at as u64, revision, frames)?;
        each(batch, frames);
        at += batch.bytes().len();
    }
    Ok(at)
}
