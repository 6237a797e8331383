//! Fields, frames, checksums and stamps of the vectors.

use crate::support::{batch, edit, file, hex_number, json, list, number, text};
use batchwise::iggy::{
    Batch, BatchHeader, ChecksumMode, FrameList, PollFrom, Revision, Stamp, decode, decode_all, poll_slice, stamp,
};
use serde_json::Value;

fn check_header(header: BatchHeader<'_>, wanted: &Value) {
    assert_eq!(header.partition_id(), number(wanted, "partition_id"));
    assert_eq!(header.base_offset(), number(wanted, "base_offset"));
    assert_eq!(header.base_timestamp(), number(wanted, "base_timestamp"));
    assert_eq!(header.origin_timestamp(), number(wanted, "origin_timestamp"));
    assert_eq!(header.batch_length(), number(wanted, "batch_length"));
    assert_eq!(u128::from(header.batch_checksum()), hex_number(wanted, "batch_checksum"));
    assert_eq!(u64::from(header.message_count()), number(wanted, "message_count"));
    let producer = wanted.get("producer").map(|p| (number(p, "id"), number(p, "epoch"), number(p, "base_sequence")));
    assert_eq!(header.producer().map(|p| (p.id, p.epoch.into(), p.base_sequence.into())), producer);
    assert_eq!(header.fields().to_bytes(), *header.as_bytes());
}

fn check_frames(batch: &Batch<'_>, frames: &FrameList, entry: &Value) {
    let checksums: Vec<u64> = frames.checksums().collect();
    assert_eq!(checksums.len() as u64, number(entry, "count"));
    assert_eq!(u128::from(checksums.iter().fold(0, |a, c| a ^ c)), hex_number(entry, "checksums_xor"));
    let messages: Vec<_> = batch.messages().map(|m| m.expect("a message")).collect();
    assert_eq!(messages.len(), checksums.len());
    assert_eq!(messages.iter().map(|m| m.payload().len() as u64).sum::<u64>(), number(entry, "payload_bytes"));
    let user_headers = messages.iter().map(|m| m.user_header_bytes().len() as u64).sum::<u64>();
    assert_eq!(user_headers, number(entry, "user_headers_bytes"));
    let sample = entry.get("frames").or_else(|| entry.get("frames_sample")).expect("frames");
    for wanted in sample.as_array().expect("a list of frames") {
        let index = number(wanted, "index") as usize;
        let (message, range) = (messages[index], frames.range(index).expect("a range"));
        assert_eq!(range.start as u64, number(wanted, "at"));
        assert_eq!(&batch.bytes()[range], message.bytes());
        assert_eq!(u128::from(checksums[index]), hex_number(wanted, "checksum"));
        let header = message.header();
        assert_eq!((header.checksum(), message.computed_checksum()), (checksums[index], checksums[index]));
        assert_eq!(header.id(), hex_number(wanted, "id"));
        assert_eq!(u64::from(header.offset_delta()), number(wanted, "offset_delta"));
        assert_eq!(u64::from(header.timestamp_delta()), number(wanted, "timestamp_delta"));
        assert_eq!(u64::from(header.user_headers_length()), number(wanted, "user_headers_length"));
        assert_eq!(u64::from(header.payload_length()), number(wanted, "payload_length"));
        assert_eq!(message.bytes().len() as u64 - 8, number(wanted, "hash_input_length"));
    }
}

/// Batches with one header each in the manifest; derived ones are edits of others.
fn single_batches() -> Vec<(Value, Vec<u8>)> {
    let manifest = json("manifest.json");
    let singles = list(&manifest, "batches").iter().filter(|e| e.get("header").is_some());
    let read = |entry: &Value| {
        let mut bytes = file(text(entry, "file"))?;
        if let Some(ops) = entry.get("ops") {
            edit(&mut bytes, ops.as_array().expect("a list of edits"));
        }
        Some((entry.clone(), bytes))
    };
    singles.filter_map(read).collect()
}

#[test]
fn fields_and_frames_are_those_of_the_manifest() {
    let mut frames = FrameList::default();
    let all = single_batches();
    assert!(all.len() >= 45, "{}", all.len());
    for (entry, bytes) in &all {
        println!("{} {}", entry["file"], entry["name"]);
        assert_eq!(bytes.len() as u64, number(entry, "size"));
        let revision = if number(entry, "revision") == 1 { Revision::R1 } else { Revision::R2 };
        let batch = decode(bytes, 0, revision, &mut frames).expect("a sound batch");
        check_header(batch.header(), &entry["header"]);
        check_frames(&batch, &frames, entry);
        // Listing without hashing finds the same.
        let mut listed = FrameList::default();
        batch.list_frames(&mut listed).expect("a sound layout");
        assert!(listed.checksums().eq(frames.checksums()));
        assert_eq!(listed.batch_checksum(batch.header()), batch.header().batch_checksum());
    }
}

