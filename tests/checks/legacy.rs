//! Messages of magic 0 and 1, alone and compressed.

use crate::support::{compress, message, raw, sealed_message, spliced_message, wrapper, wrapping};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;

/// A wrapper of magic 1 around `inner`, at `offset`.
fn around(inner: &[u8], offset: i64) -> Vec<u8> {
    wrapping(1, 1, &compress(Codec::Gzip, inner), offset)
}

/// Where keyLength stands in a message of magic 1, which is followed by the key "k", a length and the value "hello".
const KEY: usize = 26;

fn pair() -> Vec<u8> {
    [message(1, 0), message(1, 1)].concat()
}

pub(crate) fn cases() -> Vec<Case> {
    let sound = || message(1, 0);
    assert_eq!(sound().len(), KEY + 4 + 1 + 4 + 5);
    let mut all = vec![
        case("K15", CrcMismatch, "a bit of magic 0's value")
            .at("crc", 12, "EEE EEE")
            .logs(raw(message(0, 0), 30, b"x"), message(0, 0)),
        case("K15", CrcMismatch, "a bit of magic 1's timestamp")
            .at("crc", 12, "EEE EEE")
            .logs(raw(sound(), 25, &[0]), sound()),
        case("K17", CodecUnknown, "codec 5 of a message")
            .at("attributes", 17, "EEE EEE")
            .logs(sealed_message(raw(sound(), 17, &[5])), wrapper(1, 2)),
        case("K18", CodecNotAllowed, "zstd in a message")
            .at("attributes", 17, "EEE EEE")
            .logs(sealed_message(raw(sound(), 17, &[4])), wrapper(1, 2)),
        case("K20", AttributesReservedBits, "bit 3 of magic 0")
            .at("attributes", 17, "WWW WWW")
            .logs(sealed_message(raw(message(0, 0), 17, &[8])), sealed_message(raw(sound(), 17, &[8]))),
        case("K21", TimestampTypeFromClient, "LogAppendTime of a message")
            .at("attributes", 17, "W-- W--")
            .logs(sealed_message(raw(sound(), 17, &[8])), sound()),
        case("K59", TimestampNegative, "timestamp -2, which no record batch can be made of")
            .at("timestamp", 18, "EWW EWW")
            .logs(
                sealed_message(raw(sound(), 18, &(-2i64).to_be_bytes())),
                sealed_message(raw(sound(), 18, &(-1i64).to_be_bytes())),
            ),
        case("K76", EntrySizeTooSmall, "size 21 of magic 1")
            .at("messageSize", 8, "EEE EEE")
            .logs(sealed_message(sound()[..33].to_vec()), spliced_message(sound(), KEY..40, &[0xFF; 8])),
        case("K77", LengthBelowMinusOne, "a key length of -2").at("keyLength", 26, "WWW WWW").logs(
            spliced_message(sound(), KEY..KEY + 5, &(-2i32).to_be_bytes()),
            spliced_message(sound(), KEY..KEY + 5, &(-1i32).to_be_bytes()),
        ),
        case("K78", KeyLengthTooLarge, "a key beyond the message")
            .at("keyLength", 26, "EEE EEE")
            .logs(sealed_message(raw(sound(), KEY, &11i32.to_be_bytes())), sound()),
        case("K78", ValueLengthTooLarge, "a value beyond the message")
            .at("valueLength", 31, "EEE EEE")
            .logs(sealed_message(raw(sound(), 31, &6i32.to_be_bytes())), sound()),
        case("K79", EntryTrailingBytes, "a byte behind the value")
            .at("message", 40, "WWW WWW")
            .logs(sealed_message([&sound()[..], &[0]].concat()), sound()),
    ];
    all.extend(wrappers());
    all
}

fn wrappers() -> Vec<Case> {
    let sound = || around(&pair(), 1);
    let len = message(1, 0).len();
    let second = len as u64;
    let inner = |second: Vec<u8>| around(&[message(1, 0), second].concat(), 1);
    vec![
        case("K16", InnerCrcMismatch, "a bit of the second message within")
            .at("crc", second + 12, "EEE EEE")
            .decompressed()
            .logs(inner(raw(message(1, 1), len - 1, b"0")), sound()),
        case("K80", WrapperValueNull, "no value")
            .at("valueLength", 30, "EEE EEE")
            .logs(spliced_message(sound(), 30..sound().len(), &[0xFF; 4]), sound()),
        case("K80", InnerSetEmpty, "no messages within").at("value", 34, "EEE EEE").logs(around(&[], 1), sound()),
        case("K80", InnerCompressed, "a compressed message within")
            .at("attributes", second + 17, "EEE EEE")
            .decompressed()
            .logs(inner(sealed_message(raw(message(1, 1), 17, &[1]))), sound()),
        case("K81", InnerEntryTruncated, "the last message within is cut off")
            .at("message", second, "EEE WWW")
            .decompressed()
            .logs(around(&pair()[..2 * len - 1], 1), sound()),
        case("K82", BatchLengthTooSmall, "size 13 within")
            .at("messageSize", second + 8, "EEE EEE")
            .decompressed()
            .logs(inner(raw(message(1, 1), 8, &13i32.to_be_bytes())), sound()),
        case("K83", InnerMagicMismatch, "magic 0 within magic 1")
            .at("magic", second + 16, "EWW EWW")
            .decompressed()
            .logs(inner(message(0, 1)), sound()),
        case("K84", WrapperOffsetInvalid, "offset 1 around offset 2").at("offset", 0, "EEE EEE").logs(
            around(&[message(1, 0), message(1, 2)].concat(), 1),
            around(&[message(1, 0), message(1, 2)].concat(), 2),
        ),
        case("K84", WrapperOffsetInvalid, "the same, but for offset 0, which some producers leave")
            .at("offset", 0, "EEE EEE")
            .logs(around(&[message(1, 0), message(1, 2)].concat(), 1), around(&pair(), 0)),
        case("K85", OffsetDeltaNotSequential, "offsets 0 and 2 within")
            .at("offset", second, "III III")
            .decompressed()
            .logs(around(&[message(1, 0), message(1, 2)].concat(), 2), sound()),
        case("K87", WrapperKeyNotNull, "a key of magic 1")
            .at("keyLength", 26, "WWW WWW")
            .logs(spliced_message(sound(), KEY..KEY + 4, &[0, 0, 0, 1, b'k']), sound()),
        case("K87", WrapperKeyNotNull, "a key of magic 0")
            .at("keyLength", 18, "WWW WWW")
            .logs(spliced_message(wrapper(0, 2), 18..22, &[0, 0, 0, 1, b'k']), wrapper(0, 2)),
    ]
}
