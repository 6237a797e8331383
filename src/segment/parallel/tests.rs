//! Regions found in any order, put in the order of the file.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::formats::kafka;
use crate::segment::{SideFile, SideKind};

/// A log of many batches, a batch with a log in its value, and more batches.
fn log() -> Vec<u8> {
    const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/");
    let read = |name: &str| std::fs::read(format!("{DIR}{name}")).expect("test data");
    let mut bytes = read("v2-many-small-batches/00000000000123456789.log");
    let inner = bytes[..20_000].to_vec();
    let record = kafka::NewRecord { value: Some(&inner), ..Default::default() };
    let mut builder = kafka::RecordBatchBuilder::new().base_offset(123_457_600).partition_leader_epoch(9);
    builder.append(&record).expect("a record");
    bytes.extend(builder.finish().expect("a batch"));
    bytes
}

fn index(bytes: &[u8]) -> Vec<SideFile> {
    let report = Validator::new(&kafka::Log).list_batches(true).validate(bytes);
    let base_offset = 123_456_789;
    let (mut offsets, mut times, mut greatest) = (Vec::new(), Vec::new(), i64::MIN);
    for batch in report.batches.iter().skip(1).step_by(7) {
        let last = (batch.summary.next_offset.unwrap_or(0) - 1 - base_offset) as i32;
        offsets.extend(last.to_be_bytes());
        offsets.extend((batch.offset as i32).to_be_bytes());
        let seen = report.batches.iter().filter(|b| b.number < batch.number).filter_map(|b| b.summary.timestamp);
        let timestamp = batch.summary.timestamp.unwrap_or(0);
        if timestamp > greatest.max(seen.max().unwrap_or(0)) {
            greatest = timestamp;
            times.extend(timestamp.to_be_bytes());
            times.extend(last.to_be_bytes());
        }
    }
    let side = |kind, bytes| SideFile { kind, base_offset, bytes };
    vec![side(SideKind::OffsetIndex, offsets), side(SideKind::TimeIndex, times)]
}

fn verify(files: &[Vec<u8>], sides: &[SideFile], threads: usize, region: u64, stop: bool) -> Vec<Verified> {
    let mut all = Vec::new();
    let validator = Validator::new(&kafka::Log).base_offset(Some(123_456_789)).list_batches(true);
    let open = |i: usize| -> io::Result<_> {
        Ok(Job { source: &files[i][..], validator: validator.stop_at_first(stop), sides: sides.to_vec() })
    };
    verify_in_regions(files.len(), threads, region, &open, &mut |i, verified| {
        assert_eq!(i, all.len(), "in order");
        all.push(verified.expect("memory can be read"));
        ControlFlow::Continue(())
    });
    all
}

#[test]
fn regions_find_what_one_walk_finds() {
    let clean = log();
    let mut files = vec![clean.clone(), Vec::new(), vec![0; 70_000], clean[..1000].to_vec()];
    for i in 0..40 {
        let mut damaged = clean.clone();
        let at = (i * 7919 * 31) % damaged.len();
        match i % 4 {
            0 => damaged[at] ^= 0x10,
            1 => damaged.truncate(at),
            2 => drop(damaged.drain(at..(at + 3000).min(clean.len()))),
            _ => {
                let end = (at + 9000).min(clean.len());
                damaged[at..end].fill(0);
            }
        }
        files.push(damaged);
    }
    let sides = index(&clean);
    for stop in [false, true] {
        let one = verify(&files, &sides, 1, REGION, stop);
        assert!(one[0].log.totals.is_valid() && one[0].sides.iter().all(|s| s.findings.is_empty()), "{:?}", one[0]);
        for (threads, region) in [(2, 4096), (2, 700), (8, 10_000), (3, 1 << 20)] {
            let many = verify(&files, &sides, threads, region, stop);
            for (i, (one, many)) in one.iter().zip(&many).enumerate() {
                let what = format!("file {i}, {threads} threads, regions of {region}, stop {stop}");
                assert_eq!(one.log.totals, many.log.totals, "{what}");
                assert_eq!(one.log.findings, many.log.findings, "{what}");
                assert_eq!(one.sides, many.sides, "{what}");
                assert!(one == many, "{what}");
            }
        }
    }
}

