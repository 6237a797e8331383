//! Sixty-four places at a time.

use super::{LIMITS, Pattern, SOME, blocks};
use core::arch::x86_64::*;

const N: usize = 64;

/// The bytes at `distance` from each place of a block.
///
/// # Safety
/// The block has `N` bytes from there on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(block: &[u8], distance: usize) -> __m512i {
    debug_assert!(distance + N <= block.len());
    // SAFETY: the caller's promise, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().wrapping_add(distance).cast()) }
}

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn find(bytes: &[u8], pattern: &Pattern) -> Option<usize> {
    let most: [_; LIMITS] = core::array::from_fn(|i| _mm512_set1_epi8(pattern.limits[i].1 as i8));
    blocks::<N>(bytes, pattern, |block| {
        // SAFETY: `blocks` shows `N - 1 + span` bytes, and every distance of a pattern is below its span.
        let load = |distance| unsafe { load(block, distance) };
        let mut fits = !0;
        for (most, (at, _)) in most.iter().zip(pattern.limits) {
            fits = _mm512_mask_cmple_epu8_mask(fits, load(at), *most);
        }
        if fits == 0 {
            return None;
        }
        let mut any = load(pattern.some);
        for i in 1..SOME {
            any = _mm512_or_si512(any, load(pattern.some + i));
        }
        fits &= _mm512_test_epi8_mask(any, any);
        (fits != 0).then(|| fits.trailing_zeros() as usize)
    })
}
