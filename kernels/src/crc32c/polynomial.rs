//! Arithmetic modulo the CRC-32C polynomial, at compile time.
//!
//! A polynomial is a `u32` in reflected order: bit 31 is the coefficient of x^0. Wider registers are read the same way,
//! so that a `u32` in the low half of a `u64` counts x^32 times as much there.

/// The Castagnoli polynomial, reflected, without its x^32.
pub(super) const P: u32 = 0x82F6_3B78;

/// `x` to this power is 1, so every exponent counts modulo it, negative ones too.
pub(super) const ORDER: u64 = (1 << 31) - 1;

/// `p * x mod P`.
pub(super) const fn times_x(p: u32) -> u32 {
    (p >> 1) ^ (if p & 1 == 1 { P } else { 0 })
}

/// `a * b mod P`.
pub(super) const fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        if a >> bit & 1 == 1 {
            product ^= b;
        }
        b = times_x(b);
    }
    product
}

/// `x^n mod P`.
pub(super) const fn x_to_the(n: i64) -> u32 {
    let mut rest = n.rem_euclid(ORDER as i64);
    let mut square = 1 << 30;
    let mut power = 1 << 31;
    while rest > 0 {
        if rest & 1 == 1 {
            power = multiply(power, square);
        }
        square = multiply(square, square);
        rest >>= 1;
    }
    power
}

/// The two factors that carry a 128-bit lane `bytes` further, low half first.
///
/// A carry-less product of reflected operands comes out one bit short, hence the shift left by one.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const fn fold_keys(bytes: i64) -> [u64; 2] {
    [(x_to_the(8 * bytes + 32) as u64) << 1, (x_to_the(8 * bytes - 32) as u64) << 1]
}
