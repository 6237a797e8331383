//! Runs of varints with `pext`: the ends of up to sixteen values are peeled off one mask of 64 bytes.
//!
//! Positions come out of the mask one cycle apart; the way from block to block is one `pdep`, which finds the last end
//! that is used. For CPUs that have BMI2 and not AVX2, or whose AVX2 is switched off.

use super::{Error, portable};
use core::arch::x86_64::*;

const CONTINUED: u64 = 0x8080_8080_8080_8080;
const PAYLOAD: u64 = !CONTINUED;

/// The continuation bits of 64 bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn continued(block: &[u8; 64]) -> u64 {
    let mut mask = 0;
    for (i, part) in block.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: the array is 16 readable bytes and the load needs no alignment.
        let part = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
        mask |= u64::from(_mm_movemask_epi8(part) as u32) << (16 * i);
    }
    mask
}

macro_rules! decode_run {
    ($name:ident, $value:ty, $max:expr, $extract:ident) => {
        #[target_feature(enable = "sse2,bmi1,bmi2,popcnt")]
        pub(super) fn $name(bytes: &[u8], out: &mut [$value]) -> Result<usize, Error> {
            let (mut at, mut done) = (0, 0);
            // Seven bytes more than the mask covers, for the load of a value that starts at the end.
            while let (Some(block), Some(slots)) =
                (bytes[at..].first_chunk::<72>(), out[done..].first_chunk_mut::<64>())
            {
                let continued = continued(block.first_chunk().expect("64 of 72"));
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
                    for slot in eight {
                        let end = left.trailing_zeros() as usize;
                        left &= left - 1;
                        // `start` is at most 63; the mask tells the compiler.
                        let word = block[start & 63..].first_chunk::<8>().expect("8 of the 72 bytes");
                        *slot = $extract(u64::from_le_bytes(*word)) as $value;
                        start = end + 1;
                    }
                }
                at += _pdep_u64(1 << (used - 1), ends).trailing_zeros() as usize + 1;
                done += used;
            }
            portable::$name(&bytes[at..], &mut out[done..]).map(|len| at + len)
        }
    };
}

decode_run!(decode_run_u32, u32, super::MAX_LEN_32, extract);
decode_run!(decode_run_u64, u64, super::MAX_LEN_64, extract);

/// The value that starts in the lowest byte of `word` and ends in it.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn extract(word: u64) -> u64 {
    let ends = !word & CONTINUED;
    _pext_u64(word & (ends ^ ends.wrapping_sub(1)), PAYLOAD)
}
