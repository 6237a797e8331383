//! Records of a batch, as they are and compressed.

use crate::support::{FIRST, RECORD, SECOND, batch, build, compress, compressed_batch, spliced, with};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;
use batchwise::kafka::{Header, NewRecord, RecordBatchBuilder};

/// The batch with its records compressed, two of them.
fn gzipped(batch: &[u8]) -> Vec<u8> {
    let bytes = compressed_batch(1, &compress(Codec::Gzip, &batch[FIRST..]));
    with(bytes, 57, &batch[57..61])
}

/// One record with the header "h": "w" at the end, and where the header starts.
fn with_header() -> (Vec<u8>, usize) {
    let headers = [Header { key: b"h", value: Some(b"w") }];
    let bytes = build(RecordBatchBuilder::new(), &[NewRecord { headers: &headers, ..RECORD }]);
    let at = bytes.len() - 4;
    assert_eq!(bytes[at..], [2, b'h', 2, b'w']);
    (bytes, at)
}

/// The first record with `range` replaced, and its length as it then is.
fn first(range: std::ops::Range<usize>, patch: &[u8]) -> Vec<u8> {
    let len = 8 + patch.len() - range.len();
    let bytes = spliced(batch(), range, patch);
    with(bytes, FIRST, &[2 * len as u8])
}

pub(crate) fn cases() -> Vec<Case> {
    assert_eq!(batch()[FIRST..SECOND], [16, 0, 0, 0, 2, b'k', 2, b'v', 0]);
    assert_eq!(batch()[SECOND..], [16, 0, 0, 2, 2, b'k', 2, b'v', 0]);
    let alter = |at: usize, patch: &[u8]| with(batch(), at, patch);
    let mut all = lengths(&alter);
    all.extend(numbers(&alter));
    all.extend(headers());
    all
}

fn lengths(alter: &dyn Fn(usize, &[u8]) -> Vec<u8>) -> Vec<Case> {
    vec![
        case("K39", RecordLengthMismatch, "a length one too large")
            .at("length", 61, "EEE EEE")
            .logs(alter(61, &[18]), batch()),
        case("K39", RecordLengthMismatch, "a length one too small")
            .at("headersCount", 69, "EEE EEE")
            .logs(alter(61, &[14]), batch()),
        case("K39", RecordLengthMismatch, "an empty record")
            .at("attributes", 62, "EEE EEE")
            .logs(alter(61, &[0]), batch()),
        case("K39", RecordLengthMismatch, "a compressed record's length one too large, which the produce path skips")
            .at("length", 0, "EEE WEE")
            .decompressed()
            .logs(gzipped(&alter(61, &[18])), gzipped(&batch())),
        case("K47", RecordLengthMismatch, "a key into the next record")
            .at("keyLength", 65, "EEE EEE")
            .logs(alter(65, &[10]), batch()),
        case("K47", RecordLengthMismatch, "a value into the next record")
            .at("valueLength", 67, "EEE EEE")
            .logs(alter(67, &[6]), batch()),
        case("K40", RecordLengthNegative, "length -1").at("length", 61, "EEE EEE").logs(alter(61, &[1]), batch()),
        case("K40", RecordLengthNegative, "length -1 of a compressed record")
            .at("length", 0, "EEE WEE")
            .decompressed()
            .logs(gzipped(&alter(61, &[1])), gzipped(&batch())),
        case("K41", RecordLengthTooLarge, "length 63").at("length", 61, "EEE EEE").logs(alter(61, &[0x7E]), batch()),
        case("K42", VarintTooLong, "a length of six bytes")
            .at("length", 61, "EEE EEE")
            .logs(alter(61, &[0x90, 0x80, 0x80, 0x80, 0x80, 0]), first_length(&[0x90, 0x80, 0x80, 0x80, 0])),
        case("K43", VarintTooLong, "a key length of six bytes")
            .at("keyLength", 65, "EEE EEE")
            .logs(first(65..66, &[0x82, 0x80, 0x80, 0x80, 0x80, 0]), first(65..66, &[0x82, 0x80, 0x80, 0x80, 0])),
        case("K43", VarintTooLong, "a timestamp delta of eleven bytes")
            .at("timestampDelta", 63, "EEE EEE")
            .logs(first(63..64, &[&[0x80; 10][..], &[0]].concat()), first(63..64, &[&[0x80; 9][..], &[0]].concat())),
        case("K43", VarintTruncated, "the last byte says that another follows")
            .at("headersCount", 78, "EEE EEE")
            .logs(alter(78, &[0x80]), batch()),
        case("K46", KeyLengthTooLarge, "a key beyond the batch")
            .at("keyLength", 65, "EEE EEE")
            .logs(alter(65, &[40]), batch()),
        case("K46", ValueLengthTooLarge, "a value beyond the batch")
            .at("valueLength", 67, "EEE EEE")
            .logs(alter(67, &[40]), batch()),
        case("K45", LengthBelowMinusOne, "a key length of -2")
            .at("keyLength", 65, "WWW WWW")
            .logs(first(65..67, &[3]), first(65..67, &[1])),
        case("K45", LengthBelowMinusOne, "a value length of -2")
            .at("valueLength", 67, "WWW WWW")
            .logs(first(67..69, &[3]), first(67..69, &[1])),
    ]
}

