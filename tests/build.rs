//! The builder against Kafka's own bytes.

mod support;

use batchwise::codec::Codec;
use batchwise::kafka::{
    ControlRecord, Endpoint, Header, KRaftVoter, NewControlRecord, NewRecord, RecordBatch, RecordBatchBuilder,
    TimestampType, Voter,
};
use batchwise::{Error, ErrorKind, crc32c};
use support::{decompress, entries, hex, kafka_entries, kafka_file};

/// 2024-04-24T23:06:40Z.
const TIME: i64 = 1_714_000_000_000;

fn value(timestamp: i64, value: &[u8]) -> NewRecord<'_> {
    NewRecord { timestamp, value: Some(value), ..NewRecord::default() }
}

/// A builder with the settings of `batch`, except for its codec.
fn builder_like(batch: &RecordBatch<'_>) -> RecordBatchBuilder {
    let (header, attributes) = (batch.header(), batch.attributes());
    let mut builder = RecordBatchBuilder::new()
        .base_offset(header.base_offset())
        .partition_leader_epoch(header.partition_leader_epoch())
        .producer(header.producer_id(), header.producer_epoch(), header.base_sequence())
        .transactional(attributes.is_transactional())
        .control(attributes.is_control())
        .last_offset_delta(header.last_offset_delta());
    if attributes.timestamp_type() == TimestampType::LogAppendTime {
        builder = builder.log_append_time(header.max_timestamp());
    }
    if attributes.has_delete_horizon() {
        builder = builder.delete_horizon(header.base_timestamp());
    }
    builder
}

