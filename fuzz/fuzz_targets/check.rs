//! One frame of each format, under every depth, origin and conformance: no panic, and findings that lie in the frame.
#![no_main]

use batchwise::formats;
use batchwise_fuzz::{check, options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, data) = input;
    for format in formats::ALL {
        check(*format, data, &options(choice));
    }
});
