//! Folding by carry-less multiplication on four 512-bit accumulators.

use super::{polynomial::fold_keys, sse42};
use core::arch::x86_64::*;

#[target_feature(enable = "sse4.2,pclmulqdq,avx512f,avx512vl,vpclmulqdq")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (vectors, tail) = data.as_chunks::<64>();
    let (groups, rest) = vectors.as_chunks::<4>();
    let Some((first, groups)) = groups.split_first() else { return sse42::update(crc, data) };
    let seed = _mm512_zextsi128_si512(_mm_cvtsi32_si128(!crc as i32));
    let mut acc = [_mm512_xor_si512(load(&first[0]), seed), load(&first[1]), load(&first[2]), load(&first[3])];
    let far = keys(const { fold_keys(256) });
    for group in groups {
        for (acc, vector) in acc.iter_mut().zip(group) {
            *acc = fold(*acc, far, load(vector));
        }
    }
    let near = keys(const { fold_keys(64) });
    let mut one = fold(fold(fold(acc[0], near, acc[1]), near, acc[2]), near, acc[3]);
    for vector in rest {
        one = fold(one, near, load(vector));
    }
    // The four lanes stand 48, 32, 16 and 0 bytes before the end.
    let mut state = 0;
    for lane in lanes(one) {
        state = _mm_crc32_u64(state, _mm_extract_epi64::<0>(lane) as u64);
        state = _mm_crc32_u64(state, _mm_extract_epi64::<1>(lane) as u64);
    }
    !sse42::chain(state, tail)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn keys([low, high]: [u64; 2]) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x(high as i64, low as i64))
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
fn fold(acc: __m512i, keys: __m512i, next: __m512i) -> __m512i {
    let low = _mm512_clmulepi64_epi128::<0x00>(acc, keys);
    let high = _mm512_clmulepi64_epi128::<0x11>(acc, keys);
    _mm512_ternarylogic_epi64::<0x96>(low, high, next)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn lanes(v: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(v),
        _mm512_extracti32x4_epi32::<1>(v),
        _mm512_extracti32x4_epi32::<2>(v),
        _mm512_extracti32x4_epi32::<3>(v),
    ]
}
