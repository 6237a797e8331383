//! Batchwise verifies and decodes the batches that message brokers live on: Apache Kafka record batches (magic 2), Kafka
//! message sets (magic 0 and 1) and Apache Iggy message batches, with SIMD kernels chosen at run time.
//!
//! ```
//! use batchwise::kafka::RecordBatch;
//! # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
//! let batch = RecordBatch::parse(bytes, 0)?; // framing
//! batch.verify_checksum()?; // CRC-32C
//! for record in batch.records()? {
//!     let record = record?; // structure
//!     println!("{:?} = {:?}", record.key(), record.value());
//! }
//! # Ok::<(), batchwise::Error>(())
//! ```
//!
//! [`Validator`] checks whole inputs, [`segment`] whole files. [`crc32c`], [`xxh3`] and [`varint`] are the kernels
//! underneath, [`selftest`] tells whether this machine runs them rightly.
//!
//! Functions that take the `offset` at which bytes stand in the input use it to say where in the input something is wrong.
//! It may be anything below 2^63, the end of the longest file.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[macro_use]
mod wire;

pub mod codec;
#[cfg(feature = "digest")]
pub mod digest;
mod error;
pub mod formats;
pub mod guide;
#[cfg(feature = "std")]
pub mod segment;
pub mod validate;

pub use batchwise_kernels as kernels;
pub use batchwise_kernels::{crc32c, selftest, varint, xxh3};
pub use error::{Detail, Error, ErrorKind, Result, Within};
pub use formats::{
    Conformance, Defect, Depth, Format, Frame, Options, Order, Origin, Passed, Pieces, Scratch, Severity, Summary,
    iggy, kafka,
};
pub use validate::{Batch, Finding, Item, Report, Sink, Totals, Validator};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
