//! Rewriting against what Kafka's log cleaner left.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod support;

use batchwise::codec::{Codec, Decoder};
use batchwise::kafka::{
    Header, NewRecord, Record, RecordBatch, RecordBatchBuilder, Retention, Rewriter, Rewritten, TimestampType,
};
use batchwise::{Error, ErrorKind};
use support::{entries, kafka_file};

/// The delete horizon of those segments.
const HORIZON: i64 = 1_700_086_500_000;

fn parse(bytes: &[u8]) -> RecordBatch<'_> {
    RecordBatch::parse(bytes, 0).unwrap()
}

fn timestamp(batch: &RecordBatch<'_>, record: &Record<'_>) -> i64 {
    match batch.attributes().timestamp_type() {
        TimestampType::LogAppendTime => batch.header().max_timestamp(),
        TimestampType::CreateTime => batch.header().base_timestamp() + record.timestamp_delta(),
    }
}

/// A batch that the cleaner may have found: with a record at every offset, and no delete horizon.
fn before_the_cleaner(left: &RecordBatch<'_>, decoder: &mut Decoder) -> Vec<u8> {
    let (header, attributes) = (left.header(), left.attributes());
    let mut builder = RecordBatchBuilder::new()
        .base_offset(header.base_offset())
        .partition_leader_epoch(header.partition_leader_epoch())
        .producer(header.producer_id(), header.producer_epoch(), header.base_sequence())
        .transactional(attributes.is_transactional())
        .control(attributes.is_control());
    if attributes.timestamp_type() == TimestampType::LogAppendTime {
        builder = builder.log_append_time(header.max_timestamp());
    }
    if let Some(codec) = Codec::from_number(left.codec()) {
        builder = builder.compression(codec, None).unwrap();
    }
    let kept: Vec<Record<'_>> = left.decoded_records(decoder).unwrap().map(Result::unwrap).collect();
    for delta in 0..=header.last_offset_delta() {
        match kept.iter().find(|r| r.offset_delta() == delta) {
            Some(record) => {
                let headers: Vec<Header<'_>> = record.headers().collect();
                let timestamp = timestamp(left, record);
                let new = NewRecord { timestamp, key: record.key(), value: record.value(), headers: &headers };
                builder.append(&new).unwrap();
            }
            None => {
                let new =
                    NewRecord { timestamp: header.max_timestamp(), value: Some(b"superseded"), ..NewRecord::default() };
                builder.append(&new).unwrap();
            }
        }
    }
    builder.finish().unwrap()
}

#[test]
fn the_cleaner_of_kafka_leaves_the_same_bytes() {
    let (mut rewriter, mut decoder) = (Rewriter::new(), Decoder::default());
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let (mut outcomes, mut with_horizon) = (Vec::new(), 0);
        for left in entries(&kafka_file(&format!("v2-{codec}-compacted/00000000000000000000.log"))) {
            let left = parse(&left);
            let before = before_the_cleaner(&left, &mut decoder);
            let kept = left.decoded_records(&mut decoder).unwrap();
            let kept: Vec<i32> = kept.map(|r| r.unwrap().offset_delta()).collect();
            let retention = Retention::default()
                .delete_horizon(HORIZON)
                .keep_empty(true)
                .ends_empty_transaction(left.attributes().is_control());
            let mut out = b"before".to_vec();
            let outcome = rewriter.rewrite(&parse(&before), retention, |r| kept.contains(&r.offset_delta()), &mut out);
            outcomes.push(outcome.unwrap());
            with_horizon += u32::from(left.attributes().has_delete_horizon());
            let rewritten = parse(&out[6..]);
            rewritten.verify_checksum().unwrap();
            if left.codec() == 0 {
                assert_eq!(rewritten.bytes(), left.bytes(), "{codec}: {:?}", left.header());
                continue;
            }
            // Two compressors may differ: all but length, checksum and payload is the same.
            let fields = |batch: &RecordBatch<'_>| {
                [&batch.bytes()[..8], &batch.bytes()[12..17], &batch.bytes()[21..61]].concat()
            };
            assert_eq!(fields(&rewritten), fields(&left), "{codec}: {:?}", left.header());
            let payload = |batch: &RecordBatch<'_>| support::decompress(batch.codec(), batch.payload());
            assert_eq!(payload(&rewritten), payload(&left), "{codec}: {:?}", left.header());
        }
        let count = |outcome| outcomes.iter().filter(|o| **o == outcome).count();
        assert_eq!((count(Rewritten::Changed), count(Rewritten::Emptied), with_horizon), (12, 2, 6), "{codec}");
    }
}

/// The second pass: every record goes of every other batch of 20 offsets, but for control records.
fn second_pass(bytes: &[u8]) -> Vec<u8> {
    let mut rewriter = Rewriter::new();
    let mut out = Vec::new();
    for entry in entries(bytes) {
        let batch = parse(&entry);
        let goes = batch.header().base_offset() / 20 % 2 == 0 && !batch.attributes().is_control();
        let retention = Retention::default().delete_horizon(HORIZON + 1).keep_empty(true);
        rewriter.rewrite(&batch, retention, |_| !goes, &mut out).unwrap();
    }
    out
}

