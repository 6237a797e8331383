//! The files beside a log: indexes, which are compared with it, and snapshots of producers.

mod iggy_index;
mod keys;
mod offset_index;
mod snapshot;
mod time_index;
mod txn_index;

pub use offset_index::OffsetIndexEntry;
pub use snapshot::{ProducerEntry, SnapshotHeader};
pub use time_index::TimeIndexEntry;
pub use txn_index::AbortedTxn;

use crate::formats::{Defect, Severity};
use crate::validate::{Batch, Finding, Report};
use crate::{Detail, Error, ErrorKind};

/// What a file beside a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideKind {
    /// Kafka's `.index`: offsets and where their batches start.
    OffsetIndex,
    /// Kafka's `.timeindex`: timestamps and the offsets where they were reached.
    TimeIndex,
    /// Kafka's `.txnindex`: aborted transactions.
    TxnIndex,
    /// Kafka's `.snapshot`: what the broker knew of producers before the log's first offset.
    ProducerSnapshot,
    /// Iggy's `.index`.
    IggyIndex,
}

impl SideKind {
    /// Every kind.
    pub const ALL: &'static [SideKind] = &[
        SideKind::OffsetIndex,
        SideKind::TimeIndex,
        SideKind::TxnIndex,
        SideKind::ProducerSnapshot,
        SideKind::IggyIndex,
    ];

    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SideKind::OffsetIndex => "kafka index",
            SideKind::TimeIndex => "kafka timeindex",
            SideKind::TxnIndex => "kafka txnindex",
            SideKind::ProducerSnapshot => "kafka snapshot",
            SideKind::IggyIndex => "iggy index",
        }
    }

    /// Ending of the files' names.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            SideKind::OffsetIndex | SideKind::IggyIndex => "index",
            SideKind::TimeIndex => "timeindex",
            SideKind::TxnIndex => "txnindex",
            SideKind::ProducerSnapshot => "snapshot",
        }
    }

    /// Name of the [format](crate::Format::name) of the logs that such a file lies beside.
    #[must_use]
    pub const fn format(self) -> &'static str {
        match self {
            SideKind::IggyIndex => "iggy",
            _ => "kafka",
        }
    }
}

/// A file beside a log.
#[derive(Clone, Debug)]
pub struct SideFile {
    /// What it is.
    pub kind: SideKind,
    /// The number in its name.
    pub base_offset: u64,
    /// All of its bytes.
    pub bytes: Vec<u8>,
}

impl SideFile {
    /// Checks the file on its own, without the log.
    #[must_use]
    pub fn check(&self) -> Report {
        let mut report = Report::default();
        report.totals.bytes = self.bytes.len() as u64;
        let mut told = Told { report: &mut report, max: usize::MAX };
        self.check_alone(&mut told);
        report
    }

    /// Checks the file, whose log is not there: `OrphanIndex` is a warning, as brokers delete such a file when they start.
    ///
    /// A snapshot needs no log of its own: it stands for what is before its number.
    #[must_use]
    pub fn check_orphan(&self) -> Report {
        let mut report = self.check();
        if self.kind != SideKind::ProducerSnapshot {
            let detail = Detail::Reason("brokers delete it when they start");
            let mut told = Told { report: &mut report, max: usize::MAX };
            told.tell(Severity::Warning, ErrorKind::OrphanIndex, detail, "batch", 0);
        }
        report
    }

    /// The entries of an `.index` of Kafka's.
    pub fn offset_entries(&self) -> impl Iterator<Item = OffsetIndexEntry<'_>> {
        offset_index::entries(self)
    }

    /// The entries of a `.timeindex`.
    pub fn time_entries(&self) -> impl Iterator<Item = TimeIndexEntry<'_>> {
        time_index::entries(self)
    }

    /// The entries of a `.txnindex`.
    pub fn aborted_transactions(&self) -> impl Iterator<Item = AbortedTxn<'_>> {
        txn_index::entries(self)
    }

    /// The entries of a `.snapshot`.
    pub fn producers(&self) -> impl Iterator<Item = ProducerEntry<'_>> {
        snapshot::entries(self)
    }

    fn check_alone(&self, told: &mut Told<'_>) {
        match self.kind {
            SideKind::OffsetIndex => offset_index::check(self, told),
            SideKind::TimeIndex => time_index::check(self, told),
            SideKind::TxnIndex => txn_index::check(self, told),
            SideKind::ProducerSnapshot => snapshot::check(self, told),
            SideKind::IggyIndex => iggy_index::check(self, told),
        }
    }
}

/// Gathers findings.
struct Told<'a> {
    report: &'a mut Report,
    max: usize,
}

