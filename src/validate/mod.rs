//! The validator: a whole input, frame by frame, on one core or on several.

mod walk;

pub use walk::{Fed, Walk};

use alloc::vec::Vec;

use crate::formats::{Defect, Format, Frame, Options, Scratch, Severity, Summary};

/// A defect, and the batch that it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the batch in its input, from 0; `None` for bytes outside any batch.
    pub batch: Option<u64>,
    /// First offset of that batch, as its header has it.
    pub first_offset: Option<u64>,
    /// What, where, how bad.
    pub defect: Defect,
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
}

impl Totals {
    /// Whether nothing of severity error was found.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }
}

/// Totals and findings of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Totals.
    pub totals: Totals,
    /// Findings, by their place in the input.
    pub findings: Vec<Finding>,
}

/// A format and options, ready to check inputs.
///
/// ```
/// use batchwise::{Validator, kafka};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// let report = Validator::new(&kafka::Log).validate(bytes);
/// assert!(report.totals.is_valid());
/// assert_eq!((report.totals.batches, report.totals.records), (1, 2));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Validator {
    format: &'static dyn Format,
    options: Options,
    parallel: bool,
}

impl Validator {
    /// Checks everything that a stored log of this format promises, on the caller's thread.
    #[must_use]
    pub fn new(format: &'static dyn Format) -> Self {
        Validator { format, options: Options::default(), parallel: false }
    }

    /// With these options.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Validator { options, ..self }
    }

    /// On the threads of the rayon pool that the caller runs in. The results are the same.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn parallel(self, parallel: bool) -> Self {
        Validator { parallel, ..self }
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> &'static dyn Format {
        self.format
    }

    /// Checks an input that lies in memory as a whole.
    #[must_use]
    pub fn validate(&self, input: &[u8]) -> Report {
        let mut findings = Vec::new();
        let mut walk = Walk::new(*self);
        walk.feed(input, 0, &mut |finding| findings.push(finding));
        Report { totals: walk.totals(), findings }
    }

    /// Checks frames, each on its own; results are in the order of the frames.
    fn check_frames(&self, frames: &[Frame<'_>]) -> Checked {
        #[cfg(feature = "rayon")]
        if self.parallel && frames.iter().map(|f| f.bytes.len()).sum::<usize>() > PARALLEL_FROM {
            let middle = split_by_bytes(frames);
            if middle > 0 {
                let (a, b) = frames.split_at(middle);
                let (a, b) = rayon::join(|| self.check_frames(a), || self.check_frames(b));
                return a.followed_by(b);
            }
        }
        let mut checked = Checked::default();
        let mut scratch = Scratch::default();
        for (i, frame) in frames.iter().enumerate() {
            let defects = &mut checked.defects;
            let summary = self.format.check(*frame, &self.options, &mut scratch, &mut |d| defects.push((i, d)));
            checked.summaries.push(summary);
        }
        checked
    }
}

/// Below this many bytes a hand-over to another thread costs more than the work.
#[cfg(feature = "rayon")]
const PARALLEL_FROM: usize = 128 << 10;

/// Index that parts frames into two runs of about as many bytes; 0 if there is none.
#[cfg(feature = "rayon")]
fn split_by_bytes(frames: &[Frame<'_>]) -> usize {
    let half = frames.iter().map(|f| f.bytes.len()).sum::<usize>() / 2;
    let mut sum = 0;
    let middle = frames.iter().position(|f| {
        sum += f.bytes.len();
        sum > half
    });
    middle.unwrap_or(0)
}

/// Results of a run of frames: what each holds, and the defects with the index of their frame.
#[derive(Debug, Default)]
struct Checked {
    summaries: Vec<Summary>,
    defects: Vec<(usize, Defect)>,
}

impl Checked {
    #[cfg(feature = "rayon")]
    fn followed_by(mut self, other: Self) -> Self {
        let shift = self.summaries.len();
        self.summaries.extend(other.summaries);
        self.defects.extend(other.defects.into_iter().map(|(i, d)| (i + shift, d)));
        self
    }
}

impl Totals {
    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => {}
        }
    }
}
