//! XXH3-64 against twox-hash, xxhash-rust and the C library.

use super::{Slices, hash_all, kernel};
use crate::harness::{Case, Plan};
use batchwise::xxh3;

pub(super) fn cases() -> Vec<Plan> {
    [16, 40, 100, 128, 200, 240, 241, 512, 1024, 4096, 16 << 10, 256 << 10]
        .into_iter()
        .map(|len| Plan::new("hot", len as u64, move || hot(len)))
        .collect()
}

fn hot(len: usize) -> Case<Slices> {
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("xxh3::oneshot"), |s| hash_all(s, xxh3::hash64))
        .peer("twox-hash", |s| hash_all(s, twox_hash::XxHash3_64::oneshot))
        .peer("xxhash-c-sys", |s| hash_all(s, xxhash_c::xxh3_64))
        .peer_and_native("xxhash-rust", |s: &mut Slices| hash_all(s, xxhash_rust::xxh3::xxh3_64))
}
