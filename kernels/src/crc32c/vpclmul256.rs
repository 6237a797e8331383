//! AVX2 with VPCLMULQDQ, for CPUs that have it without AVX-512: three chains beside four 256-bit accumulators.

use super::fused::{self, Verbs};
use super::{pclmul, sse42};
use core::arch::x86_64::*;

#[target_feature(enable = "sse4.2,pclmulqdq,avx2,vpclmulqdq")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (state, rest) = fused::blocks::<32, 4, 4, _>(
        !crc,
        data,
        &Verbs {
            load: |bytes: &[u8; 32]| load(bytes),
            keys: |[low, high]: [u64; 2]| _mm256_broadcastsi128_si256(_mm_set_epi64x(high as i64, low as i64)),
            fold: |sum, keys, next| {
                let low = _mm256_clmulepi64_epi128::<0x00>(sum, keys);
                let high = _mm256_clmulepi64_epi128::<0x11>(sum, keys);
                _mm256_xor_si256(_mm256_xor_si256(low, high), next)
            },
            add: |sum, word| _mm256_xor_si256(sum, _mm256_set_epi64x(word as i64, 0, 0, 0)),
            multiply: |a, b| pclmul::multiply(a, b),
            crc: |state: u64, word| _mm_crc32_u64(state, word),
        },
        |sum| {
            let mut out = [0; 32];
            // SAFETY: the array is 32 writable bytes and the store needs no alignment.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum) };
            out
        },
    );
    sse42::update(!state, rest)
}

#[target_feature(enable = "sse4.2,pclmulqdq,avx2,vpclmulqdq")]
pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    super::blocks::copy(dst, src, |crc, data| update(crc, data))
}

#[target_feature(enable = "sse4.2,pclmulqdq,avx2,vpclmulqdq")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    super::blocks::many(frames, crcs, |data| update(0, data));
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array is 32 readable bytes and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}
