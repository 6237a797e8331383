//! aarch64 with PMULL and the three-way XOR of the SHA-3 extension: folding in three instructions instead of four.

use super::fused::{self, Verbs};
use super::{armcrc, pmull};
use core::arch::aarch64::*;

#[target_feature(enable = "neon,crc,aes,sha3")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (state, rest) = fused::blocks::<16, 3, 6, _>(
        !crc,
        data,
        &Verbs {
            load: |bytes: &[u8; 16]| pmull::load(bytes),
            keys: |pair| pmull::keys(pair),
            fold: |sum, keys, next| {
                let (low, high) = pmull::products(sum, keys);
                veor3q_u64(low, high, next)
            },
            add: |sum, word| pmull::add(sum, word),
            multiply: |a, b| pmull::multiply(a, b),
            crc: |state: u64, word| __crc32cd(state as u32, word).into(),
        },
        |sum| pmull::store(sum),
    );
    armcrc::update(!state, rest)
}
