//! The public interface of the crate `crc32c` 0.6, on the kernels of Batchwise.
//!
//! A program whose dependencies use `crc32c` gets the faster kernels without a change to any of them:
//!
//! ```toml
//! [patch.crates-io]
//! crc32c = { git = "https://github.com/batchwise/batchwise" }
//! ```
//!
//! ```
//! let whole = crc32c::crc32c(b"123456789");
//! assert_eq!(whole, 0xE306_9283);
//! assert_eq!(crc32c::crc32c_append(crc32c::crc32c(b"1234"), b"56789"), whole);
//! assert_eq!(crc32c::crc32c_combine(crc32c::crc32c(b"1234"), crc32c::crc32c(b"56789"), 5), whole);
//! ```

mod hasher;
mod io;

pub use hasher::Crc32cHasher;
pub use io::{Crc32cReader, Crc32cWriter};

/// CRC-32C of `data`; the same as `crc32c_append(0, data)`.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    batchwise_kernels::crc32c::crc32c(data)
}

/// CRC-32C of the data that `crc` is of, followed by `data`.
#[inline]
pub fn crc32c_append(crc: u32, data: &[u8]) -> u32 {
    batchwise_kernels::crc32c::update(crc, data)
}

/// CRC-32C of `a` followed by `b`, from those of both and the length of `b` in bytes.
///
/// With `len2` 0 the result is `crc1`, whatever `crc2`.
#[inline]
pub fn crc32c_combine(crc1: u32, crc2: u32, len2: usize) -> u32 {
    // An empty `b` has the CRC 0; the crate that this stands in for does not look at `crc2` then.
    if len2 == 0 { crc1 } else { batchwise_kernels::crc32c::combine(crc1, crc2, len2 as u64) }
}
