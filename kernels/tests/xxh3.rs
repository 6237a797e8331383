//! Every XXH3 kernel against xxhash-rust, twox-hash and values computed elsewhere.

mod support;

use batchwise_kernels::xxh3::{self, SecretTooShort, consume, oneshot};
use support::{bytes, exact, lengths};
use twox_hash::XxHash3_64;

const SEEDS: [u64; 4] = [0, 1, 0x9E37_79B1_85EB_CA87, u64::MAX];

/// Length and hash of each row of the file, with the input that it is the hash of.
fn rows() -> impl Iterator<Item = (Box<[u8]>, u64)> {
    include_str!("data/xxh3_64.txt").lines().filter(|l| !l.starts_with('#')).map(|line| {
        let (len, hash) = line.split_once(' ').expect("length and hash");
        let len: u64 = len.parse().expect("length");
        let input = (0..len).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 11) as u8).collect();
        (input, u64::from_str_radix(hash, 16).expect("hash"))
    })
}

#[test]
fn recorded_values() {
    assert!(rows().count() > 1300);
    for (input, hash) in rows() {
        assert_eq!(xxh3::hash64(&input), hash, "length {}", input.len());
        for kernel in oneshot::available() {
            assert_eq!(oneshot::with(kernel, &input, 0), hash, "{} length {}", kernel.name(), input.len());
        }
    }
}

#[test]
fn every_kernel_equals_xxhash_rust_and_twox_hash() {
    let data = bytes(270_000, 4);
    for len in lengths() {
        for (offset, seed) in [0, 1, 7, 33].into_iter().zip(SEEDS) {
            let slice = exact(&data[offset..offset + len]);
            let want = xxhash_rust::xxh3::xxh3_64_with_seed(&slice, seed);
            assert_eq!(XxHash3_64::oneshot_with_seed(seed, &slice), want, "the oracles agree");
            assert_eq!(xxh3::hash64_with_seed(&slice, seed), want, "length {len} seed {seed}");
            for kernel in oneshot::available() {
                assert_eq!(oneshot::with(kernel, &slice, seed), want, "{} length {len} seed {seed}", kernel.name());
            }
        }
    }
    support::report("xxh3::oneshot", oneshot::TABLE.all());
}

#[test]
fn with_secret_equals_the_oracles_whatever_its_length() {
    let (data, secret) = (bytes(9000, 5), bytes(400, 6));
    for secret_len in [136, 137, 144, 191, 192, 193, 256, 400] {
        let secret = exact(&secret[..secret_len]);
        for len in (0..300).chain([512, 575, 576, 577, 1024, 1025, 1087, 1088, 1089, 2689, 8999]) {
            let slice = exact(&data[..len]);
            let want = XxHash3_64::oneshot_with_secret(&secret, &slice).expect("long enough");
            assert_eq!(xxhash_rust::xxh3::xxh3_64_with_secret(&slice, &secret), want, "the oracles agree");
            assert_eq!(xxh3::hash64_with_secret(&slice, &secret), Ok(want), "length {len} secret {secret_len}");
        }
    }
    for short in [0, 1, 135] {
        assert_eq!(xxh3::hash64_with_secret(&data, &secret[..short]), Err(SecretTooShort { len: short }));
    }
}

/// Accumulators by the definition: one stripe at a time, each word and its neighbour.
fn consume_by_definition(acc: &mut [u64; 8], mut position: usize, stripes: &[[u8; 64]], secret: &[u8]) -> usize {
    let word = |bytes: &[u8], i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"));
    for stripe in stripes {
        for i in 0..8 {
            let value = word(stripe, i) ^ word(&secret[8 * position..], i);
            acc[i ^ 1] = acc[i ^ 1].wrapping_add(word(stripe, i));
            acc[i] = acc[i].wrapping_add((value & 0xFFFF_FFFF) * (value >> 32));
        }
        position += 1;
        if position == (secret.len() - 64) / 8 {
            for (i, a) in acc.iter_mut().enumerate() {
                *a = (*a ^ *a >> 47 ^ word(&secret[secret.len() - 64..], i)).wrapping_mul(0x9E37_79B1);
            }
            position = 0;
        }
    }
    position
}

#[test]
fn every_kernel_consumes_as_the_definition_says() {
    let (data, secret) = (bytes(64 * 70, 7), bytes(300, 8));
    let stripes = data.as_chunks::<64>().0;
    for secret_len in [136, 192, 300] {
        let secret = exact(&secret[..secret_len]);
        let per_block = (secret_len - 64) / 8;
        for position in 0..per_block {
            for count in (0..40).chain([70]) {
                let start = std::array::from_fn(|i| 0x0123_4567_89AB_CDEF_u64.rotate_left(7 * i as u32));
                let mut want = start;
                let after = consume_by_definition(&mut want, position, &stripes[..count], &secret);
                for kernel in consume::available() {
                    let mut acc = start;
                    let given: Box<[[u8; 64]]> = stripes[..count].into();
                    let what = format!("{} {count} stripes from {position}", kernel.name());
                    assert_eq!(consume::with(kernel, &mut acc, position, &given, &secret), after, "{what}");
                    assert_eq!(acc, want, "{what}");
                }
            }
        }
    }
    support::report("xxh3::consume", consume::TABLE.all());
}

#[test]
fn consume_refuses_what_is_outside_the_secret() {
    for kernel in consume::available() {
        for (position, secret_len) in [(16, 192), (usize::MAX, 192), (9, 136), (0, 135), (0, 64), (0, 0)] {
            let run = || consume::with(kernel, &mut [0; 8], position, &[[0; 64]; 3], &vec![0; secret_len]);
            assert!(std::panic::catch_unwind(run).is_err(), "{} {position} {secret_len}", kernel.name());
        }
    }
}
