//! The quick way through records that are as writers make them.

use crate::formats::kafka::{Produce, RecordBatch, TimestampType};
use crate::kernels::varint::records::{self, Columns};
use crate::wire::Reader;
use alloc::{vec, vec::Vec};
use core::fmt;

/// Records that are walked at a time: as many as their columns stay in the first-level cache.
const CHUNK: usize = 512;

/// Columns of a chunk of records.
#[derive(Default)]
pub(crate) struct Chunk {
    positions: [Vec<u32>; 5],
    lens: [Vec<i32>; 3],
    timestamp_deltas: Vec<i64>,
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunk")
    }
}

impl Chunk {
    /// Room for `count` records, of which there are no more than [`CHUNK`].
    fn columns(&mut self, count: usize) -> Columns<'_> {
        if self.timestamp_deltas.is_empty() {
            self.positions = core::array::from_fn(|_| vec![0; CHUNK]);
            self.lens = core::array::from_fn(|_| vec![0; CHUNK]);
            self.timestamp_deltas = vec![0; CHUNK];
        }
        let [starts, key_starts, value_starts, headers_starts, headers_counts] = &mut self.positions;
        let [offset_deltas, key_lens, value_lens] = &mut self.lens;
        Columns {
            starts: &mut starts[..count],
            timestamp_deltas: &mut self.timestamp_deltas[..count],
            offset_deltas: &mut offset_deltas[..count],
            key_starts: &mut key_starts[..count],
            key_lens: &mut key_lens[..count],
            value_starts: &mut value_starts[..count],
            value_lens: &mut value_lens[..count],
            headers_starts: &mut headers_starts[..count],
            headers_counts: &mut headers_counts[..count],
        }
    }
}

/// What sound records tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) max_timestamp: i64,
    pub(super) first_timestamp_delta: i64,
}

/// Fewer records than this are read one by one: columns pay for more only.
const FEW: usize = 24;

/// What the records so far tell.
struct Seen {
    is_client: bool,
    last_delta: i32,
    least: i64,
    most: i64,
    first: i64,
}

impl Seen {
    fn new(is_client: bool) -> Self {
        Seen { is_client, last_delta: -1, least: i64::MAX, most: i64::MIN, first: 0 }
    }

    /// Takes in the records that a walk over the start of `bytes` found, the first of them if `is_first`.
    fn columns(&mut self, bytes: &[u8], columns: &Columns<'_>, is_first: bool) -> Option<()> {
        self.last_delta = offsets(columns.offset_deltas, self.last_delta, self.is_client)?;
        if is_first {
            self.first = columns.timestamp_deltas[0];
        }
        for &delta in columns.timestamp_deltas.iter() {
            (self.least, self.most) = (self.least.min(delta), self.most.max(delta));
        }
        if columns.headers_counts.iter().fold(0, |any, &count| any | count) != 0 {
            for (&start, &count) in columns.headers_starts.iter().zip(columns.headers_counts.iter()) {
                header_keys(bytes.get(start as usize..)?, count)?;
            }
        }
        Some(())
    }

    /// Reads `count` records at the start of `bytes`; tells where they end.
    fn one_by_one(&mut self, bytes: &[u8], count: usize) -> Option<usize> {
        let mut at = 0;
        for i in 0..count {
            let head = records::read(bytes, at, i).ok().filter(|head| head.plain)?;
            let (delta, expected) = (head.offset_delta, self.last_delta.wrapping_add(1));
            if delta != expected && (self.is_client || delta <= self.last_delta) {
                return None;
            }
            self.last_delta = delta;
            if i == 0 {
                self.first = head.timestamp_delta;
            }
            (self.least, self.most) = (self.least.min(head.timestamp_delta), self.most.max(head.timestamp_delta));
            if head.headers_count > 0 {
                header_keys(bytes.get(head.headers_start..)?, head.headers_count)?;
            }
            at = head.end;
        }
        Some(at)
    }

    /// What all records tell, if they are sound.
    fn end(self, batch: &RecordBatch<'_>, produce: &Produce) -> Option<Plain> {
        let base = batch.header().base_timestamp();
        let (least, most) = (base.checked_add(self.least)?, base.checked_add(self.most)?);
        let own = batch.attributes().timestamp_type() == TimestampType::CreateTime;
        let allowed = if self.is_client { produce.timestamps.unwrap_or((-1, i64::MAX)) } else { (-1, i64::MAX) };
        let in_range = !own || (least >= allowed.0.max(-1) && most <= allowed.1);
        let is_plain = self.last_delta <= batch.header().last_offset_delta() && in_range;
        is_plain.then_some(Plain { max_timestamp: most, first_timestamp_delta: self.first })
    }
}

/// How many records the batch claims, if they can be read quickly: not where each has to be looked at.
fn claimed(batch: &RecordBatch<'_>, produce: &Produce, is_client: bool) -> Option<usize> {
    let each = batch.attributes().is_control() || (is_client && produce.compacted);
    usize::try_from(batch.header().records_count()).ok().filter(|_| !each)
}

/// Reads the records in `bytes`; `None` if anything about one of them has to be told, or if each has to be looked at.
pub(super) fn read(
    batch: &RecordBatch<'_>,
    bytes: &[u8],
    produce: &Produce,
    is_client: bool,
    chunk: &mut Chunk,
) -> Option<Plain> {
    let count = claimed(batch, produce, is_client)?;
    let mut seen = Seen::new(is_client);
    let (mut at, mut done) = (0, 0);
    if count < FEW {
        (at, done) = (seen.one_by_one(bytes, count)?, count);
    }
    while done < count {
        let mut columns = chunk.columns((count - done).min(CHUNK));
        let walked = records::walk(&bytes[at..], &mut columns).ok().filter(|w| w.plain)?;
        seen.columns(&bytes[at..], &columns, done == 0)?;
        done += columns.len();
        at += walked.end;
    }
    if at == bytes.len() { seen.end(batch, produce) } else { None }
}

/// Checks that offset deltas come after `before`: one by one from a producer, increasing elsewhere; returns the last.
fn offsets(deltas: &[i32], before: i32, one_by_one: bool) -> Option<i32> {
    // Without a branch, and true of nearly every batch.
    let start = before.wrapping_add(1);
    let differing = deltas.iter().zip(0..).fold(0, |any, (&delta, i)| any | (delta ^ start.wrapping_add(i)));
    if differing == 0 {
        return deltas.last().copied();
    }
    let mut last = before;
    for &delta in deltas {
        if one_by_one || delta <= last {
            return None;
        }
        last = delta;
    }
    Some(last)
}

/// Checks that the keys of the `count` headers at the start of `bytes` are UTF-8.
fn header_keys(bytes: &[u8], count: u32) -> Option<()> {
    let mut reader = Reader::new(bytes);
    for _ in 0..count {
        let key_len = usize::try_from(reader.varint32().ok()?).ok()?;
        core::str::from_utf8(reader.take(key_len)?).ok()?;
        if let Ok(value_len) = usize::try_from(reader.varint32().ok()?) {
            reader.take(value_len)?;
        }
    }
    Some(())
}
