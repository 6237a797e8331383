//! A quick look at the header of an entry, for the search behind damage.

use super::{BatchHeader, PREFIX, batch, prefix_of};
use crate::formats::Summary;
use crate::kernels::search::{self, Pattern};

/// What every entry has: a magic of at most 2, a length and an offset that are not negative, a length that is not 0.
const ENTRY: Pattern = Pattern::new([(16, 2), (0, 0x7F), (8, 0x7F)], 8);
const _: () = assert!(ENTRY.span() == PREFIX);

/// The first place in `bytes` where [`peek`] finds a header; at least `head` bytes have to be left there.
pub(super) fn find(bytes: &[u8], head: usize) -> Option<usize> {
    let places = (bytes.len() + 1).checked_sub(head.max(PREFIX))?;
    let end = places + PREFIX - 1;
    let mut at = 0;
    while at < places {
        at += search::find(&bytes[at..end], &ENTRY)?;
        if peek(&bytes[at..]).is_some() {
            return Some(at);
        }
        at += 1;
    }
    None
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn finds_what_a_look_everywhere_finds() {
        let batch = include_bytes!("../../../tests/data/kafka/two-records.bin");
        let mut state = 7_u64;
        for round in 0..3000 {
            let mut next = || {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (state >> 33) as usize
            };
            // Bytes of which many are small, zeros, and now and then a header.
            let mut bytes: Vec<u8> =
                (0..next() % 300).map(|_| if next() % 3 == 0 { next() as u8 } else { 0 }).collect();
            if round % 2 == 0 {
                bytes.extend_from_slice(&batch[..61 + next() % (batch.len() - 60)]);
                bytes.extend((0..next() % 90).map(|_| next() as u8));
            }
            for head in [PREFIX, BatchHeader::SIZE] {
                let places = (bytes.len() + 1).saturating_sub(head);
                let expected = (0..places).find(|&at| peek(&bytes[at..]).is_some());
                assert_eq!(find(&bytes, head), expected, "round {round}, {head} bytes of a header");
            }
        }
    }
}
