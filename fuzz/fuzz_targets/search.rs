//! Searches for a pattern by every kernel against a look at each place.
#![no_main]

use batchwise::kernels::search::{Pattern, find};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([(u8, u8); 3], u8, &[u8])| {
    let (limits, some, data) = input;
    // Distances as headers have them, now and then longer than the input.
    let pattern = Pattern::new(limits.map(|(at, most)| (at & 63, most)), some & 63);
    let bytes: Box<[u8]> = data.into();
    let places = (bytes.len() + 1).saturating_sub(pattern.span());
    let want = (0..places).find(|&at| pattern.matches(&bytes[at..]));
    for kernel in find::available() {
        assert_eq!(find::with(kernel, &bytes, &pattern), want, "{}", kernel.name());
    }
});
