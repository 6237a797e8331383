//! `batchwise dump` from outside: its lines, options, damage and exit codes.

mod common;

use batchwise::crc32c::crc32c;
use common::{Ran, SEGMENT, batches, batchwise, command, data, directory, ran, segment, write};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

fn dump(args: &[&str], path: &Path) -> Ran {
    let mut all = vec![OsStr::new("dump")];
    all.extend(args.iter().map(|a| OsStr::new(*a)));
    all.push(path.as_os_str());
    batchwise(all)
}

/// The lines behind those that tell the file's name and number.
fn lines(ran: &Ran) -> Vec<&str> {
    ran.out.lines().skip_while(|l| l.starts_with("Dumping ") || l.starts_with("Log starting offset: ")).collect()
}

const FIRST: &str = "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 \
    producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false \
    deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000000 size: 92 magic: 2 compresscodec: none \
    crc: 3295775778 isvalid: true";

#[test]
fn the_lines_of_records_hold_what_is_asked_for() {
    let path = data("kafka/v2-none-counts/00000000000000000000.log");
    let record = "| offset: 0 CreateTime: 1700000000000 keySize: -1 valueSize: 24 sequence: -1 headerKeys: []";
    let cases: [(&[&str], &str); 7] = [
        (&["--records"], &format!("{record} payload: order11248golf papa pric")),
        (&["--print-data-log"], &format!("{record} payload: order11248golf papa pric")),
        (
            &["--records", "--value-format", "hex"],
            &format!("{record} payload: 6f726465723131323438676f6c6620706170612070726963"),
        ),
        (&["--records", "--value-format=base64"], &format!("{record} payload: b3JkZXIxMTI0OGdvbGYgcGFwYSBwcmlj")),
        (&["--deep-iteration"], record),
        (&["--keys"], record),
        (&["--records", "--skip-record-metadata"], " payload: order11248golf papa pric"),
    ];
    for (args, expected) in cases {
        let ran = dump(args, &path);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        assert_eq!(lines(&ran)[..2], [FIRST, expected], "{args:?}");
    }
}

#[test]
fn keys_and_headers_are_printed() {
    let path = data("kafka/v2-none-headers/00000000000000000000.log");
    let ran = dump(&["--records", "--headers", "--key-format", "hex"], &path);
    let start = "| offset: 1 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [trace-id]";
    assert_eq!(lines(&ran)[3], format!("{start} headers: [trace-id=abc123] key: 6b payload: v"));
    assert_eq!(lines(&dump(&["--keys"], &path))[3], format!("{start} key: k"));
    let json = &dump(&["--json", "--records", "--offset", "1"], &path).json()[0];
    assert_eq!(json["headers"], serde_json::json!([{"key": "trace-id", "value": "abc123", "value_format": "utf8"}]));
    assert_eq!((json["key"].as_str(), json["value"].as_str()), (Some("k"), Some("v")));
}

