//! The body of a poll's reply, read as the client reads it.

use super::{Batch, Message, Messages, Revision};
use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, Result};

/// The head of a poll's reply, and the batches behind it.
#[derive(Clone, Copy, Debug)]
pub struct PollReply<'a> {
    /// Partition.
    pub partition_id: u32,
    /// Greatest offset of the partition.
    pub current_offset: u64,
    /// Number of messages, as the server counted them.
    pub count: u32,
    /// The batches, not looked at.
    pub batches: &'a [u8],
}

impl<'a> PollReply<'a> {
    /// Size of the head, bytes.
    pub const HEAD: usize = 16;

    /// Reads the head of a reply's body.
    ///
    /// # Errors
    /// `ReplyTruncated` for fewer than 16 bytes.
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(body);
        let mut read = || {
            let (partition_id, low, high, count) =
                (reader.u32_le()?, reader.u32_le()?, reader.u32_le()?, reader.u32_le()?);
            let current_offset = u64::from(high) << 32 | u64::from(low);
            Some(PollReply { partition_id, current_offset, count, batches: reader.rest() })
        };
        read().ok_or_else(|| {
            let detail = Detail::Length { needed: Self::HEAD as u64, available: body.len() as u64 };
            Error::new(ErrorKind::ReplyTruncated, detail, "partition_id", 0)
        })
    }

    /// The messages of all batches. Offsets of errors count from the start of the body.
    #[must_use]
    pub fn messages(&self, revision: Revision) -> PolledMessages<'a> {
        PolledMessages::new(self.batches, Self::HEAD as u64, revision)
    }
}

/// The messages of batches that lie back to back, as a client walks them: it compares no checksum and asks no batch how many
/// messages it has. Ends after the first error; allocates nothing.
///
/// A client calls every error [`InvalidMessagePayloadLength`](super::ServerError::InvalidMessagePayloadLength).
#[derive(Clone, Debug)]
pub struct PolledMessages<'a> {
    bytes: &'a [u8],
    at: usize,
    offset: u64,
    revision: Revision,
    messages: Option<Messages<'a>>,
}

impl<'a> PolledMessages<'a> {
    /// The messages of the batches in `bytes`, which stand at `offset` of the input.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: u64, revision: Revision) -> Self {
        PolledMessages { bytes, at: 0, offset, revision, messages: None }
    }

    fn stop(&mut self, error: Error) -> Option<Result<Message<'a>>> {
        self.at = self.bytes.len();
        self.messages = None;
        Some(Err(error))
    }
}

impl<'a> Iterator for PolledMessages<'a> {
    type Item = Result<Message<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.messages.as_mut().and_then(Iterator::next) {
                Some(Ok(message)) => return Some(Ok(message)),
                // The one error of the walk that a client does not look for.
                Some(Err(e)) if e.field() != "message_count" => return self.stop(e),
                _ => {}
            }
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            match Batch::parse(rest, self.offset + self.at as u64, self.revision) {
                Ok(batch) => {
                    self.at += batch.bytes().len();
                    self.messages = Some(batch.messages());
                }
                Err(failure) => return self.stop(failure.into()),
            }
        }
    }
}
