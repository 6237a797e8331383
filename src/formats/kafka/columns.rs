//! Records as columns: one array for each field, filled by one walk.

use super::{BatchHeader, RecordBatch, Records};
use crate::codec::Decoder;
use crate::kernels::varint::records::{self, Columns};
use crate::{Error, ErrorKind, Result, Within};
use alloc::vec::Vec;
use core::ops::Range;

/// Fewest bytes that a record takes: its length, attributes, two deltas, two lengths, a count of headers.
const MIN_RECORD: usize = 7;

/// The records of a batch, field by field. Reusable: a filled one keeps its memory for the next batch.
///
/// After [`fill`](Self::fill) ranges count from the start of the batch, so they serve slices of it, of `bytes::Bytes` for
/// example; [`fill_decoded`](Self::fill_decoded) returns the bytes from whose start they count. Deltas are as stored; the batch's header has what they are relative to.
///
/// ```
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// use batchwise::kafka::{RecordBatch, RecordColumns};
/// let mut columns = RecordColumns::new();
/// columns.fill(&RecordBatch::parse(bytes, 0)?)?;
/// assert_eq!(columns.offset_deltas(), [0, 1]);
/// assert_eq!(columns.max_timestamp_delta(), Some(0));
/// let value = columns.value(1).expect("not null");
/// assert_eq!(&bytes[value], b"world");
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordColumns {
    len: usize,
    /// Starts of records, keys, values and headers, and counts of headers.
    unsigned: [Vec<u32>; 5],
    /// Offset deltas, and lengths of keys and values.
    signed: [Vec<i32>; 3],
    timestamp_deltas: Vec<i64>,
    end: usize,
    /// What the ranges count from lies so many bytes before the first record.
    before: usize,
}

const STARTS: usize = 0;
const KEY_STARTS: usize = 1;
const VALUE_STARTS: usize = 2;
const HEADERS_STARTS: usize = 3;
const HEADERS_COUNTS: usize = 4;
const OFFSET_DELTAS: usize = 0;
const KEY_LENS: usize = 1;
const VALUE_LENS: usize = 2;

impl RecordColumns {
    /// No records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the records of an uncompressed batch, in place of those that were here.
    ///
    /// One pass over the records, some nanoseconds each; allocates only to grow, and never more than the bytes of the
    /// batch account for.
    ///
    /// # Errors
    /// Those of [`RecordBatch::records`], and the error that iterating over [`Records`] ends with. There are no records
    /// here then.
    pub fn fill(&mut self, batch: &RecordBatch<'_>) -> Result<()> {
        self.len = 0;
        let records = batch.records()?;
        self.walk(batch, batch.payload(), BatchHeader::SIZE, records)
    }

