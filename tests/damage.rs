//! The damage drill: a segment is damaged in hundreds of ways; what is damaged has to be found, and nothing else.

mod inputs;

use batchwise::{Batch, Detail, ErrorKind, Finding, Sink, Validator, kafka, segment};
use inputs::Rng;
use std::ops::Range;

/// Everything that a walk tells.
#[derive(Default, Debug, PartialEq)]
struct Told {
    batches: Vec<Batch>,
    findings: Vec<Finding>,
}

impl Sink for Told {
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn batch(&mut self, batch: &Batch, _: &[u8]) {
        self.batches.push(*batch);
    }
}

fn walk(bytes: &[u8]) -> Told {
    let mut told = Told::default();
    let totals = Validator::new(&kafka::Log).walk(bytes, &mut told);
    assert_eq!(totals.bytes, bytes.len() as u64, "every byte is looked at");
    let mut streamed = Told::default();
    let from_file = segment::verify(bytes, Validator::new(&kafka::Log), &mut streamed).expect("memory can be read");
    assert_eq!((&told, totals), (&streamed, from_file), "a file is walked like memory");
    told
}

/// Of a file a batch that is longer than a walk holds is verified in pieces before it is fetched.
#[test]
fn long_batches_of_a_file_are_walked_like_memory() {
    let value: Vec<u8> = (0..9 << 20).map(|i: u32| (i >> 3) as u8).collect();
    let mut log = Vec::new();
    let mut starts = Vec::new();
    for value in [&value[..100], &value, &value[..100], &value[1..], &value[..100]] {
        let mut builder = kafka::RecordBatchBuilder::new().base_offset(starts.len() as i64);
        builder.append(&kafka::NewRecord { value: Some(value), ..Default::default() }).expect("a record");
        starts.push(log.len());
        builder.finish_into(&mut log).expect("a batch");
    }
    let sound = walk(&log);
    assert_eq!((sound.batches.len(), sound.findings.len()), (5, 0));
    for (place, damaged) in [(starts[1] + 100, 1), (starts[2] - 1, 1), (starts[3] + 17, 3), (starts[4] - 1, 3)] {
        log[place] ^= 1;
        let told = walk(&log);
        let first = told.findings.first().map(|f| (f.batch, f.defect.error.kind()));
        assert_eq!(first, Some((Some(damaged), ErrorKind::CrcMismatch)), "byte {place}");
        assert_eq!(told.batches.iter().filter(|b| b.is_valid()).count(), 4);
        log[place] ^= 1;
    }
    // A length that leads on within the batch, so that what stands behind it has to be searched for.
    log[starts[3] + 8] ^= 1;
    assert!(walk(&log).batches.iter().filter(|b| b.is_valid()).count() >= 4);
}

#[test]
fn a_sink_that_wants_no_more_ends_the_walk() {
    struct Few(usize, usize);
    impl Sink for Few {
        fn finding(&mut self, _: Finding) {}

        fn batch(&mut self, _: &Batch, _: &[u8]) {
            self.1 += 1;
        }

        fn wants_more(&self) -> bool {
            self.1 < self.0
        }
    }
    let mut log = include_bytes!("data/kafka/v2-many-small-batches/00000000000123456789.log").to_vec();
    // Behind damage as well as elsewhere.
    log[80] ^= 1;
    for wanted in [1, 2, 10] {
        let mut few = Few(wanted, 0);
        let totals = Validator::new(&kafka::Log).walk(&log, &mut few);
        assert_eq!((few.1, totals.batches), (wanted, wanted as u64));
        let streamed = segment::verify(&log[..], Validator::new(&kafka::Log), &mut Few(wanted, 0));
        assert_eq!(streamed.expect("memory can be read"), totals);
    }
}

/// A damaged copy: its bytes, and for each batch of the original where it is now if no byte of it changed.
struct Damaged {
    what: String,
    bytes: Vec<u8>,
    now: Vec<Option<u64>>,
    /// Batches in which only bytes changed that nothing protects: the leader epoch.
    unprotected: Vec<usize>,
}

struct Drill<'a> {
    original: &'a [u8],
    batches: Vec<Range<usize>>,
    rng: Rng,
}

