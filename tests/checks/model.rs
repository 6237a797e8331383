//! What the specification says of an entry, read as plainly as can be: kind, field and byte of what is wrong with it.

use batchwise::ErrorKind::{self, *};
use batchwise::crc32c;

/// Kind, field and byte.
pub(crate) type Found = (ErrorKind, &'static str, u64);

/// Where the fields of a record batch's header stand.
const HEADER: &[(&str, u64)] = &[
    ("batch", 0),
    ("baseOffset", 0),
    ("batchLength", 8),
    ("partitionLeaderEpoch", 12),
    ("magic", 16),
    ("crc", 17),
    ("attributes", 21),
    ("lastOffsetDelta", 23),
    ("baseTimestamp", 27),
    ("maxTimestamp", 35),
    ("producerId", 43),
    ("producerEpoch", 51),
    ("baseSequence", 53),
    ("recordsCount", 57),
    ("records", 61),
];

pub(crate) fn header_field(name: &str) -> Option<u64> {
    HEADER.iter().find(|(field, _)| *field == name).map(|(_, at)| *at)
}

pub(crate) fn is_in_records(at: u64) -> bool {
    at >= 61
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(number(bytes, at))
}

/// What is wrong with an entry that stands alone in a segment, one bit of which was flipped.
pub(crate) fn entry(bytes: &[u8]) -> Option<Found> {
    let (length, magic) = (i32_at(bytes, 8), bytes[16]);
    let smallest = if magic == 2 { 49 } else { 14 };
    match length {
        ..14 => return Some((BatchLengthTooSmall, "batchLength", 8)),
        2_147_483_636.. => return Some((BatchLengthOverflow, "batchLength", 8)),
        _ if magic > 2 => return Some((MagicUnknown, "magic", 16)),
        _ if length < smallest => return Some((BatchLengthBelowHeader, "batchLength", 8)),
        _ if length as usize + 12 > bytes.len() => return Some((TornTail, "batch", 0)),
        _ => {}
    }
    let entry = &bytes[..length as usize + 12];
    let offset = i64::from_be_bytes(number(bytes, 0));
    if magic == 2 {
        if u32::from_be_bytes(number(bytes, 17)) != crc32c::crc32c(&entry[21..]) {
            return Some((CrcMismatch, "crc", 17));
        }
        let delta = i32_at(bytes, 23);
        let is_wrong = offset < 0 || offset.checked_add(delta.into()).is_none();
        return is_wrong.then_some((OffsetOutOfRange, "baseOffset", 0));
    }
    if u32::from_be_bytes(number(bytes, 12)) != crc32fast::hash(&entry[16..]) {
        return Some((CrcMismatch, "crc", 12));
    }
    // The wrappers hold two messages, with offsets 0 and 1.
    let is_wrapper = entry[17] & 7 != 0;
    (magic == 1 && is_wrapper && offset < 1 && offset != 0).then_some((WrapperOffsetInvalid, "offset", 0))
}

/// What keeps the records of a batch from being read.
pub(crate) const STRUCTURAL: &[ErrorKind] = &[
    RecordsTruncated,
    TrailingRecordBytes,
    RecordLengthMismatch,
    RecordLengthNegative,
    RecordLengthTooLarge,
    VarintTooLong,
    VarintTruncated,
    KeyLengthTooLarge,
    ValueLengthTooLarge,
    HeaderLengthTooLarge,
    HeadersCountNegative,
    HeadersCountTooLarge,
    HeaderKeyNull,
];

/// Reads the records of a batch whose records are not compressed.
pub(crate) fn records(batch: &[u8]) -> Option<Found> {
    let count = i32_at(batch, 57);
    let mut at = 61;
    for _ in 0..count {
        if at == batch.len() {
            return Some((RecordsTruncated, "recordsCount", 57));
        }
        match record(batch, at) {
            Ok(end) => at = end,
            Err(found) => return Some(found),
        }
    }
    (count > 0 && at < batch.len()).then_some((TrailingRecordBytes, "records", at as u64))
}

/// Reads fields up to `end`.
struct Fields<'a> {
    batch: &'a [u8],
    at: usize,
    end: usize,
}

fn record(batch: &[u8], start: usize) -> Result<usize, Found> {
    let mut fields = Fields { batch, at: start, end: batch.len() };
    let length = fields.varint("length", 5)?;
    let here = |kind| Err((kind, "length", start as u64));
    if length < 0 {
        return here(RecordLengthNegative);
    }
    fields.end = fields.at + length as usize;
    if fields.end > batch.len() {
        return here(RecordLengthTooLarge);
    }
    if length == 0 {
        return Err((RecordLengthMismatch, "attributes", fields.at as u64));
    }
    fields.at += 1;
    fields.varint("timestampDelta", 10)?;
    fields.varint("offsetDelta", 5)?;
    fields.blob("keyLength", KeyLengthTooLarge)?;
    fields.blob("valueLength", ValueLengthTooLarge)?;
    let at = fields.at as u64;
    let headers = fields.varint("headersCount", 5)?;
    if headers < 0 {
        return Err((HeadersCountNegative, "headersCount", at));
    }
    if headers as usize > fields.end - fields.at {
        return Err((HeadersCountTooLarge, "headersCount", at));
    }
    for _ in 0..headers {
        let at = fields.at as u64;
        if fields.blob("headerKeyLength", HeaderLengthTooLarge)? < 0 {
            return Err((HeaderKeyNull, "headerKeyLength", at));
        }
        fields.blob("headerValueLength", HeaderLengthTooLarge)?;
    }
    if fields.at < fields.end { here(RecordLengthMismatch) } else { Ok(fields.end) }
}

impl Fields<'_> {
    /// A varint of `longest` bytes at most, of 32 bits if that is five.
    fn varint(&mut self, field: &'static str, longest: usize) -> Result<i64, Found> {
        let start = self.at as u64;
        let mut value = 0u64;
        for i in 0..longest {
            if self.at == self.end {
                let goes_on = self.end < self.batch.len();
                return Err((if goes_on { RecordLengthMismatch } else { VarintTruncated }, field, start));
            }
            let byte = self.batch[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                let value = if longest == 5 { u64::from(value as u32) } else { value };
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err((VarintTooLong, field, start))
    }

    fn blob(&mut self, field: &'static str, too_large: ErrorKind) -> Result<i64, Found> {
        let start = self.at as u64;
        let len = self.varint(field, 5)?;
        let wanted = self.at + usize::try_from(len).unwrap_or(0);
        if wanted > self.batch.len() {
            return Err((too_large, field, start));
        }
        if wanted > self.end {
            return Err((RecordLengthMismatch, field, start));
        }
        self.at = wanted;
        Ok(len)
    }
}
