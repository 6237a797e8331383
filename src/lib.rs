//! Verifies and decodes the batches that message brokers live on.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
pub use batchwise_kernels as kernels;
pub use batchwise_kernels::{crc32c, varint, xxh3};
