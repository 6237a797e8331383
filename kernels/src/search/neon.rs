//! Sixteen places at a time.

use super::{LIMITS, Pattern, SOME, blocks};
use core::arch::aarch64::*;

const N: usize = 16;

/// The bytes at `distance` from each place of a block.
///
/// # Safety
/// The block has `N` bytes from there on.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(block: &[u8], distance: usize) -> uint8x16_t {
    debug_assert!(distance + N <= block.len());
    // SAFETY: the caller's promise, and the load needs no alignment.
    unsafe { vld1q_u8(block.as_ptr().wrapping_add(distance)) }
}

#[target_feature(enable = "neon")]
pub(super) fn find(bytes: &[u8], pattern: &Pattern) -> Option<usize> {
    let most: [_; LIMITS] = core::array::from_fn(|i| vdupq_n_u8(pattern.limits[i].1));
    blocks::<N>(bytes, pattern, |block| {
        // SAFETY: `blocks` shows `N - 1 + span` bytes, and every distance of a pattern is below its span.
        let load = |distance| unsafe { load(block, distance) };
        let mut fits = vdupq_n_u8(0xFF);
        for (most, (at, _)) in most.iter().zip(pattern.limits) {
            fits = vandq_u8(fits, vcleq_u8(load(at), *most));
        }
        if vmaxvq_u8(fits) == 0 {
            return None;
        }
        let mut any = load(pattern.some);
        for i in 1..SOME {
            any = vorrq_u8(any, load(pattern.some + i));
        }
        fits = vandq_u8(fits, vtstq_u8(any, any));
        // Four bits of each byte make one number.
        let nibbles = vshrn_n_u16::<4>(vreinterpretq_u16_u8(fits));
        let fits = vget_lane_u64::<0>(vreinterpret_u64_u8(nibbles));
        (fits != 0).then(|| fits.trailing_zeros() as usize / 4)
    })
}
