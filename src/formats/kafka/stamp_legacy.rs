//! Stamping a message of magic 0 or 1 in place.

use super::attributes::{Attributes, TimestampType};
use super::{PREFIX, batch, prefix_of};
use crate::wire::bytes_at;
use crate::{Detail, Error, ErrorKind, Result};

/// Up to where a patch looks: offset, size, crc, magic, attributes, timestamp.
const HEAD: usize = 26;
/// First byte under the checksum.
const CRC_FROM: usize = 16;

/// Changes to a message of magic 0 or 1, or to the wrapper of a compressed set of them.
///
/// As with [`HeaderPatch`](super::HeaderPatch) the CRC-32 follows by arithmetic, and damage stays visible. Magic 0 has
/// no timestamp; only its offset can be stamped.
///
/// ```
/// use batchwise::kafka::{MessagePatch, TimestampType};
/// // Key "k", value "hello", magic 1, at offset 10.
/// let mut message = *b"\0\0\0\0\0\0\0\x0a\0\0\0\x1c\x29\x54\x66\x6d\x01\0\0\0\x01\x8f\x12\x5c\x74\0\0\0\0\x01k\0\0\0\x05hello";
/// MessagePatch::new().offset(42).timestamp(TimestampType::LogAppendTime, 1_714_000_123_456).apply(&mut message)?;
/// assert_eq!(message[..8], 42u64.to_be_bytes());
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a patch changes nothing before it is applied"]
pub struct MessagePatch {
    offset: Option<i64>,
    timestamp: Option<(TimestampType, i64)>,
}

impl MessagePatch {
    /// Changes nothing yet.
    pub const fn new() -> Self {
        MessagePatch { offset: None, timestamp: None }
    }

    /// Offset of the message; for a wrapper that of its last inner message. Outside the checksum.
    pub const fn offset(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Timestamp and its type: under `LogAppendTime` the time of the append, else the message's own, for a wrapper the
    /// greatest of the inner ones. Where that changes anything, reserved attribute bits become 0.
    pub const fn timestamp(mut self, kind: TimestampType, ms: i64) -> Self {
        self.timestamp = Some((kind, ms));
        self
    }

    /// Applies the changes to the message at the start of `bytes`.
    ///
    /// # Errors
    /// `TornTail` and the other errors of framing; `MagicUnknown` for a record batch of magic 2; `MagicNotAllowed` if a
    /// timestamp is to be written to magic 0. After an error `bytes` are as they were.
    pub fn apply(&self, bytes: &mut [u8]) -> Result<()> {
        let torn = |needed: u64, available: usize| {
            let detail = Detail::Length { needed, available: available as u64 };
            Error::new(ErrorKind::TornTail, detail, "messageSize", 8)
        };
        let (size, magic) = prefix_of(bytes).ok_or_else(|| torn(PREFIX as u64, bytes.len()))?;
        let total = batch::length_of(size, magic, 0)?;
        let wrong_magic = |kind, rule| {
            let detail = Detail::Value { found: magic.into(), rule };
            Err(Error::new(kind, detail, "magic", 16))
        };
        if magic == 2 {
            return wrong_magic(ErrorKind::MagicUnknown, "must be 0 or 1");
        }
        if magic == 0 && self.timestamp.is_some() {
            return wrong_magic(ErrorKind::MagicNotAllowed, "must be 1 to carry a timestamp");
        }
        let len = usize::try_from(total).ok().filter(|&n| n <= bytes.len()).ok_or_else(|| torn(total, bytes.len()))?;
        if let Some((kind, ms)) = self.timestamp {
            let tail_len = len.checked_sub(HEAD).ok_or_else(|| torn(HEAD as u64, len))?;
            let head = bytes.first_chunk_mut::<HEAD>().ok_or_else(|| torn(HEAD as u64, len))?;
            set_timestamp(head, kind, ms, tail_len as u64);
        }
        if let Some(offset) = self.offset {
            bytes[..8].copy_from_slice(&offset.to_be_bytes());
        }
        Ok(())
    }
}

fn set_timestamp(head: &mut [u8; HEAD], kind: TimestampType, ms: i64, tail_len: u64) {
    let attributes = Attributes(head[17].into());
    if (attributes.timestamp_type(), i64::from_be_bytes(bytes_at::<18, 8, HEAD>(head))) == (kind, ms) {
        return;
    }
    let old = *head;
    let codec = Attributes(attributes.codec().into());
    head[17] = codec.with(Attributes::LOG_APPEND_TIME, kind == TimestampType::LogAppendTime).0 as u8;
    head[18..].copy_from_slice(&ms.to_be_bytes());
    // As the checksum is linear, that of equally long data changes by the change of the head's, moved over the tail.
    let change = crc32fast::hash(&old[CRC_FROM..]) ^ crc32fast::hash(&head[CRC_FROM..]);
    let mut moved = crc32fast::Hasher::new_with_initial(change);
    moved.combine(&crc32fast::Hasher::new_with_initial_len(0, tail_len));
    let crc = u32::from_be_bytes(bytes_at::<12, 4, HEAD>(head)) ^ moved.finalize();
    head[12..16].copy_from_slice(&crc.to_be_bytes());
}
