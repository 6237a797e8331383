//! Many frames at once, by class of length, so that no branch depends on the length of a single frame.
//!
//! Frames are taken in rounds. Those of 17 to 240 bytes go in [`pairs`]. Longer ones run by number of stripes, with the
//! keys of the stripes in registers.
//!
//! Shapes that lost for 241 to 1040 bytes, in nanoseconds a frame on a Zen 4 core (15.5): a counting sort of 256 frames
//! 16.5; accumulators merged at once and not one frame later 17; two frames of a class side by side, which share the keys,
//! merged eight at a time in vectors 17.2; the lines of the next frame asked for ahead 17.7. Frames that have to come from
//! the second-level cache are what is waited for: 12.5 with the same shape where all are the same frame.

use super::super::batch::{Frames, InBuffer};
use super::super::{long, secret, short};
use super::{default, load, to_lanes};
use core::arch::x86_64::*;
use core::ops::Range;

mod pairs;
mod round;

use round::{ROUND, Round};

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
pub(in super::super) fn many(frames: &[&[u8]], hashes: &mut [u64]) {
    run(&frames, hashes, |round, numbers| round.fill(frames[numbers].iter().copied()));
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
pub(in super::super) fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) {
    run(&InBuffer { buffer, ranges }, hashes, |round, numbers| round.fill_ranges(buffer, &ranges[numbers]));
}

// Classes of frames: the three of short ones, then one for each number of whole stripes before the last, up to a block.
const UP_TO_16: usize = 0;
const UP_TO_128: usize = 1;
const UP_TO_240: usize = 2;
const BLOCK: usize = 16;
/// The class of what is not there.
const NONE: usize = BLOCK + 1;

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn run<'a>(frames: &impl Frames, hashes: &mut [u64], fill: impl Fn(&mut Round<'a>, Range<usize>)) {
    assert_eq!(frames.count(), hashes.len(), "one hash for each frame");
    if hashes.len() < 8 {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = super::oneshot(frames.get(i), 0);
        }
        return;
    }
    let (mut round, mut part) = (Round::new(), Round::new());
    let mut base = 0;
    for hashes in hashes.chunks_mut(ROUND) {
        fill(&mut round, base..base + hashes.len());
        hash(&round, &mut part, hashes);
        base += ROUND;
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn hash<'a>(round: &Round<'a>, part: &mut Round<'a>, hashes: &mut [u64]) {
    if round.are_within(17, 128) {
        return pairs::up_to_128(round, hashes);
    }
    if round.are_within(129, 240) {
        return pairs::up_to_240(round, hashes);
    }
    let mut classes = Classes([NONE as u8; ROUND]);
    for (lens, classes) in round.lens().iter().zip(classes.0.as_chunks_mut::<8>().0) {
        *classes = classes_of(super::from_lanes(lens));
    }
    classes.0[hashes.len()..].fill(NONE as u8);
    for i in classes.members(UP_TO_16) {
        hashes[i] = short::hash(round.get(i), 0, secret::SHORT);
    }
    apart(round, classes.members(UP_TO_128), part, hashes, |part, hashes| pairs::up_to_128(part, hashes));
    apart(round, classes.members(UP_TO_240), part, hashes, |part, hashes| pairs::up_to_240(part, hashes));
    equal::<3>(round, classes.members(3), hashes);
    equal::<4>(round, classes.members(4), hashes);
    equal::<5>(round, classes.members(5), hashes);
    equal::<6>(round, classes.members(6), hashes);
    equal::<7>(round, classes.members(7), hashes);
    equal::<8>(round, classes.members(8), hashes);
    equal::<9>(round, classes.members(9), hashes);
    equal::<10>(round, classes.members(10), hashes);
    equal::<11>(round, classes.members(11), hashes);
    equal::<12>(round, classes.members(12), hashes);
    equal::<13>(round, classes.members(13), hashes);
    equal::<14>(round, classes.members(14), hashes);
    equal::<15>(round, classes.members(15), hashes);
    for i in classes.members(BLOCK) {
        hashes[i] = default(round.get(i));
    }
}

