//! The kernels of Batchwise: bytes in, numbers out.
//!
//! Three families, each with a portable implementation and rows for the instruction sets of x86-64 and aarch64 that are
//! chosen when the program runs: [`crc32c`], [`xxh3`] and [`varint`]. The choice is a table per operation, see
//! [`dispatch`]; [`OPERATIONS`] lists the tables.
//!
//! ```
//! use batchwise_kernels::{crc32c, xxh3};
//! assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
//! assert_eq!(xxh3::hash64(b""), 0x2D06_8005_38D3_94C2);
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
pub mod dispatch;
pub mod crc32c;
pub mod varint;
pub mod xxh3;

/// Every dispatched operation, for reports, tests and [`dispatch::set_cap`].
pub static OPERATIONS: &[&dyn dispatch::Operation] = &[
    &crc32c::update::TABLE,
    &crc32c::copy::TABLE,
    &crc32c::many::TABLE,
    &crc32c::patch::TABLE,
    &crc32c::advance::TABLE,
    &xxh3::consume::TABLE,
    &xxh3::oneshot::TABLE,
    &xxh3::many::TABLE,
    &xxh3::many_ranges::TABLE,
    &varint::decode_run_u32::TABLE,
    &varint::decode_run_u64::TABLE,
    &varint::records::walk::TABLE,
    &varint::records::walk_many::TABLE,
];
