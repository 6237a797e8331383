//! Runs of varints in 128-bit vectors, two values at a time; the shape is that of the AVX2 kernel.

use super::{Error, portable};
use core::arch::aarch64::*;

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the array is 16 readable bytes and the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_u64(out: &mut [u64; 2], v: uint64x2_t) {
    // SAFETY: the array is 16 writable bytes and the store needs no alignment.
    unsafe { vst1q_u64(out.as_mut_ptr(), v) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_u32(out: &mut [u32; 2], v: uint64x2_t) {
    // SAFETY: the array is 8 writable bytes and the store needs no alignment.
    unsafe { vst1_u32(out.as_mut_ptr(), vmovn_u64(v)) }
}

/// The continuation bits of 64 bytes.
#[inline]
#[target_feature(enable = "neon")]
fn continued(block: &[u8; 64]) -> u64 {
    let weights = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    let (parts, _) = block.as_chunks::<16>();
    let bits = |part| vandq_u8(vreinterpretq_u8_s8(vshrq_n_s8::<7>(vreinterpretq_s8_u8(load(part)))), weights);
    // Each addition of neighbours halves the bytes; after three of them a byte holds the bits of eight.
    let low = vpaddq_u8(bits(&parts[0]), bits(&parts[1]));
    let high = vpaddq_u8(bits(&parts[2]), bits(&parts[3]));
    let all = vpaddq_u8(low, high);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(all, all)))
}

/// The values that start in the lowest byte of each lane and end in it.
#[inline]
#[target_feature(enable = "neon")]
fn extract(words: uint64x2_t) -> uint64x2_t {
    let ends = vbicq_u64(vdupq_n_u64(0x8080_8080_8080_8080), words);
    let below = vaddq_u64(ends, vdupq_n_u64(u64::MAX));
    let payload = vandq_u64(words, vdupq_n_u64(0x7F7F_7F7F_7F7F_7F7F));
    let own = vreinterpretq_u16_u64(vandq_u64(payload, veorq_u64(ends, below)));
    // The upper half of each lane moves down to meet the lower one: by 1 bit, by 2, by 4.
    let half = vdupq_n_u16(0xFF);
    let fourteen = vreinterpretq_u32_u16(vsraq_n_u16::<1>(vandq_u16(own, half), vbicq_u16(own, half)));
    let half = vdupq_n_u32(0xFFFF);
    let halves = vreinterpretq_u64_u32(vsraq_n_u32::<2>(vandq_u32(fourteen, half), vbicq_u32(fourteen, half)));
    let half = vdupq_n_u64(0xFFFF_FFFF);
    vsraq_n_u64::<4>(vandq_u64(halves, half), vbicq_u64(halves, half))
}

macro_rules! decode_run {
    ($name:ident, $value:ty, $max:expr, $store:ident) => {
        #[target_feature(enable = "neon")]
        pub(super) fn $name(bytes: &[u8], out: &mut [$value]) -> Result<usize, Error> {
            let (mut at, mut done) = (0, 0);
            // Eight bytes more than the mask covers, for the load of a value that starts at the end.
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
                    for two in eight.as_chunks_mut::<2>().0 {
                        let mut words = [0; 2];
                        for word in &mut words {
                            // `start` is at most 63; the mask tells the compiler.
                            let bytes = block[start & 63..].first_chunk::<8>().expect("8 of the 72 bytes");
                            *word = u64::from_le_bytes(*bytes);
                            start = left.trailing_zeros() as usize + 1;
                            left &= left - 1;
                        }
                        $store(two, extract(vcombine_u64(vcreate_u64(words[0]), vcreate_u64(words[1]))));
                    }
                }
                (at, done) = (at + start, done + used);
            }
            portable::$name(&bytes[at..], &mut out[done..]).map(|len| at + len)
        }
    };
}

decode_run!(decode_run_u32, u32, super::MAX_LEN_32, store_u32);
decode_run!(decode_run_u64, u64, super::MAX_LEN_64, store_u64);
