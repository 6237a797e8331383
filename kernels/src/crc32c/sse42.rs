//! The `crc32` instruction, three streams at a time.
//!
//! One stream waits three cycles for each word; three of them fill the unit. Their states are joined by shifting the
//! earlier ones over the bytes of the later ones, a linear map that four table look-ups apply.

use super::polynomial::x_to_the;
use super::tiny;
use core::arch::x86_64::*;

/// Bytes of one stream in a long and in a short round.
const LONG: usize = 1024;
const SHORT: usize = 128;

/// For each byte of a state, what it becomes after the given number of zero bytes.
type Shift = [[u32; 256]; 4];

static OVER_LONG: Shift = shift(LONG);
static OVER_SHORT: Shift = shift(SHORT);

const fn shift(bytes: usize) -> Shift {
    // Column i is x^(31 - i) * x^(8 * bytes): the image of state bit i.
    let mut columns = [0; 32];
    let mut i = 32;
    let mut p = x_to_the(8 * bytes as i64);
    while i > 0 {
        i -= 1;
        columns[i] = p;
        p = super::polynomial::times_x(p);
    }
    let mut t = [[0; 256]; 4];
    let mut at = 0;
    while at < 4 * 256 {
        let (byte, value) = (at / 256, at % 256);
        let mut bit = 0;
        while bit < 8 {
            if value >> bit & 1 == 1 {
                t[byte][value] ^= columns[8 * byte + bit];
            }
            bit += 1;
        }
        at += 1;
    }
    t
}

fn apply(shift: &Shift, state: u64) -> u64 {
    let [a, b, c, d] = (state as u32).to_le_bytes();
    u64::from(shift[0][usize::from(a)] ^ shift[1][usize::from(b)] ^ shift[2][usize::from(c)] ^ shift[3][usize::from(d)])
}

#[target_feature(enable = "sse4.2")]
#[inline]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (state, rest) = rounds::<LONG>(u64::from(!crc), data, &OVER_LONG);
    let (state, rest) = rounds::<SHORT>(state, rest, &OVER_SHORT);
    !chain(state, rest)
}

#[target_feature(enable = "sse4.2")]
pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    super::blocks::copy(dst, src, |crc, data| update(crc, data))
}

#[target_feature(enable = "sse4.2")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    super::blocks::many(frames, crcs, |data| update(0, data));
}

#[target_feature(enable = "sse4.2")]
#[inline]
fn rounds<'a, const STREAM: usize>(mut state: u64, mut data: &'a [u8], over: &Shift) -> (u64, &'a [u8]) {
    while data.len() >= 3 * STREAM {
        let (round, rest) = data.split_at(3 * STREAM);
        let (first, others) = round.split_at(STREAM);
        let (second, third) = others.split_at(STREAM);
        let (mut s1, mut s2) = (0, 0);
        let words = first.as_chunks::<8>().0.iter().zip(second.as_chunks::<8>().0).zip(third.as_chunks::<8>().0);
        for ((a, b), c) in words {
            state = _mm_crc32_u64(state, u64::from_le_bytes(*a));
            s1 = _mm_crc32_u64(s1, u64::from_le_bytes(*b));
            s2 = _mm_crc32_u64(s2, u64::from_le_bytes(*c));
        }
        state = apply(over, apply(over, state) ^ s1) ^ s2;
        data = rest;
    }
    (state, data)
}

/// One stream, its odd bytes first; takes and returns the raw state.
#[target_feature(enable = "sse4.2")]
#[inline]
pub(super) fn chain(state: u64, data: &[u8]) -> u32 {
    if data.len() <= 16 {
        return tiny::state(state as u32, data);
    }
    let (mut state, mut words) = (state, data);
    if !data.len().is_multiple_of(8) {
        // At least 9 bytes take in all of the state, and behind them there is no tail.
        let first;
        (first, words) = data.split_at(9 + (data.len() - 9) % 8);
        state = tiny::state(state as u32, first).into();
    }
    words.as_chunks::<8>().0.iter().fold(state, |state, word| _mm_crc32_u64(state, u64::from_le_bytes(*word))) as u32
}
