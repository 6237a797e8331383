//! Messages of magic 0 and 1, alone and in sets.

use super::{LENGTH_END, TimestampType};
use crate::codec::{Codec, Decoder};
use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, Result, Within};

layout! {
    /// What messages of magic 0 and 1 have in common, 18 bytes.
    pub struct MessageHeader: 18 bytes, big_endian {
        /// Offset of the message; of a compressed one the offset of the last message within.
        0 offset: i64,
        /// Bytes of the message behind this field.
        8 message_size: i32,
        /// CRC-32 of everything behind this field.
        12 crc: u32,
        /// Version of the format: 0 or 1.
        16 magic: i8,
        /// Codec (bits 0-2) and, in magic 1, timestamp type (bit 3).
        17 attributes: i8,
    }
}

/// Where the bytes begin that the checksum covers.
const CRC_FROM: usize = 16;
/// Where the timestamp stands that magic 1 has and magic 0 has not.
const TIMESTAMP_AT: usize = 18;
/// Size of a message of magic 1 without key and value.
const MIN_SIZE_V1: i32 = 22;

/// A message whose framing holds.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use batchwise::kafka::Message;
/// // Offset 10, key "k", value "hello", magic 0.
/// let bytes = b"\0\0\0\0\0\0\0\x0a\0\0\0\x14\xa4\xcd\xab\x3a\0\0\0\0\0\x01k\0\0\0\x05hello";
/// let message = Message::parse(bytes, 0).unwrap();
/// message.verify_checksum().unwrap();
/// assert_eq!(message.content().unwrap().value, Some(&b"hello"[..]));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    header: MessageHeader<'a>,
    offset: u64,
}

/// Key, value and what is left behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    /// The key; `None` for null.
    pub key: Option<&'a [u8]>,
    /// The value; `None` for null.
    pub value: Option<&'a [u8]>,
    /// Bytes behind the value, which no reader looks at.
    pub rest: &'a [u8],
    /// A length below -1, which reads as null too, and where it stands.
    pub(super) odd_length: Option<(i32, &'static str, u64)>,
}

