//! Records of a batch of magic 2: views, read one after the other.

use super::{BatchHeader, RecordBatch};
use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, Result, Within, varint};

/// One record.
///
/// Deltas are as stored; [`RecordBatch`] has what they are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    attributes: i8,
    timestamp_delta: i64,
    offset_delta: i32,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    headers: Headers<'a>,
}

impl<'a> Record<'a> {
    /// Attributes; no bit has a meaning.
    #[inline]
    #[must_use]
    pub const fn attributes(&self) -> i8 {
        self.attributes
    }

    /// Milliseconds after the batch's `baseTimestamp`.
    #[inline]
    #[must_use]
    pub const fn timestamp_delta(&self) -> i64 {
        self.timestamp_delta
    }

    /// Offset, relative to the batch's `baseOffset`.
    #[inline]
    #[must_use]
    pub const fn offset_delta(&self) -> i32 {
        self.offset_delta
    }

    /// The key; `None` for null.
    #[inline]
    #[must_use]
    pub const fn key(&self) -> Option<&'a [u8]> {
        self.key
    }

    /// The value; `None` for null.
    #[inline]
    #[must_use]
    pub const fn value(&self) -> Option<&'a [u8]> {
        self.value
    }

    /// The record headers.
    #[inline]
    #[must_use]
    pub const fn headers(&self) -> Headers<'a> {
        self.headers
    }
}

/// A header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The key: UTF-8 by the specification, not checked here.
    pub key: &'a [u8],
    /// The value; `None` for null.
    pub value: Option<&'a [u8]>,
}

/// The headers of a record, an iterator. Their structure was checked when the record was read.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.count = self.count.checked_sub(1)?;
        let mut reader = Reader::new(self.bytes);
        let key_len = usize::try_from(reader.varint32().ok()?).ok()?;
        let key = reader.take(key_len)?;
        let value = match usize::try_from(reader.varint32().ok()?) {
            Ok(len) => Some(reader.take(len)?),
            Err(_) => None,
        };
        self.bytes = reader.rest();
        Some(Header { key, value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Headers<'_> {}

/// The records of a batch in order. Ends after the first error; allocates nothing.
///
/// The last item of a sound batch is its last record; bytes left behind it are an error of their own.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    /// As the header has it, and of those the ones that are still to come.
    count: u32,
    left: u32,
    done: bool,
    /// Where the header's `recordsCount` stands, and where the records do.
    count_at: u64,
    offset: u64,
    within: Within,
}

/// The error of a field that starts at `at` of the records.
type FieldError = (ErrorKind, Detail, &'static str, usize);

impl<'a> Records<'a> {
    pub(super) fn new(batch: &RecordBatch<'a>) -> Result<Self> {
        Records::over(batch, batch.payload(), Within::Input)
    }

    /// The records in `bytes`: the batch's payload, or what it decompresses to.
    pub(super) fn over(batch: &RecordBatch<'_>, bytes: &'a [u8], within: Within) -> Result<Self> {
        let count = batch.header().records_count();
        let count_at = batch.offset() + 57;
        let Ok(count) = u32::try_from(count) else {
            let detail = Detail::Value { found: count.into(), rule: "must not be negative" };
            return Err(Error::new(ErrorKind::RecordsCountNegative, detail, "recordsCount", count_at));
        };
        let offset = if within == Within::Input { batch.offset() + BatchHeader::SIZE as u64 } else { 0 };
        // Readers do not look at what is behind the header of a batch without records.
        Ok(Records { bytes, at: 0, count, left: count, done: count == 0, count_at, offset, within })
    }

    /// Bytes of the records section read so far.
    #[must_use]
    pub const fn consumed(&self) -> usize {
        self.at
    }

    fn read(&mut self) -> Result<Record<'a>, FieldError> {
        let rest = &self.bytes[self.at..];
        let mut reader = Reader::new(rest);
        let length = reader.varint32().map_err(|e| varint_error(e, "length", 0))?;
        let Ok(length) = usize::try_from(length) else {
            let detail = Detail::Value { found: length.into(), rule: "must not be negative" };
            return Err((ErrorKind::RecordLengthNegative, detail, "length", 0));
        };
        let start = reader.at();
        let Some(body) = reader.take(length) else {
            return Err((ErrorKind::RecordLengthTooLarge, too_long(length, &reader), "length", 0));
        };
        let record = read_body(body).map_err(|error| place(error, start, reader.left()))?;
        self.at += reader.at();
        Ok(record)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let result = if self.left > 0 && self.at == self.bytes.len() {
            self.done = true;
            let read = self.count - self.left;
            let detail = Detail::Mismatch { stored: self.count.into(), computed: read.into() };
            return Some(Err(Error::new(ErrorKind::RecordsTruncated, detail, "recordsCount", self.count_at)));
        } else if self.left > 0 {
            let record = self.read();
            self.left -= 1;
            record
        } else if self.at < self.bytes.len() {
            let detail = Detail::Length { needed: 0, available: (self.bytes.len() - self.at) as u64 };
            Err((ErrorKind::TrailingRecordBytes, detail, "records", 0))
        } else {
            self.done = true;
            return None;
        };
        self.done = result.is_err();
        let base = self.offset + self.at as u64;
        Some(
            result.map_err(|(kind, detail, field, at)| {
                Error::new(kind, detail, field, base + at as u64).within(self.within)
            }),
        )
    }
}

/// The error of a body that starts at `start` of its record and has `behind` bytes of the batch behind it.
#[cold]
fn place((kind, detail, field, at): FieldError, start: usize, behind: usize) -> FieldError {
    match (kind, detail) {
        // The length itself stands before the body.
        (ErrorKind::RecordLengthMismatch, _) if field == "length" => (kind, detail, field, 0),
        // What goes past the record but not past the batch speaks against the record's length.
        (
            ErrorKind::KeyLengthTooLarge | ErrorKind::ValueLengthTooLarge | ErrorKind::HeaderLengthTooLarge,
            Detail::Length { needed, available },
        ) if needed - available <= behind as u64 => (ErrorKind::RecordLengthMismatch, detail, field, start + at),
        (ErrorKind::VarintTruncated, _) if behind > 0 => (ErrorKind::RecordLengthMismatch, detail, field, start + at),
        _ => (kind, detail, field, start + at),
    }
}

fn read_body(body: &[u8]) -> Result<Record<'_>, FieldError> {
    let mut reader = Reader::new(body);
    let attributes = reader.u8().ok_or((ErrorKind::RecordLengthMismatch, Detail::None, "attributes", 0))? as i8;
    let timestamp_delta = field(&mut reader, "timestampDelta", Reader::varint64)?;
    let offset_delta = field(&mut reader, "offsetDelta", Reader::varint32)?;
    let key = blob(&mut reader, "keyLength", ErrorKind::KeyLengthTooLarge)?;
    let value = blob(&mut reader, "valueLength", ErrorKind::ValueLengthTooLarge)?;
    let headers = headers(&mut reader)?;
    if reader.left() > 0 {
        let detail = Detail::Mismatch { stored: body.len() as i64, computed: reader.at() as i64 };
        return Err((ErrorKind::RecordLengthMismatch, detail, "length", 0));
    }
    Ok(Record { attributes, timestamp_delta, offset_delta, key, value, headers })
}

