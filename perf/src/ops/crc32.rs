//! CRC-32 (IEEE) of the legacy formats: crc32fast does it for us, so it is "ours" here and measured against crc-fast.

use super::{Slices, hash_all};
use crate::harness::{Case, Plan};

pub(super) fn cases() -> Vec<Plan> {
    [64, 1024, 16 << 10, 1 << 20].into_iter().map(|len| Plan::new("hot", len as u64, move || hot(len))).collect()
}

fn hot(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours("crc32fast", |s| hash_all(s, |d| crc32fast::hash(d).into()))
        .peer("crc-fast", |s| hash_all(s, |d| crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, d)))
}
