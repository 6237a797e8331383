//! The validator by threads: real batches, as many as make a size, from memory.

use batchwise::{Report, Validator, kafka};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::ThreadPoolBuilder;
use std::hint::black_box;

fn validator(c: &mut Criterion) {
    let some = include_bytes!("../tests/data/kafka/v2-many-small-batches/00000000000123456789.log");
    let mut group = c.benchmark_group("validator");
    for size in [256 << 10, 1 << 20, 4 << 20, 16 << 20] {
        let input = some.repeat(usize::div_ceil(size, some.len()));
        group.throughput(Throughput::Bytes(input.len() as u64));
        // Where the same batches come again, offsets overlap: one finding for each repetition.
        let validator = Validator::new(&kafka::Log).max_findings(10);
        let mut report = Report::default();
        validator.validate_into(&input, &mut report);
        let sound = report.totals;
        assert!(sound.batches > 1 && sound.bytes == input.len() as u64, "{sound:?}");
        group.bench_function(BenchmarkId::new("caller", size), |b| {
            b.iter(|| validator.validate_into(black_box(&input), &mut report));
        });
        for threads in [1, 2, 4, 8] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let validator = validator.in_pool(&pool);
            validator.validate_into(&input, &mut report);
            assert_eq!(report.totals, sound);
            group.bench_function(BenchmarkId::new(format!("{threads} threads"), size), |b| {
                b.iter(|| validator.validate_into(black_box(&input), &mut report));
            });
        }
    }
}

criterion_group!(benches, validator);
criterion_main!(benches);
