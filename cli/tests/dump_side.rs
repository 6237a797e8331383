//! `batchwise dump` of indexes and snapshots, made by hand from the formats' tables.

mod common;

use batchwise::crc32c::crc32c;
use common::{Ran, batchwise, data, directory, write};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn dump(args: &[&str], path: &Path) -> Ran {
    let mut all = vec![OsStr::new("dump")];
    all.extend(args.iter().map(|a| OsStr::new(*a)));
    all.push(path.as_os_str());
    batchwise(all)
}

const NUMBER: &str = "00000000000000000000";

/// A log whose batches start at 0, 92, 215 and 369 and end with the offsets 0, 2, 5 and 105; their greatest timestamps are
/// 1700000000000 and 0, 1, 2 and 99 ms more.
fn log_in(directory: &Path) {
    let log = std::fs::read(data(&format!("kafka/v2-none-counts/{NUMBER}.log"))).expect("a log");
    write(directory.join(format!("{NUMBER}.log")), &log);
}

fn index(directory: &Path, entries: &[(i32, i32)]) -> PathBuf {
    let bytes: Vec<_> = entries.iter().flat_map(|(o, p)| [o.to_be_bytes(), p.to_be_bytes()].concat()).collect();
    write(directory.join(format!("{NUMBER}.index")), &bytes)
}

fn time_index(directory: &Path, entries: &[(i64, i32)]) -> PathBuf {
    let entry = |(t, o): &(i64, i32)| [&t.to_be_bytes()[..], &o.to_be_bytes()].concat();
    write(directory.join(format!("{NUMBER}.timeindex")), &entries.iter().flat_map(entry).collect::<Vec<_>>())
}

#[test]
fn an_index_that_fits_its_log() {
    let dir = directory();
    log_in(dir.path());
    // The zeros of one that was preallocated end it.
    let path = index(dir.path(), &[(2, 92), (105, 369), (0, 0), (0, 0)]);
    let ran = dump(&[], &path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ran.out, format!("Dumping {}\noffset: 2 position: 92\noffset: 105 position: 369\n", path.display()));
    let ran = dump(&["--verify-index-only"], &path);
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (0, format!("Dumping {}\n", path.display()), ""));
    let ran = dump(&["--index-sanity-check"], &path);
    assert_eq!(ran.out, format!("Dumping {0}\n{0} passed sanity check.\n", path.display()));
    let json = dump(&["--json", "--offset", "105"], &path).json();
    let expected = serde_json::json!([{"path": path.display().to_string(), "format": "kafka index", "offset": 105, "position": 369}]);
    assert_eq!(serde_json::Value::Array(json), expected);
    let path = index(dir.path(), &[]);
    assert_eq!(dump(&[], &path).out, format!("Dumping {0}\n{0} is empty.\n", path.display()));
}

#[test]
fn indexes_that_differ_from_their_log() {
    let dir = directory();
    log_in(dir.path());
    let path = index(dir.path(), &[(2, 92), (4, 215)]);
    let ran = dump(&[], &path);
    assert_eq!(ran.code, 0, "as for kafka-dump-log, and a follower may have written it");
    assert!(ran.out.ends_with("\noffset: 4 position: 215\n"));
    assert_eq!(ran.err, format!("Mismatches in :{}\n  Index offset: 4, log offset: 5\n", path.display()));
    let path = index(dir.path(), &[(2, 92), (5, 216)]);
    let ran = dump(&[], &path);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("offset 5 points at byte 216"), "{}", ran.err);

    const T: i64 = 1_700_000_000_000;
    let path = time_index(dir.path(), &[(T, 0), (T + 7, 2), (T + 2, 5), (T + 99, 100)]);
    let ran = dump(&[], &path);
    let lines = format!(
        "Dumping {}\ntimestamp: {T} offset: 0\ntimestamp: 1700000000007 offset: 2\ntimestamp: 1700000000002 offset: 5\n\
         timestamp: 1700000000099 offset: 100\n",
        path.display()
    );
    assert_eq!(ran.out, lines);
    let remarks = format!(
        "Found timestamp mismatch in :{0}\n  Index timestamp: 1700000000007, log timestamp: 1700000000001\n\
         Found out of order timestamp in :{0}\n  Index timestamp: 1700000000002, Previously indexed timestamp: \
         1700000000007\nThe following indexed offsets are not found in the log.\nIndexed offset: 100, found log offset: 105\n",
        path.display()
    );
    assert!(ran.err.ends_with(&remarks), "{}", ran.err);
    assert_eq!(ran.code, 1, "a time index that goes back is damaged");
    std::fs::remove_file(dir.path().join(format!("{NUMBER}.log"))).expect("the log");
    let path = time_index(dir.path(), &[(T, 0)]);
    let ran = dump(&[], &path);
    assert_eq!(ran.code, 0, "what is there is printed: {}", ran.err);
    assert!(ran.out.ends_with("\ntimestamp: 1700000000000 offset: 0\n") && ran.err.contains("no log beside it"));
}

