//! What goes over the boundary: numbers, and structs of numbers.

use crate::kinds::kind_number;
use batchwise::{Conformance, Defect, Depth, Detail, Options as Rules, Origin, Severity, Within};
use core::ffi::{c_char, c_void};
use core::fmt::{self, Write};

/// All is well.
pub const BATCHWISE_OK: i32 = 0;
/// The input is bad; the `batchwise_error` says what and where.
pub const BATCHWISE_DEFECT: i32 = 1;
/// An argument is null, or holds a value that has no meaning.
pub const BATCHWISE_INVALID_ARGUMENT: i32 = -1;
/// The system refused to read; the `batchwise_error` has its message, and its number in `first`.
pub const BATCHWISE_IO: i32 = -2;
/// A callback asked to stop.
pub const BATCHWISE_STOPPED: i32 = -3;
/// A mistake in the library itself.
pub const BATCHWISE_INTERNAL: i32 = -4;

/// `depth`: lengths, checksums and every record. The default.
pub const BATCHWISE_DEPTH_RECORDS: i32 = 0;
/// `depth`: lengths and checksums.
pub const BATCHWISE_DEPTH_CHECKSUMS: i32 = 1;
/// `depth`: lengths and the order of batches.
pub const BATCHWISE_DEPTH_FRAMES: i32 = 2;

/// `origin`: the input lies in a segment file. The default.
pub const BATCHWISE_ORIGIN_STORED: i32 = 0;
/// `origin`: a producer sent it.
pub const BATCHWISE_ORIGIN_CLIENT: i32 = 1;
/// `origin`: a broker sent it, to a follower or to a consumer.
pub const BATCHWISE_ORIGIN_REPLICA: i32 = 2;

/// `conformance`: errors are also what the reference implementation lets pass only because it does not look. The
/// default.
pub const BATCHWISE_CONFORMANCE_STRICT: i32 = 0;
/// `conformance`: errors are exactly what the reference implementation refuses at that origin.
pub const BATCHWISE_CONFORMANCE_REFERENCE: i32 = 1;

/// `severity`: legal, and worth knowing.
pub const BATCHWISE_INFO: i32 = 0;
/// `severity`: odd, and readable all the same.
pub const BATCHWISE_WARNING: i32 = 1;
/// `severity`: the input is invalid.
pub const BATCHWISE_ERROR: i32 = 2;

/// `detail`: `first` and `second` mean nothing.
pub const BATCHWISE_DETAIL_NONE: i32 = 0;
/// `detail`: `first` is the checksum as stored, `second` as computed.
pub const BATCHWISE_DETAIL_CHECKSUM: i32 = 1;
/// `detail`: `first` is the number of bytes needed, `second` of those there.
pub const BATCHWISE_DETAIL_LENGTH: i32 = 2;
/// `detail`: `first` is the value found, as `int64_t`.
pub const BATCHWISE_DETAIL_VALUE: i32 = 3;
/// `detail`: `first` is the number as stored, `second` as counted, as `int64_t`.
pub const BATCHWISE_DETAIL_MISMATCH: i32 = 4;
/// `detail`: `first` is the number that was expected, `second` the one found.
pub const BATCHWISE_DETAIL_EXPECTED: i32 = 5;
/// `detail`: `first` is a number of bytes.
pub const BATCHWISE_DETAIL_BYTES: i32 = 6;
/// `detail`: `first` is the first of the offsets that are missing, `second` the last.
pub const BATCHWISE_DETAIL_OFFSETS: i32 = 7;

/// Where there is no batch or no offset.
pub const BATCHWISE_NONE: u64 = u64::MAX;

/// A piece of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Its first byte.
    pub data: *const c_void,
    /// Its length in bytes.
    pub len: usize,
}

