//! The messages of a batch: frames, one behind the other without padding.

use super::{BatchHeader, UserHeaders};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result, xxh3};

layout! {
    /// Header of a message in a batch, 48 bytes. Behind it stand the payload and then the user headers.
    pub struct MessageHeader: 48 bytes, little_endian {
        /// XXH3-64 of everything behind this field.
        0 checksum: u64,
        /// Id, made by the client.
        8 id: u128,
        /// Offset, relative to the batch's `base_offset`.
        24 offset_delta: u32,
        /// µs behind the batch's `origin_timestamp`.
        28 timestamp_delta: u32,
        /// Bytes of the user headers, which stand behind the payload.
        32 user_headers_length: u32,
        /// Bytes of the payload.
        36 payload_length: u32,
        /// Zero.
        40 reserved: u64,
    }
}

/// Bytes of a message that its checksum does not cover: the checksum.
pub(super) const UNHASHED: usize = 8;

/// One message of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    batch: BatchHeader<'a>,
    bytes: &'a [u8],
    header: MessageHeader<'a>,
}

impl<'a> Message<'a> {
    /// The header.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> MessageHeader<'a> {
        self.header
    }

    /// The whole message with its header.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[MessageHeader::SIZE..][..self.header.payload_length() as usize]
    }

    /// The user headers as they lie there; the server never looks inside.
    #[inline]
    #[must_use]
    pub fn user_header_bytes(&self) -> &'a [u8] {
        &self.bytes[MessageHeader::SIZE + self.header.payload_length() as usize..]
    }

    /// The user headers, their structure checked.
    ///
    /// # Errors
    /// Those of [`UserHeaders::parse`]; offsets count from the first byte of the user headers.
    pub fn user_headers(&self) -> Result<UserHeaders<'a>> {
        UserHeaders::parse(self.user_header_bytes(), 0)
    }

    /// `base_offset + offset_delta`, held at 2^64 - 1.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.batch.base_offset().saturating_add(self.header.offset_delta().into())
    }

    /// Time of the append, µs since 1970: that of the batch.
    #[inline]
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        self.batch.base_timestamp()
    }

    /// Time that the producer gave it, µs since 1970: `origin_timestamp + timestamp_delta`, held at 2^64 - 1.
    #[inline]
    #[must_use]
    pub fn origin_timestamp(&self) -> u64 {
        self.batch.origin_timestamp().saturating_add(self.header.timestamp_delta().into())
    }

    /// XXH3-64 of the message's bytes behind its checksum.
    #[must_use]
    pub fn computed_checksum(&self) -> u64 {
        xxh3::hash64(&self.bytes[UNHASHED..])
    }
}

/// End of the frame that starts at `at` of `blob`; `None` if there is no whole frame. `at` is not past the end.
#[inline]
pub(super) fn frame_end(blob: &[u8], at: usize) -> Option<usize> {
    let rest = &blob[at..];
    let header = MessageHeader::new(rest)?;
    // In one load: the walk waits for it from frame to frame.
    const LENGTHS: usize = start_of(MessageHeader::FIELDS, "user_headers_length");
    let Some(lengths) = header.as_bytes()[LENGTHS..].first_chunk() else { unreachable!("fields of the header") };
    let lengths = u64::from_le_bytes(*lengths);
    let body = (lengths >> 32) + (lengths & 0xFFFF_FFFF);
    // Both sides are far below 2^63.
    let fits = body <= (rest.len() - MessageHeader::SIZE) as u64;
    (fits && header.reserved() == 0).then(|| at + MessageHeader::SIZE + body as usize)
}

/// What keeps the walk from going on at `at` of `blob`, which starts at `offset` of the input.
///
/// The reference knows one error for all of it: the frames do not fill the batch.
#[cold]
pub(super) fn stop_at(blob: &[u8], at: usize, offset: u64) -> Error {
    let rest = &blob[at..];
    let start = offset + at as u64;
    let error = |detail, field| {
        let at = start_of(MessageHeader::FIELDS, field) as u64;
        Error::new(ErrorKind::FramesNotFilling, detail, field, start + at)
    };
    let Some(header) = MessageHeader::new(rest) else {
        let detail = Detail::Length { needed: MessageHeader::SIZE as u64, available: rest.len() as u64 };
        return Error::new(ErrorKind::FramesNotFilling, detail, "message", start);
    };
    if header.reserved() != 0 {
        return error(Detail::Reason("the reserved bytes of a message are not zero"), "reserved");
    }
    let available = (rest.len() - MessageHeader::SIZE) as u64;
    let payload = u64::from(header.payload_length());
    let needed = payload + u64::from(header.user_headers_length());
    let field = if payload > available { "payload_length" } else { "user_headers_length" };
    error(Detail::Length { needed, available }, field)
}

/// The messages of a batch in order, checksums not compared. Ends after the first error; allocates nothing.
///
/// The error is the one of [`Batch::check_layout`](super::Batch::check_layout).
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    batch: BatchHeader<'a>,
    blob: &'a [u8],
    at: usize,
    count: u32,
    done: bool,
    offset: u64,
}

impl<'a> Messages<'a> {
    /// The messages in `blob`, which starts at `offset` of the input.
    pub(super) fn new(batch: BatchHeader<'a>, blob: &'a [u8], offset: u64) -> Self {
        Messages { batch, blob, at: 0, count: 0, done: false, offset }
    }

    /// Bytes read so far, counted from the end of the batch's header.
    #[must_use]
    pub const fn consumed(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if let Some(end) = frame_end(self.blob, self.at) {
            let bytes = &self.blob[self.at..end];
            self.at = end;
            self.count = self.count.saturating_add(1);
            let header = MessageHeader::new(bytes)?;
            return Some(Ok(Message { batch: self.batch, bytes, header }));
        }
        self.done = true;
        filled(self.batch, self.blob, self.at, self.count.into(), self.offset).err().map(Err)
    }
}

/// What the reference asks after its walk: that the `frames` fill the blob, and are as many as the header says.
pub(super) fn filled(batch: BatchHeader<'_>, blob: &[u8], end: usize, frames: u64, offset: u64) -> Result<()> {
    if end != blob.len() {
        return Err(stop_at(blob, end, offset));
    }
    let stored = u64::from(batch.message_count());
    if frames == stored {
        return Ok(());
    }
    let detail = Detail::Expected { expected: stored, found: frames };
    let start = offset - BatchHeader::SIZE as u64;
    Err(batch.error(ErrorKind::FramesNotFilling, detail, "message_count", start))
}
