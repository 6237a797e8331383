//! What a validation tells.

use alloc::vec::Vec;
use core::fmt;

use crate::formats::{Defect, Format, Severity, Summary};

/// A defect, and the batch that it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the batch in its input, from 0; `None` for bytes outside any batch.
    pub batch: Option<u64>,
    /// First offset of that batch, as its header has it.
    pub first_offset: Option<u64>,
    /// Where that batch starts in the input, bytes.
    pub batch_start: Option<u64>,
    /// What, where, how bad.
    pub defect: Defect,
}

impl Finding {
    /// Of bytes outside any batch.
    #[must_use]
    pub const fn outside(defect: Defect) -> Self {
        Finding { batch: None, first_offset: None, batch_start: None, defect }
    }

    /// Of a batch.
    #[must_use]
    pub const fn of(batch: &Batch, defect: Defect) -> Self {
        Finding {
            batch: Some(batch.number),
            first_offset: batch.summary.first_offset,
            batch_start: Some(batch.offset),
            defect,
        }
    }
}

impl fmt::Display for Finding {
    /// The defect, and in which batch it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.defect.fmt(f)?;
        if let Some(batch) = self.batch {
            write!(f, " (batch {batch}")?;
            if let Some(start) = self.batch_start {
                write!(f, " at byte {start}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// A batch that was found, sound or not.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Batch {
    /// Its number in the input, from 0.
    pub number: u64,
    /// Where it starts in the input, bytes.
    pub offset: u64,
    /// Its length in bytes, as its header has it.
    pub len: u64,
    /// Its format.
    pub format: &'static dyn Format,
    /// What it holds.
    pub summary: Summary,
    /// Findings of severity error in it.
    pub errors: u32,
    /// Findings of severity warning in it.
    pub warnings: u32,
}

impl Batch {
    /// Whether nothing of severity error was found in the batch.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }

    pub(super) fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => {}
        }
    }
}

/// What was read of an input, and whether it is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Bytes looked at.
    pub bytes: u64,
    /// Batches found whole.
    pub batches: u64,
    /// Records read; below [`Depth::Records`](crate::Depth::Records) the number that the headers claim.
    pub records: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub notes: u64,
}

impl Totals {
    /// Whether nothing of severity error was found.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }

    /// Counts a finding.
    pub fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.notes += 1,
        }
    }
}

impl core::ops::AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        self.bytes += other.bytes;
        self.batches += other.batches;
        self.records += other.records;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
    }
}

/// Who is told what a walk through an input finds, in the order of the input.
pub trait Sink {
    /// Something is wrong; what is wrong with a batch comes right before the batch.
    fn finding(&mut self, finding: Finding);

    /// A batch was looked at; `bytes` is the whole of it, or nothing unless [`wants_bytes`](Self::wants_bytes).
    fn batch(&mut self, batch: &Batch, bytes: &[u8]) {
        let _ = (batch, bytes);
    }

    /// Whether [`batch`](Self::batch) is to be called for batches of which there is nothing else to tell; it may be called
    /// all the same.
    fn wants_batches(&self) -> bool {
        true
    }

    /// Whether [`batch`](Self::batch) is to get the bytes. A batch longer than 8 MiB comes without them all the same
    /// if its checksum is wrong.
    fn wants_bytes(&self) -> bool {
        false
    }

    /// Whether the walk is to go on; asked behind each batch. If not, it ends there, and what is behind it is not looked at.
    fn wants_more(&self) -> bool {
        true
    }
}

impl<F: FnMut(Finding)> Sink for F {
    fn finding(&mut self, finding: Finding) {
        self(finding);
    }

    fn wants_batches(&self) -> bool {
        false
    }
}

/// Totals and findings of an input.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Totals.
    pub totals: Totals,
    /// Findings, by their place in the input; of each severity the first ones, up to
    /// [`max_findings`](crate::Validator::max_findings). The totals count them all.
    pub findings: Vec<Finding>,
    /// Every batch in order, if [asked for](crate::Validator::list_batches).
    pub batches: Vec<Batch>,
    kept: [usize; 3],
}

impl Report {
    /// Whether nothing of severity error was found.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.totals.is_valid()
    }

    /// The first finding of severity error.
    ///
    /// ```
    /// use batchwise::{Validator, kafka};
    /// # let mut bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin")).to_vec();
    /// bytes[17] ^= 1;
    /// let report = Validator::new(&kafka::Log).validate(&bytes);
    /// assert!(!report.is_valid());
    /// let told = report.first_error().map(|finding| finding.to_string());
    /// let want = "error CrcMismatch: crc at byte 17: stored 0xdada21c9, computed 0xdbda21c9 (batch 0 at byte 0)";
    /// assert_eq!(told.as_deref(), Some(want));
    /// ```
    #[must_use]
    pub fn first_error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.defect.severity == Severity::Error)
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.totals = Totals::default();
        self.findings.clear();
        self.batches.clear();
        self.kept = [0; 3];
    }

    /// Adds a finding unless `max` of its severity are there.
    pub(crate) fn keep(&mut self, finding: Finding, max: usize) {
        let kept = &mut self.kept[finding.defect.severity as usize];
        if *kept < max {
            *kept += 1;
            self.findings.push(finding);
        }
    }

    /// Moves everything but the totals from `part`, whose batches are numbered from `shift` on here.
    #[cfg(feature = "std")]
    pub(super) fn append(&mut self, part: &mut Report, shift: u64, max: usize) {
        for finding in part.findings.drain(..) {
            self.keep(Finding { batch: finding.batch.map(|b| b + shift), ..finding }, max);
        }
        self.batches.extend(part.batches.drain(..).map(|b| Batch { number: b.number + shift, ..b }));
        part.clear();
    }
}

/// Puts what a walk finds into a report.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    pub(super) report: &'a mut Report,
    pub(super) max: usize,
    pub(super) list: bool,
}

impl Sink for Collector<'_> {
    fn finding(&mut self, finding: Finding) {
        self.report.keep(finding, self.max);
    }

    fn batch(&mut self, batch: &Batch, _: &[u8]) {
        if self.list {
            self.report.batches.push(*batch);
        }
    }

    fn wants_batches(&self) -> bool {
        self.list
    }
}
