//! Folding with AVX-512: odd bytes first, one multiplication for each vector, one reduction.
//!
//! Zeros before the data do not change a register that starts at 0, so the first vector is loaded with its bytes to the
//! right and zeros to their left, by a mask; whole vectors follow and there is no tail. Every 128-bit lane has its own
//! distance from the end and with it its own pair of factors, so that all products simply add up. The initial value is
//! multiplied to where the first lane stands and added there.

use super::polynomial::{fold_keys, x_to_the};
use super::tiny;
use core::arch::x86_64::*;

/// What is folded at a time, one vector of it.
pub(super) type Line = [u8; 64];

/// Distances from the end of the data, in lines, whose lanes have their own factors here.
pub(super) const MOST_LINES: usize = 16;
const LANES: usize = 4 * MOST_LINES;

/// The factors that carry a lane to the end of the data, by falling distance; the last lane's distance is 0.
#[repr(align(64))]
struct Keys([[u64; 2]; LANES]);

static KEYS: Keys = {
    let mut keys = [[0; 2]; LANES];
    let mut lane = 0;
    while lane < LANES {
        keys[lane] = fold_keys(16 * (LANES - 1 - lane) as i64);
        lane += 1;
    }
    Keys(keys)
};

/// What the first `n + 1` bytes need when they stand at the right end of a vector.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Head {
    /// Takes a register before these bytes to the first 8 bytes of the vector.
    seed: u64,
    /// The bytes to load.
    mask: u64,
}

static HEADS: [Head; 64] = {
    let mut heads = [Head { seed: 0, mask: 0 }; 64];
    let mut n = 0;
    while n < 64 {
        // Those 8 are followed by 56; data count x^32 times as much as a register, and the product is one bit short.
        heads[n].seed = x_to_the(8 * (n as i64 + 1) - 8 * 56 - 32 - 1) as u64;
        heads[n].mask = u64::MAX << (63 - n);
        n += 1;
    }
    heads
};

/// The register `state` after `data`.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline]
pub(super) fn state(state: u32, data: &[u8]) -> u32 {
    if data.len() <= 16 {
        return tiny::state(state, data);
    }
    let (odd, lines) = data[1..].as_rchunks();
    // SAFETY: what is left over of lines of 64 bytes, behind the first byte.
    let first = unsafe { first(state, data, odd.len()) };
    finish(sum(first, lines))
}

/// The first `n + 1` bytes, at the right end of a vector, and what `state` adds at its left end.
///
/// # Safety
/// `n` is below 64 and below the length of `data`.
#[target_feature(enable = "pclmulqdq,avx512f,avx512bw")]
#[inline]
pub(super) unsafe fn first(state: u32, data: &[u8], n: usize) -> __m512i {
    debug_assert!(n < 64 && n < data.len());
    let head = &HEADS[n % 64];
    let left = data.as_ptr().wrapping_add(n).wrapping_sub(63);
    // SAFETY: bytes whose mask bit is 0 are not read; the others are the first `n + 1` of `data`, which the caller promises.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(head.mask, left.cast()) };
    // SAFETY: `Head` is 16 readable bytes at a multiple of 16.
    let seed = unsafe { _mm_load_si128((&raw const *head).cast()) };
    let seed = _mm_clmulepi64_si128::<0x00>(_mm_cvtsi32_si128(state as i32), seed);
    _mm512_xor_si512(bytes, _mm512_zextsi128_si512(seed))
}

/// The sum of all lines and of `first` before them, each carried to the end.
#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
pub(super) fn sum(first: __m512i, lines: &[Line]) -> __m512i {
    let [a, b, c, rest @ ..] = lines else { return carry_all(first, lines) };
    if rest.len() < 12 {
        return carry_all(first, lines);
    }
    // Four accumulators, and the same factors over and over, while there are many.
    let keys = broadcast(const { fold_keys(256) });
    let mut sums = [first, load(a), load(b), load(c)];
    let (fours, rest) = rest.as_chunks::<4>();
    for four in fours {
        for (sum, line) in sums.iter_mut().zip(four) {
            *sum = fold(*sum, keys, load(line));
        }
    }
    let [first, a, b, c] = sums;
    let mut sum = carry_all(c, rest);
    for (i, vector) in [b, a, first].into_iter().enumerate() {
        // SAFETY: at most three are left over of fours, which makes six.
        sum = unsafe { add(sum, vector, rest.len() + 1 + i) };
    }
    sum
}

/// The same for up to 15 lines, each with factors of its own.
///
/// # Panics
/// If there are more.
#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
pub(super) fn carry_all(first: __m512i, lines: &[Line]) -> __m512i {
    let mut distance = lines.len();
    assert!(distance < MOST_LINES, "{distance} lines");
    // SAFETY: as asserted.
    let mut sum = add_by(unsafe { keys(distance) }, _mm512_setzero_si512(), first);
    for line in lines {
        distance -= 1;
        // SAFETY: less than before.
        sum = add_by(unsafe { keys(distance) }, sum, load(line));
    }
    sum
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load(line: &Line) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn broadcast([low, high]: [u64; 2]) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x(high as i64, low as i64))
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
pub(super) fn fold(sum: __m512i, keys: __m512i, line: __m512i) -> __m512i {
    let low = _mm512_clmulepi64_epi128::<0x00>(sum, keys);
    let high = _mm512_clmulepi64_epi128::<0x11>(sum, keys);
    _mm512_ternarylogic_epi64::<0x96>(low, high, line)
}

/// `sum` and `vector`, which stands `lines` before the end.
///
/// # Safety
/// As for [`keys`].
#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
pub(super) unsafe fn add(sum: __m512i, vector: __m512i, lines: usize) -> __m512i {
    // SAFETY: the caller's promise.
    add_by(unsafe { keys(lines) }, sum, vector)
}

/// `sum` and `vector`, carried by `keys`.
#[target_feature(enable = "avx512f,vpclmulqdq")]
#[inline]
pub(super) fn add_by(keys: __m512i, sum: __m512i, vector: __m512i) -> __m512i {
    let low = _mm512_clmulepi64_epi128::<0x00>(vector, keys);
    let high = _mm512_clmulepi64_epi128::<0x11>(vector, keys);
    _mm512_ternarylogic_epi64::<0x96>(sum, low, high)
}

/// The factors that carry a vector over so many lines.
///
/// # Safety
/// They are less than 16.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn keys(lines: usize) -> __m512i {
    debug_assert!(lines < MOST_LINES);
    let keys = KEYS.0.as_ptr().wrapping_add(LANES - 4).wrapping_sub(4 * lines);
    // SAFETY: the factors of four lanes, by the caller's promise, at a multiple of 64 bytes of an array that is aligned so.
    unsafe { _mm512_load_si512(keys.cast()) }
}

/// The register from lanes that all stand at the end of the data.
#[target_feature(enable = "sse4.2,avx512f,avx512vl")]
#[inline]
pub(super) fn finish(sum: __m512i) -> u32 {
    let sum = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    let sum = _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let state = _mm_crc32_u64(0, _mm_cvtsi128_si64(sum) as u64);
    _mm_crc32_u64(state, _mm_extract_epi64::<1>(sum) as u64) as u32
}
