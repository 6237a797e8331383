//! What a broker keeps of each producer of a partition, and what it refuses for it.

use super::check::place_of;
use super::rules::{Judge, Of};
use super::{BatchHeader, ControlRecord, RecordBatch};
use crate::formats::{Defect, Options, Origin, Scratch};
use crate::{Detail, Error, ErrorKind};
use alloc::collections::{BTreeMap, BTreeSet};

/// Batches whose sequence numbers are kept, to know them again.
const RETAINED: usize = 5;

/// Adds to a sequence number: after 2147483647 comes 0.
///
/// For negative numbers, of which there should be none, the result is Kafka's.
#[must_use]
pub const fn sequence_after(sequence: i32, by: i32) -> i32 {
    if sequence > i32::MAX.wrapping_sub(by) {
        by.wrapping_sub(i32::MAX.wrapping_sub(sequence)).wrapping_sub(1)
    } else {
        sequence.wrapping_add(by)
    }
}

/// Takes from a sequence number: before 0 comes 2147483647.
///
/// For negative numbers, of which there should be none, the result is Kafka's.
#[must_use]
pub const fn sequence_before(sequence: i32, by: i32) -> i32 {
    if sequence < by {
        i32::MAX.wrapping_sub(by.wrapping_sub(sequence)).wrapping_add(1)
    } else {
        sequence.wrapping_sub(by)
    }
}

/// A batch as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedBatch {
    /// First sequence number.
    pub first_sequence: i32,
    /// Last sequence number.
    pub last_sequence: i32,
    /// First offset.
    pub first_offset: i64,
    /// Last offset.
    pub last_offset: i64,
    /// `maxTimestamp`, ms.
    pub timestamp: i64,
}

/// What is kept of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerState {
    epoch: i16,
    coordinator_epoch: i32,
    transaction_from: Option<i64>,
    /// The last batches of the epoch, the latest first.
    batches: [Option<RetainedBatch>; RETAINED],
}

impl ProducerState {
    const UNKNOWN: ProducerState =
        ProducerState { epoch: -1, coordinator_epoch: -1, transaction_from: None, batches: [None; RETAINED] };

    /// The producer's epoch.
    #[must_use]
    pub const fn epoch(&self) -> i16 {
        self.epoch
    }

    /// Epoch of the coordinator that wrote the last marker; -1 for none.
    #[must_use]
    pub const fn coordinator_epoch(&self) -> i32 {
        self.coordinator_epoch
    }

    /// First offset of the transaction that is not ended.
    #[must_use]
    pub const fn transaction_from(&self) -> Option<i64> {
        self.transaction_from
    }

    /// The last batches of the epoch, five at most, the latest first.
    pub fn batches(&self) -> impl Iterator<Item = RetainedBatch> + '_ {
        self.batches.iter().flatten().copied()
    }

    fn last_sequence(&self) -> i32 {
        self.batches[0].map_or(-1, |b| b.last_sequence)
    }

    fn enter(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.batches = [None; RETAINED];
        }
    }
}

/// A transaction that a marker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedTransaction {
    /// Whose.
    pub producer_id: i64,
    /// Offset of its first record.
    pub first_offset: i64,
    /// Offset of the marker.
    pub last_offset: i64,
    /// Whether it was aborted.
    pub aborted: bool,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It belongs in the log; it may have ended a transaction.
    New(Option<EndedTransaction>),
    /// It is in the log: the producer sent it again. A broker answers with these offsets and writes nothing.
    Duplicate(RetainedBatch),
    /// A broker refuses it.
    Refused,
}

/// The producers of a partition: checks batches in the order of the log.
///
/// Batches of a [client](Origin::Client) are refused where the broker refuses them; those of replicas and segments are
/// adopted, and what is odd about them is reported.
///
/// ```
/// use batchwise::kafka::{Appended, Producers, RecordBatch};
/// use batchwise::{Options, Origin, Scratch};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v2-idempotent/00000000000000000000.log"));
/// let batch = RecordBatch::parse(bytes, 0)?;
/// let (mut producers, mut scratch, mut options) = (Producers::default(), Scratch::default(), Options::default());
/// options.origin = Origin::Client;
/// let mut append = || producers.append(&batch, &options, &mut scratch, &mut |defect| println!("{}", defect.error));
/// assert_eq!(append(), Appended::New(None));
/// assert!(matches!(append(), Appended::Duplicate(_)));
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Producers {
    states: BTreeMap<i64, ProducerState>,
    verified: Option<BTreeSet<(i64, i16)>>,
}

