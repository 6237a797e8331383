//! What a call through the C interface costs over the same call in Rust.

use super::{Slices, hash_all, kernel};
use crate::harness::{Case, Plan};
use batchwise::{crc32c, xxh3};
use batchwise_capi::outside;

pub(super) fn cases() -> Vec<Plan> {
    let crc = [16, 64, 1024].map(|len| Plan::new("crc32c", len as u64, move || crc32c(len)));
    let hash = [16, 64, 1024].map(|len| Plan::new("xxh3", len as u64, move || xxh3(len)));
    crc.into_iter().chain(hash).collect()
}

fn crc32c(len: usize) -> Case<Slices> {
    let from_c = outside::Crc32c::default();
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("crc32c::update"), move |s| hash_all(s, |d| from_c.call(d).into()))
        .peer("rust", |s| hash_all(s, |d| crc32c::crc32c(d).into()))
}

fn xxh3(len: usize) -> Case<Slices> {
    let from_c = outside::Xxh3Hash::default();
    let slices = Slices::new(len);
    let count = slices.count();
    Case::new(slices, count, Slices::refresh)
        .ours(kernel("xxh3::oneshot"), move |s| hash_all(s, |d| from_c.call(d, 0)))
        .peer("rust", |s| hash_all(s, |d| xxh3::hash64_with_seed(d, 0)))
}
