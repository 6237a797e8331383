//! XXH3-64 in plain Rust: the scalar baseline.

use super::batch::{self, InBuffer};
use super::long::{self, Any, INITIAL, Keys, Lanes, STRIPE};
use super::primes::PRIME32_1;
use super::short::u64_at;
use super::{secret, short};
use core::ops::Range;

pub(super) fn oneshot(data: &[u8], seed: u64) -> u64 {
    match (data.len(), seed) {
        (..=short::MAX, _) => short::hash(data, seed, secret::SHORT),
        (_, 0) => whole(data, &long::DEFAULT),
        _ => whole(data, &Any::new(&secret::seeded(seed))),
    }
}

pub(super) fn consume(acc: &mut Lanes, position: usize, stripes: &[[u8; STRIPE]], secret: &[u8]) -> usize {
    let position_after;
    (*acc, position_after) = run(*acc, position, stripes, &Any::new(secret));
    position_after
}

pub(super) fn many(frames: &[&[u8]], hashes: &mut [u64]) {
    batch::in_order(&frames, hashes, |frame| whole(frame, &long::DEFAULT));
}

pub(super) fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) {
    batch::in_order(&InBuffer { buffer, ranges }, hashes, |frame| whole(frame, &long::DEFAULT));
}

fn whole(data: &[u8], keys: &impl Keys) -> u64 {
    let (stripes, last) = long::split(data);
    let (acc, _) = run(INITIAL, 0, stripes, keys);
    long::merge(&stripe(acc, last, keys.last()), data.len() as u64, keys.merge())
}

#[inline(always)]
fn run(acc: Lanes, position: usize, stripes: &[[u8; STRIPE]], keys: &impl Keys) -> (Lanes, usize) {
    let add = |acc: Lanes, sums: Lanes| core::array::from_fn(|i| acc[i].wrapping_add(sums[i]));
    long::consume(acc, position, stripes, keys, [0; 8], stripe, add, scramble)
}

/// Adds the products of a stripe, and its words to the neighbours of their own lanes.
#[inline(always)]
pub(super) fn stripe(mut acc: Lanes, stripe: &[u8; STRIPE], key: &[u8; STRIPE]) -> Lanes {
    for i in 0..8 {
        let data = u64_at(stripe, 8 * i);
        let value = data ^ u64_at(key, 8 * i);
        acc[i ^ 1] = acc[i ^ 1].wrapping_add(data);
        acc[i] = acc[i].wrapping_add((value & 0xFFFF_FFFF).wrapping_mul(value >> 32));
    }
    acc
}

#[inline(always)]
fn scramble(mut acc: Lanes, key: &[u8; STRIPE]) -> Lanes {
    for (i, a) in acc.iter_mut().enumerate() {
        *a = (*a ^ *a >> 47 ^ u64_at(key, 8 * i)).wrapping_mul(PRIME32_1);
    }
    acc
}
