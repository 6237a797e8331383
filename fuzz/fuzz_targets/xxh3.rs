//! Every XXH3 kernel against xxhash-rust: at once with any seed or secret, and in pieces.
#![no_main]

use batchwise::xxh3::{self, SECRET_MIN_LEN, Xxh3, oneshot};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::{xxh3_64_with_secret, xxh3_64_with_seed};

fuzz_target!(|input: (u64, u8, u16, &[u8])| {
    let (seed, skip, cut, data) = input;
    let data: Box<[u8]> = data.get(usize::from(skip)..).unwrap_or(data).into();
    let data = &*data;
    for seed in [0, seed] {
        let want = xxh3_64_with_seed(data, seed);
        for kernel in oneshot::available() {
            assert_eq!(oneshot::with(kernel, data, seed), want, "{}", kernel.name());
        }
        // The length chooses the way here.
        assert_eq!(xxh3::hash64_with_seed(data, seed), want);
        let mut hash = Xxh3::with_seed(seed);
        let (a, b) = data.split_at(usize::from(cut).min(data.len()));
        hash.update(a);
        assert_eq!(hash.digest(), xxh3_64_with_seed(a, seed));
        for piece in b.chunks(usize::from(skip) + 1) {
            hash.update(piece);
        }
        assert_eq!(hash.digest(), want);
    }
    let (secret, rest) = data.split_at(usize::from(cut).min(data.len()));
    match xxh3::hash64_with_secret(rest, secret) {
        Ok(hash) => {
            assert_eq!(hash, xxh3_64_with_secret(rest, secret));
            let mut pieces = Xxh3::with_secret(secret).expect("long enough");
            rest.chunks(usize::from(skip) + 1).for_each(|piece| pieces.update(piece));
            assert_eq!(pieces.digest(), hash);
        }
        Err(_) => assert!(secret.len() < SECRET_MIN_LEN),
    }
});
