//! User headers: pairs of a key and a value, each with a kind.

use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A key or a value: its kind and its bytes.
///
/// Ordered by kind, then by bytes, as clients write keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field<'a> {
    /// Number of the kind, not 0.
    pub kind: u8,
    /// 1 to 255 bytes.
    pub bytes: &'a [u8],
}

/// A key or a value, read by its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Kind 1.
    Raw(&'a [u8]),
    /// Kind 2: text; nobody checks that it is UTF-8.
    Text(&'a [u8]),
    /// Kind 3; everything but 0 is true.
    Bool(bool),
    /// Kind 4.
    I8(i8),
    /// Kind 5.
    I16(i16),
    /// Kind 6.
    I32(i32),
    /// Kind 7.
    I64(i64),
    /// Kind 8.
    I128(i128),
    /// Kind 9.
    U8(u8),
    /// Kind 10.
    U16(u16),
    /// Kind 11.
    U32(u32),
    /// Kind 12.
    U64(u64),
    /// Kind 13.
    U128(u128),
    /// Kind 14.
    F32(f32),
    /// Kind 15.
    F64(f64),
}

impl<'a> Field<'a> {
    /// The field by its kind; `None` if its kind is unknown or its size is not that of the kind.
    #[must_use]
    pub fn value(self) -> Option<Value<'a>> {
        let Field { kind, bytes } = self;
        Some(match kind {
            1 => Value::Raw(bytes),
            2 => Value::Text(bytes),
            3 => Value::Bool(u8::from_le_bytes(bytes.try_into().ok()?) != 0),
            4 => Value::I8(i8::from_le_bytes(bytes.try_into().ok()?)),
            5 => Value::I16(i16::from_le_bytes(bytes.try_into().ok()?)),
            6 => Value::I32(i32::from_le_bytes(bytes.try_into().ok()?)),
            7 => Value::I64(i64::from_le_bytes(bytes.try_into().ok()?)),
            8 => Value::I128(i128::from_le_bytes(bytes.try_into().ok()?)),
            9 => Value::U8(u8::from_le_bytes(bytes.try_into().ok()?)),
            10 => Value::U16(u16::from_le_bytes(bytes.try_into().ok()?)),
            11 => Value::U32(u32::from_le_bytes(bytes.try_into().ok()?)),
            12 => Value::U64(u64::from_le_bytes(bytes.try_into().ok()?)),
            13 => Value::U128(u128::from_le_bytes(bytes.try_into().ok()?)),
            14 => Value::F32(f32::from_le_bytes(bytes.try_into().ok()?)),
            15 => Value::F64(f64::from_le_bytes(bytes.try_into().ok()?)),
            _ => return None,
        })
    }

    /// Greatest kind that has a meaning.
    const MAX_KIND: u8 = 15;
    /// Greatest number of bytes.
    const MAX_LEN: usize = 255;

    /// What the client's typed reader says of the field, which starts at `offset`.
    fn check(self, wrong_size: ErrorKind, field: &'static str, offset: u64) -> Result<()> {
        if self.kind == 0 || self.kind > Self::MAX_KIND {
            let detail = Detail::Value { found: self.kind.into(), rule: "must be 1 to 15" };
            return Err(Error::new(ErrorKind::UserHeaderKindUnknown, detail, field, offset));
        }
        if self.value().is_none() {
            let detail = Detail::Value { found: self.bytes.len() as i64, rule: "must be the size of the kind" };
            return Err(Error::new(wrong_size, detail, field, offset + 1));
        }
        Ok(())
    }

    fn write(self, out: &mut Vec<u8>) {
        out.push(self.kind);
        out.extend_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(self.bytes);
    }
}

/// The user headers of a message, their structure checked. An iterator of pairs.
///
/// ```
/// use batchwise::iggy::{Field, UserHeaders, Value};
/// let bytes = [2, 3, 0, 0, 0, b'k', b'e', b'y', 10, 2, 0, 0, 0, 0x39, 0x05];
/// let (key, value) = UserHeaders::parse(&bytes, 0)?.next().unwrap();
/// assert_eq!(key, Field { kind: 2, bytes: b"key" });
/// assert_eq!(value.value(), Some(Value::U16(1337)));
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct UserHeaders<'a> {
    reader: Reader<'a>,
    pairs: usize,
    offset: u64,
}

