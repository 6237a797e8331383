//! Batches of the common kind, one behind the other, of which there is nothing to tell.
//!
//! Nothing is judged here: what this quick look does not find to be sound is for [`check`](super::check) to judge.

use super::plain;
use crate::formats::kafka::{Attributes, BatchHeader, Produce, RecordBatch, TimestampType};
use crate::formats::{Depth, Options, Order, Origin, Passed};

/// Goes past such batches at the start of `bytes`, those that start before `until`.
pub(in crate::formats::kafka) fn pass(bytes: &[u8], until: usize, order: &mut Order, options: &Options) -> Passed {
    let mut passed = Passed::default();
    // Producers' batches all start at 0, and a broken order is told about.
    let judged = options.depth != Depth::Records || options.origin == Origin::Client;
    if judged || order.after_damage || order.resumes || order.version != Some(2) {
        return passed;
    }
    let (Some(mut next), Some(mut epoch)) = (order.next_offset, order.epoch) else { return passed };
    let most = order.base_offset.map_or(u64::MAX, |base| base.saturating_add(1 << 31)).min(i64::MAX as u64);
    let (mut at, produce) = (0, Produce::default());
    while at < until.min(bytes.len()) {
        let rest = &bytes[at..];
        if rest.len() < BatchHeader::SIZE {
            break;
        }
        let Ok(batch) = RecordBatch::parse(rest, 0) else { break };
        let header = batch.header();
        let count = header.records_count();
        let end = next + u64::from(count as u32);
        let in_order = header.base_offset() as u64 == next && header.partition_leader_epoch() >= epoch && end <= most;
        let common = is_common(header) && count > 0 && header.last_offset_delta() == count - 1;
        if !(in_order && common && batch.verify_checksum().is_ok()) {
            break;
        }
        let Some(found) = plain::read(&batch, batch.payload(), &produce, false) else { break };
        let own_timestamps = batch.attributes().timestamp_type() == TimestampType::CreateTime;
        let holds = !own_timestamps || found.max_timestamp == header.max_timestamp();
        if found.first_timestamp_delta != 0 || !holds {
            break;
        }
        (next, epoch) = (end, header.partition_leader_epoch());
        at += batch.bytes().len();
        passed.frames += 1;
        passed.records += count as u64;
    }
    if passed.frames > 0 {
        (order.next_offset, order.epoch, order.is_first, order.compressed) = (Some(next), Some(epoch), false, false);
        (order.ahead, passed.bytes) = (None, at);
    }
    passed
}

/// Whether the header is that of a plain batch: no codec, nothing for the broker itself; of no producer with an id, or of one.
#[inline]
fn is_common(header: BatchHeader<'_>) -> bool {
    let (id, epoch, sequence) = (header.producer_id(), header.producer_epoch(), header.base_sequence());
    let is_transactional = header.attributes() & Attributes::TRANSACTIONAL != 0;
    let nobody = id & i64::from(epoch) & i64::from(sequence) == -1 && !is_transactional;
    let somebody = id | i64::from(epoch) | i64::from(sequence) >= 0;
    header.attributes() & !(Attributes::TRANSACTIONAL | Attributes::LOG_APPEND_TIME) == 0 && (nobody || somebody)
}
