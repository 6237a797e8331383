//! The operations that are compared, one file each.

mod admission;
mod batches;
mod capi;
mod codec;
mod crc32;
mod crc32c;
mod crc32c_more;
mod deep;
mod directory;
mod encode;
mod records;
mod search;
mod stamp;
mod validate;
mod varint;
mod xxh3;

use crate::harness::{Plan, Rng};

/// An operation and its cases.
pub(crate) struct Op {
    /// As in the JSON field `op`.
    pub(crate) name: &'static str,
    pub(crate) cases: fn() -> Vec<Plan>,
    /// Left out unless it is asked for by name: it takes a lot of disk.
    pub(crate) on_request: bool,
}

impl Op {
    const fn new(name: &'static str, cases: fn() -> Vec<Plan>) -> Self {
        Op { name, cases, on_request: false }
    }
}

/// Every operation.
pub(crate) static OPS: &[Op] = &[
    Op::new("crc32c", crc32c::cases),
    Op::new("crc32", crc32::cases),
    Op::new("xxh3", xxh3::cases),
    Op::new("stamp", stamp::cases),
    Op::new("encode", encode::cases),
    Op::new("varint", varint::cases),
    Op::new("records", records::cases),
    Op::new("deep", deep::cases),
    Op::new("capi", capi::cases),
    Op::new("codec", codec::cases),
    Op::new("search", search::cases),
    Op::new("validate", validate::cases),
    Op { name: "directory", cases: directory::cases, on_request: true },
];

/// Name of the kernel that `operation` uses now.
pub(crate) fn kernel(operation: &str) -> &'static str {
    let found = batchwise::kernels::OPERATIONS.iter().find(|o| o.name() == operation);
    found.unwrap_or_else(|| panic!("no operation {operation}")).chosen()
}

/// Slices of one length at all alignments in a buffer that stays in the first-level cache while they fit.
pub(crate) struct Slices {
    buffer: Vec<u8>,
    starts: Vec<usize>,
    len: usize,
}

impl Slices {
    /// As many slices as make about 64 KiB of work, at least one.
    pub(crate) fn new(len: usize) -> Self {
        let count = (64 * 1024 / len.max(1)).clamp(1, 2048);
        Slices { buffer: vec![0; len + (16 * 1024).max(len) + 64], starts: vec![0; count], len }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn refresh(&mut self, rng: &mut Rng) {
        rng.fill(&mut self.buffer);
        let room = self.buffer.len() - self.len;
        for start in &mut self.starts {
            *start = rng.below(room);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.starts.iter().map(|&s| &self.buffer[s..s + self.len])
    }
}

/// The case `hot` at one length: a digest of `hash` over slices, unaligned and fresh each round.
pub(crate) fn hash_all(slices: &Slices, hash: impl Fn(&[u8]) -> u64) -> u64 {
    slices.iter().fold(0, |sum, s| sum.wrapping_add(hash(s)))
}

/// The case `latency` at one length: the start of each slice depends on the result before, so that no call overlaps
/// with the next one, as where a caller branches on the result.
pub(crate) fn hash_in_turn(slices: &Slices, hash: impl Fn(&[u8]) -> u64) -> u64 {
    slices.starts.iter().fold(0, |result, &start| {
        // Starts are below the last possible one.
        let start = start ^ (result & 1) as usize;
        result.rotate_left(1) ^ hash(&slices.buffer[start..start + slices.len])
    })
}
