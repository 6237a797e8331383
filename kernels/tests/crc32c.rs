//! Every CRC-32C kernel against the definition, bit by bit.

mod support;

use batchwise_kernels::crc32c::{self, update};
use support::{bytes, exact, lengths};

/// Division by the polynomial, one bit at a time.
fn oracle(crc: u32, data: &[u8]) -> u32 {
    !data.iter().fold(!crc, |mut c, &b| {
        c ^= u32::from(b);
        for _ in 0..8 {
            c = if c & 1 == 1 { c >> 1 ^ 0x82F6_3B78 } else { c >> 1 };
        }
        c
    })
}

#[test]
fn oracle_has_the_check_value() {
    assert_eq!(oracle(0, b"123456789"), 0xE306_9283);
}

#[test]
fn every_kernel_equals_the_oracle_at_every_length_and_offset() {
    let data = bytes(270_000, 1);
    for len in lengths() {
        let offsets = if len < 1200 { 64 } else { 2 };
        for offset in 0..offsets {
            let slice = &data[offset..offset + len];
            let want = oracle(0x1234_5678, slice);
            for kernel in update::available() {
                assert_eq!(
                    update::with(kernel, 0x1234_5678, slice),
                    want,
                    "{} len {len} offset {offset}",
                    kernel.name()
                );
            }
        }
    }
    support::report("crc32c::update", update::TABLE.all());
}

#[test]
fn no_kernel_reads_outside_an_exact_allocation() {
    let data = bytes(5000, 2);
    for len in (0..1100).chain([2048, 4097, 4999]) {
        let slice = exact(&data[..len]);
        for kernel in update::available() {
            assert_eq!(update::with(kernel, 0, &slice), oracle(0, &slice), "{} len {len}", kernel.name());
        }
    }
}

#[test]
fn pieces_equal_the_whole() {
    let data = bytes(9000, 3);
    let whole = crc32c::crc32c(&data);
    for cut in (0..400).chain([1024, 3071, 3072, 8999, 9000]) {
        let (a, b) = data.split_at(cut);
        for kernel in update::available() {
            assert_eq!(update::with(kernel, update::with(kernel, 0, a), b), whole, "{} cut at {cut}", kernel.name());
        }
    }
}
