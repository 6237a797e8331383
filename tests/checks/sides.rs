//! The files beside a segment. They have their severities from the list of rules too, but no options.

use crate::support::{batch, batch_at};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::kafka::Log;
use batchwise::segment::{Job, SideFile, SideKind, verify_all};
use batchwise::{Defect, Options, Origin, Report, Validator, crc32c};
use std::io;
use std::ops::ControlFlow;

fn stored(options: &Options, check: impl Fn() -> Report) -> Vec<Defect> {
    if options.origin != Origin::Stored {
        return Vec::new();
    }
    check().findings.iter().map(|f| f.defect).collect()
}

/// A file looked at by itself.
fn alone(kind: SideKind, bytes: Vec<u8>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| stored(options, || SideFile { kind, base_offset: 0, bytes: bytes.clone() }.check())
}

/// A file beside a log of three batches.
fn beside(kind: SideKind, bytes: Vec<u8>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        stored(options, || {
            let log = [batch(), batch_at(2), batch_at(4)].concat();
            let side = SideFile { kind, base_offset: 0, bytes: bytes.clone() };
            let open = |_| {
                let job = Job { source: &log[..], validator: Validator::new(&Log), sides: vec![side.clone()] };
                Ok::<_, io::Error>(job)
            };
            let mut report = Report::default();
            verify_all(1, 1, &open, &mut |_, verified| {
                report = verified.unwrap().sides.remove(0);
                ControlFlow::Break(())
            });
            report
        })
    }
}

fn offsets(entries: &[(i32, i32)]) -> Vec<u8> {
    entries.iter().flat_map(|(offset, position)| [offset.to_be_bytes(), position.to_be_bytes()].concat()).collect()
}

fn times(entries: &[(i64, i32)]) -> Vec<u8> {
    entries.iter().flat_map(|(time, offset)| [&time.to_be_bytes()[..], &offset.to_be_bytes()].concat()).collect()
}

/// An aborted transaction of producer 7.
fn aborted(version: i16, first: i64, last: i64) -> Vec<u8> {
    let numbers = [7, first, last, first];
    [&version.to_be_bytes()[..], &numbers.map(i64::to_be_bytes).concat()].concat()
}

/// A snapshot of no producers but `count`.
fn snapshot(version: i16, count: i32) -> Vec<u8> {
    let count = count.to_be_bytes();
    [&version.to_be_bytes()[..], &crc32c::crc32c(&count).to_be_bytes(), &count].concat()
}