impl Told<'_> {
    fn tell(&mut self, severity: Severity, kind: ErrorKind, detail: Detail, field: &'static str, offset: usize) {
        let defect = Defect { error: Error::new(kind, detail, field, offset as u64), severity };
        self.report.totals.count(severity);
        self.report.keep(Finding::outside(defect), self.max);
    }

    fn error(&mut self, kind: ErrorKind, detail: Detail, field: &'static str, offset: usize) {
        self.tell(Severity::Error, kind, detail, field, offset);
    }

    /// Bytes behind the last whole entry.
    fn check_size(&mut self, len: usize, entry: usize) {
        let left = len % entry;
        if left > 0 {
            let detail = Detail::Length { needed: entry as u64, available: left as u64 };
            self.error(ErrorKind::IndexSizeInvalid, detail, "entry", len - left);
        }
    }
}

/// The entries of an index of Kafka's before the zeros at its end.
///
/// Only the first entry can be for the offset in the file's name, and none is for the start of the log. So zeros end it.
fn before_zeros<const N: usize>(bytes: &[u8], is_end: impl Fn(&[u8; N]) -> bool) -> &[[u8; N]] {
    let entries = bytes.as_chunks().0;
    match entries {
        [first, second, ..] if first == &[0; N] && is_end(second) => &[],
        [first, rest @ ..] => {
            let _ = first;
            &entries[..=rest.iter().position(is_end).unwrap_or(rest.len())]
        }
        [] => &[],
    }
}

/// What is known of the log when its indexes are judged.
struct Log<'a> {
    report: &'a Report,
}

impl Log<'_> {
    /// Whether nothing is wrong with it, so that what differs from it is wrong.
    fn is_sound(&self) -> bool {
        self.report.totals.is_valid()
    }

    /// Whether the bytes there belong to no batch, so that nothing can be said about what points there.
    fn is_unreadable(&self, position: u64) -> bool {
        !self.is_sound()
            && self.report.findings.iter().any(|f| match (f.defect.error.kind(), f.defect.error.detail()) {
                (ErrorKind::UnreadableBytes, Detail::Bytes { count }) => {
                    let from = f.defect.error.offset();
                    (from..from + count).contains(&position)
                }
                _ => false,
            })
    }
}

/// Compares indexes with the batches of a log as they come by.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    watches: Vec<Watch>,
}

/// One file's comparison; its number in the list of files.
#[derive(Clone, Debug)]
enum Watch {
    Offsets(usize, offset_index::Compare),
    Times(usize, time_index::Compare),
    Iggy(usize, iggy_index::Compare),
}

impl Probe {
    pub(super) fn new(sides: &[SideFile]) -> Self {
        let watch = |(i, side): (usize, &SideFile)| match side.kind {
            SideKind::OffsetIndex => Some(Watch::Offsets(i, offset_index::Compare::new(side))),
            SideKind::TimeIndex => Some(Watch::Times(i, time_index::Compare::new(side))),
            SideKind::IggyIndex => Some(Watch::Iggy(i, iggy_index::Compare::new(side))),
            SideKind::TxnIndex | SideKind::ProducerSnapshot => None,
        };
        Probe { watches: sides.iter().enumerate().filter_map(watch).collect() }
    }

    /// Whether there is anything to compare batches with.
    pub(super) fn wants_batches(&self) -> bool {
        !self.watches.is_empty()
    }

    /// A batch comes by. A damaged one has a place, but no offsets to rely on.
    #[inline]
    pub(super) fn batch(&mut self, batch: &Batch, amid: bool) {
        for watch in &mut self.watches {
            match watch {
                Watch::Offsets(_, compare) => compare.batch(batch, amid),
                Watch::Times(_, compare) => compare.batch(batch, amid),
                Watch::Iggy(_, compare) => compare.batch(batch, amid),
            }
        }
    }

    /// Goes on as `part` did, which began where this one stands.
    pub(super) fn join(&mut self, part: Probe) {
        for (watch, part) in self.watches.iter_mut().zip(part.watches) {
            match (watch, part) {
                (Watch::Offsets(_, a), Watch::Offsets(_, b)) => a.join(b),
                (Watch::Times(_, a), Watch::Times(_, b)) => a.join(b),
                (Watch::Iggy(_, a), Watch::Iggy(_, b)) => a.join(b),
                // Both are copies of one probe.
                _ => {}
            }
        }
    }

    /// What is wrong with each of the files that the probe was made of, now that the log is known.
    pub(super) fn finish(self, sides: &[SideFile], log: &Report, max: usize) -> Vec<Report> {
        let mut reports: Vec<_> = sides.iter().map(SideFile::check).collect();
        let log = &Log { report: log };
        for watch in self.watches {
            match watch {
                Watch::Offsets(i, compare) => compare.finish(log, &mut Told { report: &mut reports[i], max }),
                Watch::Times(i, compare) => compare.finish(log, &mut Told { report: &mut reports[i], max }),
                Watch::Iggy(i, compare) => compare.finish(log, &mut Told { report: &mut reports[i], max }),
            }
        }
        for report in &mut reports {
            report.findings.sort_by_key(|f| f.defect.error.offset());
        }
        reports
    }
}