/// Hashes some frames of a round as a round of their own.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn apart<'a>(
    round: &Round<'a>,
    members: Members,
    part: &mut Round<'a>,
    hashes: &mut [u64],
    hash: impl Fn(&Round<'a>, &mut [u64]),
) {
    let count = members.0.count_ones() as usize;
    if count < 6 {
        for i in members {
            hashes[i] = short::hash(round.get(i), 0, secret::SHORT);
        }
        return;
    }
    part.fill_of(round, &members);
    let mut of_part = [0; ROUND];
    hash(part, &mut of_part[..count]);
    members.spread(&of_part, hashes);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn classes_of(lens: __m512i) -> [u8; 8] {
    let stripes = _mm512_srli_epi64::<6>(_mm512_sub_epi64(lens, _mm512_set1_epi64(1)));
    let mut class = _mm512_min_epu64(stripes, _mm512_set1_epi64(BLOCK as i64));
    for (upper, short) in [(240, UP_TO_240), (128, UP_TO_128), (16, UP_TO_16)] {
        let mask = _mm512_cmple_epu64_mask(lens, _mm512_set1_epi64(upper));
        class = _mm512_mask_mov_epi64(class, mask, _mm512_set1_epi64(short as i64));
    }
    _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(class)).to_le_bytes()
}

#[repr(align(64))]
struct Classes([u8; ROUND]);

impl Classes {
    /// The frames of a class, in their order.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline]
    fn members(&self, class: usize) -> Members {
        let class = _mm512_set1_epi8(class as i8);
        let (halves, _) = self.0.as_chunks::<64>();
        let low = _mm512_cmpeq_epi8_mask(load(&halves[0]), class);
        let high = _mm512_cmpeq_epi8_mask(load(&halves[1]), class);
        Members(u128::from(high) << 64 | u128::from(low))
    }
}

/// A set of frames of a round.
#[derive(Clone)]
struct Members(u128);

impl Members {
    /// Puts each hash, in the order of the members, in the place of its member.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    #[inline]
    fn spread(&self, of_members: &[u64; ROUND], hashes: &mut [u64]) {
        let mut count = 0;
        for (hashes, mask) in hashes.chunks_mut(8).zip(self.0.to_le_bytes()) {
            // No more members come before these eight than places.
            let Some(next) = of_members[count..].first_chunk() else { unreachable!("at most eight of each eight") };
            pairs::put_some(hashes, mask, _mm512_maskz_expand_epi64(mask, super::from_lanes(next)));
            count += mask.count_ones() as usize;
        }
    }
}

impl Iterator for Members {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let i = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (i < ROUND).then_some(i)
    }
}

/// Hashes frames with `N` whole stripes before the last one.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline(never)]
fn equal<const N: usize>(round: &Round<'_>, members: Members, hashes: &mut [u64]) {
    let keys = &long::DEFAULT;
    let initial = super::from_lanes(&long::INITIAL);
    // The accumulators are merged one frame later, when nothing waits for them any more. What is merged along with the
    // first frame is overwritten by its hash.
    let mut kept = [long::INITIAL; 2];
    let mut turn = 0;
    let Some(mut before) = members.clone().next().map(|first| (first, 0)) else { return };
    for i in members {
        let data = round.get(i);
        let (stripes, last) = long::split(data);
        let stripes: &[[u8; 64]; N] = stripes.first_chunk().expect("the class");
        let mut sums = super::stripe(super::zero(), load(last), load(&keys.last));
        for (s, k) in stripes.iter().zip(&keys.stripes) {
            sums = super::stripe(sums, load(s), load(k));
        }
        kept[turn] = to_lanes(super::add(initial, sums));
        turn ^= 1;
        hashes[before.0] = long::merge(&kept[turn], before.1, &keys.merge);
        before = (i, data.len() as u64);
    }
    hashes[before.0] = long::merge(&kept[turn ^ 1], before.1, &keys.merge);
}

/// The length, of which the compiler knows nothing: it would compute the lengths of several frames in one vector, and
/// take each out again where an address needs it.
#[inline(always)]
fn opaque_len(frame: &[u8]) -> usize {
    let mut len = frame.len();
    #[cfg(not(miri))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) len, options(pure, nomem, nostack, preserves_flags));
    }
    len
}
