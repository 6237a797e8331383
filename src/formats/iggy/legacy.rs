//! What older servers wrote: messages without a batch, and batches of another layout.
//!
//! The files have the same names in all generations, and nothing in them says which one it is; a checksum tells.

use crate::formats::{Defect, Depth, Format, Frame, Options, Order, Scratch, Severity, Summary};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result, xxh3};

layout! {
    /// Header of a stored message of the servers 0.7 and 0.8, 64 bytes. Behind it stand the payload and then the user
    /// headers. Servers 0.5 and 0.6 wrote the same without the reserved bytes.
    pub struct StoredMessageHeader: 64 bytes, little_endian {
        /// Checksum of everything behind this field: XXH3-64, from servers 0.5 CRC-32.
        0 checksum: u64,
        /// Id.
        8 id: u128,
        /// Offset in the partition.
        24 offset: u64,
        /// Time of the append, µs since 1970.
        32 timestamp: u64,
        /// Time that the producer gave it, µs since 1970.
        40 origin_timestamp: u64,
        /// Bytes of the user headers.
        48 user_headers_length: u32,
        /// Bytes of the payload.
        52 payload_length: u32,
        /// Zero.
        56 reserved: u64,
    }
}

layout! {
    /// Header of a batch of the servers up to 0.4.300, 24 bytes.
    pub struct BatchHeader24: 24 bytes, little_endian {
        /// Offset of the first message.
        0 base_offset: u64,
        /// Bytes behind this header.
        8 batch_length: u32,
        /// Offset of the last message, relative to the first.
        12 last_offset_delta: u32,
        /// Greatest timestamp of the messages, µs since 1970.
        16 max_timestamp: u64,
    }
}

/// A generation of the layout on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Generation {
    /// Servers up to 0.4.300: batches with a header of 24 bytes.
    Batches24,
    /// Servers 0.5 and 0.6: messages with a header of 56 bytes.
    Messages56,
    /// Servers 0.7 and 0.8: messages with a header of 64 bytes.
    Messages64,
    /// Servers from 0.9 on: batches with a header of 256 bytes.
    Batches256,
}

impl Generation {
    /// The generation of a log that starts with `head`. One whole message should be there.
    ///
    /// ```
    /// # let log = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/legacy/00000000000000005000.log"));
    /// use batchwise::iggy::Generation;
    /// assert_eq!(Generation::of(log), Some(Generation::Messages64));
    /// assert_eq!(Generation::Messages64.servers(), "0.7 and 0.8");
    /// ```
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let formats: [(&dyn Format, Generation); 4] = [
            (&super::Batches::R2, Generation::Batches256),
            (&Messages64, Generation::Messages64),
            (&Messages56, Generation::Messages56),
            (&Messages24, Generation::Batches24),
        ];
        formats.into_iter().find(|(format, _)| format.detect(head)).map(|(_, generation)| generation)
    }

    /// The servers that write it.
    #[must_use]
    pub const fn servers(self) -> &'static str {
        match self {
            Generation::Batches24 => "up to 0.4.300",
            Generation::Messages56 => "0.5 and 0.6",
            Generation::Messages64 => "0.7 and 0.8",
            Generation::Batches256 => "from 0.9 on",
        }
    }
}

/// A message as servers from 0.5 to 0.8 stored it.
#[derive(Clone, Copy, Debug)]
pub struct StoredMessage<'a> {
    bytes: &'a [u8],
    header_len: usize,
    offset: u64,
}

/// Bytes of the header without the reserved ones.
const HEADER_56: usize = 56;