#[test]
fn the_options_of_kafka_dump_log_work() {
    let (a, b) =
        (data("kafka/v2-none-counts/00000000000000000000.log"), data("kafka/v2-none-10k/00000000000000005000.log"));
    let files = format!("{},{}", a.display(), b.display());
    let ran =
        batchwise(["dump", "--files", &files, "--deep-iteration", "--print-data-log", "--max-message-size", "1000"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with(&format!("Dumping {}\nLog starting offset: 0\n{FIRST}\n", a.display())));
    assert!(ran.out.contains(&format!("\nDumping {}\nLog starting offset: 5000\nbaseOffset: 5000 ", b.display())));
    // A batch that the limit cuts is not shown, and nothing is said of it.
    let ran = dump(&["--max-bytes", "300"], &a);
    assert_eq!((ran.code, ran.err.as_str(), lines(&ran).len()), (0, "", 2));
    assert_eq!(batchwise(["dump"]).code, 2, "no file");
}

#[test]
fn transaction_markers_are_decoded() {
    let ran = dump(&["--records"], &data("kafka/v2-transactions/00000000000000000000.log"));
    assert_eq!(ran.code, 0);
    let marker = |kind: &str| {
        let text = format!(" endTxnMarker: {kind} coordinatorEpoch: ");
        let (at, line) = ran.out.lines().enumerate().find(|(_, l)| l.contains(&text)).expect("a marker");
        assert!(
            line.starts_with("| offset: ")
                && line.contains(" keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxn")
        );
        assert!(!line.contains(" key: ") && !line.contains(" payload: "), "{line}");
        let batch = ran.out.lines().nth(at - 1).expect("its batch");
        assert!(batch.contains(" isTransactional: true isControl: true "), "{batch}");
    };
    marker("COMMIT");
    marker("ABORT");
    let ran = dump(&["--json", "--records"], &data("kafka/v2-transactions/00000000000000000000.log"));
    let controls: Vec<_> = ran.json().into_iter().filter(|l| !l["control"].is_null()).collect();
    assert!(controls.iter().any(|c| c["control"]["type"] == "COMMIT" && c["control"]["type_id"] == 1));
    assert!(controls.iter().all(|c| c["control"]["coordinator_epoch"].is_i64() && c["value"].is_null()));
}

/// A batch of one control record, its bytes as the format's specification has them.
fn control_batch(type_id: u8, value: &[u8]) -> Vec<u8> {
    // A length of up to 8191, zigzagged.
    let varint =
        |len: usize| if len < 64 { vec![len as u8 * 2] } else { vec![(len << 1) as u8 | 0x80, (len >> 6) as u8] };
    let record = [&[0, 0, 0, 8, 0, 0, 0, type_id][..], &varint(value.len()), value, &[0]].concat();
    let record = [varint(record.len()), record].concat();
    let mut covered = 0x20i16.to_be_bytes().to_vec();
    covered.extend([0; 4]);
    covered.extend([0, 0, 0, 0, 0, 0, 0, 7].repeat(2));
    covered.extend([0xFF; 14]);
    covered.extend([0, 0, 0, 1]);
    covered.extend(record);
    let mut batch = vec![0; 8];
    batch.extend((covered.len() as u32 + 9).to_be_bytes());
    batch.extend([0, 0, 0, 1, 2]);
    batch.extend(crc32c(&covered).to_be_bytes());
    batch.extend(covered);
    batch
}

#[test]
fn records_of_kraft_are_decoded() {
    let voter = |id: u8| [&[0, 0, 0, id][..], &[0; 15], &[id], &[0]].concat();
    let change = [&[0, 1, 0, 0, 0, 2, 3][..], &voter(1), &voter(2), &[2], &voter(2), &[0]].concat();
    let mut voters = vec![0, 0, 2, 0, 0, 0, 1];
    voters.extend([0; 15]);
    voters.extend([255, 2, 2, b'C', 3, b'h', b'1', 0x23, 0x85, 0, 0, 0, 0, 1, 0, 0, 0]);
    let header = [&[0; 2][..], &1_700_000_000_123i64.to_be_bytes(), &[0]].concat();
    let cases = [
        (
            2,
            change,
            r#" LeaderChange: {"version":1,"leaderId":2,"voters":[{"voterId":1,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAQ"},{"voterId":2,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAg"}],"grantingVoters":[{"voterId":2,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAAAg"}]}"#,
        ),
        (3, header, r#" SnapshotHeader {"version":0,"lastContainedLogTimestamp":1700000000123}"#),
        (4, vec![0, 0, 0], r#" SnapshotFooter {"version":0}"#),
        (5, vec![0, 0, 0, 1, 0], r#" KRaftVersion {"version":0,"kRaftVersion":1}"#),
        (
            6,
            voters,
            r#" KRaftVoters {"version":0,"voters":[{"voterId":1,"voterDirectoryId":"AAAAAAAAAAAAAAAAAAAA_w","endpoints":[{"name":"C","host":"h1","port":9093}],"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}"#,
        ),
        (9, vec![], " controlType: UNKNOWN(9)"),
    ];
    let dir = directory();
    let path = dir.path().join("00000000000000000012-0000000004.checkpoint");
    for (type_id, value, expected) in cases {
        write(&path, &control_batch(type_id, &value));
        let ran = dump(&["--records"], &path);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let all: Vec<_> = ran.out.lines().collect();
        assert_eq!(all[1], "Snapshot end offset: 12, epoch: 4");
        let size = value.len();
        let start = format!("| offset: 0 CreateTime: 7 keySize: 4 valueSize: {size} sequence: -1 headerKeys: []");
        assert_eq!(all[3..], [format!("{start}{expected}")]);
        let json = &dump(&["--json", "--records"], &path).json()[0]["control"];
        assert_eq!(json["type_id"], type_id);
        if let Some((_, data)) = expected.split_once('{') {
            let data: serde_json::Value = serde_json::from_str(&format!("{{{data}")).expect("JSON");
            assert_eq!(json["data"], data);
        }
    }
    // A value that is cut off is damage, and its type is told all the same.
    write(&path, &control_batch(3, &[0, 0, 1]));
    let ran = dump(&["--records"], &path);
    assert_eq!(ran.code, 1);
    assert!(ran.out.ends_with(" headerKeys: [] controlType: SNAPSHOT_HEADER(3)\n"), "{}", ran.out);
    assert!(ran.err.contains("ControlValueInvalid"), "{}", ran.err);
    let bootstrap = write(dir.path().join("bootstrap.checkpoint"), &control_batch(4, &[0, 0, 0]));
    assert!(dump(&[], &bootstrap).out.contains("\nKRaft bootstrap snapshot\nbaseOffset: 0 "));
}

#[test]
fn ranges_select_batches_and_records() {
    let path = data("kafka/v2-none-counts/00000000000000000000.log");
    // Batches hold the offsets 0, 1 to 2, 3 to 5, 6 to 105 and so on; 620 records in all.
    let offsets = |args: &[&str]| {
        let ran = dump(&[&["--json", "--records"], args].concat(), &path);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        let all: Vec<_> = ran.json().iter().map(|l| l["offset"].as_i64().expect("an offset")).collect();
        all
    };
    assert_eq!(offsets(&["--offset", "2..4"]), [2, 3, 4]);
    assert_eq!(offsets(&["--offset", "7"]), [7]);
    assert_eq!(offsets(&["--offset", "..1"]), [0, 1]);
    assert_eq!(offsets(&["--offset", "617.."]), [617, 618, 619]);
    assert_eq!(offsets(&["--offset", "620.."]), [0i64; 0]);
    assert_eq!(offsets(&[]), (0..620).collect::<Vec<_>>());
    assert_eq!(lines(&dump(&["--offset", "2..4"], &path)).len(), 2);
    assert_eq!(lines(&dump(&["--offset", "2..4", "--records"], &path)).len(), 2 + 3);
    // The third of each batch has a timestamp 2 ms behind the first.
    assert_eq!(offsets(&["--timestamp", "1700000000002", "--offset", "..105"]), [5, 8]);
    assert_eq!(offsets(&["--timestamp", "..1699999999999"]), [0i64; 0]);
    assert_eq!(lines(&dump(&["--timestamp", "1700000000002.."], &path)).len(), 6);
    for wrong in ["5..2", "..", "x", "1-2"] {
        assert_eq!(dump(&["--offset", wrong], &path).code, 2, "{wrong}");
    }
}

#[test]
fn damage_is_told_and_the_rest_is_printed() {
    let dir = directory();
    let mut log = segment();
    let places = batches(&log);
    let path = dir.path().join(SEGMENT);
    let sound = dump(&[], &write(&path, &log)).out;
    // A flipped byte in one batch, and another overwritten as a whole.
    log[places[7].1 - 3] ^= 0x40;
    log[places[100].0..places[101].0].fill(0xEE);
    let ran = dump(&[], &write(&path, &log));
    assert_eq!(ran.code, 1);
    let expected: Vec<_> = sound
        .lines()
        .enumerate()
        .filter(|(i, _)| *i != 102)
        .map(|(i, l)| if i == 9 { l.replace("isvalid: true", "isvalid: false") } else { l.to_owned() })
        .collect();
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), expected);
    assert!(ran.err.contains(&format!("(batch 7 at byte {})", places[7].0)), "{}", ran.err);
    assert!(ran.err.contains(&format!(" at byte {}", places[100].0)), "{}", ran.err);
    let json = dump(&["--json"], &path);
    assert_eq!((json.code, json.json().len()), (1, 299));
    assert_eq!(json.json()[7]["valid"], false);
    // Records of what is sound are all there.
    let records = dump(&["--json", "--records"], &path);
    let valid = records.json().iter().filter(|l| l["valid"] == true).count();
    let count = |line: &str| line.split(" count: ").nth(1).and_then(|l| l.split(' ').next()?.parse().ok()).unwrap_or(0);
    let lost: usize = [9, 102].map(|i| count(sound.lines().nth(i).expect("a line"))).iter().sum();
    assert_eq!(valid, 784 - lost);
}

#[test]
fn a_torn_tail_is_told_as_kafka_does() {
    let dir = directory();
    let log = segment();
    let (start, end) = batches(&log)[299];
    let path = write(dir.path().join(SEGMENT), &log[..end - 5]);
    let ran = dump(&[], &path);
    assert_eq!(ran.code, 1);
    let last = format!("Found {} invalid bytes at the end of {SEGMENT}", end - 5 - start);
    assert_eq!(ran.out.lines().last(), Some(last.as_str()));
    assert_eq!(ran.out.lines().count(), 2 + 299 + 1);
    assert!(ran.err.contains("TornTail"), "{}", ran.err);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = directory();
    let log = segment().repeat(40);
    let path = write(dir.path().join("00000000000123456789.log"), &log);
    let mut child = command()
        .args([OsStr::new("dump"), OsStr::new("--format=kafka"), path.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut begin = [0; 10];
    child.stdout.take().expect("a pipe").read_exact(&mut begin).expect("output");
    let code = child.wait().expect("it ends").code();
    assert_eq!((&begin, code), (b"Dumping /t", Some(2)));
    let sound = data("kafka/v2-none-10k/00000000000000005000.log");
    let mut child = command()
        .args([OsStr::new("dump"), OsStr::new("--records"), sound.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let ran = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.err.as_str(), ran.code), ("", 2), "nothing is said");
}

#[test]
fn what_is_no_log_is_told() {
    let dir = directory();
    let text = write(dir.path().join("notes.txt"), b"no log");
    let log = dir.path().join("00000000000000000000.log.deleted");
    let whole = std::fs::read(data("kafka/v2-none-counts/00000000000000000000.log")).expect("a log");
    write(&log, &whole);
    let ran = batchwise([OsStr::new("dump"), text.as_os_str(), log.as_os_str()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("notes.txt"), "{}", ran.err);
    assert!(ran.out.contains(FIRST), "the next file is printed");
    assert_eq!(dump(&[], &dir.path().join("missing.log")).code, 2);
    let empty = write(dir.path().join("00000000000000000777.log"), b"");
    let ran = dump(&[], &empty);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ran.out, format!("Dumping {}\nLog starting offset: 777\n", empty.display()));
    // In a directory only logs are printed.
    let index = data("iggy/segments/small/00000000000000000000.index");
    write(dir.path().join("below/00000000000000000000.index"), &std::fs::read(index).expect("an index"));
    let ran = dump(&[], &dir.path().join("below"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("no logs in this directory"), "{}", ran.err);
}

#[test]
fn directories_are_searched_and_segments_out_of_range_passed_over() {
    let path = data("iggy/segments/chain");
    let ran = dump(&[], &path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let of = |ran: &Ran| ran.out.lines().filter(|l| l.starts_with("Dumping ")).count();
    assert_eq!(of(&ran), 2);
    assert_eq!(of(&dump(&["--offset", "..1938"], &path)), 1);
    assert_eq!(of(&dump(&["--offset", "1939"], &path)), 1);
    assert_eq!(of(&dump(&["--offset", "1938..1939"], &path)), 2);
    let records = dump(&["--json", "--records", "--offset", "1938..1939"], &path).json();
    let offsets: Vec<_> = records.iter().map(|l| l["offset"].as_u64()).collect();
    assert_eq!(offsets, [Some(1938), Some(1939)]);
}

#[test]
fn older_messages_of_iggy_are_printed() {
    let ran = dump(&["--records"], &data("iggy/legacy/00000000000000005000.log"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let start = "offset: 5000 position: 0 timestamp: 1770000000000000 originTimestamp: 1769999999000000 size: 65";
    assert_eq!(lines(&ran)[0], format!("{start} checksum: 0x74f6fb377ff1fba5 isvalid: true"));
    assert_eq!(ran.out.lines().filter(|l| l.starts_with("offset: ")).count(), 40);
    assert_eq!(ran.out.lines().filter(|l| l.starts_with("| offset: ")).count(), 40);
}
