//! A batch and those before it, and the segment as a whole.

use crate::support::{RECORD, batch, batch_at, build, raw};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::kafka::{Log, RecordBatchBuilder};
use batchwise::segment::{self, ReadAt};
use batchwise::{Defect, Depth, Finding, Options, Validator};
use std::io;

fn two(first: Vec<u8>, second: Vec<u8>) -> Vec<u8> {
    [first, second].concat()
}

/// A log in a file of this number.
fn named(base_offset: u64, log: Vec<u8>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        let report = Validator::new(&Log).options(*options).base_offset(Some(base_offset)).validate(&log);
        report.findings.iter().map(|f| f.defect).collect()
    }
}

fn of_epoch(epoch: i32, base_offset: i64) -> Vec<u8> {
    build(RecordBatchBuilder::new().base_offset(base_offset).partition_leader_epoch(epoch), &[RECORD, RECORD])
}

/// A file of batches of 1 GiB, of which nobody reads more than the headers.
struct Huge {
    batches: u64,
}

const GIB: u64 = 1 << 30;

impl ReadAt for Huge {
    fn size(&self) -> io::Result<u64> {
        Ok(self.batches * GIB)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let number = offset / GIB;
        let header = raw(batch_at(2 * number as i64), 8, &(GIB as i32 - 12).to_be_bytes());
        let start = usize::try_from(offset % GIB).unwrap().min(header.len());
        buffer.fill(0);
        let len = buffer.len().min(header.len() - start);
        buffer[..len].copy_from_slice(&header[start..start + len]);
        Ok(buffer.len())
    }
}

fn huge(batches: u64) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        let (mut options, mut found) = (*options, Vec::new());
        options.depth = Depth::Frames;
        let validator = Validator::new(&Log).options(options);
        let totals = segment::verify(&Huge { batches }, validator, &mut |f: Finding| found.push(f.defect)).unwrap();
        assert_eq!(totals.batches, batches);
        found
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let len = batch().len() as u64;
    vec![
        case("K12", BatchCountNotOne, "two record batches from a producer")
            .at("batch", len, "E-- E--")
            .logs(two(batch(), batch_at(2)), batch()),
        case("K62", OffsetOverlap, "offset 1 behind offsets 0 and 1")
            .at("baseOffset", len, "-EE -WW")
            .logs(two(batch(), batch_at(1)), two(batch(), batch_at(2))),
        case("K63", OffsetGap, "offset 3 behind offsets 0 and 1")
            .at("baseOffset", len, "-II -II")
            .logs(two(batch(), batch_at(3)), two(batch(), batch_at(2))),
        case("K64", RelativeOffsetOverflow, "2147483648 offsets behind the number in the name")
            .at("baseOffset", 0, "-W- -W-")
            .runs(named(5, batch_at((1 << 31) + 4)), named(5, batch_at((1 << 31) + 3))),
        case("K65", OffsetBelowSegmentBase, "an offset below the number in the name")
            .at("baseOffset", 0, "-E- -W-")
            .runs(named(5, batch_at(4)), named(5, batch_at(5))),
        case("K66", LeaderEpochRegression, "epoch 4 behind epoch 5")
            .at("partitionLeaderEpoch", len + 12, "-W- -W-")
            .logs(two(of_epoch(5, 0), of_epoch(4, 2)), two(of_epoch(5, 0), of_epoch(5, 2))),
        case("K66", LeaderEpochRegression, "no epoch behind epoch 5")
            .at("partitionLeaderEpoch", len + 12, "-W- -W-")
            .logs(two(of_epoch(5, 0), of_epoch(-1, 2)), two(of_epoch(-1, 0), of_epoch(-1, 2))),
        case("K70", ResumableAfterCorruption, "a sound batch behind a damaged one")
            .at("batch", len, "-I- -I-")
            .logs(two(raw(batch(), 70, &[9]), batch_at(2)), two(batch(), batch_at(2))),
        case("K70", ResumableAfterCorruption, "a sound batch behind bytes of none")
            .at("batch", len + 30, "-I- -I-")
            .logs([batch(), vec![0xFF; 30], batch_at(2)].concat(), two(batch(), vec![0xFF; 30])),
        case("K71", SegmentTooLarge, "2 GiB").at("batch", (1 << 31) - 1, "-E- -E-").runs(huge(2), huge(1)),
    ]
}
