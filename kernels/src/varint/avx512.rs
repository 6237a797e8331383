//! Runs of varints in 512-bit vectors: windows of 64 bytes, one lane for each value.
//!
//! Where values end is the inverted mask of the continuation bits; shifted up by one it says where they start. Windows
//! lie a fixed step apart and hand each other one bit, so there is no chain of loads: the only thing that one window
//! has to know of the one before is how many values that has written. In a window a compress turns the mask of starts
//! into positions, a byte permutation brings each value to its lane, the bytes above its end are cleared by the mask
//! `t ^ (t - 1)` around its lowest clear continuation bit, and two multiply-adds close the gaps between the groups of
//! seven bits.

use super::{Error, has_run, portable};
use core::arch::x86_64::*;

/// Bytes between windows. Values that start here end within the window, and are seldom more than sixteen.
const STEP: usize = 40;

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// # Safety
/// Any bits are a value of the type.
unsafe trait Word {}
// SAFETY: an integer.
unsafe impl Word for u32 {}
// SAFETY: an integer.
unsafe impl Word for u64 {}

#[inline]
#[target_feature(enable = "avx512f")]
fn store<T: Word, const N: usize>(out: &mut [T; N], v: __m512i) {
    const { assert!(size_of::<T>() * N == 64) }
    // SAFETY: the array is 64 writable bytes, whose values may be any by the promise of `Word`; the store needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), v) }
}

/// The shape of both widths: `small` writes 64 values of one byte each, `group` makes `lanes` values of any length.
macro_rules! decode_run {
    ($name:ident, $value:ty, $lanes:literal, $max:expr, $small:ident, $group:ident) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,popcnt")]
        pub(super) fn $name(bytes: &[u8], out: &mut [$value]) -> Result<usize, Error> {
            let iota = iota();
            let (mut at, mut done, mut carry) = (0, 0, 1);
            while let (Some(window), Some(slots)) =
                (bytes.get(at..).and_then(<[u8]>::first_chunk::<64>), out[done..].first_chunk_mut::<64>())
            {
                let block = load(window);
                let continued = _mm512_movepi8_mask(block);
                let starts = !continued << 1 | carry;
                if continued == 0 && carry == 1 {
                    $small(window, slots);
                    (at, done) = (at + 64, done + 64);
                    continue;
                }
                if has_run::<{ $max }>(continued) {
                    break; // a value is too long: find out which
                }
                carry = !continued >> (STEP - 1) & 1;
                let starts = starts & ((1 << STEP) - 1);
                let count = starts.count_ones() as usize;
                let long = has_run::<8>(continued);
                let positions = _mm512_maskz_compress_epi8(starts, iota);
                let (groups, _) = slots.as_chunks_mut::<$lanes>();
                // Lanes past the last value hold garbage, which the next window overwrites.
                let needed = if count <= 16 { 16 / $lanes } else { STEP.div_ceil($lanes) };
                for (i, group) in groups[..needed].iter_mut().enumerate() {
                    store(group, $group(block, positions, i, long));
                }
                (at, done) = (at + STEP, done + count);
            }
            // The last window may have left off within a value that it has written.
            while at > 0 && at < bytes.len() && bytes[at - 1] >= 0x80 {
                at += 1;
            }
            portable::$name(&bytes[at..], &mut out[done..]).map(|len| at + len)
        }
    };
}

decode_run!(decode_run_u32, u32, 16, super::MAX_LEN_32, small_u32, group_u32);
decode_run!(decode_run_u64, u64, 8, super::MAX_LEN_64, small_u64, group_u64);

