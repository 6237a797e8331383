//! Whole logs through the validator.

use crate::support::{Rng, batch, file, json, list, number, request, text};
use batchwise::iggy::{Batch, Batches, FrameList, NewMessage, Revision, Stamp, encode, stamp};
use batchwise::{
    Conformance, Depth, ErrorKind, Finding, Options, Origin, Report, Severity, Totals, Validator, segment,
};

fn options(depth: Depth, origin: Origin, conformance: Conformance) -> Options {
    let mut options = Options::default();
    (options.depth, options.origin, options.conformance) = (depth, origin, conformance);
    options
}

fn validate(bytes: &[u8], origin: Origin, conformance: Conformance) -> Report {
    Validator::new(&Batches::R2).options(options(Depth::Records, origin, conformance)).validate(bytes)
}

fn kinds(report: &Report, severity: Severity) -> Vec<(ErrorKind, u64)> {
    let of = |f: &&Finding| f.defect.severity == severity;
    report.findings.iter().filter(of).map(|f| (f.defect.error.kind(), f.defect.error.offset())).collect()
}

#[test]
fn sound_segments_have_no_finding_at_any_depth() {
    for (name, batches, records) in [
        ("small/00000000000000000000", 60, 599),
        ("chain/00000000000000000000", 0, 1939),
        ("chain/00000000000000001939", 0, 1001),
    ] {
        let log = file(&format!("segments/{name}.log")).expect("a file");
        for depth in [Depth::Frames, Depth::Checksums, Depth::Records] {
            for conformance in [Conformance::Strict, Conformance::Reference] {
                let with = options(depth, Origin::Stored, conformance);
                let report = Validator::new(&Batches::R2).options(with).validate(&log);
                assert_eq!((report.findings.len(), report.totals.records), (0, records), "{name}");
                assert!(batches == 0 || report.totals.batches == batches);
            }
        }
    }
}

#[test]
fn no_vector_that_iggy_accepts_gets_an_error() {
    let manifest = json("manifest.json");
    for entry in list(&manifest, "batches").iter().filter(|e| e.get("verdict").is_some() && e.get("ops").is_none()) {
        let Some(bytes) = file(text(entry, "file")) else { continue };
        let empty = number(&entry["header"], "message_count") == 0;
        for origin in [Origin::Client, Origin::Replica, Origin::Stored] {
            for conformance in [Conformance::Strict, Conformance::Reference] {
                let report = validate(&bytes, origin, conformance);
                let accepts = !empty || (origin, conformance) == (Origin::Stored, Conformance::Reference);
                assert_eq!(report.totals.is_valid(), accepts, "{} {origin:?} {conformance:?}", entry["file"]);
                assert_eq!(report.totals.batches, 1);
            }
        }
    }
}

#[test]
fn junk_between_batches_is_stepped_over() {
    let log = file("segments/torn_gap/00000000000000000000.log").expect("a file");
    let report = validate(&log, Origin::Stored, Conformance::Strict);
    assert_eq!((report.totals.batches, report.totals.records), (63, 611));
    assert_eq!(kinds(&report, Severity::Info), [(ErrorKind::UnreadableBytes, 109_398)]);
    assert_eq!(kinds(&report, Severity::Error).len(), 1);
}

#[test]
fn the_strict_walk_and_strict_validation_agree_on_every_log() {
    let all = json("segment_mutations.json");
    for mutation in list(&all, "mutations").iter().filter(|m| m["index_ops"].as_array().is_some_and(Vec::is_empty)) {
        let mut log = file(text(mutation, "log")).expect("a file");
        crate::support::edit(&mut log, list(mutation, "log_ops"));
        let report = Validator::new(&Batches::R1).validate(&log);
        // What an empty file or a file's name says is known to whoever reads files.
        let elsewhere = matches!(mutation["strict"]["error"].as_str(), Some("Empty" | "BaseOffsetMismatch"));
        let zeros = mutation["note"].as_str().is_some_and(|n| n.contains("zero bytes after"));
        if !elsewhere && !zeros {
            assert_eq!(report.totals.is_valid(), mutation["strict"]["ok"] == true, "{}", mutation["note"]);
        }
        if zeros {
            assert!(!report.findings.is_empty());
        }
    }
}