impl<'a> StoredMessage<'a> {
    /// The message with a header of 64 bytes at the start of `bytes`, which stand at `offset` of the input.
    ///
    /// # Errors
    /// `TornTail` for too few bytes, `HeaderReservedNonzero`.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        Self::parse_as(bytes, StoredMessageHeader::SIZE, offset)
    }

    /// The same with a header of 56 bytes, as servers 0.5 and 0.6 wrote it.
    ///
    /// # Errors
    /// `TornTail` for too few bytes.
    pub fn parse_56(bytes: &'a [u8], offset: u64) -> Result<Self> {
        Self::parse_as(bytes, HEADER_56, offset)
    }

    fn parse_as(bytes: &'a [u8], header_len: usize, offset: u64) -> Result<Self> {
        let needed = len_of(bytes, header_len, offset)?;
        match usize::try_from(needed).ok().and_then(|len| bytes.get(..len)) {
            Some(bytes) => Ok(StoredMessage { bytes, header_len, offset }),
            None => Err(torn(needed, bytes.len(), offset)),
        }
    }

    /// The whole message.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Checksum as stored: XXH3-64, or the CRC-32 of servers 0.5.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.number("checksum")
    }

    /// Offset in the partition.
    #[must_use]
    pub fn log_offset(&self) -> u64 {
        self.number("offset")
    }

    /// Id.
    #[must_use]
    pub fn id(&self) -> u128 {
        u128::from_le_bytes(core::array::from_fn(|i| self.bytes[8 + i]))
    }

    /// Time of the append, µs since 1970.
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        self.number("timestamp")
    }

    /// Time that the producer gave it, µs since 1970.
    #[must_use]
    pub fn origin_timestamp(&self) -> u64 {
        self.number("origin_timestamp")
    }

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len..][..payload_len(self.bytes)]
    }

    /// The user headers as they lie there.
    #[must_use]
    pub fn user_header_bytes(&self) -> &'a [u8] {
        &self.bytes[self.header_len + payload_len(self.bytes)..]
    }

    fn number(&self, field: &'static str) -> u64 {
        let at = start_of(StoredMessageHeader::FIELDS, field);
        u64::from_le_bytes(core::array::from_fn(|i| self.bytes[at + i]))
    }

    /// Compares the checksum: XXH3-64, and where the header has 56 bytes also the CRC-32 that servers 0.5 wrote.
    ///
    /// # Errors
    /// `MessageChecksumMismatch`, with the XXH3-64.
    pub fn verify_checksum(&self) -> Result<()> {
        let hashed = &self.bytes[8..];
        let (stored, computed) = (self.checksum(), xxh3::hash64(hashed));
        let crc_era = self.header_len == HEADER_56;
        if stored == computed || (crc_era && stored == crc32fast::hash(hashed).into()) {
            return Ok(());
        }
        let detail = Detail::ChecksumAt { stored, computed, log_offset: self.log_offset() };
        Err(Error::new(ErrorKind::MessageChecksumMismatch, detail, "checksum", self.offset))
    }
}

fn torn(needed: u64, available: usize, offset: u64) -> Error {
    let detail = Detail::Length { needed, available: available as u64 };
    Error::new(ErrorKind::TornTail, detail, "message", offset)
}

/// Bytes of the payload of the message at the start of `bytes`, which hold a header.
fn payload_len(bytes: &[u8]) -> usize {
    u32::from_le_bytes(core::array::from_fn(|i| bytes[52 + i])) as usize
}

/// Length of the message that starts with `prefix`.
fn len_of(prefix: &[u8], header_len: usize, offset: u64) -> Result<u64> {
    let Some(header) = prefix.get(..header_len) else { return Err(torn(header_len as u64, prefix.len(), offset)) };
    if let Some(at) = header[HEADER_56..].iter().position(|&b| b != 0) {
        let detail = Detail::Value { found: header[HEADER_56 + at].into(), rule: "must be 0" };
        let at = offset + (HEADER_56 + at) as u64;
        return Err(Error::new(ErrorKind::HeaderReservedNonzero, detail, "reserved", at));
    }
    let user_headers = u32::from_le_bytes(core::array::from_fn(|i| header[48 + i]));
    Ok(header_len as u64 + payload_len(header) as u64 + u64::from(user_headers))
}

/// Messages of the servers 0.7 and 0.8, which know no batches: what the validator calls a batch is one message here.
#[derive(Clone, Copy, Debug)]
pub struct Messages64;

/// Messages of the servers 0.5 and 0.6, which know no batches: what the validator calls a batch is one message here.
#[derive(Clone, Copy, Debug)]
pub struct Messages56;

macro_rules! message_format {
    ($format:ident, $name:literal, $header_len:expr) => {
        impl Format for $format {
            fn name(&self) -> &'static str {
                $name
            }

            fn prefix_len(&self) -> usize {
                $header_len
            }

            fn frame_len(&self, prefix: &[u8], offset: u64) -> Result<u64> {
                len_of(prefix, $header_len, offset)
            }

            fn is_intact(&self, frame: &[u8]) -> bool {
                StoredMessage::parse_as(frame, $header_len, 0)
                    .is_ok_and(|m| m.bytes.len() == frame.len() && m.verify_checksum().is_ok())
            }

            fn check(
                &self,
                frame: Frame<'_>,
                options: &Options,
                _: &mut Scratch,
                defect: &mut dyn FnMut(Defect),
            ) -> Summary {
                check_message(StoredMessage::parse_as(frame.bytes, $header_len, frame.offset), options, defect)
            }

            fn check_order(
                &self,
                order: &Order,
                next: &Summary,
                offset: u64,
                _: &Options,
                defect: &mut dyn FnMut(Defect),
            ) {
                let at = offset + start_of(StoredMessageHeader::FIELDS, "offset") as u64;
                check_order(order, next, "offset", at, defect);
            }

            fn detect(&self, head: &[u8]) -> bool {
                StoredMessage::parse_as(head, $header_len, 0).is_ok_and(|m| m.verify_checksum().is_ok())
            }
        }
    };
}

message_format!(Messages64, "iggy-64", StoredMessageHeader::SIZE);
message_format!(Messages56, "iggy-56", HEADER_56);

