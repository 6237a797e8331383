//! Many frames at once, by class of length, so that no branch depends on the length of a single frame.
//!
//! Frames of 17 to 240 bytes go in eights. All products of a frame (up to eight before each avalanche) are made in one
//! vector, whatever their number: words that the frame does not have are masked off, and their products are zero. The
//! sums of eight frames are then taken, and their avalanches run, in the lanes of one vector. Longer frames run by
//! number of stripes, with the keys of the stripes in registers.
//!
//! Shapes that lost, in nanoseconds a frame on a Zen 4 core, where a 512-bit operation takes two passes and these
//! kernels are bound by vector operations: for 17 to 128 bytes (4.7) sums stored and added in general registers 5.0; for
//! 129 to 240 bytes (9.6) all heads and then all tails unrolled 11, three frames of each eight by the branch-free scalar
//! code 11.6, two products interleaved by hand 9.9, tails in general registers with the frames sorted by them 12.7 (of
//! messages of one size neighbours have equal tails without sorting, and 240 bytes take 8.7, 140 bytes 6.5; with the
//! heads of two frames in even and odd lanes of a vector 9.2 and 6.5); for 241 to 1040 bytes (15) a counting sort of 256 frames 16.5, and accumulators merged at once and not one frame later 17.

use super::super::batch::{Frames, InBuffer};
use super::super::primes::*;
use super::super::{long, secret, short};
use super::{default, load, to_lanes};
use core::arch::x86_64::*;
use core::ops::Range;

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
pub(in super::super) fn many(frames: &[&[u8]], hashes: &mut [u64]) {
    run(&frames, hashes);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
pub(in super::super) fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) {
    run(&InBuffer { buffer, ranges }, hashes);
}

/// Frames whose classes are found before the classes are hashed one by one.
const ROUND: usize = 128;

// Classes of frames: the three of short ones, then one for each number of whole stripes before the last, up to a block.
const UP_TO_16: usize = 0;
const UP_TO_128: usize = 1;
const UP_TO_240: usize = 2;
const BLOCK: usize = 16;
/// The class of what has been hashed, and of what is not there.
const DONE: usize = BLOCK + 1;

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn run(frames: &impl Frames, hashes: &mut [u64]) {
    assert_eq!(frames.count(), hashes.len(), "one hash for each frame");
    if hashes.len() < 8 {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = super::oneshot(frames.get(i), 0);
        }
        return;
    }
    let mut base = 0;
    for hashes in hashes.chunks_mut(ROUND) {
        round(&Part { frames, base }, hashes);
        base += ROUND;
    }
}

/// The frames of one round, counted from 0.
struct Part<'a, F> {
    frames: &'a F,
    base: usize,
}

