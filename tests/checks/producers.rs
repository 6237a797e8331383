//! What is known of a producer from batches before.

use crate::support::{RECORD, build};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::kafka::{NewControlRecord, Producers, RecordBatch, RecordBatchBuilder};
use batchwise::{Defect, Options, Scratch};

const ID: i64 = 7;

fn data(epoch: i16, sequence: i32, transactional: bool) -> Vec<u8> {
    build(RecordBatchBuilder::new().producer(ID, epoch, sequence).transactional(transactional), &[RECORD])
}

fn marker(epoch: i16, coordinator_epoch: i32) -> Vec<u8> {
    let mut builder = RecordBatchBuilder::new().producer(ID, epoch, -1).transactional(true).control(true);
    builder.append_control(1000, &NewControlRecord::Commit { coordinator_epoch }).unwrap();
    builder.finish().unwrap()
}

/// What is found in the last of these batches, each in an input of its own, or at the end of them.
fn last_of(batches: Vec<Vec<u8>>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        let (mut producers, mut scratch, mut found) = (Producers::default(), Scratch::default(), Vec::new());
        for bytes in &batches {
            found.clear();
            let batch = RecordBatch::parse(bytes, 0).unwrap();
            producers.append(&batch, options, &mut scratch, &mut |d| found.push(d));
        }
        producers.check_end(500, options, &mut |d| found.push(d));
        found
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let seq = |kind: batchwise::ErrorKind, what| case(kind.name(), kind, what);
    vec![
        seq(DuplicateSequence, "the same batch again").at("baseSequence", 53, "I-- I--").runs(
            last_of(vec![data(0, 0, false), data(0, 0, false)]),
            last_of(vec![data(0, 0, false), data(0, 1, false)]),
        ),
        seq(SequenceOutOfOrder, "2 behind 0").at("baseSequence", 53, "E-- E--").runs(
            last_of(vec![data(0, 0, false), data(0, 2, false)]),
            last_of(vec![data(0, 0, false), data(0, 1, false)]),
        ),
        seq(SequenceOutOfOrder, "an epoch that starts at 1").at("baseSequence", 53, "E-- E--").runs(
            last_of(vec![data(0, 0, false), data(1, 1, false)]),
            last_of(vec![data(0, 0, false), data(1, 0, false)]),
        ),
        seq(SequenceOutOfOrder, "2147483647 is not followed by 1").at("baseSequence", 53, "E-- E--").runs(
            last_of(vec![data(0, i32::MAX, false), data(0, 1, false)]),
            last_of(vec![data(0, i32::MAX, false), data(0, 0, false)]),
        ),
        seq(ProducerFenced, "epoch 1 behind epoch 2").at("producerEpoch", 51, "EWW EWW").runs(
            last_of(vec![data(2, 0, false), data(1, 1, false)]),
            last_of(vec![data(2, 0, false), data(2, 1, false)]),
        ),
        seq(TransactionStateInvalid, "a batch of no transaction in an open one").at("attributes", 21, "EEE EEE").runs(
            last_of(vec![data(0, 0, true), data(0, 1, false)]),
            last_of(vec![data(0, 0, true), data(0, 1, true)]),
        ),
        seq(CoordinatorFenced, "coordinator epoch 4 behind 5")
            .at("coordinatorEpoch", 61 + 10 + 2, "EWW EWW")
            .runs(last_of(vec![marker(0, 5), marker(0, 4)]), last_of(vec![marker(0, 5), marker(0, 5)])),
        case("K75", OpenTransaction, "a transaction without a marker")
            .at("producerId", 500, "-I- -I-")
            .runs(last_of(vec![data(0, 0, true)]), last_of(vec![data(0, 0, true), marker(0, 1)])),
    ]
}
