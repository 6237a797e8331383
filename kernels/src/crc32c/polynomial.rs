//! Arithmetic modulo the CRC-32C polynomial, at compile time.
//!
//! A polynomial is a `u32` in reflected order: bit 31 is the coefficient of x^0.

/// The Castagnoli polynomial, reflected, without its x^32.
pub(super) const P: u32 = 0x82F6_3B78;

/// `p * x mod P`.
pub(super) const fn times_x(p: u32) -> u32 {
    (p >> 1) ^ (if p & 1 == 1 { P } else { 0 })
}

/// `x^n mod P`.
pub(super) const fn x_to_the(n: u64) -> u32 {
    let mut p = 1 << 31;
    let mut i = 0;
    while i < n {
        p = times_x(p);
        i += 1;
    }
    p
}

/// The two factors that carry a 128-bit lane `bytes` further when folding, low half first.
///
/// A carry-less product of reflected operands comes out one bit short, hence the shift left by one.
pub(super) const fn fold_keys(bytes: usize) -> [u64; 2] {
    let bits = 8 * bytes as u64;
    [(x_to_the(bits + 32) as u64) << 1, (x_to_the(bits - 32) as u64) << 1]
}
