//! Iggy batches: every check, the layout alone, and stamping.

use batchwise::iggy::{Batch, ChecksumMode, FrameList, NewMessage, Revision, Stamp, decode, encode, stamp};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn batch_of(count: usize, payload: usize, frames: &mut FrameList) -> Vec<u8> {
    let payload: Vec<u8> = (0..payload).map(|i| (i * 37 + 11) as u8).collect();
    let messages: Vec<_> =
        (0..count).map(|i| NewMessage { id: i as u128, payload: &payload, ..NewMessage::default() }).collect();
    let mut out = Vec::new();
    encode(&messages, None, &mut out, frames).expect("a batch");
    out
}

fn iggy(c: &mut Criterion) {
    let mut frames = FrameList::default();
    for (count, payload) in [(1, 100), (10, 100), (1000, 16), (1000, 100), (1000, 1024)] {
        let mut bytes = batch_of(count, payload, &mut frames);
        let name = format!("{count}x{payload}");
        decode(&bytes, 0, Revision::R2, &mut frames).expect("a sound batch");
        let mut group = c.benchmark_group("iggy");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("verify", &name), |b| {
            b.iter(|| decode(black_box(&bytes), 0, Revision::R2, &mut frames).is_ok());
        });
        let batch = Batch::parse(&bytes, 0, Revision::R2).expect("a header");
        group.bench_function(BenchmarkId::new("layout", &name), |b| b.iter(|| black_box(batch).check_layout()));
        group.bench_function(BenchmarkId::new("list", &name), |b| b.iter(|| black_box(batch).list_frames(&mut frames)));
        let mut header = bytes.first_chunk_mut().expect("a header");
        let append = Stamp { base_offset: Some(5), base_timestamp: Some(6), ..Stamp::default() };
        group.bench_function(BenchmarkId::new("stamp", &name), |b| {
            b.iter(|| stamp(black_box(&mut header), append, &mut frames, ChecksumMode::Compute));
        });
        group.finish();
    }
}

criterion_group!(benches, iggy);
criterion_main!(benches);
