//! Kafka batches: the check of each format and codec, columns, and the codecs alone.

use batchwise::codec::{Codec, Compressor, Decoder};
use batchwise::kafka::{Log, MessageSetBuilder, NewRecord, RecordBatch, RecordBatchBuilder, RecordColumns};
use batchwise::{Format, Frame, Options, Scratch};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// Bytes of a value, and how many records of them make 16 KiB, the size that producers send by default.
const SHAPES: [(usize, usize); 2] = [(100, 160), (1024, 16)];

/// Text of `len` bytes that compresses about as JSON does; another one for another `i`.
fn value(len: usize, i: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut state = i as u64;
    while text.len() < len {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        text.extend_from_slice(format!("{{\"user\":\"{:08x}\",\"event\":\"click\"}}", state >> 32).as_bytes());
    }
    text.truncate(len);
    text
}

fn batch(len: usize, count: usize, codec: Option<Codec>) -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new();
    if let Some(codec) = codec {
        builder = builder.compression(codec, None).expect("a codec of this build");
    }
    for i in 0..count {
        let (key, value) = ((i as u32).to_be_bytes(), value(len, i));
        let record = NewRecord { timestamp: i as i64, key: Some(&key), value: Some(&value), ..NewRecord::default() };
        builder.append(&record).expect("a record");
    }
    builder.finish().expect("a batch")
}

fn codecs() -> impl Iterator<Item = Codec> {
    Codec::ALL.iter().copied().filter(|c| c.is_available())
}

/// None first.
fn codecs_and_none() -> impl Iterator<Item = (&'static str, Option<Codec>)> {
    std::iter::once(("none", None)).chain(codecs().map(|c| (c.name(), Some(c))))
}

/// All that a stored batch promises: framing, checksum, decompression, every record.
fn check(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    let (options, mut scratch) = (Options::default(), Scratch::default());
    for (len, count) in SHAPES {
        let mut inputs: Vec<(String, Vec<u8>, usize)> =
            codecs_and_none().map(|(name, codec)| (format!("v2-{name}"), batch(len, count, codec), count)).collect();
        for magic in [0, 1] {
            let mut builder = MessageSetBuilder::new(magic).expect("a magic");
            builder.append(0, None, Some(&value(len, 0))).expect("a message");
            inputs.push((format!("v{magic}-none"), builder.finish().expect("a message set"), 1));
        }
        for (name, bytes, records) in inputs {
            let mut run = |bytes| {
                let frame = Frame { offset: 0, bytes };
                Log.check(frame, &options, &mut scratch, &mut |defect| panic!("{defect:?}")).records
            };
            assert_eq!(run(&bytes), records as u64);
            group.throughput(Throughput::ElementsAndBytes { elements: records as u64, bytes: bytes.len() as u64 });
            group.bench_function(BenchmarkId::new(name, len), |b| b.iter(|| run(black_box(&bytes))));
        }
    }
}

/// A batch's records as columns, decompressed first where they have to be.
fn columns(c: &mut Criterion) {
    let mut group = c.benchmark_group("columns");
    let (mut columns, mut decoder) = (RecordColumns::new(), Decoder::default());
    for (len, count) in SHAPES {
        for (name, codec) in codecs_and_none() {
            let bytes = batch(len, count, codec);
            let batch = RecordBatch::parse(&bytes, 0).expect("a batch");
            let records = columns.fill_decoded(&batch, &mut decoder).expect("sound records");
            let last = columns.value(count - 1).map(|v| &records[v]);
            assert_eq!((columns.len(), last), (count, Some(&value(len, count - 1)[..])));
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(name, len), |b| {
                b.iter(|| columns.fill_decoded(black_box(&batch), &mut decoder).map(<[u8]>::len));
            });
        }
    }
}

/// The codecs alone, over the records of a batch.
fn codec(c: &mut Criterion) {
    let (mut decoder, mut out) = (Decoder::default(), Vec::new());
    for (len, count) in SHAPES {
        let plain: Vec<u8> = (0..count).flat_map(|i| value(len, i)).collect();
        for codec in codecs() {
            let mut compressor = Compressor::new(codec, None).expect("a codec of this build");
            let packed = batch(len, count, Some(codec));
            let packed = RecordBatch::parse(&packed, 0).expect("a batch");
            let records = packed.decoded_records(&mut decoder).expect("sound records");
            assert_eq!(records.count(), count);
            out.clear();
            compressor.compress(&plain, &mut out).expect("compressed");
            assert!(out.len() < plain.len());
            let mut group = c.benchmark_group("codec");
            group.throughput(Throughput::Bytes(plain.len() as u64));
            group.bench_function(BenchmarkId::new(format!("compress-{codec}"), len), |b| {
                b.iter(|| {
                    out.clear();
                    compressor.compress(black_box(&plain), &mut out)
                });
            });
            group.bench_function(BenchmarkId::new(format!("decompress-{codec}"), len), |b| {
                b.iter(|| black_box(&packed).decoded_records(&mut decoder).is_ok());
            });
        }
    }
}

criterion_group!(benches, check, columns, codec);
criterion_main!(benches);