/// The batch with the first record's length in these bytes.
fn first_length(bytes: &[u8]) -> Vec<u8> {
    spliced(batch(), 61..62, bytes)
}

fn numbers(alter: &dyn Fn(usize, &[u8]) -> Vec<u8>) -> Vec<Case> {
    let base = |ms: i64| with(batch(), 27, &ms.to_be_bytes());
    vec![
        case("K37", OffsetDeltaNotSequential, "two records of offset 0")
            .at("offsetDelta", 73, "E-- W--")
            .logs(alter(73, &[0]), batch()),
        case("K37", OffsetDeltaNotSequential, "the same, compressed, which cannot be mended in place")
            .at("offsetDelta", 12, "E-- E--")
            .decompressed()
            .logs(gzipped(&alter(73, &[0])), gzipped(&batch())),
        case("K38", OffsetDeltaNotIncreasing, "two records of offset 0")
            .at("offsetDelta", 73, "-EE -WW")
            .logs(alter(73, &[0]), batch()),
        case("K38", OffsetDeltaOutOfRange, "offset delta 2 of 1")
            .at("offsetDelta", 73, "-EE -WW")
            .logs(alter(73, &[4]), batch()),
        case("K38", OffsetDeltaOutOfRange, "offset delta -1")
            .at("offsetDelta", 64, "-EE -WW")
            .logs(alter(64, &[1]), batch()),
        case("K44", VarintNotMinimal, "a key length of two bytes")
            .at("keyLength", 65, "WWW WWW")
            .logs(first(65..66, &[0x82, 0]), batch()),
        case("K44", VarintNotMinimal, "a length of two bytes")
            .at("length", 61, "WWW WWW")
            .logs(first_length(&[0x90, 0]), batch()),
        case("K44", VarintOverflowBits, "bit 4 of the fifth byte")
            .at("valueLength", 67, "WWW WWW")
            .logs(first(67..68, &[0x82, 0x80, 0x80, 0x80, 0x10]), batch()),
        case("K44", VarintOverflowBits, "bit 1 of the tenth byte")
            .at("timestampDelta", 63, "WWW WWW")
            .logs(first(63..64, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]), batch()),
        case("K52", RecordAttributesNonZero, "attributes 1 of the second record")
            .at("attributes", 71, "WWW WWW")
            .logs(alter(71, &[1]), batch()),
        case("K59", TimestampNegative, "timestamps of -2").at("timestampDelta", 63, "WWW WWW").logs(base(-2), base(-1)),
        case("K61", TimestampOverflow, "a delta beyond the greatest timestamp")
            .at("timestampDelta", 72, "WII WII")
            .logs(with(base(i64::MAX), 72, &[2]), base(i64::MAX)),
        case("K61", FirstDeltaNotZero, "a first delta of 1")
            .at("timestampDelta", 63, "WII WII")
            .logs(alter(63, &[2]), with(alter(63, &[2]), 22, &[0x40])),
    ]
}

fn headers() -> Vec<Case> {
    let (sound, at) = with_header();
    let alter = |at: usize, patch: &[u8]| with(sound.clone(), at, patch);
    let place = at as u64;
    vec![
        case("K46", HeaderLengthTooLarge, "a header key beyond the batch")
            .at("headerKeyLength", place, "EEE EEE")
            .logs(alter(at, &[40]), sound.clone()),
        case("K46", HeaderLengthTooLarge, "a header value beyond the batch")
            .at("headerValueLength", place + 2, "EEE EEE")
            .logs(alter(at + 2, &[4]), sound.clone()),
        case("K45", LengthBelowMinusOne, "a header value length of -2")
            .at("headerValueLength", place + 2, "WWW WWW")
            .logs(
                with(alter(at + 2, &[3])[..at + 3].to_vec(), FIRST, &[22]),
                with(alter(at + 2, &[1])[..at + 3].to_vec(), FIRST, &[22]),
            ),
        case("K48", HeadersCountNegative, "headers count -1")
            .at("headersCount", place - 1, "EEE EEE")
            .logs(alter(at - 1, &[1]), sound.clone()),
        case("K49", HeadersCountTooLarge, "5 headers in 4 bytes")
            .at("headersCount", place - 1, "EEE EEE")
            .logs(alter(at - 1, &[10]), sound.clone()),
        case("K50", HeaderKeyNull, "a header key length of -1")
            .at("headerKeyLength", place, "EEE EEE")
            .logs(alter(at, &[1]), sound.clone()),
        case("K51", HeaderKeyNotUtf8, "a header key of ff")
            .at("headerKey", place + 1, "WWW WWW")
            .logs(alter(at + 1, &[0xFF]), sound.clone()),
    ]
}
