//! Moving a residue over any number of bytes by four table entries: `len` in base 256, each digit its own power of x.

use super::polynomial::{ORDER, multiply, x_to_the};

/// `DIGITS[d][v]` is x^(8 * v * 256^d - 33): a product of two residues by one multiplication and one `crc32` of it comes
/// out multiplied by x^33.
pub(super) static DIGITS: [[u32; 256]; 4] = {
    let mut digits = [[0; 256]; 4];
    let mut d = 0;
    while d < 4 {
        let step = x_to_the(8 << (8 * d));
        digits[d][0] = x_to_the(-33);
        let mut v = 1;
        while v < 256 {
            digits[d][v] = multiply(digits[d][v - 1], step);
            v += 1;
        }
        d += 1;
    }
    digits
};

/// The digits of `len` modulo the order of x, the lowest first.
#[inline]
pub(super) fn digits(len: u64) -> [usize; 4] {
    let len = if len < ORDER { len } else { len % ORDER };
    (len as u32).to_le_bytes().map(usize::from)
}
