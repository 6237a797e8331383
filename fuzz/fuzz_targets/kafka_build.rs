//! Whatever the builder makes of arbitrary records is valid, and reads as it was meant.
#![no_main]

use arbitrary::Arbitrary;
use batchwise::codec::{Codec, Decoder};
use batchwise::kafka::{self, Header, MessageSetBuilder, NewRecord, RecordBatch, RecordBatchBuilder};
use batchwise::{Options, Origin};
use batchwise_fuzz::{BUDGET, check};
use libfuzzer_sys::fuzz_target;

type Blob<'a> = Option<&'a [u8]>;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    base_offset: u32,
    leader_epoch: u8,
    codec: u8,
    append_time: Option<u32>,
    producer: Option<(u64, u16, u32)>,
    transactional: bool,
    legacy: bool,
    records: Vec<(u8, u32, Blob<'a>, Blob<'a>, Vec<(&'a str, Blob<'a>)>)>,
}

fn time(t: u32) -> i64 {
    i64::from(t) - 1
}

fn batch(input: &Input<'_>) -> Option<()> {
    let mut builder = RecordBatchBuilder::new()
        .base_offset(input.base_offset.into())
        .partition_leader_epoch(input.leader_epoch.into())
        .transactional(input.transactional);
    if let Some(codec) = Codec::from_number(input.codec % 16) {
        builder = builder.compression(codec, None).expect("the default level");
    }
    if let Some(ms) = input.append_time {
        builder = builder.log_append_time(ms.into());
    }
    if let Some((id, epoch, sequence)) = input.producer {
        builder = builder.producer(id as i64, epoch as i16, sequence as i32);
    }
    let (mut next, mut deltas) = (0, Vec::new());
    for (gap, timestamp, key, value, headers) in &input.records {
        let headers: Vec<_> =
            headers.iter().map(|(key, value)| Header { key: key.as_bytes(), value: *value }).collect();
        let record = NewRecord { timestamp: time(*timestamp), key: *key, value: *value, headers: &headers };
        builder.append_at(next + i32::from(*gap), &record).expect("nothing is wrong with it");
        deltas.push(next + i32::from(*gap));
        next = deltas[deltas.len() - 1] + 1;
    }
    let bytes = builder.finish().ok()?;
    let mut options = Options::default();
    options.max_decompressed = BUDGET;
    for origin in [Origin::Replica, Origin::Stored] {
        options.origin = origin;
        let (len, errors) = check(&kafka::Log, &bytes, &options).expect("a frame");
        assert_eq!((len, errors), (bytes.len(), 0));
    }
    let batch = RecordBatch::parse(&bytes, 0).expect("a batch");
    let base = batch.header().base_timestamp();
    let mut decoder = Decoder::new(BUDGET);
    let mut read = batch.decoded_records(&mut decoder).expect("records");
    for (delta, (_, timestamp, key, value, headers)) in deltas.iter().zip(&input.records) {
        let record = read.next().expect("as many").expect("sound");
        assert_eq!((record.offset_delta(), record.key(), record.value()), (*delta, *key, *value));
        if input.append_time.is_none() {
            assert_eq!(base + record.timestamp_delta(), time(*timestamp));
        }
        let read = record.headers().map(|h| (h.key, h.value));
        assert!(read.eq(headers.iter().map(|(key, value)| (key.as_bytes(), *value))));
    }
    assert!(read.next().is_none());
    Some(())
}

fn legacy(input: &Input<'_>) -> Option<()> {
    let mut builder = MessageSetBuilder::new(i8::from(input.transactional)).expect("0 or 1");
    builder = builder.base_offset(input.base_offset.into());
    if let Some(codec) = Codec::from_number(input.codec % 16).filter(|codec| *codec != Codec::Zstd) {
        builder = builder.compression(codec, None).expect("the default level");
    }
    for (_, timestamp, key, value, _) in &input.records {
        builder.append(time(*timestamp), *key, *value).expect("nothing is wrong with it");
    }
    let bytes = builder.finish().ok()?;
    let (mut at, mut count) = (0, 0);
    let mut decoder = Decoder::new(BUDGET);
    while at < bytes.len() {
        let mut options = Options::default();
        options.max_decompressed = BUDGET;
        let (len, errors) = check(&kafka::Log, &bytes[at..], &options).expect("a frame");
        assert_eq!(errors, 0);
        at += len;
    }
    for message in kafka::MessageSet::new(&bytes, 0) {
        let message = message.expect("a message");
        let contents: Vec<_> = if message.codec() == 0 {
            vec![message.content().expect("sound")]
        } else {
            let inner = message.inner(&mut decoder).expect("sound");
            inner.map(|inner| inner.message.content().expect("sound")).collect()
        };
        for content in contents {
            let (_, _, key, value, _) = &input.records[count];
            assert_eq!((content.key, content.value), (*key, *value));
            count += 1;
        }
    }
    assert_eq!(count, input.records.len());
    Some(())
}

fuzz_target!(|input: Input<'_>| {
    let _ = if input.legacy { legacy(&input) } else { batch(&input) };
});
