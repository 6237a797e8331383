//! `batchwise dump` on every vector of Kafka's and on Iggy's, against what those programs' own code said of them.

mod common;
#[path = "../../tests/vectors/mod.rs"]
mod vectors;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{Ran, batchwise, data, directory, write};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vectors::hex;

fn dump(args: &[&str], path: &Path) -> Ran {
    let mut all = vec!["dump".as_ref()];
    all.extend(args.iter().map(|a| std::ffi::OsStr::new(*a)));
    all.push(path.as_os_str());
    batchwise(all)
}

/// Every segment: what the manifest says, and the file.
fn segments(directory: &Path) -> Vec<(Value, PathBuf)> {
    let files = vectors::files("java");
    let manifest = vectors::json(&files["manifest.json"]);
    let mut out = Vec::new();
    for segment in manifest["segments"].as_array().expect("segments") {
        let name = segment["file"].as_str().expect("a name");
        // The archive leaves the largest ones out.
        if let Some(bytes) = files.get(name) {
            out.push((segment.clone(), write(directory.join(name), bytes)));
        }
    }
    assert!(out.len() > 50, "{} segments", out.len());
    out
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The line that the reference prints of a batch, from the numbers that its classes read.
fn batch_line(b: &Value) -> String {
    let text = |name: &str| b[name].to_string().trim_matches('"').to_owned();
    let horizon = match &b["deleteHorizonMs"] {
        Value::Null => "OptionalLong.empty".to_owned(),
        n => format!("OptionalLong[{n}]"),
    };
    let start = if b["magic"] == 2 {
        format!(
            "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: {} producerEpoch: {} \
             partitionLeaderEpoch: {} isTransactional: {} isControl: {} deleteHorizonMs: {horizon}",
            b["baseOffset"],
            b["lastOffset"],
            b["count"],
            b["baseSequence"],
            b["lastSequence"],
            b["producerId"],
            b["producerEpoch"],
            b["leaderEpoch"],
            b["isTransactional"],
            b["isControl"],
        )
    } else {
        format!("offset: {}", b["lastOffset"])
    };
    format!(
        "{start} position: {} {}: {} size: {} magic: {} compresscodec: {} crc: {} isvalid: {}",
        b["position"],
        text("timestampType"),
        b["maxTimestamp"],
        b["size"],
        b["magic"],
        text("codec"),
        b["crc"],
        b["isValid"],
    )
}

/// The line of a record without what only a checksum of its own tells, or `None` if the manifest keeps its content short.
fn record_line(batch: &Value, r: &Value) -> Option<(String, String)> {
    let bytes = |v: &Value| match v {
        Value::Null => Some(None),
        Value::String(text) => Some(Some(STANDARD.decode(text).expect("base64"))),
        _ => None,
    };
    let (key, value) = (bytes(&r["key"])?, bytes(&r["value"])?);
    let size = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(-1, |b| b.len() as i64);
    let mut start = format!(
        "| offset: {} {}: {} keySize: {} valueSize: {}",
        r["offset"],
        batch["timestampType"].as_str()?,
        r["timestamp"],
        size(&key),
        size(&value),
    );
    if batch["magic"] == 2 {
        let keys: Vec<_> = array(&r["headers"]).iter().map(|h| h[0].as_str().expect("a key")).collect();
        start += &format!(" sequence: {} headerKeys: [{}]", r["sequence"], keys.join(","));
    } else {
        start += " isValid: true crc: ";
    }
    let mut end = String::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(key) = key {
        end += &format!(" key: {}", text(&key));
    }
    if let Some(value) = value {
        end += &format!(" payload: {}", text(&value));
    }
    Some((start, end))
}

#[test]
fn batches_have_the_lines_of_the_reference() {
    let dir = directory();
    let mut count = 0;
    for (segment, path) in segments(dir.path()) {
        let ran = dump(&[], &path);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", path.display());
        let base: u64 = path.file_stem().and_then(|s| s.to_str()).expect("a name").parse().expect("a number");
        let mut expected = vec![format!("Dumping {}", path.display()), format!("Log starting offset: {base}")];
        expected.extend(array(&segment["batches"]).iter().map(batch_line));
        count += expected.len() - 2;
        assert_eq!(ran.out.lines().collect::<Vec<_>>(), expected, "{}", path.display());
    }
    assert!(count > 700, "{count} batches");
}

#[test]
fn records_have_the_lines_of_the_reference() {
    let dir = directory();
    let mut count = 0;
    for (segment, path) in segments(dir.path()) {
        let ran = dump(&["--records"], &path);
        assert_eq!(ran.code, 0, "{}: {}", path.display(), ran.err);
        // Values may hold ends of lines.
        let mut rest = ran.out.as_str();
        for batch in array(&segment["batches"]) {
            let line = batch_line(batch) + "\n";
            rest = &rest[rest.find(&line).unwrap_or_else(|| panic!("{line} in {}", path.display())) + line.len()..];
            if batch["isControl"] == true {
                continue;
            }
            for record in array(&batch["records"]) {
                let Some((start, end)) = record_line(batch, record) else { continue };
                let at = rest.find(&start).unwrap_or_else(|| panic!("{start} in {}", path.display()));
                let mut behind = &rest[at + start.len()..];
                if batch["magic"] != 2 {
                    let (crc, after) = behind.split_once('}').expect("a brace");
                    assert!(crc.parse::<u32>().is_ok(), "{crc}");
                    let alone = batch["codec"] == "none";
                    assert!(!alone || crc.parse::<u64>().ok() == batch["crc"].as_u64());
                    behind = after;
                }
                let line = format!("{end}\n");
                assert!(behind.starts_with(&line), "{start}{end} in {}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 1500, "{count} records");
}

/// The canonical line of a record, from its JSON with everything in hexadecimal digits.
fn canonical(r: &Value) -> String {
    let part = |v: &Value| v.as_str().unwrap_or("-").to_owned();
    let headers: Vec<_> = array(&r["headers"])
        .iter()
        .map(|h| format!("{}={}", hex(h["key"].as_str().expect("a key").as_bytes()), part(&h["value"])))
        .collect();
    let sequence = r["sequence"].as_i64().unwrap_or(-1);
    let (key, value) = (part(&r["key"]), part(&r["value"]));
    format!("{}|{}|{sequence}|{key}|{value}|{}\n", r["offset"], r["timestamp"], headers.join(","))
}

#[test]
fn json_holds_every_record_of_the_reference() {
    let dir = directory();
    let mut count = 0;
    for (segment, path) in segments(dir.path()) {
        let ran = dump(&["--json", "--records", "--key-format", "hex", "--value-format", "hex"], &path);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", path.display());
        let mut by_batch: BTreeMap<u64, (u64, Sha256)> = BTreeMap::new();
        for record in ran.json() {
            assert_eq!(record["path"], path.display().to_string());
            assert_eq!(record["format"], "kafka");
            assert_eq!(record["valid"], true);
            let (records, digest) = by_batch.entry(record["position"].as_u64().expect("a place")).or_default();
            *records += 1;
            digest.update(canonical(&record));
        }
        for batch in array(&segment["batches"]) {
            let read = batch["recordsRead"].as_u64().expect("a count");
            let (records, digest) = by_batch.remove(&batch["position"].as_u64().expect("a place")).unwrap_or_default();
            assert_eq!(records, read, "{} {}", path.display(), batch["label"]);
            if batch["isControl"] != true {
                assert_eq!(hex(&digest.finalize()), batch["recordsSha256"], "{} {}", path.display(), batch["label"]);
            }
            count += records;
        }
        assert!(by_batch.is_empty());
    }
    assert!(count > 50_000, "{count} records");
}

#[test]
fn json_holds_every_header_of_the_reference() {
    // Name in our output and in the manifest.
    const FIELDS: [(&str, &str); 12] = [
        ("position", "position"),
        ("size", "size"),
        ("magic", "magic"),
        ("valid", "isValid"),
        ("crc", "crc"),
        ("last_offset", "lastOffset"),
        ("codec", "codec"),
        ("timestamp_type", "timestampType"),
        ("max_timestamp", "maxTimestamp"),
        ("count", "count"),
        ("delete_horizon_ms", "deleteHorizonMs"),
        ("format", "format"),
    ];
    const CURRENT: [(&str, &str); 8] = [
        ("base_offset", "baseOffset"),
        ("partition_leader_epoch", "leaderEpoch"),
        ("producer_id", "producerId"),
        ("producer_epoch", "producerEpoch"),
        ("base_sequence", "baseSequence"),
        ("last_sequence", "lastSequence"),
        ("is_transactional", "isTransactional"),
        ("is_control", "isControl"),
    ];
    let dir = directory();
    for (segment, path) in segments(dir.path()) {
        let ran = dump(&["--json"], &path);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let (lines, batches) = (ran.json(), array(&segment["batches"]));
        assert_eq!(lines.len(), batches.len(), "{}", path.display());
        for (line, batch) in lines.iter().zip(batches) {
            for (ours, theirs) in FIELDS.iter().filter(|(ours, _)| *ours != "format") {
                assert_eq!(line[ours], batch[theirs], "{} {}: {ours}", path.display(), batch["label"]);
            }
            for (ours, theirs) in CURRENT.iter().filter(|_| batch["magic"] == 2) {
                assert_eq!(line[ours], batch[theirs], "{} {}: {ours}", path.display(), batch["label"]);
            }
        }
    }
}

#[test]
fn iggy_batches_are_those_of_the_server() {
    let manifest = vectors::json(&std::fs::read(data("iggy/manifest.json")).expect("a manifest"));
    for segment in array(&manifest["segments"]) {
        let path = data("iggy").join(segment["log"].as_str().expect("a log"));
        let ran = dump(&["--json"], &path);
        let lines: Vec<_> = ran.json().into_iter().filter(|l| l["valid"] == true).collect();
        let text = dump(&[], &path);
        for batch in array(&segment["batches"]) {
            let Some(line) = lines.iter().find(|l| l["position"] == batch["at"]) else {
                panic!("{batch} in {}", path.display())
            };
            let messages = batch["messages"].as_u64().expect("a count");
            let first = batch["base_offset"].as_u64().expect("an offset");
            let checksum = format!("0x{}", batch["batch_checksum"].as_str().expect("a checksum"));
            assert_eq!(line["format"], "iggy");
            assert_eq!(line["size"], batch["length"]);
            assert_eq!(line["count"], messages);
            assert_eq!(line["base_offset"], first);
            assert_eq!(line["last_offset"], first + messages - 1);
            assert_eq!(line["base_timestamp"], batch["base_timestamp"]);
            assert_eq!(line["checksum"], checksum);
            let start = format!("baseOffset: {first} lastOffset: {} count: {messages} ", first + messages - 1);
            let end = format!(" size: {} checksum: {checksum} isvalid: true", batch["length"]);
            assert!(text.out.lines().any(|l| l.starts_with(&start) && l.ends_with(&end)), "{start}...{end}");
        }
    }
}

#[test]
fn iggy_messages_are_those_of_the_client() {
    let manifest = vectors::json(&std::fs::read(data("iggy/manifest.json")).expect("a manifest"));
    let mut count = 0;
    for batch in array(&manifest["batches"]) {
        let frames = array(&batch["frames"]);
        let name = batch["file"].as_str().expect("a name");
        let path = data("iggy").join(name);
        if batch["count"] != frames.len() || batch["verdict"]["rev2"]["decode"]["ok"] != true {
            continue;
        }
        let ran = dump(&["--json", "--records", "--value-format=hex"], &path);
        if ran.code == 2 {
            // Some are not told by their bytes alone.
            continue;
        }
        let bytes = std::fs::read(&path).expect("a batch");
        // Some entries are of what the server made of the batch in the file.
        if vectors::sha256(&bytes) != batch["sha256"] {
            continue;
        }
        let number = |name: &str| batch["header"][name].as_str().expect("a number").parse::<u64>().expect("a number");
        let lines = ran.json();
        assert_eq!(lines.len(), frames.len(), "{name}: {}", ran.err);
        for (line, frame) in lines.iter().zip(frames) {
            let field = |name: &str| frame[name].as_u64().expect("a number");
            let id = u128::from_str_radix(frame["id"].as_str().expect("an id"), 16).expect("an id");
            assert_eq!(line["id"], id.to_string(), "{name}");
            assert_eq!(line["checksum"], format!("0x{}", frame["checksum"].as_str().expect("a checksum")));
            assert_eq!(line["offset"], number("base_offset").saturating_add(field("offset_delta")), "{name}");
            assert_eq!(line["timestamp"], number("base_timestamp"));
            assert_eq!(line["origin_timestamp"], number("origin_timestamp").saturating_add(field("timestamp_delta")));
            assert_eq!(line["payload_size"], field("payload_length"));
            assert_eq!(line["headers_size"], field("user_headers_length"));
            let start = field("at") as usize + 48;
            assert_eq!(line["payload"], hex(&bytes[start..start + field("payload_length") as usize]), "{name}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} messages");
}
