//! Building messages of magic 0 and 1, alone or compressed into a wrapper.

use super::LENGTH_END;
use super::attributes::Attributes;
use crate::codec::{Codec, Compressor};
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;

/// Builds message sets of magic 0 or 1: what producers wrote before Kafka 0.11, and what old segments hold. Current
/// brokers take no such sets from producers.
///
/// Without a codec each message stands alone. With one they go into a wrapper together: its offset is that of the last
/// message, and in magic 1 the offsets within count from the first.
///
/// ```
/// use batchwise::kafka::MessageSetBuilder;
/// let mut builder = MessageSetBuilder::new(1)?.base_offset(10);
/// builder.append(1_714_000_000_000, Some(b"k"), Some(b"hello"))?;
/// let set = builder.finish()?;
/// assert_eq!(set[..8], 10u64.to_be_bytes());
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageSetBuilder {
    magic: i8,
    base_offset: i64,
    log_append_time: Option<i64>,
    compressor: Option<Compressor>,
    set: Vec<u8>,
    last_offset: Option<i64>,
    max_timestamp: i64,
}

/// Bytes of a message of magic 0 without key and value; magic 1 has a timestamp as well.
const OVERHEAD: usize = 26;
const TIMESTAMP: usize = 8;
const CRC_FROM: usize = 16;

impl MessageSetBuilder {
    /// For magic 0 or 1: base offset 0, `CreateTime`, not compressed.
    ///
    /// # Errors
    /// `MagicNotAllowed`.
    pub fn new(magic: i8) -> Result<Self> {
        if !matches!(magic, 0 | 1) {
            return Err(magic_error(magic, "must be 0 or 1"));
        }
        Ok(MessageSetBuilder {
            magic,
            base_offset: 0,
            log_append_time: None,
            compressor: None,
            set: Vec::new(),
            last_offset: None,
            max_timestamp: -1,
        })
    }

    /// Offset of the first message. To be set before it is appended.
    #[must_use]
    pub const fn base_offset(mut self, offset: i64) -> Self {
        self.base_offset = offset;
        self
    }

    /// Timestamps of `LogAppendTime`: all messages appended from here on are of the time `ms`.
    ///
    /// # Errors
    /// `MagicNotAllowed`: magic 0 has no timestamps.
    pub fn log_append_time(mut self, ms: i64) -> Result<Self> {
        if self.magic == 0 {
            return Err(magic_error(0, "must be 1 to carry a timestamp"));
        }
        self.log_append_time = Some(ms);
        Ok(self)
    }

    /// Compresses the messages into a wrapper; see [`Compressor::new`]. LZ4 in magic 0 gets the wrong header checksum that
    /// Kafka gave it, and expects.
    ///
    /// # Errors
    /// `CodecNotAllowed` for zstd, `CodecUnsupported`, `CodecLevelInvalid`.
    pub fn compression(mut self, codec: Codec, level: Option<i32>) -> Result<Self> {
        if codec == Codec::Zstd {
            let detail = Detail::Reason("zstd came with magic 2");
            return Err(Error::new(ErrorKind::CodecNotAllowed, detail, "attributes", 17));
        }
        self.compressor = Some(Compressor::new(codec, level)?);
        Ok(self)
    }

    /// Compresses with `compressor`, which is not for zstd.
    pub(super) fn compressor(self, compressor: Compressor) -> Self {
        MessageSetBuilder { compressor: Some(compressor), ..self }
    }

    /// The compressor, to be used again.
    pub(super) fn into_compressor(self) -> Option<Compressor> {
        self.compressor
    }

    pub(super) fn set_base_offset(&mut self, offset: i64) {
        self.base_offset = offset;
    }

