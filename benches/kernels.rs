//! Every kernel that this CPU can run, from 16 B to 1 MiB; `portable` is the scalar baseline.

use batchwise::kernels::search::{self, Pattern};
use batchwise::kernels::varint::records::{self, Columns, Job, Survey};
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

fn crc32c_copy(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c::copy");
    let (data, mut to) = (bytes(SIZES[SIZES.len() - 1]), vec![0; SIZES[SIZES.len() - 1]]);
    for size in SIZES {
        let (data, to) = (&data[..size], &mut to[..size]);
        group.throughput(Throughput::Bytes(size as u64));
        for kernel in crc32c::copy::available() {
            assert_eq!(crc32c::copy::with(kernel, to, data), crc32c::crc32c(data));
            assert_eq!(to, data);
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| {
                b.iter(|| crc32c::copy::with(kernel, to, black_box(data)));
            });
        }
    }
}

/// 64 frames, none of them at a round address.
const FRAMES: usize = 64;

fn crc32c_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c::many");
    let data = bytes((SIZES[3] + 1) * FRAMES);
    let mut crcs = [0; FRAMES];
    for size in &SIZES[..4] {
        let frames: Vec<&[u8]> = data.chunks_exact(size + 1).take(FRAMES).map(|f| &f[..*size]).collect();
        group.throughput(Throughput::Bytes((size * FRAMES) as u64));
        for kernel in crc32c::many::available() {
            crc32c::many::with(kernel, &frames, &mut crcs);
            assert!(crcs.iter().zip(&frames).all(|(crc, frame)| *crc == crc32c::crc32c(frame)));
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| {
                b.iter(|| crc32c::many::with(kernel, black_box(&frames), &mut crcs));
            });
        }
    }
}

fn crc32c_patch(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c::patch");
    let (data, new) = (bytes(16 << 10), [7; 40]);
    let mut patched = data.clone();
    patched[..40].copy_from_slice(&new);
    let (crc, want, tail) = (crc32c::crc32c(&data), crc32c::crc32c(&patched), data.len() as u64 - 40);
    for kernel in crc32c::patch::available() {
        assert_eq!(crc32c::patch::with(kernel, crc, &data[..40], &new, tail), want);
        group.bench_function(BenchmarkId::new(kernel.name(), data.len()), |b| {
            b.iter(|| crc32c::patch::with(kernel, crc, black_box(&data[..40]), &new, tail));
        });
    }
}

fn crc32c_advance(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c::advance");
    for len in [1_u64 << 10, 1 << 40] {
        let want = crc32c::advance::with(crc32c::advance::available().last().expect("portable"), 7, len);
        for kernel in crc32c::advance::available() {
            assert_eq!(crc32c::advance::with(kernel, 7, len), want);
            group.bench_function(BenchmarkId::new(kernel.name(), len), |b| {
                b.iter(|| crc32c::advance::with(kernel, 7, black_box(len)));
            });
        }
    }
}

fn xxh3_consume(c: &mut Criterion) {
    let mut group = c.benchmark_group("xxh3::consume");
    let (data, secret) = (bytes(64 << 10), bytes(xxh3::SECRET_MIN_LEN + 56));
    let stripes = data.as_chunks::<64>().0;
    let run = |kernel, stripes: &[[u8; 64]]| {
        let mut acc = [1; 8];
        xxh3::consume::with(kernel, &mut acc, 0, stripes, &secret);
        acc
    };
    let want = run(xxh3::consume::available().last().expect("portable"), stripes);
    group.throughput(Throughput::Bytes(data.len() as u64));
    for kernel in xxh3::consume::available() {
        assert_eq!(run(kernel, stripes), want);
        group.bench_function(BenchmarkId::new(kernel.name(), data.len()), |b| {
            b.iter(|| run(kernel, black_box(stripes)))
        });
    }
}

fn xxh3_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("xxh3::many");
    let data = bytes((SIZES[3] + 1) * FRAMES);
    let mut hashes = [0; FRAMES];
    for size in &SIZES[..4] {
        let frames: Vec<&[u8]> = data.chunks_exact(size + 1).take(FRAMES).map(|f| &f[..*size]).collect();
        group.throughput(Throughput::Bytes((size * FRAMES) as u64));
        for kernel in xxh3::many::available() {
            xxh3::many::with(kernel, &frames, &mut hashes);
            assert!(hashes.iter().zip(&frames).all(|(hash, frame)| *hash == xxh3::hash64(frame)));
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| {
                b.iter(|| xxh3::many::with(kernel, black_box(&frames), &mut hashes));
            });
        }
    }
}

fn xxh3_many_ranges(c: &mut Criterion) {
    let mut group = c.benchmark_group("xxh3::many_ranges");
    let data = bytes((SIZES[3] + 1) * FRAMES);
    let mut hashes = [0; FRAMES];
    for size in &SIZES[..4] {
        let ranges: Vec<_> = (0..FRAMES).map(|i| i * (size + 1)..i * (size + 1) + size).collect();
        group.throughput(Throughput::Bytes((size * FRAMES) as u64));
        for kernel in xxh3::many_ranges::available() {
            xxh3::many_ranges::with(kernel, &data, &ranges, &mut hashes);
            assert!(hashes.iter().zip(&ranges).all(|(hash, r)| *hash == xxh3::hash64(&data[r.clone()])));
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| {
                b.iter(|| xxh3::many_ranges::with(kernel, black_box(&data), &ranges, &mut hashes));
            });
        }
    }
}