/// What to check and by whose rules. All zero is the default of each.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `BATCHWISE_DEPTH_...`
    pub depth: i32,
    /// `BATCHWISE_ORIGIN_...`
    pub origin: i32,
    /// `BATCHWISE_CONFORMANCE_...`
    pub conformance: i32,
    /// 0.
    pub reserved: i32,
    /// The most bytes that the records of one batch may decompress to; 0 for 64 MiB.
    pub max_decompressed: u64,
}

impl Options {
    /// The library's options, or `None` if a number has no meaning.
    pub(crate) fn rules(&self) -> Option<Rules> {
        let mut rules = Rules::default();
        rules.depth = match self.depth {
            BATCHWISE_DEPTH_RECORDS => Depth::Records,
            BATCHWISE_DEPTH_CHECKSUMS => Depth::Checksums,
            BATCHWISE_DEPTH_FRAMES => Depth::Frames,
            _ => return None,
        };
        rules.origin = match self.origin {
            BATCHWISE_ORIGIN_STORED => Origin::Stored,
            BATCHWISE_ORIGIN_CLIENT => Origin::Client,
            BATCHWISE_ORIGIN_REPLICA => Origin::Replica,
            _ => return None,
        };
        rules.conformance = match self.conformance {
            BATCHWISE_CONFORMANCE_STRICT => Conformance::Strict,
            BATCHWISE_CONFORMANCE_REFERENCE => Conformance::Reference,
            _ => return None,
        };
        if self.reserved != 0 {
            return None;
        }
        if self.max_decompressed != 0 {
            rules.max_decompressed = usize::try_from(self.max_decompressed).unwrap_or(usize::MAX);
        }
        Some(rules)
    }

    /// As [`rules`](Self::rules), the defaults for null.
    ///
    /// # Safety
    /// `options` is null or points to options.
    pub(crate) unsafe fn read(options: *const Options) -> Option<Rules> {
        // SAFETY: null or options by this function's contract.
        unsafe { options.as_ref() }.map_or(Some(Rules::default()), Options::rules)
    }
}

/// What a batch holds, as far as its header and the depth tell.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Length of the whole batch in bytes: the next one starts behind it.
    pub length: u64,
    /// Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the header claims.
    pub records: u64,
    /// First offset, or `BATCHWISE_NONE`.
    pub first_offset: u64,
    /// The offset after the last, or `BATCHWISE_NONE`.
    pub next_offset: u64,
}

/// What was read of an input.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Bytes looked at.
    pub bytes: u64,
    /// Batches found whole.
    pub batches: u64,
    /// Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the headers claim.
    pub records: u64,
    /// Findings of severity error: the input is valid if there is none.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
}

impl From<batchwise::Totals> for Totals {
    fn from(totals: batchwise::Totals) -> Self {
        let batchwise::Totals { bytes, batches, records, errors, warnings, .. } = totals;
        Totals { bytes, batches, records, errors, warnings }
    }
}

/// A batch that a walk found, sound or not.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Its number in the input, from 0.
    pub number: u64,
    /// Where it starts in the input, bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Records read; below `BATCHWISE_DEPTH_RECORDS` the number that the header claims.
    pub records: u64,
    /// First offset, or `BATCHWISE_NONE`.
    pub first_offset: u64,
    /// The offset after the last, or `BATCHWISE_NONE`.
    pub next_offset: u64,
    /// Findings of severity error in it.
    pub errors: u32,
    /// Findings of severity warning in it.
    pub warnings: u32,
}

/// One broken promise of the input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Error {
    /// `batchwise_kind`: what is wrong. 0 where the input is not at fault.
    pub kind: i32,
    /// `BATCHWISE_INFO`, `BATCHWISE_WARNING` or `BATCHWISE_ERROR`.
    pub severity: i32,
    /// Where the field stands, in bytes from the start of the input.
    pub offset: u64,
    /// Not 0 if `offset` counts the decompressed bytes of a batch.
    pub decompressed: i32,
    /// `BATCHWISE_DETAIL_...`: what the next two are. There may be more in later versions.
    pub detail: i32,
    /// As `detail` says.
    pub first: u64,
    /// As `detail` says.
    pub second: u64,
    /// The field as the format's specification spells it; ends in a zero byte.
    pub field: [c_char; 48],
    /// All of it in words; ends in a zero byte.
    pub message: [c_char; 208],
}