    /// Whether there is no message yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last_offset.is_none()
    }

    /// Appends a message at the offset after the last; `timestamp` in ms, -1 for none, ignored in magic 0.
    ///
    /// # Errors
    /// `TimestampNegative` below -1, `OffsetOutOfRange`, `BatchTooLarge`. Offsets of errors count the set.
    pub fn append(&mut self, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<()> {
        let next = self.last_offset.map_or(Some(self.base_offset), |last| last.checked_add(1));
        match next {
            Some(offset) => self.append_at(offset, timestamp, key, value),
            None => Err(self.offset_error(i64::MAX, "must be followed by none")),
        }
    }

    /// Appends a message at `offset`, which may leave a gap behind the last.
    ///
    /// # Errors
    /// Those of [`append`](Self::append), and `OffsetDeltaNotIncreasing`.
    pub fn append_at(&mut self, offset: i64, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<()> {
        if offset < self.base_offset || offset < 0 {
            return Err(self.offset_error(offset, "must not be negative or below the base offset"));
        }
        if self.last_offset.is_some_and(|last| offset <= last) {
            let detail = Detail::Value { found: offset, rule: "must be above that of the message before" };
            return Err(Error::new(ErrorKind::OffsetDeltaNotIncreasing, detail, "offset", self.set.len() as u64));
        }
        if timestamp < -1 {
            let detail = Detail::Value { found: timestamp, rule: "must be at least -1, which is for none" };
            return Err(Error::new(ErrorKind::TimestampNegative, detail, "timestamp", self.set.len() as u64));
        }
        let timestamp = self.log_append_time.unwrap_or(timestamp);
        let is_relative = self.magic == 1 && self.compressor.is_some();
        let stored = if is_relative { offset - self.base_offset } else { offset };
        let attributes = self.attributes(0);
        write_message(&mut self.set, self.magic, stored, attributes, timestamp, key, value)?;
        self.last_offset = Some(offset);
        self.max_timestamp = self.max_timestamp.max(timestamp);
        Ok(())
    }

    /// The messages, or the wrapper around them. The builder is left with its settings and without messages.
    ///
    /// # Errors
    /// `EmptyBatch` without messages, `CompressFailed`, `BatchTooLarge`. After an error the messages are still there.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        let Some(last_offset) = self.last_offset else {
            return Err(Error::new(ErrorKind::EmptyBatch, Detail::None, "messages", 0));
        };
        let out = match &mut self.compressor {
            None => core::mem::take(&mut self.set),
            Some(compressor) => {
                let mut value = Vec::new();
                compressor.compress(&self.set, &mut value)?;
                let codec = compressor.codec();
                if (self.magic, codec) == (0, Codec::Lz4) {
                    value[LZ4_CHECKSUM_AT] = LZ4_CHECKSUM_OF_MAGIC_0;
                }
                let timestamp = self.log_append_time.unwrap_or(self.max_timestamp);
                let attributes = self.attributes(codec.number());
                let mut out = Vec::new();
                write_message(&mut out, self.magic, last_offset, attributes, timestamp, None, Some(&value))?;
                out
            }
        };
        self.set.clear();
        self.last_offset = None;
        self.max_timestamp = -1;
        Ok(out)
    }

    fn attributes(&self, codec: u8) -> u8 {
        let is_broker = self.log_append_time.is_some();
        Attributes(codec.into()).with(Attributes::LOG_APPEND_TIME, is_broker).0 as u8
    }

    fn offset_error(&self, offset: i64, rule: &'static str) -> Error {
        let detail = Detail::Value { found: offset, rule };
        Error::new(ErrorKind::OffsetOutOfRange, detail, "offset", self.set.len() as u64)
    }
}

/// The checksum of an LZ4 frame's descriptor as Kafka computed it before magic 1: over the frame's magic as well.
const LZ4_CHECKSUM_OF_MAGIC_0: u8 = 0x1A;
const LZ4_CHECKSUM_AT: usize = 6;

fn magic_error(magic: i8, rule: &'static str) -> Error {
    Error::new(ErrorKind::MagicNotAllowed, Detail::Value { found: magic.into(), rule }, "magic", CRC_FROM as u64)
}

/// Appends a message to `set`.
pub(super) fn write_message(
    set: &mut Vec<u8>,
    magic: i8,
    offset: i64,
    attributes: u8,
    timestamp: i64,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<()> {
    let start = set.len();
    let overhead = OVERHEAD + if magic == 0 { 0 } else { TIMESTAMP };
    let parts = [overhead, key.map_or(0, <[u8]>::len), value.map_or(0, <[u8]>::len)];
    let len = parts.into_iter().fold(0usize, usize::saturating_add);
    // A set is read as one piece of memory, whose size fits 31 bits; so do the lengths within.
    let needed = start.saturating_add(len) as u64;
    if needed > i32::MAX as u64 {
        let detail = Detail::Length { needed, available: i32::MAX as u64 };
        return Err(Error::new(ErrorKind::BatchTooLarge, detail, "messageSize", start as u64 + 8));
    }
    set.reserve(len);
    set.extend_from_slice(&offset.to_be_bytes());
    set.extend_from_slice(&((len - LENGTH_END) as i32).to_be_bytes());
    set.extend_from_slice(&[0; 4]);
    set.extend_from_slice(&[magic as u8, attributes]);
    if magic != 0 {
        set.extend_from_slice(&timestamp.to_be_bytes());
    }
    for blob in [key, value] {
        set.extend_from_slice(&blob.map_or(-1, |b| b.len() as i32).to_be_bytes());
        set.extend_from_slice(blob.unwrap_or_default());
    }
    let crc = crc32fast::hash(&set[start + CRC_FROM..]);
    set[start + 12..start + CRC_FROM].copy_from_slice(&crc.to_be_bytes());
    Ok(())
}