#[test]
fn what_cannot_be_opened_does_not_stop_the_others() {
    let bytes = log();
    for threads in [1, 4] {
        let mut told = Vec::new();
        let open = |i: usize| {
            if i % 3 == 1 {
                return Err(io::Error::other("no"));
            }
            Ok(Job { source: &bytes[..], validator: Validator::new(&kafka::Log), sides: Vec::new() })
        };
        verify_all(7, threads, &open, &mut |_, verified| {
            told.push(verified.is_ok());
            if told.len() == 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(told, [true, false, true, true, false, true]);
    }
}

/// Memory that says which offsets are read.
struct Watched<'f> {
    bytes: &'f [u8],
    reads: &'f (dyn Fn(u64) + Sync),
}

impl ReadAt for Watched<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (self.reads)(offset);
        self.bytes.read_at(buffer, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}

/// Waits until it is so, for some milliseconds; whether it came to be so.
fn wait(milliseconds: u64, mut until: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !until() {
        if start.elapsed() > Duration::from_millis(milliseconds) {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// A file that took longer to open than the long one behind it does not wait for all of that.
#[test]
fn what_is_told_first_is_walked_through_first() {
    const REGION: u64 = 4096;
    let bytes = log();
    let (second, first_told) = (AtomicBool::new(false), AtomicBool::new(false));
    let wait_for = |flag: &AtomicBool| wait(5000, || flag.load(Ordering::Acquire));
    let early = AtomicBool::new(true);
    let of_second = |offset: u64| {
        second.store(true, Ordering::Release);
        if offset > bytes.len() as u64 / 2 && !wait_for(&first_told) {
            early.store(false, Ordering::Release);
        }
    };
    let open = |i: usize| -> io::Result<_> {
        let reads: &(dyn Fn(u64) + Sync) = if i == 0 { &|_| () } else { &of_second };
        if i == 0 {
            wait_for(&second);
        }
        Ok(Job { source: Watched { bytes: &bytes, reads }, validator: Validator::new(&kafka::Log), sides: Vec::new() })
    };
    verify_in_regions(2, 2, REGION, &open, &mut |i, verified: io::Result<_>| {
        assert!(verified.is_ok());
        if i == 0 {
            first_told.store(true, Ordering::Release);
        }
        ControlFlow::Continue(())
    });
    assert!(early.into_inner(), "the second file was walked through before the first was told of");
}

/// Where the first region takes long, what is found behind it does not pile up.
#[test]
fn what_is_found_ahead_is_bounded() {
    const REGION: u64 = 256;
    let bytes = log();
    assert!(bytes.len() as u64 > 2 * AHEAD as u64 * REGION);
    let (furthest, is_first) = (AtomicU64::new(0), AtomicBool::new(true));
    let reads = |offset: u64| {
        furthest.fetch_max(offset, Ordering::AcqRel);
        if offset == 0 && is_first.swap(false, Ordering::AcqRel) {
            let last = (AHEAD as u64 - 1) * REGION;
            assert!(wait(5000, || furthest.load(Ordering::Acquire) >= last), "others go on");
            wait(30, || false);
            let furthest = furthest.load(Ordering::Acquire);
            assert!(furthest < last + REGION, "{furthest} was read before {REGION} bytes were over");
        }
    };
    let open = |_| -> io::Result<_> {
        Ok(Job {
            source: Watched { bytes: &bytes, reads: &reads },
            validator: Validator::new(&kafka::Log),
            sides: vec![],
        })
    };
    let one = Validator::new(&kafka::Log).validate(&bytes);
    verify_in_regions(1, 3, REGION, &open, &mut |_, verified: io::Result<Verified>| {
        assert_eq!(verified.expect("memory can be read").log, one);
        ControlFlow::Continue(())
    });
}
