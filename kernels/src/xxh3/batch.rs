//! What the kernels of many frames share.

use super::{secret, short};
use core::ops::Range;

/// Frames by number.
pub(super) trait Frames {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them.
    fn get(&self, i: usize) -> &[u8];
}

impl Frames for &[&[u8]] {
    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn get(&self, i: usize) -> &[u8] {
        self[i]
    }
}

/// Frames that lie in one buffer.
pub(super) struct InBuffer<'a> {
    pub(super) buffer: &'a [u8],
    pub(super) ranges: &'a [Range<usize>],
}

impl Frames for InBuffer<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.ranges.len()
    }

    #[inline(always)]
    fn get(&self, i: usize) -> &[u8] {
        &self.buffer[self.ranges[i].clone()]
    }
}

/// Hashes one frame after another, those over 240 bytes by `long`.
#[inline(always)]
pub(super) fn in_order(frames: &impl Frames, hashes: &mut [u64], long: impl Fn(&[u8]) -> u64) {
    assert_eq!(frames.count(), hashes.len(), "one hash for each frame");
    for (i, hash) in hashes.iter_mut().enumerate() {
        let frame = frames.get(i);
        *hash = if frame.len() <= short::MAX { short::hash(frame, 0, secret::SHORT) } else { long(frame) };
    }
}