#[test]
fn streams_hold_the_batches_of_the_manifest() {
    let manifest = json("manifest.json");
    let mut streams = 0;
    for entry in list(&manifest, "batches").iter().filter(|e| e.get("batches").is_some()) {
        let bytes = file(text(entry, "file")).expect("a stream");
        let mut wanted = list(entry, "batches").iter();
        let read = decode_all(&bytes, 0, Revision::R1, &mut FrameList::default(), |batch, frames| {
            let wanted = wanted.next().expect("as many batches");
            assert_eq!(batch.offset(), number(wanted, "at"));
            assert_eq!(batch.bytes().len() as u64, number(wanted, "length"));
            assert_eq!(frames.len() as u64, number(wanted, "frames"));
            check_header(batch.header(), &wanted["header"]);
        });
        assert_eq!(read, Ok(bytes.len()));
        assert!(wanted.next().is_none());
        streams += 1;
    }
    assert_eq!(streams, 3);
}

#[test]
fn stamping_makes_the_servers_bytes_without_a_second_walk() {
    let all = single_batches();
    let mut frames = FrameList::default();
    let mut done = 0;
    for (entry, stamped) in &all {
        let what = entry["made_by"].as_str().unwrap_or_default();
        let derived = entry.get("ops").is_some();
        let base = match entry.get("same_messages_as").and_then(Value::as_str) {
            Some(base) => base,
            None if derived => text(entry, "file"),
            None => continue,
        };
        if !what.contains("append stamping") {
            continue;
        }
        let Some(mut bytes) = file(base) else { continue };
        Batch::parse(&bytes, 0, Revision::R2).expect("a batch").verify(&mut frames).expect("a sound batch");
        let header = bytes.first_chunk_mut().expect("a header");
        // Admission, then append.
        let wanted = BatchHeader::new(stamped).expect("a header");
        let admission = Stamp { partition_id: Some(wanted.partition_id()), ..Stamp::default() };
        stamp(header, admission, &mut frames, ChecksumMode::Skip);
        assert_eq!(BatchHeader::new(&header[..]).expect("a header").batch_checksum(), 0);
        let append = Stamp {
            partition_id: None,
            base_offset: Some(wanted.base_offset()),
            base_timestamp: Some(wanted.base_timestamp()),
        };
        stamp(header, append, &mut frames, ChecksumMode::Compute);
        assert!(bytes == *stamped, "{base}");
        done += 1;
    }
    assert!(done >= 14, "{done}");
}

#[test]
fn a_producer_survives_stamping() {
    let wanted = batch("rev2_producer_20.stamped_p5_o900.bin");
    let mut frames = FrameList::default();
    let decoded = decode(&wanted, 0, Revision::R2, &mut frames).expect("a sound batch");
    let mut fields = decoded.header().fields();
    (fields.partition_id, fields.base_offset, fields.base_timestamp, fields.batch_checksum) = (0, 0, 0, 0);
    let mut header = fields.to_bytes();
    let append = Stamp { partition_id: Some(5), base_offset: Some(900), base_timestamp: Some(1_790_100_111_000_000) };
    stamp(&mut header, append, &mut frames, ChecksumMode::Compute);
    assert_eq!(header, wanted[..256]);
}

#[test]
fn slices_are_those_of_the_servers_polls() {
    let source = batch("mixed10.stamped_p7_o1000.bin");
    let mut frames = FrameList::default();
    let decoded = decode(&source, 0, Revision::R2, &mut frames).expect("a sound batch");
    let slices = [
        ("poll_slice_from_4.bin", PollFrom::Offset(1004), u32::MAX, u64::MAX, 4..10),
        ("poll_slice_middle.bin", PollFrom::Offset(1002), 3, u64::MAX, 2..5),
        ("poll_slice_ceiling.bin", PollFrom::Offset(0), 100, 1005, 0..6),
    ];
    for (name, from, count, ceiling, indexes) in slices {
        let slice = poll_slice(&decoded, &frames, from, count, ceiling).expect("a slice");
        assert_eq!(slice.indexes, indexes);
        assert!([&slice.header[..], slice.messages].concat() == batch(name), "{name}");
    }
    // All of it is the batch itself; by time it is all or nothing.
    let time = decoded.header().base_timestamp();
    for from in [PollFrom::Offset(0), PollFrom::Timestamp(time)] {
        let slice = poll_slice(&decoded, &frames, from, 10, 1009).expect("a slice");
        assert!([&slice.header[..], slice.messages].concat() == source);
    }
    for (from, count, ceiling) in [
        (PollFrom::Timestamp(time + 1), 10, u64::MAX),
        (PollFrom::Offset(1010), 10, u64::MAX),
        (PollFrom::Offset(0), 0, u64::MAX),
        (PollFrom::Offset(0), 10, 999),
    ] {
        assert!(poll_slice(&decoded, &frames, from, count, ceiling).is_none());
    }
}
