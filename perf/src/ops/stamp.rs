//! Stamping a batch as a leader does: the checksum patched, against crc-fast computing it again.
//!
//! The peer writes the same header fields by their offsets and nothing more; it does not even look at the framing.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::kafka::HeaderPatch;

pub(super) fn cases() -> Vec<Plan> {
    let plan = |len| Plan::new("log_append_time", len as u64, move || log_append_time(len));
    [1 << 10, 16 << 10, 1 << 20].into_iter().map(plan).collect()
}

/// A batch, and the times at which it is appended: one append for each.
struct Appends {
    batch: Vec<u8>,
    times: Vec<i64>,
}

const OFFSET: i64 = 1_000_000;
const EPOCH: i32 = 7;
/// Bytes of a batch header, first byte under the checksum.
const HEADER: usize = 61;
const CRC_FROM: usize = 21;

fn log_append_time(len: usize) -> Case<Appends> {
    // A round should be long beside the clock for ours, and not too long for the peer, whose time grows with the batch.
    let count = ((4 << 20) / len).clamp(64, 1024);
    let appends = Appends { batch: vec![0; len], times: vec![0; count] };
    Case::new(appends, count, refresh)
        .ours(kernel("crc32c::patch"), |a| run(a, ours))
        .peer("crc-fast", |a| run(a, crc_fast_rehash))
}

fn refresh(appends: &mut Appends, rng: &mut Rng) {
    let batch = &mut appends.batch;
    rng.fill(batch);
    let length = (batch.len() - 12) as u32;
    batch[..HEADER].fill(0);
    batch[8..12].copy_from_slice(&length.to_be_bytes());
    batch[16] = 2;
    batch[23..27].copy_from_slice(&99i32.to_be_bytes());
    let crc = rehash(batch);
    batch[17..CRC_FROM].copy_from_slice(&crc.to_be_bytes());
    for time in &mut appends.times {
        *time = 1_714_000_000_000 + rng.below(1 << 40) as i64;
    }
}

/// Stamps the batch at each time; a digest of the checksums.
fn run(appends: &mut Appends, mut stamp: impl FnMut(&mut [u8], i64)) -> u64 {
    let mut sum = 0u64;
    for &now in &appends.times {
        stamp(&mut appends.batch, now);
        let crc: [u8; 4] = appends.batch[17..CRC_FROM].try_into().unwrap();
        sum = sum.wrapping_mul(31).wrapping_add(u32::from_be_bytes(crc).into());
    }
    sum
}

fn ours(batch: &mut [u8], now: i64) {
    let patch = HeaderPatch::new().base_offset(OFFSET).partition_leader_epoch(EPOCH).log_append_time(now);
    patch.apply(batch).expect("a sound batch");
}

fn crc_fast_rehash(batch: &mut [u8], now: i64) {
    batch[..8].copy_from_slice(&OFFSET.to_be_bytes());
    batch[12..16].copy_from_slice(&EPOCH.to_be_bytes());
    let attributes = u16::from_be_bytes([batch[21], batch[22]]) & 0x7F | 0x08;
    batch[21..23].copy_from_slice(&attributes.to_be_bytes());
    batch[35..43].copy_from_slice(&now.to_be_bytes());
    let crc = rehash(batch);
    batch[17..CRC_FROM].copy_from_slice(&crc.to_be_bytes());
}

fn rehash(batch: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, &batch[CRC_FROM..]) as u32
}