#[test]
fn gaps_and_overlaps_are_found_by_rank_of_the_rules() {
    let log = file("batches/chain_p3_o1000.stream.bin").expect("a stream");
    let first = Batch::parse(&log, 0, Revision::R2).expect("a batch").bytes().len();
    let second = Batch::parse(&log[first..], 0, Revision::R2).expect("a batch").bytes().len();
    let gap = [&log[..first], &log[first + second..]].concat();
    let at = (ErrorKind::OffsetGap, first as u64 + 8);
    assert_eq!(kinds(&validate(&gap, Origin::Stored, Conformance::Strict), Severity::Error), [at]);
    assert_eq!(kinds(&validate(&gap, Origin::Replica, Conformance::Strict), Severity::Error), [at]);
    assert_eq!(kinds(&validate(&gap, Origin::Stored, Conformance::Reference), Severity::Warning), [at]);
    assert!(validate(&gap, Origin::Client, Conformance::Strict).totals.is_valid());
    // Behind a damaged message the header still counts, because the batch checksum covers it.
    let mut damaged = log.clone();
    damaged[256 + 48] ^= 1;
    let report = validate(&damaged, Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&report, Severity::Error), [(ErrorKind::MessageChecksumMismatch, 256)]);
    let damaged = [&damaged[..first], &log[first + second..]].concat();
    let report = validate(&damaged, Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&report, Severity::Error), [(ErrorKind::MessageChecksumMismatch, 256), at]);
    // Behind a damaged header it does not.
    let mut damaged = log.clone();
    damaged[first + 9] ^= 1;
    let report = validate(&damaged, Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&report, Severity::Error), [(ErrorKind::BatchChecksumMismatch, first as u64 + 40)]);
}

#[test]
fn offsets_past_the_end_are_refused_as_in_a_segment_from_a_peer() {
    let (mut log, mut frames) = (Vec::new(), FrameList::default());
    encode(&[NewMessage::default(); 3], None, &mut log, &mut frames).expect("a batch");
    for (base, sound) in [(u64::MAX - 3, true), (u64::MAX - 2, false)] {
        let at = Stamp { base_offset: Some(base), ..Stamp::default() };
        stamp(log.first_chunk_mut().expect("a header"), at, &mut frames, Default::default());
        let found: &[_] = if sound { &[] } else { &[(ErrorKind::OffsetOverflow, 8)] };
        assert_eq!(kinds(&validate(&log, Origin::Stored, Conformance::Strict), Severity::Error), found);
        // The producer's batch and a poll are taken.
        for (origin, conformance) in [(Origin::Client, Conformance::Strict), (Origin::Stored, Conformance::Reference)] {
            assert!(validate(&log, origin, conformance).totals.is_valid());
        }
    }
}

#[test]
fn slices_of_polls_follow_each_other() {
    use batchwise::iggy::{PollFrom, decode, poll_slice};
    let source = batch("mixed10.stamped_p7_o1000.bin");
    let mut frames = FrameList::default();
    let decoded = decode(&source, 0, Revision::R2, &mut frames).expect("a batch");
    let mut reply = Vec::new();
    for from in [1000, 1003, 1006, 1009] {
        let slice = poll_slice(&decoded, &frames, PollFrom::Offset(from), 3, u64::MAX).expect("a slice");
        reply.extend_from_slice(&slice.header);
        reply.extend_from_slice(slice.messages);
    }
    let report = validate(&reply, Origin::Replica, Conformance::Strict);
    assert_eq!((report.totals.batches, report.totals.records, report.findings.len()), (4, 10, 0));
    // In a segment a batch that was cut is odd.
    let cut = validate(&batch("poll_slice_from_4.bin"), Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&cut, Severity::Warning), [(ErrorKind::OffsetDeltaUnexpected, 256 + 24)]);
    let whole = validate(&batch("poll_slice_from_4.bin"), Origin::Stored, Conformance::Reference);
    assert!(whole.findings.is_empty());
}

