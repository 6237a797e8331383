//! What is odd about a record that can be read all the same.

use crate::formats::kafka::Record;
use crate::wire::Reader;
use crate::{Detail, Error, ErrorKind, varint};

/// Reports what is odd in `raw`, the bytes of `record` with its length; offsets count from its first byte.
#[inline]
pub(super) fn check(raw: &[u8], record: &Record<'_>, mut report: impl FnMut(Error)) {
    if !is_plain(raw, record) {
        look(raw, &mut report);
    }
}

/// Whether every varint is as short as it can be, and nulls are written as -1: then the lengths add up.
#[inline]
fn is_plain(raw: &[u8], record: &Record<'_>) -> bool {
    if record.headers().len() > 0 {
        return false;
    }
    let (key, value) = (record.key(), record.value());
    let (key_len, value_len) = (key.map_or(0, <[u8]>::len), value.map_or(0, <[u8]>::len));
    let offset = record.offset_delta();
    // Beyond these the last byte of a varint may have bits that are dropped.
    if raw.len() >= 1 << 27 || offset >= 1 << 27 || record.timestamp_delta().unsigned_abs() >= 1 << 62 {
        return false;
    }
    let front = 1 + size(zigzag(record.timestamp_delta())) + size(zigzag(offset.into()));
    let body = front + size(2 * key_len as u64) + key_len + size(2 * value_len as u64) + value_len + 1;
    let length = size(2 * body as u64);
    if length + body != raw.len() {
        return false;
    }
    let is_minus_one = |at: usize| raw.get(at) == Some(&1);
    (key.is_some() || is_minus_one(length + front))
        && (value.is_some() || is_minus_one(length + front + size(2 * key_len as u64) + key_len))
}

const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Bytes of the shortest varint.
const fn size(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Reads the record again and looks at each varint.
fn look(raw: &[u8], report: &mut impl FnMut(Error)) {
    let mut reader = Reader::new(raw);
    // The record was read before, so nothing here fails.
    let _ = record(&mut reader, report);
}

fn record(reader: &mut Reader<'_>, report: &mut impl FnMut(Error)) -> Result<(), varint::Error> {
    number(reader, "length", report)?;
    reader.u8();
    let (at, rest) = (reader.at(), reader.rest());
    reader.varint64()?;
    shape(rest, reader.at() - at, varint::MAX_LEN_64, 1, "timestampDelta", at, report);
    number(reader, "offsetDelta", report)?;
    blob(reader, "keyLength", report)?;
    blob(reader, "valueLength", report)?;
    for _ in 0..number(reader, "headersCount", report)? {
        let key = blob(reader, "headerKeyLength", report)?;
        if core::str::from_utf8(key).is_err() {
            let at = (reader.at() - key.len()) as u64;
            report(Error::new(ErrorKind::HeaderKeyNotUtf8, Detail::None, "headerKey", at));
        }
        blob(reader, "headerValueLength", report)?;
    }
    Ok(())
}

/// Where a field stands in `raw`, a record that can be read, from its length on.
///
/// For `key` and `value` it is where their bytes are, or the length that says that there are none.
pub(crate) fn place_of(field: &str, raw: &[u8]) -> usize {
    let mut reader = Reader::new(raw);
    walk_to(field, &mut reader).unwrap_or(reader.at())
}

fn walk_to(field: &str, reader: &mut Reader<'_>) -> Result<usize, varint::Error> {
    reader.varint32()?;
    if field == "attributes" {
        return Ok(reader.at());
    }
    reader.u8();
    if field == "timestampDelta" {
        return Ok(reader.at());
    }
    reader.varint64()?;
    if field == "offsetDelta" {
        return Ok(reader.at());
    }
    reader.varint32()?;
    for (length, bytes) in [("keyLength", "key"), ("valueLength", "value")] {
        let at = reader.at();
        let len = usize::try_from(reader.varint32()?);
        if field == length || (field == bytes && len.is_err()) {
            return Ok(at);
        }
        if field == bytes {
            return Ok(reader.at());
        }
        reader.take(len.unwrap_or(0));
    }
    Ok(0)
}

fn number(reader: &mut Reader<'_>, field: &'static str, report: &mut impl FnMut(Error)) -> Result<i32, varint::Error> {
    let (at, rest) = (reader.at(), reader.rest());
    let value = reader.varint32()?;
    shape(rest, reader.at() - at, varint::MAX_LEN_32, 0x0F, field, at, report);
    Ok(value)
}

fn blob<'a>(
    reader: &mut Reader<'a>,
    field: &'static str,
    report: &mut impl FnMut(Error),
) -> Result<&'a [u8], varint::Error> {
    let at = reader.at() as u64;
    let len = number(reader, field, report)?;
    if len < -1 {
        let detail = Detail::Value { found: len.into(), rule: "must be -1 or more" };
        report(Error::new(ErrorKind::LengthBelowMinusOne, detail, field, at));
    }
    Ok(usize::try_from(len).ok().and_then(|len| reader.take(len)).unwrap_or_default())
}

/// Looks at a varint of `len` bytes, of `longest` at most, whose last byte then holds no more than `last`.
fn shape(
    bytes: &[u8],
    len: usize,
    longest: usize,
    last: u8,
    field: &'static str,
    at: usize,
    report: &mut impl FnMut(Error),
) {
    let end = bytes[len - 1];
    if len > 1 && end == 0 {
        report(Error::new(ErrorKind::VarintNotMinimal, Detail::None, field, at as u64));
    } else if len == longest && end > last {
        report(Error::new(ErrorKind::VarintOverflowBits, Detail::None, field, at as u64));
    }
}
