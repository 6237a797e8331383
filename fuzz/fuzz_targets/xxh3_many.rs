//! Many frames at once, of lengths that the input chooses, against one after the other.
#![no_main]

use batchwise::xxh3::{many, many_ranges, verify_many};
use batchwise_fuzz::{cut, frames};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: (u8, &[u8])| {
    let (cuts, data) = input;
    let cuts = usize::from(cuts & 63);
    let boxes = frames(data, cuts);
    let frames: Vec<&[u8]> = boxes.iter().map(|f| &**f).collect();
    let mut want: Vec<u64> = frames.iter().map(|f| xxh3_64(f)).collect();
    for kernel in many::available() {
        let mut hashes = vec![!0; frames.len()];
        many::with(kernel, &frames, &mut hashes);
        assert_eq!(hashes, want, "{}", kernel.name());
    }
    let (bytes, ranges) = cut(data, cuts);
    let bytes: Box<[u8]> = bytes.into();
    for kernel in many_ranges::available() {
        let mut hashes = vec![!0; ranges.len()];
        many_ranges::with(kernel, &bytes, &ranges, &mut hashes);
        assert_eq!(hashes, want, "{}", kernel.name());
    }
    assert_eq!(verify_many(&bytes, &ranges, &want), Ok(()));
    if let Some(i) = bytes.len().checked_rem(want.len()) {
        want[i] ^= 1;
        assert_eq!(verify_many(&bytes, &ranges, &want).map_err(|e| (e.index, e.computed)), Err((i, want[i] ^ 1)));
    }
});