impl<F: Frames> Part<'_, F> {
    #[inline(always)]
    fn get(&self, i: usize) -> &[u8] {
        self.frames.get(self.base + i)
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn round(part: &Part<'_, impl Frames>, hashes: &mut [u64]) {
    let mut classes = Classes([DONE as u8; ROUND]);
    let (eights, rest) = hashes.as_chunks_mut::<8>();
    for (i, (hashes, classes)) in eights.iter_mut().zip(classes.0.as_chunks_mut::<8>().0).enumerate() {
        let get = |j: usize| part.get(8 * i + j);
        let lens = lens(get);
        if within(lens, 17, 128) {
            *hashes = to_lanes(up_to_128(get, lens));
        } else if within(lens, 129, 240) {
            *hashes = if same_tails(lens) { same_240(get, lens) } else { to_lanes(up_to_240(get, lens)) };
        } else {
            *classes = classes_of(lens);
        }
    }
    let first = 8 * eights.len();
    if !rest.is_empty() {
        let lens = lens(|j| if j < rest.len() { part.get(first + j) } else { &[] });
        let of = classes_of(lens);
        classes.0[first..][..rest.len()].copy_from_slice(&of[..rest.len()]);
    }
    if classes.0.iter().all(|&c| c == DONE as u8) {
        return;
    }
    for i in classes.members(UP_TO_16) {
        hashes[i] = short::hash(part.get(i), 0, secret::SHORT);
    }
    in_eights::<UP_TO_128>(part, classes.members(UP_TO_128), hashes);
    in_eights::<UP_TO_240>(part, classes.members(UP_TO_240), hashes);
    equal::<3>(part, classes.members(3), hashes);
    equal::<4>(part, classes.members(4), hashes);
    equal::<5>(part, classes.members(5), hashes);
    equal::<6>(part, classes.members(6), hashes);
    equal::<7>(part, classes.members(7), hashes);
    equal::<8>(part, classes.members(8), hashes);
    equal::<9>(part, classes.members(9), hashes);
    equal::<10>(part, classes.members(10), hashes);
    equal::<11>(part, classes.members(11), hashes);
    equal::<12>(part, classes.members(12), hashes);
    equal::<13>(part, classes.members(13), hashes);
    equal::<14>(part, classes.members(14), hashes);
    equal::<15>(part, classes.members(15), hashes);
    for i in classes.members(BLOCK) {
        hashes[i] = default(part.get(i));
    }
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

impl Iterator for Members {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let i = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (i < ROUND).then_some(i)
    }
}

/// Hashes the frames of `CLASS` in eights. The last eight may not be full: its last frame stands in for what is missing.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline(never)]
fn in_eights<const CLASS: usize>(part: &Part<'_, impl Frames>, mut members: Members, hashes: &mut [u64]) {
    while members.0.count_ones() > 2 {
        let Some(first) = members.next() else { unreachable!("there are three") };
        let mut numbers = [first; 8];
        for j in 1..8 {
            numbers[j] = members.next().unwrap_or(numbers[j - 1]);
        }
        let get = |j: usize| part.get(numbers[j]);
        let h = if CLASS == UP_TO_128 { up_to_128(get, lens(get)) } else { up_to_240(get, lens(get)) };
        for (&i, h) in numbers.iter().zip(to_lanes(h)) {
            hashes[i] = h;
        }
    }
    for i in members {
        hashes[i] = short::hash(part.get(i), 0, secret::SHORT);
    }
}

/// Hashes frames with `N` whole stripes before the last one.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline(never)]
fn equal<const N: usize>(part: &Part<'_, impl Frames>, members: Members, hashes: &mut [u64]) {
    let keys = &long::DEFAULT;
    let initial = super::from_lanes(&long::INITIAL);
    // The accumulators are merged one frame later, when nothing waits for them any more. What is merged along with the
    // first frame is overwritten by its hash.
    let mut kept = [long::INITIAL; 2];
    let mut turn = 0;
    let Some(mut before) = members.clone().next().map(|first| (first, 0)) else { return };
    for i in members {
        let data = part.get(i);
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

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn lens<'a>(get: impl Fn(usize) -> &'a [u8]) -> __m512i {
    let len = |j: usize| opaque_len(get(j)) as i64;
    _mm512_setr_epi64(len(0), len(1), len(2), len(3), len(4), len(5), len(6), len(7))
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn within(lens: __m512i, first: i64, last: i64) -> bool {
    let above = _mm512_sub_epi64(lens, _mm512_set1_epi64(first));
    _mm512_cmple_epu64_mask(above, _mm512_set1_epi64(last - first)) == 0xFF
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn up_to_128<'a>(get: impl Fn(usize) -> &'a [u8], lens: __m512i) -> __m512i {
    let sums = |j: usize| both_ends(get(j));
    let scaled = _mm512_mullo_epi64(lens, _mm512_set1_epi64(PRIME64_1 as i64));
    avalanche(_mm512_add_epi64(scaled, sum8([sums(0), sums(1), sums(2), sums(3), sums(4), sums(5), sums(6), sums(7)])))
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn up_to_240<'a>(get: impl Fn(usize) -> &'a [u8], lens: __m512i) -> __m512i {
    let mut heads = [_mm512_setzero_si512(); 8];
    let mut tails = [_mm512_setzero_si512(); 8];
    for (j, (h, t)) in heads.iter_mut().zip(&mut tails).enumerate() {
        (*h, *t) = (head(get(j)), tail(get(j)));
    }
    let scaled = _mm512_mullo_epi64(lens, _mm512_set1_epi64(PRIME64_1 as i64));
    let h = avalanche(_mm512_add_epi64(scaled, sum8(heads)));
    avalanche(_mm512_add_epi64(h, sum8(tails)))
}

/// Whether all of eight frames of 129 to 240 bytes have the same number of products in their tails.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn same_tails(lens: __m512i) -> bool {
    let products = _mm512_srli_epi64::<4>(lens);
    let first = _mm512_broadcastq_epi64(_mm512_castsi512_si128(products));
    _mm512_cmpeq_epi64_mask(products, first) == 0xFF
}

/// As [`up_to_240`], with the tails in general registers, which the core works on while it hashes heads in vectors.
///
/// That pays only where the branches of the tails can be foreseen.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn same_240<'a>(get: impl Fn(usize) -> &'a [u8], lens: __m512i) -> [u64; 8] {
    let mut heads = [_mm512_setzero_si512(); 8];
    let mut tails = [0; 8];
    for (j, (h, t)) in heads.iter_mut().zip(&mut tails).enumerate() {
        *h = head(get(j));
        *t = short::tail(get(j), 0, secret::SHORT);
    }
    let scaled = _mm512_mullo_epi64(lens, _mm512_set1_epi64(PRIME64_1 as i64));
    let h = to_lanes(avalanche(_mm512_add_epi64(scaled, sum8(heads))));
    core::array::from_fn(|j| short::avalanche(h[j].wrapping_add(tails[j])))
}

/// The products of a frame of 17 to 128 bytes: up to four from either end.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn both_ends(frame: &[u8]) -> __m512i {
    /// The words of as many products at the front of a vector and at the back.
    const MASKS: [[u8; 2]; 4] = [[0x03, 0xC0], [0x0F, 0xF0], [0x3F, 0xFC], [0xFF, 0xFF]];
    static FRONT: Key = key([0, 32, 64, 96]);
    static BACK: Key = key([112, 80, 48, 16]);
    let len = opaque_len(frame);
    assert!((17..=128).contains(&len));
    let [front_mask, back_mask] = MASKS[(len - 1) / 32];
    let front = load_masked(frame.as_ptr(), front_mask);
    let back = load_masked(frame.as_ptr().wrapping_add(len).wrapping_sub(64), back_mask);
    fold(
        _mm512_maskz_xor_epi64(front_mask, front, load(&FRONT.0)),
        _mm512_maskz_xor_epi64(back_mask, back, load(&BACK.0)),
    )
}

