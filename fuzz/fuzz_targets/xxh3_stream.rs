//! The step of the streaming hash, by every kernel: the same accumulators and position in any pieces.
#![no_main]

use batchwise::xxh3::{SECRET_MIN_LEN, Xxh3, consume, hash64};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, u8, u8, u8, &[u8])| {
    let (seed, position, secret_len, cut, data) = input;
    let secret_len = SECRET_MIN_LEN + usize::from(secret_len & 127);
    if let Some((secret, rest)) = data.split_at_checked(secret_len) {
        let stripes: Box<[[u8; 64]]> = rest.as_chunks().0.into();
        let position = usize::from(position) % ((secret_len - 64) / 8);
        let (first, second) = stripes.split_at(usize::from(cut).min(stripes.len()));
        let start: [u64; 8] = std::array::from_fn(|i| seed.rotate_left(i as u32 * 7));
        let portable = consume::TABLE.all().last().expect("every table has a portable row");
        let mut want = start;
        let end = consume::with(portable, &mut want, position, &stripes, secret);
        for kernel in consume::available() {
            let mut acc = start;
            let middle = consume::with(kernel, &mut acc, position, first, secret);
            assert_eq!(consume::with(kernel, &mut acc, middle, second, secret), end, "{}", kernel.name());
            assert_eq!(acc, want, "{}", kernel.name());
        }
    }
    let words = data.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut hash = Xxh3::new();
    hash.update_words(words.clone());
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    assert_eq!(hash.digest(), hash64(&bytes));
});