#[inline]
#[target_feature(enable = "avx512f")]
fn iota() -> __m512i {
    load(&core::array::from_fn(|i| i as u8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn small_u32(window: &[u8; 64], slots: &mut [u32; 64]) {
    for (bytes, group) in window.as_chunks::<16>().0.iter().zip(slots.as_chunks_mut::<16>().0) {
        // SAFETY: the array is 16 readable bytes and the load needs no alignment.
        let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        store(group, _mm512_cvtepu8_epi32(bytes));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn small_u64(window: &[u8; 64], slots: &mut [u64; 64]) {
    for (bytes, group) in window.as_chunks::<8>().0.iter().zip(slots.as_chunks_mut::<8>().0) {
        let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*bytes));
        store(group, _mm512_cvtepu8_epi64(bytes));
    }
}

const CONTINUED: i8 = -0x80;
const PAYLOAD: i8 = 0x7F;

/// Moves pairs of 7-bit groups together, then pairs of 14-bit groups: 28 bits in each 32-bit lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn join(groups: __m512i) -> __m512i {
    let fourteen = _mm512_maddubs_epi16(_mm512_set1_epi16(0x8001_u16 as i16), groups);
    _mm512_madd_epi16(fourteen, _mm512_set1_epi32(0x4000_0001))
}

/// Lanes `16 i ..` of the values whose first bytes are at `positions`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn group_u32(block: __m512i, positions: __m512i, i: usize, _long: bool) -> __m512i {
    let spread = load(&core::array::from_fn(|b| (b / 4) as u8));
    let spread = _mm512_add_epi8(spread, _mm512_set1_epi8((16 * i) as i8));
    let starts = _mm512_permutexvar_epi8(spread, positions);
    let word = _mm512_permutexvar_epi8(_mm512_add_epi8(starts, _mm512_set1_epi32(0x0302_0100)), block);
    let ends = _mm512_andnot_si512(word, _mm512_set1_epi8(CONTINUED));
    let below = _mm512_add_epi32(ends, _mm512_set1_epi32(-1));
    // word & (ends ^ below)
    let own = _mm512_ternarylogic_epi32::<0x60>(word, ends, below);
    let low = join(_mm512_and_si512(own, _mm512_set1_epi8(PAYLOAD)));
    let fifth = _mm512_permutexvar_epi8(_mm512_add_epi8(starts, _mm512_set1_epi32(0x0404_0404)), block);
    let fifth = _mm512_slli_epi32::<28>(fifth);
    let five = _mm512_testn_epi32_mask(ends, ends);
    _mm512_mask_or_epi32(low, five, low, fifth)
}

/// Lanes `8 i ..` of the values whose first bytes are at `positions`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn group_u64(block: __m512i, positions: __m512i, i: usize, long: bool) -> __m512i {
    let spread = load(&core::array::from_fn(|b| (b / 8) as u8));
    let spread = _mm512_add_epi8(spread, _mm512_set1_epi8((8 * i) as i8));
    let starts = _mm512_permutexvar_epi8(spread, positions);
    let word = _mm512_permutexvar_epi8(_mm512_add_epi8(starts, _mm512_set1_epi64(0x0706_0504_0302_0100)), block);
    let ends = _mm512_andnot_si512(word, _mm512_set1_epi8(CONTINUED));
    let below = _mm512_add_epi64(ends, _mm512_set1_epi64(-1));
    // word & (ends ^ below)
    let own = _mm512_ternarylogic_epi64::<0x60>(word, ends, below);
    let halves = join(_mm512_and_si512(own, _mm512_set1_epi8(PAYLOAD)));
    // The upper 28 bits move down by four to meet the lower 28: mask ? halves : halves >> 4.
    let low = _mm512_set1_epi64(0x0FFF_FFFF);
    let value = _mm512_ternarylogic_epi64::<0xCA>(low, halves, _mm512_srli_epi64::<4>(halves));
    if !long {
        return value;
    }
    let word = _mm512_permutexvar_epi8(_mm512_add_epi8(starts, _mm512_set1_epi64(0x0909_0909_0909_0908)), block);
    let nine = _mm512_testn_epi64_mask(ends, ends);
    let ends = _mm512_andnot_si512(word, _mm512_set1_epi8(CONTINUED));
    let below = _mm512_add_epi64(ends, _mm512_set1_epi64(-1));
    let own = _mm512_ternarylogic_epi64::<0x60>(word, ends, below);
    let high = _mm512_slli_epi64::<56>(join(_mm512_and_si512(own, _mm512_set1_epi64(0x7F7F))));
    _mm512_mask_or_epi64(value, nine, value, high)
}
