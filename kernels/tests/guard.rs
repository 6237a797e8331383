//! No kernel touches a byte outside its slices: they lie against pages that may not be read, on either side.
#![cfg(unix)]

mod support;

use batchwise_kernels::search::{self, Pattern};
use batchwise_kernels::varint::records::{self, Columns, Job, Survey, survey, walk, walk_many};
use batchwise_kernels::{crc32c, varint, xxh3};
use support::Rng;
use support::guard::Guarded;

/// Lengths up to past every class of the kernels, then around a page.
fn lengths() -> impl Iterator<Item = usize> {
    (0..700).chain([1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096])
}

#[test]
fn crc32c_stays_inside() {
    let mut guarded = Guarded::new(2);
    let data = support::bytes(guarded.len(), 71);
    for len in lengths() {
        let want = crc32c::update::with(portable(crc32c::update::TABLE.all()), 7, &data[..len]);
        for kernel in crc32c::update::available() {
            guarded.at_both_ends(&data[..len], |slice| {
                assert_eq!(crc32c::update::with(kernel, 7, slice), want, "{} len {len}", kernel.name());
            });
        }
    }
}

#[test]
fn xxh3_stays_inside() {
    let mut guarded = Guarded::new(2);
    let data = support::bytes(guarded.len(), 72);
    for len in lengths() {
        let want = xxhash_rust::xxh3::xxh3_64_with_seed(&data[..len], 9);
        for kernel in xxh3::oneshot::available() {
            guarded.at_both_ends(&data[..len], |slice| {
                assert_eq!(xxh3::oneshot::with(kernel, slice, 9), want, "{} len {len}", kernel.name());
            });
        }
    }
}

#[test]
fn varint_runs_stay_inside() {
    let mut guarded = Guarded::new(2);
    let mut rng = Rng(73);
    for count in (0..200).chain([1000]) {
        let values: Vec<u64> = (0..count).map(|_| rng.next() >> rng.below(64)).collect();
        let mut wire = Vec::new();
        for &v in &values {
            let mut one = [0; varint::MAX_LEN_64];
            let len = varint::encode_u64(v, &mut one);
            wire.extend_from_slice(&one[..len]);
        }
        if wire.len() > guarded.len() {
            continue;
        }
        for kernel in varint::decode_run_u64::available() {
            guarded.at_both_ends(&wire, |slice| {
                let mut out = vec![0; count];
                assert_eq!(varint::decode_run_u64::with(kernel, slice, &mut out), Ok(slice.len()), "{}", kernel.name());
                assert_eq!(out, values, "{}", kernel.name());
            });
        }
    }
}

#[test]
fn runs_of_short_varints_stay_inside() {
    let mut guarded = Guarded::new(1);
    let mut rng = Rng(74);
    for count in 0..300 {
        let values: Vec<u32> = (0..count).map(|_| rng.next() as u32 >> rng.below(32)).collect();
        let mut wire = Vec::new();
        for &v in &values {
            let mut one = [0; varint::MAX_LEN_32];
            let len = varint::encode_u32(v, &mut one);
            wire.extend_from_slice(&one[..len]);
        }
        for kernel in varint::decode_run_u32::available() {
            guarded.at_both_ends(&wire, |slice| {
                let mut out = vec![0; count];
                assert_eq!(varint::decode_run_u32::with(kernel, slice, &mut out), Ok(slice.len()), "{}", kernel.name());
                assert_eq!(out, values, "{}", kernel.name());
            });
        }
    }
}

/// Either end, for two pieces of memory.
const ENDS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

#[test]
fn copies_stay_inside() {
    let (mut from, mut to) = (Guarded::new(2), Guarded::new(2));
    let data = support::bytes(from.len(), 75);
    let empty = vec![0; from.len()];
    for len in lengths() {
        let want = crc32c::update::with(portable(crc32c::update::TABLE.all()), 0, &data[..len]);
        for kernel in crc32c::copy::available() {
            for (from_end, to_end) in ENDS {
                let (src, dst) = (from.place(&data[..len], from_end), to.place(&empty[..len], to_end));
                assert_eq!(crc32c::copy::with(kernel, dst, src), want, "{} len {len}", kernel.name());
                assert_eq!(dst, src, "{} len {len}", kernel.name());
            }
        }
    }
}

#[test]
fn patches_stay_inside() {
    let (mut olds, mut news) = (Guarded::new(1), Guarded::new(1));
    let (old, new, tail) = (support::bytes(700, 76), support::bytes(700, 77), support::bytes(90, 78));
    let crc = |head: &[u8]| crc32c::update(crc32c::crc32c(head), &tail);
    for len in 0..old.len() {
        for kernel in crc32c::patch::available() {
            for (old_end, new_end) in ENDS {
                let (old, new) = (olds.place(&old[..len], old_end), news.place(&new[..len], new_end));
                let patched = crc32c::patch::with(kernel, crc(old), old, new, tail.len() as u64);
                assert_eq!(patched, crc(new), "{} len {len}", kernel.name());
            }
        }
    }
}

