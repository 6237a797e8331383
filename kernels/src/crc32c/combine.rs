//! A residue moved over bytes: multiplication by x^(8n), the linear map behind combining, cutting and patching.

use super::polynomial::{ORDER, multiply, x_to_the};
use super::portable;

/// `DIGITS[i][d]` is x^(8 * d * 256^i): the factor of digit `i` of a length, lowest first.
pub(super) static DIGITS: [[u32; 256]; 4] = [powers(0, 0), powers(1, 0), powers(2, 0), powers(3, 0)];

/// x^(8 * d * 256^digit + offset) for every byte `d`.
pub(super) const fn powers(digit: u32, offset: i64) -> [u32; 256] {
    let step = x_to_the(8 << (8 * digit));
    let mut table = [0; 256];
    let mut power = x_to_the(offset);
    let mut d = 0;
    while d < 256 {
        table[d] = power;
        power = multiply(power, step);
        d += 1;
    }
    table
}

/// The bytes of `len` modulo the order of x^8, which is that of x.
#[inline]
pub(super) const fn digits(len: u64) -> [u8; 4] {
    // Few lengths need the division.
    let len = if len < ORDER { len } else { len % ORDER };
    (len as u32).to_le_bytes()
}

/// The length that undoes `len`.
pub(super) const fn inverse(len: u64) -> u64 {
    ORDER - len % ORDER
}

/// The product of two residues by 16 integer multiplications of every fourth bit, whose carries die in the gaps.
const fn product(a: u32, b: u32) -> u32 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let mut wide = 0;
    let mut sum = 0;
    while sum < 4 {
        let mut bits = 0;
        let mut i = 0;
        while i < 4 {
            let j = (4 + sum - i) % 4;
            bits ^= (a as u64 & EVERY_FOURTH << i) * (b as u64 & EVERY_FOURTH << j);
            i += 1;
        }
        wide |= bits & EVERY_FOURTH << sum;
        sum += 1;
    }
    // One bit short, as every product of reflected operands.
    let wide = wide << 1;
    (wide >> 32) as u32 ^ portable::over_4_zeros(wide as u32)
}

/// How a CRC-32C changes when a known number of bytes follows: [`combine`](super::combine) with its second half of the
/// work done, at compile time where the length is a constant.
///
/// ```
/// use batchwise_kernels::crc32c::{Shift, crc32c};
/// const BODY: Shift = Shift::over(5);
/// assert_eq!(BODY.combine(crc32c(b"head "), crc32c(b"body.")), crc32c(b"head body."));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift(u32);

impl Shift {
    /// The shift over `len` bytes.
    #[must_use]
    pub const fn over(len: u64) -> Shift {
        let [a, b, c, d] = digits(len);
        let mut power = DIGITS[0][a as usize];
        if b != 0 {
            power = product(power, DIGITS[1][b as usize]);
        }
        if c != 0 {
            power = product(power, DIGITS[2][c as usize]);
        }
        if d != 0 {
            power = product(power, DIGITS[3][d as usize]);
        }
        Shift(power)
    }

    /// The shift over the bytes of both.
    #[must_use]
    pub const fn and(self, other: Shift) -> Shift {
        Shift(product(self.0, other.0))
    }

    /// The CRC of `a` followed by `b`, from the CRCs of both; `self` is over the bytes of `b`.
    #[must_use]
    pub const fn combine(self, crc_a: u32, crc_b: u32) -> u32 {
        self.advance(crc_a) ^ crc_b
    }

    /// As [`advance`](super::advance()).
    #[must_use]
    pub const fn advance(self, residue: u32) -> u32 {
        product(self.0, residue)
    }
}