#[test]
fn oddities_are_told_once_and_only_in_strict_mode() {
    for (name, wanted) in [
        ("crafted_offset_deltas.bin", vec![(ErrorKind::OffsetDeltaUnexpected, 256 + 24)]),
        ("one_bad_tlv_headers.bin", vec![(ErrorKind::UserHeaderKindZero, 256 + 48 + 3)]),
    ] {
        let report = validate(&batch(name), Origin::Client, Conformance::Strict);
        assert_eq!(kinds(&report, Severity::Warning), wanted, "{name}");
        assert!(validate(&batch(name), Origin::Client, Conformance::Reference).findings.is_empty());
    }
    let report = validate(&batch("crafted_producer_sets_server_fields.bin"), Origin::Client, Conformance::Strict);
    let fields: Vec<_> = [0, 8, 16].map(|at| (ErrorKind::ServerFieldSet, at)).into();
    assert_eq!(kinds(&report, Severity::Info), fields);
    // Encrypted headers are no structure, and no worry.
    let report = validate(&batch("encrypted_p2_o50.bin"), Origin::Stored, Conformance::Strict);
    assert_eq!((report.totals.errors, report.totals.warnings), (0, 0));
}

#[test]
fn rules_of_development_builds_are_named() {
    let mut bytes = batch("mixed10.bin");
    let input = [&bytes[..40], &bytes[48..52], &bytes[256..]].concat();
    let checksum = xxhash_rust::xxh3::xxh3_64(&input);
    bytes[40..48].copy_from_slice(&checksum.to_le_bytes());
    let report = validate(&bytes, Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&report, Severity::Error), [(ErrorKind::BatchChecksumMismatch, 40)]);
    assert_eq!(kinds(&report, Severity::Info), [(ErrorKind::GenerationOld, 40)]);
}

#[test]
fn the_revision_decides_about_producers() {
    let bytes = batch("rev2_producer_20.stamped_p5_o900.bin");
    assert!(Validator::new(&Batches::R2).validate(&bytes).totals.is_valid());
    let report = Validator::new(&Batches::R1).validate(&bytes);
    assert_eq!(kinds(&report, Severity::Error), [(ErrorKind::HeaderReservedNonzero, 52)]);
}

/// Junk of every length and kind between sound batches: no batch is lost, none is invented.
#[test]
fn the_way_back_is_found_behind_any_junk() {
    let mut rng = Rng(9);
    for round in 0..60 {
        let (mut log, mut frames, mut next, mut batches) = (Vec::new(), FrameList::default(), 0, 0);
        for _ in 0..6 {
            if rng.below(2) == 0 && !log.is_empty() {
                let len = 1 + rng.below(700);
                let junk = match rng.below(4) {
                    0 => rng.bytes(len),
                    1 => vec![0xA5; len],
                    // A piece of a batch, and zeros with a few bits.
                    2 => batch("mixed10.bin")[..len].to_vec(),
                    _ => (0..len).map(|_| u8::from(rng.below(50) == 0)).collect(),
                };
                log.extend(junk);
            }
            let start = log.len();
            let payload = rng.bytes(200);
            let messages: Vec<_> = (0..1 + rng.below(20))
                .map(|i| NewMessage { id: i as u128, payload: &payload[..10 * i], ..NewMessage::default() })
                .collect();
            encode(&messages, None, &mut log, &mut frames).expect("a batch");
            let at = Stamp { base_offset: Some(next), ..Stamp::default() };
            stamp(log[start..].first_chunk_mut().expect("a header"), at, &mut frames, Default::default());
            next += messages.len() as u64;
            batches += 1;
        }
        let report = validate(&log, Origin::Stored, Conformance::Strict);
        // Junk that starts as a batch does is a damaged batch.
        let damaged = report.findings.iter().filter(|f| f.batch.is_some() && f.defect.severity == Severity::Error);
        let sound = report.totals.batches - damaged.count() as u64;
        assert_eq!((sound, report.totals.records), (batches, next), "round {round}: {report:?}");
    }
}

#[test]
fn requests_are_not_batches() {
    let body = request(&batch("mixed10.bin"), 10);
    assert!(!validate(&body, Origin::Client, Conformance::Strict).totals.is_valid());
}

