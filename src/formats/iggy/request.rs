//! The body of a request to send messages, and what a server admits.

use super::{Batch, BatchHeader, FrameList, Revision, decode};
use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, Result};

/// A stream or a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identifier<'a> {
    /// By its number.
    Number(u32),
    /// By its name, 1 to 255 bytes.
    Name(&'a str),
}

/// How the server finds the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning<'a> {
    /// One after the other.
    Balanced,
    /// This one.
    Partition(u32),
    /// By the hash of a key of 1 to 255 bytes.
    Key(&'a [u8]),
}

/// The body of a request to send messages: metadata, and behind them a batch.
#[derive(Clone, Copy, Debug)]
pub struct SendMessages<'a> {
    /// Stream.
    pub stream: Identifier<'a>,
    /// Topic.
    pub topic: Identifier<'a>,
    /// How the server finds the partition.
    pub partitioning: Partitioning<'a>,
    /// Number of messages, as the metadata have it.
    pub messages_count: u32,
    /// What stands behind the metadata: the batch, not looked at.
    pub batch: &'a [u8],
    /// Where it stands in the body, bytes.
    pub batch_at: u64,
}

impl<'a> SendMessages<'a> {
    /// Reads the metadata at the start of a body.
    ///
    /// # Errors
    /// `RequestTruncated` for a body shorter than its metadata, `MetadataMalformed`.
    ///
    /// ```
    /// # let body = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/wire/mixed10.send_messages_body"));
    /// use batchwise::iggy::{Identifier, Partitioning, SendMessages};
    /// let request = SendMessages::parse(body)?;
    /// assert_eq!((request.stream, request.topic), (Identifier::Number(1), Identifier::Number(2)));
    /// assert_eq!((request.partitioning, request.messages_count), (Partitioning::Balanced, 10));
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(body);
        let short = |needed| {
            let detail = Detail::Length { needed, available: body.len() as u64 };
            Error::new(ErrorKind::RequestTruncated, detail, "metadata_length", 0)
        };
        let length = reader.u32_le().ok_or(short(4))?;
        let needed = 4 + u64::from(length);
        let metadata = usize::try_from(length).ok().and_then(|len| reader.take(len)).ok_or(short(needed))?;
        let mut fields = Reader::new(metadata);
        let (stream, topic) = (identifier(&mut fields, "stream_id")?, identifier(&mut fields, "topic_id")?);
        let partitioning = partitioning(&mut fields)?;
        let at = fields.at();
        let cut = || malformed(Detail::Reason("cut off"), "messages_count", at);
        let messages_count = fields.u32_le().ok_or_else(cut)?;
        if fields.left() > 0 {
            let detail = Detail::Expected { expected: length.into(), found: fields.at() as u64 };
            return Err(Error::new(ErrorKind::MetadataMalformed, detail, "metadata_length", 0));
        }
        let batch_at = reader.at() as u64;
        Ok(SendMessages { stream, topic, partitioning, messages_count, batch: reader.rest(), batch_at })
    }
}

/// Bytes of the body before the metadata.
const LENGTH: usize = 4;

#[cold]
fn malformed(detail: Detail, field: &'static str, at: usize) -> Error {
    Error::new(ErrorKind::MetadataMalformed, detail, field, (LENGTH + at) as u64)
}

/// A kind, a length byte and as many bytes.
fn tagged<'a>(fields: &mut Reader<'a>, field: &'static str) -> Result<(u8, &'a [u8], usize)> {
    let at = fields.at();
    let read = |fields: &mut Reader<'a>| {
        let (kind, length) = (fields.u8()?, fields.u8()?);
        Some((kind, fields.take(length.into())?, at))
    };
    read(fields).ok_or_else(|| malformed(Detail::Reason("cut off"), field, at))
}

fn identifier<'a>(fields: &mut Reader<'a>, field: &'static str) -> Result<Identifier<'a>> {
    let (kind, value, at) = tagged(fields, field)?;
    let wrong = |found: usize, rule| Err(malformed(Detail::Value { found: found as i64, rule }, field, at));
    match (kind, value) {
        (1, &[a, b, c, d]) => Ok(Identifier::Number(u32::from_le_bytes([a, b, c, d]))),
        (1, _) => wrong(value.len(), "a number must have 4 bytes"),
        (2, []) => wrong(0, "a name must have a byte or more"),
        (2, _) => match core::str::from_utf8(value) {
            Ok(name) => Ok(Identifier::Name(name)),
            Err(_) => Err(malformed(Detail::Reason("the name is not UTF-8"), field, at)),
        },
        _ => wrong(kind.into(), "the kind must be 1 or 2"),
    }
}