#[test]
fn many_frames_stay_inside() {
    let mut rng = Rng(79);
    let mut guarded: Vec<Guarded> = (0..13).map(|_| Guarded::new(1)).collect();
    for round in 0..400 {
        let (count, longest) = (rng.below(guarded.len() + 1), [20, 64, 300, 1500, 4096][round % 5]);
        let frames: Vec<&[u8]> = guarded
            .iter_mut()
            .take(count)
            .map(|place| &*place.place(&support::bytes(rng.below(longest + 1), rng.next()), rng.below(2) == 0))
            .collect();
        let want: Vec<u32> = frames.iter().map(|f| crc32c::crc32c(f)).collect();
        for kernel in crc32c::many::available() {
            let mut crcs = vec![0; count];
            crc32c::many::with(kernel, &frames, &mut crcs);
            assert_eq!(crcs, want, "{}", kernel.name());
        }
        let want: Vec<u64> = frames.iter().map(|f| xxhash_rust::xxh3::xxh3_64(f)).collect();
        for kernel in xxh3::many::available() {
            let mut hashes = vec![0; count];
            xxh3::many::with(kernel, &frames, &mut hashes);
            assert_eq!(hashes, want, "{}", kernel.name());
        }
    }
}

#[test]
fn frames_of_a_buffer_stay_inside() {
    let mut guarded = Guarded::new(2);
    let mut rng = Rng(80);
    for _ in 0..300 {
        let mut ends: Vec<usize> = (0..rng.below(20)).map(|_| rng.below(guarded.len() + 1)).collect();
        ends.sort_unstable();
        let len = ends.last().copied().unwrap_or(0);
        let ranges: Vec<_> = ends.iter().scan(0, |at, &end| Some(std::mem::replace(at, end)..end)).collect();
        let data = support::bytes(len, rng.next());
        let want: Vec<u64> = ranges.iter().map(|r| xxhash_rust::xxh3::xxh3_64(&data[r.clone()])).collect();
        for kernel in xxh3::many_ranges::available() {
            guarded.at_both_ends(&data, |buffer| {
                let mut hashes = vec![0; ranges.len()];
                xxh3::many_ranges::with(kernel, buffer, &ranges, &mut hashes);
                assert_eq!(hashes, want, "{}", kernel.name());
            });
        }
    }
}

#[test]
fn stripes_and_secrets_stay_inside() {
    let (mut inputs, mut secrets) = (Guarded::new(2), Guarded::new(1));
    let data = support::bytes(inputs.len(), 81);
    for secret_len in (xxh3::SECRET_MIN_LEN..xxh3::SECRET_MIN_LEN + 70).chain([1000]) {
        let secret = &data[7..7 + secret_len];
        for stripes in [0, 1, 3, 16, 40] {
            let bytes = &data[..stripes * 64];
            let reference = portable(xxh3::consume::TABLE.all());
            let mut want = [5; 8];
            let position = xxh3::consume::with(reference, &mut want, 2, bytes.as_chunks().0, secret);
            for kernel in xxh3::consume::available() {
                for (input_end, secret_end) in ENDS {
                    let stripes = inputs.place(bytes, input_end).as_chunks().0;
                    let mut acc = [5; 8];
                    let secret = secrets.place(secret, secret_end);
                    assert_eq!(
                        xxh3::consume::with(kernel, &mut acc, 2, stripes, secret),
                        position,
                        "{}",
                        kernel.name()
                    );
                    assert_eq!(acc, want, "{}", kernel.name());
                }
            }
        }
        for len in [0, 1, 9, 20, 130, 241, 2000] {
            let want = xxhash_rust::xxh3::xxh3_64_with_secret(&data[..len], secret);
            for (input_end, secret_end) in ENDS {
                let (input, secret) = (inputs.place(&data[..len], input_end), secrets.place(secret, secret_end));
                assert_eq!(xxh3::hash64_with_secret(input, secret), Ok(want), "{len} {secret_len}");
            }
        }
    }
}

#[test]
fn searches_stay_inside() {
    let mut guarded = Guarded::new(1);
    let mut rng = Rng(83);
    let pattern = Pattern::new([(16, 2), (8, 0x7F), (0, 0x7F)], 8);
    for len in 0..700 {
        // Two thirds fit at most places, so that what is found may be anywhere.
        let most = [3, 0x80, 0xFF][len % 3];
        let data: Vec<u8> = support::bytes(len, rng.next()).iter().map(|b| b % most).collect();
        let places = (len + 1).saturating_sub(pattern.span());
        let want = (0..places).find(|&at| pattern.matches(&data[at..]));
        for kernel in search::find::available() {
            guarded.at_both_ends(&data, |slice| {
                assert_eq!(search::find::with(kernel, slice, &pattern), want, "{} len {len}", kernel.name());
            });
        }
    }
}

