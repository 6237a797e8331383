//! CRC-32C of whole slices against crc32c and crc-fast.

use super::{Slices, crc32c_more, hash_all, hash_in_turn, kernel};
use crate::harness::{Case, Plan, Rng};
use batchwise::crc32c;
use crc_fast::CrcAlgorithm::Crc32Iscsi;

pub(super) fn cases() -> Vec<Plan> {
    let sizes = [16, 64, 128, 256, 300, 512, 1024, 2048, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
    let mut plans: Vec<Plan> = sizes.into_iter().map(|len| Plan::new("hot", len as u64, move || hot(len))).collect();
    plans.extend([16, 64, 256, 1024].map(|len| Plan::new("latency", len as u64, move || latency(len))));
    plans.push(Plan::new("mixed", 520, mixed));
    plans.extend([16 << 10, COLD].map(|len| Plan::new("cold", len as u64, move || cold(len))));
    plans.extend([64, 128, 256, 512].map(|len| Plan::new("many", len as u64, move || many(len..=len))));
    plans.push(Plan::new("many", 288, || many(64..=512)));
    plans.extend(crc32c_more::cases());
    plans
}

fn hot(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("crc32c::update"), |s| hash_all(s, |d| crc32c::crc32c(d).into()))
        .peer_and_native("crc32c", |s: &mut Slices| hash_all(s, |d| ::crc32c::crc32c(d).into()))
        .peer_and_native("crc-fast", |s: &mut Slices| hash_all(s, |d| crc_fast::checksum(Crc32Iscsi, d)))
}

/// From one call to the next that waits for it.
fn latency(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("crc32c::update"), |s| hash_in_turn(s, |d| crc32c::crc32c(d).into()))
        .peer_and_native("crc32c", |s: &mut Slices| hash_in_turn(s, |d| ::crc32c::crc32c(d).into()))
        .peer_and_native("crc-fast", |s: &mut Slices| hash_in_turn(s, |d| crc_fast::checksum(Crc32Iscsi, d)))
}

/// Slices of random lengths in a buffer that stays in the first-level cache.
struct Lengths {
    buffer: Vec<u8>,
    ranges: Vec<std::ops::Range<usize>>,
    lengths: std::ops::RangeInclusive<usize>,
}

impl Lengths {
    fn new(count: usize, lengths: std::ops::RangeInclusive<usize>) -> Self {
        Lengths { buffer: vec![0; (16 << 10) + lengths.end()], ranges: vec![0..0; count], lengths }
    }

    fn refresh(&mut self, rng: &mut Rng) {
        rng.fill(&mut self.buffer);
        let (least, most) = (*self.lengths.start(), *self.lengths.end());
        for range in &mut self.ranges {
            let len = least + rng.below(most - least + 1);
            let start = rng.below(self.buffer.len() - len + 1);
            *range = start..start + len;
        }
    }

    fn hash_all(&self, hash: impl Fn(&[u8]) -> u64) -> u64 {
        self.ranges.iter().fold(0, |sum, r| sum.wrapping_add(hash(&self.buffer[r.clone()])))
    }
}

/// Lengths that no predictor can know; 520 is their mean.
fn mixed() -> Case<Lengths> {
    const COUNT: usize = 512;
    Case::new(Lengths::new(COUNT, 16..=1024), COUNT, Lengths::refresh)
        .ours(kernel("crc32c::update"), |l| l.hash_all(|d| crc32c::crc32c(d).into()))
        .peer("crc32c", |l| l.hash_all(|d| ::crc32c::crc32c(d).into()))
        .peer("crc-fast", |l| l.hash_all(|d| crc_fast::checksum(Crc32Iscsi, d)))
}

/// Bytes that are read once and come from memory; no cache holds a relevant part.
const COLD: usize = 512 << 20;

fn cold(len: usize) -> Case<Vec<u8>> {
    let mut buffer = vec![0; COLD];
    Rng::new(7).fill(&mut buffer);
    fn sum(buffer: &[u8], len: usize, hash: impl Fn(&[u8]) -> u64) -> u64 {
        buffer.chunks(len).fold(0, |sum, d| sum.wrapping_add(hash(d)))
    }
    // Other bytes in each round, without the time to write them all.
    let touch = |buffer: &mut Vec<u8>, rng: &mut Rng| rng.fill(&mut buffer[..64]);
    Case::new(buffer, COLD / len, touch)
        .ours(kernel("crc32c::update"), move |b| sum(b, len, |d| crc32c::crc32c(d).into()))
        .peer("crc32c", move |b| sum(b, len, |d| ::crc32c::crc32c(d).into()))
        .peer("crc-fast", move |b| sum(b, len, |d| crc_fast::checksum(Crc32Iscsi, d)))
}

/// Independent frames in one call, against a loop of calls; 288 is the mean of the mixed lengths.
fn many(lengths: std::ops::RangeInclusive<usize>) -> Case<Lengths> {
    const COUNT: usize = 512;
    let mut crcs = vec![0; COUNT];
    Case::new(Lengths::new(COUNT, lengths), COUNT, Lengths::refresh)
        .ours(kernel("crc32c::many"), move |l| {
            let frames: Vec<&[u8]> = l.ranges.iter().map(|r| &l.buffer[r.clone()]).collect();
            crc32c::many(&frames, &mut crcs);
            crcs.iter().fold(0, |sum, &c| sum.wrapping_add(c.into()))
        })
        .peer("crc32c", |l| l.hash_all(|d| ::crc32c::crc32c(d).into()))
        .peer("crc-fast", |l| l.hash_all(|d| crc_fast::checksum(Crc32Iscsi, d)))
        .peer("crc32c::update", |l| l.hash_all(|d| crc32c::crc32c(d).into()))
}