fn partitioning<'a>(fields: &mut Reader<'a>) -> Result<Partitioning<'a>> {
    let (kind, value, at) = tagged(fields, "partitioning")?;
    let wrong = |found: usize, rule| Err(malformed(Detail::Value { found: found as i64, rule }, "partitioning", at));
    match (kind, value) {
        (1, []) => Ok(Partitioning::Balanced),
        (1, _) => wrong(value.len(), "balanced must have no bytes"),
        (2, &[a, b, c, d]) => Ok(Partitioning::Partition(u32::from_le_bytes([a, b, c, d]))),
        (2, _) => wrong(value.len(), "a partition must have 4 bytes"),
        (3, []) => wrong(0, "a key must have a byte or more"),
        (3, _) => Ok(Partitioning::Key(value)),
        _ => wrong(kind.into(), "the kind must be 1, 2 or 3"),
    }
}

/// A request that a server admits.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    /// The batch, verified.
    pub batch: Batch<'a>,
    /// The metadata; `None` for a bare batch, which has been admitted before.
    pub request: Option<SendMessages<'a>>,
}

/// Checks the body of a request to send messages as the server does that owns partition `partition_id`.
///
/// A body that is a bare, sound batch is one that the server itself made of a request. Everything else is metadata and a
/// batch. Afterwards `frames` has what [`stamp`](super::stamp) needs.
///
/// # Errors
/// In the reference's order; [`ServerError::of`](super::ServerError::of) has its name for each. For a bare batch:
/// `BatchEmpty`, `BatchLengthMismatch`, `PartitionMismatch`. Else those of [`SendMessages::parse`], those of
/// [`decode`], `BatchEmpty`, `MessagesCountMismatch`, `BatchLengthMismatch`.
///
/// ```
/// # let body = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/wire/mixed10.send_messages_body"));
/// use batchwise::iggy::{FrameList, Revision, admit};
/// let mut frames = FrameList::default();
/// let admitted = admit(body, 7, Revision::R2, &mut frames)?;
/// assert_eq!((admitted.batch.header().message_count(), frames.len()), (10, 10));
/// # Ok::<(), batchwise::Error>(())
/// ```
pub fn admit<'a>(
    body: &'a [u8],
    partition_id: u64,
    revision: Revision,
    frames: &mut FrameList,
) -> Result<Admitted<'a>> {
    if let Ok(batch) = decode(body, 0, revision, frames) {
        check_count(&batch)?;
        check_end(&batch, body.len() as u64)?;
        let found = batch.header().partition_id();
        if found != partition_id {
            let detail = Detail::Expected { expected: partition_id, found };
            return Err(batch.header().error(ErrorKind::PartitionMismatch, detail, "partition_id", 0));
        }
        return Ok(Admitted { batch, request: None });
    }
    let request = SendMessages::parse(body)?;
    let batch = decode(request.batch, request.batch_at, revision, frames)?;
    check_count(&batch)?;
    if batch.header().message_count() != request.messages_count {
        let (expected, found) = (batch.header().message_count().into(), request.messages_count.into());
        let at = request.batch_at - 4;
        let detail = Detail::Expected { expected, found };
        return Err(Error::new(ErrorKind::MessagesCountMismatch, detail, "messages_count", at));
    }
    check_end(&batch, request.batch.len() as u64)?;
    Ok(Admitted { batch, request: Some(request) })
}

/// That the batch holds a message. The decoder lets empty ones pass.
pub(super) fn check_count(batch: &Batch<'_>) -> Result<()> {
    let header: BatchHeader<'_> = batch.header();
    if header.message_count() > 0 {
        return Ok(());
    }
    let detail = Detail::Value { found: 0, rule: "must be at least 1" };
    Err(header.error(ErrorKind::BatchEmpty, detail, "message_count", batch.offset()))
}

fn check_end(batch: &Batch<'_>, available: u64) -> Result<()> {
    let found = batch.header().batch_length();
    if found == available {
        return Ok(());
    }
    let detail = Detail::Expected { expected: available, found };
    Err(batch.header().error(ErrorKind::BatchLengthMismatch, detail, "batch_length", batch.offset()))
}
