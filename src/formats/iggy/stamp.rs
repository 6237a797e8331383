//! What a server writes into a header: the stamp of an append, and the header of a slice that a poll takes.

use super::frames::batch_checksum_of;
use super::{Batch, BatchHeader, FrameList};
use core::ops::Range;

/// Whether stamping computes the batch checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumMode {
    /// Computes it from the checksums in the list.
    #[default]
    Compute,
    /// Writes 0: the batch is stamped again before anybody reads it.
    Skip,
}

/// Numbers that a server writes into the header; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Partition, written at admission.
    pub partition_id: Option<u64>,
    /// The next offset of the partition, written at append.
    pub base_offset: Option<u64>,
    /// Time of the append, µs, written at append.
    pub base_timestamp: Option<u64>,
}

/// Stamps a header. `frames` are those of its batch, as [`Batch::verify`] left them: no message is looked at again.
///
/// Reserved bytes are written as zeros.
///
/// ```
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/batches/mixed10.bin"));
/// use batchwise::iggy::{Batch, ChecksumMode, FrameList, Revision, Stamp, stamp};
/// let mut bytes = bytes.to_vec();
/// let mut frames = FrameList::default();
/// Batch::parse(&bytes, 0, Revision::R2)?.verify(&mut frames)?;
/// let append = Stamp { partition_id: Some(7), base_offset: Some(1000), base_timestamp: Some(1790000222000000) };
/// stamp(bytes.first_chunk_mut().unwrap(), append, &mut frames, ChecksumMode::Compute);
/// assert_eq!(Batch::parse(&bytes, 0, Revision::R2)?.header().batch_checksum(), 0xd580c5e3e4bceed6);
/// # Ok::<(), batchwise::Error>(())
/// ```
pub fn stamp(header: &mut [u8; BatchHeader::SIZE], stamp: Stamp, frames: &mut FrameList, mode: ChecksumMode) {
    let mut fields = BatchHeader::of(header).fields();
    fields.partition_id = stamp.partition_id.unwrap_or(fields.partition_id);
    fields.base_offset = stamp.base_offset.unwrap_or(fields.base_offset);
    fields.base_timestamp = stamp.base_timestamp.unwrap_or(fields.base_timestamp);
    fields.batch_checksum = match mode {
        ChecksumMode::Compute => frames.batch_checksum(BatchHeader::of(&fields.to_bytes())),
        ChecksumMode::Skip => 0,
    };
    *header = fields.to_bytes();
}

/// Which messages a poll wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollFrom {
    /// Those from this offset on.
    Offset(u64),
    /// Those of batches that were appended at this time, µs, or later.
    Timestamp(u64),
}

/// A part of a batch as a poll sends it: a header of its own, and messages that lie in the batch.
#[derive(Clone, Debug)]
pub struct PollSlice<'a> {
    /// Header with the length, number of messages and checksum of the part. `base_offset` and the messages' deltas stay, so
    /// the first delta need not be 0.
    pub header: [u8; BatchHeader::SIZE],
    /// The messages.
    pub messages: &'a [u8],
    /// Their indexes in the batch.
    pub indexes: Range<usize>,
}

/// The messages of a batch that a poll takes: at most `count`, none above the offset `ceiling`.
///
/// Their frames are read, no checksum is computed but that of the new header. As in the reference the walk ends at the first
/// message above the ceiling, and the part is one piece of the batch. `None` if no message matches, or if `frames` are not
/// those of this batch.
#[must_use]
pub fn poll_slice<'a>(
    batch: &Batch<'a>,
    frames: &FrameList,
    from: PollFrom,
    count: u32,
    ceiling: u64,
) -> Option<PollSlice<'a>> {
    let mut indexes: Option<Range<usize>> = None;
    let mut matched = 0;
    for (index, message) in batch.messages().enumerate() {
        let Ok(message) = message else { break };
        if message.offset() > ceiling || matched == count {
            break;
        }
        let wanted = match from {
            PollFrom::Offset(offset) => message.offset() >= offset,
            PollFrom::Timestamp(timestamp) => message.timestamp() >= timestamp,
        };
        if wanted {
            matched += 1;
            indexes = Some(indexes.map_or(index, |r| r.start)..index + 1);
        }
    }
    let indexes = indexes?;
    let (first, last) = (frames.range(indexes.start)?, frames.range(indexes.end - 1)?);
    let messages = batch.bytes().get(first.start..last.end)?;
    if indexes == (0..frames.len()) && messages.len() == batch.blob().len() {
        return Some(PollSlice { header: *batch.header().as_bytes(), messages, indexes });
    }
    let mut fields = batch.header().fields();
    fields.batch_length = (BatchHeader::SIZE + messages.len()) as u64;
    fields.message_count = u32::try_from(indexes.len()).ok()?;
    fields.batch_checksum = batch_checksum_of(BatchHeader::of(&fields.to_bytes()), frames, indexes.clone());
    Some(PollSlice { header: fields.to_bytes(), messages, indexes })
}
