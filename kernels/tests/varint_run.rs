//! Runs of varints: every kernel against value-by-value decoding.

mod support;

use batchwise_kernels::varint::{self, Error, decode_run_u32, decode_run_u64};
use support::Rng;

/// What was decoded, and how many bytes it took.
type Decoded<T> = Result<(T, usize), Error>;

/// `decode` once for each of `count` values.
fn one_by_one<T>(bytes: &[u8], count: usize, decode: fn(&[u8]) -> Decoded<T>) -> Decoded<Vec<T>> {
    let (mut values, mut at) = (Vec::new(), 0);
    for _ in 0..count {
        let (value, len) = decode(&bytes[at..])?;
        values.push(value);
        at += len;
    }
    Ok((values, at))
}

/// Both widths, every kernel, in an allocation of exactly the size of `bytes`.
fn compare(bytes: &[u8], count: usize) {
    let bytes = support::exact(bytes);
    let expected = one_by_one(&bytes, count, varint::decode_u32);
    for kernel in decode_run_u32::available() {
        let mut out = vec![0; count];
        let found = decode_run_u32::with(kernel, &bytes, &mut out).map(|len| (out, len));
        assert_eq!(found, expected, "u32 by {}: {count} values of {bytes:02X?}", kernel.name());
    }
    let expected = one_by_one(&bytes, count, varint::decode_u64);
    for kernel in decode_run_u64::available() {
        let mut out = vec![0; count];
        let found = decode_run_u64::with(kernel, &bytes, &mut out).map(|len| (out, len));
        assert_eq!(found, expected, "u64 by {}: {count} values of {bytes:02X?}", kernel.name());
    }
}

/// Appends an encoding of `len` bytes with random payload, minimal or not, overflowing or not.
fn push(wire: &mut Vec<u8>, len: usize, rng: &mut Rng) {
    let random = rng.next().to_le_bytes();
    for i in 0..len {
        let continued = if i + 1 < len { 0x80 } else { 0 };
        // Zero groups are frequent enough to make forms that are not minimal.
        let payload = if rng.below(4) == 0 { 0 } else { random[i % 8].rotate_left(i as u32) };
        wire.push(payload & 0x7F | continued);
    }
}

#[test]
fn runs_equal_single_values() {
    support::report("varint::decode_run_u32", decode_run_u32::TABLE.all());
    support::report("varint::decode_run_u64", decode_run_u64::TABLE.all());
    let mut rng = Rng(6);
    for count in (0..140).chain([255, 256, 1000]) {
        for (shortest, longest) in [(1, 1), (1, 2), (2, 2), (1, 5), (5, 5), (3, 8), (1, 10), (9, 10)] {
            let mut wire = Vec::new();
            for _ in 0..count {
                push(&mut wire, shortest + rng.below(longest - shortest + 1), &mut rng);
            }
            compare(&wire, count);
            compare(&wire, count / 2); // more bytes than are asked for
            compare(&wire, count + 1); // fewer
            if count > 0 {
                compare(&wire[..wire.len() - 1], count);
            }
        }
    }
}

#[test]
fn runs_of_ones_between_long_values() {
    let mut rng = Rng(7);
    for lead in 0..130 {
        let mut wire = vec![5; lead];
        push(&mut wire, 4, &mut rng);
        wire.extend([7; 200]);
        compare(&wire, lead + 201);
    }
}

#[test]
fn errors_are_found_wherever_they_stand() {
    let mut rng = Rng(8);
    for lead in 0..100 {
        for len in [5, 6, 9, 10, 11, 12, 70] {
            let mut wire = Vec::new();
            for _ in 0..lead {
                push(&mut wire, 1 + rng.below(5), &mut rng);
            }
            // Too long for one width or both, then values again, then a cut one.
            wire.resize(wire.len() + len - 1, 0x80);
            wire.extend([1; 150]);
            compare(&wire, lead); // the bad one is behind the last that is asked for
            compare(&wire, lead + 1);
            compare(&wire, lead + 151);
            wire.extend([0xFF; 3]);
            compare(&wire, lead + 152);
        }
    }
}

#[test]
fn random_bytes_are_decoded_or_refused_alike() {
    let mut rng = Rng(9);
    for round in 0..3000 {
        let mut bytes = support::bytes(rng.below(400), round);
        // Fewer continuation bits than one half, in most rounds, so that errors are not all near the front.
        if round % 4 != 0 {
            for b in &mut bytes {
                if rng.below(3) != 0 {
                    *b &= 0x7F;
                }
            }
        }
        compare(&bytes, rng.below(300));
    }
}