pub(crate) fn cases() -> Vec<Case> {
    use SideKind::{OffsetIndex, ProducerSnapshot, TimeIndex, TxnIndex};
    let sound_offsets = || offsets(&[(3, 79), (5, 158)]);
    let sound_times = || times(&[(1000, 1), (1000, 3)]);
    let cut = |mut bytes: Vec<u8>| {
        bytes.pop();
        bytes
    };
    let bad_crc = {
        let mut bytes = snapshot(1, 0);
        bytes[2] ^= 1;
        bytes
    };
    vec![
        case("K95", IndexSizeInvalid, "an .index of 15 bytes")
            .at("entry", 8, "-E- -E-")
            .runs(alone(OffsetIndex, cut(sound_offsets())), alone(OffsetIndex, sound_offsets())),
        case("K95", IndexSizeInvalid, "a .timeindex of 23 bytes")
            .at("entry", 12, "-E- -E-")
            .runs(alone(TimeIndex, cut(sound_times())), alone(TimeIndex, sound_times())),
        case("K95", IndexSizeInvalid, "a .txnindex of 33 bytes")
            .at("entry", 0, "-E- -E-")
            .runs(alone(TxnIndex, cut(aborted(0, 1, 2))), alone(TxnIndex, aborted(0, 1, 2))),
        case("K96", IndexNotMonotonic, "an offset twice")
            .at("relativeOffset", 8, "-E- -E-")
            .runs(alone(OffsetIndex, offsets(&[(3, 79), (3, 158)])), alone(OffsetIndex, sound_offsets())),
        case("K96", IndexNotMonotonic, "a position twice").at("position", 12, "-E- -E-").runs(
            alone(OffsetIndex, offsets(&[(3, 79), (5, 79)])),
            alone(OffsetIndex, [sound_offsets(), vec![0; 16]].concat()),
        ),
        case("K97", IndexPositionInvalid, "a position amid a batch")
            .at("position", 12, "-E- -E-")
            .runs(beside(OffsetIndex, offsets(&[(3, 79), (5, 159)])), beside(OffsetIndex, sound_offsets())),
        case("K97", IndexPositionInvalid, "a position beyond the log")
            .at("position", 12, "-E- -E-")
            .runs(beside(OffsetIndex, offsets(&[(3, 79), (5, 237)])), beside(OffsetIndex, sound_offsets())),
        case("K98", IndexOffsetMismatch, "an offset at which no batch ends")
            .at("relativeOffset", 8, "-W- -W-")
            .runs(beside(OffsetIndex, offsets(&[(3, 79), (4, 158)])), beside(OffsetIndex, sound_offsets())),
        case("K98", IndexOffsetMismatch, "the same, but for one at which a later batch ends, as followers write it")
            .at("relativeOffset", 0, "-W- -W-")
            .runs(beside(OffsetIndex, offsets(&[(4, 79)])), beside(OffsetIndex, offsets(&[(5, 79)]))),
        case("K99", TimeIndexNotMonotonic, "a timestamp below the one before")
            .at("timestamp", 12, "-E- -E-")
            .runs(alone(TimeIndex, times(&[(1000, 1), (999, 3)])), alone(TimeIndex, sound_times())),
        case("K99", TimeIndexNotMonotonic, "an offset below the one before")
            .at("relativeOffset", 20, "-E- -E-")
            .runs(alone(TimeIndex, times(&[(1000, 3), (1001, 1)])), alone(TimeIndex, sound_times())),
        case("K100", TimeIndexMismatch, "a timestamp that the log has not")
            .at("timestamp", 12, "-W- -W-")
            .runs(beside(TimeIndex, times(&[(1000, 1), (1001, 3)])), beside(TimeIndex, sound_times())),
        case("K100", TimeIndexMismatch, "an offset at which no batch ends")
            .at("relativeOffset", 20, "-W- -W-")
            .runs(beside(TimeIndex, times(&[(1000, 1), (1000, 2)])), beside(TimeIndex, sound_times())),
        case("K101", TxnIndexInvalid, "version 1")
            .at("version", 0, "-E- -E-")
            .runs(alone(TxnIndex, aborted(1, 1, 2)), alone(TxnIndex, aborted(0, 1, 2))),
        case("K101", TxnIndexInvalid, "a last offset that does not rise").at("lastOffset", 34 + 18, "-E- -E-").runs(
            alone(TxnIndex, [aborted(0, 1, 2), aborted(0, 0, 2)].concat()),
            alone(TxnIndex, [aborted(0, 1, 2), aborted(0, 0, 3)].concat()),
        ),
        case("K102", ProducerSnapshotCorrupt, "version 2")
            .at("version", 0, "-E- -E-")
            .runs(alone(ProducerSnapshot, snapshot(2, 0)), alone(ProducerSnapshot, snapshot(1, 0))),
        case("K102", ProducerSnapshotCorrupt, "a bit of the checksum")
            .at("crc", 2, "-E- -E-")
            .runs(alone(ProducerSnapshot, bad_crc), alone(ProducerSnapshot, snapshot(1, 0))),
        case("K102", ProducerSnapshotCorrupt, "a producer that is not there")
            .at("count", 6, "-E- -E-")
            .runs(alone(ProducerSnapshot, snapshot(1, 1)), alone(ProducerSnapshot, snapshot(1, 0))),
        case("K103", OrphanIndex, "an .index without a log").at("batch", 0, "-W- -W-").runs(
            move |o| stored(o, || SideFile { kind: OffsetIndex, base_offset: 0, bytes: vec![] }.check_orphan()),
            move |o| {
                stored(o, || SideFile { kind: ProducerSnapshot, base_offset: 0, bytes: snapshot(1, 0) }.check_orphan())
            },
        ),
    ]
}
