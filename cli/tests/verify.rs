//! `batchwise verify` from outside: every option and every exit code.

mod common;

use common::{SEGMENT, batches, batchwise, data, directory, segment, write};
use std::path::Path;

fn verify(args: &[&str], path: &Path) -> common::Ran {
    let mut all = vec!["verify".as_ref()];
    all.extend(args.iter().map(|a| std::ffi::OsStr::new(*a)));
    all.push(path.as_os_str());
    batchwise(all)
}

#[test]
fn sound_segments_are_valid() {
    for path in [
        "kafka/v2-none-counts",
        "kafka/v2-transactions",
        "kafka/v2-zstd-counts",
        "kafka/v1-gzip",
        "iggy/segments/chain",
    ] {
        let ran = verify(&[], &data(path));
        assert_eq!(ran.code, 0, "{path}: {}", ran.out);
        assert!(ran.out.contains("all valid"), "{}", ran.out);
        assert_eq!(ran.err, "");
    }
}

#[test]
fn json_has_one_object_per_file() {
    let ran = verify(&["--json"], &data("kafka/v2-many-small-batches"));
    assert_eq!(ran.code, 0);
    let lines = ran.json();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert!(line["path"].as_str().is_some_and(|p| p.ends_with(SEGMENT)));
    assert_eq!(line["format"], "kafka");
    assert_eq!(line["bytes"], segment().len());
    assert_eq!((line["batches"].as_u64(), line["records"].as_u64()), (Some(300), Some(784)));
    assert_eq!(line["valid"], true);
    assert_eq!(line["defects"], serde_json::json!([]));
    let keys: Vec<_> = line.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["batches", "bytes", "defects", "format", "path", "records", "valid"]);
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let dir = directory();
    let mut log = segment();
    let (start, end) = batches(&log)[7];
    log[end - 3] ^= 0x40;
    let path = write(dir.path().join(SEGMENT), &log);
    let ran = verify(&["--json"], &path);
    assert_eq!(ran.code, 1);
    let line = &ran.json()[0];
    assert_eq!(line["valid"], false);
    assert_eq!(line["batches"], 300);
    let defect = &line["defects"][0];
    assert_eq!(defect["batch"], 7);
    assert_eq!(defect["offset"], start + 17);
    assert_eq!((defect["field"].as_str(), defect["kind"].as_str()), (Some("crc"), Some("CrcMismatch")));
    assert_eq!(defect["severity"], "error");
    let message = defect["message"].as_str().expect("a message");
    assert!(message.contains("stored 0x") && message.contains("computed 0x"), "{message}");

    let ran = verify(&[], &path);
    assert_eq!(ran.code, 1);
    for part in
        ["DAMAGED", "crc at byte", "stored 0x", "computed 0x", &format!("batch 7 at byte {start}"), "1 file damaged"]
    {
        assert!(ran.out.contains(part), "no {part:?} in {}", ran.out);
    }
    // What no checksum is compared for is not found.
    assert_eq!(verify(&["--depth", "frames"], &path).code, 0);
    assert_eq!(verify(&["--depth", "checksums"], &path).code, 1);
}

#[test]
fn batches_of_one_directory_are_told_in_order_for_any_number_of_threads() {
    let dir = directory();
    let log = segment();
    for i in 0..20_u64 {
        let mut log = log.clone();
        if i % 4 == 1 {
            log[1000 + i as usize * 977] ^= 1;
        }
        write(dir.path().join(format!("topic-{}/{:020}.log", i % 3, 1000 + i)), &log);
    }
    let one = verify(&["--json", "--threads", "1"], dir.path());
    assert_eq!(one.code, 1);
    assert_eq!(one.json().len(), 20);
    for threads in ["2", "8"] {
        assert_eq!(verify(&["--json", "--threads", threads], dir.path()).out, one.out);
    }
    let human = verify(&[], dir.path());
    for part in ["topic-0", "topic-1", "topic-2", "20 files", "5 files damaged"] {
        assert!(human.out.contains(part), "no {part:?} in {}", human.out);
    }
}

