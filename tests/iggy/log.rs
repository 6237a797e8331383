//! Segments: the strict walk, the recovery walk, the index.

use crate::support::{edit, file, json, list, number, text};
use batchwise::iggy::{
    Batches, FrameList, IndexCheck, Recovered, Revision, ServerError, check_log, decode, index_entries, recover_log,
};
use batchwise::{Detail, ErrorKind, Validator};
use serde_json::Value;

fn strict_verdict(log: &[u8], start_offset: u64, wanted: &Value) {
    let found = check_log(log, start_offset, Revision::R1, &mut FrameList::default());
    let (summary, refused) = match found {
        Ok(summary) => (summary, None),
        Err(e) => (Default::default(), Some(e)),
    };
    let Some(name) = wanted["error"].as_str() else {
        assert_eq!(refused, None);
        assert_eq!(summary.end_offset, number(wanted, "end_offset"));
        assert_eq!(summary.start_timestamp, number(wanted, "start_timestamp"));
        assert_eq!(summary.end_timestamp, number(wanted, "end_timestamp"));
        assert_eq!(summary.max_timestamp, number(wanted, "max_timestamp"));
        assert_eq!(index_entries(&summary.index).len() as u64, number(wanted, "index_entries"));
        return;
    };
    let e = refused.expect("a refusal");
    match name {
        "Empty" => assert_eq!(e.error.kind(), ErrorKind::LogEmpty),
        "Batch" => {
            assert_eq!(e.position, number(wanted, "position"));
            let empty = e.error.kind() == ErrorKind::BatchEmpty;
            let error = if empty { ServerError::InvalidMessagesCount } else { ServerError::of(&e.error) };
            assert_eq!(error.name(), text(wanted, "source"));
        }
        "BaseOffsetMismatch" | "NonContiguous" => {
            let first = name == "BaseOffsetMismatch";
            let kind = if first { ErrorKind::BaseOffsetMismatch } else { ErrorKind::OffsetsNotContiguous };
            let (expected, found) = (number(wanted, "expected"), number(wanted, "actual"));
            assert_eq!((e.error.kind(), e.error.detail()), (kind, Detail::Expected { expected, found }));
        }
        other => panic!("no error {other}"),
    }
}

fn recovery_verdict(log: &[u8], index: &[u8], start_offset: u64, wanted: &Value) {
    let found = recover_log(log, index, start_offset, Revision::R1, &mut FrameList::default());
    match found {
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::IndexPositionInvalid);
            assert_eq!(text(wanted, "error"), "RecoveredSegmentSizeDivergence");
        }
        Ok(None) => assert_eq!((&wanted["ok"], &wanted["empty"]), (&Value::Bool(true), &Value::Bool(true))),
        Ok(Some(found)) => {
            let wanted = Recovered {
                readable_bytes: number(wanted, "readable_bytes"),
                end_offset: number(wanted, "end_offset"),
                start_timestamp: number(wanted, "start_timestamp"),
                end_timestamp: number(wanted, "end_timestamp"),
            };
            assert_eq!(found, wanted);
        }
    }
}

#[test]
fn every_log_gets_iggys_verdict() {
    let all = json("segment_mutations.json");
    for mutation in list(&all, "mutations") {
        println!("{} {}", mutation["id"], mutation["note"]);
        let [mut log, mut index] = ["log", "index"].map(|key| file(text(mutation, key)).expect("a file"));
        edit(&mut log, list(mutation, "log_ops"));
        edit(&mut index, list(mutation, "index_ops"));
        let sizes = (log.len() as u64, index.len() as u64);
        assert_eq!(sizes, (number(mutation, "log_size"), number(mutation, "index_size")));
        let start_offset = number(mutation, "start_offset");
        strict_verdict(&log, start_offset, &mutation["strict"]);
        recovery_verdict(&log, &index, start_offset, &mutation["recovery"]);
    }
    assert_eq!(list(&all, "mutations").len() as u64, number(&all, "count"));
}

