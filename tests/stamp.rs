//! Stamping in place: Kafka's own bytes, a full recomputation, and damage that stays visible.

mod support;

use batchwise::kafka::{Attributes, HeaderPatch, MessagePatch, RecordBatch, TimestampType};
use batchwise::{ErrorKind, crc32c};
use support::hex;

const TWO_RECORDS: &[u8] = include_bytes!("data/kafka/two-records.bin");
/// Two-records, offsets 1000 and 1001, leader epoch 5, stamped by a topic of LogAppendTime at 1714000123456.
const STAMPED_LOG_APPEND_TIME: &str = "00000000000003e8000000490000000502f8dfe3310008000000010000018f125c74000000018f125e\
     5640ffffffffffffffffffffffffffff0000000216000000010a68656c6c6f0016000002010a776f726c6400";
/// Magic 1, offset 10, key "k", value "hello", CreateTime 1714000000000.
const MESSAGE: &str = "000000000000000a0000001c2954666d01000000018f125c7400000000016b0000000568656c6c6f";

/// What the checksum of a batch should be, computed from all its bytes.
fn rehash(batch: &mut [u8]) {
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
}

fn is_sound(batch: &[u8]) -> bool {
    RecordBatch::parse(batch, 0).unwrap().verify_checksum().is_ok()
}

/// Every batch of magic 2 among the test data, with the name of its segment.
fn batches() -> Vec<(String, Vec<u8>)> {
    let found: Vec<_> = support::kafka_entries().into_iter().filter(|(_, entry)| entry[16] == 2).collect();
    assert!(found.len() > 300, "only {} batches", found.len());
    found
}

#[test]
fn a_leader_of_a_create_time_topic_leaves_the_checksum_alone() {
    let mut batch = TWO_RECORDS.to_vec();
    let patch = HeaderPatch::new().base_offset(1000).partition_leader_epoch(5).create_time(1_714_000_000_000);
    assert_eq!(patch.apply(&mut batch), Ok(1002));
    assert_eq!(batch[..17], hex("00000000000003e8 00000049 00000005 02"));
    assert_eq!(batch[17..], TWO_RECORDS[17..]);
}

#[test]
fn a_leader_of_a_log_append_time_topic_writes_what_kafka_writes() {
    let mut batch = TWO_RECORDS.to_vec();
    let patch = HeaderPatch::new().base_offset(1000).partition_leader_epoch(5).log_append_time(1_714_000_123_456);
    assert_eq!(patch.apply(&mut batch), Ok(1002));
    assert_eq!(batch, hex(STAMPED_LOG_APPEND_TIME));
}

#[test]
fn batches_of_kafka_come_out_again_after_their_stamps_were_taken_off() {
    let (mut log_append, mut create) = (0, 0);
    for (name, batch) in batches() {
        let parsed = RecordBatch::parse(&batch, 0).unwrap();
        let header = parsed.header();
        // What the producer may have sent: another offset, no epoch, its own timestamp type and greatest timestamp.
        let mut sent = batch.clone();
        sent[..8].fill(0);
        sent[12..16].fill(0xFF);
        sent[22] ^= 8;
        sent[35..43].copy_from_slice(&7i64.to_be_bytes());
        rehash(&mut sent);
        let patch = HeaderPatch::new()
            .base_offset(header.base_offset())
            .partition_leader_epoch(header.partition_leader_epoch());
        let patch = match parsed.attributes().timestamp_type() {
            TimestampType::LogAppendTime => patch.log_append_time(header.max_timestamp()),
            TimestampType::CreateTime => patch.create_time(header.max_timestamp()),
        };
        match parsed.attributes().timestamp_type() {
            TimestampType::LogAppendTime => log_append += 1,
            TimestampType::CreateTime => create += 1,
        }
        patch.apply(&mut sent).unwrap();
        assert_eq!(sent, batch, "{name}");
    }
    assert!(log_append > 0 && create > 0);
}