impl Producers {
    /// Refuses a client's transactional batch unless its transaction is open or was
    /// [verified](Self::verify_transaction), as brokers do since version 3.6.
    #[must_use]
    pub fn verifying_transactions(self) -> Self {
        Producers { verified: Some(self.verified.unwrap_or_default()), ..self }
    }

    /// Notes that the coordinator knows of a transaction of the producer on this partition.
    pub fn verify_transaction(&mut self, producer_id: i64, epoch: i16) {
        self.verified.get_or_insert_default().insert((producer_id, epoch));
    }

    /// What is kept of a producer.
    #[must_use]
    pub fn get(&self, producer_id: i64) -> Option<&ProducerState> {
        self.states.get(&producer_id)
    }

    /// Every producer, by its id.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &ProducerState)> {
        self.states.iter().map(|(&id, state)| (id, state))
    }

    /// Forgets a producer, as brokers do some time after its last batch.
    pub fn forget(&mut self, producer_id: i64) {
        self.states.remove(&producer_id);
    }

    /// The next batch of the log. Its checksum and its records are taken to be sound.
    pub fn append(
        &mut self,
        batch: &RecordBatch<'_>,
        options: &Options,
        scratch: &mut Scratch,
        defect: &mut dyn FnMut(Defect),
    ) -> Appended {
        let header = batch.header();
        let id = header.producer_id();
        if id < 0 {
            return Appended::New(None);
        }
        let mut refused = false;
        let mut judge = Judge::new(options, Of::Batch, defect);
        let mut report = |kind, detail, field, at| {
            refused |= judge.report(Error::new(kind, detail, field, batch.offset() + at));
        };
        let mut state = self.states.get(&id).copied().unwrap_or(ProducerState::UNKNOWN);
        let mut outcome = Appended::New(None);
        if batch.attributes().is_control() {
            match marker(batch, scratch) {
                // The transaction was compacted away, or it is no marker.
                Ok(None) => return outcome,
                Ok(Some((aborted, coordinator_epoch))) => {
                    outcome = Appended::New(end(&mut state, batch, aborted, coordinator_epoch, &mut report));
                }
                Err(e) => report(e.kind(), e.detail(), e.field(), place_in_marker(batch, e.field())),
            }
        } else {
            if options.origin == Origin::Client
                && let Some(known) = duplicate(&state, batch)
            {
                let found = header.base_sequence().into();
                let detail = Detail::Value { found, rule: "was appended before with the same last sequence" };
                report(ErrorKind::DuplicateSequence, detail, "baseSequence", 53);
                return Appended::Duplicate(known);
            }
            if let Some(verified) = &self.verified
                && options.origin == Origin::Client
                && batch.attributes().is_transactional()
                && !(state.transaction_from.is_some() && state.epoch == header.producer_epoch())
                && !verified.contains(&(id, header.producer_epoch()))
            {
                let detail = Detail::Reason("its transaction was not verified");
                report(ErrorKind::TransactionStateInvalid, detail, "attributes", 21);
            }
            data(&mut state, batch, options.origin, &mut report);
        }
        if refused {
            return Appended::Refused;
        }
        self.states.insert(id, state);
        outcome
    }

    /// Reports the transactions that are open at the end of a segment, which ends at byte `offset`: `OpenTransaction`.
    pub fn check_end(&self, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
        let mut judge = Judge::new(options, Of::Batch, defect);
        for (producer_id, _) in self.open_transactions() {
            let detail = Detail::Value { found: producer_id, rule: "is the producer whose transaction no marker ends" };
            judge.report(Error::new(ErrorKind::OpenTransaction, detail, "producerId", offset));
        }
    }

    /// Transactions that no marker has ended: producer id and first offset.
    pub fn open_transactions(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.states.iter().filter_map(|(&id, state)| Some((id, state.transaction_from?)))
    }
}

