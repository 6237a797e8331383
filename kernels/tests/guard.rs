//! No kernel touches a byte outside its slices: they lie against pages that may not be read, on either side.
#![cfg(unix)]

mod support;

use batchwise_kernels::{crc32c, varint, xxh3};
use support::guard::Guarded;

/// Lengths up to past every class of the kernels, then around a page.
fn lengths() -> impl Iterator<Item = usize> {
    (0..700).chain([1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096])
}

#[test]
fn crc32c_stays_inside() {
    let mut guarded = Guarded::new(2);
    let data = support::bytes(guarded.len(), 71);
    for len in lengths() {
        let want = crc32c::update::with(portable(crc32c::update::TABLE.all()), 7, &data[..len]);
        for kernel in crc32c::update::available() {
            guarded.at_both_ends(&data[..len], |slice| {
                assert_eq!(crc32c::update::with(kernel, 7, slice), want, "{} len {len}", kernel.name());
            });
        }
    }
}

#[test]
fn xxh3_stays_inside() {
    let mut guarded = Guarded::new(2);
    let data = support::bytes(guarded.len(), 72);
    for len in lengths() {
        let want = xxhash_rust::xxh3::xxh3_64_with_seed(&data[..len], 9);
        for kernel in xxh3::oneshot::available() {
            guarded.at_both_ends(&data[..len], |slice| {
                assert_eq!(xxh3::oneshot::with(kernel, slice, 9), want, "{} len {len}", kernel.name());
            });
        }
    }
}

#[test]
fn varint_runs_stay_inside() {
    let mut guarded = Guarded::new(2);
    let mut rng = support::Rng(73);
    for count in (0..200).chain([1000]) {
        let values: Vec<u64> = (0..count).map(|_| rng.next() >> rng.below(64)).collect();
        let mut wire = Vec::new();
        for &v in &values {
            let mut one = [0; varint::MAX_LEN_64];
            let len = varint::encode_u64(v, &mut one);
            wire.extend_from_slice(&one[..len]);
        }
        if wire.len() > guarded.len() {
            continue;
        }
        for kernel in varint::decode_run_u64::available() {
            guarded.at_both_ends(&wire, |slice| {
                let mut out = vec![0; count];
                assert_eq!(varint::decode_run_u64::with(kernel, slice, &mut out), Ok(slice.len()), "{}", kernel.name());
                assert_eq!(out, values, "{}", kernel.name());
            });
        }
    }
}

/// The last row of every table is the portable one.
fn portable<F>(
    all: &'static [batchwise_kernels::dispatch::Kernel<F>],
) -> &'static batchwise_kernels::dispatch::Kernel<F> {
    all.last().expect("every table has a portable row")
}
