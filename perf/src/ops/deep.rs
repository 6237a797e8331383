//! Deep checks of uncompressed batches: framing, checksum, and every record, against decoders reading the same bytes.
//!
//! A batch holds 16 KiB of records, the size that producers send by default; times are per record, `bytes` is the size
//! of a value. What a contender does for it differs:
//!
//! * ours checks every promise of the stored format (structure, order of offsets, timestamps and their maximum, forms of
//!   varints, header fields) and hands out nothing;
//! * kafka-protocol verifies the checksum and builds a `Record` for each record, with `Bytes` for key and value and a
//!   map of headers; it does not compare offsets, timestamps or lengths with the header;
//! * rskafka verifies the checksum and builds a `Record` for each record, with key and value copied to vectors of their
//!   own and a list of headers; it compares no more. Its reader, private otherwise, is public by its feature
//!   `unstable-fuzzing`.

use super::records::{Shape, record};
use crate::harness::{Case, Plan, Rng};
use batchwise::kafka::Log;
use batchwise::{Conformance, Options, Validator};
use bytes::Bytes;
use kafka_protocol::records::RecordBatchDecoder;
use rskafka::protocol::record::{ControlBatchOrRecords, RecordBatch};
use rskafka::protocol::traits::ReadType;
use std::io::Cursor;

/// Bytes of records in a batch.
const BATCH: usize = 16 << 10;
/// The fewest records of a round.
const RECORDS: usize = 20_480;

pub(super) fn cases() -> Vec<Plan> {
    [10, 100, 1024].into_iter().map(|value| Plan::new("plain", value as u64, move || deep_check(value))).collect()
}

struct Batches {
    value: usize,
    count: usize,
    batches: usize,
    segment: Bytes,
}

fn deep_check(value: usize) -> Case<Batches> {
    let mut options = Options::default();
    options.conformance = Conformance::Strict;
    let validator = Validator::new(&Log).options(options);
    // 6 bytes of fields beside the value where all are short.
    let count = BATCH / (value + 6);
    let batches = RECORDS.div_ceil(count);
    let kernel = super::kernel("varint::records::walk");
    Case::new(Batches { value, count, batches, segment: Bytes::new() }, count * batches, refresh)
        .ours(kernel, move |b| {
            let report = validator.validate(&b.segment);
            assert!(report.totals.is_valid() && report.totals.batches == b.batches as u64, "{:?}", report.totals);
            report.totals.records
        })
        .peer("kafka-protocol", |b| {
            let mut segment = b.segment.clone();
            let sets = RecordBatchDecoder::decode_all(&mut segment).expect("sound batches");
            assert_eq!(sets.len(), b.batches);
            sets.iter().map(|set| set.records.len() as u64).sum()
        })
        .peer("rskafka", |b| {
            let mut segment = Cursor::new(&b.segment[..]);
            (0..b.batches).fold(0, |sum, _| {
                let batch = RecordBatch::read(&mut segment).expect("sound batches");
                let ControlBatchOrRecords::Records(records) = batch.records else { panic!("no control batches here") };
                sum + records.len() as u64
            })
        })
}

fn refresh(data: &mut Batches, rng: &mut Rng) {
    let mut segment = Vec::new();
    for batch in 0..data.batches {
        super::batches::append(&mut segment, batch * data.count, |out| {
            for i in 0..data.count {
                record(out, i, Shape { timestamp_delta: 0, key: None, value: data.value }, rng);
            }
            data.count
        });
    }
    data.segment = segment.into();
}
