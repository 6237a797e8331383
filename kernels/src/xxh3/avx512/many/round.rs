//! Frames by address and length, so that vectors find their classes.

use super::super::from_lanes;
use super::Members;
use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ops::Range;

/// Frames whose classes are found before the classes are hashed one by one.
pub(super) const ROUND: usize = 128;

/// Aligned, because a vector that lies in two cache lines is stored in two turns: 75 ns a round.
#[repr(align(64))]
struct Words([MaybeUninit<u64>; ROUND]);

/// Up to [`ROUND`] frames. The last one stands in for those that are missing of the last eight.
pub(super) struct Round<'a> {
    /// Addresses whose provenance was exposed.
    addresses: Words,
    lens: Words,
    /// Those that have been written: whole eights.
    filled: usize,
    frames: PhantomData<&'a [u8]>,
}

impl<'a> Round<'a> {
    // Always, because it is 2 KiB that the caller would copy.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Round {
            addresses: Words([const { MaybeUninit::uninit() }; ROUND]),
            lens: Words([const { MaybeUninit::uninit() }; ROUND]),
            filled: 0,
            frames: PhantomData,
        }
    }

    /// Takes on these frames. Out of line, because the loop spills its counter otherwise, at five cycles a frame.
    ///
    /// # Panics
    /// If they are more than [`ROUND`].
    #[inline(never)]
    pub(super) fn fill(&mut self, frames: impl Iterator<Item = &'a [u8]>) {
        let mut count = 0;
        let mut last: &[u8] = &[];
        for frame in frames {
            self.put(count, frame);
            last = frame;
            count += 1;
        }
        self.fill_up(count, last);
    }

    /// Takes on frames that lie in `buffer`.
    ///
    /// # Panics
    /// If they are more than [`ROUND`], or one does not lie in the buffer.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline(never)]
    pub(super) fn fill_ranges(&mut self, buffer: &'a [u8], ranges: &[Range<usize>]) {
        let first = _mm512_set1_epi64(buffer.as_ptr().expose_provenance() as i64);
        let len = _mm512_set1_epi64(buffer.len() as i64);
        let (eights, rest) = ranges.as_chunks::<8>();
        let filled = self.addresses.0.as_chunks_mut::<8>().0.iter_mut().zip(self.lens.0.as_chunks_mut::<8>().0);
        let mut outside = 0;
        for (ranges, (addresses, lens)) in eights.iter().zip(filled) {
            let [starts, ends] = starts_and_ends(ranges);
            outside |= _mm512_cmpgt_epu64_mask(starts, ends) | _mm512_cmpgt_epu64_mask(ends, len);
            put(addresses, _mm512_add_epi64(first, starts));
            put(lens, _mm512_sub_epi64(ends, starts));
        }
        if outside != 0 {
            // What was written is not all frames.
            self.filled = 0;
            refuse(buffer, ranges);
        }
        let mut count = 8 * eights.len();
        let mut last: &[u8] = &[];
        for range in rest {
            last = &buffer[range.clone()];
            self.put(count, last);
            count += 1;
        }
        self.fill_up(count, last);
    }

    /// Takes on some frames of another round.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline(never)]
    pub(super) fn fill_of(&mut self, round: &Round<'a>, members: &Members) {
        let mut count = 0;
        let eights = round.addresses().as_chunks().0.iter().zip(round.lens());
        for ((addresses, lens), mask) in eights.zip(members.0.to_le_bytes()) {
            for (words, all) in [(&mut self.addresses, addresses), (&mut self.lens, lens)] {
                let Some(words) = words.0[count..].first_chunk_mut() else {
                    unreachable!("at most eight of each eight")
                };
                put(words, _mm512_maskz_compress_epi64(mask, from_lanes(all)));
            }
            count += mask.count_ones() as usize;
        }
        self.filled = count.next_multiple_of(8);
        for i in count..self.filled {
            self.addresses.0[i] = self.addresses.0[count - 1];
            self.lens.0[i] = self.lens.0[count - 1];
        }
    }

    #[inline(always)]
    fn put(&mut self, i: usize, frame: &'a [u8]) {
        self.addresses.0[i].write(frame.as_ptr().expose_provenance() as u64);
        self.lens.0[i].write(super::opaque_len(frame) as u64);
    }

    /// `last` is the last of `count` frames that are put in.
    ///
    /// # Panics
    /// If they are more than [`ROUND`].
    #[inline(always)]
    fn fill_up(&mut self, mut count: usize, last: &'a [u8]) {
        assert!(count <= ROUND, "{count} frames in a round");
        while !count.is_multiple_of(8) {
            self.put(count, last);
            count += 1;
        }
        self.filled = count;
    }

    #[inline(always)]
    fn addresses(&self) -> &[u64] {
        // SAFETY: so many have been written by whoever set `filled`, and it is at most `ROUND`.
        unsafe { core::slice::from_raw_parts(self.addresses.0.as_ptr().cast(), self.filled) }
    }

    /// The lengths in eights.
    #[inline(always)]
    pub(super) fn lens(&self) -> &[[u64; 8]] {
        // SAFETY: as for the addresses; `filled` counts whole eights.
        unsafe { core::slice::from_raw_parts(self.lens.0.as_ptr().cast(), self.filled / 8) }
    }

    /// # Panics
    /// If there is no such frame.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> &'a [u8] {
        let (address, len) = (self.addresses()[i], self.lens().as_flattened()[i]);
        // SAFETY: both are of the frame that was put in at `i`, which lives for `'a` and whose provenance was exposed then.
        unsafe { frame(address, len) }
    }

    /// The frames in order, two at a time.
    #[inline(always)]
    pub(super) fn pairs(&self) -> impl Iterator<Item = [&'a [u8]; 2]> {
        let (addresses, lens) = (self.addresses().as_chunks::<2>().0, self.lens().as_flattened().as_chunks::<2>().0);
        addresses.iter().zip(lens).map(|(addresses, lens)| {
            // SAFETY: both are of one frame that was put in, as in `get`.
            [0, 1].map(|i| unsafe { frame(addresses[i], lens[i]) })
        })
    }

    /// The frames that are so long.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline]
    pub(super) fn of_at_least(&self, len: i64) -> Members {
        let mut members = 0;
        for lens in self.lens().iter().rev() {
            let long = _mm512_cmpge_epu64_mask(from_lanes(lens), _mm512_set1_epi64(len));
            members = members << 8 | u128::from(long);
        }
        Members(members)
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline]
    pub(super) fn are_within(&self, first: i64, last: i64) -> bool {
        let mut within = 0xFF;
        for lens in self.lens() {
            let above = _mm512_sub_epi64(from_lanes(lens), _mm512_set1_epi64(first));
            within &= _mm512_cmple_epu64_mask(above, _mm512_set1_epi64(last - first));
        }
        within == 0xFF
    }
}

