//! Every XXH3 kernel against xxhash-rust and the published values.

mod support;

use batchwise_kernels::xxh3::{self, hash64_with_seed};
use support::{bytes, exact, lengths};

#[test]
fn published_values() {
    assert_eq!(xxh3::hash64(b""), 0x2D06_8005_38D3_94C2);
}

#[test]
fn every_kernel_equals_xxhash_rust() {
    let data = bytes(270_000, 4);
    for len in lengths() {
        for (offset, seed) in [(0, 0), (1, 1), (7, 0x9E37_79B1_85EB_CA87), (33, u64::MAX), (5, 0)] {
            let slice = exact(&data[offset..offset + len]);
            let want = xxhash_rust::xxh3::xxh3_64_with_seed(&slice, seed);
            for kernel in hash64_with_seed::available() {
                assert_eq!(
                    hash64_with_seed::with(kernel, &slice, seed),
                    want,
                    "{} len {len} seed {seed}",
                    kernel.name()
                );
            }
        }
    }
    support::report("xxh3::hash64_with_seed", hash64_with_seed::TABLE.all());
}
