//! A batch of magic 2 whose length and checksum are right, so that what lies behind them is looked at: by checks of every
//! origin and conformance, by both readers of records, by the rewriter, and as a request.
#![no_main]

use batchwise::codec::Decoder;
use batchwise::kafka::{self, HeaderPatch, Produce, RecordBatch, RecordColumns, Retention, Rewriter, Rewritten};
use batchwise::{Scratch, crc32c};
use batchwise_fuzz::{BUDGET, all_options, check, options};
use libfuzzer_sys::fuzz_target;

fn repair(bytes: &mut [u8]) {
    let len = bytes.len() as u32 - 12;
    bytes[8..12].copy_from_slice(&len.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
}

/// Columns and the iterator say the same, of records and of errors.
fn readers_agree(batch: &RecordBatch<'_>) {
    let mut columns = RecordColumns::new();
    let filled = columns.fill(batch);
    let records = match batch.records() {
        Ok(records) => records.collect::<Result<Vec<_>, _>>(),
        Err(e) => Err(e),
    };
    match (filled, records) {
        (Ok(()), Ok(records)) => {
            assert_eq!(columns.len(), records.len());
            let bytes = batch.bytes();
            for (i, record) in records.iter().enumerate() {
                assert_eq!(columns.offset_deltas()[i], record.offset_delta());
                assert_eq!(columns.timestamp_deltas()[i], record.timestamp_delta());
                assert_eq!(columns.key(i).map(|range| &bytes[range]), record.key());
                assert_eq!(columns.value(i).map(|range| &bytes[range]), record.value());
                assert_eq!(columns.headers_counts()[i] as usize, record.headers().count());
            }
        }
        (filled, records) => assert_eq!(filled.err(), records.err()),
    }
}

fn rewrite(batch: &RecordBatch<'_>, choice: u8) {
    let mut rewriter = Rewriter::new().decoder(Decoder::new(BUDGET));
    let mut n = 0u32;
    let mut keep = || {
        n += 1;
        choice & 8 != 0 || n % 3 != 1
    };
    let retention = Retention::default().keep_empty(choice & 16 != 0);
    let mut out = Vec::new();
    match rewriter.rewrite(batch, retention, |_| keep(), &mut out) {
        Ok(Rewritten::Unchanged) => assert_eq!(out, batch.bytes()),
        Ok(Rewritten::Dropped) | Err(_) => assert!(out.is_empty()),
        Ok(_) => {
            let new = RecordBatch::parse(&out, 0).expect("what is written can be read");
            assert_eq!(new.verify_checksum(), Ok(()));
            let mut decoder = Decoder::new(BUDGET);
            assert!(new.decoded_records(&mut decoder).expect("records").all(|record| record.is_ok()));
        }
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, data) = input;
    if data.len() < 61 {
        return;
    }
    let mut bytes = data.to_vec();
    bytes[16] = 2;
    repair(&mut bytes);
    if choice & 0xE0 == 0 {
        for options in all_options() {
            check(&kafka::Log, &bytes, &options);
        }
    } else {
        check(&kafka::Log, &bytes, &options(choice));
    }
    let batch = RecordBatch::parse(&bytes, 0).expect("length and magic are right");
    readers_agree(&batch);
    if choice & 0x80 != 0 {
        rewrite(&batch, choice);
    }
    if choice & 0x40 != 0 {
        let mut produce = Produce::default();
        produce.version = Some(i16::from(choice & 15));
        produce.compacted = choice & 16 != 0;
        let produced = produce.check(&bytes, &options(choice), &mut Scratch::default(), &mut |_| {});
        assert_eq!((produced.batches, produced.bytes), (1, bytes.len() as u64));
        let patch = HeaderPatch::new().base_offset(i64::from(choice) << 32).log_append_time(1 << 40);
        let mut stamped = bytes.clone();
        if patch.apply(&mut stamped).is_ok() {
            assert_eq!(RecordBatch::parse(&stamped, 0).map(|batch| batch.verify_checksum()), Ok(Ok(())));
        } else {
            assert_eq!(stamped, bytes);
        }
    }
});
