//! Runs of varints in 256-bit vectors, four values at a time, without `pext`, which is slow on some CPUs with AVX2.
//!
//! Ends are peeled off a mask of 64 bytes as in the BMI2 kernel; then four words of eight bytes each go through one
//! vector: clear what lies above the value, close the gaps between the groups of seven bits.

use super::{Error, portable};
use core::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array is 32 readable bytes and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_u64(out: &mut [u64; 4], v: __m256i) {
    // SAFETY: the array is 32 writable bytes and the store needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_u32(out: &mut [u32; 4], v: __m256i) {
    let narrow = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0));
    let narrow = _mm256_castsi256_si128(narrow);
    // SAFETY: the array is 16 writable bytes and the store needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), narrow) }
}

/// The values that start in the lowest byte of each lane and end in it.
#[inline]
#[target_feature(enable = "avx2")]
fn extract(words: __m256i) -> __m256i {
    let ends = _mm256_andnot_si256(words, _mm256_set1_epi8(-0x80));
    let below = _mm256_add_epi64(ends, _mm256_set1_epi64x(-1));
    let own = _mm256_and_si256(_mm256_and_si256(words, _mm256_set1_epi8(0x7F)), _mm256_xor_si256(ends, below));
    let fourteen = _mm256_maddubs_epi16(_mm256_set1_epi16(0x8001_u16 as i16), own);
    let halves = _mm256_madd_epi16(fourteen, _mm256_set1_epi32(0x4000_0001));
    // The upper 28 bits move down by four to meet the lower 28.
    let low = _mm256_set1_epi64x(0x0FFF_FFFF);
    _mm256_or_si256(_mm256_and_si256(low, halves), _mm256_andnot_si256(low, _mm256_srli_epi64::<4>(halves)))
}

macro_rules! decode_run {
    ($name:ident, $value:ty, $max:expr, $store:ident) => {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        pub(super) fn $name(bytes: &[u8], out: &mut [$value]) -> Result<usize, Error> {
            let (mut at, mut done) = (0, 0);
            // Eight bytes more than the mask covers, for the load of a value that starts at the end.
            while let (Some(block), Some(slots)) =
                (bytes[at..].first_chunk::<72>(), out[done..].first_chunk_mut::<64>())
            {
                let (halves, _) = block.as_chunks::<32>();
                let continued = u64::from(_mm256_movemask_epi8(load(&halves[0])) as u32)
                    | u64::from(_mm256_movemask_epi8(load(&halves[1])) as u32) << 32;
                if continued == 0 {
                    for (slot, &b) in slots.iter_mut().zip(block) {
                        *slot = <$value>::from(b);
                    }
                    (at, done) = (at + 64, done + 64);
                    continue;
                }
                let ends = !continued;
                let count = (ends.count_ones() as usize).min(16);
                // Values of nine bytes and more, and invalid ones, are not worth a path of their own.
                if super::has_run::<{ if $max < 8 { $max } else { 8 } }>(continued) || count < 8 {
                    let (value, len) = portable::decode::<{ $max }>(&bytes[at..])?;
                    slots[0] = value as $value;
                    (at, done) = (at + len, done + 1);
                    continue;
                }
                let (used, mut left, mut start) = (if count == 16 { 16 } else { 8 }, ends, 0);
                for eight in slots[..used].as_chunks_mut::<8>().0 {
                    for four in eight.as_chunks_mut::<4>().0 {
                        let mut words = [0_i64; 4];
                        for word in &mut words {
                            // `start` is at most 63; the mask tells the compiler.
                            let bytes = block[start & 63..].first_chunk::<8>().expect("8 of the 72 bytes");
                            *word = i64::from_le_bytes(*bytes);
                            start = left.trailing_zeros() as usize + 1;
                            left &= left - 1;
                        }
                        $store(four, extract(_mm256_setr_epi64x(words[0], words[1], words[2], words[3])));
                    }
                }
                at += _pdep_u64(1 << (used - 1), ends).trailing_zeros() as usize + 1;
                done += used;
            }
            portable::$name(&bytes[at..], &mut out[done..]).map(|len| at + len)
        }
    };
}

decode_run!(decode_run_u32, u32, super::MAX_LEN_32, store_u32);
decode_run!(decode_run_u64, u64, super::MAX_LEN_64, store_u64);