#[test]
fn fail_fast_stops_at_the_first_damage() {
    let dir = directory();
    let mut log = segment();
    for at in [5000, 20_000, 40_000] {
        log[at] ^= 2;
    }
    write(dir.path().join("00000000000123456789.log"), &log);
    write(dir.path().join("00000000000123456780.log"), &log);
    let all = verify(&["--json"], dir.path());
    assert!(all.json().iter().all(|l| l["defects"].as_array().is_some_and(|d| d.len() >= 3)));
    let ran = verify(&["--json", "--fail-fast"], dir.path());
    assert_eq!(ran.code, 1);
    let lines = ran.json();
    assert_eq!(lines.len(), 1);
    let errors = lines[0]["defects"].as_array().expect("a list").iter().filter(|d| d["severity"] == "error").count();
    assert_eq!(errors, 1);
}

#[test]
fn a_torn_tail_is_damage_unless_a_broker_is_writing() {
    let dir = directory();
    let log = segment();
    let (_, end) = batches(&log)[200];
    let old = write(dir.path().join("00000000000000000007.log"), &log[..end]);
    write(dir.path().join(SEGMENT), &log[..end + 30]);
    let ran = verify(&["--json"], dir.path());
    assert_eq!(ran.code, 1);
    let defect = &ran.json()[1]["defects"][0];
    assert_eq!((defect["kind"].as_str(), defect["offset"].as_u64()), (Some("TornTail"), Some(end as u64)));
    assert_eq!(defect["batch"], serde_json::Value::Null);
    let ran = verify(&["--json", "--live"], dir.path());
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.json()[1]["valid"], true);
    // The older segment is not written any more.
    write(&old, &log[..end + 30]);
    assert_eq!(verify(&["--live"], dir.path()).code, 1);
    assert_eq!(verify(&["--live"], &old).code, 1, "there is a newer one beside it");
}

#[test]
fn nothing_to_check_is_no_success() {
    let dir = directory();
    let empty = write(dir.path().join("empty.bin"), b"");
    let segment_name = write(dir.path().join("partition-0/00000000000000000000.log"), b"");
    let text = write(dir.path().join("notes.log"), b"2026-01-01 INFO started\n");
    let missing = dir.path().join("missing.log");
    std::fs::create_dir(dir.path().join("bare")).expect("a directory");
    let bare = dir.path().join("bare");
    for (path, message) in [
        (&empty, "empty file"),
        (&segment_name, "nothing was checked"),
        (&text, "text file"),
        (&missing, "No such file"),
        (&bare, "no segment files"),
    ] {
        for json in [&["--json"][..], &[]] {
            let ran = verify(json, path);
            assert_eq!(ran.code, 2, "{}: {}", path.display(), ran.out);
            assert!(ran.err.contains(message), "{}: {}", path.display(), ran.err);
        }
    }
    assert_eq!(batchwise(["verify"]).code, 2);
    assert_eq!(batchwise(["verify", "--depth", "deep", "x"]).code, 2);
    assert_eq!(batchwise(["verify", "--threads", "0", "x"]).code, 2);
    assert_eq!(batchwise(["frobnicate"]).code, 2);
    // An empty segment beside one with batches is fine.
    write(dir.path().join("partition-0/00000000000123456789.log"), &segment());
    assert_eq!(verify(&[], &dir.path().join("partition-0")).code, 0);
}

#[test]
fn a_binary_file_without_a_batch_is_damaged() {
    let dir = directory();
    let mut noise = Vec::new();
    let mut state = 1_u64;
    while noise.len() < 20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        noise.extend((state >> 32).to_le_bytes());
    }
    for bytes in [&noise[..], &noise[..30], &[0; 4096]] {
        let path = write(dir.path().join("some.bin"), bytes);
        let ran = verify(&["--json"], &path);
        assert_eq!(ran.code, 1, "{} bytes: {} {}", bytes.len(), ran.out, ran.err);
        assert_eq!(ran.json()[0]["batches"], 0);
    }
}

