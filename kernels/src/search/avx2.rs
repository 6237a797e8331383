//! Thirty-two places at a time.

use super::{LIMITS, Pattern, SOME, blocks};
use core::arch::x86_64::*;

const N: usize = 32;

/// The bytes at `distance` from each place of a block.
///
/// # Safety
/// The block has `N` bytes from there on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(block: &[u8], distance: usize) -> __m256i {
    debug_assert!(distance + N <= block.len());
    // SAFETY: the caller's promise, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(block.as_ptr().wrapping_add(distance).cast()) }
}

#[target_feature(enable = "avx2")]
pub(super) fn find(bytes: &[u8], pattern: &Pattern) -> Option<usize> {
    let most: [_; LIMITS] = core::array::from_fn(|i| _mm256_set1_epi8(pattern.limits[i].1 as i8));
    blocks::<N>(bytes, pattern, |block| {
        // SAFETY: `blocks` shows `N - 1 + span` bytes, and every distance of a pattern is below its span.
        let load = |distance| unsafe { load(block, distance) };
        let mut fits = _mm256_set1_epi8(-1);
        for (most, (at, _)) in most.iter().zip(pattern.limits) {
            // At most `most`: the smaller one of both is the byte itself.
            let byte = load(at);
            fits = _mm256_and_si256(fits, _mm256_cmpeq_epi8(_mm256_min_epu8(byte, *most), byte));
        }
        if _mm256_testz_si256(fits, fits) != 0 {
            return None;
        }
        let mut any = load(pattern.some);
        for i in 1..SOME {
            any = _mm256_or_si256(any, load(pattern.some + i));
        }
        let none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
        let fits = _mm256_movemask_epi8(_mm256_andnot_si256(none, fits)) as u32;
        (fits != 0).then(|| fits.trailing_zeros() as usize)
    })
}
