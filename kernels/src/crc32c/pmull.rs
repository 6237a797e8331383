//! aarch64 with PMULL: three chains of `crc32c` beside six 128-bit accumulators; and arithmetic on finished CRCs.

use super::armcrc;
use super::fused::{self, Verbs};
use core::arch::aarch64::*;

#[target_feature(enable = "neon,crc,aes")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (state, rest) = fused::blocks::<16, 3, 6, _>(
        !crc,
        data,
        &Verbs {
            load: |bytes: &[u8; 16]| load(bytes),
            keys: |pair| keys(pair),
            fold: |sum, keys, next| {
                let (low, high) = products(sum, keys);
                veorq_u64(veorq_u64(low, high), next)
            },
            add: |sum, word| add(sum, word),
            multiply: |a, b| multiply(a, b),
            crc: |state: u64, word| __crc32cd(state as u32, word).into(),
        },
        |sum| store(sum),
    );
    armcrc::update(!state, rest)
}

#[target_feature(enable = "neon")]
#[inline]
pub(super) fn load(bytes: &[u8; 16]) -> uint64x2_t {
    // SAFETY: the array is 16 readable bytes and the load needs no alignment.
    vreinterpretq_u64_u8(unsafe { vld1q_u8(bytes.as_ptr()) })
}

#[target_feature(enable = "neon")]
#[inline]
pub(super) fn store(sum: uint64x2_t) -> [u8; 16] {
    let mut out = [0; 16];
    // SAFETY: the array is 16 writable bytes and the store needs no alignment.
    unsafe { vst1q_u8(out.as_mut_ptr(), vreinterpretq_u8_u64(sum)) };
    out
}

#[target_feature(enable = "neon")]
#[inline]
pub(super) fn keys([low, high]: [u64; 2]) -> uint64x2_t {
    vcombine_u64(vcreate_u64(low), vcreate_u64(high))
}

#[target_feature(enable = "neon")]
#[inline]
pub(super) fn add(sum: uint64x2_t, word: u64) -> uint64x2_t {
    veorq_u64(sum, keys([0, word]))
}

/// The products of the low halves and of the high halves.
#[target_feature(enable = "neon,aes")]
#[inline]
pub(super) fn products(sum: uint64x2_t, keys: uint64x2_t) -> (uint64x2_t, uint64x2_t) {
    let (sum, keys) = (vreinterpretq_p64_u64(sum), vreinterpretq_p64_u64(keys));
    let low = vmull_p64(vgetq_lane_p64::<0>(sum), vgetq_lane_p64::<0>(keys));
    let high = vmull_high_p64(sum, keys);
    (vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(high))
}

/// Carry-less product.
#[target_feature(enable = "neon,aes")]
#[inline]
pub(super) fn multiply(a: u32, b: u32) -> u64 {
    vmull_p64(a.into(), b.into()) as u64
}

#[target_feature(enable = "neon,crc,aes")]
pub(super) fn advance(residue: u32, len: u64) -> u32 {
    armcrc::advance(residue, len, |a, b| multiply(a, b))
}

#[target_feature(enable = "neon,crc,aes")]
pub(super) fn patch(crc: u32, old: &[u8], new: &[u8], tail_len: u64) -> u32 {
    crc ^ advance(armcrc::difference(old, new), tail_len)
}

#[target_feature(enable = "neon,crc,aes")]
pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    assert_eq!(dst.len(), src.len(), "a copy has one length");
    dst.copy_from_slice(src);
    update(0, src)
}

#[target_feature(enable = "neon,crc,aes")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    assert_eq!(frames.len(), crcs.len(), "one CRC for each frame");
    for (frame, crc) in frames.iter().zip(crcs) {
        *crc = update(0, frame);
    }
}
