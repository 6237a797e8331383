//! CRC-32C (Castagnoli): reflected polynomial `0x82F63B78`, initial value and final XOR `0xFFFFFFFF`.
//!
//! Values are finished CRCs: [`update()`]`(crc, data)` continues where `crc` ended, `crc32c(b"")` is 0.
//!
//! Beside the checksum of one piece of memory there is what a broker needs around it: the checksum while copying
//! ([`copy()`]), of many small frames at once ([`many()`]), of scattered or dribbling input ([`Hasher`]), and arithmetic on
//! finished CRCs that never touches the data ([`combine`], [`shift`], [`remove_prefix`], [`remove_suffix`], [`patch()`]).

#[cfg(target_arch = "aarch64")]
mod armcrc;
#[cfg(target_arch = "x86_64")]
mod blocks;
mod combine;
#[cfg(target_arch = "x86_64")]
mod cpu;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod digits;
#[cfg(target_arch = "aarch64")]
mod eor3;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod fused;
#[cfg(target_arch = "x86_64")]
mod fused512;
mod hasher;
#[cfg(target_arch = "x86_64")]
mod many512;
#[cfg(target_arch = "x86_64")]
mod pclmul;
#[cfg(target_arch = "aarch64")]
mod pmull;
mod polynomial;
mod portable;
#[cfg(target_arch = "x86_64")]
mod short512;
#[cfg(target_arch = "x86_64")]
mod sse42;
#[cfg(target_arch = "x86_64")]
mod tiny;
#[cfg(target_arch = "x86_64")]
mod vpclmul256;

pub use combine::Shift;
#[cfg(target_arch = "x86_64")]
use fused512::{golden_cove, zen4, zen5};
pub use hasher::Hasher;

/// CRC-32C of `data`.
///
/// ```
/// assert_eq!(batchwise_kernels::crc32c::crc32c(b"123456789"), 0xE306_9283);
/// ```
#[inline]
#[must_use]
pub fn crc32c(data: &[u8]) -> u32 {
    update(0, data)
}

kernels! {
    /// Continues the CRC-32C `crc` over `data`: `update(crc32c(a), b)` is the CRC of `a` followed by `b`.
    #[must_use]
    pub fn update(crc: u32, data: &[u8]) -> u32 {
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::has_three_crc32_units => zen5::update,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::multiplies_every_cycle => golden_cove::update,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"] => zen4::update,
        "x86_64" ["sse4.2", "pclmulqdq", "avx2", "vpclmulqdq"] => vpclmul256::update,
        "x86_64" ["sse4.2", "pclmulqdq"] => pclmul::update,
        "x86_64" ["sse4.2"] => sse42::update,
        "aarch64" ["neon", "crc", "aes", "sha3"] => eor3::update,
        "aarch64" ["neon", "crc", "aes"] => pmull::update,
        "aarch64" ["crc"] => armcrc::update,
        portable => portable::update,
    }
}

kernels! {
    /// Copies `src` to `dst` and returns the CRC-32C of what it copied.
    ///
    /// ```
    /// let mut log = [0; 9];
    /// assert_eq!(batchwise_kernels::crc32c::copy(&mut log, b"123456789"), 0xE306_9283);
    /// assert_eq!(&log, b"123456789");
    /// ```
    ///
    /// # Panics
    /// If the slices differ in length, as [`slice::copy_from_slice`] does.
    pub fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::has_three_crc32_units => zen5::copy,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::multiplies_every_cycle => golden_cove::copy,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"] => zen4::copy,
        "x86_64" ["sse4.2", "pclmulqdq", "avx2", "vpclmulqdq"] => vpclmul256::copy,
        "x86_64" ["sse4.2", "pclmulqdq"] => pclmul::copy,
        "x86_64" ["sse4.2"] => sse42::copy,
        "aarch64" ["neon", "crc", "aes"] => pmull::copy,
        "aarch64" ["crc"] => armcrc::copy,
        portable => portable::copy,
    }
}

