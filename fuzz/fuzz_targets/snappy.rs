//! The container of snappy: as [`batchwise_fuzz::codec`] says.
#![no_main]

use batchwise::codec::Codec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| batchwise_fuzz::codec(Codec::Snappy, input.0, input.1));
