//! A quick look at the header of an entry, for the search behind damage.

use super::{BatchHeader, batch, prefix_of};
use crate::formats::Summary;

/// What the entry claims, or `None` if no intact entry has such a header.
///
/// Only what is an error in every place rules an entry out: one that is merely odd has to be found as well.
#[inline]
pub(super) fn peek(head: &[u8]) -> Option<Summary> {
    let (length, magic) = prefix_of(head)?;
    batch::length_of(length, magic, 0).ok()?;
    let first = i64::from_be_bytes(*head.first_chunk()?);
    let first = u64::try_from(first).ok()?;
    if magic == 2 { record_batch(first, head) } else { message(first, length, magic, head) }
}

fn record_batch(first: u64, head: &[u8]) -> Option<Summary> {
    let header = BatchHeader::new(head)?;
    let delta = u64::try_from(header.last_offset_delta()).ok()?;
    let records = u64::try_from(header.records_count()).ok()?;
    if records > delta + 1 || header.attributes() & 7 > 4 {
        return None;
    }
    let next = first + delta + 1;
    Some(Summary {
        records,
        first_offset: Some(first),
        next_offset: Some(next),
        epoch: Some(header.partition_leader_epoch()),
        timestamp: Some(header.max_timestamp()),
        version: Some(2),
        compressed: header.attributes() & 7 != 0,
        damaged: false,
    })
}

/// A message of magic 0 or 1. The offset of a compressed one is that of the last message in it.
fn message(offset: u64, length: i32, magic: i8, head: &[u8]) -> Option<Summary> {
    let key_at = if magic == 0 { 18 } else { 26 };
    let codec = head.get(17)? & 7;
    let key_length = i32::from_be_bytes(*head.get(key_at..)?.first_chunk()?);
    if codec > 3 || key_length > length {
        return None;
    }
    let first_offset = (codec == 0).then_some(offset);
    Some(Summary {
        records: 1,
        first_offset,
        next_offset: Some(offset + 1),
        version: u8::try_from(magic).ok(),
        compressed: codec != 0,
        ..Summary::default()
    })
}
