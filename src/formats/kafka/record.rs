//! Records of a batch of magic 2: views, read one after the other.

use super::{BatchHeader, RecordBatch};
use crate::kernels::varint::records::{self, Fault, Field, Head};
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
    #[inline]
    fn new(bytes: &'a [u8], head: &Head) -> Self {
        let blob = |start: usize, len: i32| Some(&bytes[start..][..usize::try_from(len).ok()?]);
        Record {
            attributes: head.attributes as i8,
            timestamp_delta: head.timestamp_delta,
            offset_delta: head.offset_delta,
            key: blob(head.key_start, head.key_len),
            value: blob(head.value_start, head.value_len),
            headers: Headers { count: head.headers_count, bytes: &bytes[head.headers_start..head.end] },
        }
    }

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
        let head = records::read(self.bytes, self.at, 0).map_err(|error| told(self.bytes, self.at, error))?;
        self.at = head.end;
        Ok(Record::new(self.bytes, &head))
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

/// The error of the record that begins at `start` of `bytes`, in the terms of the format.
#[cold]
fn told(bytes: &[u8], start: usize, error: records::Error) -> FieldError {
    let (kind, detail) = match (error.fault, error.field) {
        (Fault::Varint(error), _) => (kind_of(error), Detail::None),
        (Fault::Negative(found), field) => match field {
            Field::Length => (ErrorKind::RecordLengthNegative, negative(found)),
            Field::HeaderKeyLength => (ErrorKind::HeaderKeyNull, Detail::None),
            _ => (ErrorKind::HeadersCountNegative, negative(found)),
        },
        (Fault::TooLarge { needed, available }, field) => {
            let kind = match field {
                Field::Length => ErrorKind::RecordLengthTooLarge,
                Field::KeyLength => ErrorKind::KeyLengthTooLarge,
                Field::ValueLength => ErrorKind::ValueLengthTooLarge,
                Field::HeadersCount => ErrorKind::HeadersCountTooLarge,
                _ => ErrorKind::HeaderLengthTooLarge,
            };
            (kind, Detail::Length { needed, available })
        }
        (Fault::Unfilled { stored, used }, _) => {
            // It is the length that is wrong, wherever the fields end.
            let detail = Detail::Mismatch { stored: stored as i64, computed: used as i64 };
            return (ErrorKind::RecordLengthMismatch, detail, "length", 0);
        }
        (Fault::Missing | Fault::InputTooLong, _) => (ErrorKind::RecordLengthMismatch, Detail::None),
    };
    // What goes past the record but not past the batch speaks against the record's length.
    let behind = if error.field == Field::Length { 0 } else { behind(&bytes[start..]) };
    let kind = match (kind, detail) {
        (
            ErrorKind::KeyLengthTooLarge | ErrorKind::ValueLengthTooLarge | ErrorKind::HeaderLengthTooLarge,
            Detail::Length { needed, available },
        ) if needed - available <= behind => ErrorKind::RecordLengthMismatch,
        (ErrorKind::VarintTruncated, _) if behind > 0 => ErrorKind::RecordLengthMismatch,
        _ => kind,
    };
    (kind, detail, name_of(error.field), error.at - start)
}

/// Bytes behind the record that `bytes` begin with; its length was read before.
fn behind(bytes: &[u8]) -> u64 {
    let mut reader = Reader::new(bytes);
    let length = reader.varint32().map_or(0, |length| usize::try_from(length).unwrap_or(0));
    reader.left().saturating_sub(length) as u64
}

fn negative(found: i32) -> Detail {
    Detail::Value { found: found.into(), rule: "must not be negative" }
}

/// The field as the format's specification spells it.
fn name_of(field: Field) -> &'static str {
    match field {
        Field::Record => "records",
        Field::Length => "length",
        Field::Attributes => "attributes",
        Field::TimestampDelta => "timestampDelta",
        Field::OffsetDelta => "offsetDelta",
        Field::KeyLength => "keyLength",
        Field::ValueLength => "valueLength",
        Field::HeadersCount => "headersCount",
        Field::HeaderKeyLength => "headerKeyLength",
        Field::HeaderValueLength => "headerValueLength",
    }
}

fn kind_of(error: varint::Error) -> ErrorKind {
    match error {
        varint::Error::Truncated => ErrorKind::VarintTruncated,
        varint::Error::TooLong => ErrorKind::VarintTooLong,
        varint::Error::NotMinimal => ErrorKind::VarintNotMinimal,
        varint::Error::OverflowBits => ErrorKind::VarintOverflowBits,
    }
}
