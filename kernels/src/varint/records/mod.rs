//! Chains of length-prefixed records, walked from end to end.
//!
//! A record is a length (varint, zigzag, of what follows), one byte of attributes, a 64-bit and a 32-bit delta (varints,
//! zigzag), a key, a value, and a count of headers with a key and a value each. Keys and values are a length (varint,
//! zigzag; negative for null) and as many bytes. Fields have to fill the record's length exactly.
//!
//! [`walk`](walk()) writes what it finds into columns, one array for each field, and checks the structure on the way;
//! [`read`] reads one record. Both agree on every input, errors included. [`survey`](survey()) checks as much and keeps
//! only what the records tell together.

mod alike;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod head;
mod portable;

pub use alike::Survey;
pub use head::{Error, Fault, Field, Head, read};

/// The longest input, bytes: columns hold positions in 32 bits.
pub const MAX_INPUT: usize = i32::MAX as usize;

/// Where a walk writes: one entry for each record, in slices of equal length.
///
/// Positions count from the start of the walked slice; a length is negative for null.
#[derive(Debug)]
pub struct Columns<'a> {
    /// Where each record begins: its length field.
    pub starts: &'a mut [u32],
    /// The 64-bit deltas.
    pub timestamp_deltas: &'a mut [i64],
    /// The 32-bit deltas.
    pub offset_deltas: &'a mut [i32],
    /// Where the keys begin.
    pub key_starts: &'a mut [u32],
    /// Lengths of the keys, bytes.
    pub key_lens: &'a mut [i32],
    /// Where the values begin.
    pub value_starts: &'a mut [u32],
    /// Lengths of the values, bytes.
    pub value_lens: &'a mut [i32],
    /// Where the headers begin: behind their count.
    pub headers_starts: &'a mut [u32],
    /// Numbers of headers.
    pub headers_counts: &'a mut [u32],
}

impl<'a> Columns<'a> {
    /// Columns over arrays of each type: starts of records, keys, values and headers, and counts of headers; offset deltas
    /// and lengths of keys and values; timestamp deltas.
    #[must_use]
    pub fn over(unsigned: [&'a mut [u32]; 5], signed: [&'a mut [i32]; 3], timestamp_deltas: &'a mut [i64]) -> Self {
        let [starts, key_starts, value_starts, headers_starts, headers_counts] = unsigned;
        let [offset_deltas, key_lens, value_lens] = signed;
        Columns {
            starts,
            timestamp_deltas,
            offset_deltas,
            key_starts,
            key_lens,
            value_starts,
            value_lens,
            headers_starts,
            headers_counts,
        }
    }
}

impl Columns<'_> {
    /// How many records there is room for: the length of the shortest column.
    #[must_use]
    pub fn len(&self) -> usize {
        let least = self.starts.len().min(self.timestamp_deltas.len()).min(self.offset_deltas.len());
        let least = least.min(self.key_starts.len()).min(self.key_lens.len());
        let least = least.min(self.value_starts.len()).min(self.value_lens.len());
        least.min(self.headers_starts.len()).min(self.headers_counts.len())
    }

    /// Whether there is no room.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a walk found beside the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Where the last record ends.
    pub end: usize,
    /// Whether every record is [plain](Head::plain).
    pub plain: bool,
}

kernels! {
    /// Walks the records at the start of `bytes` until the columns are full, and checks their structure.
    ///
    /// Bytes behind the last record are not looked at: compare [`Walked::end`].
    ///
    /// ```
    /// use batchwise_kernels::varint::records::{self, Columns};
    /// let bytes = [14, 0, 0, 0, 1, 2, b'x', 0, 14, 0, 6, 2, 1, 2, b'y', 0];
    /// let (mut u, mut i, mut timestamps) = ([[0; 2]; 5], [[0; 2]; 3], [0; 2]);
    /// let [starts, key_starts, value_starts, headers_starts, headers_counts] = &mut u;
    /// let [offset_deltas, key_lens, value_lens] = &mut i;
    /// let timestamp_deltas = &mut timestamps;
    /// let walked = records::walk(&bytes, &mut Columns {
    ///     starts, timestamp_deltas, offset_deltas, key_starts, key_lens, value_starts, value_lens, headers_starts,
    ///     headers_counts,
    /// })?;
    /// assert_eq!((walked.end, walked.plain), (16, true));
    /// assert_eq!((timestamps, i, u[2]), ([0, 3], [[0, 1], [-1, -1], [1, 1]], [6, 14]));
    /// # Ok::<(), records::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] for the first field that is wrong, the one that [`read`] reports; entries of records before it are
    /// written, later ones unspecified.
    pub fn walk(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
        "x86_64" ["avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vpopcntdq", "bmi1", "bmi2"] => avx512::walk,
        portable => portable::walk,
    }
}

kernels! {
    /// Goes on with a survey of the records in `bytes`, until it has passed `until` of them or comes to one that is not of
    /// the common form: one that has headers, that is not [plain](Head::plain), or that cannot be read. [`read`] tells at
    /// [`Survey::end`] which, and [`Survey::add`] takes it in.
    ///
    /// Records of the same form and size, as many writers make them, are passed several times as fast as others.
    ///
    /// ```
    /// use batchwise_kernels::varint::records::{self, Survey};
    /// let bytes = [14, 0, 0, 0, 1, 2, b'x', 0, 14, 0, 6, 2, 1, 2, b'y', 0, 0];
    /// let mut survey = Survey::default();
    /// records::survey(&bytes, 3, &mut survey);
    /// assert_eq!((survey.records, survey.end, survey.most_timestamp_delta, survey.last_offset_delta), (2, 16, 3, 1));
    /// ```
    pub fn survey(bytes: &[u8], until: usize, survey: &mut Survey) -> () {
        "x86_64" ["avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vpopcntdq", "bmi1", "bmi2"] => avx512::survey,
        portable => portable::survey,
    }
}

/// One of several walks that are made together.
#[derive(Debug)]
pub struct Job<'a> {
    /// The input.
    pub bytes: &'a [u8],
    /// Where to write.
    pub columns: Columns<'a>,
    /// What came out of it.
    pub walked: Result<Walked, Error>,
}

impl<'a> Job<'a> {
    /// A walk to be made.
    #[must_use]
    pub fn new(bytes: &'a [u8], columns: Columns<'a>) -> Self {
        Job { bytes, columns, walked: Ok(Walked { end: 0, plain: true }) }
    }
}

kernels! {
    /// Makes each [`walk()`] of `jobs`, several at a time: one alone leaves much of a core idle.
    ///
    /// ```
    /// use batchwise_kernels::varint::records::{Columns, Job, walk_many};
    /// # fn columns() -> Columns<'static> {
    /// #     fn one<T: Default>() -> &'static mut [T] { Box::leak(Box::new([T::default()])) }
    /// #     Columns { starts: one(), timestamp_deltas: one(), offset_deltas: one(), key_starts: one(), key_lens: one(),
    /// #         value_starts: one(), value_lens: one(), headers_starts: one(), headers_counts: one() }
    /// # }
    /// let mut jobs = [b"x", b"y"].map(|_| Job::new(&[12, 0, 0, 0, 1, 1, 0], columns()));
    /// walk_many(&mut jobs);
    /// assert!(jobs.iter().all(|job| job.walked.is_ok_and(|w| w.end == 7)));
    /// ```
    pub fn walk_many(jobs: &mut [Job<'_>]) -> () {
        "x86_64" ["avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vpopcntdq", "bmi1", "bmi2"] => avx512::walk_many,
        portable => portable::walk_many,
    }
}
