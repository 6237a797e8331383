//! XXH3-64 against twox-hash, xxhash-rust and the C library.

use super::{Slices, hash_all, hash_in_turn, kernel};
use crate::harness::{Case, Plan, Rng};
use batchwise::xxh3;
use std::ops::{Range, RangeInclusive};

pub(super) fn cases() -> Vec<Plan> {
    let short = [4, 8, 16, 32, 40, 64, 96, 100, 128, 129, 144, 160, 176, 200, 224, 240];
    let long = [241, 512, 1024, 1040, 2048, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
    let hot = short.into_iter().chain(long).map(|len| Plan::new("hot", len as u64, move || hot(len)));
    let latency = [16, 64, 256, 1024].map(|len| Plan::new("latency", len as u64, move || latency(len)));
    let mixed = [1..=16, 17..=40, 17..=128, 129..=240, 241..=1040]
        .map(|lens| Plan::new("mixed", *lens.end() as u64, move || mixed(lens.clone())));
    let many = [17..=128, 129..=240, 241..=1040, 40..=1000, 16 << 10..=16 << 10]
        .map(|lens| Plan::new("many", *lens.end() as u64, move || many(lens.clone())));
    hot.chain(latency).chain(mixed).chain(many).chain(super::admission::cases()).collect()
}

fn hot(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("xxh3::oneshot"), |s| hash_all(s, xxh3::hash64))
        .peer_and_native("twox-hash", |s: &mut Slices| hash_all(s, twox_hash::XxHash3_64::oneshot))
        .peer("xxhash-c-sys", |s| hash_all(s, xxhash_c::xxh3_64))
        .peer_and_native("xxhash-rust", |s: &mut Slices| hash_all(s, xxhash_rust::xxh3::xxh3_64))
}

/// From one call to the next that waits for it.
fn latency(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("xxh3::oneshot"), |s| hash_in_turn(s, xxh3::hash64))
        .peer_and_native("twox-hash", |s: &mut Slices| hash_in_turn(s, twox_hash::XxHash3_64::oneshot))
        .peer("xxhash-c-sys", |s| hash_in_turn(s, xxhash_c::xxh3_64))
        .peer_and_native("xxhash-rust", |s: &mut Slices| hash_in_turn(s, xxhash_rust::xxh3::xxh3_64))
}

/// Frames back to back, their lengths fresh in each round.
struct Frames {
    lens: RangeInclusive<usize>,
    buffer: Vec<u8>,
    ranges: Vec<Range<usize>>,
    hashes: Vec<u64>,
}

impl Frames {
    /// As many frames as make about 64 KiB, at least eight.
    fn new(lens: RangeInclusive<usize>) -> Self {
        let count = (64 * 1024 * 2 / (lens.start() + lens.end())).clamp(8, 2048);
        Frames { lens, buffer: Vec::new(), ranges: vec![0..0; count], hashes: vec![0; count] }
    }

    fn count(&self) -> usize {
        self.ranges.len()
    }

    fn refresh(&mut self, rng: &mut Rng) {
        let mut at = 0;
        for range in &mut self.ranges {
            let len = self.lens.start() + rng.below(self.lens.end() - self.lens.start() + 1);
            *range = at..at + len;
            at += len;
        }
        self.buffer.resize(at, 0);
        rng.fill(&mut self.buffer);
    }

    /// A digest of the hashes by a function called for one frame after another.
    fn one_by_one(&mut self, hash: impl Fn(&[u8]) -> u64) -> u64 {
        for (range, out) in self.ranges.iter().zip(&mut self.hashes) {
            *out = hash(&self.buffer[range.clone()]);
        }
        self.digest()
    }

    fn digest(&self) -> u64 {
        self.hashes.iter().zip(0u64..).fold(0, |sum, (h, i)| sum.wrapping_add(h.wrapping_mul(2 * i + 1)))
    }
}

fn mixed(lens: RangeInclusive<usize>) -> Case<Frames> {
    let frames = Frames::new(lens);
    let count = frames.count();
    peers(Case::new(frames, count, Frames::refresh).ours(kernel("xxh3::oneshot"), |f| f.one_by_one(xxh3::hash64)))
}

fn many(lens: RangeInclusive<usize>) -> Case<Frames> {
    let frames = Frames::new(lens);
    let count = frames.count();
    peers(Case::new(frames, count, Frames::refresh).ours(kernel("xxh3::many_ranges"), |f| {
        xxh3::many_ranges(&f.buffer, &f.ranges, &mut f.hashes);
        f.digest()
    }))
}

fn peers(case: Case<Frames>) -> Case<Frames> {
    case.peer("twox-hash", |f| f.one_by_one(twox_hash::XxHash3_64::oneshot))
        .peer("xxhash-c-sys", |f| f.one_by_one(xxhash_c::xxh3_64))
        .peer_and_native("xxhash-rust", |f: &mut Frames| f.one_by_one(xxhash_rust::xxh3::xxh3_64))
}
