//! However long a file, and whatever lengths it claims, memory stays bounded.
#![cfg(target_os = "linux")]

mod common;

use batchwise::kafka::{NewRecord, RecordBatchBuilder};
use common::faults::{status, with_hole};
use common::{SEGMENT, batches, command, directory, emulator, segment, write};
use std::fs::File;
use std::path::Path;

/// KiB.
const MOST: u64 = 64 << 10;
/// Where the second thread starts in a file.
const REGION: usize = 64 << 20;

/// Verifies with one and two threads; the exit codes, and the outputs, are the same.
fn peak_is_bounded(path: &Path, code: i32) -> serde_json::Value {
    let runs = ["1", "2"].map(|threads| {
        let args = ["verify".as_ref(), "--json".as_ref(), "--threads".as_ref(), threads.as_ref(), path.as_os_str()];
        // To a file, as nobody reads from a pipe meanwhile.
        let out = path.with_extension("out");
        let (mut peak, mut exit) = (0, None);
        // Of a process that is gone there is no peak to be read; the last look is shortly before. On a busy machine there
        // may have been none.
        while peak == 0 {
            let mut child = command().args(args).stdout(File::create(&out).expect("a file")).spawn().expect("it runs");
            while child.try_wait().expect("a child").is_none() {
                peak = peak.max(status(&child, "VmHWM", 10).unwrap_or(0));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            exit = child.wait().expect("a child").code();
        }
        let out = std::fs::read_to_string(&out).expect("the output");
        assert_eq!(exit, Some(code), "{threads} threads: {out:.2000}");
        println!("{threads} threads: at most {peak} KiB");
        // That of an emulator is its own, and what it translates.
        assert!(peak < MOST || !emulator().is_empty(), "{threads} threads took {peak} KiB");
        out
    });
    let [one, two] = runs;
    assert!(one == two, "two threads tell something else");
    serde_json::from_str(&one).expect("one line of JSON")
}

#[test]
fn of_a_long_log() {
    let dir = directory();
    let log = segment();
    let first = i64::from_be_bytes(log[..8].try_into().expect("eight bytes"));
    let places = batches(&log);
    let last = &log[places[places.len() - 1].0..];
    let (base, delta) = (last[..8].try_into().expect("eight bytes"), last[23..27].try_into().expect("four bytes"));
    let next = i64::from_be_bytes(base) + i64::from(i32::from_be_bytes(delta)) + 1;
    let mut long = Vec::new();
    while long.len() < 96 << 20 {
        // The base offset is outside the checksum: each copy goes on where the one before ended.
        let shift = i64::try_from(long.len() / log.len()).expect("a count") * (next - first);
        let from = long.len();
        long.extend_from_slice(&log);
        for (start, _) in &places {
            let at = from + start;
            let offset = i64::from_be_bytes(log[*start..start + 8].try_into().expect("eight bytes")) + shift;
            long[at..at + 8].copy_from_slice(&offset.to_be_bytes());
        }
    }
    assert_eq!(format!("{first:020}.log"), SEGMENT);
    let path = write(dir.path().join(SEGMENT), &long);
    let ran = peak_is_bounded(&path, 0);
    assert!(ran["batches"].as_u64().is_some_and(|n| n > 100_000));
}

#[test]
fn of_a_length_claimed_where_a_thread_starts() {
    let dir = directory();
    // A value holds what looks like the header of a batch of 512 MiB, just where the second thread begins to read.
    let mut builder = RecordBatchBuilder::new();
    let mut filler = Vec::new();
    builder.append(&NewRecord { value: Some(&vec![0x5A; 1 << 20]), ..NewRecord::default() }).expect("a record");
    builder.finish_into(&mut filler).expect("a batch");
    let mut log = Vec::new();
    let mut offset = 0_i64;
    let mut push = |log: &mut Vec<u8>, batch: &[u8]| {
        let at = log.len();
        log.extend_from_slice(batch);
        log[at..at + 8].copy_from_slice(&offset.to_be_bytes());
        offset += 1;
    };
    while log.len() + 2 * filler.len() < REGION {
        push(&mut log, &filler);
    }
    let mut value = vec![0x5A; 3 << 20];
    let value_at = 61 + 20;
    let claim = REGION - log.len() - value_at;
    let mut header = filler[..61].to_vec();
    header[..8].copy_from_slice(&100_i64.to_be_bytes());
    header[8..12].copy_from_slice(&(512_i32 << 20).to_be_bytes());
    for copy in 0..40 {
        // A few bytes apart, for wherever the value begins exactly.
        value[claim + copy * 61..][..61].copy_from_slice(&header);
    }
    let mut builder = RecordBatchBuilder::new();
    builder.append(&NewRecord { value: Some(&value), ..NewRecord::default() }).expect("a record");
    let mut holder = Vec::new();
    builder.finish_into(&mut holder).expect("a batch");
    push(&mut log, &holder);
    push(&mut log, &filler);
    let path = dir.path().join("00000000000000000000.log");
    let sound = log.len();
    with_hole(&path, &log, REGION as u64 + (600 << 20));
    let ran = peak_is_bounded(&path, 0);
    assert_eq!(ran["defects"][0]["offset"].as_u64(), Some(sound as u64), "{ran}");
}