#[test]
fn what_cannot_be_read_does_not_hide_what_can() {
    let dir = directory();
    let good = write(dir.path().join(SEGMENT), &segment());
    let missing = dir.path().join("missing");
    let paths = [good.as_os_str(), missing.as_os_str()];
    let ran = batchwise(["verify".as_ref(), "--json".as_ref(), paths[0], paths[1]]);
    assert_eq!((ran.code, ran.json().len()), (2, 1));
    let mut log = segment();
    log[700] ^= 8;
    let bad = write(dir.path().join("bad.log"), &log);
    let ran = batchwise(["verify".as_ref(), bad.as_os_str(), paths[1]]);
    assert_eq!(ran.code, 1, "damage that was found outweighs what could not be read");
}

#[test]
fn the_format_can_be_told() {
    let log = data("iggy/segments/small/00000000000000000000.log");
    let ran = verify(&["--json", "--format", "iggy"], &log);
    assert_eq!((ran.code, ran.json()[0]["format"].as_str().map(str::to_owned)), (0, Some("iggy".to_owned())));
    let ran = verify(&["--json"], &log);
    assert_eq!(ran.json()[0]["batches"], 60);
    assert_eq!(ran.json()[0]["records"], 599);
    assert_eq!(verify(&["--format", "kafka"], &log).code, 1);
    let ran = verify(&["--json"], &data("iggy/legacy"));
    assert_eq!(ran.json()[0]["format"], "iggy-64");
}

#[test]
fn rules_differ_by_origin() {
    let dir = directory();
    let log = segment();
    let code = |path: &Path| ["stored", "replica", "client"].map(|origin| verify(&["--origin", origin], path).code);
    // A base offset: from a broker, not from a producer.
    let path = write(dir.path().join(SEGMENT), &log);
    assert_eq!(code(&path), [0, 0, 1]);
    assert!(verify(&["--json", "--origin", "client"], &path).out.contains("BaseOffsetNotZero"));
    // Offsets below the number in the file's name: only where the file is the broker's own.
    let path = write(dir.path().join("00000000000999999999.log"), &log);
    assert_eq!(code(&path), [1, 0, 1]);
    assert!(verify(&["--json"], &path).out.contains("OffsetBelowSegmentBase"));
    // One batch from offset 0 on is what a producer sends.
    let mut one = log[..batches(&log)[0].1].to_vec();
    one[..8].fill(0);
    assert_eq!(code(&write(dir.path().join("request.bin"), &one)), [0, 0, 0]);
}

#[test]
fn rules_differ_by_conformance() {
    let dir = directory();
    let mut log = segment();
    let code = |path: &Path| ["strict", "reference"].map(|rules| verify(&["--conformance", rules], path).code);
    assert_eq!(code(&write(dir.path().join(SEGMENT), &log)), [0, 0]);
    // The same offsets twice: readers of Kafka do not look.
    let places = batches(&log);
    let (before, at) = (places[4].0, places[5].0);
    log.copy_within(before..before + 8, at);
    let path = write(dir.path().join(SEGMENT), &log);
    assert_eq!(code(&path), [1, 0]);
    assert!(verify(&["--json", "--conformance", "reference"], &path).out.contains("OffsetOverlap"));
    // A checksum that does not match is refused by both.
    log[places[0].1 - 1] ^= 1;
    assert_eq!(code(&write(dir.path().join(SEGMENT), &log)), [1, 1]);
}

