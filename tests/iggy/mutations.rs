//! Verdicts of Iggy's own code, replayed.

use crate::support::{REVISIONS, edit, file, hex_number, json, list, number, request, text};
use batchwise::iggy::{
    Batch, BatchHeader, Failure, FrameList, PolledMessages, Revision, ServerError, admit, decode, decode_exact,
};
use batchwise::{Detail, Error, ErrorKind};
use serde_json::Value;

/// Whether `found` is the verdict `wanted` of the decoder.
fn same_decoder_verdict(found: Result<usize, Failure>, wanted: &Value, bytes: &[u8]) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{what}: wanted {wanted}, found {found:?}"));
    let (name, failure) = match (found, wanted["error"].as_str()) {
        (Ok(consumed), None) => {
            let same =
                wanted["ok"] == true && wanted.get("consumed").is_none_or(|c| c.as_u64() == Some(consumed as u64));
            return if same { Ok(()) } else { fail("accepted") };
        }
        (Err(failure), Some(name)) => (name, failure),
        _ => return fail("accepted by one"),
    };
    let error = match (name, failure) {
        ("UnexpectedEof", Failure::NeedsMore { needed, available, .. }) => {
            let same = (needed, available) == (number(wanted, "need"), number(wanted, "have"));
            return if same { Ok(()) } else { fail("bytes needed") };
        }
        (_, Failure::Damaged(error)) => error,
        _ => return fail("needs more"),
    };
    let kind = match (name, wanted["reason"].as_str()) {
        ("InvalidMessageChecksum", None) => ErrorKind::MessageChecksumMismatch,
        ("InvalidBatchChecksum", None) => ErrorKind::BatchChecksumMismatch,
        ("Validation", Some("tiling")) => ErrorKind::FramesNotFilling,
        ("Validation", Some("header_reserved_nonzero")) => ErrorKind::HeaderReservedNonzero,
        ("Validation", Some("producer_section")) => ErrorKind::ProducerMalformed,
        ("Validation", Some("length_below_256")) => ErrorKind::BatchLengthBelowHeader,
        _ => panic!("no kind for {wanted}"),
    };
    if error.kind() != kind {
        return fail("kind");
    }
    if let Detail::ChecksumAt { stored, computed, log_offset } = error.detail() {
        let at = if name == "InvalidBatchChecksum" { "base_offset" } else { "message_offset" };
        let sums = (stored.into(), computed.into()) == (hex_number(wanted, "stored"), hex_number(wanted, "computed"));
        if !sums || log_offset != number(wanted, at) {
            return fail("values");
        }
        // The error's place is where the stored checksum stands.
        let at = error.offset() as usize;
        if bytes[at..at + 8] != stored.to_le_bytes() {
            return fail("place");
        }
    }
    Ok(())
}

fn same_server_verdict(found: Result<(), Error>, wanted: &Value) -> Result<(), String> {
    let wanted_error = wanted["error"].as_str();
    let found_error = found.err().map(|e| ServerError::of(&e));
    let same_code = found_error.is_none_or(|e| u64::from(e.code()) == wanted["code"].as_u64().unwrap_or_default());
    if found_error.map(ServerError::name) == wanted_error && same_code {
        return Ok(());
    }
    Err(format!("wanted {wanted}, found {found:?}"))
}

/// A client stops at the first error, whatever it is; sums past 64 bits, over which Iggy's own may panic, are held.
fn client_verdict(bytes: &[u8], wanted: &Value) -> Result<(), String> {
    let mut count = 0;
    for message in PolledMessages::new(bytes, 0, Revision::R1) {
        match message {
            Ok(_) => count += 1,
            Err(_) if wanted["error"] == ServerError::InvalidMessagePayloadLength.name() => return Ok(()),
            Err(e) => return Err(format!("wanted {wanted}, found {e:?}")),
        }
    }
    let overflow = wanted["error"].as_str().is_some_and(|e| e.contains("overflow"));
    if overflow || wanted["messages"] == count { Ok(()) } else { Err(format!("wanted {wanted}, found {count}")) }
}

/// Compares all verdicts on `bytes`.
fn compare(bytes: &[u8], verdicts: &Value, metadata_count: u32) -> Result<(), String> {
    let mut frames = FrameList::default();
    for (name, revision) in REVISIONS {
        let verdict = &verdicts[name];
        let tag = |what: &'static str| move |e: String| format!("{name} {what}: {e}");
        let header = BatchHeader::new(bytes)
            .ok_or(Failure::NeedsMore { needed: 256, available: bytes.len() as u64, offset: 0 })
            .and_then(|h| h.check(revision, 0).map_err(Failure::Damaged));
        same_decoder_verdict(header.map(|()| 256), &verdict["header"], bytes).map_err(tag("header"))?;
        let decoded = decode(bytes, 0, revision, &mut frames).map(|b| b.bytes().len());
        same_decoder_verdict(decoded, &verdict["decode"], bytes).map_err(tag("decode"))?;
        let layout = Batch::parse(bytes, 0, revision)
            .and_then(|b| b.check_layout().map(|()| b.bytes().len()).map_err(Failure::Damaged));
        same_decoder_verdict(layout, &verdict["layout"], bytes).map_err(tag("layout"))?;
        if revision == Revision::R1 {
            let replica = decode_exact(bytes, 0, revision, &mut frames).map(drop);
            same_server_verdict(replica, &verdict["replica"]).map_err(tag("replica"))?;
            let body = request(bytes, metadata_count);
            let admitted = admit(&body, 0, revision, &mut frames).map(drop);
            same_server_verdict(admitted, &verdict["admit"]).map_err(tag("admit"))?;
            client_verdict(bytes, &verdict["client_poll"]).map_err(tag("client"))?;
        }
    }
    Ok(())
}

#[test]
fn every_mutation_gets_iggys_verdict() {
    let all = json("mutations.json");
    let (mut skipped, mut done) = (0, 0);
    let mut wrong = Vec::new();
    for mutation in list(&all, "mutations") {
        let Some(mut bytes) = file(text(mutation, "file")) else {
            skipped += 1;
            continue;
        };
        edit(&mut bytes, list(mutation, "ops"));
        assert_eq!(bytes.len() as u64, number(mutation, "size"), "{}", mutation["id"]);
        if let Err(e) = compare(&bytes, mutation, number(mutation, "metadata_count") as u32) {
            wrong.push(format!("{} ({}): {e}", mutation["id"], mutation["note"]));
        }
        done += 1;
    }
    assert!(wrong.is_empty(), "{} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(done + skipped, number(&all, "count"));
    assert!(skipped <= 6, "only those of the largest batch may be missing");
}

#[test]
fn every_batch_gets_iggys_verdict() {
    let manifest = json("manifest.json");
    let mut done = 0;
    for entry in list(&manifest, "batches").iter().filter(|e| e.get("verdict").is_some()) {
        let Some(mut bytes) = file(text(entry, "file")) else { continue };
        if let Some(ops) = entry.get("ops") {
            edit(&mut bytes, ops.as_array().expect("a list of edits"));
        }
        let count = number(&entry["header"], "message_count") as u32;
        compare(&bytes, &entry["verdict"], count).unwrap_or_else(|e| panic!("{}: {e}", entry["file"]));
        done += 1;
    }
    assert!(done >= 45, "{done}");
}
