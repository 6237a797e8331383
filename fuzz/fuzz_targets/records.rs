//! Walks over chains of records, one or several together, by every kernel against one record after the other.
#![no_main]

use batchwise::varint::records::{Columns, Error, Job, read, walk, walk_many};
use batchwise_fuzz::frames;
use libfuzzer_sys::fuzz_target;

/// Columns of exact sizes.
#[derive(Clone)]
struct Table {
    unsigned: [Box<[u32]>; 5],
    signed: [Box<[i32]>; 3],
    timestamp_deltas: Box<[i64]>,
}

impl Table {
    fn new(len: usize) -> Self {
        Table {
            unsigned: std::array::from_fn(|_| vec![0; len].into()),
            signed: std::array::from_fn(|_| vec![0; len].into()),
            timestamp_deltas: vec![0; len].into(),
        }
    }

    fn columns(&mut self) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..]);
        let signed = self.signed.each_mut().map(|c| &mut c[..]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas)
    }

    /// Whether the first `rows` are the same: what is behind an error is not specified.
    fn begins_as(&self, other: &Table, rows: usize) -> bool {
        self.unsigned.iter().zip(&other.unsigned).all(|(a, b)| a[..rows] == b[..rows])
            && self.signed.iter().zip(&other.signed).all(|(a, b)| a[..rows] == b[..rows])
            && self.timestamp_deltas[..rows] == other.timestamp_deltas[..rows]
    }
}

/// Rows, and the end and whether all are plain or the error, of `count` records read one after the other.
fn one_by_one(bytes: &[u8], count: usize) -> (Table, usize, Result<(usize, bool), Error>) {
    let (mut table, mut at, mut plain) = (Table::new(count), 0, true);
    for i in 0..count {
        let head = match read(bytes, at, i) {
            Ok(head) => head,
            Err(e) => return (table, i, Err(e)),
        };
        let columns = table.columns();
        columns.starts[i] = at as u32;
        columns.timestamp_deltas[i] = head.timestamp_delta;
        columns.offset_deltas[i] = head.offset_delta;
        (columns.key_starts[i], columns.key_lens[i]) = (head.key_start as u32, head.key_len);
        (columns.value_starts[i], columns.value_lens[i]) = (head.value_start as u32, head.value_len);
        (columns.headers_starts[i], columns.headers_counts[i]) = (head.headers_start as u32, head.headers_count);
        at = head.end;
        plain &= head.plain;
    }
    (table, count, Ok((at, plain)))
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (count, cuts, data) = input;
    let count = usize::from(count & if cuts == 0 { 255 } else { 31 });
    // One chain, or several of which the input says how long they are.
    let parts = if cuts < 192 { vec![data.into()] } else { frames(data, usize::from(cuts & 7)) };
    let want: Vec<_> = parts.iter().map(|part| one_by_one(part, count)).collect();
    for kernel in walk::available() {
        for (part, (rows, sound, result)) in parts.iter().zip(&want) {
            let mut table = Table::new(count);
            let got = walk::with(kernel, part, &mut table.columns()).map(|w| (w.end, w.plain));
            assert_eq!(got, *result, "{}", kernel.name());
            assert!(table.begins_as(rows, *sound), "{}", kernel.name());
        }
    }
    if cuts < 128 {
        return;
    }
    for kernel in walk_many::available() {
        let mut tables = vec![Table::new(count); parts.len()];
        let jobs = parts.iter().zip(&mut tables).map(|(part, table)| Job::new(part, table.columns()));
        let mut jobs: Vec<_> = jobs.collect();
        walk_many::with(kernel, &mut jobs);
        let results: Vec<_> = jobs.into_iter().map(|job| job.walked.map(|w| (w.end, w.plain))).collect();
        for ((result, table), (rows, sound, want)) in results.iter().zip(&tables).zip(&want) {
            assert_eq!(result, want, "{}", kernel.name());
            assert!(table.begins_as(rows, *sound), "{}", kernel.name());
        }
    }
});
