//! Verifying a segment: a real batch of 10,000 records from memory, and a file of real batches from the page cache.

use batchwise::{Depth, Finding, Options, Validator, kafka, segment};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const DEPTHS: [(&str, Depth); 3] =
    [("frames", Depth::Frames), ("checksums", Depth::Checksums), ("records", Depth::Records)];

fn validator(depth: Depth) -> Validator<'static> {
    let mut options = Options::default();
    options.depth = depth;
    Validator::new(&kafka::Log).options(options)
}

fn memory(c: &mut Criterion) {
    let batch = include_bytes!("../tests/data/kafka/v2-none-10k/00000000000000005000.log");
    let mut group = c.benchmark_group("segment");
    group.throughput(Throughput::Bytes(batch.len() as u64));
    for (name, depth) in DEPTHS {
        let validator = validator(depth);
        let totals = validator.validate(batch).totals;
        assert!(totals.is_valid() && totals.records == 10_000, "{totals:?}");
        group.bench_function(BenchmarkId::new(name, batch.len()), |b| b.iter(|| validator.validate(black_box(batch))));
    }
}

fn file(c: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v2-many-small-batches/00000000000123456789.log");
    let file = std::fs::File::open(path).expect("a segment");
    let len = file.metadata().expect("a file").len();
    let mut group = c.benchmark_group("file");
    group.throughput(Throughput::Bytes(len));
    for (name, depth) in DEPTHS {
        let run = || segment::verify(&file, validator(depth), &mut |f: Finding| panic!("{f:?}")).expect("read");
        let totals = run();
        assert!(totals.is_valid() && totals.batches > 1 && totals.records > 0, "{totals:?}");
        group.bench_function(BenchmarkId::new(name, len), |b| b.iter(run));
    }
}

criterion_group!(benches, memory, file);
criterion_main!(benches);
