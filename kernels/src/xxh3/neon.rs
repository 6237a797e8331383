//! Four 128-bit vectors to a stripe, two of them at a time.

use super::batch::{self, InBuffer};
use super::long::{self, Any, INITIAL, Keys, Lanes, STRIPE};
use super::primes::PRIME32_1;
use super::{secret, short};
use core::arch::aarch64::*;
use core::ops::Range;

type Acc = [uint64x2_t; 4];
/// Sum of the products, and plain sum of the words.
type Sums = (Acc, Acc);

#[target_feature(enable = "neon")]
pub(super) fn oneshot(data: &[u8], seed: u64) -> u64 {
    match (data.len(), seed) {
        (..=short::MAX, _) => short::hash(data, seed, secret::SHORT),
        (_, 0) => whole(data, &long::DEFAULT),
        _ => whole(data, &Any::new(&secret::seeded(seed))),
    }
}

#[target_feature(enable = "neon")]
pub(super) fn consume(lanes: &mut Lanes, position: usize, stripes: &[[u8; STRIPE]], secret: &[u8]) -> usize {
    let (acc, position) = run(from_lanes(lanes), position, stripes, &Any::new(secret));
    *lanes = to_lanes(acc);
    position
}

#[target_feature(enable = "neon")]
pub(super) fn many(frames: &[&[u8]], hashes: &mut [u64]) {
    batch::in_order(&frames, hashes, |frame| whole(frame, &long::DEFAULT));
}

#[target_feature(enable = "neon")]
pub(super) fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) {
    batch::in_order(&InBuffer { buffer, ranges }, hashes, |frame| whole(frame, &long::DEFAULT));
}

#[target_feature(enable = "neon")]
#[inline]
fn whole(data: &[u8], keys: &impl Keys) -> u64 {
    let (stripes, last) = long::split(data);
    let (acc, _) = run(from_lanes(&INITIAL), 0, stripes, keys);
    let acc = add(acc, stripe(zero(), last, keys.last()));
    long::merge(&to_lanes(acc), data.len() as u64, keys.merge())
}

#[target_feature(enable = "neon")]
#[inline]
fn run(acc: Acc, position: usize, stripes: &[[u8; STRIPE]], keys: &impl Keys) -> (Acc, usize) {
    // Closures take on the features of this function; the functions themselves are not `Fn`.
    let stripe = |sums: Sums, s: &[u8; STRIPE], k: &[u8; STRIPE]| stripe(sums, s, k);
    let add = |acc: Acc, sums: Sums| add(acc, sums);
    let scramble = |acc: Acc, k: &[u8; STRIPE]| scramble(acc, k);
    long::consume(acc, position, stripes, keys, zero(), stripe, add, scramble)
}

#[target_feature(enable = "neon")]
#[inline]
fn zero() -> Sums {
    let zero = vdupq_n_u64(0);
    ([zero; 4], [zero; 4])
}

#[target_feature(enable = "neon")]
#[inline]
fn stripe((mut products, mut words): Sums, stripe: &[u8; STRIPE], key: &[u8; STRIPE]) -> Sums {
    let (stripe, key) = (load(stripe), load(key));
    for i in [0, 2] {
        let first = vreinterpretq_u32_u64(veorq_u64(stripe[i], key[i]));
        let second = vreinterpretq_u32_u64(veorq_u64(stripe[i + 1], key[i + 1]));
        // The halves of four words apart, so that both multiply-and-add without another instruction.
        let (low, high) = (vuzp1q_u32(first, second), vuzp2q_u32(first, second));
        products[i] = vmlal_u32(products[i], vget_low_u32(low), vget_low_u32(high));
        products[i + 1] = vmlal_high_u32(products[i + 1], low, high);
        words[i] = vaddq_u64(words[i], stripe[i]);
        words[i + 1] = vaddq_u64(words[i + 1], stripe[i + 1]);
    }
    (products, words)
}

#[target_feature(enable = "neon")]
#[inline]
fn add(mut acc: Acc, (products, words): Sums) -> Acc {
    for i in 0..4 {
        let neighbours = vextq_u64::<1>(words[i], words[i]);
        acc[i] = vaddq_u64(acc[i], vaddq_u64(products[i], neighbours));
    }
    acc
}

#[target_feature(enable = "neon")]
#[inline]
fn scramble(mut acc: Acc, key: &[u8; STRIPE]) -> Acc {
    let key = load(key);
    let prime = vdup_n_u32(PRIME32_1 as u32);
    for i in 0..4 {
        let mixed = veorq_u64(veorq_u64(acc[i], vshrq_n_u64::<47>(acc[i])), key[i]);
        let high = vshlq_n_u64::<32>(vmull_u32(vshrn_n_u64::<32>(mixed), prime));
        acc[i] = vmlal_u32(high, vmovn_u64(mixed), prime);
    }
    acc
}

#[target_feature(enable = "neon")]
#[inline]
fn load(bytes: &[u8; STRIPE]) -> Acc {
    let (quarters, _) = bytes.as_chunks::<16>();
    let mut out = [vdupq_n_u64(0); 4];
    for (out, quarter) in out.iter_mut().zip(quarters) {
        // SAFETY: a quarter is 16 readable bytes and the load needs no alignment.
        *out = vreinterpretq_u64_u8(unsafe { vld1q_u8(quarter.as_ptr()) });
    }
    out
}

#[target_feature(enable = "neon")]
#[inline]
fn from_lanes(lanes: &Lanes) -> Acc {
    let (quarters, _) = lanes.as_chunks::<2>();
    let mut out = [vdupq_n_u64(0); 4];
    for (out, quarter) in out.iter_mut().zip(quarters) {
        // SAFETY: a quarter is 16 readable bytes and the load needs no alignment.
        *out = unsafe { vld1q_u64(quarter.as_ptr()) };
    }
    out
}

#[target_feature(enable = "neon")]
#[inline]
fn to_lanes(acc: Acc) -> Lanes {
    let mut lanes = [0; 8];
    let (quarters, _) = lanes.as_chunks_mut::<2>();
    for (quarter, v) in quarters.iter_mut().zip(acc) {
        // SAFETY: a quarter is 16 writable bytes and the store needs no alignment.
        unsafe { vst1q_u64(quarter.as_mut_ptr(), v) };
    }
    lanes
}
