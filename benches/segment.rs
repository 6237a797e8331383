//! Verifying a segment from memory: a real batch of 10,000 records, again and again.

use batchwise::{Depth, Options, Validator, kafka};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn segment(c: &mut Criterion) {
    let batch = include_bytes!("../tests/data/kafka/v2-none-10k/00000000000000005000.log");
    let mut options = Options::default();
    let mut group = c.benchmark_group("segment");
    group.throughput(Throughput::Bytes(batch.len() as u64));
    for (name, depth) in [("frames", Depth::Frames), ("checksums", Depth::Checksums), ("records", Depth::Records)] {
        options.depth = depth;
        let validator = Validator::new(&kafka::Log).options(options);
        let totals = validator.validate(batch).totals;
        assert!(totals.is_valid() && totals.records == 10_000, "{totals:?}");
        group.bench_function(BenchmarkId::new(name, batch.len()), |b| b.iter(|| validator.validate(black_box(batch))));
    }
}

criterion_group!(benches, segment);
criterion_main!(benches);