#[test]
fn aborted_transactions_and_producers() {
    let dir = directory();
    let mut entry = vec![0, 0];
    [100i64, 5, 17, 12].iter().for_each(|n| entry.extend(n.to_be_bytes()));
    let path = write(dir.path().join(format!("{NUMBER}.txnindex")), &entry);
    let ran = dump(&[], &path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let line = "version: 0 producerId: 100 firstOffset: 5 lastOffset: 17 lastStableOffset: 12";
    assert_eq!(ran.out, format!("Dumping {}\n{line}\n", path.display()));
    assert_eq!(dump(&["--json"], &path).json()[0]["last_stable_offset"], 12);

    let producer =
        |id: i64, epoch: i16, sequence: i32, offset: i64, delta: i32, time: i64, coordinator: i32, first: i64| {
            let mut entry = id.to_be_bytes().to_vec();
            entry.extend(epoch.to_be_bytes());
            entry.extend(sequence.to_be_bytes());
            entry.extend(offset.to_be_bytes());
            entry.extend(delta.to_be_bytes());
            entry.extend(time.to_be_bytes());
            entry.extend(coordinator.to_be_bytes());
            entry.extend(first.to_be_bytes());
            entry
        };
    // One amid a transaction whose sequence numbers wrapped, and one without data.
    let entries = [producer(7, 2, 3, 41, 9, 1000, 5, 38), producer(8, 0, -1, -1, 0, 2000, -1, -1)].concat();
    let covered = [&2i32.to_be_bytes()[..], &entries].concat();
    let snapshot = [&[0, 1][..], &crc32c(&covered).to_be_bytes(), &covered].concat();
    let path = write(dir.path().join("00000000000000000042.snapshot"), &snapshot);
    let ran = dump(&[], &path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines = [
        format!("Dumping {}", path.display()),
        "producerId: 7 producerEpoch: 2 coordinatorEpoch: 5 currentTxnFirstOffset: OptionalLong[38] lastTimestamp: 1000 \
         firstSequence: 2147483642 lastSequence: 3 lastOffset: 41 offsetDelta: 9 timestamp: 1000"
            .to_owned(),
        "producerId: 8 producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: OptionalLong.empty lastTimestamp: \
         2000 "
            .to_owned(),
    ];
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), lines);
    let json = dump(&["--json"], &path).json();
    assert_eq!(
        (&json[0]["first_sequence"], &json[0]["current_txn_first_offset"]),
        (&2_147_483_642i64.into(), &38.into())
    );
    assert!(json[1]["last_offset"].is_null() && json[1]["current_txn_first_offset"].is_null());
    // The entries of a damaged one are printed all the same.
    let mut damaged = snapshot.clone();
    damaged[20] ^= 1;
    let ran = dump(&[], &write(&path, &damaged));
    assert_eq!((ran.code, ran.out.lines().count()), (1, 3));
    assert!(ran.err.contains("ProducerSnapshotCorrupt crc at byte 2"), "{}", ran.err);
    // One that is cut off has no entries to rely on beyond its end.
    let ran = dump(&[], &write(&path, &snapshot[..30]));
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1));
}

#[test]
fn iggy_index_entries() {
    let path = data("iggy/segments/small/00000000000000000000.index");
    let ran = dump(&[], &path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let expected = "offset: 64 timestamp: 1795982450423584 position: 12522";
    assert_eq!(ran.out.lines().nth(2), Some(expected));
    assert_eq!(ran.out.lines().count(), 1 + 216 / 24);
    let json = &dump(&["--json", "--offset=64"], &path).json()[0];
    assert_eq!(
        (json["position"].as_u64(), json["base_timestamp"].as_u64()),
        (Some(12522), Some(1_795_982_450_423_584))
    );
}
