//! The walk over records: our best kernel against our own scalar one, tuned.
//!
//! Both fill the same columns and check the whole structure. Batches are of 16 KiB, the size that producers send by
//! default, so the beginnings and ends of walks count; `bytes` is the mean size of a value.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::varint;
use batchwise::varint::records::{Columns, Job, Walked, walk, walk_many};

const RECORDS: usize = 20_480;
const BATCH: usize = 16 << 10;

pub(super) fn cases() -> Vec<Plan> {
    vec![
        Plan::new("uniform", 100, || walked(uniform)),
        Plan::new("random", 80, || walked(random)),
        Plan::new("many", 100, many),
    ]
}

/// What a record holds.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) timestamp_delta: i64,
    pub(super) key: Option<usize>,
    pub(super) value: usize,
}

/// All alike.
fn uniform(_: &mut Rng) -> Shape {
    Shape { timestamp_delta: 0, key: None, value: 100 }
}

/// Every second record with a key, values of 10 to 150 bytes, within 400 ms.
pub(super) fn random(rng: &mut Rng) -> Shape {
    let key = (rng.next() & 1 == 0).then(|| 4 + rng.below(17));
    Shape { timestamp_delta: rng.below(400) as i64, key, value: 10 + rng.below(141) }
}

fn put(out: &mut Vec<u8>, v: i64) {
    let mut one = [0; varint::MAX_LEN_64];
    let len = varint::encode_zigzag64(v, &mut one);
    out.extend_from_slice(&one[..len]);
}

/// Appends a record without headers.
pub(super) fn record(out: &mut Vec<u8>, offset_delta: usize, shape: Shape, rng: &mut Rng) {
    let Shape { timestamp_delta, key, value } = shape;
    let len_of = |v: i64| varint::len_zigzag64(v);
    let key_len = key.map_or(-1, |k| k as i64);
    let body = 2
        + len_of(timestamp_delta)
        + len_of(offset_delta as i64)
        + len_of(key_len)
        + len_of(value as i64)
        + key.unwrap_or(0)
        + value;
    put(out, body as i64);
    out.push(0);
    put(out, timestamp_delta);
    put(out, offset_delta as i64);
    put(out, key_len);
    let mut fill = |out: &mut Vec<u8>, len: usize| {
        let start = out.len();
        out.resize(start + len, 0);
        rng.fill(&mut out[start..]);
    };
    fill(out, key.unwrap_or(0));
    put(out, value as i64);
    fill(out, value);
    out.push(0);
}

/// Batches' records in one buffer, and columns for the longest batch.
struct Batches {
    shape: fn(&mut Rng) -> Shape,
    bytes: Vec<u8>,
    /// Where each batch ends, and how many records it has.
    ends: Vec<(usize, usize)>,
    /// One, or as many as are walked together.
    tables: Vec<Table>,
    /// Results of these; memory that is used again.
    walked: Vec<Walked>,
}

#[derive(Default)]
struct Table {
    unsigned: [Vec<u32>; 5],
    signed: [Vec<i32>; 3],
    timestamp_deltas: Vec<i64>,
}

impl Table {
    fn resize(&mut self, len: usize) {
        self.unsigned.iter_mut().for_each(|c| c.resize(len, 0));
        self.signed.iter_mut().for_each(|c| c.resize(len, 0));
        self.timestamp_deltas.resize(len, 0);
    }

    fn columns(&mut self, len: usize) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..len]);
        let signed = self.signed.each_mut().map(|c| &mut c[..len]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas[..len])
    }

    /// Cheap beside the walk: the rows of a few records.
    fn digest(&self, len: usize, walked: Walked) -> u64 {
        let row = |sum: u64, i: usize| {
            let sum = self.unsigned.iter().fold(sum, |s, c| s.wrapping_mul(31) ^ u64::from(c[i]));
            let sum = self.signed.iter().fold(sum, |s, c| s.wrapping_mul(31) ^ c[i] as u64);
            sum.wrapping_mul(31) ^ self.timestamp_deltas[i] as u64
        };
        [0, len / 3, len / 2, len - 1].into_iter().fold(walked.end as u64 ^ u64::from(walked.plain) << 63, row)
    }
}

fn refresh(data: &mut Batches, rng: &mut Rng) {
    data.bytes.clear();
    data.ends.clear();
    let (mut start, mut count) = (0, 0);
    for left in (0..RECORDS).rev() {
        let shape = (data.shape)(rng);
        record(&mut data.bytes, count, shape, rng);
        count += 1;
        if data.bytes.len() - start >= BATCH || left == 0 {
            data.ends.push((data.bytes.len(), count));
            (start, count) = (data.bytes.len(), 0);
        }
    }
    let longest = data.ends.iter().map(|&(_, count)| count).max().unwrap_or(0);
    data.tables.iter_mut().for_each(|t| t.resize(longest));
}

/// One batch after the other.
fn walk_each(data: &mut Batches, walk: impl Fn(&[u8], &mut Columns<'_>) -> Walked) -> u64 {
    let Batches { bytes, ends, tables, .. } = data;
    let table = &mut tables[0];
    let (mut start, mut sum) = (0, 0_u64);
    for &(end, count) in ends.iter() {
        let walked = walk(&bytes[start..end], &mut table.columns(count));
        sum = sum.rotate_left(1) ^ table.digest(count, walked);
        start = end;
    }
    sum
}

/// As many batches together as there are tables.
fn walk_together(data: &mut Batches) -> u64 {
    let Batches { bytes, ends, tables, walked, .. } = data;
    let (mut start, mut sum) = (0, 0_u64);
    for ends in ends.chunks(tables.len()) {
        let mut jobs: Vec<Job<'_>> = Vec::with_capacity(ends.len());
        for (&(end, count), table) in ends.iter().zip(tables.iter_mut()) {
            jobs.push(Job::new(&bytes[start..end], table.columns(count)));
            start = end;
        }
        walk_many(&mut jobs);
        walked.clear();
        walked.extend(jobs.into_iter().map(|job| job.walked.expect("sound")));
        for ((&(_, count), table), walked) in ends.iter().zip(tables.iter()).zip(walked.iter()) {
            sum = sum.rotate_left(1) ^ table.digest(count, *walked);
        }
    }
    sum
}

fn case(shape: fn(&mut Rng) -> Shape, tables: usize) -> Case<Batches> {
    let tables = (0..tables).map(|_| Table::default()).collect();
    Case::new(Batches { shape, bytes: Vec::new(), ends: Vec::new(), tables, walked: Vec::new() }, RECORDS, refresh)
}

fn scalar(case: Case<Batches>) -> Case<Batches> {
    let scalar = walk::TABLE.all().last().expect("the portable kernel");
    case.peer("scalar", move |d| walk_each(d, |b, c| walk::with(scalar, b, c).expect("sound")))
}

fn walked(shape: fn(&mut Rng) -> Shape) -> Case<Batches> {
    scalar(case(shape, 1).ours(kernel("varint::records::walk"), |d| walk_each(d, |b, c| walk(b, c).expect("sound"))))
}

/// Uniform records, four batches at a time: their columns fit into the first-level cache.
fn many() -> Case<Batches> {
    scalar(case(uniform, 4).ours(kernel("varint::records::walk_many"), walk_together))
}
