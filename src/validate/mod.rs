//! The validator: a whole input, batch by batch, on one core or on several.

mod input;
mod list;
#[cfg(feature = "rayon")]
mod parallel;
mod report;
mod search;
mod walk;

#[cfg(feature = "std")]
pub(crate) use input::Input;
use input::Memory;
pub use list::Item;
use report::Collector;
pub use report::{Batch, Finding, Report, Sink, Totals};
pub(crate) use walk::Walk;

use crate::formats::{self, Format, Options};
use core::convert::Infallible;
use core::marker::PhantomData;

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
pub struct Validator<'p> {
    /// `None`: told from the bytes of each batch.
    format: Option<&'static dyn Format>,
    options: Options,
    #[cfg_attr(not(feature = "rayon"), allow(dead_code, reason = "there is one choice"))]
    threads: Threads<'p>,
    stop_at_first: bool,
    list_batches: bool,
    growing: bool,
    base_offset: Option<u64>,
    max_findings: usize,
    #[cfg(feature = "rayon")]
    parallel_from: usize,
}

/// Where the work is done.
#[derive(Clone, Copy, Debug)]
enum Threads<'p> {
    /// On the thread of the caller.
    Caller(PhantomData<&'p ()>),
    /// On the rayon pool that the caller runs in, or the global one.
    #[cfg(feature = "rayon")]
    Current,
    /// On this pool.
    #[cfg(feature = "rayon")]
    Pool(&'p rayon::ThreadPool),
}

impl<'p> Validator<'p> {
    /// Checks everything that a stored log of this format promises, on the caller's thread.
    #[must_use]
    pub fn new(format: &'static dyn Format) -> Self {
        Validator { format: Some(format), ..Self::detecting() }
    }

    /// The same for batches of any format, told from the bytes of each batch.
    ///
    /// ```
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
    /// assert_eq!(batchwise::Validator::detecting().validate(bytes).totals.batches, 1);
    /// ```
    #[must_use]
    pub fn detecting() -> Self {
        Validator {
            format: None,
            options: Options::default(),
            threads: Threads::Caller(PhantomData),
            stop_at_first: false,
            list_batches: false,
            growing: false,
            base_offset: None,
            max_findings: usize::MAX,
            #[cfg(feature = "rayon")]
            parallel_from: parallel::PAYS_FROM,
        }
    }

    /// With these options.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Validator { options, ..self }
    }

    /// On as many threads as the rayon pool has that the caller runs in, else the global one: the caller's takes part. The
    /// results are the same.
    ///
    /// Work that is too small to gain from it stays on the caller's thread.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn parallel(self, parallel: bool) -> Self {
        let threads = if parallel { Threads::Current } else { Threads::Caller(PhantomData) };
        Validator { threads, ..self }
    }

    /// On as many threads as `pool` has: the caller's takes part. The results are the same.
    ///
    /// Work that is too small to gain from it stays on the caller's thread.
    ///
    /// ```
    /// use batchwise::{Validator, kafka};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// let validator = Validator::new(&kafka::Log);
    /// assert_eq!(validator.in_pool(&pool).validate(bytes), validator.validate(bytes));
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn in_pool(self, pool: &'p rayon::ThreadPool) -> Self {
        Validator { threads: Threads::Pool(pool), ..self }
    }

    /// The fewest bytes of input that are shared out over several threads; where that begins to pay, by default.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn parallel_from(self, parallel_from: usize) -> Self {
        Validator { parallel_from, ..self }
    }

    /// Whether to stop behind the first defect of severity error.
    #[must_use]
    pub fn stop_at_first(self, stop_at_first: bool) -> Self {
        Validator { stop_at_first, ..self }
    }

    /// Whether [`Report::batches`] lists every batch.
    #[must_use]
    pub fn list_batches(self, list_batches: bool) -> Self {
        Validator { list_batches, ..self }
    }

    /// Whether somebody is still writing the input: then it is no defect that its last entry is incomplete.
    #[must_use]
    pub fn growing(self, growing: bool) -> Self {
        Validator { growing, ..self }
    }

    /// The first offset that the input may hold, as the name of a segment file tells it.
    #[must_use]
    pub fn base_offset(self, base_offset: Option<u64>) -> Self {
        Validator { base_offset, ..self }
    }

    /// The most findings of each severity that a report keeps. All by default; the totals count all in any case.
    #[must_use]
    pub fn max_findings(self, max_findings: usize) -> Self {
        Validator { max_findings, ..self }
    }

    /// The format; `None` if it is told from the bytes.
    #[must_use]
    pub fn format(&self) -> Option<&'static dyn Format> {
        self.format
    }

    /// How many findings of each severity a report keeps, and whether it lists the batches.
    #[cfg(feature = "std")]
    pub(crate) fn keeps(&self) -> (usize, bool) {
        (self.max_findings, self.list_batches)
    }

    /// Checks a buffer of batches, one behind the other.
    #[must_use]
    pub fn validate(&self, input: &[u8]) -> Report {
        let mut report = Report::default();
        self.validate_into(input, &mut report);
        report
    }

    /// The same into a report whose memory is used again.
    pub fn validate_into(&self, input: &[u8], report: &mut Report) {
        report.clear();
        #[cfg(feature = "rayon")]
        if parallel::pays(self, input.len()) {
            return parallel::validate(self, input, report);
        }
        let mut walk = Walk::new(*self);
        let mut sink = Collector { report, max: self.max_findings, list: self.list_batches };
        let Ok(()) = walk.advance(&mut Memory(input), u64::MAX, &mut sink) as Result<(), Infallible>;
        walk.end(&mut sink);
        report.totals = walk.totals();
    }

    /// Checks a buffer of batches on the caller's thread, and tells `sink` as it goes along.
    pub fn walk(&self, input: &[u8], sink: &mut dyn Sink) -> Totals {
        let mut walk = Walk::new(*self);
        let Ok(()) = walk.advance(&mut Memory(input), u64::MAX, sink) as Result<(), Infallible>;
        walk.end(sink);
        walk.totals()
    }

    /// The formats that may occur.
    fn formats(&self) -> &[&'static dyn Format] {
        if self.format.is_some() { self.format.as_slice() } else { formats::ALL }
    }

    /// How many bytes tell the most about what stands somewhere.
    fn head_len(&self) -> u64 {
        self.formats().iter().map(|f| f.head_len()).max().unwrap_or(0) as u64
    }

    /// The format of an input that starts with `head`.
    fn first_format(&self, head: &[u8]) -> &'static dyn Format {
        let told = || formats::detect(&head[..head.len().min(DETECT_IN)]);
        self.format.or_else(told).unwrap_or(formats::ALL[formats::ALL.len() - 1])
    }

    /// Whether what starts with `head` may be of another format than `current`.
    #[inline]
    fn doubts(&self, current: &'static dyn Format, head: &[u8]) -> bool {
        self.format.is_none() && current.peek(head).is_none()
    }

    /// The format of what stands at the start of `head`: `current`, unless it cannot be that and is an intact frame of
    /// another one.
    #[cfg(feature = "rayon")]
    fn format_at(&self, head: &[u8], current: &'static dyn Format) -> &'static dyn Format {
        if !self.doubts(current, head) {
            return current;
        }
        formats::ALL.iter().copied().find(|f| formats::starts_intact(*f, head)).unwrap_or(current)
    }
}

/// How many bytes of an input tell its format, if a whole frame is in them.
const DETECT_IN: usize = 64 << 10;
