//! Varints against the definition and against Kafka's own answers.

mod support;

use batchwise_kernels::varint::{self, Error, decode_run};
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
            assert_eq!(varint::zigzag64(varint::unzigzag64(v)), v);
        }
    }
}

#[test]
fn every_run_kernel_decodes_what_was_encoded() {
    let mut rng = Rng(6);
    for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 1000] {
        for max_bits in [7, 14, 35, 64] {
            let values: Vec<u64> = (0..count).map(|_| rng.next() >> (64 - 1 - rng.below(max_bits))).collect();
            let mut wire = Vec::new();
            for &v in &values {
                let mut one = [0; varint::MAX_LEN_64];
                let len = varint::encode_u64(v, &mut one);
                wire.extend_from_slice(&one[..len]);
            }
            let wire = support::exact(&wire);
            for kernel in decode_run::available() {
                let mut out = vec![0; count];
                assert_eq!(decode_run::with(kernel, &wire, &mut out), Ok(wire.len()), "{}", kernel.name());
                assert_eq!(out, values, "{}", kernel.name());
                if count > 0 {
                    assert_eq!(decode_run::with(kernel, &wire[..wire.len() - 1], &mut out), Err(Error::Truncated));
                }
            }
        }
    }
    support::report("varint::decode_run", decode_run::TABLE.all());
}
