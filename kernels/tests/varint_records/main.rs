//! Walks over records: every kernel and the reader of one record against a parser written from the definition.

mod inputs;
mod model;
#[path = "../support/mod.rs"]
mod support;

use batchwise_kernels::varint::records::{self, Job, Survey, survey, walk, walk_many};
use inputs::{SHAPES, batch, put};
use model::{Expected, Table, expected, surveyed};
use support::Rng;

/// Every kernel and the reader of single records, on an allocation of exactly the size of `bytes`.
fn compare(bytes: &[u8], count: usize) -> Expected {
    let bytes = support::exact(bytes);
    let expected = expected(&bytes, count);
    let rows = expected.table.timestamp_deltas.len();
    for kernel in walk::available() {
        let mut table = Table::new(count);
        let walked = walk::with(kernel, &bytes, &mut table.columns()).map(|w| (w.end, w.plain));
        table.truncate(rows);
        if (&table, walked) != (&expected.table, expected.result) {
            let row = (0..rows).find(|&i| table.unsigned[0][i] != expected.table.unsigned[0][i]);
            panic!(
                "{}: {count} records, {rows} sound, first start that differs {row:?}: {walked:?} != {:?}\n{table:?}\n{:?}\n{bytes:02X?}",
                kernel.name(),
                expected.result,
                expected.table
            );
        }
    }
    for kernel in survey::available() {
        // In one go and in two.
        for stop in [count, count / 3] {
            let mut told = Survey::default();
            for until in [stop, count] {
                survey::with(kernel, &bytes, until, &mut told);
                let want = surveyed(&expected, expected.common.len().min(until));
                assert_eq!(told, want, "{}: until {until}\n{bytes:02X?}", kernel.name());
            }
        }
    }
    let (mut at, mut plain) = (0, true);
    let one_by_one = (0..count).try_for_each(|i| {
        let head = records::read(&bytes, at, i)?;
        let row = [at, head.key_start, head.value_start, head.headers_start, head.headers_count as usize];
        assert_eq!(row, std::array::from_fn(|c| expected.table.unsigned[c][i] as usize));
        let row = [head.offset_delta, head.key_len, head.value_len];
        assert_eq!(row, std::array::from_fn(|c| expected.table.signed[c][i]));
        assert_eq!(head.timestamp_delta, expected.table.timestamp_deltas[i]);
        at = head.end;
        plain &= head.plain;
        Ok(())
    });
    assert_eq!(one_by_one.map(|()| (at, plain)), expected.result);
    expected
}

#[test]
fn sound_records_of_every_shape() {
    support::report("varint::records::walk", walk::TABLE.all());
    let mut rng = Rng(1);
    for shape in &SHAPES {
        for count in (0..80).chain([100, 127, 128, 129, 300]) {
            let bytes = batch(shape, count, &mut rng);
            let sound = compare(&bytes, count);
            assert_eq!(sound.result.map(|(end, _)| end), Ok(bytes.len()));
            if shape.odd == 0 {
                assert_eq!(sound.result, Ok((bytes.len(), true)));
            }
            compare(&bytes, count + 1);
            compare(&bytes, count / 2);
        }
    }
}

/// Records of one size, which a survey passes together: `timestamp` gives the 64-bit deltas.
fn alike(count: usize, key: Option<usize>, value: usize, timestamp: impl Fn(usize) -> i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..count {
        let mut body = vec![0];
        put(&mut body, timestamp(i));
        put(&mut body, i as i64);
        for len in [key, Some(value)] {
            put(&mut body, len.map_or(-1, |len| len as i64));
            body.extend(support::bytes(len.unwrap_or(0), i as u64));
        }
        put(&mut body, 0);
        put(&mut bytes, body.len() as i64);
        bytes.extend(body);
    }
    bytes
}

/// Batches of records that are alike, or nearly.
fn alikes(count: usize) -> Vec<Vec<u8>> {
    let timestamps: [fn(usize) -> i64; 8] = [
        |_| 0,
        |i| (i % 64) as i64,
        |i| 64 + 13 * i as i64,
        |i| 8150 + i as i64,
        |_| 1 << 20,
        |_| -3,
        |i| -(i as i64),
        |_| i64::MIN,
    ];
    let shapes = [(None, 10), (None, 100), (None, 0), (Some(0), 0), (Some(8), 70), (Some(100), 9), (Some(3), 9000)];
    shapes.iter().flat_map(|&(key, value)| timestamps.map(|t| alike(count, key, value, t))).collect()
}

#[test]
fn records_alike() {
    support::report("varint::records::survey", survey::TABLE.all());
    for count in [1, 2, 9, 10, 24, 64, 66, 150] {
        for bytes in alikes(count) {
            let sound = compare(&bytes, count);
            assert_eq!(sound.common.len(), count);
            compare(&bytes, count + 1);
            compare(&bytes[..bytes.len() - 1], count);
        }
    }
    let sound = compare(&alike(9000, None, 1, |_| 0), 9000);
    assert_eq!(sound.common.len(), 9000);
}

