//! SSE4.2 with PCLMULQDQ: three chains beside four 128-bit accumulators; and arithmetic on finished CRCs.

use super::digits::{DIGITS, digits};
use super::fused::{self, Verbs};
use super::sse42;
use core::arch::x86_64::*;

#[target_feature(enable = "sse4.2,pclmulqdq")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (state, rest) = fused::blocks::<16, 3, 3, _>(
        !crc,
        data,
        &Verbs {
            load: |bytes: &[u8; 16]| load(bytes),
            keys: |[low, high]: [u64; 2]| _mm_set_epi64x(high as i64, low as i64),
            fold: |sum, keys, next| {
                let low = _mm_clmulepi64_si128::<0x00>(sum, keys);
                let high = _mm_clmulepi64_si128::<0x11>(sum, keys);
                _mm_xor_si128(_mm_xor_si128(low, high), next)
            },
            add: |sum, word| _mm_xor_si128(sum, _mm_set_epi64x(word as i64, 0)),
            multiply: |a, b| multiply(a, b),
            crc: |state: u64, word| _mm_crc32_u64(state, word),
        },
        |sum| {
            let mut out = [0; 16];
            // SAFETY: the array is 16 writable bytes and the store needs no alignment.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sum) };
            out
        },
    );
    sse42::update(!state, rest)
}

#[target_feature(enable = "sse4.2,pclmulqdq")]
pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    super::blocks::copy(dst, src, |crc, data| update(crc, data))
}

#[target_feature(enable = "sse4.2,pclmulqdq")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    super::blocks::many(frames, crcs, |data| update(0, data));
}

#[target_feature(enable = "sse2")]
#[inline]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array is 16 readable bytes and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Carry-less product.
#[target_feature(enable = "pclmulqdq,sse2")]
#[inline]
pub(super) fn multiply(a: u32, b: u32) -> u64 {
    let product = _mm_clmulepi64_si128::<0x00>(_mm_cvtsi32_si128(a as i32), _mm_cvtsi32_si128(b as i32));
    _mm_cvtsi128_si64(product) as u64
}

/// `a * b * x^33 mod P`.
#[target_feature(enable = "sse4.2,pclmulqdq")]
#[inline]
fn times(a: u32, b: u32) -> u32 {
    _mm_crc32_u64(0, multiply(a, b)) as u32
}

#[target_feature(enable = "sse4.2,pclmulqdq")]
pub(super) fn advance(residue: u32, len: u64) -> u32 {
    let [a, b, c, d] = digits(len);
    if b | c | d == 0 {
        return times(residue, DIGITS[0][a]);
    }
    // Two and two at once: three products in a row instead of four.
    times(residue, times(times(DIGITS[0][a], DIGITS[1][b]), times(DIGITS[2][c], DIGITS[3][d])))
}

#[target_feature(enable = "sse4.2,pclmulqdq")]
pub(super) fn patch(crc: u32, old: &[u8], new: &[u8], tail_len: u64) -> u32 {
    assert_eq!(old.len(), new.len(), "a patch has one length");
    // The initial values cancel, so the register starts from 0, and the odd bytes may come first.
    let (odd_old, old) = old.as_rchunks::<8>();
    let (odd_new, new) = new.as_rchunks::<8>();
    let odd = odd_old.iter().zip(odd_new).fold(0, |state, (a, b)| _mm_crc32_u8(state, a ^ b));
    let state = old
        .iter()
        .zip(new)
        .fold(u64::from(odd), |state, (a, b)| _mm_crc32_u64(state, u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)));
    crc ^ advance(state as u32, tail_len)
}
