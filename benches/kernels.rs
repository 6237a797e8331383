//! Every kernel that this CPU can run, from 16 B to 1 MiB; `portable` is the scalar baseline.

use batchwise::kernels::{crc32c, varint, xxh3};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const SIZES: [usize; 7] = [16, 64, 256, 1 << 10, 4 << 10, 64 << 10, 1 << 20];

/// Bytes that look random and are the same in every run.
fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn crc32c_update(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c::update");
    let data = bytes(SIZES[SIZES.len() - 1]);
    for size in SIZES {
        group.throughput(Throughput::Bytes(size as u64));
        let want = crc32c::crc32c(&data[..size]);
        for kernel in crc32c::update::available() {
            assert_eq!(crc32c::update::with(kernel, 0, &data[..size]), want);
            group.bench_with_input(BenchmarkId::new(kernel.name(), size), &data[..size], |b, data| {
                b.iter(|| crc32c::update::with(kernel, 0, black_box(data)));
            });
        }
    }
}

fn xxh3_hash64(c: &mut Criterion) {
    let mut group = c.benchmark_group("xxh3::oneshot");
    let data = bytes(SIZES[SIZES.len() - 1]);
    for size in SIZES {
        group.throughput(Throughput::Bytes(size as u64));
        let want = xxh3::hash64(&data[..size]);
        for kernel in xxh3::oneshot::available() {
            assert_eq!(xxh3::oneshot::with(kernel, &data[..size], 0), want);
            group.bench_with_input(BenchmarkId::new(kernel.name(), size), &data[..size], |b, data| {
                b.iter(|| xxh3::oneshot::with(kernel, black_box(data), 0));
            });
        }
    }
}

/// Both widths of the same operation.
macro_rules! varint_decode_run {
    ($name:ident, $value:ty) => {
        fn $name(c: &mut Criterion) {
            use varint::$name;
            let mut group = c.benchmark_group(concat!("varint::", stringify!($name)));
            for count in [16, 1 << 10, 64 << 10] {
                let values: Vec<$value> = bytes(count).into_iter().map(|b| 1 << (b % 32)).collect();
                let mut wire = Vec::new();
                for &v in &values {
                    let mut one = [0; varint::MAX_LEN_64];
                    let len = varint::encode_u64(v.into(), &mut one);
                    wire.extend_from_slice(&one[..len]);
                }
                let mut out = vec![0; count];
                group.throughput(Throughput::Elements(count as u64));
                for kernel in $name::available() {
                    assert_eq!($name::with(kernel, &wire, &mut out), Ok(wire.len()));
                    assert_eq!(out, values);
                    group.bench_with_input(BenchmarkId::new(kernel.name(), count), &wire, |b, wire| {
                        b.iter(|| $name::with(kernel, black_box(wire), &mut out));
                    });
                }
            }
        }
    };
}

varint_decode_run!(decode_run_u32, u32);
varint_decode_run!(decode_run_u64, u64);

criterion_group!(benches, crc32c_update, xxh3_hash64, decode_run_u32, decode_run_u64);
criterion_main!(benches);
