//! Up to 16 bytes by the `crc32` instruction, odd bytes first: zeros before the data do not change a register of 0.

use core::arch::x86_64::*;

/// The register `state` after 0 to 16 bytes.
#[target_feature(enable = "sse4.2")]
#[inline]
pub(super) fn state(state: u32, data: &[u8]) -> u32 {
    let len = data.len();
    let state = u64::from(state);
    if len >= 8 {
        // Two words of which the first lacks `before` bytes. The initial value may touch both.
        let before = 8 * (16 - len as u32);
        let high = (word(data, 0) ^ state).checked_shl(before).unwrap_or(0);
        let low = word(data, len - 8) ^ state.checked_shr(64 - before).unwrap_or(0);
        return _mm_crc32_u64(_mm_crc32_u64(0, high), low) as u32;
    }
    if len == 0 {
        return state as u32;
    }
    let word = if len >= 4 {
        half(data, 0) | half(data, len - 4) << (8 * (len - 4))
    } else {
        let byte = |at: usize| u64::from(data[at]) << (8 * at);
        byte(0) | byte(len / 2) | byte(len - 1)
    };
    // Less than 4 bytes leave some of the initial value over, moved down but not yet multiplied.
    _mm_crc32_u64(0, (word ^ state) << (64 - 8 * len)) as u32 ^ (state >> (8 * len)) as u32
}

#[inline]
fn word(data: &[u8], at: usize) -> u64 {
    data[at..].first_chunk().map_or(0, |w| u64::from_le_bytes(*w))
}

#[inline]
fn half(data: &[u8], at: usize) -> u64 {
    data[at..].first_chunk().map_or(0, |w| u32::from_le_bytes(*w).into())
}