/// The search by leaps finds what a look at every byte finds.
#[test]
fn the_search_finds_the_first_header_wherever_it_stands() {
    use batchwise::Format;
    let mut rng = Rng(21);
    let header = &batch("mixed10.bin")[..256];
    for round in 0..2000 {
        let len = rng.below(1200);
        let mut bytes = match round % 3 {
            0 => rng.bytes(len),
            1 => vec![0; len],
            _ => (0..len).map(|_| u8::from(rng.below(150) == 0)).collect(),
        };
        for _ in 0..rng.below(3) {
            let at = rng.below(bytes.len() + 1);
            bytes.splice(at..at, header.iter().copied());
        }
        let slowly = (0..(bytes.len() + 1).saturating_sub(256)).find(|&at| Batches::R2.peek(&bytes[at..]).is_some());
        assert_eq!(Batches::R2.find(&bytes, 256), slowly, "round {round}");
    }
}

/// A batch that comes in pieces gets the verdict of one that lies there as a whole.
#[test]
fn a_batch_in_pieces_gets_the_same_verdict() {
    use batchwise::Format;
    use batchwise::iggy::decode_exact;
    let mut rng = Rng(22);
    let bases = ["mixed10.bin", "rev2_producer_max.bin", "zero_512.bin", "empty_count0.bin"].map(batch);
    for round in 0..3000 {
        let mut bytes = bases[round % 4].clone();
        if round % 5 > 0 {
            let at = [rng.below(bytes.len()), rng.below(72), 256 + rng.below(100)][rng.below(3)].min(bytes.len() - 1);
            bytes[at] ^= 1 << rng.below(8);
        }
        let whole = decode_exact(&bytes, 1000, Revision::R2, &mut FrameList::default()).map(drop);
        let mut pieces = Batches::R2.pieces(1000).expect("a way to verify in pieces");
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((1 + rng.below(300)).min(rest.len()));
            pieces.feed(piece);
            rest = behind;
        }
        match (pieces.finish(), whole) {
            (Ok(()), Ok(())) => {}
            (Err(found), Err(wanted)) if wanted.kind() == ErrorKind::BatchLengthMismatch => {
                assert!(matches!(found.kind(), ErrorKind::FramesNotFilling | ErrorKind::MessageChecksumMismatch));
            }
            (Err(found), Err(wanted)) => {
                let checksum = matches!(wanted.detail(), batchwise::Detail::ChecksumAt { .. });
                assert_eq!(found.kind(), wanted.kind(), "round {round}");
                assert!(!checksum || found == wanted);
            }
            (found, wanted) => panic!("round {round}: {found:?}, {wanted:?}"),
        }
    }
}

/// What a walk through a file tells: totals, and what is wrong.
fn of_a_file(log: &[u8]) -> (Totals, Vec<ErrorKind>) {
    let mut kinds = Vec::new();
    let mut sink = |f: Finding| kinds.extend((f.defect.severity == Severity::Error).then_some(f.defect.error.kind()));
    let totals = segment::verify(log, Validator::new(&Batches::R2), &mut sink).expect("memory can be read");
    (totals, kinds)
}

/// Batches longer than a validator holds before it knows them to be sound.
#[test]
fn long_batches_are_verified() {
    let mut rng = Rng(23);
    let (mut log, mut frames) = (Vec::new(), FrameList::default());
    let payload = rng.bytes(1_000_000);
    let mut next = 0;
    for count in [12, 2, 11] {
        let start = log.len();
        encode(&vec![NewMessage { payload: &payload, ..NewMessage::default() }; count], None, &mut log, &mut frames)
            .expect("a batch");
        let at = Stamp { base_offset: Some(next), ..Stamp::default() };
        stamp(log[start..].first_chunk_mut().expect("a header"), at, &mut frames, Default::default());
        next += count as u64;
    }
    let report = validate(&log, Origin::Stored, Conformance::Strict);
    assert_eq!((report.totals.batches, report.totals.records, report.findings.len()), (3, 25, 0));
    assert_eq!(of_a_file(&log), (report.totals, vec![]));
    log[9_000_000] ^= 1;
    let report = validate(&log, Origin::Stored, Conformance::Strict);
    assert_eq!(kinds(&report, Severity::Error).len(), 1);
    assert_eq!(kinds(&report, Severity::Error)[0].0, ErrorKind::MessageChecksumMismatch);
    assert_eq!((report.totals.batches, report.totals.records), (3, 8 + 2 + 11));
    // Of a file, where the batch is not held, its messages do not count.
    let (totals, kinds) = of_a_file(&log);
    assert_eq!((totals.batches, totals.records), (3, 2 + 11));
    assert_eq!(kinds, [ErrorKind::MessageChecksumMismatch]);
}