#[test]
fn a_second_pass_leaves_the_same_bytes() {
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let once = kafka_file(&format!("v2-{codec}-compacted/00000000000000000000.log"));
        let twice = kafka_file(&format!("v2-{codec}-compacted-twice/00000000000000000000.log"));
        assert!(second_pass(&once) == twice, "{codec}");
    }
}

fn batch_of(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new().base_offset(100);
    for (i, value) in values.iter().enumerate() {
        let new = NewRecord { timestamp: 1000 - i as i64, key: Some(b"k"), value: *value, ..NewRecord::default() };
        builder.append(&new).unwrap();
    }
    builder.finish().unwrap()
}

fn rewrite(
    batch: &[u8],
    retention: Retention,
    keep: impl FnMut(&Record<'_>) -> bool,
) -> Result<(Rewritten, Vec<u8>), Error> {
    let mut out = Vec::new();
    let outcome = Rewriter::new().rewrite(&parse(batch), retention, keep, &mut out)?;
    Ok((outcome, out))
}

#[test]
fn a_batch_that_keeps_everything_is_copied() {
    let batch = batch_of(&[Some(b"a"), Some(b"b")]);
    let retention = Retention::default().delete_horizon(5000);
    assert_eq!(rewrite(&batch, retention, |_| true), Ok((Rewritten::Unchanged, batch.clone())));
    // A tombstone without a delete horizon gets one; with one it is left as it is.
    let batch = batch_of(&[Some(b"a"), None]);
    let (outcome, with_horizon) = rewrite(&batch, retention, |_| true).unwrap();
    assert_eq!(outcome, Rewritten::Changed);
    assert_eq!(parse(&with_horizon).header().base_timestamp(), 5000);
    let later = retention.delete_horizon(6000);
    assert_eq!(rewrite(&with_horizon, later, |_| true), Ok((Rewritten::Unchanged, with_horizon.clone())));
    // Of the rewritten batch the records are timed as before.
    let (_, less) = rewrite(&with_horizon, later, |r| r.value().is_none()).unwrap();
    let less = parse(&less);
    let records: Vec<_> = less.records().unwrap().map(Result::unwrap).collect();
    assert_eq!((less.header().base_timestamp(), less.header().max_timestamp()), (5000, 999));
    assert_eq!((records.len(), timestamp(&less, &records[0]), records[0].offset_delta()), (1, 999, 1));
    assert_eq!(less.header().last_offset_delta(), 1);
}

#[test]
fn a_batch_that_keeps_nothing_goes_or_leaves_its_header() {
    let batch = batch_of(&[Some(b"a"), None]);
    assert_eq!(rewrite(&batch, Retention::default(), |_| false), Ok((Rewritten::Dropped, Vec::new())));
    let (outcome, header) = rewrite(&batch, Retention::default().keep_empty(true), |_| false).unwrap();
    assert_eq!((outcome, header.len()), (Rewritten::Emptied, 61));
    let header = parse(&header);
    header.verify_checksum().unwrap();
    assert_eq!((header.header().base_timestamp(), header.header().max_timestamp()), (-1, 1000));
    assert_eq!((header.header().base_offset(), header.last_offset()), (100, 101));
}

#[test]
fn damage_is_not_made_to_look_sound() {
    let mut batch = batch_of(&[Some(b"a"), Some(b"b")]);
    *batch.last_mut().unwrap() ^= 1;
    assert_eq!(rewrite(&batch, Retention::default(), |_| true).unwrap_err().kind(), ErrorKind::CrcMismatch);
}

#[test]
fn what_the_cleaner_refuses_is_refused() {
    let reseal = |mut batch: Vec<u8>, at: usize, bytes: &[u8]| {
        batch[at..at + bytes.len()].copy_from_slice(bytes);
        let crc = batchwise::crc32c::crc32c(&batch[21..]);
        batch[17..21].copy_from_slice(&crc.to_be_bytes());
        batch
    };
    let kind = |batch: &[u8], retention: Retention| {
        let mut out = b"before".to_vec();
        let error = Rewriter::new().rewrite(&parse(batch), retention, |r| r.value().is_none(), &mut out).unwrap_err();
        assert_eq!(out, b"before");
        error.kind()
    };
    let batch = batch_of(&[None, Some(b"x"), None]);
    let plain = Retention::default();
    assert_eq!(kind(&batch, plain.delete_horizon(-1)), ErrorKind::DeleteHorizonNotAllowed);
    // Records of 8 and 9 bytes: length, attributes, timestampDelta, offsetDelta ...
    let third = 61 + 8 + 9;
    assert_eq!(batch[third + 3], 4);
    assert_eq!(kind(&reseal(batch.clone(), third + 3, &[0]), plain), ErrorKind::OffsetDeltaNotIncreasing);
    assert_eq!(kind(&reseal(batch.clone(), third + 3, &[1]), plain), ErrorKind::OffsetDeltaOutOfRange);
    assert_eq!(kind(&reseal(batch.clone(), third + 3, &[6]), plain), ErrorKind::OffsetDeltaOutOfRange);
    assert_eq!(kind(&reseal(batch.clone(), 27, &(-5000i64).to_be_bytes()), plain), ErrorKind::TimestampNegative);
    assert_eq!(kind(&reseal(batch.clone(), 57, &4i32.to_be_bytes()), plain), ErrorKind::RecordsTruncated);
    assert_eq!(kind(&reseal(batch, 57, &2i32.to_be_bytes()), plain), ErrorKind::TrailingRecordBytes);
}
