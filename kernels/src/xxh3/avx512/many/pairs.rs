//! Many frames of 17 to 240 bytes, two to a vector.
//!
//! The words that are multiplied with each other are neighbours in memory. Words of two frames are interleaved so that
//! one vector has the first and another the second factors of eight products: the even lanes are of the one frame, the odd
//! ones of the other. Words that a frame does not have are masked off, and their products are zero. A step later the
//! products of eight frames are summed, and their avalanches run, in the lanes of one vector.
//!
//! The core looks a few frames ahead only, so the loops over frames are short of instructions, and what takes long
//! without being much work (sums across lanes, avalanches) has a loop of its own. Zen 4 is bound by the products: 16
//! operations for eight of them are 9.9 cycles, since a 512-bit operation takes two passes, and leave room for five products
//! in general registers, which take 2.0 cycles each: there the last 16 bytes are multiplied.
//!
//! Shapes that lost, in nanoseconds a frame on a Zen 4 core, for random lengths of 129 to 240 bytes (8.2, and 7.5 since ranges are taken eight at a time): one frame to a
//! vector, eight at a time, sums of lanes at once 10.1; tails in general registers with the frames sorted by them 10.5,
//! 12.4 for 240 bytes; the sums across lanes at once 8.4, and with the frames taken from the caller in the same loop 9.9;
//! three frames of each eight by the branch-free scalar code 11.6. For 17 to 128 bytes (5.0, now 4.3) one frame to a vector 4.9.

use super::super::super::primes::*;
use super::super::super::{secret, short};
use super::super::load;
use super::opaque_len;
use super::round::{ROUND, Round};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Products of pairs of frames in order: those of the first frame in the even lanes, those of the second in the odd ones.
type Pairs = [MaybeUninit<__m512i>; ROUND / 2];

