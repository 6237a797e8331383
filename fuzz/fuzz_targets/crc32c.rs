//! Every CRC-32C kernel against the crate crc32c, from any offset, in any pieces; the operations against the plain CRC.
#![no_main]

use batchwise::crc32c::{self, update};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, u8, u16, &[u8])| {
    let (seed, skip, cut, data) = input;
    let data = data.get(usize::from(skip)..).unwrap_or(data);
    let want = ::crc32c::crc32c_append(seed, data);
    let (a, b) = data.split_at(usize::from(cut).min(data.len()));
    for kernel in update::available() {
        assert_eq!(update::with(kernel, seed, data), want, "{}", kernel.name());
        assert_eq!(update::with(kernel, update::with(kernel, seed, a), b), want, "{} in pieces", kernel.name());
    }
    let (first, second) = (crc32c::crc32c(a), crc32c::crc32c(b));
    assert_eq!(crc32c::combine(first, second, b.len() as u64), crc32c::crc32c(data));
    let changed: Vec<u8> = a.iter().map(|b| b.wrapping_mul(31).wrapping_add(seed as u8)).collect();
    let patched = crc32c::patch(crc32c::crc32c(data), a, &changed, b.len() as u64);
    assert_eq!(patched, crc32c::update(crc32c::crc32c(&changed), b));
});