/// Records of a walk.
const COUNT: usize = 1000;

/// What columns write to.
struct Store {
    unsigned: [Vec<u32>; 5],
    signed: [Vec<i32>; 3],
    timestamp_deltas: Vec<i64>,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            unsigned: std::array::from_fn(|_| vec![0; COUNT]),
            signed: std::array::from_fn(|_| vec![0; COUNT]),
            timestamp_deltas: vec![0; COUNT],
        }
    }
}

impl Store {
    fn columns(&mut self) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..]);
        let signed = self.signed.each_mut().map(|c| &mut c[..]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas)
    }
}

/// Records of one shape: eight bytes of fields around a value of `size` bytes.
fn records_of(size: usize) -> Vec<u8> {
    let (mut wire, value) = (Vec::new(), bytes(size));
    let put = |v: i64, wire: &mut Vec<u8>| {
        let mut one = [0; varint::MAX_LEN_64];
        let len = varint::encode_zigzag64(v, &mut one);
        wire.extend_from_slice(&one[..len]);
    };
    for i in 0..COUNT as i64 {
        let body = 4 + varint::len_zigzag64(i) + varint::len_zigzag64(size as i64) + size;
        for field in [body as i64, 0, 0, i, -1, size as i64] {
            put(field, &mut wire);
        }
        wire.extend_from_slice(&value);
        wire.push(0);
    }
    wire
}

/// Several walks in step.
fn walk_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("varint::records::walk_many");
    for size in [16_usize, 64, 1 << 10] {
        let (wire, mut stores) = (records_of(size), [Store::default(), Store::default()]);
        group.throughput(Throughput::Elements((COUNT * stores.len()) as u64));
        for kernel in records::walk_many::available() {
            let mut run = |wire: &[u8]| {
                let mut jobs = stores.each_mut().map(|store| Job::new(wire, store.columns()));
                records::walk_many::with(kernel, &mut jobs);
                jobs.map(|job| job.walked.map(|walked| walked.end))
            };
            assert_eq!(run(&wire), [Ok(wire.len()); 2]);
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| b.iter(|| run(black_box(&wire))));
        }
    }
}

fn walk(c: &mut Criterion) {
    let mut group = c.benchmark_group("varint::records::walk");
    for size in [16_usize, 64, 1 << 10] {
        let wire = records_of(size);
        let mut store = Store::default();
        group.throughput(Throughput::Elements(COUNT as u64));
        for kernel in records::walk::available() {
            let mut run = |wire: &[u8]| {
                let mut columns = store.columns();
                let walked = records::walk::with(kernel, wire, &mut columns).expect("sound records");
                (walked.end, columns.offset_deltas[COUNT - 1], columns.value_lens[COUNT - 1])
            };
            assert_eq!(run(&wire), (wire.len(), COUNT as i32 - 1, size as i32));
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| b.iter(|| run(black_box(&wire))));
        }
    }
}

fn survey(c: &mut Criterion) {
    let mut group = c.benchmark_group("varint::records::survey");
    for size in [16_usize, 64, 1 << 10] {
        let wire = records_of(size);
        group.throughput(Throughput::Elements(COUNT as u64));
        for kernel in records::survey::available() {
            let run = |wire: &[u8]| {
                let mut survey = Survey::default();
                records::survey::with(kernel, wire, COUNT, &mut survey);
                survey
            };
            assert_eq!((run(&wire).records, run(&wire).end), (COUNT, wire.len()));
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| b.iter(|| run(black_box(&wire))));
        }
    }
}

fn search_find(c: &mut Criterion) {
    let mut group = c.benchmark_group("search::find");
    // A length that is neither negative nor zero, then a version that random bytes have not.
    let pattern = Pattern::new([(4, 2), (0, 0x7F), (0, 0x7F)], 0);
    for size in [1 << 10, 64 << 10, 1 << 20] {
        let mut data = vec![0xFF; size];
        data[size - 10..].copy_from_slice(b"\0\0\0\x15\x02yyyyy");
        let want = search::find::with(search::find::available().last().expect("portable"), &data, &pattern);
        assert!(want.is_some());
        group.throughput(Throughput::Bytes(size as u64));
        for kernel in search::find::available() {
            assert_eq!(search::find::with(kernel, &data, &pattern), want);
            group.bench_function(BenchmarkId::new(kernel.name(), size), |b| {
                b.iter(|| search::find::with(kernel, black_box(&data), &pattern));
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

criterion_group!(crc, crc32c_update, crc32c_copy, crc32c_many, crc32c_patch, crc32c_advance);
criterion_group!(xxh, xxh3_hash64, xxh3_consume, xxh3_many, xxh3_many_ranges);
criterion_group!(others, decode_run_u32, decode_run_u64, walk, walk_many, survey, search_find);
criterion_main!(crc, xxh, others);
