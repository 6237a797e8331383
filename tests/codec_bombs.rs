//! Streams that decompress to far more than they should: decoding stops at the limit, and so does the memory.

use batchwise::codec::{Codec, Compressor, Decoder};
use batchwise::kafka::{Log, NewRecord, RecordBatchBuilder};
use batchwise::{Depth, ErrorKind, Options, Validator};
use peak_alloc::PeakAlloc;
use std::sync::{Mutex, MutexGuard};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// One test at a time looks at the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

const MIB: usize = 1 << 20;

/// The result of `run` and the most memory that it had besides what was there, as far as it came from Rust's allocator;
/// [`resident`] tells what the libraries in C take.
fn peak_of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = run();
    (result, ALLOCATOR.peak_usage() - before)
}

fn codecs() -> impl Iterator<Item = Codec> {
    Codec::ALL.iter().copied().filter(|c| c.is_available())
}

fn compressed(codec: Codec, len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    Compressor::new(codec, None).unwrap().compress(&vec![0; len], &mut out).unwrap();
    out
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let _alone = alone();
    for codec in codecs() {
        let bomb = compressed(codec, 96 * MIB);
        for limit in [64 * MIB, 8 * MIB, 100_000, 1, 0] {
            let mut decoder = Decoder::new(limit);
            let (result, peak) = peak_of(|| decoder.decode(codec, &bomb).map(|d| d.bytes.len()));
            let failure = result.unwrap_err();
            assert_eq!(failure.error.kind(), ErrorKind::DecompressedTooLarge, "{codec} {limit}");
            assert!(peak < limit + MIB, "{codec}: {peak} bytes for a limit of {limit}");
        }
    }
}

#[test]
fn a_stream_within_the_limit_fits() {
    let _alone = alone();
    for codec in codecs() {
        for len in [0, 1, 70_000, 5 * MIB] {
            let stream = compressed(codec, len);
            for limit in [len, len + 1, 2 * len] {
                let mut decoder = Decoder::new(limit);
                let (result, peak) = peak_of(|| decoder.decode(codec, &stream).map(|d| d.bytes.to_vec()));
                assert!(result.is_ok_and(|bytes| bytes == vec![0; len]), "{codec} {len} {limit}");
                assert!(peak < limit + len + MIB, "{codec}: {peak} bytes for a limit of {limit}");
            }
            if len > 0 {
                let failure = Decoder::new(len - 1).decode(codec, &stream).unwrap_err();
                assert_eq!(failure.error.kind(), ErrorKind::DecompressedTooLarge, "{codec} {len}");
            }
        }
    }
}

#[test]
fn a_batch_that_is_a_bomb_is_found_to_be_one() {
    let _alone = alone();
    let value = vec![0; 48 * MIB];
    for codec in codecs() {
        let mut builder = RecordBatchBuilder::new().compression(codec, None).unwrap();
        builder.append(&NewRecord { timestamp: 1, value: Some(&value), ..NewRecord::default() }).unwrap();
        let batch = builder.finish().unwrap();
        drop(builder);
        let mut options = Options::default();
        options.max_decompressed = 16 * MIB;
        let (report, peak) = peak_of(|| Validator::new(&Log).options(options).validate(&batch));
        let kinds: Vec<_> = report.findings.iter().map(|f| f.defect.error.kind()).collect();
        assert_eq!(kinds, [ErrorKind::DecompressedTooLarge], "{codec}");
        assert!(peak < options.max_decompressed + MIB, "{codec}: {peak} bytes");
        options.depth = Depth::Checksums;
        assert!(Validator::new(&Log).options(options).validate(&batch).totals.is_valid(), "{codec}");
    }
}

