//! Formats are told from content, whatever the generation.

use crate::support::{Rng, batch, file, root};
use batchwise::iggy::Generation;
use batchwise::segment::{self, ReadAt};
use batchwise::{Finding, Format, Severity, Validator, formats, iggy};
use std::fs;
use std::path::Path;

fn detected(bytes: &[u8]) -> Option<&'static str> {
    formats::detect(&bytes[..bytes.len().min(64 << 10)]).map(Format::name)
}

fn files(directory: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn every_batch_and_segment_is_detected() {
    let mut paths = Vec::new();
    files(&root().join("batches"), &mut paths);
    files(&root().join("segments"), &mut paths);
    paths.retain(|p| p.extension().is_some_and(|e| e == "bin" || e == "log"));
    assert!(paths.len() > 40);
    for path in paths {
        let bytes = fs::read(&path).expect("a file");
        assert_eq!(detected(&bytes), Some("iggy"), "{}", path.display());
    }
}

#[test]
fn kafka_stays_kafka() {
    let mut paths = Vec::new();
    files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka")), &mut paths);
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "log")) {
        let bytes = fs::read(path).expect("a file");
        assert_eq!(detected(&bytes), Some("kafka"), "{}", path.display());
    }
}

#[test]
fn a_damaged_first_batch_hides_nothing() {
    let log = file("segments/small/00000000000000000000.log").expect("a file");
    let mut rng = Rng(3);
    for at in (0..1680).step_by(7) {
        let mut log = log.clone();
        log[at] ^= 1 << rng.below(8);
        assert_eq!(detected(&log), Some("iggy"), "byte {at}");
    }
    for damage in [0, 0xFF] {
        let mut log = log.clone();
        log[..1680].fill(damage);
        assert_eq!(detected(&log), Some("iggy"));
        log[..5000].copy_from_slice(&rng.bytes(5000));
        assert_eq!(detected(&log), Some("iggy"));
    }
}

#[test]
fn a_large_first_message_is_believed_by_its_lengths() {
    use batchwise::iggy::{FrameList, NewMessage, encode};
    let (mut out, mut rng) = (Vec::new(), Rng(5));
    let payload = rng.bytes(300_000);
    let message = NewMessage { payload: &payload, ..NewMessage::default() };
    encode(&[message], None, &mut out, &mut FrameList::default()).expect("a batch");
    assert_eq!(detected(&out), Some("iggy"));
    // Zeros with a length are no batch.
    let mut zeros = vec![0; 70_000];
    zeros[33] = 0x20;
    assert_eq!(detected(&zeros), None);
}

#[test]
fn other_bytes_are_not_iggy() {
    let mut rng = Rng(6);
    for bytes in [vec![], vec![0; 100_000], vec![0xFF; 1000], b"a text\n".repeat(2000), rng.bytes(100_000)] {
        assert!(!detected(&bytes).is_some_and(|name| name.starts_with("iggy")));
    }
}

#[test]
fn messages_with_headers_of_64_bytes_are_read() {
    let log = file("legacy/00000000000000005000.log").expect("a file");
    assert_eq!(detected(&log), Some("iggy-64"));
    assert_eq!(Generation::of(&log), Some(Generation::Messages64));
    assert_eq!(Generation::of(&batch("mixed10.bin")), Some(Generation::Batches256));
    let manifest = crate::support::json("manifest.json");
    let mut at = 0;
    for wanted in crate::support::list(&manifest["legacy"], "messages") {
        let message = iggy::StoredMessage::parse(&log[at..], at as u64).expect("a message");
        message.verify_checksum().expect("a sound message");
        assert_eq!(at as u64, crate::support::number(wanted, "at"));
        assert_eq!(message.log_offset(), crate::support::number(wanted, "offset"));
        assert_eq!(message.bytes().len() as u64, crate::support::number(wanted, "size"));
        at += message.bytes().len();
    }
    assert_eq!(at, log.len());
    let report = Validator::new(&iggy::Messages64).validate(&log);
    assert_eq!((report.totals.batches, report.totals.records, report.findings.len()), (40, 40, 0));
    // A flipped bit in a payload, found in its message.
    let mut damaged = log.clone();
    damaged[65 + 64] ^= 1;
    let report = Validator::new(&iggy::Messages64).validate(&damaged);
    let errors = report.findings.iter().filter(|f| f.defect.severity == Severity::Error);
    let found: Vec<_> = errors.map(|f| (f.batch, f.defect.error.offset())).collect();
    assert_eq!(found, [(Some(1), 65)]);
    // A length that lies: the messages behind are found again.
    damaged[65 + 52] ^= 1;
    damaged[65 + 56] ^= 1;
    let report = Validator::new(&iggy::Messages64).validate(&damaged);
    assert_eq!(report.totals.records, 39);
}

