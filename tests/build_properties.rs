//! Whatever is built reads as it was meant, and whatever is stamped or rewritten reads as it should.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod support;

use batchwise::codec::Codec;
use batchwise::crc32c;
use batchwise::kafka::{
    Header, HeaderPatch, MessageSetBuilder, NewRecord, RecordBatch, RecordBatchBuilder, Retention, Rewriter, Rewritten,
    TimestampType,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

type Blob = Option<Vec<u8>>;

/// A record that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
struct Owned {
    offset_delta: i32,
    timestamp: i64,
    key: Blob,
    value: Blob,
    headers: Vec<(String, Blob)>,
}

#[derive(Clone, Debug)]
struct Settings {
    base_offset: i64,
    partition_leader_epoch: i32,
    producer: Option<(i64, i16, i32)>,
    transactional: bool,
    log_append_time: Option<i64>,
    delete_horizon: Option<i64>,
    codec: Option<Codec>,
}

fn blob() -> impl Strategy<Value = Blob> {
    option::of(prop_oneof![8 => vec(any::<u8>(), 0..40), 1 => vec(0u8..4, 0..9000), 1 => Just(vec![7; 70_000])])
}

fn timestamp() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1_700_000_000_000..1_700_000_100_000i64, 1 => -1..i64::MAX, 1 => Just(-1), 1 => Just(i64::MAX)]
}

fn records() -> impl Strategy<Value = Vec<Owned>> {
    let headers = vec(("\\PC{0,8}", blob()), 0..4);
    let gap = prop_oneof![9 => Just(1), 2 => 2..100i32, 1 => 1..80_000_000i32];
    vec((gap, timestamp(), blob(), blob(), headers), 1..25).prop_map(|records| {
        let mut next = -1;
        let place = |(gap, timestamp, key, value, headers)| {
            next += gap;
            Owned { offset_delta: next, timestamp, key, value, headers }
        };
        records.into_iter().map(place).collect()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let codec = prop_oneof![Just(None), proptest::sample::select(Codec::ALL).prop_map(Some)];
    let producer = option::of((0..i64::MAX, 0..i16::MAX, 0..=i32::MAX));
    let first = (0..i64::MAX >> 1, -1..=i32::MAX, producer, any::<bool>());
    (first, option::of(timestamp()), option::of(0..i64::MAX), codec).prop_map(
        |((base_offset, partition_leader_epoch, producer, transactional), log_append_time, delete_horizon, codec)| {
            Settings {
                base_offset,
                partition_leader_epoch,
                producer,
                transactional: transactional && producer.is_some(),
                log_append_time,
                delete_horizon,
                codec,
            }
        },
    )
}

fn build(settings: &Settings, records: &[Owned]) -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new()
        .base_offset(settings.base_offset)
        .partition_leader_epoch(settings.partition_leader_epoch)
        .transactional(settings.transactional);
    if let Some((id, epoch, sequence)) = settings.producer {
        builder = builder.producer(id, epoch, sequence);
    }
    if let Some(ms) = settings.log_append_time {
        builder = builder.log_append_time(ms);
    }
    if let Some(ms) = settings.delete_horizon {
        builder = builder.delete_horizon(ms);
    }
    if let Some(codec) = settings.codec {
        builder = builder.compression(codec, None).unwrap();
    }
    for r in records {
        let headers: Vec<Header<'_>> =
            r.headers.iter().map(|(key, value)| Header { key: key.as_bytes(), value: value.as_deref() }).collect();
        let new =
            NewRecord { timestamp: r.timestamp, key: r.key.as_deref(), value: r.value.as_deref(), headers: &headers };
        builder.append_at(r.offset_delta, &new).unwrap();
    }
    builder.finish().unwrap()
}

/// The same batch without compression, for the view of records.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let batch = RecordBatch::parse(bytes, 0).unwrap();
    let mut plain = bytes[..61].to_vec();
    plain[22] &= !7;
    plain.extend(support::decompress(batch.codec(), batch.payload()));
    let length = (plain.len() - 12) as u32;
    plain[8..12].copy_from_slice(&length.to_be_bytes());
    plain
}