impl Error {
    /// No error.
    pub const NONE: Error = Error {
        kind: 0,
        severity: BATCHWISE_INFO,
        offset: 0,
        decompressed: 0,
        detail: BATCHWISE_DETAIL_NONE,
        first: 0,
        second: 0,
        field: [0; 48],
        message: [0; 208],
    };

    /// What went wrong outside the input.
    pub(crate) fn outside(message: impl fmt::Display, number: i32) -> Self {
        let mut error = Error { severity: BATCHWISE_ERROR, first: number as i64 as u64, ..Error::NONE };
        let _ = write!(Text::new(&mut error.message), "{message}");
        error
    }
}

impl From<Defect> for Error {
    fn from(Defect { error, severity }: Defect) -> Self {
        let (detail, first, second) = match error.detail() {
            Detail::Checksum { stored, computed } | Detail::ChecksumAt { stored, computed, .. } => {
                (BATCHWISE_DETAIL_CHECKSUM, stored, computed)
            }
            Detail::Length { needed, available } => (BATCHWISE_DETAIL_LENGTH, needed, available),
            Detail::Value { found, .. } => (BATCHWISE_DETAIL_VALUE, found as u64, 0),
            Detail::Mismatch { stored, computed } => (BATCHWISE_DETAIL_MISMATCH, stored as u64, computed as u64),
            Detail::Expected { expected, found } => (BATCHWISE_DETAIL_EXPECTED, expected, found),
            Detail::Bytes { count } => (BATCHWISE_DETAIL_BYTES, count, 0),
            Detail::Offsets { first, last } => (BATCHWISE_DETAIL_OFFSETS, first, last),
            _ => (BATCHWISE_DETAIL_NONE, 0, 0),
        };
        let severity = match severity {
            Severity::Info => BATCHWISE_INFO,
            Severity::Warning => BATCHWISE_WARNING,
            Severity::Error => BATCHWISE_ERROR,
        };
        let decompressed = (error.counted_in() == Within::Decompressed).into();
        let kind = kind_number(error.kind());
        let mut out =
            Error { kind, severity, offset: error.offset(), decompressed, detail, first, second, ..Error::NONE };
        let _ = Text::new(&mut out.field).write_str(error.field());
        let _ = write!(Text::new(&mut out.message), "{error}");
        out
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |chars: &[c_char]| -> String {
            chars.iter().take_while(|&&c| c != 0).map(|&c| char::from(c as u8)).collect()
        };
        let Error { kind, severity, offset, .. } = self;
        write!(f, "kind {kind}, severity {severity}, {} at {offset}: {}", text(&self.field), text(&self.message))
    }
}

/// Writes text into an array of C characters, as much as fits before a zero byte.
struct Text<'a> {
    room: &'a mut [c_char],
}

impl<'a> Text<'a> {
    fn new(array: &'a mut [c_char]) -> Self {
        let room = array.len().saturating_sub(1);
        Text { room: &mut array[..room] }
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // A character is written as a whole or not at all.
        let end = (0..=text.len().min(self.room.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let (taken, room) = core::mem::take(&mut self.room).split_at_mut(end);
        for (to, byte) in taken.iter_mut().zip(text.bytes()) {
            *to = byte as c_char;
        }
        // What comes behind a piece that did not fit is dropped too.
        self.room = if end == text.len() { room } else { &mut [] };
        Ok(())
    }
}

/// A defect, and the batch that it was found in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// What, where, how bad.
    pub error: Error,
    /// Number of the batch in its input, from 0; `BATCHWISE_NONE` for bytes outside any batch.
    pub batch: u64,
    /// First offset of that batch, or `BATCHWISE_NONE`.
    pub first_offset: u64,
}