const NO_PAIRS: Pairs = [const { MaybeUninit::uninit() }; ROUND / 2];

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline(never)]
pub(super) fn up_to_128(round: &Round<'_>, hashes: &mut [u64]) {
    let upper = upper_halves();
    let mut heads = NO_PAIRS;
    for (head, [a, b]) in heads.iter_mut().zip(round.pairs()) {
        let (a, b) = (both_ends(a), both_ends(b));
        head.write(_mm512_add_epi64(fold(a.0, b.0, upper), fold(a.1, b.1, upper)));
    }
    for ((lens, heads), hashes) in round.lens().iter().zip(heads.as_chunks().0).zip(hashes.chunks_mut(8)) {
        // SAFETY: the loop above has written a pair for each two frames of the round, four for each eight lengths.
        put(hashes, unsafe { after_heads(lens, heads) });
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline(never)]
pub(super) fn up_to_240(round: &Round<'_>, hashes: &mut [u64]) {
    let upper = upper_halves();
    let (mut heads, mut tails) = (NO_PAIRS, NO_PAIRS);
    let mut others = [0; ROUND];
    let low = round.of_at_least(144).next().is_some();
    let secret = short::opaque(secret::SHORT);
    let others_in_pairs = others.as_chunks_mut::<2>().0;
    for ((([a, b], head), tail), others) in round.pairs().zip(&mut heads).zip(&mut tails).zip(others_in_pairs) {
        let (a_head, b_head) = (words_of_head(a), words_of_head(b));
        head.write(_mm512_add_epi64(fold(a_head.0, b_head.0, upper), fold(a_head.1, b_head.1, upper)));
        if low {
            tail.write(fold(low_tail(a), low_tail(b), upper));
        }
        *others = [short::last(a, secret), short::last(b, secret)];
    }
    let mut far = round.of_at_least(208);
    while let Some(a) = far.next() {
        let b = far.next();
        let sums = sum_pair(fold(high_tail(round.get(a)), high_tail(round.get(b.unwrap_or(a))), upper));
        others[a] = others[a].wrapping_add(sums[0]);
        if let Some(b) = b {
            others[b] = others[b].wrapping_add(sums[1]);
        }
    }
    let behind = tails.as_chunks().0.iter().zip(others.as_chunks().0);
    for (((lens, heads), (tails, others)), hashes) in
        round.lens().iter().zip(heads.as_chunks().0).zip(behind).zip(hashes.chunks_mut(8))
    {
        // SAFETY: the first loop has written a pair for each two frames of the round, four for each eight lengths.
        let h = _mm512_add_epi64(unsafe { after_heads(lens, heads) }, super::super::from_lanes(others));
        // SAFETY: the same, if `low`.
        put(hashes, avalanche(if low { _mm512_add_epi64(h, unsafe { sums(tails) }) } else { h }));
    }
}

/// The hashes of eight frames up to the first avalanche.
///
/// # Safety
/// The pairs have been written.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
unsafe fn after_heads(lens: &[u64; 8], heads: &[MaybeUninit<__m512i>; 4]) -> __m512i {
    let scaled = _mm512_mullo_epi64(super::super::from_lanes(lens), _mm512_set1_epi64(PRIME64_1 as i64));
    // SAFETY: the caller's promise.
    avalanche(_mm512_add_epi64(scaled, unsafe { sums(heads) }))
}

/// The sums of eight frames, each in the lane of its number.
///
/// # Safety
/// The pairs have been written.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
unsafe fn sums(pairs: &[MaybeUninit<__m512i>; 4]) -> __m512i {
    let halves = |a, b| {
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        let odd = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        _mm512_add_epi64(even, odd)
    };
    // SAFETY: written, by the caller's promise.
    let [a, b, c, d] = unsafe { pairs.as_ptr().cast::<[__m512i; 4]>().read() };
    halves(halves(a, b), halves(c, d))
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn put(hashes: &mut [u64], h: __m512i) {
    put_some(hashes, 0xFF, h);
}

/// Puts the lanes that the mask names, as far as there are hashes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
pub(super) fn put_some(hashes: &mut [u64], mask: u8, h: __m512i) {
    // In 32 bits, because a byte cannot be shifted by 8, for no hashes.
    let there = mask & (0xFF_u32 >> (8 - hashes.len().min(8))) as u8;
    // SAFETY: the mask names words of `hashes`, and the store needs no alignment.
    unsafe { _mm512_mask_storeu_epi64(hashes.as_mut_ptr().cast(), there, h) };
}

/// The words of a frame of 17 to 128 bytes, keyed: up to four products from either end.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn both_ends(frame: &[u8]) -> (__m512i, __m512i) {
    /// The words of as many products at the front of a vector and at the back.
    const MASKS: [[u8; 2]; 4] = [[0x03, 0xC0], [0x0F, 0xF0], [0x3F, 0xFC], [0xFF, 0xFF]];
    static FRONT: Key = key([0, 32, 64, 96]);
    static BACK: Key = key([112, 80, 48, 16]);
    let len = opaque_len(frame);
    assert!((17..=128).contains(&len));
    let [front_mask, back_mask] = MASKS[(len - 1) / 32];
    // SAFETY: no more than 16 bytes of each 32 that the frame has begun, and it has 17 at least.
    let front = unsafe { load_masked(frame.as_ptr(), front_mask) };
    // SAFETY: as many, at the end of 64 that end where the frame does.
    let back = unsafe { load_masked(frame.as_ptr().wrapping_add(len).wrapping_sub(64), back_mask) };
    (_mm512_maskz_xor_epi64(front_mask, front, load(&FRONT.0)), _mm512_maskz_xor_epi64(back_mask, back, load(&BACK.0)))
}

/// The words of the first eight products of a frame of 129 to 240 bytes, keyed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn words_of_head(frame: &[u8]) -> (__m512i, __m512i) {
    static LOW: Key = key([0, 16, 32, 48]);
    static HIGH: Key = key([64, 80, 96, 112]);
    let Some(head) = frame.first_chunk::<128>() else { unreachable!("the class") };
    let (halves, _) = head.as_chunks::<64>();
    (_mm512_xor_si512(load(&halves[0]), load(&LOW.0)), _mm512_xor_si512(load(&halves[1]), load(&HIGH.0)))
}

