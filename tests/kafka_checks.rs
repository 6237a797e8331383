//! Checks of the produce request and of batches: each fires, and its neighbour does not.

use batchwise::kafka::{Header, NewRecord, Produce, RecordBatchBuilder};
use batchwise::{ErrorKind, Options, Origin, Scratch, Severity, Validator, crc32c, kafka};

const RECORD: NewRecord<'static> = NewRecord { timestamp: 1000, key: Some(b"k"), value: Some(b"v"), headers: &[] };

fn batch() -> Vec<u8> {
    build(RecordBatchBuilder::new(), &[RECORD, RECORD])
}

fn build(mut builder: RecordBatchBuilder, records: &[NewRecord<'_>]) -> Vec<u8> {
    records.iter().for_each(|r| builder.append(r).expect("a sound record"));
    builder.finish().expect("a batch")
}

/// The batch with other bytes at `at`, and the right checksum.
fn with(mut bytes: Vec<u8>, at: usize, patch: &[u8]) -> Vec<u8> {
    bytes[at..at + patch.len()].copy_from_slice(patch);
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn found(bytes: &[u8], origin: Origin) -> Vec<(ErrorKind, Severity)> {
    let mut options = Options::default();
    options.origin = origin;
    let report = Validator::new(&kafka::Log).options(options).validate(bytes);
    report.findings.iter().map(|f| (f.defect.error.kind(), f.defect.severity)).collect()
}

use Severity::{Error, Info, Warning};

#[track_caller]
fn fires(bytes: &[u8], origin: Origin, kind: ErrorKind, severity: Severity) {
    let found = found(bytes, origin);
    assert!(found.contains(&(kind, severity)), "{kind:?}: {found:?}");
}

#[test]
fn a_sound_batch_has_no_findings() {
    for origin in [Origin::Client, Origin::Stored, Origin::Replica] {
        assert_eq!(found(&batch(), origin), []);
    }
}

#[test]
fn header_fields_of_a_stored_batch() {
    let fires = |at, patch: &[u8], kind, severity| fires(&with(batch(), at, patch), Origin::Stored, kind, severity);
    fires(21, &[0x80, 0], ErrorKind::AttributesReservedBits, Warning);
    fires(22, &[5], ErrorKind::CodecUnknown, Error);
    fires(22, &[0x10], ErrorKind::TransactionalWithoutProducerId, Warning);
    fires(0, &[0xFF; 8], ErrorKind::OffsetOutOfRange, Error);
    fires(23, &[0xFF; 4], ErrorKind::LastOffsetDeltaNegative, Error);
    fires(57, &[0xFF; 4], ErrorKind::RecordsCountNegative, Error);
    fires(57, &[0, 0, 0, 0], ErrorKind::EmptyBatchWithPayload, Error);
    fires(57, &[0, 0, 0, 1], ErrorKind::TrailingRecordBytes, Error);
    fires(57, &[0, 0, 0, 1], ErrorKind::RecordsCountMismatch, Info);
    fires(57, &[0, 0, 0, 3], ErrorKind::RecordsTruncated, Error);
    fires(57, &[0, 0, 0, 3], ErrorKind::RecordsCountExceedsRange, Error);
    fires(43, &[0xFF, 0, 0, 0, 0, 0, 0, 0], ErrorKind::ProducerIdInvalid, Warning);
    fires(43, &[0, 0, 0, 0, 0, 0, 0, 1], ErrorKind::ProducerEpochInvalid, Warning);
    fires(43, &[0, 0, 0, 0, 0, 0, 0, 1], ErrorKind::BaseSequenceMissing, Info);
    fires(51, &[0, 0], ErrorKind::ProducerFieldsInconsistent, Warning);
    fires(35, &[0xFF; 8], ErrorKind::MaxTimestampMismatch, Warning);
}

#[test]
fn fields_that_only_a_producer_must_not_set() {
    let fires = |at, patch: &[u8], kind, severity| {
        let bytes = with(batch(), at, patch);
        fires(&bytes, Origin::Client, kind, severity);
        let stored = found(&bytes, Origin::Stored);
        assert!(stored.iter().all(|(k, s)| *k != kind || *s < Error), "{stored:?}");
    };
    fires(0, &[0, 0, 0, 0, 0, 0, 0, 1], ErrorKind::BaseOffsetNotZero, Error);
    fires(22, &[0x08], ErrorKind::TimestampTypeFromClient, Warning);
    fires(22, &[0x20], ErrorKind::ControlBatchFromClient, Error);
    fires(22, &[0x40], ErrorKind::DeleteHorizonFromClient, Error);
    fires(43, &[0, 0, 0, 0, 0, 0, 0, 1], ErrorKind::BaseSequenceMissing, Error);
    fires(57, &[0, 0, 0, 1], ErrorKind::RecordsCountMismatch, Error);
}

#[test]
fn records_of_a_batch() {
    // Length 9 at 61, attributes, timestampDelta, offsetDelta, key length and key, value length and value, headers.
    assert_eq!(batch()[61..71], [16, 0, 0, 0, 2, b'k', 2, b'v', 0, 16]);
    let fires = |at, patch: &[u8], kind, severity| fires(&with(batch(), at, patch), Origin::Stored, kind, severity);
    fires(61, &[18], ErrorKind::RecordLengthMismatch, Error);
    fires(61, &[1], ErrorKind::RecordLengthNegative, Error);
    fires(61, &[0x7E], ErrorKind::RecordLengthTooLarge, Error);
    fires(61, &[0xFF; 5], ErrorKind::VarintTooLong, Error);
    fires(62, &[1], ErrorKind::RecordAttributesNonZero, Warning);
    fires(63, &[2], ErrorKind::FirstDeltaNotZero, Info);
    fires(73, &[0], ErrorKind::OffsetDeltaNotIncreasing, Error);
    fires(73, &[4], ErrorKind::OffsetDeltaOutOfRange, Error);
    fires(65, &[40], ErrorKind::KeyLengthTooLarge, Error);
    fires(67, &[40], ErrorKind::ValueLengthTooLarge, Error);
    fires(69, &[1], ErrorKind::HeadersCountNegative, Error);
    fires(69, &[40], ErrorKind::HeadersCountTooLarge, Error);
}

#[test]
fn headers_of_a_record() {
    let headers = [Header { key: b"h", value: Some(b"w") }];
    let bytes = build(RecordBatchBuilder::new(), &[NewRecord { headers: &headers, ..RECORD }]);
    assert_eq!(found(&bytes, Origin::Stored), []);
    let at = bytes.len() - 4;
    assert_eq!(bytes[at..], [2, b'h', 2, b'w']);
    let fires =
        |at, patch: &[u8], kind, severity| fires(&with(bytes.clone(), at, patch), Origin::Stored, kind, severity);
    fires(at, &[1], ErrorKind::HeaderKeyNull, Error);
    fires(at, &[40], ErrorKind::HeaderLengthTooLarge, Error);
    fires(at + 1, &[0xFF], ErrorKind::HeaderKeyNotUtf8, Warning);
}

/// What a broker finds in a request.
fn produced(produce: &Produce, records: &[u8]) -> Vec<ErrorKind> {
    let mut kinds = Vec::new();
    produce.check(records, &Options::default(), &mut Scratch::default(), &mut |d| kinds.push(d.error.kind()));
    kinds
}

#[test]
fn requests_as_a_whole() {
    let mut produce = Produce::default();
    produce.version = Some(9);
    assert_eq!(produced(&produce, &batch()), []);
    assert_eq!(produced(&produce, &[]), [ErrorKind::NoBatch]);
    assert_eq!(produced(&produce, &[batch(), batch()].concat()), [ErrorKind::BatchCountNotOne]);
    assert_eq!(produced(&produce, &batch()[..40]), [ErrorKind::TornTail, ErrorKind::NoBatch]);
    let message = kafka::MessageSetBuilder::new(1).and_then(|mut m| {
        m.append(5, None, Some(b"v"))?;
        m.finish()
    });
    let message = message.expect("a message");
    assert_eq!(produced(&produce, &message), [ErrorKind::MagicNotAllowed]);
    assert_eq!(produced(&Produce::default(), &message), []);
    let mixed = [&message[..], &batch()].concat();
    assert_eq!(produced(&Produce::default(), &mixed), [ErrorKind::MagicMixed]);
}

#[test]
fn requests_against_the_topics_settings() {
    let len = batch().len() as u32;
    let check = |set: &dyn Fn(&mut Produce), records: &[u8]| {
        let mut produce = Produce::default();
        set(&mut produce);
        produced(&produce, records)
    };
    assert_eq!(check(&|p| p.max_message_bytes = len, &batch()), []);
    assert_eq!(check(&|p| p.max_message_bytes = len - 1, &batch()), [ErrorKind::BatchTooLarge]);
    assert_eq!(check(&|p| p.segment_bytes = len, &batch()), []);
    assert_eq!(check(&|p| p.segment_bytes = len - 1, &batch()), [ErrorKind::BatchExceedsSegment]);
    assert_eq!(check(&|p| p.timestamps = Some((1000, 1000)), &batch()), []);
    let late = check(&|p| p.timestamps = Some((0, 999)), &batch());
    assert_eq!(late, [ErrorKind::TimestampOutOfRange; 2]);
    let idempotent = build(RecordBatchBuilder::new().producer(1, 0, 0), &[RECORD]);
    assert_eq!(check(&|_| {}, &idempotent), []);
    assert_eq!(check(&|p| p.message_format = 1, &idempotent), [ErrorKind::FormatUnsupported]);
    let no_key = build(RecordBatchBuilder::new(), &[NewRecord { key: None, ..RECORD }]);
    assert_eq!(check(&|p| p.compacted = true, &batch()), []);
    assert_eq!(check(&|p| p.compacted = true, &no_key), [ErrorKind::KeyMissingOnCompactedTopic]);
}
