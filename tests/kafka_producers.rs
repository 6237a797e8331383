//! The state of producers: every rule, with a batch that breaks it and one that does not.

use batchwise::kafka::{
    Appended, NewRecord, Producers, RecordBatch, RecordBatchBuilder, sequence_after, sequence_before,
};
use batchwise::{ErrorKind, Options, Origin, Scratch, Severity};

/// A partition, and what the last batch was found to be.
struct Partition {
    producers: Producers,
    origin: Origin,
    scratch: Scratch,
    next_offset: i64,
    found: Vec<(ErrorKind, Severity)>,
}

const ID: i64 = 7;

impl Partition {
    fn new(origin: Origin) -> Self {
        let (producers, scratch, found) = (Producers::default(), Scratch::default(), Vec::new());
        Partition { producers, origin, scratch, next_offset: 100, found }
    }

    fn append(&mut self, builder: RecordBatchBuilder, records: &[NewRecord<'_>]) -> Appended {
        let mut builder = builder.base_offset(self.next_offset);
        for record in records {
            builder.append(record).expect("a sound record");
        }
        let bytes = builder.finish().expect("a batch");
        let batch = RecordBatch::parse(&bytes, 0).expect("a batch");
        let mut options = Options::default();
        options.origin = self.origin;
        self.found.clear();
        let found = &mut self.found;
        let appended = self
            .producers
            .append(&batch, &options, &mut self.scratch, &mut |d| found.push((d.error.kind(), d.severity)));
        if matches!(appended, Appended::New(_)) {
            self.next_offset = batch.last_offset() + 1;
        }
        appended
    }

    /// Appends `count` records.
    fn data(&mut self, epoch: i16, sequence: i32, count: usize, transactional: bool) -> Appended {
        let record = NewRecord { timestamp: 1, value: Some(b"v"), ..NewRecord::default() };
        let builder = RecordBatchBuilder::new().producer(ID, epoch, sequence).transactional(transactional);
        self.append(builder, &vec![record; count])
    }

    fn marker(&mut self, epoch: i16, commits: bool, coordinator_epoch: i32) -> Appended {
        let key = [0, 0, 0, u8::from(commits)];
        let mut value = vec![0, 0];
        value.extend(coordinator_epoch.to_be_bytes());
        let record = NewRecord { timestamp: 1, key: Some(&key), value: Some(&value), ..NewRecord::default() };
        let builder = RecordBatchBuilder::new().producer(ID, epoch, -1).transactional(true).control(true);
        self.append(builder, &[record])
    }

    #[track_caller]
    fn assert_found(&self, expected: &[(ErrorKind, Severity)]) {
        assert_eq!(self.found, expected);
    }
}

const NEW: Appended = Appended::New(None);
use Severity::{Error, Info, Warning};

#[test]
fn sequences_wrap_at_31_bits() {
    assert_eq!(sequence_after(5, 3), 8);
    assert_eq!(sequence_after(i32::MAX, 1), 0);
    assert_eq!(sequence_after(i32::MAX - 3, 9), 5);
    assert_eq!(sequence_before(5, 5), 0);
    assert_eq!(sequence_before(0, 1), i32::MAX);
    assert_eq!(sequence_before(5, 9), i32::MAX - 3);
    let mut p = Partition::new(Origin::Client);
    assert_eq!(p.data(0, i32::MAX, 2, false), NEW);
    assert_eq!(p.producers.get(ID).unwrap().batches().next().unwrap().last_sequence, 0);
    assert_eq!(p.data(0, 1, 1, false), NEW);
}

#[test]
fn sequences_follow_each_other() {
    let mut p = Partition::new(Origin::Client);
    // The first batch of a producer that is not known may have any.
    assert_eq!(p.data(3, 17, 2, false), NEW);
    assert_eq!(p.data(3, 19, 1, false), NEW);
    assert_eq!(p.data(3, 21, 1, false), Appended::Refused);
    p.assert_found(&[(ErrorKind::SequenceOutOfOrder, Error)]);
    // A refused batch changes nothing.
    assert_eq!(p.data(3, 20, 1, false), NEW);
    p.assert_found(&[]);
}

#[test]
fn an_epoch_starts_with_sequence_0() {
    let mut p = Partition::new(Origin::Client);
    assert_eq!(p.data(3, 0, 2, false), NEW);
    assert_eq!(p.data(4, 2, 1, false), Appended::Refused);
    p.assert_found(&[(ErrorKind::SequenceOutOfOrder, Error)]);
    assert_eq!(p.data(4, 0, 1, false), NEW);
    assert_eq!(p.data(3, 1, 1, false), Appended::Refused);
    assert_eq!(p.found[0], (ErrorKind::ProducerFenced, Error));
    assert_eq!(p.producers.get(ID).unwrap().batches().count(), 1, "batches of the epoch only");
}

#[test]
fn five_batches_are_known_again() {
    let mut p = Partition::new(Origin::Client);
    for sequence in 0..6 {
        assert_eq!(p.data(0, sequence, 1, false), NEW);
    }
    for sequence in 1..6 {
        let Appended::Duplicate(known) = p.data(0, sequence, 1, false) else { panic!("sequence {sequence}") };
        assert_eq!((known.first_offset, known.last_offset), (100 + i64::from(sequence), 100 + i64::from(sequence)));
        p.assert_found(&[(ErrorKind::DuplicateSequence, Info)]);
    }
    // The sixth is not, and neither is a batch of other length.
    assert_eq!(p.data(0, 0, 1, false), Appended::Refused);
    assert_eq!(p.data(0, 5, 2, false), Appended::Refused);
    p.assert_found(&[(ErrorKind::SequenceOutOfOrder, Error)]);
}

#[test]
fn transactions_are_begun_and_ended() {
    let mut p = Partition::new(Origin::Client);
    assert_eq!(p.data(0, 0, 2, true), NEW);
    assert_eq!(p.producers.open_transactions().collect::<Vec<_>>(), [(ID, 100)]);
    assert_eq!(p.data(0, 2, 1, false), Appended::Refused);
    p.assert_found(&[(ErrorKind::TransactionStateInvalid, Error)]);
    assert_eq!(p.data(0, 2, 1, true), NEW);
    let Appended::New(Some(ended)) = p.marker(0, false, 5) else { panic!("an ended transaction") };
    assert_eq!((ended.producer_id, ended.first_offset, ended.last_offset, ended.aborted), (ID, 100, 103, true));
    assert_eq!(p.producers.open_transactions().count(), 0);
    assert_eq!(p.data(0, 3, 1, false), NEW);
    // A marker without data ends nothing.
    assert_eq!(p.marker(0, true, 5), NEW);
    assert_eq!(p.marker(0, true, 4), Appended::Refused);
    p.assert_found(&[(ErrorKind::CoordinatorFenced, Error)]);
    // One of a new epoch fences the producer, and its next batch starts anew.
    assert_eq!(p.marker(1, true, 6), NEW);
    assert_eq!(p.data(0, 4, 1, false), Appended::Refused);
    assert_eq!(p.data(1, 0, 1, false), NEW);
}

#[test]
fn transactions_may_have_to_be_verified() {
    let mut p = Partition::new(Origin::Client);
    p.producers = Producers::default().verifying_transactions();
    assert_eq!(p.data(0, 0, 1, true), Appended::Refused);
    p.assert_found(&[(ErrorKind::TransactionStateInvalid, Error)]);
    p.producers.verify_transaction(ID, 0);
    assert_eq!(p.data(0, 0, 1, true), NEW);
    assert_eq!(p.data(0, 1, 1, true), NEW);
}

#[test]
fn replicas_adopt_what_they_read() {
    for origin in [Origin::Replica, Origin::Stored] {
        let mut p = Partition::new(origin);
        assert_eq!(p.data(3, 0, 2, false), NEW);
        assert_eq!(p.data(3, 9, 1, false), NEW, "a gap");
        assert_eq!(p.data(3, 9, 1, false), NEW, "the same again");
        p.assert_found(&[]);
        assert_eq!(p.data(2, 0, 1, false), NEW);
        p.assert_found(&[(ErrorKind::ProducerFenced, Warning)]);
        assert_eq!(p.marker(2, true, 5), NEW);
        assert_eq!(p.marker(2, true, 4), NEW);
        p.assert_found(&[(ErrorKind::CoordinatorFenced, Warning)]);
    }
}

#[test]
fn batches_without_a_producer_are_nobodys() {
    let mut p = Partition::new(Origin::Client);
    assert_eq!(p.append(RecordBatchBuilder::new(), &[NewRecord::default()]), NEW);
    assert_eq!(p.producers.iter().count(), 0);
    assert_eq!(p.data(0, 0, 1, false), NEW);
    p.producers.forget(ID);
    assert!(p.producers.get(ID).is_none());
}

#[test]
fn kafkas_transactions_are_in_order() {
    let bytes = include_bytes!("data/kafka/v2-transactions/00000000000000000000.log");
    let mut p = Partition::new(Origin::Stored);
    let (mut at, mut ended) = (0, 0);
    while at < bytes.len() {
        let batch = RecordBatch::parse(&bytes[at..], at as u64).unwrap();
        let found = &mut p.found;
        let appended = p.producers.append(&batch, &Options::default(), &mut p.scratch, &mut |d| {
            found.push((d.error.kind(), d.severity));
        });
        ended += u32::from(matches!(appended, Appended::New(Some(_))));
        at += batch.bytes().len();
    }
    assert!(ended > 0);
    assert!(p.found.iter().all(|(_, severity)| *severity < Error), "{:?}", p.found);
}
