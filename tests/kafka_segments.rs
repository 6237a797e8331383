//! Every valid segment and every client's batches, record by record against their manifests.

mod vectors;

use batchwise::codec::Decoder;
use batchwise::kafka::{ControlRecord, Log, Message, RecordBatch, TimestampType};
use batchwise::{Severity, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};
use vectors::read::{Entry, digest, entries};
use vectors::{files, hex, json, sha256};

fn assert_header(entry: &Entry<'_>, batch: &Value, name: &str) {
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    if entry.bytes[16] != 2 {
        let message = Message::parse(entry.bytes, 0).unwrap();
        assert_eq!(batch["magic"], message.header().magic(), "{name}");
        assert_eq!(batch["crc"], message.header().crc(), "{name}");
        assert_eq!(batch["lastOffset"], message.header().offset(), "{name}");
        assert_eq!(batch["codec"], codecs[usize::from(message.codec())], "{name}");
        let kind = message.timestamp_type().map_or("NoTimestampType", TimestampType::name);
        assert_eq!(batch["timestampType"], kind, "{name}");
        assert_eq!(batch["maxTimestamp"], message.timestamp().unwrap_or(-1), "{name}");
        return;
    }
    let parsed = RecordBatch::parse(entry.bytes, 0).unwrap();
    let (header, attributes) = (parsed.header(), parsed.attributes());
    assert_eq!(batch["crc"], header.crc(), "{name}");
    assert_eq!(batch["baseOffset"], header.base_offset(), "{name}");
    assert_eq!(batch["lastOffset"], parsed.last_offset(), "{name}");
    assert_eq!(batch["count"], header.records_count(), "{name}");
    assert_eq!(batch["leaderEpoch"], header.partition_leader_epoch(), "{name}");
    assert_eq!(batch["producerId"], header.producer_id(), "{name}");
    assert_eq!(batch["producerEpoch"], header.producer_epoch(), "{name}");
    assert_eq!(batch["baseSequence"], header.base_sequence(), "{name}");
    assert_eq!(batch["isTransactional"], attributes.is_transactional(), "{name}");
    assert_eq!(batch["isControl"], attributes.is_control(), "{name}");
    assert_eq!(batch["codec"], codecs[usize::from(parsed.codec())], "{name}");
    assert_eq!(batch["timestampType"], attributes.timestamp_type().name(), "{name}");
    assert_eq!(batch["maxTimestamp"], header.max_timestamp(), "{name}");
    let horizon = attributes.has_delete_horizon().then_some(header.base_timestamp());
    assert_eq!(batch["deleteHorizonMs"], serde_json::json!(horizon), "{name}");
    let Some(first) = entry.is_control().then(|| parsed.records().unwrap().next()).flatten() else { return };
    let control = ControlRecord::parse(&first.unwrap()).unwrap();
    let expected = &batch["control"];
    assert_eq!(expected["type"], control.name(), "{name}");
    assert_eq!(expected["typeId"], control.type_id(), "{name}");
    match control {
        ControlRecord::Abort { coordinator_epoch } | ControlRecord::Commit { coordinator_epoch } => {
            assert_eq!(expected["coordinatorEpoch"], coordinator_epoch, "{name}");
        }
        ControlRecord::LeaderChange { leader_id, .. } => assert_eq!(expected["leaderId"], leader_id, "{name}"),
        ControlRecord::SnapshotHeader { last_contained_log_timestamp, .. } => {
            assert_eq!(expected["lastContainedLogTimestamp"], last_contained_log_timestamp, "{name}");
        }
        ControlRecord::SnapshotFooter { version } => assert_eq!(expected["version"], version, "{name}"),
        ControlRecord::KRaftVersion { kraft_version, .. } => {
            assert_eq!(expected["kRaftVersion"], kraft_version, "{name}");
        }
        ControlRecord::KRaftVoters { voters, .. } => assert_eq!(expected["voters"], voters, "{name}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn java_segments_read_as_their_manifest_says() {
    let files = files("java");
    let mut decoder = Decoder::default();
    let mut seen = 0;
    for segment in json(&files["manifest.json"])["segments"].as_array().unwrap() {
        let name = segment["name"].as_str().unwrap();
        let Some(bytes) = files.get(segment["file"].as_str().unwrap()) else { continue };
        seen += 1;
        assert_eq!(segment["sha256"], sha256(bytes), "{name}");
        let entries = entries(bytes, &mut decoder).unwrap_or_else(|e| panic!("{name}: {e}"));
        let batches = segment["batches"].as_array().unwrap();
        assert_eq!(entries.len(), batches.len(), "{name}");
        for (entry, batch) in entries.iter().zip(batches) {
            let name = format!("{name} at {}", entry.position);
            assert_eq!(batch["position"], entry.position, "{name}");
            assert_eq!(batch["size"], entry.bytes.len(), "{name}");
            assert_eq!(batch["recordsRead"], entry.records.len(), "{name}");
            assert_eq!(batch["recordsSha256"], digest(&entry.records), "{name}");
            assert_header(entry, batch, &name);
        }
        let report = Validator::new(&Log).validate(bytes);
        let odd: Vec<_> = report.findings.iter().filter(|f| f.defect.severity == Severity::Error).collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
        assert_eq!(report.totals.records, segment["recordCount"].as_u64().unwrap(), "{name}");
    }
    assert!(seen >= 50, "{seen} segments");
}

/// Feeds a length and as many bytes, -1 for null.
fn feed(digest: &mut Sha256, bytes: Option<&[u8]>) {
    digest.update(bytes.map_or(-1, |b| b.len() as i32).to_be_bytes());
    digest.update(bytes.unwrap_or_default());
}

/// Digests of contents, timestamps and offsets, as the clients' index defines them.
fn digests(entries: &[Entry<'_>]) -> [String; 3] {
    let (mut contents, mut timestamps, mut offsets) = (Sha256::new(), Sha256::new(), Sha256::new());
    for record in entries.iter().filter(|e| !e.is_control()).flat_map(|e| &e.records) {
        feed(&mut contents, record.key.as_deref());
        feed(&mut contents, record.value.as_deref());
        contents.update((record.headers.len() as i32).to_be_bytes());
        for (key, value) in &record.headers {
            feed(&mut contents, Some(key));
            feed(&mut contents, value.as_deref());
        }
        timestamps.update(record.timestamp.to_be_bytes());
        offsets.update(record.offset.to_be_bytes());
    }
    [contents, timestamps, offsets].map(|d| hex(&d.finalize()))
}

/// The files that Kafka's own reader refuses, and why, in our words.
const REFUSED: &[(&str, &str)] = &[
    ("framing-variants/lz4-linked.log", LINKED),
    (
        "framing-variants/lz4-skippable-first.log",
        "frame magic at byte 61: the header of the compressed stream is invalid",
    ),
    ("framing-variants/lz4-two-frames.log", "another frame, which readers leave out"),
    ("framing-variants/v1-lz4-old-hc.log", "HC at byte 40: stored 0x0000001a, computed 0x00000082"),
    ("framing-variants/v2-lz4-old-hc.log", "HC at byte 67: stored 0x0000001a, computed 0x00000082"),
    ("kafka-python-1.3.5/large-v1-lz4.log", LINKED),
];
const LINKED: &str = "blocks that refer to the blocks before them are not supported";

#[test]
fn clients_batches_read_as_requested() {
    let files = files("clients");
    let index = String::from_utf8(files["index.tsv"].clone()).unwrap();
    let mut lines = index.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    let columns = lines.next().unwrap();
    let (mut read, mut refused) = (0, 0);
    for fields in lines {
        let field = |name: &str| fields[columns.iter().position(|c| *c == name).unwrap()];
        let (name, verdict) = (field("file"), field("kafka_clients_3.9.2"));
        let bytes = &files[name];
        assert_eq!(field("file_sha256"), sha256(bytes), "{name}");
        let report = Validator::new(&Log).validate(bytes);
        let error = report.findings.iter().find(|f| f.defect.severity == Severity::Error).map(|f| f.defect.error);
        let linked_too = entries(bytes, &mut Decoder::default().linked_blocks(true));
        if verdict == "rejects" {
            refused += 1;
            assert!(error.is_some(), "{name} is refused");
            let reason = REFUSED.iter().find(|(file, _)| *file == name).map(|(_, reason)| *reason);
            let said: Vec<String> = report.findings.iter().map(|f| f.defect.error.to_string()).collect();
            assert!(said.iter().any(|s| reason.is_some_and(|r| s.contains(r))), "{name}: {said:?}");
            if reason != Some(LINKED) {
                continue;
            }
        } else {
            assert!(error.is_none(), "{name}: {error:?}");
            read += 1;
        }
        let entries = linked_too.unwrap_or_else(|e| panic!("{name}: {e}"));
        let [contents, timestamps, offsets] = digests(&entries);
        let count = |control| {
            entries.iter().filter(|e| e.is_control() == control).map(|e| e.records.len()).sum::<usize>().to_string()
        };
        assert_eq!((field("records"), field("control_records")), (&*count(false), &*count(true)), "{name}");
        assert_eq!(field("batches"), entries.len().to_string(), "{name}");
        assert_eq!(field("content_sha256"), contents, "{name}");
        assert_eq!(field("offsets_sha256"), offsets, "{name}");
        // One client writes timestamps that do not read back as it was asked to write them.
        if verdict == "agrees" || verdict == "rejects" {
            assert_eq!(field("timestamps_sha256"), timestamps, "{name}");
        }
    }
    assert!(read > 400 && refused == REFUSED.len(), "{read} read, {refused} refused");
}