impl Drill<'_> {
    /// A copy made of pieces of the original: `(from, to)` each.
    fn pieces(&self, what: String, pieces: &[Range<usize>]) -> Damaged {
        let mut bytes = Vec::new();
        let mut now = vec![None; self.batches.len()];
        for piece in pieces {
            for (i, batch) in self.batches.iter().enumerate() {
                if piece.start <= batch.start && batch.end <= piece.end {
                    now[i] = Some((bytes.len() + batch.start - piece.start) as u64);
                }
            }
            bytes.extend_from_slice(&self.original[piece.clone()]);
        }
        // A batch that was cut in two may have been put together by chance.
        for (now, batch) in now.iter_mut().zip(&self.batches).filter(|(now, _)| now.is_none()) {
            if !pieces.iter().any(|p| p.start < batch.end && batch.start < p.end) {
                continue;
            }
            let batch = &self.original[batch.clone()];
            *now = bytes.windows(batch.len()).position(|w| w == batch).map(|at| at as u64);
        }
        Damaged { what, bytes, now, unprotected: Vec::new() }
    }

    /// A copy with some bytes overwritten.
    fn overwritten(&self, what: String, at: usize, new: &[u8]) -> Damaged {
        let mut bytes = self.original.to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        let mut now: Vec<_> = self.batches.iter().map(|b| Some(b.start as u64)).collect();
        let mut unprotected = Vec::new();
        for (i, batch) in self.batches.iter().enumerate() {
            if bytes[batch.clone()] != self.original[batch.clone()] {
                now[i] = None;
                let changed: Vec<_> = batch.clone().filter(|&b| bytes[b] != self.original[b]).collect();
                if changed.iter().all(|b| (12..16).contains(&(b - batch.start))) {
                    unprotected.push(i);
                }
            }
        }
        Damaged { what, bytes, now, unprotected }
    }

    fn damage(&mut self, kind: usize) -> Damaged {
        let len = self.original.len();
        match kind {
            0 => {
                let (at, bit) = (self.rng.below(len), self.rng.below(8));
                self.overwritten(format!("bit {bit} of byte {at} flipped"), at, &[self.original[at] ^ 1 << bit])
            }
            1 => {
                let size = [512, 4096][self.rng.below(2)];
                let at = self.rng.below(len / size) * size;
                self.overwritten(format!("page of {size} zeroed at {at}"), at, &vec![0; size])
            }
            2 => {
                let to = self.rng.below(len);
                self.pieces(format!("cut at {to}"), std::slice::from_ref(&(0..to)))
            }
            3 => {
                let from = self.rng.below(len - 1);
                let to = (from + 1 + self.rng.below(8192)).min(len);
                self.pieces(format!("bytes {from}..{to} lost"), &[0..from, to..len])
            }
            4 => {
                let size = [512, 4096][self.rng.below(2)];
                let a = self.rng.below(len / size - 1);
                let b = a + 1 + self.rng.below(len / size - 1 - a);
                let (a, b) = (a * size, b * size);
                let pieces = [0..a, b..b + size, a + size..b, a..a + size, b + size..len];
                self.pieces(format!("pages of {size} at {a} and {b} swapped"), &pieces)
            }
            _ => {
                let i = self.rng.below(self.batches.len());
                let batch = self.batches[i].clone();
                let new = match self.rng.below(8) {
                    0 => 0,
                    1 => -1,
                    2 => i32::MAX,
                    3 => self.rng.below(200) as i32,
                    4 => self.rng.below(len) as i32,
                    5 => len as i32,
                    // Up to where some later batch ends, so that the next header is a good one.
                    _ => {
                        let later = &self.batches[i + self.rng.below((self.batches.len() - i).min(9))];
                        (later.end - batch.start - 12) as i32
                    }
                };
                self.overwritten(format!("length of batch {i} set to {new}"), batch.start + 8, &new.to_be_bytes())
            }
        }
    }
}

