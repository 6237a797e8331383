//! CRC-32C against crc32c and crc-fast.

use super::{Slices, hash_all, kernel};
use crate::harness::{Case, Plan};
use batchwise::crc32c;

pub(super) fn cases() -> Vec<Plan> {
    [16, 64, 128, 256, 300, 512, 1024, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20]
        .into_iter()
        .map(|len| Plan::new("hot", len as u64, move || hot(len)))
        .collect()
}

fn hot(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("crc32c::update"), |s| hash_all(s, |d| crc32c::crc32c(d).into()))
        .peer("crc32c", |s| hash_all(s, |d| ::crc32c::crc32c(d).into()))
        .peer("crc-fast", |s| hash_all(s, |d| crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, d)))
}