/// The words of the products in the 64 bytes that follow the first 128, keyed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn low_tail(frame: &[u8]) -> __m512i {
    static KEY: Key = key([3, 19, 35, 51]);
    const MASKS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x03, 0x0F, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF];
    let mask = MASKS[opaque_len(frame) / 16 % 16];
    // SAFETY: pieces of 16 bytes that lie whole in the frame; one of 256 bytes or more has all that any mask names.
    let words = unsafe { load_masked(frame.as_ptr().wrapping_add(128), mask) };
    _mm512_maskz_xor_epi64(mask, words, load(&KEY.0))
}

/// The words of the products in the 48 bytes that follow the first 192, keyed.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn high_tail(frame: &[u8]) -> __m512i {
    static KEY: Key = key([67, 83, 99, 0]);
    const MASKS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x03, 0x0F, 0x3F];
    let mask = MASKS[opaque_len(frame) / 16 % 16];
    // SAFETY: as in `low_tail`.
    let words = unsafe { load_masked(frame.as_ptr().wrapping_add(192), mask) };
    _mm512_maskz_xor_epi64(mask, words, load(&KEY.0))
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
///
/// # Safety
/// Those that it names may be read.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load_masked(from: *const u8, mask: u8) -> __m512i {
    // SAFETY: the caller's promise; a word that is masked off is not read, and the load needs no alignment.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.cast()) }
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
fn fold(x: __m512i, y: __m512i, upper: u16) -> __m512i {
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
    _mm512_xor_si512(high, with_high(low, cross, upper))
}

/// The sum of the even lanes, and that of the odd ones.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn sum_pair(v: __m512i) -> [u64; 2] {
    let v = _mm256_add_epi64(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v));
    let v = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let mut sums = [0; 2];
    // SAFETY: the array is 16 writable bytes and the store needs no alignment.
    unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), v) };
    sums
}

/// The upper halves of lanes, as a mask of 32-bit words.
///
/// Of which the compiler knows nothing: it would make the mask anew for each product, 2 % of the time.
#[target_feature(enable = "avx512f")]
#[inline]
fn upper_halves() -> u16 {
    let mut mask = 0xAAAA;
    #[cfg(not(miri))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(kreg) mask, options(pure, nomem, nostack, preserves_flags));
    }
    mask
}

/// The low half of each lane of `low`, above it the low half of `high`.
#[target_feature(enable = "avx512f")]
#[inline]
fn with_high(mut low: __m512i, high: __m512i, upper: u16) -> __m512i {
    #[cfg(miri)]
    {
        low = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(low, upper, high);
    }
    #[cfg(not(miri))]
    // SAFETY: the instruction reads and writes these registers only.
    unsafe {
        core::arch::asm!("vpshufd {0}{{{2}}}, {1}, 0xA0", inout(zmm_reg) low, in(zmm_reg) high, in(kreg) upper, options(pure, nomem, nostack, preserves_flags));
    }
    low
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
#[inline]
fn avalanche(h: __m512i) -> __m512i {
    let h = _mm512_xor_si512(h, _mm512_srli_epi64::<37>(h));
    let h = _mm512_mullo_epi64(h, _mm512_set1_epi64(PRIME_MX1 as i64));
    _mm512_xor_si512(h, _mm512_srli_epi64::<32>(h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xxh3::many;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
    fn put_nines(words: &mut [u64], mask: u8) {
        put_some(words, mask, _mm512_set1_epi64(9));
    }

    #[test]
    fn no_more_hashes_are_put_than_there_are_places() {
        if !many::TABLE.all()[0].is_available() {
            return;
        }
        for len in 0..=9 {
            for mask in 0..=u8::MAX {
                let mut words = [7; 17];
                // SAFETY: the CPU has the features of the kernel.
                unsafe { put_nines(&mut words[..len], mask) };
                for (i, word) in words.into_iter().enumerate() {
                    let put = i < len.min(8) && mask >> i & 1 == 1;
                    assert_eq!(word, if put { 9 } else { 7 }, "word {i} of {len}, mask {mask:#x}");
                }
            }
        }
    }
}
