//! One record: its bounds, read field by field.

use crate::varint::{self, unzigzag32, unzigzag64};
use core::fmt;

/// Where the parts of one record lie; positions count from the start of the slice that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The attributes byte.
    pub attributes: u8,
    /// The 64-bit delta.
    pub timestamp_delta: i64,
    /// The 32-bit delta.
    pub offset_delta: i32,
    /// Where the key begins: behind its length.
    pub key_start: usize,
    /// Length of the key, bytes; negative for null.
    pub key_len: i32,
    /// Where the value begins: behind its length.
    pub value_start: usize,
    /// Length of the value, bytes; negative for null.
    pub value_len: i32,
    /// Where the headers begin: behind their count.
    pub headers_start: usize,
    /// Number of headers.
    pub headers_count: u32,
    /// Where the record ends and the next one begins.
    pub end: usize,
    /// Whether the record is as writers make it: attributes 0, each varint in its shortest form without bits beyond
    /// its width, and no length below -1.
    pub plain: bool,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The record as a whole: there are no bytes where it should begin.
    Record,
    /// The length of the record.
    Length,
    /// The attributes byte.
    Attributes,
    /// The 64-bit delta.
    TimestampDelta,
    /// The 32-bit delta.
    OffsetDelta,
    /// The length of the key.
    KeyLength,
    /// The length of the value.
    ValueLength,
    /// The number of headers.
    HeadersCount,
    /// The length of a header's key.
    HeaderKeyLength,
    /// The length of a header's value.
    HeaderValueLength,
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no varint; [`varint::Error::Truncated`] if the record ends within it.
    Varint(varint::Error),
    /// There is no byte left for it.
    Missing,
    /// It is negative, which this field cannot be.
    Negative(i32),
    /// It announces more bytes (or headers, of at least one byte each) than there are.
    TooLarge {
        /// How many it announces.
        needed: u64,
        /// How many bytes are left behind it: in the record, or behind the record's length.
        available: u64,
    },
    /// The record's fields end before the record does.
    Unfilled {
        /// Length of the record's body as stored.
        stored: u64,
        /// Bytes of the body that the fields take.
        used: u64,
    },
    /// The input is longer than the columns can address, [`MAX_INPUT`](super::MAX_INPUT).
    InputTooLong,
}

/// A record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which record, counted from 0.
    pub record: usize,
    /// Which of its fields.
    pub field: Field,
    /// Where the field begins, counted from the start of the slice; for [`Fault::Unfilled`] where the fields end.
    pub at: usize,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: {:?} at byte {}: {:?}", self.record, self.field, self.at, self.fault)
    }
}

impl core::error::Error for Error {}

/// Reads the record that begins at byte `at` of `bytes`; `record` is its number, for the error.
///
/// O(1) but for the headers, of which each is looked at.
///
/// ```
/// use batchwise_kernels::varint::records;
/// // Length 6, attributes, deltas 0 and 1, null key, value "x" behind its length, no headers.
/// let head = records::read(&[14, 0, 0, 2, 1, 2, b'x', 0], 0, 0)?;
/// assert_eq!((head.offset_delta, head.key_len, head.value_start, head.value_len, head.end), (1, -1, 6, 1, 8));
/// # Ok::<(), records::Error>(())
/// ```
///
/// # Errors
/// [`Error`] for the first field that is wrong.
// In a loop over records a call takes a quarter more instructions.
#[inline(always)]
pub fn read(bytes: &[u8], at: usize, record: usize) -> Result<Head, Error> {
    match quick(bytes, at) {
        Some(head) => Ok(head),
        None => careful(bytes, at).map_err(|Wrong { field, at, fault }| Error { record, field, at, fault }),
    }
}

/// A varint of up to three bytes in its shortest form.
#[inline(always)]
fn short(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let a = u32::from(*bytes.get(*at)?);
    if a < 0x80 {
        *at += 1;
        return Some(a);
    }
    let b = u32::from(*bytes.get(*at + 1)?);
    // One comparison for "ends here" and "is not zero".
    if b.wrapping_sub(1) < 0x7F {
        *at += 2;
        return Some(a & 0x7F | b << 7);
    }
    let c = u32::from(*bytes.get(*at + 2)?);
    *at += 3;
    (b != 0 && c.wrapping_sub(1) < 0x7F).then_some(a & 0x7F | (b & 0x7F) << 7 | c << 14)
}

/// The bytes behind a length, which is -1 or more. Whether they end within the body is left to the next read.
#[inline(always)]
fn quick_blob(body: &[u8], at: &mut usize) -> Option<(usize, i32)> {
    let raw = short(body, at)?;
    let start = *at;
    if raw & 1 == 0 {
        *at += (raw >> 1) as usize;
        Some((start, (raw >> 1) as i32))
    } else {
        (raw == 1).then_some((start, -1))
    }
}

/// A plain record of short varints; `None` for anything else, an error or not.
#[inline(always)]
fn quick(bytes: &[u8], start: usize) -> Option<Head> {
    let mut at = start;
    let length = short(bytes, &mut at)?;
    if length & 1 != 0 {
        return None;
    }
    let end = at + (length >> 1) as usize;
    let body = bytes.get(..end)?;
    let attributes = *body.get(at)?;
    at += 1;
    let timestamp_delta = unzigzag32(short(body, &mut at)?).into();
    let offset_delta = unzigzag32(short(body, &mut at)?);
    let (key_start, key_len) = quick_blob(body, &mut at)?;
    let (value_start, value_len) = quick_blob(body, &mut at)?;
    let headers_start = at + 1;
    let headers_count = match *body.get(at)? {
        0 if headers_start == end => 0,
        count => quick_headers(body, at, count)?,
    };
    (attributes == 0).then_some(Head {
        attributes,
        timestamp_delta,
        offset_delta,
        key_start,
        key_len,
        value_start,
        value_len,
        headers_start,
        headers_count,
        end,
        plain: true,
    })
}

