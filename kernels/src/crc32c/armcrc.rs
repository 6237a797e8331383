//! The `crc32c` instructions of aarch64: three chains, which their latency of two or three cycles asks for.

use super::digits::{DIGITS, digits};
use super::polynomial::{multiply, x_to_the};
use core::arch::aarch64::{__crc32cb, __crc32cd};

/// Bytes of one chain in a round.
const CHAIN: usize = 1024;

/// For each byte of a register, what it becomes after `CHAIN` zero bytes.
static OVER: [[u32; 256]; 4] = {
    let over = x_to_the(8 * CHAIN as i64);
    let mut t = [[0; 256]; 4];
    let mut at = 0;
    while at < 4 * 256 {
        let (byte, value) = (at / 256, at % 256);
        t[byte][value] = multiply((value as u32) << (8 * byte), over);
        at += 1;
    }
    t
};

fn over(state: u32) -> u32 {
    let [a, b, c, d] = state.to_le_bytes().map(usize::from);
    OVER[0][a] ^ OVER[1][b] ^ OVER[2][c] ^ OVER[3][d]
}

#[target_feature(enable = "crc")]
pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let (rounds, rest) = data.as_chunks::<{ 3 * CHAIN }>();
    let mut state = !crc;
    for round in rounds {
        let (a, bc) = round.as_chunks::<8>().0.split_at(CHAIN / 8);
        let (b, c) = bc.split_at(CHAIN / 8);
        let (mut s1, mut s2) = (0, 0);
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            state = __crc32cd(state, u64::from_le_bytes(*a));
            s1 = __crc32cd(s1, u64::from_le_bytes(*b));
            s2 = __crc32cd(s2, u64::from_le_bytes(*c));
        }
        state = over(over(state) ^ s1) ^ s2;
    }
    !chain(state, rest)
}

/// One chain, to the last byte.
#[target_feature(enable = "crc")]
#[inline]
pub(super) fn chain(state: u32, data: &[u8]) -> u32 {
    let (words, tail) = data.as_chunks::<8>();
    let state = words.iter().fold(state, |state, word| __crc32cd(state, u64::from_le_bytes(*word)));
    tail.iter().fold(state, |state, &b| __crc32cb(state, b))
}

/// `a * b * x^33 mod P` for a product taken by `multiply`.
#[target_feature(enable = "crc")]
#[inline]
pub(super) fn advance(residue: u32, len: u64, product: impl Fn(u32, u32) -> u64) -> u32 {
    let [a, b, c, d] = digits(len);
    let times = |a, b| __crc32cd(0, product(a, b));
    if b | c | d == 0 {
        return times(residue, DIGITS[0][a]);
    }
    times(residue, times(times(DIGITS[0][a], DIGITS[1][b]), times(DIGITS[2][c], DIGITS[3][d])))
}

/// The register after the bytes in which `old` and `new` differ, from 0.
#[target_feature(enable = "crc")]
#[inline]
pub(super) fn difference(old: &[u8], new: &[u8]) -> u32 {
    assert_eq!(old.len(), new.len(), "a patch has one length");
    let (odd_old, old) = old.as_rchunks::<8>();
    let (odd_new, new) = new.as_rchunks::<8>();
    let odd = odd_old.iter().zip(odd_new).fold(0, |state, (a, b)| __crc32cb(state, a ^ b));
    old.iter().zip(new).fold(odd, |state, (a, b)| __crc32cd(state, u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)))
}

#[target_feature(enable = "crc")]
pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    assert_eq!(dst.len(), src.len(), "a copy has one length");
    dst.copy_from_slice(src);
    update(0, src)
}

#[target_feature(enable = "crc")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    assert_eq!(frames.len(), crcs.len(), "one CRC for each frame");
    for (frame, crc) in frames.iter().zip(crcs) {
        *crc = update(0, frame);
    }
}
