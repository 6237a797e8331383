//! The public interface of the crate `twox-hash` 2 with XXH3-64 on the kernels of Batchwise; everything else is the
//! original, passed on.
//!
//! One line in a manifest puts it in place, the code stays as it is:
//!
//! ```toml
//! twox-hash = { package = "batchwise-twox-hash", git = "https://github.com/batchwise/batchwise" }
//! ```
//!
//! It cannot be done by `[patch.crates-io]`: a patch replaces every `twox-hash` 2 of the build, and this crate needs the
//! original for what it passes on.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "xxhash3_128")]
pub use original::{XxHash3_128, xxhash3_128};
#[cfg(feature = "xxhash32")]
pub use original::{XxHash32, xxhash32};
#[cfg(feature = "xxhash64")]
pub use original::{XxHash64, xxhash64};

#[cfg(feature = "xxhash3_64")]
pub mod xxhash3_64;
#[cfg(feature = "xxhash3_64")]
pub use xxhash3_64::Hasher as XxHash3_64;
