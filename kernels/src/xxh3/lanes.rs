//! Products of 16 bytes, two at a time, in the vectors that every x86-64 CPU has.
//!
//! A product in general registers takes the multiplier of Zen 4 and its predecessors for two cycles, which is the bound of
//! inputs of up to 128 bytes, while the vector units have nothing to do. With two of eight products there, begun first,
//! 128 bytes take 6.0 ns and not 6.8; with two more 6.5, with all of them 7.8; begun last 6.2; another two 6.4. 96 bytes gain
//! 5 %, 64 nothing; 129 to 240 gain 10 %, and lose it with two more. Where the lengths are random and each call waits for a
//! branch, the greater number of instructions costs 3 %. A CPU that multiplies once a cycle may have nothing to gain from it;
//! none was at hand.

use core::arch::x86_64::*;

/// The sum of both products, each of the two words of a piece of input that are keyed with a piece of the secret and
/// folded to 64 bits.
#[inline(always)]
pub(super) fn folded_products(data: [&[u8; 16]; 2], keys: [&[u8; 16]; 2], seed: u64) -> u64 {
    // SAFETY: this file is part of builds only in which everything may use SSE2.
    unsafe { with_sse2(data, keys, seed) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn with_sse2(data: [&[u8; 16]; 2], keys: [&[u8; 16]; 2], seed: u64) -> u64 {
    let seeds = _mm_set_epi64x(seed.wrapping_neg() as i64, seed as i64);
    let word = |i: usize| _mm_xor_si128(load(data[i]), _mm_add_epi64(load(keys[i]), seeds));
    let (x, y) = (word(0), word(1));
    let (a, b) = (_mm_unpacklo_epi64(x, y), _mm_unpackhi_epi64(x, y));
    let a_high = opaque(_mm_shuffle_epi32::<0b10_11_00_01>(a));
    let b_high = opaque(_mm_shuffle_epi32::<0b10_11_00_01>(b));
    let lower = _mm_set1_epi64x(0xFFFF_FFFF);
    let low = _mm_mul_epu32(a, b);
    let side = _mm_mul_epu32(a_high, b);
    // No sum overflows: a 32-bit product leaves room for two 32-bit words.
    let cross = _mm_add_epi64(_mm_srli_epi64::<32>(low), _mm_and_si128(side, lower));
    let cross = _mm_add_epi64(_mm_mul_epu32(a, b_high), cross);
    let high = _mm_add_epi64(_mm_mul_epu32(a_high, b_high), _mm_srli_epi64::<32>(side));
    let high = _mm_add_epi64(high, _mm_srli_epi64::<32>(cross));
    let folded = _mm_xor_si128(high, _mm_xor_si128(_mm_slli_epi64::<32>(cross), _mm_and_si128(low, lower)));
    _mm_cvtsi128_si64(_mm_add_epi64(folded, _mm_unpackhi_epi64(folded, folded))) as u64
}

#[target_feature(enable = "sse2")]
#[inline]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array is 16 readable bytes and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The vector itself, of which the compiler knows nothing: it would see 64-bit products in what follows, and take the
/// lanes out for them.
#[target_feature(enable = "sse2")]
#[inline]
fn opaque(mut v: __m128i) -> __m128i {
    #[cfg(not(miri))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(xmm_reg) v, options(pure, nomem, nostack, preserves_flags));
    }
    v
}