/// Columns for as many records as asked for.
#[derive(Clone)]
struct Table([Vec<u32>; 5], [Vec<i32>; 3], Vec<i64>);

impl Table {
    fn new(len: usize) -> Self {
        Table(std::array::from_fn(|_| vec![0; len]), std::array::from_fn(|_| vec![0; len]), vec![0; len])
    }

    fn columns(&mut self) -> Columns<'_> {
        let unsigned = self.0.each_mut().map(|c| &mut c[..]);
        let signed = self.1.each_mut().map(|c| &mut c[..]);
        Columns::over(unsigned, signed, &mut self.2)
    }
}

/// Records with keys, values and sometimes a header, of lengths below `longest`.
fn chain(rng: &mut Rng, count: usize, longest: usize) -> Vec<u8> {
    let mut wire = Vec::new();
    let put = |out: &mut Vec<u8>, v: i64| {
        let mut one = [0; varint::MAX_LEN_64];
        let len = varint::encode_zigzag64(v, &mut one);
        out.extend_from_slice(&one[..len]);
    };
    for i in 0..count {
        let mut body = vec![0];
        put(&mut body, rng.next() as i64 >> rng.below(64));
        put(&mut body, i as i64);
        for _ in 0..2 {
            let len = rng.below(longest);
            put(&mut body, len as i64 - 1);
            body.extend(support::bytes(len.saturating_sub(1), rng.next()));
        }
        body.extend_from_slice([&[0][..], &[2, 2, b'k', 1]][usize::from(rng.below(5) == 0)]);
        put(&mut wire, body.len() as i64);
        wire.extend(body);
    }
    wire
}

#[test]
fn surveys_stay_inside() {
    let mut rng = Rng(83);
    let mut guarded = Guarded::new(2);
    for round in 0..2000 {
        let count = 1 + rng.below(40);
        // Records of any size, or all alike, which are looked at in another way.
        let wire = if round % 2 == 0 {
            chain(&mut rng, count, [3, 20, 60][round % 3])
        } else {
            let value = rng.below(57);
            let one = |i: usize| {
                let mut record = vec![2 * (value as u8 + 6), 0, 2, 2 * i as u8, 1, 2 * value as u8];
                record.resize(6 + value + 1, 0);
                record
            };
            (0..count).flat_map(one).collect()
        };
        let len = if rng.below(2) == 0 { wire.len() } else { rng.below(wire.len() + 1) };
        let bytes = &*guarded.place(&wire[..len], rng.below(2) == 0);
        let mut want = Survey::default();
        while want.records < count
            && let Some(head) =
                records::read(bytes, want.end, 0).ok().filter(|head| head.plain && head.headers_count == 0)
        {
            want.add(&head);
        }
        for kernel in survey::available() {
            let mut told = Survey::default();
            survey::with(kernel, bytes, count, &mut told);
            assert_eq!(told, want, "{}", kernel.name());
        }
    }
}

#[test]
fn walks_stay_inside() {
    let mut rng = Rng(82);
    let mut guarded: Vec<Guarded> = (0..5).map(|_| Guarded::new(1)).collect();
    for round in 0..600 {
        let count = 1 + rng.below(24);
        let chains = guarded.iter_mut().map(|place| {
            let wire = chain(&mut rng, count, [3, 20, 60][round % 3]);
            // Whole, or cut anywhere, which is an error that has to be the same.
            let len = if round % 2 == 0 { wire.len() } else { rng.below(wire.len() + 1) };
            &*place.place(&wire[..len], rng.below(2) == 0)
        });
        let chains: Vec<&[u8]> = chains.collect();
        let one_by_one =
            |bytes: &[u8]| (0..count).try_fold(0, |at, i| records::read(bytes, at, i).map(|head| head.end));
        let want: Vec<_> = chains.iter().map(|bytes| one_by_one(bytes)).collect();
        for kernel in walk::available() {
            for (bytes, want) in chains.iter().zip(&want) {
                let walked = walk::with(kernel, bytes, &mut Table::new(count).columns());
                assert_eq!(walked.map(|w| w.end), *want, "{}", kernel.name());
            }
        }
        for kernel in walk_many::available() {
            let mut tables = vec![Table::new(count); chains.len()];
            let jobs = chains.iter().zip(&mut tables).map(|(bytes, table)| Job::new(bytes, table.columns()));
            let mut jobs: Vec<_> = jobs.collect();
            walk_many::with(kernel, &mut jobs);
            let ends: Vec<_> = jobs.iter().map(|job| job.walked.map(|w| w.end)).collect();
            assert_eq!(ends, want, "{}", kernel.name());
        }
    }
}

/// The last row of every table is the portable one.
fn portable<F>(
    all: &'static [batchwise_kernels::dispatch::Kernel<F>],
) -> &'static batchwise_kernels::dispatch::Kernel<F> {
    all.last().expect("every table has a portable row")
}