/// Numbers in a stream that promise much more than follows.
#[test]
fn promises_size_nothing() {
    let _alone = alone();
    let streams: &[(Codec, &[u8])] = &[
        // A raw block of 4 GiB less 1.
        (Codec::Snappy, b"\xff\xff\xff\xff\x0f\0"),
        // A chunk of 512 MiB.
        (Codec::Snappy, b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\x20\0\0\0\xff"),
        // A frame of 2^60 bytes of content in blocks of 4 MiB.
        (Codec::Lz4, b"\x04\x22\x4d\x18\x68\x70\0\0\0\0\0\0\0\x10\x3f\0\0\x40\0"),
        // A frame of 2^62 bytes in one segment.
        (Codec::Zstd, b"\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x40\x01\0\0"),
        // A window of 127 MiB.
        (Codec::Zstd, b"\x28\xb5\x2f\xfd\0\x8f\x0d\0\0"),
        // Frames to be skipped of 4 GiB less 8, after which 32 bits are back at the start, and less 1.
        (Codec::Zstd, b"\x50\x2a\x4d\x18\xf8\xff\xff\xff"),
        (Codec::Zstd, b"\x28\xb5\x2f\xfd\0\0\x01\0\0\x5f\x2a\x4d\x18\xff\xff\xff\xff\0\0"),
        // ISIZE of 4 GiB less 1.
        (Codec::Gzip, b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\xff\xff\xff\xff"),
    ];
    for (codec, stream) in streams.iter().filter(|(codec, _)| codec.is_available()) {
        let mut decoder = Decoder::new(1 << 30);
        let (result, peak) = peak_of(|| decoder.decode(*codec, stream).map(|d| d.bytes.len()));
        assert!(result.is_err(), "{codec}: {result:?}");
        assert!(peak < MIB, "{codec}: {peak} bytes");
    }
}

/// What the whole process takes, C libraries included, by the count of the kernel: in a process of its own, where nothing
/// was freed before that could be taken again.
#[cfg(target_os = "linux")]
mod resident {
    use super::*;
    use std::path::Path;
    use std::process::Command;
    use std::{env, fs};

    /// Tells a child what to decode: codec, limit, file.
    const ORDER: &str = "BATCHWISE_TEST_BOMB";

    /// A line of `/proc/self/status`, in bytes.
    fn status(name: &str) -> usize {
        let text = fs::read_to_string("/proc/self/status").unwrap();
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).unwrap();
        1024 * line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap()
    }

    fn child(order: &str) {
        let [codec, limit, path] = order.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        let codec = codecs().find(|c| c.name() == codec).unwrap();
        let limit: usize = limit.parse().unwrap();
        let bomb = fs::read(path).unwrap();
        // Some kernels do not let a process forget its peak.
        if fs::write("/proc/self/clear_refs", "5").is_err() {
            println!("PEAK unknown");
            return;
        }
        let before = status("VmRSS");
        let failure = Decoder::new(limit).decode(codec, &bomb).unwrap_err();
        assert_eq!(failure.error.kind(), ErrorKind::DecompressedTooLarge);
        println!("PEAK {}", status("VmHWM").saturating_sub(before));
    }

    #[test]
    fn of_a_bomb_stays_within_the_limit() {
        if let Ok(order) = env::var(ORDER) {
            return child(&order);
        }
        let _alone = alone();
        for codec in codecs() {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bomb.{codec}"));
            fs::write(&path, compressed(codec, 96 * MIB)).unwrap();
            for limit in [64 * MIB, 8 * MIB, 100_000, 0] {
                let name = "resident::of_a_bomb_stays_within_the_limit";
                let order = format!("{} {limit} {}", codec.name(), path.display());
                let ran = Command::new(env::current_exe().unwrap())
                    .args(["--exact", name, "--nocapture", "--test-threads=1"])
                    .env(ORDER, order)
                    .output();
                // An emulated program may not be able to run another: it is told by an error, or, where the emulator makes
                // a copy of the process instead of sharing its memory, by the status with which the C library's child ends.
                let Some(ran) = ran.ok().filter(|ran| ran.status.code() != Some(127)) else {
                    println!("not measured: no other process can be run");
                    return;
                };
                let out = String::from_utf8_lossy(&ran.stdout).into_owned();
                assert!(ran.status.success(), "{codec} {limit}: {out}");
                let peak = out.lines().find_map(|l| l.split_once("PEAK ").map(|(_, peak)| peak)).expect("a peak");
                println!("{codec}: {peak} bytes for a limit of {limit}");
                if peak != "unknown" {
                    let peak: usize = peak.trim().parse().unwrap();
                    assert!(peak < limit + MIB, "{codec}: {peak} bytes for a limit of {limit}");
                    // The measure sees the output at least.
                    assert!(limit < MIB || peak > limit / 2, "{codec}: {peak} bytes for a limit of {limit}");
                }
            }
            fs::remove_file(&path).unwrap();
        }
    }
}
