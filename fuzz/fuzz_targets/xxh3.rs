//! Every XXH3 kernel against xxhash-rust.
#![no_main]

use batchwise::xxh3::oneshot;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, u8, &[u8])| {
    let (seed, skip, data) = input;
    let data = data.get(usize::from(skip)..).unwrap_or(data);
    for seed in [0, seed] {
        let want = xxhash_rust::xxh3::xxh3_64_with_seed(data, seed);
        for kernel in oneshot::available() {
            assert_eq!(oneshot::with(kernel, data, seed), want, "{}", kernel.name());
        }
    }
});
