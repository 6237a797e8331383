//! Varints against the definition and against Kafka's own answers.

mod support;

use batchwise_kernels::varint::{self, Error};
use support::Rng;

#[test]
fn kafka_accepts_and_rejects() {
    let n32 = |bytes: &[u8]| varint::decode_zigzag32(bytes);
    assert_eq!(n32(&[0x80, 0x00]), Ok((0, 2)));
    assert_eq!(n32(&[0x80, 0x80, 0x80, 0x80, 0x00]), Ok((0, 5)));
    for last in [0x0F, 0x1F, 0x7F] {
        assert_eq!(n32(&[0xFF, 0xFF, 0xFF, 0xFF, last]), Ok((i32::MIN, 5)), "bits past the 32nd are dropped");
    }
    assert_eq!(n32(&[0x80, 0x80, 0x80, 0x80, 0x10]), Ok((0, 5)));
    assert_eq!(n32(&[0xFF, 0xFF, 0xFF, 0xFF, 0x8F, 0x00]), Err(Error::TooLong));
    assert_eq!(n32(&[0x80]), Err(Error::Truncated));
    assert_eq!(n32(&[]), Err(Error::Truncated));
    let n64 = |bytes: &[u8]| varint::decode_zigzag64(bytes);
    for last in [0x01, 0x03, 0x7F] {
        let mut bytes = [0xFF; 10];
        bytes[9] = last;
        assert_eq!(n64(&bytes), Ok((i64::MIN, 10)));
    }
    let mut bytes = [0x80; 11];
    bytes[10] = 0;
    assert_eq!(n64(&bytes), Err(Error::TooLong));
    for (value, wire) in
        [(0, &[0x00][..]), (-1, &[0x01]), (63, &[0x7E]), (-64, &[0x7F]), (64, &[0x80, 0x01]), (300, &[0xD8, 0x04])]
    {
        assert_eq!(n32(wire), Ok((value, wire.len())));
        assert_eq!(n64(wire), Ok((i64::from(value), wire.len())));
    }
}

#[test]
fn encode_then_decode() {
    let mut rng = Rng(5);
    for bits in 0..=64 {
        for _ in 0..200 {
            let v = rng.next().checked_shr(64 - bits).unwrap_or(0);
            let mut out = [0; varint::MAX_LEN_64];
            let len = varint::encode_u64(v, &mut out);
            assert_eq!(len, varint::len_u64(v));
            assert_eq!(varint::decode_u64(&out[..len]), Ok((v, len)));
            assert_eq!(varint::decode_u64(&out[..len - 1]), Err(Error::Truncated), "cut varint of {v}");
            assert_eq!(varint::skip_64(&out), Ok(len));
            assert_eq!(varint::strict_64(&out[..len]), Ok(len));
            assert_eq!(varint::zigzag64(varint::unzigzag64(v)), v);
            let signed = varint::unzigzag64(v);
            let len = varint::encode_zigzag64(signed, &mut out);
            assert_eq!((len, varint::decode_zigzag64(&out)), (varint::len_zigzag64(signed), Ok((signed, len))));
            let v = v as u32;
            let mut out = [0; varint::MAX_LEN_32];
            let len = varint::encode_u32(v, &mut out);
            assert_eq!(len, varint::len_u32(v));
            assert_eq!(varint::decode_u32(&out[..len]), Ok((v, len)));
            assert_eq!(varint::decode_u32(&out[..len - 1]), Err(Error::Truncated), "cut varint of {v}");
            assert_eq!((varint::skip_32(&out), varint::strict_32(&out)), (Ok(len), Ok(len)));
            let signed = varint::unzigzag32(v);
            assert_eq!(varint::zigzag32(signed), v);
            let len = varint::encode_zigzag32(signed, &mut out);
            assert_eq!((len, varint::decode_zigzag32(&out)), (varint::len_zigzag32(signed), Ok((signed, len))));
        }
    }
}

/// Every encoding of up to `max` bytes whose bytes are one of a few that matter: groups of zeros, ones, a lowest and a
/// highest bit, with and without continuation.
fn encodings(max: usize) -> impl Iterator<Item = Vec<u8>> {
    const BYTES: [u8; 8] = [0x00, 0x01, 0x40, 0x7F, 0x80, 0x81, 0xC0, 0xFF];
    // Beyond the first two and the last three bytes, one kind of filler.
    (1..=max).flat_map(move |len| {
        let free = len.min(5);
        (0..8_usize.pow(free as u32)).map(move |mut choice| {
            let mut next = || {
                let byte = BYTES[choice % 8];
                choice /= 8;
                byte
            };
            let mut bytes: Vec<u8> = (0..free.min(2)).map(|_| next()).collect();
            bytes.resize(bytes.len() + (len - free), 0xAA);
            bytes.extend((free.min(2)..free).map(|_| next()));
            bytes
        })
    })
}

/// The value by the definition: groups of seven bits, least significant first, in unbounded width.
fn by_definition(bytes: &[u8], max: usize) -> Result<(u128, usize), Error> {
    let mut value = 0;
    for (i, &b) in bytes.iter().enumerate().take(max) {
        value += u128::from(b % 128) << (7 * i);
        if b < 128 {
            return Ok((value, i + 1));
        }
    }
    Err(if bytes.len() < max { Error::Truncated } else { Error::TooLong })
}

#[test]
fn every_form_has_the_value_of_the_definition() {
    let mut strict_errors = [0; 2];
    for bytes in encodings(11) {
        let bytes = support::exact(&bytes);
        let expected = by_definition(&bytes, 10);
        assert_eq!(varint::decode_u64(&bytes), expected.map(|(v, n)| (v as u64, n)), "{bytes:02X?}");
        assert_eq!(varint::skip_64(&bytes), expected.map(|(_, n)| n), "{bytes:02X?}");
        let strict = expected.and_then(|(v, n)| match u64::try_from(v) {
            Err(_) => Err(Error::OverflowBits),
            Ok(v) if varint::len_u64(v) != n => Err(Error::NotMinimal),
            Ok(_) => Ok(n),
        });
        assert_eq!(varint::strict_64(&bytes), strict, "{bytes:02X?}");
        let expected = by_definition(&bytes, 5);
        assert_eq!(varint::decode_u32(&bytes), expected.map(|(v, n)| (v as u32, n)), "{bytes:02X?}");
        assert_eq!(varint::skip_32(&bytes), expected.map(|(_, n)| n), "{bytes:02X?}");
        let strict = expected.and_then(|(v, n)| match u32::try_from(v) {
            Err(_) => Err(Error::OverflowBits),
            Ok(v) if varint::len_u32(v) != n => Err(Error::NotMinimal),
            Ok(_) => Ok(n),
        });
        assert_eq!(varint::strict_32(&bytes), strict, "{bytes:02X?}");
        strict_errors[0] += usize::from(strict == Err(Error::OverflowBits));
        strict_errors[1] += usize::from(strict == Err(Error::NotMinimal));
    }
    assert!(strict_errors.iter().all(|&n| n > 1000), "{strict_errors:?}");
}