#[test]
fn records_nearly_alike() {
    let mut rng = Rng(7);
    for sound in alikes(40) {
        let starts = expected(&sound, 40).table.unsigned[0].clone();
        for i in 0..40 {
            let start = starts[i] as usize;
            let next = starts.get(i + 1).map_or(sound.len(), |&next| next as usize);
            // Heads, the last bytes of each record, and one between.
            let middle = start + rng.below(next - start);
            for at in (start..next).filter(|&at| at - start < 14 || next - at < 3 || at == middle) {
                for change in [2, 0x80, rng.next() as u8] {
                    let mut bytes = sound.clone();
                    bytes[at] ^= change;
                    compare(&bytes, 40);
                }
            }
        }
    }
}

#[test]
fn every_cut() {
    let mut rng = Rng(2);
    for shape in &SHAPES {
        let bytes = batch(shape, 60, &mut rng);
        let step = bytes.len() / 3000 + 1;
        for len in (0..bytes.len()).step_by(step) {
            let cut = compare(&bytes[..len], 60);
            assert!(cut.result.is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut rng = Rng(3);
    for shape in &SHAPES {
        let sound = batch(shape, 50, &mut rng);
        let step = sound.len() / 2500 + 1;
        let mut bytes = sound.clone();
        for at in (0..sound.len()).step_by(step) {
            for change in [1, 2, 0x80, 0xFF, rng.next() as u8] {
                bytes[at] = sound[at] ^ change;
                compare(&bytes, 50);
            }
            bytes[at] = sound[at];
        }
    }
}

#[test]
fn heads_of_random_bytes() {
    // Long runs of sound records around heads in which everything is possible.
    let mut rng = Rng(4);
    for _ in 0..4000 {
        let shape = &SHAPES[rng.below(4)];
        let mut bytes = batch(shape, 40, &mut rng);
        let starts = expected(&bytes, 40).table.unsigned[0].clone();
        let start = starts[rng.below(40)] as usize;
        for i in start..bytes.len().min(start + 1 + rng.below(14)) {
            // Bits that matter, one at a time or all at once.
            bytes[i] = match rng.below(4) {
                0 => bytes[i],
                1 => bytes[i] ^ 0x80,
                2 => rng.next() as u8 & 0x83,
                _ => rng.next() as u8,
            };
        }
        compare(&bytes, 40);
    }
}

/// Walks of several inputs together against each by itself.
fn compare_many(inputs: &[(Vec<u8>, usize)]) {
    let inputs: Vec<(Box<[u8]>, usize)> = inputs.iter().map(|(b, n)| (support::exact(b), *n)).collect();
    for kernel in walk_many::available() {
        let mut tables: Vec<Table> = inputs.iter().map(|&(_, count)| Table::new(count)).collect();
        let mut jobs: Vec<Job<'_>> =
            inputs.iter().zip(&mut tables).map(|((bytes, _), table)| Job::new(bytes, table.columns())).collect();
        walk_many::with(kernel, &mut jobs);
        let walked: Vec<_> = jobs.into_iter().map(|job| job.walked.map(|w| (w.end, w.plain))).collect();
        for (((bytes, count), mut table), walked) in inputs.iter().zip(tables).zip(walked) {
            let expected = expected(bytes, *count);
            table.truncate(expected.table.timestamp_deltas.len());
            assert_eq!((table, walked), (expected.table, expected.result), "{}", kernel.name());
        }
    }
}

#[test]
fn several_together() {
    support::report("varint::records::walk_many", walk_many::TABLE.all());
    let mut rng = Rng(6);
    for round in 0..600 {
        let mut inputs = Vec::new();
        for _ in 0..rng.below(6) {
            // Mostly the common form, so that most walks stay together for long.
            let shape = &SHAPES[if rng.below(4) == 0 { rng.below(SHAPES.len()) } else { rng.below(3) }];
            let count = rng.below(150);
            let mut bytes = batch(shape, count, &mut rng);
            if round % 2 == 0 && !bytes.is_empty() {
                for _ in 0..rng.below(3) {
                    let at = rng.below(bytes.len());
                    bytes[at] ^= rng.next() as u8;
                }
                bytes.truncate(bytes.len() - rng.below(2) * rng.below(bytes.len()));
            }
            inputs.push((bytes, count));
        }
        compare_many(&inputs);
    }
}

#[test]
fn noise() {
    let mut rng = Rng(5);
    for round in 0..2000 {
        let len = rng.below(600);
        let mut bytes = support::bytes(len, round);
        if round % 2 == 0 {
            // Small even numbers make chains of records.
            bytes.iter_mut().for_each(|b| *b &= 0x1E);
        }
        compare(&bytes, rng.below(80));
    }
}