#[test]
fn indexes_are_compared_with_the_log() {
    let dir = directory();
    let log = segment();
    let base = 123_456_789_i64;
    let mut index = Vec::new();
    let mut positions = Vec::new();
    for (start, _) in batches(&log).into_iter().skip(3).step_by(20) {
        let offset = i64::from_be_bytes(log[start..start + 8].try_into().expect("eight bytes"));
        let delta = i32::from_be_bytes(log[start + 23..start + 27].try_into().expect("four bytes"));
        index.extend(((offset - base) as i32 + delta).to_be_bytes());
        index.extend((start as i32).to_be_bytes());
        positions.push(start);
    }
    index.extend([0; 64]);
    write(dir.path().join(SEGMENT), &log);
    let index_path = dir.path().join("00000000000123456789.index");
    write(&index_path, &index);
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json().len()), (0, 1), "an index that is right is not worth a line: {}", ran.out);
    let ran = verify(&["--json"], &index_path);
    assert_eq!((ran.code, ran.json().len()), (0, 1), "unless it is asked for");
    assert_eq!(ran.json()[0]["format"], "kafka index");

    let mut wrong = index.clone();
    wrong[8 + 7] ^= 1;
    write(&index_path, &wrong);
    let ran = verify(&["--json"], dir.path());
    assert_eq!(ran.code, 1);
    let lines = ran.json();
    assert_eq!(lines[0]["valid"], true);
    assert_eq!(lines[1]["defects"][0]["kind"], "IndexPositionInvalid");
    assert_eq!(lines[1]["defects"][0]["offset"], 12);

    let mut wrong = index.clone();
    wrong[16 + 3] ^= 1;
    write(&index_path, &wrong);
    let ran = verify(&["--json"], dir.path());
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.json()[1]["defects"][0]["kind"], "IndexOffsetMismatch");
    assert_eq!(ran.json()[1]["defects"][0]["severity"], "warning");

    write(&index_path, &index[..index.len() - 3]);
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json()[1]["defects"][0]["kind"].as_str()), (1, Some("IndexSizeInvalid")));

    write(&index_path, &index);
    write(dir.path().join("00000000000000000007.timeindex"), &[0; 12]);
    let ran = verify(&["--json"], dir.path());
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("OrphanIndex"), "{}", ran.out);
}

#[test]
fn an_index_of_iggy_is_compared_with_its_log() {
    let dir = directory();
    let read = |name: &str| std::fs::read(data("iggy/segments/small").join(name)).expect("test data");
    let (log, index) = (read("00000000000000000000.log"), read("00000000000000000000.index"));
    write(dir.path().join("00000000000000000000.log"), &log);
    let path = dir.path().join("00000000000000000000.index");
    // Each entry: base offset, base timestamp, position, of eight bytes.
    for (at, field, kind) in [
        (24, "base_offset", "IndexOffsetMismatch"),
        (32, "base_timestamp", "TimeIndexMismatch"),
        (40, "position", "IndexPositionInvalid"),
    ] {
        let mut wrong = index.clone();
        wrong[at] ^= 1;
        write(&path, &wrong);
        let ran = verify(&["--json"], dir.path());
        let line = &ran.json()[1];
        assert_eq!((ran.code, line["format"].as_str(), line["valid"].as_bool()), (1, Some("iggy index"), Some(false)));
        let defect = &line["defects"][0];
        let found = (defect["kind"].as_str(), defect["field"].as_str(), defect["offset"].as_u64());
        assert_eq!(found, (Some(kind), Some(field), Some(at as u64)), "{line}");
    }

    let mut twice = index.clone();
    twice.copy_within(..24, 24);
    write(&path, &twice);
    let ran = verify(&["--json"], dir.path());
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()[1]["defects"][0]["kind"], "IndexNotMonotonic", "{}", ran.out);

    write(&path, &index[..index.len() - 3]);
    let ran = verify(&["--json"], dir.path());
    let defect = &ran.json()[1]["defects"][0];
    assert_eq!(
        (ran.code, defect["kind"].as_str(), defect["severity"].as_str()),
        (0, Some("IndexSizeInvalid"), Some("warning"))
    );
}

