//! Requests of producers against the settings of broker and topic.

use crate::support::{RECORD, batch, batch_at, build, message, raw, sealed_message, with};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;
use batchwise::kafka::{NewRecord, Produce, RecordBatchBuilder, TimestampType};
use batchwise::{Defect, Options, Origin, Scratch};

/// A request for a topic of these settings; there is nothing of that kind but from a client.
fn request(set: fn(&mut Produce), records: Vec<u8>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        let (mut produce, mut found) = (Produce::default(), Vec::new());
        if options.origin == Origin::Client {
            set(&mut produce);
            produce.check(&records, options, &mut Scratch::default(), &mut |d| found.push(d));
        }
        found
    }
}

fn nothing(_: &mut Produce) {}

pub(crate) fn cases() -> Vec<Case> {
    const LEN: u32 = 79;
    assert_eq!(batch().len(), LEN as usize);
    let zstd = || build(RecordBatchBuilder::new().compression(Codec::Zstd, None).unwrap(), &[RECORD]);
    let idempotent = || build(RecordBatchBuilder::new().producer(1, 0, 0), &[RECORD]);
    let no_key = || build(RecordBatchBuilder::new(), &[NewRecord { key: None, ..RECORD }]);
    let log_append_time = || with(batch(), 22, &[8]);
    let mut all = vec![
        case("K08", BatchTooLarge, "one byte more than max.message.bytes")
            .at("batchLength", 8, "E-- E--")
            .runs(request(|p| p.max_message_bytes = LEN - 1, batch()), request(|p| p.max_message_bytes = LEN, batch())),
        case("K09", BatchExceedsSegment, "one byte more than segment.bytes")
            .at("records", 0, "E-- E--")
            .runs(request(|p| p.segment_bytes = LEN - 1, batch()), request(|p| p.segment_bytes = LEN, batch())),
        case("K11", MagicNotAllowed, "a message in version 3 of the request")
            .at("magic", 16, "E-- E--")
            .runs(request(|p| p.version = Some(3), message(1, 0)), request(|p| p.version = Some(2), message(1, 0))),
        case("K11", NoBatch, "an empty request")
            .at("records", 0, "E-- E--")
            .runs(request(nothing, vec![]), request(nothing, batch())),
        case("K11", BatchCountNotOne, "two batches in version 3 of the request")
            .at("batch", LEN.into(), "E-- E--")
            .runs(
                request(|p| p.version = Some(3), [batch(), batch()].concat()),
                request(|p| p.version = Some(3), batch()),
            ),
        case("K19", CodecNotAllowed, "zstd in version 6 of the request")
            .at("attributes", 21, "E-- E--")
            .runs(request(|p| p.version = Some(6), zstd()), request(|p| p.version = Some(7), zstd())),
        case("K21", TimestampTypeFromClient, "LogAppendTime in a topic of that").at("attributes", 21, "E-- E--").runs(
            request(|p| p.timestamp_type = TimestampType::LogAppendTime, log_append_time()),
            request(|p| p.timestamp_type = TimestampType::LogAppendTime, batch()),
        ),
        case("K25", FormatUnsupported, "a producer id in a topic of messages")
            .at("producerId", 43, "E-- E--")
            .runs(request(|p| p.message_format = 1, idempotent()), request(|p| p.message_format = 1, batch())),
        case("K53", KeyMissingOnCompactedTopic, "no key")
            .at("keyLength", 65, "E-- E--")
            .runs(request(|p| p.compacted = true, no_key()), request(|p| p.compacted = true, batch())),
        case("K58", TimestampOutOfRange, "timestamp 1000 where 999 is the last")
            .at("timestampDelta", 63, "E-- E--")
            .runs(
                request(|p| p.timestamps = Some((0, 999)), batch()),
                request(|p| p.timestamps = Some((1000, 1000)), batch()),
            ),
    ];
    all.extend(messages());
    // Of a log the same is known without settings.
    let mixed = |second: Vec<u8>| [message(1, 0), second].concat();
    all.push(
        case("K13", MagicMixed, "a record batch behind a message")
            .at("magic", message(1, 0).len() as u64 + 16, "EII EII")
            .logs(mixed(batch_at(1)), mixed(message(1, 1))),
    );
    all
}

fn messages() -> Vec<Case> {
    let no_key = |magic: i8| {
        let mut builder = batchwise::kafka::MessageSetBuilder::new(magic).unwrap();
        builder.append(1000, None, Some(b"hello")).unwrap();
        builder.finish().unwrap()
    };
    let short = || sealed_message(message(1, 0)[..33].to_vec());
    let long_key = || sealed_message(raw(message(1, 0), 26, &11i32.to_be_bytes()));
    let as_sent: fn(&mut Produce) = |p| p.message_format = 1;
    vec![
        case("K53", KeyMissingOnCompactedTopic, "no key in magic 0")
            .at("keyLength", 18, "E-- E--")
            .runs(request(|p| p.compacted = true, no_key(0)), request(|p| p.compacted = true, message(0, 0))),
        case("K53", KeyMissingOnCompactedTopic, "no key in magic 1")
            .at("keyLength", 26, "E-- E--")
            .runs(request(|p| p.compacted = true, no_key(1)), request(|p| p.compacted = true, message(1, 0))),
        case("K58", TimestampOutOfRange, "timestamp 1000 of a message").at("timestamp", 18, "E-- E--").runs(
            request(|p| p.timestamps = Some((0, 999)), message(1, 0)),
            request(|p| p.timestamps = Some((0, 1000)), message(1, 0)),
        ),
        case("K76", EntrySizeTooSmall, "size 21, of a message that is not converted")
            .at("messageSize", 8, "E-- W--")
            .runs(request(as_sent, short()), request(as_sent, message(1, 0))),
        case("K78", KeyLengthTooLarge, "a key beyond the message, which is not converted")
            .at("keyLength", 26, "E-- W--")
            .runs(request(as_sent, long_key()), request(as_sent, message(1, 0))),
        case("K59", TimestampNegative, "timestamp -2 of a message that is not converted")
            .at("timestamp", 18, "W-- W--")
            .runs(
                request(as_sent, sealed_message(raw(message(1, 0), 18, &(-2i64).to_be_bytes()))),
                request(as_sent, message(1, 0)),
            ),
    ]
}

/// All that is found in a request, in order.
fn found(set: fn(&mut Produce), records: &[u8]) -> Vec<batchwise::ErrorKind> {
    let mut options = Options::default();
    options.origin = Origin::Client;
    request(set, records.to_vec())(&options).iter().map(|d| d.error.kind()).collect()
}

#[test]
fn requests_as_a_whole() {
    let current: fn(&mut Produce) = |p| p.version = Some(9);
    assert_eq!(found(current, &batch()), []);
    assert_eq!(found(current, &[]), [NoBatch]);
    assert_eq!(found(current, &[batch(), batch()].concat()), [BatchCountNotOne]);
    assert_eq!(found(current, &batch()[..40]), [TornTail, NoBatch]);
    assert_eq!(found(current, &message(1, 0)), [MagicNotAllowed]);
    assert_eq!(found(nothing, &message(1, 0)), []);
    assert_eq!(found(nothing, &[message(1, 0), batch()].concat()), [MagicMixed]);
    // One finding for each record.
    assert_eq!(found(|p| p.timestamps = Some((0, 999)), &batch()), [TimestampOutOfRange; 2]);
}