#[test]
fn five_hundred_damages() {
    let original = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    let clean = walk(&original);
    assert_eq!(clean.findings, [], "no false alarm");
    let batches: Vec<_> = clean.batches.iter().map(|b| b.offset as usize..(b.offset + b.len) as usize).collect();
    assert!(batches.len() >= 300);
    let mut drill = Drill { original: &original, batches, rng: Rng(7) };
    let mut changed = 0;
    for round in 0..1200 {
        let damaged = drill.damage(round % 6);
        if damaged.bytes == original {
            continue;
        }
        changed += 1;
        judge(&drill, &clean, &damaged);
    }
    assert!(changed >= 500, "{changed} damages changed something");
}

fn judge(drill: &Drill<'_>, clean: &Told, damaged: &Damaged) {
    let Damaged { what, bytes, now, unprotected } = damaged;
    let told = walk(bytes);
    let place_errors = [
        ErrorKind::OffsetOverlap,
        ErrorKind::LeaderEpochRegression,
        ErrorKind::OffsetGap,
        ErrorKind::ResumableAfterCorruption,
    ];
    for (i, at) in now.iter().enumerate() {
        let Some(at) = at else { continue };
        let batch = told.batches.iter().find(|b| b.offset == *at);
        let batch = batch.unwrap_or_else(|| panic!("{what}: batch {i}, intact at {at}, was not found"));
        assert_eq!(batch.len, drill.batches[i].len() as u64, "{what}: batch {i}");
        assert_eq!(batch.summary, clean.batches[i].summary, "{what}: batch {i}");
        // It may stand in the wrong place, but in itself it is sound.
        let own = told.findings.iter().filter(|f| f.batch == Some(batch.number));
        for finding in own {
            assert!(place_errors.contains(&finding.defect.error.kind()), "{what}: batch {i}: {finding:?}");
        }
    }
    // Nothing that is no batch of the original passes for a sound one. What no checksum protects, offset and leader
    // epoch, can only be told by the neighbours; if those are damaged too, by the order being wrong somewhere.
    let protected = |bytes: &[u8]| [&bytes[8..12], &bytes[16..]].concat();
    for batch in told.batches.iter().filter(|b| b.is_valid() && !now.contains(&Some(b.offset))) {
        let found = protected(&bytes[batch.offset as usize..(batch.offset + batch.len) as usize]);
        let like = drill.batches.iter().position(|b| protected(&drill.original[b.clone()]) == found);
        let like = like.unwrap_or_else(|| panic!("{what}: {batch:?} passed as sound"));
        let order_is_wrong = told.findings.iter().any(|f| f.defect.error.kind() == ErrorKind::OffsetOverlap);
        assert!(unprotected.contains(&like) || order_is_wrong, "{what}: {batch:?} passed as sound");
    }
    // Where batches were damaged there is an error, before the next sound batch.
    let lost: Vec<_> = (0..now.len()).filter(|i| now[*i].is_none() && !unprotected.contains(i)).collect();
    let cut_between = lost.is_empty() || now.iter().rev().take_while(|n| n.is_none()).count() == lost.len();
    let errors = told.findings.iter().filter(|f| f.defect.severity == batchwise::Severity::Error).count();
    let on_a_border = bytes.len() < drill.original.len() && cut_between && {
        let end = bytes.len() as u64;
        told.batches.iter().any(|b| b.offset + b.len == end) || bytes.is_empty()
    };
    if unprotected.is_empty() && !on_a_border {
        let gap = told.findings.iter().any(|f| f.defect.error.kind() == ErrorKind::OffsetGap);
        assert!(errors > 0 || gap, "{what}: nothing was found");
        assert!(errors > 0 || bytes.len() < drill.original.len(), "{what}: only a gap was found");
    }
    if let Some(&i) = lost.first()
        && bytes.len() == drill.original.len()
    {
        let (start, end) = (drill.batches[i].start as u64, drill.batches[i].end as u64);
        let near = told.findings.iter().map(|f| f.defect.error).any(|error| {
            let len = match (error.kind(), error.detail()) {
                (ErrorKind::UnreadableBytes, Detail::Bytes { count }) => count,
                _ => 1,
            };
            error.offset() < end && error.offset() + len > start
        });
        assert!(near, "{what}: no finding in batch {i} at {start}: {:#?}", told.findings);
    }
}