    /// Reads the records of a batch, decompressed if need be, in place of those that were here. Returns the bytes that
    /// they lie in: those behind the header of an uncompressed batch, or what `decoder` holds until it decodes again.
    ///
    /// ```
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v2-zstd-counts/00000000000000000000.log"));
    /// # if !batchwise::codec::Codec::Zstd.is_available() { return Ok(()) }
    /// use batchwise::codec::Decoder;
    /// use batchwise::kafka::{RecordBatch, RecordColumns};
    /// let (mut columns, mut decoder) = (RecordColumns::new(), Decoder::default());
    /// let records = columns.fill_decoded(&RecordBatch::parse(bytes, 0)?, &mut decoder)?;
    /// assert_eq!(columns.len(), 1);
    /// assert_eq!(columns.record(0), 0..records.len());
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`RecordBatch::decoded_records`], and the error that iterating over [`Records`] ends with. There are no
    /// records here then.
    pub fn fill_decoded<'r>(&mut self, batch: &RecordBatch<'r>, decoder: &'r mut Decoder) -> Result<&'r [u8]> {
        self.len = 0;
        let (bytes, within) = batch.decoded_payload(decoder)?;
        self.walk(batch, bytes, 0, Records::over(batch, bytes, within)?)?;
        Ok(bytes)
    }

    fn walk(&mut self, batch: &RecordBatch<'_>, bytes: &[u8], before: usize, records: Records<'_>) -> Result<()> {
        let count = usize::try_from(batch.header().records_count()).unwrap_or(0);
        if count == 0 {
            // Kafka's readers do not look at the bytes behind such a header, so the iterator does not either.
            return Ok(());
        }
        // A count that the bytes cannot hold ends in an error; it must not size an allocation.
        let room = count.min(bytes.len() / MIN_RECORD + 1);
        match records::walk(bytes, &mut self.columns(room)) {
            Ok(walked) if walked.end == bytes.len() && room == count => {
                (self.len, self.end, self.before) = (count, walked.end, before);
                Ok(())
            }
            _ => Err(first_error(batch, records)),
        }
    }

    fn columns(&mut self, len: usize) -> Columns<'_> {
        if self.timestamp_deltas.len() < len {
            self.unsigned.iter_mut().for_each(|c| c.resize(len, 0));
            self.signed.iter_mut().for_each(|c| c.resize(len, 0));
            self.timestamp_deltas.resize(len, 0);
        }
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..len]);
        let signed = self.signed.each_mut().map(|c| &mut c[..len]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas[..len])
    }

    /// Number of records.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Offsets, relative to `baseOffset`.
    #[must_use]
    pub fn offset_deltas(&self) -> &[i32] {
        &self.signed[OFFSET_DELTAS][..self.len]
    }

    /// Milliseconds after `baseTimestamp`.
    #[must_use]
    pub fn timestamp_deltas(&self) -> &[i64] {
        &self.timestamp_deltas[..self.len]
    }

    /// Lengths of the keys, bytes; negative for null.
    #[must_use]
    pub fn key_lens(&self) -> &[i32] {
        &self.signed[KEY_LENS][..self.len]
    }

    /// Lengths of the values, bytes; negative for null.
    #[must_use]
    pub fn value_lens(&self) -> &[i32] {
        &self.signed[VALUE_LENS][..self.len]
    }

    /// Numbers of headers.
    #[must_use]
    pub fn headers_counts(&self) -> &[u32] {
        &self.unsigned[HEADERS_COUNTS][..self.len]
    }

    /// Where record `i` lies, its length field included.
    ///
    /// # Panics
    /// If there is no record `i`, as the methods below.
    #[must_use]
    pub fn record(&self, i: usize) -> Range<usize> {
        let starts = &self.unsigned[STARTS][..self.len];
        let end = starts.get(i + 1).map_or(self.end, |&next| next as usize);
        starts[i] as usize + self.before..end + self.before
    }

    /// Where the key of record `i` lies; `None` for null.
    #[must_use]
    pub fn key(&self, i: usize) -> Option<Range<usize>> {
        self.range(KEY_STARTS, i, self.key_lens()[i])
    }

    /// Where the value of record `i` lies; `None` for null.
    #[must_use]
    pub fn value(&self, i: usize) -> Option<Range<usize>> {
        self.range(VALUE_STARTS, i, self.value_lens()[i])
    }

    /// Where the headers of record `i` lie, behind their count.
    #[must_use]
    pub fn headers(&self, i: usize) -> Range<usize> {
        let start = self.unsigned[HEADERS_STARTS][..self.len][i] as usize;
        start + self.before..self.record(i).end
    }

    fn range(&self, starts: usize, i: usize, len: i32) -> Option<Range<usize>> {
        let start = self.unsigned[starts][..self.len][i] as usize + self.before;
        usize::try_from(len).ok().map(|len| start..start + len)
    }

    /// Whether offset deltas are 0, 1, 2 and so on, as a producer has to number them.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        // Without a branch for each record, so that several are compared at once.
        self.offset_deltas().iter().zip(0..).fold(0, |any, (&delta, i)| any | (delta ^ i)) == 0
    }

    /// Whether each offset delta is above the one before, and none is negative: what compaction leaves.
    #[must_use]
    pub fn is_increasing(&self) -> bool {
        let deltas = self.offset_deltas();
        let pairs = deltas.iter().zip(deltas.iter().skip(1));
        deltas.first().is_none_or(|&first| first >= 0) && pairs.fold(true, |all, (a, b)| all & (a < b))
    }

    /// The least timestamp delta; `None` without records.
    #[must_use]
    pub fn min_timestamp_delta(&self) -> Option<i64> {
        self.timestamp_deltas().iter().copied().min()
    }

    /// The greatest timestamp delta; `None` without records.
    #[must_use]
    pub fn max_timestamp_delta(&self) -> Option<i64> {
        self.timestamp_deltas().iter().copied().max()
    }

    /// Bytes of all keys and values together.
    #[must_use]
    pub fn payload_len(&self) -> u64 {
        let sum = |lens: &[i32]| lens.iter().map(|&len| u64::from(len.max(0) as u32)).sum::<u64>();
        sum(self.key_lens()) + sum(self.value_lens())
    }
}

/// The error that the records end with; the walk has found that there is one.
#[cold]
fn first_error(batch: &RecordBatch<'_>, mut records: Records<'_>) -> Error {
    records.find_map(Result::err).unwrap_or_else(|| {
        // Not reached: both agree on what is an error.
        let detail = crate::Detail::Reason("the walk and the iterator differ");
        Error::new(ErrorKind::RecordsTruncated, detail, "records", batch.offset()).within(Within::Input)
    })
}
