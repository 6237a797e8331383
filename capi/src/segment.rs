//! Whole inputs: a segment file, or batches in memory.

use crate::types::*;
use crate::{bytes, guarded, put};
use batchwise::{Format, Validator, formats, segment};
use core::ffi::{CStr, c_char, c_void};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek};

/// Called for each defect, in the order of their places; not 0 stops the walk. It has to return: no exception, no `longjmp`.
pub type OnFinding = Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding) -> i32>;

/// Bytes of an input that its format is told from.
const HEAD: u64 = 64 << 10;

/// Walks through the segment file at `path` and checks each batch, in bounded memory; damage is passed over to the next
/// batch that checks.
///
/// `format` is "kafka" or "iggy" as on the command line, or null to tell it from the content. Returns `BATCHWISE_OK`;
/// `BATCHWISE_DEFECT` if a finding is an error, with the first such in `error`; `BATCHWISE_STOPPED`;
/// `BATCHWISE_INVALID_ARGUMENT`, also for a content of no known format; or `BATCHWISE_IO`, with the system's message in
/// `error`. An empty file is valid.
///
/// `options`, `on_finding`, `totals` and `error` may be null.
///
/// # Safety
/// `path` and `format` are null or end in a zero byte; `options`, `totals` and `error` are null or point to what their types
/// say; `on_finding` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_segment_walk(
    path: *const c_char,
    format: *const c_char,
    options: *const Options,
    on_finding: OnFinding,
    context: *mut c_void,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: null or a string, by the caller's obligation.
    let path = unsafe { string(path) };
    let open = || {
        let path = path.and_then(path_of).ok_or(Refusal::Argument)?;
        let file = File::open(path).map_err(Refusal::System)?;
        let len = file.metadata().map_err(Refusal::System)?.len();
        Ok((file, len))
    };
    // SAFETY: the caller's obligation is that of `walk`.
    unsafe { walk(open, format, options, on_finding, context, totals, error) }
}

/// Checks batches that lie one behind the other in memory. The rest is as for `batchwise_segment_walk`.
///
/// # Safety
/// As for `batchwise_segment_walk`; `input` points to `len` readable bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_memory_walk(
    input: *const c_void,
    len: usize,
    format: *const c_char,
    options: *const Options,
    on_finding: OnFinding,
    context: *mut c_void,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let input = unsafe { bytes(input, len) };
    let open = || Ok((io::Cursor::new(input), input.len() as u64));
    // SAFETY: the caller's obligation is that of `walk`.
    unsafe { walk(open, format, options, on_finding, context, totals, error) }
}

/// Why a walk does not begin, or does not end.
enum Refusal {
    Argument,
    System(io::Error),
    Stopped,
}

unsafe fn walk<S: Read + Seek>(
    open: impl FnOnce() -> Result<(S, u64), Refusal>,
    format: *const c_char,
    options: *const Options,
    on_finding: OnFinding,
    context: *mut c_void,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: null or a string, by the caller's obligation.
    let format = unsafe { string(format) };
    // SAFETY: null or options, by the caller's obligation.
    let options = unsafe { Options::read(options) };
    let mut first = Error::NONE;
    let mut seen = Totals::default();
    let code = guarded(|| {
        let mut report = |finding: batchwise::Finding| {
            let found = Finding {
                error: finding.defect.into(),
                batch: finding.batch.unwrap_or(BATCHWISE_NONE),
                first_offset: finding.first_offset.unwrap_or(BATCHWISE_NONE),
            };
            if found.error.severity == BATCHWISE_ERROR && first.severity != BATCHWISE_ERROR {
                first = found.error;
            }
            // SAFETY: the callback may be called with `context`, by the caller's obligation.
            on_finding.is_some_and(|call| unsafe { call(context, &found) } != 0)
        };
        let result = (|| {
            let options = options.ok_or(Refusal::Argument)?;
            let (mut source, len) = open()?;
            let Some(format) = format_of(format, &mut source, len)? else { return Ok(()) };
            let validator = Validator::new(format).options(options);
            let stopped = Cell::new(false);
            let source = Until { source, stopped: &stopped };
            let result = segment::verify(source, len, validator, &mut |finding| {
                if !stopped.get() {
                    stopped.set(report(finding));
                }
            });
            if stopped.get() {
                return Err(Refusal::Stopped);
            }
            let totals = result.map_err(Refusal::System)?;
            seen = Totals {
                bytes: totals.bytes,
                batches: totals.batches,
                records: totals.records,
                errors: totals.errors,
                warnings: totals.warnings,
            };
            Ok(())
        })();
        match result {
            Ok(()) if seen.errors > 0 => BATCHWISE_DEFECT,
            Ok(()) => BATCHWISE_OK,
            Err(Refusal::Argument) => BATCHWISE_INVALID_ARGUMENT,
            Err(Refusal::Stopped) => BATCHWISE_STOPPED,
            Err(Refusal::System(e)) => {
                first = Error::outside(&e, e.raw_os_error().unwrap_or(0));
                BATCHWISE_IO
            }
        }
    });
    // SAFETY: null or a place, by the caller's obligation.
    unsafe { put(totals, seen) };
    // SAFETY: as before.
    unsafe { put(error, first) };
    code
}

/// The format of that name, or that of the content; `None` for no content.
fn format_of(
    name: Option<&CStr>,
    source: &mut (impl Read + Seek),
    len: u64,
) -> Result<Option<&'static dyn Format>, Refusal> {
    if let Some(name) = name {
        let name = name.to_str().map_err(|_| Refusal::Argument)?;
        return formats::ALL.iter().copied().find(|f| f.name() == name).map(Some).ok_or(Refusal::Argument);
    }
    let mut head = Vec::new();
    source.by_ref().take(HEAD).read_to_end(&mut head).map_err(Refusal::System)?;
    source.rewind().map_err(Refusal::System)?;
    if head.is_empty() && len == 0 {
        return Ok(None);
    }
    formats::detect(&head).map(Some).ok_or(Refusal::Argument)
}

/// A source that ends when the caller wants no more of it.
struct Until<'a, S> {
    source: S,
    stopped: &'a Cell<bool>,
}

impl<S: Read> Read for Until<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.stopped.get() { Err(io::ErrorKind::Other.into()) } else { self.source.read(buf) }
    }
}

/// # Safety
/// `text` is null or ends in a zero byte, and is not changed during the call.
unsafe fn string<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not null, and a string by this function's contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

#[cfg(unix)]
fn path_of(text: &CStr) -> Option<&std::path::Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(text.to_bytes()).as_ref())
}

/// Elsewhere paths are UTF-8.
#[cfg(not(unix))]
fn path_of(text: &CStr) -> Option<&std::path::Path> {
    Some(text.to_str().ok()?.as_ref())
}
