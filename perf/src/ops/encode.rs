//! Building record batches, uncompressed, against kafka-protocol's encoder: the same records to the same bytes.
//!
//! Batches are of 16 KiB, the size that producers send by default; `bytes` is the size of a value. Both write into
//! memory that they keep; both are given the records as they take them.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::kafka::{NewRecord, RecordBatchBuilder};
use bytes::{Bytes, BytesMut};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::records::{Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType};

const BATCH: usize = 16 << 10;
const BATCHES: usize = 32;

pub(super) fn cases() -> Vec<Plan> {
    let plan = |value| Plan::new("none", value as u64, move || none(value));
    [100, 1024].into_iter().map(plan).collect()
}

/// The records of some batches, and memory to build them in.
struct Records {
    value: usize,
    batches: Vec<Vec<Record>>,
    builder: RecordBatchBuilder,
    peers: BytesMut,
}

fn none(value: usize) -> Case<Records> {
    let records = Records { value, batches: Vec::new(), builder: RecordBatchBuilder::new(), peers: BytesMut::new() };
    Case::new(records, BATCHES, refresh).ours(kernel("crc32c::update"), ours).peer("kafka-protocol", peer)
}

fn refresh(records: &mut Records, rng: &mut Rng) {
    let mut value = vec![0; records.value];
    let mut record = |i: usize| {
        rng.fill(&mut value);
        Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: -1,
            producer_id: -1,
            producer_epoch: -1,
            timestamp_type: TimestampType::Creation,
            offset: i as i64,
            // What the peer takes for one batch, whose base sequence is then -1.
            sequence: i as i32 - 1,
            timestamp: 1_714_000_000_000 + i as i64 / 4,
            key: Some(Bytes::copy_from_slice(&value[..8])),
            value: Some(Bytes::copy_from_slice(&value)),
            headers: IndexMap::new(),
        }
    };
    let count = BATCH / (records.value + 16);
    records.batches = (0..BATCHES).map(|_| (0..count).map(&mut record).collect()).collect();
}

fn ours(records: &mut Records) -> u64 {
    let Records { batches, builder, .. } = records;
    let mut digest = 0;
    for batch in batches {
        for r in batch {
            let new = NewRecord {
                timestamp: r.timestamp,
                key: r.key.as_deref(),
                value: r.value.as_deref(),
                ..NewRecord::default()
            };
            builder.append(&new).expect("a sound record");
        }
        digest = mix(digest, builder.finish_in_place().expect("a batch"));
    }
    digest
}

fn peer(records: &mut Records) -> u64 {
    let Records { batches, peers, .. } = records;
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    let mut digest = 0;
    for batch in batches {
        peers.clear();
        RecordBatchEncoder::encode(peers, batch.iter(), &options).expect("a batch");
        digest = mix(digest, peers);
    }
    digest
}

/// Length and checksum stand for the batch.
fn mix(digest: u64, batch: &[u8]) -> u64 {
    let crc: [u8; 4] = batch[17..21].try_into().expect("a header");
    digest.wrapping_mul(31).wrapping_add(batch.len() as u64) ^ u64::from(u32::from_be_bytes(crc))
}
