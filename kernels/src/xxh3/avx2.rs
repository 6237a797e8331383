//! Two 256-bit vectors to a stripe.

use super::batch::{self, InBuffer};
use super::long::{self, Any, INITIAL, Keys, Lanes, STRIPE};
use super::primes::PRIME32_1;
use super::{secret, short};
use core::arch::x86_64::*;
use core::ops::Range;

type Acc = [__m256i; 2];
/// Sum of the products, and plain sum of the words.
type Sums = (Acc, Acc);

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn oneshot(data: &[u8], seed: u64) -> u64 {
    match (data.len(), seed) {
        (..=short::MAX, _) => short::hash(data, seed, secret::SHORT),
        (_, 0) => whole(data, &long::DEFAULT),
        _ => whole(data, &Any::new(&secret::seeded(seed))),
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn consume(lanes: &mut Lanes, position: usize, stripes: &[[u8; STRIPE]], secret: &[u8]) -> usize {
    let (acc, position) = run(from_lanes(lanes), position, stripes, &Any::new(secret));
    *lanes = to_lanes(acc);
    position
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn many(frames: &[&[u8]], hashes: &mut [u64]) {
    batch::in_order(&frames, hashes, |frame| whole(frame, &long::DEFAULT));
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) {
    batch::in_order(&InBuffer { buffer, ranges }, hashes, |frame| whole(frame, &long::DEFAULT));
}

#[target_feature(enable = "avx2")]
#[inline]
fn whole(data: &[u8], keys: &impl Keys) -> u64 {
    let (stripes, last) = long::split(data);
    let (acc, _) = run(from_lanes(&INITIAL), 0, stripes, keys);
    let acc = add(acc, stripe(zero(), last, keys.last()));
    long::merge(&to_lanes(acc), data.len() as u64, keys.merge())
}

#[target_feature(enable = "avx2")]
#[inline]
fn run(acc: Acc, position: usize, stripes: &[[u8; STRIPE]], keys: &impl Keys) -> (Acc, usize) {
    // Closures take on the features of this function; the functions themselves are not `Fn`.
    let stripe = |sums: Sums, s: &[u8; STRIPE], k: &[u8; STRIPE]| stripe(sums, s, k);
    let add = |acc: Acc, sums: Sums| add(acc, sums);
    let scramble = |acc: Acc, k: &[u8; STRIPE]| scramble(acc, k);
    long::consume(acc, position, stripes, keys, zero(), stripe, add, scramble)
}

#[target_feature(enable = "avx2")]
#[inline]
fn zero() -> Sums {
    let zero = _mm256_setzero_si256();
    ([zero; 2], [zero; 2])
}

#[target_feature(enable = "avx2")]
#[inline]
fn stripe((mut products, mut words): Sums, stripe: &[u8; STRIPE], key: &[u8; STRIPE]) -> Sums {
    let (stripe, key) = (load(stripe), load(key));
    for i in 0..2 {
        let value = _mm256_xor_si256(stripe[i], key[i]);
        let product = _mm256_mul_epu32(value, _mm256_srli_epi64::<32>(value));
        products[i] = _mm256_add_epi64(products[i], product);
        words[i] = _mm256_add_epi64(words[i], stripe[i]);
    }
    (products, words)
}

#[target_feature(enable = "avx2")]
#[inline]
fn add(acc: Acc, (products, words): Sums) -> Acc {
    core::array::from_fn(|i| {
        let neighbours = _mm256_shuffle_epi32::<0b01_00_11_10>(words[i]);
        _mm256_add_epi64(acc[i], _mm256_add_epi64(products[i], neighbours))
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn scramble(acc: Acc, key: &[u8; STRIPE]) -> Acc {
    let key = load(key);
    let prime = _mm256_set1_epi64x(PRIME32_1 as i64);
    core::array::from_fn(|i| {
        let mixed = _mm256_xor_si256(_mm256_xor_si256(acc[i], _mm256_srli_epi64::<47>(acc[i])), key[i]);
        let low = _mm256_mul_epu32(mixed, prime);
        let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(mixed), prime);
        _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high))
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; STRIPE]) -> Acc {
    let (halves, _) = bytes.as_chunks::<32>();
    core::array::from_fn(|i| {
        // SAFETY: a half is 32 readable bytes and the load needs no alignment.
        unsafe { _mm256_loadu_si256(halves[i].as_ptr().cast()) }
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn from_lanes(lanes: &Lanes) -> Acc {
    let (halves, _) = lanes.as_chunks::<4>();
    core::array::from_fn(|i| {
        // SAFETY: a half is 32 readable bytes and the load needs no alignment.
        unsafe { _mm256_loadu_si256(halves[i].as_ptr().cast()) }
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn to_lanes(acc: Acc) -> Lanes {
    let mut lanes = [0; 8];
    let (halves, _) = lanes.as_chunks_mut::<4>();
    for (half, v) in halves.iter_mut().zip(acc) {
        // SAFETY: a half is 32 writable bytes and the store needs no alignment.
        unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), v) };
    }
    lanes
}