#[test]
fn every_patch_gives_the_checksum_of_a_full_recomputation() {
    for (name, mut batch) in batches() {
        let attributes = Attributes(i16::from_be_bytes([batch[21], batch[22]]));
        HeaderPatch::new().producer(77, 3, 2_147_483_647).apply(&mut batch).unwrap();
        HeaderPatch::new().log_append_time(i64::MAX).apply(&mut batch).unwrap();
        HeaderPatch::new().delete_horizon(1_800_000_000_000).apply(&mut batch).unwrap();
        let parsed = RecordBatch::parse(&batch, 0).unwrap();
        let header = parsed.header();
        assert_eq!((header.producer_id(), header.producer_epoch(), header.base_sequence()), (77, 3, 2_147_483_647));
        assert_eq!((header.max_timestamp(), header.base_timestamp()), (i64::MAX, 1_800_000_000_000));
        assert_eq!(parsed.attributes().0, attributes.0 | 0x48, "{name}");
        let mut rehashed = batch.clone();
        rehash(&mut rehashed);
        assert_eq!(batch, rehashed, "{name}");
    }
}

#[test]
fn a_batch_that_was_damaged_is_damaged_after_the_stamp() {
    let patch = HeaderPatch::new().base_offset(9).log_append_time(1).producer(5, 6, 7);
    for bit in 17 * 8..TWO_RECORDS.len() * 8 {
        let mut batch = TWO_RECORDS.to_vec();
        batch[bit / 8] ^= 1 << (bit % 8);
        assert!(!is_sound(&batch));
        let overwritten = (35 * 8..57 * 8).contains(&bit) || bit == 22 * 8 + 3;
        match patch.apply(&mut batch) {
            // Damage in a field that the stamp replaces stays as well: the difference carries it over.
            Ok(_) => assert!(!is_sound(&batch), "bit {bit}, overwritten: {overwritten}"),
            Err(e) => assert_eq!(e.kind(), ErrorKind::LastOffsetDeltaNegative, "bit {bit}"),
        }
    }
}

#[test]
fn reserved_bits_go_only_where_the_timestamps_change() {
    let mut batch = TWO_RECORDS.to_vec();
    batch[21..23].copy_from_slice(&[0xFF, 0x80]);
    rehash(&mut batch);
    let with_reserved_bits = batch.clone();
    HeaderPatch::new().create_time(1_714_000_000_000).apply(&mut batch).unwrap();
    assert_eq!(batch, with_reserved_bits);
    HeaderPatch::new().create_time(1_714_000_000_001).apply(&mut batch).unwrap();
    assert_eq!(batch[21..23], [0, 0]);
    assert!(is_sound(&batch));
}

#[test]
fn what_cannot_be_stamped_is_left_as_it_was() {
    let sound = HeaderPatch::new().base_offset(1);
    let kind_of = |patch: HeaderPatch, bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        let kind = patch.apply(&mut changed).unwrap_err().kind();
        assert_eq!(changed, bytes);
        kind
    };
    for len in 0..TWO_RECORDS.len() {
        assert_eq!(kind_of(sound, &TWO_RECORDS[..len]), ErrorKind::TornTail);
    }
    assert_eq!(kind_of(sound, &hex(MESSAGE)), ErrorKind::MagicUnknown);
    assert_eq!(kind_of(sound.base_offset(i64::MAX - 1), TWO_RECORDS), ErrorKind::OffsetOutOfRange);
    assert_eq!(kind_of(sound.base_offset(-1), TWO_RECORDS), ErrorKind::OffsetOutOfRange);
    assert_eq!(sound.base_offset(i64::MAX - 2).apply(&mut TWO_RECORDS.to_vec()), Ok(i64::MAX));
    // The records of CreateTime are timed relative to what a delete horizon would replace.
    assert_eq!(kind_of(sound.delete_horizon(5), TWO_RECORDS), ErrorKind::DeleteHorizonNotAllowed);
    assert_eq!(kind_of(sound.log_append_time(5).delete_horizon(-1), TWO_RECORDS), ErrorKind::DeleteHorizonNotAllowed);
    assert!(sound.log_append_time(5).delete_horizon(5).apply(&mut TWO_RECORDS.to_vec()).is_ok());
    let mut negative = TWO_RECORDS.to_vec();
    negative[23] = 0x80;
    assert_eq!(kind_of(sound, &negative), ErrorKind::LastOffsetDeltaNegative);
}

