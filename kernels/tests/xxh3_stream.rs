//! Streaming XXH3: every split of an input gives the hash of the whole.

mod support;

use batchwise_kernels::xxh3::{BuildXxh3, SecretTooShort, Xxh3, hash64, hash64_with_secret, hash64_with_seed};
use std::hash::{BuildHasher, Hasher};
use support::{Rng, bytes};

/// Lengths around every border: classes of short inputs, the buffer, stripes, blocks.
fn borders() -> impl Iterator<Item = usize> {
    let around = |n: usize| n.saturating_sub(1)..n + 2;
    let points = [1, 4, 9, 17, 64, 128, 192, 240, 256, 320, 512, 768, 1024, 1088, 1280, 2048, 3072, 4096];
    (0..3).chain(points.into_iter().flat_map(around))
}

#[test]
fn two_pieces_at_every_border() {
    let data = bytes(5000, 1);
    for len in borders() {
        let want = hash64(&data[..len]);
        for first in borders().filter(|&f| f <= len) {
            let mut hasher = Xxh3::new();
            hasher.update(&data[..first]);
            assert_eq!(hasher.digest(), hash64(&data[..first]), "{first} of {len}");
            hasher.update(&data[first..len]);
            assert_eq!(hasher.digest(), want, "{first} of {len}");
            assert_eq!(hasher.digest(), want, "a digest changes nothing");
        }
    }
}

#[test]
fn equal_pieces_of_every_size() {
    let data = bytes(4200, 2);
    for piece in (1..80).chain(borders().filter(|&p| p >= 80)) {
        let mut hasher = Xxh3::new();
        for (i, chunk) in data.chunks(piece).enumerate() {
            hasher.update(chunk);
            let so_far = (piece * (i + 1)).min(data.len());
            if piece > 40 || i % 16 == 0 || so_far.is_multiple_of(64) {
                assert_eq!(hasher.digest(), hash64(&data[..so_far]), "pieces of {piece}, {so_far} bytes");
            }
        }
        assert_eq!(hasher.digest(), hash64(&data));
    }
}

#[test]
fn random_pieces_with_seeds_and_secrets() {
    let (data, secret) = (bytes(20_000, 3), bytes(333, 4));
    let mut rng = Rng(5);
    for _ in 0..3000 {
        let most = [100, 300, 1100, 2100, data.len()][rng.below(5)];
        let len = rng.below(most);
        let longest = [9, 70, 300, 1200, 5000][rng.below(5)];
        let seed = [0, 77, rng.next()][most % 3];
        let secret = &secret[..136 + rng.below(333 - 136)];
        let mut seeded = Xxh3::with_seed(seed);
        let mut secretive = Xxh3::with_secret(secret).expect("long enough");
        let mut at = 0;
        while at < len {
            let piece = &data[at..(at + 1 + rng.below(longest)).min(len)];
            seeded.update(piece);
            secretive.update(piece);
            at += piece.len();
        }
        assert_eq!(seeded.digest(), hash64_with_seed(&data[..len], seed), "{len} bytes, seed {seed}");
        let want = hash64_with_secret(&data[..len], secret);
        assert_eq!(Ok(secretive.digest()), want, "{len} bytes, secret of {}", secret.len());
        assert_eq!(want, Ok(xxhash_rust::xxh3::xxh3_64_with_secret(&data[..len], secret)));
    }
}

#[test]
fn words_equal_their_bytes() {
    let data = bytes(8 * 700, 6);
    let words: Vec<u64> = data.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
    for head in [0, 1, 7, 8, 44, 59, 255, 256, 257, 300] {
        for count in (0..140).chain([699, 700]) {
            let head = bytes(head, 7);
            let mut hasher = Xxh3::new();
            hasher.update(&head);
            let (first, rest) = words[..count].split_at(count / 3);
            hasher.update_words(first.iter().copied());
            hasher.update_words(rest.iter().copied());
            assert_eq!(hasher.digest(), hash64(&[&head, &data[..8 * count]].concat()), "{} + {count}", head.len());
        }
    }
}

#[test]
fn clones_go_their_own_ways() {
    let data = bytes(3000, 8);
    let mut hasher = Xxh3::new();
    hasher.update(&data[..1500]);
    let mut other = hasher.clone();
    hasher.update(&data[1500..]);
    other.update(&data[..100]);
    assert_eq!(hasher.digest(), hash64(&data));
    assert_eq!(other.digest(), hash64(&[&data[..1500], &data[..100]].concat()));
}

#[test]
fn short_secrets_are_refused() {
    assert_eq!(Xxh3::with_secret([0; 135]).expect_err("too short"), SecretTooShort { len: 135 });
    assert!(Xxh3::with_secret([0; 136]).is_ok());
    assert_eq!(SecretTooShort { len: 3 }.to_string(), "a secret of 3 bytes, of which XXH3 needs 136");
}

#[test]
fn a_hasher_of_the_standard_library() {
    let mut hasher = Xxh3::default();
    hasher.write(b"batch");
    hasher.write_u8(b'w');
    hasher.write_u16(u16::from_ne_bytes(*b"is"));
    hasher.write(b"e");
    assert_eq!(hasher.finish(), hash64(b"batchwise"));

    let build = BuildXxh3::with_seed(3);
    // As the standard library feeds strings, and integers in the machine's order.
    let fed = [b"batchwise\xff", &9u64.to_ne_bytes()[..]].concat();
    assert_eq!(build.hash_one(("batchwise", 9u64)), hash64_with_seed(&fed, 3));
    assert_ne!(build.hash_one("batchwise"), BuildXxh3::default().hash_one("batchwise"));
    assert_eq!(format!("{:?}", Xxh3::new()), "Xxh3 { len: 0, .. }");
}
