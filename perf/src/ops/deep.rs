//! Deep checks of uncompressed batches: framing, checksum, and every record, against decoders reading the same bytes.
//!
//! A batch holds 16 KiB of records, the size that producers send by default; times are per record, `bytes` is the size
//! of a value, on average. Records of `plain` are all of one form and size, those of `random` are not: values of 10 to
//! 150 bytes, every second one with a key, within 400 ms. What a contender does for it differs:
//!
//! * ours checks every promise of the stored format (structure, order of offsets, timestamps and their maximum, forms of
//!   varints, header fields) and hands out nothing;
//! * kafka-protocol verifies the checksum and builds a `Record` for each record, with `Bytes` for key and value and a
//!   map of headers; it does not compare offsets, timestamps or lengths with the header;
//! * rskafka verifies the checksum and builds a `Record` for each record, with key and value copied to vectors of their
//!   own and a list of headers; it compares no more. Its reader, private otherwise, is public by its feature
//!   `unstable-fuzzing`.

use super::records::{self, Shape, record};
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
    let plain = [10, 100, 1024].into_iter().map(|value| {
        Plan::new("plain", value as u64, move || {
            deep_check(value + 6, move |_| Shape { timestamp_delta: 0, key: None, value })
        })
    });
    // With a key of 12 bytes in every second one.
    plain.chain([Plan::new("random", 80, || deep_check(80 + 6 + 7, records::random))]).collect()
}

struct Batches<S> {
    shape: S,
    count: usize,
    batches: usize,
    segment: Bytes,
}

/// Batches of as many records as make [`BATCH`] bytes where one takes `size`, fields of one byte each.
fn deep_check<S: Fn(&mut Rng) -> Shape + 'static>(size: usize, shape: S) -> Case<Batches<S>> {
    let mut options = Options::default();
    options.conformance = Conformance::Strict;
    let validator = Validator::new(&Log).options(options);
    let count = BATCH / size;
    let batches = RECORDS.div_ceil(count);
    let kernel = super::kernel("varint::records::survey");
    Case::new(Batches { shape, count, batches, segment: Bytes::new() }, count * batches, refresh)
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

fn refresh<S: Fn(&mut Rng) -> Shape>(data: &mut Batches<S>, rng: &mut Rng) {
    let mut segment = Vec::new();
    for batch in 0..data.batches {
        super::batches::append(&mut segment, batch * data.count, |out| {
            let mut most = 0;
            for i in 0..data.count {
                let shape = (data.shape)(rng);
                // The first record has the base timestamp, as writers make it.
                let timestamp_delta = if i == 0 { 0 } else { shape.timestamp_delta };
                most = most.max(timestamp_delta);
                record(out, i, Shape { timestamp_delta, ..shape }, rng);
            }
            (data.count, most)
        });
    }
    data.segment = segment.into();
}
