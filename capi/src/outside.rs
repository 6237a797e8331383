//! The functions as another language calls them, for measurements: through an address that the compiler knows nothing of,
//! as a call into a shared library goes through its table.

use core::ffi::c_void;
use std::hint::black_box;

/// [`batchwise_crc32c`](crate::batchwise_crc32c) from outside.
#[derive(Clone, Copy, Debug)]
pub struct Crc32c(unsafe extern "C" fn(u32, *const c_void, usize) -> u32);

impl Default for Crc32c {
    fn default() -> Self {
        Crc32c(black_box(crate::batchwise_crc32c))
    }
}

impl Crc32c {
    /// CRC-32C of `data`.
    #[inline]
    #[must_use]
    pub fn call(self, data: &[u8]) -> u32 {
        // SAFETY: pointer and length are of a slice.
        unsafe { (self.0)(0, data.as_ptr().cast(), data.len()) }
    }
}

/// [`batchwise_xxh3_64`](crate::batchwise_xxh3_64) from outside.
#[derive(Clone, Copy, Debug)]
pub struct Xxh3Hash(unsafe extern "C" fn(*const c_void, usize, u64) -> u64);

impl Default for Xxh3Hash {
    fn default() -> Self {
        Xxh3Hash(black_box(crate::batchwise_xxh3_64))
    }
}

impl Xxh3Hash {
    /// XXH3-64 of `data` with `seed`.
    #[inline]
    #[must_use]
    pub fn call(self, data: &[u8], seed: u64) -> u64 {
        // SAFETY: pointer and length are of a slice.
        unsafe { (self.0)(data.as_ptr().cast(), data.len(), seed) }
    }
}