fn check_message(message: Result<StoredMessage<'_>>, options: &Options, defect: &mut dyn FnMut(Defect)) -> Summary {
    let message = match message {
        Ok(message) => message,
        Err(e) => {
            defect(e.into());
            return Summary { damaged: true, ..Summary::default() };
        }
    };
    if options.depth >= Depth::Checksums
        && let Err(e) = message.verify_checksum()
    {
        // The offset may be what is damaged.
        defect(e.into());
        return Summary { damaged: true, ..Summary::default() };
    }
    let offset = message.log_offset();
    Summary { records: 1, first_offset: Some(offset), next_offset: offset.checked_add(1), ..Summary::default() }
}

/// Offsets that go back are wrong; whether those servers left gaps is not known.
fn check_order(order: &Order, next: &Summary, field: &'static str, at: u64, defect: &mut dyn FnMut(Defect)) {
    let Some(found) = next.first_offset else { return };
    match order.next_offset {
        Some(expected) if found < expected || order.is_misplaced(next) => {
            let detail = Detail::Expected { expected, found };
            defect(Error::new(ErrorKind::OffsetOverlap, detail, field, at).into());
        }
        Some(expected) if found > expected && !order.after_damage => {
            let detail = Detail::Offsets { first: expected, last: found - 1 };
            let error = Error::new(ErrorKind::OffsetGap, detail, field, at);
            defect(Defect { error, severity: Severity::Warning });
        }
        _ => {}
    }
}

/// Batches of the servers up to 0.4.300: recognised and counted, their messages are not read.
#[derive(Clone, Copy, Debug)]
pub struct Messages24;

/// Bytes of a message in such a batch behind its length: offset, state, timestamp, id, checksum, length of the headers.
const MESSAGE_24: usize = 8 + 1 + 8 + 16 + 4 + 4;

/// Whether the first message of a batch of this layout has its batch's offset and its own checksum.
fn first_message_holds(frame: &[u8]) -> bool {
    let u32_at = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes);
    let read = || {
        let header = BatchHeader24::new(frame)?;
        let messages = frame.get(BatchHeader24::SIZE..)?;
        let length = usize::try_from(u32_at(messages, 0)?).ok()?;
        let message = messages.get(4..)?.get(..length).filter(|m| m.len() >= MESSAGE_24)?;
        let offset = u64::from_le_bytes(*message.first_chunk()?);
        let headers = usize::try_from(u32_at(message, MESSAGE_24 - 4)?).ok()?;
        let payload = message.get(MESSAGE_24..)?.get(headers..)?;
        let checksum = u32_at(message, MESSAGE_24 - 8)?;
        Some(offset == header.base_offset() && checksum == crc32fast::hash(payload) && !payload.is_empty())
    };
    read().unwrap_or(false)
}

impl Format for Messages24 {
    fn name(&self) -> &'static str {
        "iggy-24"
    }

    fn prefix_len(&self) -> usize {
        BatchHeader24::SIZE
    }

    fn frame_len(&self, prefix: &[u8], offset: u64) -> Result<u64> {
        let Some(header) = BatchHeader24::new(prefix) else {
            return Err(torn(BatchHeader24::SIZE as u64, prefix.len(), offset));
        };
        let length = header.batch_length();
        if (length as usize) < 4 + MESSAGE_24 {
            let detail = Detail::Value { found: length.into(), rule: "must be at least 45" };
            let at = offset + start_of(BatchHeader24::FIELDS, "batch_length") as u64;
            return Err(Error::new(ErrorKind::BatchLengthTooSmall, detail, "batch_length", at));
        }
        Ok(BatchHeader24::SIZE as u64 + u64::from(length))
    }

    fn is_intact(&self, frame: &[u8]) -> bool {
        self.frame_len(frame, 0).is_ok_and(|len| len == frame.len() as u64) && first_message_holds(frame)
    }

    fn check(&self, frame: Frame<'_>, _: &Options, _: &mut Scratch, defect: &mut dyn FnMut(Defect)) -> Summary {
        let Some(header) = BatchHeader24::new(frame.bytes) else { return Summary::default() };
        let detail = Detail::Reason("a batch of a server up to 0.4.300; its messages are not read");
        let error = Error::new(ErrorKind::GenerationOld, detail, "batch", frame.offset);
        // One for the whole file is enough.
        if frame.offset == 0 {
            defect(Defect { error, severity: Severity::Warning });
        }
        let records = u64::from(header.last_offset_delta()) + 1;
        let next_offset = header.base_offset().checked_add(records);
        Summary { records, first_offset: Some(header.base_offset()), next_offset, ..Summary::default() }
    }

    fn check_order(&self, order: &Order, next: &Summary, offset: u64, _: &Options, defect: &mut dyn FnMut(Defect)) {
        check_order(order, next, "base_offset", offset, defect);
    }

    fn detect(&self, head: &[u8]) -> bool {
        first_message_holds(head)
    }
}