/// Panics as the first range does that does not lie in the buffer.
#[cold]
fn refuse(buffer: &[u8], ranges: &[Range<usize>]) -> ! {
    for range in ranges {
        let _ = &buffer[range.clone()];
    }
    unreachable!("one of the ranges lies outside")
}

/// A frame by its address and its length.
///
/// # Safety
/// They are those of a slice that lives for `'a`, whose provenance was exposed.
#[inline(always)]
unsafe fn frame<'a>(address: u64, len: u64) -> &'a [u8] {
    let start = core::ptr::with_exposed_provenance(address as usize);
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(start, len as usize) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn put(words: &mut [MaybeUninit<u64>; 8], v: __m512i) {
    // SAFETY: the array is 64 writable bytes and the store needs no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), v) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn starts_and_ends(ranges: &[Range<usize>; 8]) -> [__m512i; 2] {
    // Of the two orders in which the compiler may lay them out.
    const START: i64 = (offset_of!(Range<usize>, start) / 8) as i64;
    const { assert!(size_of::<Range<usize>>() == 16, "two words and nothing else") };
    // SAFETY: eight ranges are the words of two vectors, and the load needs no alignment.
    let [low, high] = unsafe { ranges.as_ptr().cast::<[__m512i; 2]>().read_unaligned() };
    let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let every_other = |first| _mm512_permutex2var_epi64(low, _mm512_add_epi64(even, _mm512_set1_epi64(first)), high);
    [every_other(START), every_other(1 - START)]
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::xxh3::many;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_round_refuses_more_frames_than_it_holds() {
        if !many::TABLE.all()[0].is_available() {
            return;
        }
        let buffer = [7; ROUND + 8];
        let ranges: [_; ROUND + 8] = core::array::from_fn(|i| i..i + 1);
        let mut round = Round::new();
        for count in [1, ROUND - 8, ROUND - 1, ROUND] {
            // SAFETY: the CPU has the features of the kernel.
            unsafe { round.fill_ranges(&buffer, &ranges[..count]) };
            assert_eq!(round.lens().len(), count.div_ceil(8));
            assert!((0..count).all(|i| core::ptr::eq(round.get(i), &raw const buffer[i..=i])));
            round.fill(buffer[..count].chunks(1));
            assert_eq!(round.lens().len(), count.div_ceil(8));
        }
        for count in [ROUND + 1, ROUND + 7, ROUND + 8] {
            // SAFETY: as before.
            let ranges = catch_unwind(AssertUnwindSafe(|| unsafe { round.fill_ranges(&buffer, &ranges[..count]) }));
            let frames = catch_unwind(AssertUnwindSafe(|| round.fill(buffer[..count].chunks(1))));
            assert!(ranges.is_err() && frames.is_err(), "{count} frames");
        }
        assert_eq!(round.lens().len(), ROUND / 8);
    }
}