kernels! {
    /// The CRC-32C of each of many independent `frames`; faster than one call for each when they are small.
    ///
    /// ```
    /// let mut crcs = [0; 2];
    /// batchwise_kernels::crc32c::many(&[b"123456789", b""], &mut crcs);
    /// assert_eq!(crcs, [0xE306_9283, 0]);
    /// ```
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn many(frames: &[&[u8]], crcs: &mut [u32]) -> () {
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::has_three_crc32_units => zen5::many,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"]
            if cpu::multiplies_every_cycle => golden_cove::many,
        "x86_64" ["sse4.2", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vpclmulqdq"] => zen4::many,
        "x86_64" ["sse4.2", "pclmulqdq", "avx2", "vpclmulqdq"] => vpclmul256::many,
        "x86_64" ["sse4.2", "pclmulqdq"] => pclmul::many,
        "x86_64" ["sse4.2"] => sse42::many,
        "aarch64" ["neon", "crc", "aes"] => pmull::many,
        "aarch64" ["crc"] => armcrc::many,
        portable => portable::many,
    }
}

kernels! {
    /// The CRC-32C of data in which `old` became `new`, from the CRC-32C `crc` before and without the rest of the data;
    /// `tail_len` is the number of bytes behind the change.
    ///
    /// Only the difference enters: where `crc` did not match the data before, the result does not match them after, so a
    /// rewritten header never hides damage elsewhere.
    ///
    /// ```
    /// use batchwise_kernels::crc32c::{crc32c, patch};
    /// let crc = crc32c(b"offset 00000, payload");
    /// assert_eq!(patch(crc, b"00000", b"12345", 9), crc32c(b"offset 12345, payload"));
    /// ```
    ///
    /// # Panics
    /// If `old` and `new` differ in length.
    #[must_use]
    pub fn patch(crc: u32, old: &[u8], new: &[u8], tail_len: u64) -> u32 {
        "x86_64" ["sse4.2", "pclmulqdq"] => pclmul::patch,
        "aarch64" ["neon", "crc", "aes"] => pmull::patch,
        portable => portable::patch,
    }
}

kernels! {
    /// `residue` moved over `len` bytes: its product with x^(8 * `len`) modulo the polynomial.
    ///
    /// The linear map behind [`combine`] and its kin, for those who build others:
    /// `advance(a ^ b, n) == advance(a, n) ^ advance(b, n)`.
    #[must_use]
    pub fn advance(residue: u32, len: u64) -> u32 {
        "x86_64" ["sse4.2", "pclmulqdq"] => pclmul::advance,
        "aarch64" ["neon", "crc", "aes"] => pmull::advance,
        portable => portable::advance,
    }
}

/// The CRC-32C of `a` followed by `b`, from the CRCs of both and the length of `b` in bytes.
///
/// Takes the same few nanoseconds for any length; [`Shift`] does part of the work in advance.
///
/// ```
/// use batchwise_kernels::crc32c::{combine, crc32c};
/// assert_eq!(combine(crc32c(b"1234"), crc32c(b"56789"), 5), crc32c(b"123456789"));
/// ```
#[inline]
#[must_use]
pub fn combine(crc_a: u32, crc_b: u32, len_b: u64) -> u32 {
    advance(crc_a, len_b) ^ crc_b
}

/// The CRC-32C of data followed by `zeros` zero bytes, from the CRC-32C of the data.
///
/// ```
/// use batchwise_kernels::crc32c::{crc32c, shift};
/// assert_eq!(shift(crc32c(b"padded"), 2), crc32c(b"padded\0\0"));
/// ```
#[inline]
#[must_use]
pub fn shift(crc: u32, zeros: u64) -> u32 {
    !advance(!crc, zeros)
}

/// The CRC-32C of `b`, from those of `a` followed by `b` and of `a` alone, and the length of `b` in bytes.
///
/// ```
/// use batchwise_kernels::crc32c::{crc32c, remove_prefix};
/// assert_eq!(remove_prefix(crc32c(b"123456789"), crc32c(b"1234"), 5), crc32c(b"56789"));
/// ```
#[inline]
#[must_use]
pub fn remove_prefix(crc_ab: u32, crc_a: u32, len_b: u64) -> u32 {
    advance(crc_a, len_b) ^ crc_ab
}

/// The CRC-32C of `a`, from those of `a` followed by `b` and of `b` alone, and the length of `b` in bytes.
///
/// ```
/// use batchwise_kernels::crc32c::{crc32c, remove_suffix};
/// assert_eq!(remove_suffix(crc32c(b"123456789"), crc32c(b"56789"), 5), crc32c(b"1234"));
/// ```
#[inline]
#[must_use]
pub fn remove_suffix(crc_ab: u32, crc_b: u32, len_b: u64) -> u32 {
    advance(crc_ab ^ crc_b, combine::inverse(len_b))
}