/// The first eight products of a frame of 129 to 240 bytes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn head(frame: &[u8]) -> __m512i {
    static LOW: Key = key([0, 16, 32, 48]);
    static HIGH: Key = key([64, 80, 96, 112]);
    let Some(head) = frame.first_chunk::<128>() else { unreachable!("the class") };
    let (halves, _) = head.as_chunks::<64>();
    fold(_mm512_xor_si512(load(&halves[0]), load(&LOW.0)), _mm512_xor_si512(load(&halves[1]), load(&HIGH.0)))
}

/// The other products of a frame of 129 to 240 bytes: up to seven that follow the head, and one of the last 16 bytes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn tail(frame: &[u8]) -> __m512i {
    /// The words of as many products in a first and a second vector, and those of the second with the last product.
    const MASKS: [[u8; 3]; 8] = [
        [0x00, 0x00, 0xC0],
        [0x03, 0x00, 0xC0],
        [0x0F, 0x00, 0xC0],
        [0x3F, 0x00, 0xC0],
        [0xFF, 0x00, 0xC0],
        [0xFF, 0x03, 0xC3],
        [0xFF, 0x0F, 0xCF],
        [0xFF, 0x3F, 0xFF],
    ];
    static LOW: Key = key([3, 19, 35, 51]);
    static HIGH: Key = key([67, 83, 99, secret::MIN_LEN - 17]);
    let len = opaque_len(frame);
    assert!((129..=240).contains(&len));
    let [low_mask, high_mask, all_mask] = MASKS[(len - 128) / 16];
    let low = load_masked(frame.as_ptr().wrapping_add(128), low_mask);
    let high = load_masked(frame.as_ptr().wrapping_add(192), high_mask);
    let high = _mm512_inserti64x2::<3>(high, load_16(frame[len - 16..].first_chunk().expect("16 bytes")));
    fold(_mm512_maskz_xor_epi64(low_mask, low, load(&LOW.0)), _mm512_maskz_xor_epi64(all_mask, high, load(&HIGH.0)))
}

/// Four pieces of the secret, 16 bytes each.
#[repr(align(64))]
struct Key([u8; 64]);

const fn key(at: [usize; 4]) -> Key {
    let mut key = [0; 64];
    let mut i = 0;
    while i < 64 {
        key[i] = secret::DEFAULT[at[i / 16] + i % 16];
        i += 1;
    }
    Key(key)
}

/// The words at `from` that the mask names, and zero for the others, which may lie outside the frame.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_masked(from: *const u8, mask: u8) -> __m512i {
    // SAFETY: the callers' masks name only words inside their frame, and a word that is masked off is not read.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array is 16 readable bytes and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The vector itself, of which the compiler knows nothing.
#[target_feature(enable = "avx512f")]
#[inline]
fn opaque(mut v: __m512i) -> __m512i {
    #[cfg(not(miri))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags));
    }
    v
}

/// Both halves of the eight 128-bit products of neighbouring words, XORed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn fold(x: __m512i, y: __m512i) -> __m512i {
    let (a, b) = (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
    // Opaque, because the compiler knows this way to take a product apart, and makes 64-bit products of single lanes of it.
    let a_high = opaque(_mm512_shuffle_epi32::<0b10_11_00_01>(a));
    let b_high = opaque(_mm512_shuffle_epi32::<0b10_11_00_01>(b));
    let low = _mm512_mul_epu32(a, b);
    let side = _mm512_mul_epu32(a_high, b);
    let side_low = _mm512_and_si512(side, _mm512_set1_epi64(0xFFFF_FFFF));
    // No sum overflows: a 32-bit product leaves room for two 32-bit words.
    let cross = _mm512_add_epi64(_mm512_srli_epi64::<32>(low), side_low);
    let cross = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), cross);
    let high = _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64::<32>(side));
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(cross));
    let low = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(low, 0xAAAA, cross);
    _mm512_xor_si512(high, low)
}

/// The sum of the lanes of each vector, in the lane of its number.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn sum8(v: [__m512i; 8]) -> __m512i {
    let pair = |a, b| _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let halves = |a, b| {
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        let odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        _mm512_add_epi64(even, odd)
    };
    halves(halves(pair(v[0], v[1]), pair(v[2], v[3])), halves(pair(v[4], v[5]), pair(v[6], v[7])))
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn avalanche(h: __m512i) -> __m512i {
    let h = _mm512_xor_si512(h, _mm512_srli_epi64::<37>(h));
    let h = _mm512_mullo_epi64(h, _mm512_set1_epi64(PRIME_MX1 as i64));
    _mm512_xor_si512(h, _mm512_srli_epi64::<32>(h))
}