/// The records of a batch, with the timestamps that were stored, whatever the batch's type says.
fn read(bytes: &[u8]) -> Vec<Owned> {
    let bytes = plain(bytes);
    let batch = RecordBatch::parse(&bytes, 0).unwrap();
    let owned = |record: batchwise::kafka::Record<'_>| Owned {
        offset_delta: record.offset_delta(),
        timestamp: batch.header().base_timestamp().wrapping_add(record.timestamp_delta()),
        key: record.key().map(<[u8]>::to_vec),
        value: record.value().map(<[u8]>::to_vec),
        headers: record
            .headers()
            .map(|h| (String::from_utf8(h.key.to_vec()).unwrap(), h.value.map(<[u8]>::to_vec)))
            .collect(),
    };
    batch.records().unwrap().map(|r| owned(r.unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_reads_as_it_was_meant(settings in settings(), records in records()) {
        let bytes = build(&settings, &records);
        let batch = RecordBatch::parse(&bytes, 0).unwrap();
        prop_assert!(batch.verify_checksum().is_ok());
        prop_assert_eq!(batch.bytes().len(), bytes.len());
        prop_assert_eq!(&read(&bytes), &records);
        let (header, attributes) = (batch.header(), batch.attributes());
        let greatest = records.iter().map(|r| r.timestamp).max().unwrap();
        prop_assert_eq!(header.base_offset(), settings.base_offset);
        prop_assert_eq!(header.partition_leader_epoch(), settings.partition_leader_epoch);
        prop_assert_eq!(header.last_offset_delta(), records.last().unwrap().offset_delta);
        prop_assert_eq!(header.records_count() as usize, records.len());
        prop_assert_eq!(header.base_timestamp(), settings.delete_horizon.unwrap_or(records[0].timestamp));
        prop_assert_eq!(header.max_timestamp(), settings.log_append_time.unwrap_or(greatest));
        let producer = (header.producer_id(), header.producer_epoch(), header.base_sequence());
        prop_assert_eq!(producer, settings.producer.unwrap_or((-1, -1, -1)));
        prop_assert_eq!(attributes.codec(), settings.codec.map_or(0, Codec::number));
        prop_assert_eq!(attributes.timestamp_type() == TimestampType::LogAppendTime, settings.log_append_time.is_some());
        prop_assert_eq!(attributes.is_transactional(), settings.transactional);
        prop_assert_eq!(attributes.has_delete_horizon(), settings.delete_horizon.is_some());
        prop_assert!(!attributes.is_control() && attributes.reserved() == 0);
    }

    #[test]
    fn a_stamp_is_as_good_as_a_new_checksum(
        settings in settings(),
        records in records(),
        offset in 0..i64::MAX >> 1,
        epoch in any::<i32>(),
        time in any::<i64>(),
        is_broker in any::<bool>(),
        producer in option::of(any::<(i64, i16, i32)>()),
    ) {
        let mut bytes = build(&settings, &records);
        let before = read(&bytes);
        let mut patch = HeaderPatch::new().base_offset(offset).partition_leader_epoch(epoch);
        patch = if is_broker { patch.log_append_time(time) } else { patch.create_time(time) };
        if let Some((id, epoch, sequence)) = producer {
            patch = patch.producer(id, epoch, sequence);
        }
        let next = patch.apply(&mut bytes).unwrap();
        prop_assert_eq!(next, offset + i64::from(records.last().unwrap().offset_delta) + 1);
        let stored = u32::from_be_bytes(bytes[17..21].try_into().unwrap());
        prop_assert_eq!(stored, crc32c::crc32c(&bytes[21..]));
        prop_assert_eq!(before, read(&bytes));
        let once = bytes.clone();
        patch.apply(&mut bytes).unwrap();
        prop_assert_eq!(once, bytes);
    }

    #[test]
    fn what_is_kept_reads_as_before(
        settings in settings(),
        records in records(),
        keep in vec(any::<bool>(), 25),
        horizon in option::of(0..i64::MAX),
    ) {
        let bytes = plain_sealed(&build(&settings, &records));
        let batch = RecordBatch::parse(&bytes, 0).unwrap();
        let mut kept: Vec<Owned> = records.iter().zip(&keep).filter(|(_, k)| **k).map(|(r, _)| r.clone()).collect();
        if let Some(ms) = settings.log_append_time {
            kept.iter_mut().for_each(|r| r.timestamp = ms);
        }
        let mut retention = Retention::default().keep_empty(true);
        if let Some(ms) = horizon {
            retention = retention.delete_horizon(ms);
        }
        let mut keep = keep.iter();
        let mut out = Vec::new();
        let outcome = Rewriter::new().rewrite(&batch, retention, |_| *keep.next().unwrap(), &mut out).unwrap();
        let rewritten = RecordBatch::parse(&out, 0).unwrap();
        prop_assert!(rewritten.verify_checksum().is_ok());
        let (old, new) = (batch.header(), rewritten.header());
        prop_assert_eq!(new.base_offset(), old.base_offset());
        prop_assert_eq!(new.last_offset_delta(), old.last_offset_delta());
        prop_assert_eq!(new.as_bytes()[43..57].to_vec(), old.as_bytes()[43..57].to_vec());
        match outcome {
            Rewritten::Unchanged => prop_assert_eq!(&out, &bytes),
            Rewritten::Changed => prop_assert_eq!(&read(&out), &kept),
            Rewritten::Emptied => prop_assert!(kept.is_empty() && out.len() == 61),
            Rewritten::Dropped => prop_assert!(false, "the header was to be kept"),
        }
    }

    #[test]
    fn message_sets_hold_what_was_appended(
        magic in 0..2i8,
        base in 0..1i64 << 62,
        codec in prop_oneof![Just(None), Just(Some(Codec::Gzip)), Just(Some(Codec::Snappy)), Just(Some(Codec::Lz4))],
        messages in vec((1..50i64, timestamp(), blob(), blob()), 1..20),
    ) {
        let mut builder = MessageSetBuilder::new(magic).unwrap().base_offset(base);
        if let Some(codec) = codec {
            builder = builder.compression(codec, None).unwrap();
        }
        let mut offset = base - 1;
        let mut expected = Vec::new();
        for (gap, timestamp, key, value) in &messages {
            offset += gap;
            builder.append_at(offset, *timestamp, key.as_deref(), value.as_deref()).unwrap();
            expected.push((offset, if magic == 0 { -1 } else { *timestamp }, key.clone(), value.clone()));
        }
        let bytes = builder.finish().unwrap();
        let mut read = support::messages(&bytes);
        if codec.is_some() {
            let [wrapper] = &read[..] else { panic!("one wrapper") };
            prop_assert_eq!(wrapper.offset, offset);
            let inner = support::decompress(wrapper.attributes & 7, wrapper.value.as_deref().unwrap());
            let shift = if magic == 0 { 0 } else { wrapper.offset - support::messages(&inner).last().unwrap().offset };
            read = support::messages(&inner);
            read.iter_mut().for_each(|m| m.offset += shift);
        }
        let read: Vec<_> = read.into_iter().map(|m| (m.offset, m.timestamp, m.key, m.value)).collect();
        prop_assert_eq!(read, expected);
    }
}

/// The same batch without compression, its checksum right.
fn plain_sealed(bytes: &[u8]) -> Vec<u8> {
    let mut plain = plain(bytes);
    let crc = crc32c::crc32c(&plain[21..]);
    plain[17..21].copy_from_slice(&crc.to_be_bytes());
    plain
}