/// Batches and index entries of a segment are those of the manifest; returns what the index check says.
fn segment(entry: &Value) -> Vec<batchwise::Error> {
    let [log, index] = ["log", "index"].map(|key| file(text(entry, key)).expect("a file"));
    let wanted: Vec<_> = list(entry, "index_entries").iter().collect();
    let found: Vec<_> = index_entries(&index).collect();
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        let numbers = [found.base_offset(), found.base_timestamp(), found.position()];
        assert_eq!(numbers, ["offset", "timestamp", "position"].map(|key| number(wanted, key)));
    }
    let mut check = IndexCheck::new(&index);
    let mut errors = Vec::new();
    let mut frames = FrameList::default();
    let behind = entry.get("batches_after_gap").and_then(Value::as_array).into_iter().flatten();
    let mut messages = 0;
    for wanted in list(entry, "batches").iter().chain(behind) {
        let at = number(wanted, "at") as usize;
        let batch = decode(&log[at..], at as u64, Revision::R1, &mut frames).expect("a sound batch");
        assert_eq!(batch.bytes().len() as u64, number(wanted, "length"));
        assert_eq!(batch.header().base_offset(), number(wanted, "base_offset"));
        assert_eq!(frames.len() as u64, number(wanted, "messages"));
        messages += frames.len() as u64;
        check.batch(at as u64, batch.header(), &mut |e| errors.push(e));
    }
    check.finish(&mut |e| errors.push(e));
    let report = Validator::new(&Batches::R1).validate(&log);
    assert_eq!(report.totals.records, messages);
    errors
}

#[test]
fn segments_are_those_of_the_manifest() {
    let manifest = json("manifest.json");
    for entry in list(&manifest, "segments") {
        let errors = segment(entry);
        if text(entry, "log").contains("torn_gap") {
            // The entry that the server wrote after its restart points at the junk.
            let kinds: Vec<_> = errors.iter().map(|e| (e.kind(), e.field(), e.offset())).collect();
            assert_eq!(kinds, [(ErrorKind::IndexPositionInvalid, "position", 9 * 24 + 16)]);
        } else {
            assert_eq!(errors, []);
        }
    }
}

#[test]
fn a_rebuilt_index_passes_and_damaged_ones_do_not() {
    let log = file("segments/chain/00000000000000000000.log").expect("a file");
    let index = check_log(&log, 0, Revision::R2, &mut FrameList::default()).expect("a sound log").index;
    let check = |index: &[u8]| {
        let mut check = IndexCheck::new(index);
        let mut kinds = Vec::new();
        let mut at = 0;
        while at < log.len() {
            let batch = decode(&log[at..], at as u64, Revision::R2, &mut FrameList::default()).expect("a batch");
            check.batch(at as u64, batch.header(), &mut |e| kinds.push((e.kind(), e.offset())));
            at += batch.bytes().len();
        }
        check.finish(&mut |e| kinds.push((e.kind(), e.offset())));
        kinds
    };
    assert_eq!(check(&index), []);
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut index = index.clone();
        change(&mut index);
        check(&index)
    };
    assert_eq!(damaged(&|i| i.truncate(50)), [(ErrorKind::IndexSizeInvalid, 48)]);
    assert_eq!(damaged(&|i| i[24] ^= 1), [(ErrorKind::IndexOffsetMismatch, 24)]);
    assert_eq!(damaged(&|i| i[32] ^= 1), [(ErrorKind::TimeIndexMismatch, 32)]);
    assert_eq!(damaged(&|i| i[40] ^= 1), [(ErrorKind::IndexPositionInvalid, 40)]);
    assert_eq!(damaged(&|i| i.extend([0xFF; 24])), [(ErrorKind::IndexPositionInvalid, 12 * 24 + 16)]);
    // An entry twice is out of order.
    assert_eq!(damaged(&|i| drop(i.splice(24..24, i[..24].to_vec()))), [(ErrorKind::IndexNotMonotonic, 40)]);
    // 24 zero bytes are an entry, and point at the first batch with another time.
    assert_eq!(check(&[0; 24]), [(ErrorKind::TimeIndexMismatch, 8)]);
    assert_eq!(check(&[]), []);
}

#[test]
fn offsets_at_the_end_of_the_space_are_refused() {
    use batchwise::iggy::{NewMessage, Stamp, encode, stamp};
    let (mut log, mut frames) = (Vec::new(), FrameList::default());
    encode(&[NewMessage::default(); 3], None, &mut log, &mut frames).expect("a batch");
    for (base, sound) in [(u64::MAX - 3, true), (u64::MAX - 2, false), (u64::MAX - 1, false), (u64::MAX, false)] {
        let at = Stamp { base_offset: Some(base), ..Stamp::default() };
        stamp(log.first_chunk_mut().expect("a header"), at, &mut frames, Default::default());
        let found = check_log(&log, base, Revision::R2, &mut FrameList::default());
        assert_eq!(found.as_ref().err().map(|e| e.error.kind()), (!sound).then_some(ErrorKind::OffsetOverflow));
        // Start-up holds them at the end.
        let recovered = recover_log(&log, &[], base, Revision::R2, &mut FrameList::default());
        let end = recovered.expect("no index").expect("a batch").end_offset;
        assert_eq!(end, base.saturating_add(2));
    }
}