#[test]
fn bytes_behind_the_batch_stay() {
    let mut bytes = [TWO_RECORDS, TWO_RECORDS].concat();
    HeaderPatch::new().base_offset(4).log_append_time(4).apply(&mut bytes).unwrap();
    assert_eq!(bytes[TWO_RECORDS.len()..], *TWO_RECORDS);
    assert!(is_sound(&bytes));
}

/// The CRC-32 of a message as its definition has it.
fn rehash_message(message: &mut [u8]) {
    let crc = crc32fast::hash(&message[16..]);
    message[12..16].copy_from_slice(&crc.to_be_bytes());
}

#[test]
fn messages_of_magic_1_are_stamped_as_if_hashed_again() {
    for extra in [0, 1, 5, 300, 70_000] {
        let mut message = hex(MESSAGE);
        message.extend(std::iter::repeat_n(0xA5, extra));
        let size = (message.len() - 12) as u32;
        message[8..12].copy_from_slice(&size.to_be_bytes());
        message[17] = 0xF2;
        rehash_message(&mut message);

        let mut expected = message.clone();
        expected[..8].copy_from_slice(&42i64.to_be_bytes());
        expected[17] = 0x0A; // reserved bits go, the codec stays
        expected[18..26].copy_from_slice(&1_714_000_123_456i64.to_be_bytes());
        rehash_message(&mut expected);

        let patch = MessagePatch::new().offset(42).timestamp(TimestampType::LogAppendTime, 1_714_000_123_456);
        patch.apply(&mut message).unwrap();
        assert_eq!(message, expected);
        patch.apply(&mut message).unwrap();
        assert_eq!(message, expected);

        message[25] ^= 1;
        MessagePatch::new().timestamp(TimestampType::CreateTime, 5).apply(&mut message).unwrap();
        let stored = message.clone();
        rehash_message(&mut message);
        assert_ne!(stored, message, "the stamp hid damage");
    }
}

#[test]
fn messages_that_cannot_be_stamped_are_left_as_they_were() {
    let kind_of = |patch: MessagePatch, bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        let kind = patch.apply(&mut changed).unwrap_err().kind();
        assert_eq!(changed, bytes);
        kind
    };
    let offset = MessagePatch::new().offset(7);
    let timestamp = offset.timestamp(TimestampType::CreateTime, 7);
    let message = hex(MESSAGE);
    for len in 0..message.len() {
        assert_eq!(kind_of(timestamp, &message[..len]), ErrorKind::TornTail);
    }
    assert_eq!(kind_of(offset, TWO_RECORDS), ErrorKind::MagicUnknown);
    let magic_0 = hex("000000000000000a00000014a4cdab3a0000000000016b0000000568656c6c6f");
    assert_eq!(kind_of(timestamp, &magic_0), ErrorKind::MagicNotAllowed);
    let mut stamped = magic_0.clone();
    offset.apply(&mut stamped).unwrap();
    assert_eq!((&stamped[..8], &stamped[8..]), (&7i64.to_be_bytes()[..], &magic_0[8..]));
    // The smallest size there is has room for a timestamp just so.
    let mut short = message[..26].to_vec();
    short[11] = 13;
    assert_eq!(kind_of(offset, &short), ErrorKind::BatchLengthTooSmall);
    short[11] = 14;
    rehash_message(&mut short);
    timestamp.apply(&mut short).unwrap();
    let stored = short.clone();
    rehash_message(&mut short);
    assert_eq!(stored, short);
}
