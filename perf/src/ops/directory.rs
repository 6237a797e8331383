//! A whole log directory, against reading it plainly on as many threads: files in the page cache, read and discarded.
//!
//! The directory is made once, in the directory for temporary files (`TMPDIR`), and removed at the end: 2 GiB, or as many
//! bytes as the variable `BATCHWISE_DIRECTORY_BYTES` says. Records have values of 1 KiB, batches 16 KiB of records,
//! segments 128 MiB. Times are for the whole directory. What is verified is what `batchwise verify` verifies; `bytes` is
//! the size of the directory. Behind each case the peak of the process's memory while ours ran goes to standard error.

use super::records::{Shape, record};
use super::{batches, kernel};
use crate::harness::{Case, Plan, Rng};
use batchwise::segment::{Job, verify_all};
use batchwise::{Depth, Options, Validator, kafka};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const BYTES: u64 = 2 << 30;
const SEGMENT: u64 = 128 << 20;
const BATCH: usize = 16 << 10;
const VALUE: usize = 1 << 10;
/// Bytes read at a time by the plain reader: the fastest of 64 KiB to 4 MiB here.
const READ: usize = 128 << 10;

pub(super) fn cases() -> Vec<Plan> {
    let bytes = std::env::var("BATCHWISE_DIRECTORY_BYTES").ok().and_then(|v| v.parse().ok()).unwrap_or(BYTES);
    [("checksums", Depth::Checksums), ("records", Depth::Records)]
        .map(|(name, depth)| Plan::new(name, bytes, move || directory(name, bytes, depth)))
        .into()
}

/// A directory of segments, removed in the end.
struct Log {
    name: &'static str,
    bytes: u64,
    root: PathBuf,
    /// Files and the first offset of each.
    segments: Vec<(PathBuf, u64)>,
    threads: usize,
    peak_kib: u64,
}

fn directory(name: &'static str, bytes: u64, depth: Depth) -> Case<Log> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let root = std::env::temp_dir().join(format!("batchwise-perf-{}", std::process::id()));
    let log = Log { name, bytes, root, segments: Vec::new(), threads, peak_kib: 0 };
    let mut options = Options::default();
    options.depth = depth;
    Case::new(log, 1, refresh)
        .ours(kernel("crc32c::update"), move |log| {
            // From now on the peak is that of this run.
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            let bytes = verify(log, options);
            log.peak_kib = log.peak_kib.max(peak_kib());
            bytes
        })
        .peer("plain-read", |log| read_all(log).expect("the files can be read"))
}

/// Makes the directory in the first round; the files stay the same.
fn refresh(log: &mut Log, rng: &mut Rng) {
    if log.segments.is_empty() {
        make(log, rng).expect("room for the directory");
    }
}

fn make(log: &mut Log, rng: &mut Rng) -> io::Result<()> {
    let directory = log.root.join("topic-0");
    std::fs::create_dir_all(&directory)?;
    let (mut left, mut offset) = (log.bytes, 0);
    let mut batch = Vec::new();
    while left > 0 {
        let path = directory.join(format!("{offset:020}.log"));
        let mut file = io::BufWriter::new(File::create(&path)?);
        log.segments.push((path, offset as u64));
        let mut room = SEGMENT.min(left);
        left -= room;
        while room > 0 {
            batch.clear();
            let count = BATCH / VALUE;
            offset += batches::append(&mut batch, offset, |out| {
                for i in 0..count {
                    record(out, i, Shape { timestamp_delta: 0, key: None, value: VALUE }, rng);
                }
                (count, 0)
            });
            file.write_all(&batch)?;
            room = room.saturating_sub(batch.len() as u64);
        }
        file.flush()?;
    }
    Ok(())
}

fn verify(log: &Log, options: Options) -> u64 {
    let open = |i: usize| -> io::Result<Job<File>> {
        let (path, first) = &log.segments[i];
        let validator = Validator::new(&kafka::Log).options(options).base_offset(Some(*first));
        Ok(Job { source: File::open(path)?, validator, sides: Vec::new() })
    };
    let mut bytes = 0;
    verify_all(log.segments.len(), log.threads, &open, &mut |_, verified| {
        let totals = verified.expect("the files can be read").log.totals;
        assert!(totals.is_valid(), "{totals:?}");
        bytes += totals.bytes;
        ControlFlow::Continue(())
    });
    bytes
}

fn read_all(log: &Log) -> io::Result<u64> {
    let (next, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let read = || -> io::Result<()> {
        let mut buffer = vec![0; READ];
        while let Some((path, _)) = log.segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut file = File::open(path)?;
            loop {
                let n = file.read(&mut buffer)?;
                bytes.fetch_add(n as u64, Ordering::Relaxed);
                if n == 0 {
                    break;
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> io::Result<()> {
        let threads: Vec<_> = (0..log.threads).map(|_| scope.spawn(read)).collect();
        threads.into_iter().try_for_each(|t| t.join().expect("no panic"))
    })?;
    Ok(bytes.into_inner())
}

/// The most memory that was resident since the last reset, KiB; 0 where that cannot be told.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

impl Drop for Log {
    fn drop(&mut self) {
        let Log { name, threads, peak_kib, .. } = self;
        let peak = *peak_kib as f64 / 1024.0;
        eprintln!("directory/{name}: {threads} threads, peak memory of the process {peak:.1} MiB");
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
