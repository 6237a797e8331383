//! CRC-32C (Castagnoli): reflected polynomial `0x82F63B78`, initial value and final XOR `0xFFFFFFFF`.
//!
//! Values are finished CRCs: [`update`]`(crc, data)` continues where `crc` ended, `crc32c(b"")` is 0.

mod polynomial;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse42;
#[cfg(target_arch = "x86_64")]
mod vpclmul;

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
        "x86_64" ["sse4.2", "pclmulqdq", "avx512f", "avx512vl", "vpclmulqdq"] => vpclmul::update,
        "x86_64" ["sse4.2"] => sse42::update,
        portable => portable::update,
    }
}