/// The count of headers whose first byte, at `at`, is `raw`; they have to fill the body.
#[inline(never)]
fn quick_headers(body: &[u8], mut at: usize, raw: u8) -> Option<u32> {
    if raw & 0x81 != 0 {
        return None;
    }
    at += 1;
    for _ in 0..raw >> 1 {
        if quick_blob(body, &mut at)?.1 < 0 {
            return None;
        }
        quick_blob(body, &mut at)?;
    }
    (at == body.len()).then_some(u32::from(raw >> 1))
}

struct Wrong {
    field: Field,
    at: usize,
    fault: Fault,
}

/// A cursor over a part of a slice, and whether all that it read was plain.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    plain: bool,
}

impl Cursor<'_> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn varint(
        &mut self,
        field: Field,
        decoded: Result<(u64, usize), varint::Error>,
        strict: Result<usize, varint::Error>,
    ) -> Result<u64, Wrong> {
        let (value, len) = decoded.map_err(|e| Wrong { field, at: self.at, fault: Fault::Varint(e) })?;
        self.plain &= strict.is_ok();
        self.at += len;
        Ok(value)
    }

    fn varint32(&mut self, field: Field) -> Result<i32, Wrong> {
        let rest = &self.bytes[self.at..];
        let decoded = varint::decode_u32(rest).map(|(v, n)| (v.into(), n));
        self.varint(field, decoded, varint::strict_32(rest)).map(|v| unzigzag32(v as u32))
    }

    fn varint64(&mut self, field: Field) -> Result<i64, Wrong> {
        let rest = &self.bytes[self.at..];
        self.varint(field, varint::decode_u64(rest), varint::strict_64(rest)).map(unzigzag64)
    }

    /// Skips the bytes behind a length and returns where they begin, and the length.
    fn blob(&mut self, field: Field) -> Result<(usize, i32), Wrong> {
        let at = self.at;
        let len = self.varint32(field)?;
        self.plain &= len >= -1;
        let start = self.at;
        if let Ok(needed) = usize::try_from(len) {
            if needed > self.left() {
                return Err(Wrong { field, at, fault: self.too_large(needed) });
            }
            self.at += needed;
        }
        Ok((start, len))
    }

    fn too_large(&self, needed: usize) -> Fault {
        Fault::TooLarge { needed: needed as u64, available: self.left() as u64 }
    }
}

/// Any record: the definition. Fields are looked for within the record's length only.
#[cold]
#[inline(never)]
fn careful(bytes: &[u8], start: usize) -> Result<Head, Wrong> {
    let mut cursor = Cursor { bytes, at: start, plain: true };
    if start >= bytes.len() {
        return Err(Wrong { field: Field::Record, at: start, fault: Fault::Missing });
    }
    let length = cursor.varint32(Field::Length)?;
    let Ok(stored) = usize::try_from(length) else {
        return Err(Wrong { field: Field::Length, at: start, fault: Fault::Negative(length) });
    };
    if stored > cursor.left() {
        return Err(Wrong { field: Field::Length, at: start, fault: cursor.too_large(stored) });
    }
    let body_start = cursor.at;
    let end = body_start + stored;
    cursor.bytes = &bytes[..end];
    if stored == 0 {
        return Err(Wrong { field: Field::Attributes, at: body_start, fault: Fault::Missing });
    }
    let attributes = bytes[body_start];
    cursor.at += 1;
    cursor.plain &= attributes == 0;
    let timestamp_delta = cursor.varint64(Field::TimestampDelta)?;
    let offset_delta = cursor.varint32(Field::OffsetDelta)?;
    let (key_start, key_len) = cursor.blob(Field::KeyLength)?;
    let (value_start, value_len) = cursor.blob(Field::ValueLength)?;
    let headers_at = cursor.at;
    let count = cursor.varint32(Field::HeadersCount)?;
    let headers_start = cursor.at;
    let Ok(headers_count) = u32::try_from(count) else {
        return Err(Wrong { field: Field::HeadersCount, at: headers_at, fault: Fault::Negative(count) });
    };
    if headers_count as usize > cursor.left() {
        let fault = cursor.too_large(headers_count as usize);
        return Err(Wrong { field: Field::HeadersCount, at: headers_at, fault });
    }
    for _ in 0..headers_count {
        let at = cursor.at;
        let (_, key_len) = cursor.blob(Field::HeaderKeyLength)?;
        if key_len < 0 {
            return Err(Wrong { field: Field::HeaderKeyLength, at, fault: Fault::Negative(key_len) });
        }
        cursor.blob(Field::HeaderValueLength)?;
    }
    if cursor.left() > 0 {
        let fault = Fault::Unfilled { stored: stored as u64, used: (cursor.at - body_start) as u64 };
        return Err(Wrong { field: Field::Length, at: cursor.at, fault });
    }
    Ok(Head {
        attributes,
        timestamp_delta,
        offset_delta,
        key_start,
        key_len,
        value_start,
        value_len,
        headers_start,
        headers_count,
        end,
        plain: cursor.plain,
    })
}