impl<'a> Message<'a> {
    /// The message at the start of `bytes`, which stand at `offset` of the input. Bytes behind it are left alone.
    ///
    /// # Errors
    /// `TornTail`, `BatchLengthTooSmall`, `BatchLengthOverflow`.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let torn = |needed| {
            let detail = Detail::Length { needed, available: bytes.len() as u64 };
            Error::new(ErrorKind::TornTail, detail, "message", offset)
        };
        let Some(prefix) = bytes.first_chunk::<LENGTH_END>() else {
            return Err(torn(MessageHeader::SIZE as u64));
        };
        let size = i32::from_be_bytes(crate::wire::bytes_at::<8, 4, LENGTH_END>(prefix));
        let len = super::batch::length_of(size, 0, offset).map_err(|e| e.renamed("messageSize"))?;
        match (usize::try_from(len).ok().and_then(|len| bytes.get(..len)), MessageHeader::new(bytes)) {
            (Some(bytes), Some(header)) => Ok(Message { bytes, header, offset }),
            _ => Err(torn(len)),
        }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> MessageHeader<'a> {
        self.header
    }

    /// The whole message.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the message starts in the input, bytes.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Number of the compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4.
    #[must_use]
    pub fn codec(&self) -> u8 {
        self.header.attributes() as u8 & 7
    }

    /// Who set the timestamp; magic 0 has none.
    #[must_use]
    pub fn timestamp_type(&self) -> Option<TimestampType> {
        if self.header.magic() == 0 {
            return None;
        }
        let is_broker = self.header.attributes() & 8 != 0;
        Some(if is_broker { TimestampType::LogAppendTime } else { TimestampType::CreateTime })
    }

    /// Timestamp, ms; `None` in magic 0.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        if self.header.magic() == 0 {
            return None;
        }
        self.bytes[TIMESTAMP_AT..].first_chunk().map(|b| i64::from_be_bytes(*b))
    }

    /// Where the length of the key stands, from the start of the message.
    pub(super) fn key_at(&self) -> u64 {
        let at = if self.header.magic() == 0 { TIMESTAMP_AT } else { TIMESTAMP_AT + 8 };
        at as u64
    }

    /// Compares the stored CRC-32 with that of the bytes behind it.
    ///
    /// # Errors
    /// `CrcMismatch` with both values.
    pub fn verify_checksum(&self) -> Result<()> {
        let (stored, computed) = (self.header.crc(), crc32fast::hash(&self.bytes[CRC_FROM..]));
        if stored == computed {
            return Ok(());
        }
        let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
        Err(Error::new(ErrorKind::CrcMismatch, detail, "crc", self.offset + 12))
    }

    /// Key and value.
    ///
    /// # Errors
    /// `EntrySizeTooSmall`, `KeyLengthTooLarge`, `ValueLengthTooLarge`.
    pub fn content(&self) -> Result<Content<'a>> {
        let size = self.header.message_size();
        let start = self.key_at() as usize;
        if self.header.magic() != 0 && size < MIN_SIZE_V1 {
            let detail = Detail::Value { found: size.into(), rule: "must be at least 22 in magic 1" };
            return Err(Error::new(ErrorKind::EntrySizeTooSmall, detail, "messageSize", self.offset + 8));
        }
        let mut reader = Reader::new(&self.bytes[start..]);
        let base = self.offset + start as u64;
        let mut odd_length = None;
        let key = blob(&mut reader, "keyLength", ErrorKind::KeyLengthTooLarge, base, &mut odd_length)?;
        let value = blob(&mut reader, "valueLength", ErrorKind::ValueLengthTooLarge, base, &mut odd_length)?;
        Ok(Content { key, value, rest: reader.rest(), odd_length })
    }

    /// The messages within a compressed message.
    ///
    /// ```
    /// use batchwise::{codec::Decoder, kafka::MessageSet};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v1-gzip/00000000000000000000.log"));
    /// let mut decoder = Decoder::default();
    /// for message in MessageSet::new(bytes, 0) {
    ///     let message = message?;
    ///     # if !batchwise::codec::Codec::Gzip.is_available() { return Ok(()) }
    ///     for inner in message.inner(&mut decoder)? {
    ///         println!("{} at {:?}: {:?}", inner.offset, inner.timestamp, inner.message.content()?.value);
    ///     }
    /// }
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`content`](Self::content) and of [`Decoder::decode`], `CodecUnknown`, `CodecNotAllowed`,
    /// `WrapperValueNull`, `InnerSetEmpty`, `BatchLengthTooSmall`, `BatchLengthOverflow`, `WrapperOffsetInvalid`.
    pub fn inner<'d>(&self, decoder: &'d mut Decoder) -> Result<InnerMessages<'d>> {
        let codec = self.wrapper_codec()?;
        let (stream, start) = self.stream()?;
        let limit = decoder.limit();
        let decoded = decoder.decode_checking(codec, stream, self.header.magic() != 0, limit);
        InnerMessages::new(self, decoded.map_err(|f| f.error.moved_by(start))?.bytes)
    }

    /// The codec of a compressed message.
    pub(super) fn wrapper_codec(&self) -> Result<Codec> {
        let codec = Codec::from_number(self.codec());
        let (kind, rule) = match codec {
            Some(Codec::Zstd) => (ErrorKind::CodecNotAllowed, "zstd is for magic 2 only"),
            Some(codec) => return Ok(codec),
            None => (ErrorKind::CodecUnknown, "must be 1 to 3 in a compressed message"),
        };
        let detail = Detail::Value { found: self.codec().into(), rule };
        Err(Error::new(kind, detail, "attributes", self.offset + 17))
    }

    /// The value of a compressed message, and where it stands.
    pub(super) fn stream(&self) -> Result<(&'a [u8], u64)> {
        let content = self.content()?;
        let end = self.offset + (self.bytes.len() - content.rest.len()) as u64;
        let null = || Error::new(ErrorKind::WrapperValueNull, Detail::None, "valueLength", end - 4);
        let value = content.value.ok_or_else(null)?;
        Ok((value, end - value.len() as u64))
    }
}

fn blob<'a>(
    reader: &mut Reader<'a>,
    field: &'static str,
    too_large: ErrorKind,
    base: u64,
    odd: &mut Option<(i32, &'static str, u64)>,
) -> Result<Option<&'a [u8]>> {
    let at = base + reader.at() as u64;
    let left = reader.left() as u64;
    let long = |needed| Error::new(too_large, Detail::Length { needed, available: left }, field, at);
    let length = reader.take(4).and_then(|b| b.first_chunk()).map(|b| i32::from_be_bytes(*b)).ok_or_else(|| long(4))?;
    match usize::try_from(length) {
        Ok(len) => reader.take(len).map(Some).ok_or_else(|| long(len as u64 + 4)),
        Err(_) => {
            if length < -1 {
                *odd = Some((length, field, at));
            }
            Ok(None)
        }
    }
}