/// The batch that the producer sent before with the same sequence numbers.
fn duplicate(state: &ProducerState, batch: &RecordBatch<'_>) -> Option<RetainedBatch> {
    let (first, last) = sequences(batch);
    let same = |b: &RetainedBatch| (b.first_sequence, b.last_sequence) == (first, last);
    (state.epoch == batch.header().producer_epoch()).then(|| state.batches().find(same)).flatten()
}

fn sequences(batch: &RecordBatch<'_>) -> (i32, i32) {
    let (first, delta) = (batch.header().base_sequence(), batch.header().last_offset_delta());
    // Without a sequence number, or with a range that makes no sense, there is none to go on from.
    if first < 0 || delta < 0 { (-1, -1) } else { (first, sequence_after(first, delta)) }
}

/// Whether the marker aborts, and its coordinator's epoch; `None` for a batch without records or of another type.
fn marker(batch: &RecordBatch<'_>, scratch: &mut Scratch) -> crate::Result<Option<(bool, i32)>> {
    let Some(record) = batch.decoded_records(&mut scratch.decoder)?.next() else { return Ok(None) };
    match ControlRecord::parse(&record?)? {
        ControlRecord::Abort { coordinator_epoch } => Ok(Some((true, coordinator_epoch))),
        ControlRecord::Commit { coordinator_epoch } => Ok(Some((false, coordinator_epoch))),
        _ => Ok(None),
    }
}

/// Where a field of the marker's record stands, from the start of the batch; where its records do, if they are compressed.
fn place_in_marker(batch: &RecordBatch<'_>, field: &str) -> u64 {
    let at = if batch.codec() == 0 { place_of(field, batch.payload()) } else { 0 };
    (BatchHeader::SIZE + at) as u64
}

type Report<'r> = dyn FnMut(ErrorKind, Detail, &'static str, u64) + 'r;

fn check_epoch(state: &ProducerState, epoch: i16, report: &mut Report<'_>) {
    if epoch < state.epoch {
        let detail = Detail::Mismatch { stored: epoch.into(), computed: state.epoch.into() };
        report(ErrorKind::ProducerFenced, detail, "producerEpoch", 51);
    }
}

fn end(
    state: &mut ProducerState,
    batch: &RecordBatch<'_>,
    aborted: bool,
    coordinator_epoch: i32,
    report: &mut Report<'_>,
) -> Option<EndedTransaction> {
    let header = batch.header();
    check_epoch(state, header.producer_epoch(), report);
    if coordinator_epoch < state.coordinator_epoch {
        let detail = Detail::Mismatch { stored: coordinator_epoch.into(), computed: state.coordinator_epoch.into() };
        // Behind the version.
        report(ErrorKind::CoordinatorFenced, detail, "coordinatorEpoch", place_in_marker(batch, "value") + 2);
    }
    state.enter(header.producer_epoch());
    state.coordinator_epoch = coordinator_epoch;
    let first_offset = state.transaction_from.take()?;
    Some(EndedTransaction {
        producer_id: header.producer_id(),
        first_offset,
        last_offset: header.base_offset(),
        aborted,
    })
}

fn data(state: &mut ProducerState, batch: &RecordBatch<'_>, origin: Origin, report: &mut Report<'_>) {
    let header = batch.header();
    let (epoch, (first_sequence, last_sequence)) = (header.producer_epoch(), sequences(batch));
    check_epoch(state, epoch, report);
    if origin == Origin::Client && state.epoch >= 0 {
        let expected = if epoch == state.epoch { sequence_after(state.last_sequence(), 1) } else { 0 };
        if header.base_sequence() != expected {
            let detail = Detail::Mismatch { stored: header.base_sequence().into(), computed: expected.into() };
            report(ErrorKind::SequenceOutOfOrder, detail, "baseSequence", 53);
        }
    }
    state.enter(epoch);
    let is_transactional = batch.attributes().is_transactional();
    if state.transaction_from.is_some() && !is_transactional {
        let detail = Detail::Reason("the producer's transaction is open, and the batch is not part of it");
        report(ErrorKind::TransactionStateInvalid, detail, "attributes", 21);
    }
    if is_transactional {
        state.transaction_from.get_or_insert(header.base_offset());
    }
    state.batches.rotate_right(1);
    state.batches[0] = Some(RetainedBatch {
        first_sequence,
        last_sequence,
        first_offset: header.base_offset(),
        last_offset: batch.last_offset(),
        timestamp: header.max_timestamp(),
    });
}
