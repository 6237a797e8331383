//! The quick look at batches of which there is nothing to tell: what it passes, and that nothing is lost by it.

mod inputs;
mod vectors;

use batchwise::kafka::{Header, Log, NewRecord, RecordBatch, RecordBatchBuilder};
use batchwise::{Conformance, Depth, Format, Options, Order, Origin, Validator, crc32c};

fn options() -> Vec<Options> {
    let mut all = Vec::new();
    for origin in [Origin::Stored, Origin::Replica, Origin::Client] {
        for conformance in [Conformance::Strict, Conformance::Reference] {
            for depth in [Depth::Frames, Depth::Checksums, Depth::Records] {
                let mut options = Options::default();
                (options.origin, options.conformance, options.depth) = (origin, conformance, depth);
                all.push(options);
            }
        }
    }
    all
}

/// A walk that lists its batches looks at each of them; one that does not takes the quick look.
fn same(validator: Validator<'_>, input: &[u8], what: &dyn Fn() -> String) {
    let (each, quick) = (validator.list_batches(true).validate(input), validator.validate(input));
    assert_eq!((each.totals, &each.findings), (quick.totals, &quick.findings), "{}", what());
}

fn batch(base_offset: i64, change: impl Fn(RecordBatchBuilder) -> RecordBatchBuilder) -> Vec<u8> {
    let headers = [Header { key: b"h", value: Some(b"w") }];
    let first = NewRecord { timestamp: 1000, key: Some(b"key"), value: Some(b"value"), headers: &[] };
    let second = NewRecord { timestamp: 1003, key: None, value: Some(b"another"), headers: &headers };
    let mut builder = change(RecordBatchBuilder::new().base_offset(base_offset).partition_leader_epoch(3));
    for record in [first, second] {
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap()
}

/// Batches of each kind that the quick look knows.
fn kinds(base_offset: i64) -> [Vec<u8>; 4] {
    [
        batch(base_offset, |b| b),
        batch(base_offset, |b| b.producer(7, 2, 40)),
        batch(base_offset, |b| b.producer(7, 2, 40).transactional(true)),
        batch(base_offset, |b| b.log_append_time(1003)),
    ]
}

/// The same at another offset, which no checksum covers.
fn at(mut batch: Vec<u8>, base_offset: i64) -> Vec<u8> {
    batch[..8].copy_from_slice(&base_offset.to_be_bytes());
    batch
}

fn seal(batch: &mut [u8]) {
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
}

#[test]
fn batches_of_the_common_kinds_are_passed() {
    let log: Vec<u8> = kinds(10).into_iter().zip(0..).flat_map(|(batch, i)| at(batch, 10 + 2 * i)).collect();
    let mut order = Order::default();
    (order.next_offset, order.epoch, order.version) = (Some(10), Some(3), Some(2));
    let pass = |until, order: &mut Order| Log.pass_sound(&log, until, order, &Options::default());
    let passed = pass(usize::MAX, &mut order.clone());
    assert_eq!((passed.frames, passed.records, passed.bytes), (4, 8, log.len()));
    let first = RecordBatch::parse(&log, 0).unwrap().bytes().len();
    assert_eq!(pass(first, &mut order.clone()).frames, 1, "the second does not start before its end");
    assert_eq!(pass(first + 1, &mut order.clone()).frames, 2);
    order.next_offset = Some(9);
    assert_eq!(pass(usize::MAX, &mut order).frames, 0, "there is a gap to be told");
}

#[test]
fn every_flipped_bit_is_told_as_without_it() {
    let options = options();
    for (kind, sound) in kinds(4).into_iter().enumerate() {
        for bit in (0..8 * sound.len()).filter(|bit| !(17 * 8..21 * 8).contains(bit)) {
            let mut changed = sound.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            seal(&mut changed);
            let log =
                [&kinds(0)[kind], &kinds(2)[0], &changed, &kinds(6)[kind], &kinds(8)[0]].map(Vec::as_slice).concat();
            for options in &options {
                let validator = Validator::new(&Log).options(*options);
                same(validator, &log, &|| format!("kind {kind}, bit {bit}, {options:?}"));
                same(validator.base_offset(Some(0)), &log, &|| format!("kind {kind}, bit {bit}, {options:?}, from 0"));
            }
        }
    }
}

#[test]
fn offsets_at_the_ends_of_their_range() {
    let end = i64::MAX - 4;
    for start in [0, (1 << 31) - 4, (1 << 31) - 2, end - 2, end - 1, end] {
        let log: Vec<u8> = (0..3).flat_map(|i| at(batch(0, |b| b), start + 2 * i - 1)).collect();
        for base in [None, Some(0), Some(start as u64)] {
            let validator = Validator::new(&Log).base_offset(base);
            same(validator, &log, &|| format!("from {start}, base {base:?}"));
        }
    }
}

#[test]
fn logs_are_told_as_without_it() {
    for path in inputs::logs() {
        let bytes = std::fs::read(&path).unwrap();
        for options in options() {
            same(Validator::detecting().options(options), &bytes, &|| format!("{}, {options:?}", path.display()));
        }
    }
}

#[test]
fn mutations_between_sound_batches_are_told_as_without_it() {
    let log = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    let batches = Validator::new(&Log).list_batches(true).validate(&log).batches;
    let [before, after] = [8, 16].map(|i: usize| batches[i].offset as usize);
    for mutation in vectors::mutations() {
        let input = [&log[..before], &mutation.bytes, &log[before..after]].concat();
        same(Validator::detecting(), &input, &|| mutation.describe());
    }
}
