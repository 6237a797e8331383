//! Kafka batches as stored, made for measurements.

use super::records::{Shape, record};
use crate::harness::Rng;
use batchwise::crc32c;
use batchwise::kafka::RecordBatch;

/// Bytes of a batch's header.
pub(super) const HEADER: usize = 61;

/// Appends a batch whose first record has the offset `base_offset`: a header around the records that `fill` appends, of
/// which it tells the number and the greatest timestamp delta.
pub(super) fn append(
    segment: &mut Vec<u8>,
    base_offset: usize,
    fill: impl FnOnce(&mut Vec<u8>) -> (usize, i64),
) -> usize {
    let start = segment.len();
    segment.resize(start + HEADER, 0);
    let (count, most) = fill(segment);
    let length = (segment.len() - start - 12) as i32;
    let last = count as i32 - 1;
    let timestamp = 1_714_000_000_000_i64;
    let header = &mut segment[start..start + HEADER];
    header[0..8].copy_from_slice(&(base_offset as i64).to_be_bytes());
    header[8..12].copy_from_slice(&length.to_be_bytes());
    header[16] = 2;
    header[23..27].copy_from_slice(&last.to_be_bytes());
    header[27..35].copy_from_slice(&timestamp.to_be_bytes());
    header[35..43].copy_from_slice(&(timestamp + most).to_be_bytes());
    // No producer: id, epoch and sequence are -1.
    header[43..57].fill(0xFF);
    header[57..61].copy_from_slice(&(last + 1).to_be_bytes());
    let crc = crc32c::crc32c(&segment[start + 21..]);
    segment[start + 17..start + 21].copy_from_slice(&crc.to_be_bytes());
    debug_assert!(RecordBatch::parse(&segment[start..], 0).is_ok());
    count
}

/// Appends a batch of about `len` bytes with records of random lengths, values of 10 to 150 bytes, every second one with
/// a key; tells how many records there are.
pub(super) fn append_random(segment: &mut Vec<u8>, base_offset: usize, len: usize, rng: &mut Rng) -> usize {
    append(segment, base_offset, |out| {
        let end = out.len() + len.saturating_sub(HEADER);
        let mut count = 0;
        while count == 0 || out.len() + 18 <= end {
            let key = (rng.next() & 1 == 0).then(|| 4 + rng.below(17));
            // 8 bytes of fields, and no more than is left.
            let room = end.saturating_sub(out.len() + 8 + key.unwrap_or(0));
            let value = (10 + rng.below(141)).min(room);
            record(out, count, Shape { timestamp_delta: 0, key, value }, rng);
            count += 1;
        }
        (count, 0)
    })
}