fn headers<'a>(reader: &mut Reader<'a>) -> Result<Headers<'a>, FieldError> {
    let at = reader.at();
    let count = field(reader, "headersCount", Reader::varint32)?;
    let Ok(count) = u32::try_from(count) else {
        let detail = Detail::Value { found: count.into(), rule: "must not be negative" };
        return Err((ErrorKind::HeadersCountNegative, detail, "headersCount", at));
    };
    if count as usize > reader.left() {
        return Err((ErrorKind::HeadersCountTooLarge, too_long(count as usize, reader), "headersCount", at));
    }
    let bytes = reader.rest();
    for _ in 0..count {
        let at = reader.at();
        if blob(reader, "headerKeyLength", ErrorKind::HeaderLengthTooLarge)?.is_none() {
            return Err((ErrorKind::HeaderKeyNull, Detail::None, "headerKeyLength", at));
        }
        blob(reader, "headerValueLength", ErrorKind::HeaderLengthTooLarge)?;
    }
    Ok(Headers { count, bytes: &bytes[..bytes.len() - reader.left()] })
}

fn field<'a, T>(
    reader: &mut Reader<'a>,
    name: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, varint::Error>,
) -> Result<T, FieldError> {
    let at = reader.at();
    read(reader).map_err(|e| varint_error(e, name, at))
}

/// A length and as many bytes; a negative length means null.
fn blob<'a>(reader: &mut Reader<'a>, name: &'static str, too_large: ErrorKind) -> Result<Option<&'a [u8]>, FieldError> {
    let at = reader.at();
    let Ok(len) = usize::try_from(field(reader, name, Reader::varint32)?) else { return Ok(None) };
    match reader.take(len) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err((too_large, too_long(len, reader), name, at)),
    }
}

fn too_long(needed: usize, reader: &Reader<'_>) -> Detail {
    Detail::Length { needed: needed as u64, available: reader.left() as u64 }
}

fn varint_error(error: varint::Error, field: &'static str, at: usize) -> FieldError {
    let kind = match error {
        varint::Error::Truncated => ErrorKind::VarintTruncated,
        varint::Error::TooLong => ErrorKind::VarintTooLong,
        varint::Error::NotMinimal => ErrorKind::VarintNotMinimal,
        varint::Error::OverflowBits => ErrorKind::VarintOverflowBits,
    };
    (kind, Detail::None, field, at)
}
