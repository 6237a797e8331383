//! Every bit and every cut of small inputs: the expected field and byte, from the specification's layout.

use crate::model::{self, Found};
use crate::support::{FIRST, RECORD, batch, batch_at, build, message, sealed, validate, wrapper};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;
use batchwise::kafka::{Header, Message, NewControlRecord, NewRecord, RecordBatch, RecordBatchBuilder};
use batchwise::{Defect, Detail, Options, Origin, Severity, Within};

/// Two records, one of them with headers and nulls.
fn with_headers() -> Vec<u8> {
    let headers = [Header { key: b"h", value: Some(b"w") }, Header { key: b"null", value: None }];
    let odd = NewRecord { key: None, value: None, headers: &headers, ..RECORD };
    build(RecordBatchBuilder::new().base_offset(7), &[odd, RECORD])
}

fn marker() -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new().base_offset(42).producer(9, 1, -1).transactional(true).control(true);
    builder.append_control(1000, &NewControlRecord::Commit { coordinator_epoch: 7 }).unwrap();
    builder.finish().unwrap()
}

fn compressed() -> Vec<u8> {
    build(RecordBatchBuilder::new().compression(Codec::Gzip, None).unwrap(), &[RECORD, RECORD])
}

fn bases() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("two records", batch()),
        ("headers", with_headers()),
        ("a marker", marker()),
        ("gzip", compressed()),
        ("magic 0", message(0, 10)),
        ("magic 1", message(1, 10)),
        ("a wrapper of magic 0", wrapper(0, 2)),
        ("a wrapper of magic 1", wrapper(1, 2)),
    ]
}

fn of(origin: Origin) -> Options {
    let mut options = Options::default();
    options.origin = origin;
    options
}

fn place(defect: &Defect) -> Found {
    (defect.error.kind(), defect.error.field(), defect.error.offset())
}

fn first_error(bytes: &[u8]) -> Option<Found> {
    validate(bytes, &of(Origin::Stored)).iter().find(|d| d.severity == Severity::Error).map(place)
}

#[test]
fn every_flipped_bit_is_found_where_it_shows() {
    for (name, sound) in bases() {
        assert_eq!(first_error(&sound), None, "{name}");
        for bit in 0..8 * sound.len() {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let wanted = model::entry(&bytes);
            assert_eq!(first_error(&bytes), wanted, "{name}: bit {} of byte {}", bit % 8, bit / 8);
            // Behind another batch the same is told, only further on. Neighbours settle whose the fault is, so that what
            // has a sound checksum may in addition be found out of order.
            let before = batch_at(0);
            let behind = validate(&[&before[..], &bytes].concat(), &of(Origin::Stored));
            if let Some((kind, field, at)) = wanted.filter(|(kind, ..)| *kind != OffsetOutOfRange) {
                let wanted = (kind, field, at + before.len() as u64);
                assert!(behind.iter().any(|d| place(d) == wanted), "{name}: bit {bit} behind a batch: {behind:?}");
            }
        }
    }
}

/// The same with the right checksum, so that the record walk has to find it.
#[test]
fn every_flipped_bit_under_a_sound_checksum_is_found_where_it_stands() {
    let mut kinds = std::collections::BTreeSet::new();
    for (name, sound) in bases().into_iter().take(3) {
        // Attributes and what they do are in the table of cases.
        for bit in 8 * 23..8 * sound.len() {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let bytes = sealed(bytes);
            let found = validate(&bytes, &of(Origin::Stored));
            let structural = found.iter().map(place).find(|(kind, ..)| model::STRUCTURAL.contains(kind));
            assert_eq!(structural, model::records(&bytes), "{name}: bit {} of byte {}", bit % 8, bit / 8);
            for defect in &found {
                kinds.insert(defect.error.kind());
                assert!(defect.error.offset() <= bytes.len() as u64, "{name}: {defect:?}");
                assert_eq!(defect.error.counted_in(), Within::Input);
                let (_, field, at) = place(defect);
                let of_header = model::header_field(field).filter(|_| !model::is_in_records(at));
                assert!(model::is_in_records(at) || of_header == Some(at), "{name}: {defect:?}");
            }
        }
    }
    assert!(kinds.len() > 20, "{kinds:?}");
}

#[test]
fn every_cut_is_a_torn_tail() {
    for (name, sound) in bases() {
        let before = batch_at(0);
        for len in 1..sound.len() {
            let cut = &sound[..len];
            assert_eq!(first_error(cut), Some((TornTail, "batch", 0)), "{name}: {len} bytes");
            let behind = [&before[..], cut].concat();
            let at = before.len() as u64;
            assert_eq!(first_error(&behind), Some((TornTail, "batch", at)), "{name}: {len} bytes behind a batch");
            // A reply that is limited in size ends so; a request must not, but few bytes are passed over.
            let kind = if len < 17 { TrailingBytes } else { TornTail };
            let severity = |origin| match (origin, kind) {
                (Origin::Replica, _) => Severity::Info,
                (_, TrailingBytes) => Severity::Warning,
                _ => Severity::Error,
            };
            for origin in [Origin::Client, Origin::Replica] {
                let found = validate(&behind, &of(origin));
                let tail = found.iter().find(|d| d.error.kind() == kind).map(|d| (place(d), d.severity));
                assert_eq!(tail, Some(((kind, "batch", at), severity(origin))), "{name}: {len} bytes, {origin:?}");
            }
            parse_is_torn(cut, sound.len());
        }
    }
}

/// The views ask for what is missing.
fn parse_is_torn(cut: &[u8], whole: usize) {
    let is_batch = cut.get(16) == Some(&2);
    let error = if is_batch { RecordBatch::parse(cut, 0).map(drop) } else { Message::parse(cut, 0).map(drop) };
    let error = error.unwrap_err();
    let (smallest, available) = (if is_batch { 61 } else { 18 }, cut.len() as u64);
    let Detail::Length { needed, available: there } = error.detail() else { panic!("{error}") };
    assert_eq!((error.kind(), there), (TornTail, available));
    let known = if cut.len() < 12 || (is_batch && cut.len() < FIRST) { smallest } else { whole as u64 };
    assert!(needed == known || needed == whole as u64, "{error}: {} of {whole}", cut.len());
    assert!(error.offset() <= 8, "{error}");
}