/// The same batch, not compressed.
fn plain(batch: &RecordBatch<'_>) -> Vec<u8> {
    let mut plain = batch.bytes()[..61].to_vec();
    plain[22] &= !7;
    plain.extend(decompress(batch.codec(), batch.payload()));
    let length = (plain.len() - 12) as u32;
    plain[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = crc32c::crc32c(&plain[21..]);
    plain[17..21].copy_from_slice(&crc.to_be_bytes());
    plain
}

/// Builds `batch` again from its records.
fn rebuild(batch: &RecordBatch<'_>) -> Result<Vec<u8>, Error> {
    let mut builder = builder_like(batch);
    if let Some(codec) = Codec::from_number(batch.codec()) {
        builder = builder.compression(codec, None)?;
    }
    for record in RecordBatch::parse(&plain(batch), 0)?.records()? {
        let record = record?;
        let headers: Vec<Header<'_>> = record.headers().collect();
        let timestamp = batch.header().base_timestamp().wrapping_add(record.timestamp_delta());
        let new = NewRecord { timestamp, key: record.key(), value: record.value(), headers: &headers };
        builder.append_at(record.offset_delta(), &new)?;
    }
    builder.finish()
}

#[test]
#[cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
fn batches_of_kafka_are_built_again_byte_by_byte() {
    let (mut identical, mut plainly, mut compressed, mut empty) = (0, 0, 0, 0);
    for (name, kafka) in kafka_entries().into_iter().filter(|(_, entry)| entry[16] == 2) {
        let batch = RecordBatch::parse(&kafka, 0).unwrap();
        let built = match rebuild(&batch) {
            Ok(built) => built,
            // What compaction keeps of a batch without its records is no work of a builder.
            Err(e) if e.kind() == ErrorKind::EmptyBatch => {
                empty += 1;
                continue;
            }
            Err(e) => {
                let refused = batch.header().base_timestamp() < -1 && e.kind() == ErrorKind::TimestampNegative;
                assert!(refused, "{name}: {e}: {:?}", batch.header());
                continue;
            }
        };
        if built == kafka {
            identical += 1;
            plainly += usize::from(batch.codec() == 0);
            continue;
        }
        // Two compressors may differ; then length and checksum do, and nothing else.
        let again = RecordBatch::parse(&built, 0).unwrap();
        again.verify_checksum().unwrap();
        assert_ne!(again.codec(), 0, "{name}: {:?}", batch.header());
        assert_eq!(again.attributes(), batch.attributes(), "{name}");
        assert!(plain(&again) == plain(&batch), "{name}: {:?}", batch.header());
        compressed += 1;
    }
    println!("{identical} identical, {plainly} of them plain, {compressed} differently compressed, {empty} empty");
    assert!(plainly > 120 && identical + compressed > 500 && compressed > 20 && empty > 30);
    // The libraries that compress look for matches by words of the machine.
    assert!(identical > 300 || cfg!(target_endian = "big"), "{identical}");
}

#[test]
fn two_records() {
    let mut builder = RecordBatchBuilder::new();
    builder.append(&value(TIME, b"hello")).unwrap();
    builder.append(&value(TIME, b"world")).unwrap();
    assert_eq!(builder.finish().unwrap(), include_bytes!("data/kafka/two-records.bin"));
    // The next batch has nothing of the first.
    assert!(builder.is_empty());
    builder.append(&value(TIME, b"hello")).unwrap();
    builder.append(&value(TIME, b"world")).unwrap();
    let mut out = b"before".to_vec();
    builder.finish_into(&mut out).unwrap();
    assert_eq!(out, [b"before", &include_bytes!("data/kafka/two-records.bin")[..]].concat());
}

#[test]
fn every_way_to_finish_gives_the_same_batch() {
    for codec in std::iter::once(None).chain(Codec::ALL.iter().copied().filter(|c| c.is_available()).map(Some)) {
        let mut builder = RecordBatchBuilder::new();
        if let Some(codec) = codec {
            builder = builder.compression(codec, None).unwrap();
        }
        let fill = |builder: &mut RecordBatchBuilder, count: i64| {
            (0..count).for_each(|i| builder.append(&value(TIME + i, b"some value or other")).unwrap());
        };
        for count in [1, 1000, 3] {
            fill(&mut builder, count);
            let batch = builder.finish().unwrap();
            fill(&mut builder, count);
            assert_eq!(builder.finish_in_place().unwrap(), batch);
            let mut out = b"before".to_vec();
            fill(&mut builder, count);
            builder.finish_into(&mut out).unwrap();
            assert_eq!(out[6..], batch);
            assert!(builder.is_empty() && builder.len() == 61);
        }
        assert_eq!(builder.finish_in_place().unwrap_err().kind(), ErrorKind::EmptyBatch);
    }
}

#[test]
fn a_commit_marker() {
    let mut builder = RecordBatchBuilder::new()
        .base_offset(42)
        .partition_leader_epoch(3)
        .producer(9, 1, -1)
        .transactional(true)
        .control(true);
    builder.append_control(TIME, &NewControlRecord::Commit { coordinator_epoch: 7 }).unwrap();
    let kafka = "000000000000002a000000420000000302c909bc1a0030000000000000018f125c74000000018f125c740000000000000000090001\
                 ffffffff000000012000000008000000010c00000000000700";
    assert_eq!(builder.finish().unwrap(), hex(kafka));
}

#[test]
fn control_records_of_kraft() {
    const TIME: i64 = 1_700_000_000_000;
    let voters = [1, 2, 3].map(|id| Voter { id, ..Voter::default() });
    let directory_id = 0x0000_0000_0000_0001_0000_0000_0000_0002_u128.to_be_bytes();
    let endpoints = [Endpoint { name: "CONTROLLER", host: "controller.example", port: 9093 }];
    let kraft_voters = [KRaftVoter {
        voter: Voter { id: 1, directory_id },
        endpoints: &endpoints,
        min_kraft_version: 0,
        max_kraft_version: 1,
    }];
    let batches: [&[NewControlRecord<'_>]; 7] = [
        &[NewControlRecord::LeaderChange {
            version: 0,
            leader_id: 2,
            voters: &voters,
            granting_voters: &[voters[1], voters[2]],
        }],
        &[NewControlRecord::LeaderChange { version: 0, leader_id: 0, voters: &[], granting_voters: &[] }],
        &[NewControlRecord::SnapshotHeader { last_contained_log_timestamp: TIME - 5 }],
        &[NewControlRecord::SnapshotFooter],
        &[NewControlRecord::KRaftVersion { kraft_version: 1 }],
        &[NewControlRecord::KRaftVoters { voters: &kraft_voters }],
        &[
            NewControlRecord::SnapshotHeader { last_contained_log_timestamp: TIME },
            NewControlRecord::KRaftVersion { kraft_version: 1 },
            NewControlRecord::SnapshotFooter,
        ],
    ];
    let kafka = kafka_file("v2-kraft-control/00000000000000000000.log");
    for (records, kafka) in batches.iter().zip(entries(&kafka)) {
        let header = RecordBatch::parse(&kafka, 0).unwrap().header();
        let mut builder = RecordBatchBuilder::new()
            .base_offset(header.base_offset())
            .partition_leader_epoch(header.partition_leader_epoch())
            .control(true);
        for record in *records {
            builder.append_control(TIME, record).unwrap();
        }
        assert_eq!(builder.finish().unwrap(), kafka, "{records:?}");
    }
    // Version 1 adds the directories; its bytes are those of the reader's inverse.
    let mut builder = RecordBatchBuilder::new().control(true);
    let voters = [Voter { id: 7, directory_id: [0xAB; 16] }];
    let change = NewControlRecord::LeaderChange { version: 1, leader_id: 7, voters: &voters, granting_voters: &voters };
    builder.append_control(TIME, &change).unwrap();
    let built = builder.finish().unwrap();
    let record = RecordBatch::parse(&built, 0).unwrap().records().unwrap().next().unwrap().unwrap();
    let expected = ControlRecord::LeaderChange { version: 1, leader_id: 7, voters: 1, granting_voters: 1 };
    assert_eq!(ControlRecord::parse(&record), Ok(expected));
    assert_eq!(record.value().unwrap()[11..27], [0xAB; 16]);
}

#[test]
fn control_records_go_into_control_batches_and_nothing_else_does() {
    let mut data = RecordBatchBuilder::new();
    let misplaced = data.append_control(TIME, &NewControlRecord::SnapshotFooter).unwrap_err();
    assert_eq!(misplaced.kind(), ErrorKind::ControlRecordMisplaced);
    let mut control = RecordBatchBuilder::new().control(true);
    let kind = |e: Result<(), Error>| e.unwrap_err().kind();
    assert_eq!(kind(control.append(&value(TIME, b"hello"))), ErrorKind::ControlKeyInvalid);
    let marker = NewRecord { key: Some(&[0, 0, 0, 1]), ..value(TIME, b"short") };
    assert_eq!(kind(control.append(&marker)), ErrorKind::EndTxnMarkerInvalid);
    let footer = NewRecord { key: Some(&[0, 0, 0, 4]), ..value(TIME, b"") };
    assert_eq!(kind(control.append(&footer)), ErrorKind::ControlValueInvalid);
    assert!(data.is_empty() && control.is_empty());
}

#[test]
fn tombstones_under_a_delete_horizon() {
    let mut builder = RecordBatchBuilder::new().delete_horizon(1_800_000_000_000);
    builder.append(&NewRecord { timestamp: TIME, key: Some(b"k"), ..NewRecord::default() }).unwrap();
    builder.append(&NewRecord { timestamp: TIME + 5, key: Some(b"j"), ..NewRecord::default() }).unwrap();
    let kafka = "00000000000000000000004bffffffff02ba6bd841004000000001000001a3185c50000000018f125c7405ffffffffffffffffffff\
                 ffffffff000000021800ffeffedf800500026b01001800f5effedf800502026a0100";
    assert_eq!(builder.finish().unwrap(), hex(kafka));
}

#[test]
fn record_headers() {
    let headers = [Header { key: b"h", value: Some(b"v") }, Header { key: b"n", value: None }];
    let mut builder = RecordBatchBuilder::new();
    let record = NewRecord { timestamp: TIME, key: Some(b"k"), value: None, headers: &headers };
    builder.append(&record).unwrap();
    let kafka = "000000000000000000000040ffffffff025b62c6bf0000000000000000018f125c74000000018f125c7400ffffffffffffffffffff\
                 ffffffff000000011c000000026b010402680276026e01";
    assert_eq!(builder.finish().unwrap(), hex(kafka));
}

#[test]
fn what_cannot_be_written_is_refused_and_changes_nothing() {
    let kind_of = |builder: &mut RecordBatchBuilder, delta, record: &NewRecord<'_>| {
        let (len, count) = (builder.len(), builder.records_count());
        let kind = builder.append_at(delta, record).unwrap_err().kind();
        assert_eq!((builder.len(), builder.records_count()), (len, count));
        kind
    };
    let hello = value(TIME, b"hello");
    let mut builder = RecordBatchBuilder::new();
    assert_eq!(kind_of(&mut builder, -1, &hello), ErrorKind::OffsetDeltaOutOfRange);
    builder.append_at(7, &hello).unwrap();
    assert_eq!(kind_of(&mut builder, 7, &hello), ErrorKind::OffsetDeltaNotIncreasing);
    assert_eq!(kind_of(&mut builder, 8, &value(-2, b"")), ErrorKind::TimestampNegative);
    let headers = [Header { key: b"\xFF", value: None }];
    assert_eq!(kind_of(&mut builder, 8, &NewRecord { headers: &headers, ..hello }), ErrorKind::HeaderKeyNotUtf8);
    builder.append_at(i32::MAX, &value(-1, b"")).unwrap();
    assert_eq!(builder.append(&hello).unwrap_err().kind(), ErrorKind::OffsetDeltaOutOfRange);

    // A batch has to fit 31 bits; headers may share memory, so that this needs little of it.
    let big = vec![0; 64 << 20];
    let headers = vec![Header { key: b"", value: Some(&big) }; 32];
    let mut builder = RecordBatchBuilder::new();
    assert_eq!(kind_of(&mut builder, 0, &NewRecord { headers: &headers, ..hello }), ErrorKind::BatchTooLarge);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let kind_of = |builder: RecordBatchBuilder| {
        let mut builder = builder;
        builder.append(&value(TIME, b"hello")).unwrap();
        builder.append(&value(TIME, b"world")).unwrap();
        let kind = builder.finish().unwrap_err().kind();
        assert_eq!(builder.records_count(), 2);
        kind
    };
    let new = RecordBatchBuilder::new;
    assert_eq!(new().finish().unwrap_err().kind(), ErrorKind::EmptyBatch);
    assert_eq!(kind_of(new().base_offset(-1)), ErrorKind::OffsetOutOfRange);
    assert_eq!(kind_of(new().base_offset(i64::MAX)), ErrorKind::OffsetOutOfRange);
    assert_eq!(kind_of(new().last_offset_delta(0)), ErrorKind::OffsetDeltaOutOfRange);
    assert_eq!(kind_of(new().last_offset_delta(-1)), ErrorKind::LastOffsetDeltaNegative);
    assert_eq!(kind_of(new().delete_horizon(-1)), ErrorKind::DeleteHorizonNotAllowed);
    assert_eq!(kind_of(new().producer(-2, 0, 0)), ErrorKind::ProducerIdInvalid);
    assert_eq!(kind_of(new().producer(5, -1, 0)), ErrorKind::ProducerEpochInvalid);
    assert_eq!(kind_of(new().producer(5, 0, -1)), ErrorKind::BaseSequenceMissing);
    let mut marker = new().producer(5, 0, -2).transactional(true).control(true);
    marker.append_control(TIME, &NewControlRecord::Abort { coordinator_epoch: 0 }).unwrap();
    assert_eq!(marker.finish().unwrap_err().kind(), ErrorKind::BaseSequenceMissing);
    assert_eq!(kind_of(new().producer(-1, 0, -1)), ErrorKind::ProducerFieldsInconsistent);
    assert_eq!(kind_of(new().producer(-1, -1, 0)), ErrorKind::ProducerFieldsInconsistent);
    assert_eq!(kind_of(new().transactional(true)), ErrorKind::TransactionalWithoutProducerId);

    let mut late = new();
    late.append(&value(TIME, b"hello")).unwrap();
    assert_eq!(late.delete_horizon(TIME + 1).finish().unwrap_err().kind(), ErrorKind::DeleteHorizonNotAllowed);
}