/// Gives at most so many bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl ReadAt for Slow<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read_at(&mut buffer[..len], offset)
    }

    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }
}

#[test]
fn a_format_is_told_however_little_is_at_hand() {
    let old = file("legacy/00000000000000005000.log").expect("a file");
    let new = file("segments/small/00000000000000000000.log").expect("a file");
    let (short, long) = (batch("one_hello.bin"), batch("m1000.bin"));
    let mixed = [&old[..], &long, &short, &old[..65], &new].concat();
    // The format changes where a window of the usual size ends.
    let far = [&new[..].repeat(300_000usize.div_ceil(new.len())), &old[..]].concat();
    for input in [&short, &long, &mixed, &far] {
        let report = Validator::detecting().validate(input);
        for at_once in [1, 73, 300, 4096, usize::MAX] {
            let mut findings = Vec::new();
            let mut sink = |f: Finding| findings.push(f);
            let totals = segment::verify(&Slow(input, at_once), Validator::detecting(), &mut sink).expect("no I/O");
            assert_eq!((totals, &findings), (report.totals, &report.findings), "{at_once} bytes at a time");
        }
    }
    assert_eq!(Validator::detecting().validate(&mixed).totals.batches, 40 + 2 + 1 + 60);
}

/// The layouts of servers before 0.7, made by their description: there are no files of them at hand.
#[test]
fn older_generations_are_named() {
    let stored = file("legacy/00000000000000005000.log").expect("a file");
    let message = iggy::StoredMessage::parse(&stored, 0).expect("a message");
    let without_reserved = [&message.bytes()[8..56], message.payload(), message.user_header_bytes()].concat();
    let crc = u64::from(crc32fast::hash(&without_reserved));
    let xxh3 = xxhash_rust::xxh3::xxh3_64(&without_reserved);
    for checksum in [crc, xxh3] {
        let log = [&checksum.to_le_bytes()[..], &without_reserved].concat();
        assert_eq!(detected(&log), Some("iggy-56"));
        assert_eq!(Generation::of(&log), Some(Generation::Messages56));
        assert!(Validator::new(&iggy::Messages56).validate(&log).totals.is_valid());
        let first = iggy::StoredMessage::parse_56(&log, 0).expect("a message");
        assert_eq!((first.payload(), first.log_offset()), (message.payload(), message.log_offset()));
        assert_eq!(log[..8], first.checksum().to_le_bytes());
        assert!(first.verify_checksum().is_ok());
    }
    let payload = b"an old message";
    let mut old = 7000u64.to_le_bytes().to_vec();
    old.push(1);
    old.extend([0x11; 24]);
    old.extend(crc32fast::hash(payload).to_le_bytes());
    old.extend(0u32.to_le_bytes());
    old.extend(payload);
    let mut log = 7000u64.to_le_bytes().to_vec();
    log.extend((old.len() as u32 + 4).to_le_bytes());
    log.extend([0; 12]);
    log.extend((old.len() as u32).to_le_bytes());
    log.extend(&old);
    assert_eq!(detected(&log), Some("iggy-24"));
    assert_eq!(Generation::of(&log), Some(Generation::Batches24));
    let report = Validator::new(&iggy::Messages24).validate(&log);
    let severities: Vec<_> = report.findings.iter().map(|f| f.defect.severity).collect();
    assert_eq!((report.totals.records, severities), (1, vec![Severity::Warning]));
}
