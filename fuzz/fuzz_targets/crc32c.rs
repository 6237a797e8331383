//! Every CRC-32C kernel against the crate crc32c, in any pieces and from any offset; copies, patches and the algebra
//! against the plain CRC.
#![no_main]

use batchwise::crc32c::{self, Shift, advance, copy, patch, update};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, u8, u16, &[u8])| {
    let (seed, skip, cut, data) = input;
    // Memory of exactly this size, so that a read past either end is seen.
    let data: Box<[u8]> = data.get(usize::from(skip)..).unwrap_or(data).into();
    let (a, b) = data.split_at(usize::from(cut).min(data.len()));
    let want = ::crc32c::crc32c_append(seed, &data);
    for kernel in update::available() {
        assert_eq!(update::with(kernel, seed, &data), want, "{}", kernel.name());
        assert_eq!(update::with(kernel, update::with(kernel, seed, a), b), want, "{} in pieces", kernel.name());
    }
    let plain = crc32c::crc32c(&data);
    for kernel in copy::available() {
        let mut copied = vec![!0; data.len()];
        assert_eq!(copy::with(kernel, &mut copied, &data), plain, "{}", kernel.name());
        assert_eq!(*copied, *data, "{}", kernel.name());
    }
    let changed: Vec<u8> = a.iter().map(|b| b.wrapping_mul(31).wrapping_add(seed as u8)).collect();
    let want = crc32c::update(crc32c::crc32c(&changed), b);
    for kernel in patch::available() {
        assert_eq!(patch::with(kernel, plain, a, &changed, b.len() as u64), want, "{}", kernel.name());
    }
    // Lengths that no data has: all kernels agree.
    let far = u64::from(seed) << (skip & 31) | u64::from(cut);
    let moved = crc32c::combine(seed, 0, far);
    for kernel in advance::available() {
        assert_eq!(advance::with(kernel, seed, far), moved, "{}", kernel.name());
    }
    let (first, second, len) = (crc32c::crc32c(a), crc32c::crc32c(b), b.len() as u64);
    assert_eq!(crc32c::combine(first, second, len), plain);
    assert_eq!(Shift::over(len).combine(first, second), plain);
    assert_eq!(crc32c::remove_prefix(plain, first, len), second);
    assert_eq!(crc32c::remove_suffix(plain, second, len), first);
});
