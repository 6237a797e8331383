//! The kernels of Batchwise: bytes in, numbers out.
//!
//! Four families, each with a portable implementation and rows for the instruction sets of x86-64 and aarch64 that are
//! chosen when the program runs: [`crc32c`], [`xxh3`], [`varint`] and [`search`]. The choice is a table per operation, see
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
mod prefetch;
pub mod search;
pub mod selftest;
pub mod varint;
pub mod xxh3;

pub use prefetch::prefetch;

macro_rules! operations {
    ($($table:path => $cases:path,)*) => {
        /// Every dispatched operation, for reports, tests and [`dispatch::set_cap`].
        pub static OPERATIONS: &[&dyn dispatch::Operation] = &[$(&$table),*];
        /// The cases of each, for [`selftest`].
        static CHECKS: &[&dyn selftest::Check] = &[$(&selftest::Checked { table: &$table, cases: $cases }),*];
    };
}

operations! {
    crc32c::update::TABLE => selftest::UPDATE,
    crc32c::copy::TABLE => selftest::COPY,
    crc32c::many::TABLE => selftest::MANY,
    crc32c::patch::TABLE => selftest::PATCH,
    crc32c::advance::TABLE => selftest::ADVANCE,
    xxh3::consume::TABLE => selftest::CONSUME,
    xxh3::oneshot::TABLE => selftest::ONESHOT,
    xxh3::many::TABLE => selftest::HASH_MANY,
    xxh3::many_ranges::TABLE => selftest::MANY_RANGES,
    varint::decode_run_u32::TABLE => selftest::RUN_U32,
    varint::decode_run_u64::TABLE => selftest::RUN_U64,
    varint::records::walk::TABLE => selftest::WALK,
    varint::records::walk_many::TABLE => selftest::WALK_MANY,
    varint::records::survey::TABLE => selftest::SURVEY,
    search::find::TABLE => selftest::FIND,
}
