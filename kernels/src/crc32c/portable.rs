//! Slicing by 16: one table look-up per byte, sixteen of them independent of each other.

use super::{combine::Shift, polynomial::times_x};

/// `TABLES[k][b]` is the CRC register after byte `b` and `k` zero bytes.
static TABLES: [[u32; 256]; 16] = tables();

const fn tables() -> [[u32; 256]; 16] {
    let mut t = [[0; 256]; 16];
    let mut b = 0;
    while b < 256 {
        let mut p = b as u32;
        let mut bit = 0;
        while bit < 8 {
            p = times_x(p);
            bit += 1;
        }
        t[0][b] = p;
        b += 1;
    }
    let mut k = 1;
    while k < 16 {
        let mut b = 0;
        while b < 256 {
            let p = t[k - 1][b];
            t[k][b] = (p >> 8) ^ t[0][(p & 0xFF) as usize];
            b += 1;
        }
        k += 1;
    }
    t
}

/// The register after four zero bytes.
pub(super) const fn over_4_zeros(state: u32) -> u32 {
    let [a, b, c, d] = state.to_le_bytes();
    TABLES[3][a as usize] ^ TABLES[2][b as usize] ^ TABLES[1][c as usize] ^ TABLES[0][d as usize]
}

pub(super) fn update(crc: u32, data: &[u8]) -> u32 {
    let mut state = !crc;
    let (blocks, tail) = data.as_chunks::<16>();
    for block in blocks {
        let mut block = *block;
        for (b, s) in block.iter_mut().zip(state.to_le_bytes()) {
            *b ^= s;
        }
        state = block.iter().rev().zip(&TABLES).fold(0, |acc, (&b, table)| acc ^ table[usize::from(b)]);
    }
    for &b in tail {
        state = (state >> 8) ^ TABLES[0][usize::from(state as u8 ^ b)];
    }
    !state
}

pub(super) fn advance(residue: u32, len: u64) -> u32 {
    Shift::over(len).advance(residue)
}

pub(super) fn patch(crc: u32, old: &[u8], new: &[u8], tail_len: u64) -> u32 {
    assert_eq!(old.len(), new.len(), "a patch has one length");
    // Equal lengths, so that the effect of the initial value cancels.
    crc ^ advance(update(0, old) ^ update(0, new), tail_len)
}

pub(super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
    assert_eq!(dst.len(), src.len(), "a copy has one length");
    dst.copy_from_slice(src);
    update(0, src)
}

pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
    assert_eq!(frames.len(), crcs.len(), "one CRC for each frame");
    for (frame, crc) in frames.iter().zip(crcs) {
        *crc = update(0, frame);
    }
}