/// Messages one after the other. Ends after the first error; allocates nothing.
#[derive(Clone, Debug)]
pub struct MessageSet<'a> {
    bytes: &'a [u8],
    offset: u64,
    within: Within,
}

impl<'a> MessageSet<'a> {
    /// The messages in `bytes`, which stand at `offset` of the input.
    #[must_use]
    pub const fn new(bytes: &'a [u8], offset: u64) -> Self {
        MessageSet { bytes, offset, within: Within::Input }
    }
}

impl<'a> Iterator for MessageSet<'a> {
    type Item = Result<Message<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let message = Message::parse(self.bytes, self.offset).map_err(|e| e.within(self.within));
        let len = message.map_or(self.bytes.len(), |m| m.bytes.len());
        self.bytes = &self.bytes[len..];
        self.offset += len as u64;
        Some(message)
    }
}

/// A message within a compressed message.
#[derive(Clone, Copy, Debug)]
pub struct InnerMessage<'a> {
    /// Absolute offset.
    pub offset: i64,
    /// Timestamp, ms; `None` in magic 0. That of the compressed message if the broker set it.
    pub timestamp: Option<i64>,
    /// The message as it stands there.
    pub message: Message<'a>,
}

/// The messages within a compressed message, with their absolute offsets and their timestamps.
///
/// Ends where Kafka's readers end: a message at the end that is cut off is passed over.
/// [`is_cut_off`](Self::is_cut_off) tells.
#[derive(Clone, Debug)]
pub struct InnerMessages<'a> {
    set: MessageSet<'a>,
    add: i64,
    append_time: Option<i64>,
    cut_off: Option<Error>,
    count: u64,
}

impl<'a> InnerMessages<'a> {
    /// The messages in `bytes`, which `wrapper` decompressed to.
    pub(super) fn new(wrapper: &Message<'_>, bytes: &'a [u8]) -> Result<Self> {
        let set = MessageSet { bytes, offset: 0, within: Within::Decompressed };
        let (mut count, mut last, mut cut_off) = (0, 0i64, None);
        for message in set.clone() {
            match message {
                Ok(message) => {
                    count += 1;
                    last = message.header.offset();
                }
                Err(e) if e.kind() == ErrorKind::TornTail => {
                    cut_off = Some(e.of_kind(ErrorKind::InnerEntryTruncated));
                }
                Err(e) => return Err(e),
            }
        }
        if count == 0 {
            let at = wrapper.stream().map_or(wrapper.offset, |(_, at)| at);
            return Err(Error::new(ErrorKind::InnerSetEmpty, Detail::None, "value", at));
        }
        let offset = wrapper.header.offset();
        let mut add = 0;
        // Some producers leave the offset of the compressed message at 0.
        if wrapper.header.magic() != 0 && offset != 0 {
            if offset < last {
                let detail = Detail::Mismatch { stored: offset, computed: last };
                return Err(Error::new(ErrorKind::WrapperOffsetInvalid, detail, "offset", wrapper.offset));
            }
            add = offset.wrapping_sub(last);
        }
        let is_broker = wrapper.timestamp_type() == Some(TimestampType::LogAppendTime);
        let append_time = if is_broker { wrapper.timestamp() } else { None };
        Ok(InnerMessages { set, add, append_time, cut_off, count })
    }

    /// How many there are from the first.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.count
    }

    /// `InnerEntryTruncated` if bytes behind the last message are too few for another.
    #[must_use]
    pub const fn is_cut_off(&self) -> Option<Error> {
        self.cut_off
    }
}

impl<'a> Iterator for InnerMessages<'a> {
    type Item = InnerMessage<'a>;

    fn next(&mut self) -> Option<InnerMessage<'a>> {
        let message = self.set.next()?.ok()?;
        let own = message.timestamp();
        let timestamp = own.map(|own| self.append_time.unwrap_or(own));
        Some(InnerMessage { offset: message.header.offset().wrapping_add(self.add), timestamp, message })
    }
}
