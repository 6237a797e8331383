//! A set of messages of magic 0 and 1, with the first one's length and checksum put right: checks and readers.
#![no_main]

use batchwise::codec::Decoder;
use batchwise::kafka::{self, MessageSet};
use batchwise_fuzz::{BUDGET, all_options, check, options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (choice, cut, data) = input;
    let mut bytes: Box<[u8]> = data.into();
    if bytes.len() >= 26 && choice & 0x80 != 0 {
        let end = 26 + usize::from(cut) % (bytes.len() - 25);
        bytes[8..12].copy_from_slice(&(end as u32 - 12).to_be_bytes());
        bytes[16] &= 1;
        let crc = crc32fast::hash(&bytes[16..end]);
        bytes[12..16].copy_from_slice(&crc.to_be_bytes());
    }
    if choice & 0x60 == 0 {
        for options in all_options() {
            check(&kafka::Log, &bytes, &options);
        }
    } else {
        check(&kafka::Log, &bytes, &options(choice));
    }
    let mut decoder = Decoder::new(BUDGET);
    let mut at = 0;
    for message in MessageSet::new(&bytes, 0).map_while(Result::ok) {
        assert_eq!(message.offset(), at);
        at += message.bytes().len() as u64;
        let _ = message.verify_checksum();
        let _ = message.content();
        if let Ok(inner) = message.inner(&mut decoder) {
            let total = inner.total();
            assert!(inner.map(|inner| inner.message.content().is_ok()).count() as u64 == total);
        }
    }
    assert!(at <= bytes.len() as u64);
});