impl<'a> UserHeaders<'a> {
    /// Checks the structure of `bytes`, which start at `offset` of the input. Kinds above 15 pass.
    ///
    /// # Errors
    /// `UserHeaderKindZero`, `UserHeaderLength` or `UserHeaderTruncated` at the first field that is wrong, and
    /// `UserHeaderUnpaired` at the end.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let reader = Reader::new(bytes);
        let mut rest = reader;
        let mut fields = 0;
        while rest.left() > 0 {
            next(&mut rest).map_err(|(kind, detail, at)| {
                let field = if fields % 2 == 0 { "key" } else { "value" };
                Error::new(kind, detail, field, offset + at as u64)
            })?;
            fields += 1;
        }
        if fields % 2 == 1 {
            let detail = Detail::Value { found: fields as i64, rule: "fields must come in pairs" };
            return Err(Error::new(ErrorKind::UserHeaderUnpaired, detail, "value", offset + bytes.len() as u64));
        }
        Ok(UserHeaders { reader, pairs: fields / 2, offset })
    }

    /// Checks kinds and sizes, as the client's typed reader does. A text need not be UTF-8, nor a bool 0 or 1.
    ///
    /// # Errors
    /// `UserHeaderKindUnknown`, `UserHeaderKeySize` or `UserHeaderValueSize` at the first field that is wrong.
    pub fn check_types(&self) -> Result<()> {
        let mut pairs = *self;
        loop {
            let at = pairs.offset + pairs.reader.at() as u64;
            let Some((key, value)) = pairs.next() else { return Ok(()) };
            key.check(ErrorKind::UserHeaderKeySize, "key", at)?;
            let at = at + (5 + key.bytes.len()) as u64;
            value.check(ErrorKind::UserHeaderValueSize, "value", at)?;
        }
    }

    /// The pairs by their keys; of equal keys the last one counts, as in the client.
    ///
    /// # Errors
    /// Those of [`check_types`](Self::check_types).
    pub fn to_map(&self) -> Result<BTreeMap<Field<'a>, Field<'a>>> {
        self.check_types()?;
        Ok(self.collect())
    }
}

impl<'a> Iterator for UserHeaders<'a> {
    type Item = (Field<'a>, Field<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.pairs = self.pairs.checked_sub(1)?;
        Some((next(&mut self.reader).ok()?, next(&mut self.reader).ok()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.pairs, Some(self.pairs))
    }
}

impl ExactSizeIterator for UserHeaders<'_> {}

/// The next field, or what is wrong with it and where.
fn next<'a>(reader: &mut Reader<'a>) -> Result<Field<'a>, (ErrorKind, Detail, usize)> {
    let cut = |needed: usize, reader: &Reader<'_>| {
        let detail = Detail::Length { needed: needed as u64, available: reader.left() as u64 };
        (ErrorKind::UserHeaderTruncated, detail, reader.at())
    };
    let at = reader.at();
    let kind = reader.u8().ok_or_else(|| cut(1, reader))?;
    if kind == 0 {
        return Err((ErrorKind::UserHeaderKindZero, Detail::None, at));
    }
    let at = reader.at();
    let len = reader.u32_le().ok_or_else(|| cut(4, reader))?;
    let Some(len) = usize::try_from(len).ok().filter(|len| (1..=Field::MAX_LEN).contains(len)) else {
        let detail = Detail::Value { found: len.into(), rule: "must be 1 to 255" };
        return Err((ErrorKind::UserHeaderLength, detail, at));
    };
    let bytes = reader.take(len).ok_or_else(|| cut(len, reader))?;
    Ok(Field { kind, bytes })
}

/// Writes pairs in the order in which clients write them: by kind and bytes of the key.
///
/// # Errors
/// `UserHeaderKindZero` or `UserHeaderLength` for a field that nobody would read; the offset is where it would stand.
///
/// ```
/// use batchwise::iggy::{Field, UserHeaders, write_user_headers};
/// let pair = (Field { kind: 2, bytes: b"key" }, Field { kind: 1, bytes: b"value" });
/// let bytes = write_user_headers(&[pair])?;
/// assert_eq!(UserHeaders::parse(&bytes, 0)?.next(), Some(pair));
/// # Ok::<(), batchwise::Error>(())
/// ```
pub fn write_user_headers(pairs: &[(Field<'_>, Field<'_>)]) -> Result<Vec<u8>> {
    let mut sorted: Vec<_> = pairs.to_vec();
    sorted.sort_by_key(|&(key, _)| key);
    let mut out = Vec::with_capacity(sorted.iter().map(|(k, v)| 10 + k.bytes.len() + v.bytes.len()).sum());
    for (key, value) in sorted {
        for (field, name) in [(key, "key"), (value, "value")] {
            if field.kind == 0 {
                return Err(Error::new(ErrorKind::UserHeaderKindZero, Detail::None, name, out.len() as u64));
            }
            if !(1..=Field::MAX_LEN).contains(&field.bytes.len()) {
                let detail = Detail::Value { found: field.bytes.len() as i64, rule: "must be 1 to 255" };
                return Err(Error::new(ErrorKind::UserHeaderLength, detail, name, out.len() as u64 + 1));
            }
            field.write(&mut out);
        }
    }
    Ok(out)
}