#[test]
fn an_index_without_its_log_is_told_by_its_content() {
    let dir = directory();
    let index = std::fs::read(data("iggy/segments/small/00000000000000000000.index")).expect("an index");
    write(dir.path().join("00000000000000000000.index"), &index);
    for (args, code, format) in [
        (&["--json"][..], 0, "iggy index"),
        (&["--json", "--format", "iggy"], 0, "iggy index"),
        (&["--json", "--format", "kafka"], 1, "kafka index"),
    ] {
        let ran = verify(args, dir.path());
        assert_eq!((ran.code, ran.json()[0]["format"].as_str()), (code, Some(format)), "{}", ran.out);
    }
}

#[test]
fn a_damaged_start_hides_no_log_in_a_directory() {
    let dir = directory();
    let mut log = segment();
    log[16] = 9;
    write(dir.path().join("some.log"), &log);
    write(dir.path().join("server.log"), b"2026-01-01 INFO started\n");
    write(dir.path().join("gc.log"), b"");
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json().len()), (1, 1), "{}", ran.out);
    assert_eq!(ran.json()[0]["defects"][0]["kind"], "MagicUnknown");
}

#[test]
fn transaction_indexes_and_snapshots_are_checked() {
    let dir = directory();
    write(dir.path().join(SEGMENT), &segment());
    let mut txn = Vec::new();
    for (first, last) in [(123_456_790_i64, 123_456_800_i64), (123_456_795, 123_456_810)] {
        txn.extend(0_i16.to_be_bytes());
        txn.extend([9_i64, first, last, first].iter().flat_map(|n| n.to_be_bytes()));
    }
    write(dir.path().join("00000000000123456789.txnindex"), &txn);
    let mut snapshot = 1_i32.to_be_bytes().to_vec();
    snapshot.extend([0; 46]);
    let crc = batchwise::crc32c::crc32c(&snapshot);
    let snapshot = [&1_i16.to_be_bytes()[..], &crc.to_be_bytes(), &snapshot].concat();
    let snapshot_path = dir.path().join("00000000000123457000.snapshot");
    write(&snapshot_path, &snapshot);
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json().len()), (0, 1), "{}", ran.out);
    txn.truncate(34);
    txn.extend_from_within(..);
    write(dir.path().join("00000000000123456789.txnindex"), &txn);
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json()[1]["defects"][0]["kind"].as_str()), (1, Some("TxnIndexInvalid")));
    let mut bad = snapshot.clone();
    bad[20] ^= 1;
    write(&snapshot_path, &bad);
    let ran = verify(&["--json"], &snapshot_path);
    assert_eq!((ran.code, ran.json()[0]["defects"][0]["kind"].as_str()), (1, Some("ProducerSnapshotCorrupt")));
}

#[test]
fn snapshots_of_metadata_are_read() {
    let dir = directory();
    let log = std::fs::read(data("kafka/v2-kraft-control/00000000000000000000.log"));
    let Ok(log) = log else { return };
    write(dir.path().join("00000000000000000042-0000000003.checkpoint"), &log);
    write(dir.path().join("bootstrap.checkpoint"), &log);
    let ran = verify(&["--json"], dir.path());
    assert_eq!((ran.code, ran.json().len()), (0, 2), "{}", ran.out);
}

#[test]
fn help_completions_and_manual_come_from_the_arguments() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = batchwise(["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("--fail-fast") || ran.out.contains("fail-fast"), "{shell}");
    }
    assert_eq!(batchwise(["completions", "tcsh"]).code, 2);
    let man = batchwise(["man"]);
    assert_eq!(man.code, 0);
    for part in [".TH batchwise", "conformance", "Exit status", ".SH \"VERIFY\"", ".SS NOTES", "BATCHWISE_KERNEL"] {
        assert!(man.out.contains(part), "no {part} in the manual");
    }
    assert!(!man.out.contains("batchwise\\-verify(1)"), "there is no such page");
    assert!(!man.out.contains(".SS NOTES\n.SH"), "a heading of nothing");
    let help = batchwise(["verify", "--help"]);
    assert_eq!(help.code, 0);
    for option in ["--json", "--depth", "--format", "--conformance", "--origin", "--threads", "--fail-fast", "--live"] {
        assert!(help.out.contains(option), "{option}");
    }
}
