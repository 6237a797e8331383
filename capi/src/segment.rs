//! Whole inputs: a segment file, or batches in memory.

use crate::types::*;
use crate::{bytes, guarded, put};
use batchwise::segment::{self, ReadAt};
use batchwise::{Format, Validator, formats};
use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::rc::Rc;

/// Called for each defect, in the order of their places; not 0 stops the walk. It has to return: no exception, no `longjmp`.
pub type OnFinding = Option<unsafe extern "C" fn(context: *mut c_void, finding: *const Finding) -> i32>;

/// Called for each batch, sound or not, after its defects; as `batchwise_on_finding`.
pub type OnBatch = Option<unsafe extern "C" fn(context: *mut c_void, batch: *const Batch) -> i32>;

/// Who is told what a walk finds. Each callback may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// For each defect.
    pub on_finding: OnFinding,
    /// For each batch.
    pub on_batch: OnBatch,
    /// Handed to both.
    pub context: *mut c_void,
}

/// Bytes of an input that its format is told from.
const HEAD: usize = 64 << 10;

/// Walks through the segment file at `path` and checks each batch, in bounded memory; damage is passed over to the next
/// batch that checks.
///
/// `format` is "kafka" or "iggy" as on the command line, or null to tell it from the content. Returns `BATCHWISE_OK`;
/// `BATCHWISE_DEFECT` if a finding is an error, with the first such in `error`; `BATCHWISE_STOPPED`;
/// `BATCHWISE_INVALID_ARGUMENT`, also for a content of no known format; or `BATCHWISE_IO`, with the system's message in
/// `error`. An empty file is valid.
///
/// `options`, `sink`, `totals` and `error` may be null.
///
/// # Safety
/// `path` and `format` are null or end in a zero byte; the others are null or point to what their types say; the callbacks may
/// be called with the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_segment_walk(
    path: *const c_char,
    format: *const c_char,
    options: *const Options,
    sink: *const Sink,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: null or a string, by the caller's obligation.
    let path = unsafe { string(path) };
    let open = || File::open(path.and_then(path_of).ok_or(Refusal::Argument)?).map_err(Refusal::System);
    let verify = |file: &File, validator: Validator<'_>, told: &mut Told| {
        segment::verify(&Until(file, &told.stopped.clone()), validator, told)
    };
    // SAFETY: the caller's obligation is that of `walk`.
    unsafe { walk(open, verify, format, options, sink, totals, error) }
}

/// Checks batches that lie one behind the other in memory. The rest is as for `batchwise_segment_walk`.
///
/// # Safety
/// As for `batchwise_segment_walk`; `input` points to `len` readable bytes, or is null, and no callback changes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_memory_walk(
    input: *const c_void,
    len: usize,
    format: *const c_char,
    options: *const Options,
    sink: *const Sink,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let input = unsafe { bytes(input, len) };
    let verify = |input: &&[u8], validator: Validator<'_>, told: &mut Told| {
        // Nobody can stop it: then there is no need to go by way of a buffer.
        if told.on_finding.is_none() && told.on_batch.is_none() {
            return Ok(validator.walk(input, told));
        }
        segment::verify(&Until(*input, &told.stopped.clone()), validator, told)
    };
    // SAFETY: the caller's obligation is that of `walk`.
    unsafe { walk(|| Ok(input), verify, format, options, sink, totals, error) }
}

/// Why a walk does not begin, or does not end.
enum Refusal {
    Argument,
    System(io::Error),
    Stopped,
}

/// # Safety
/// `format`, `options`, `sink`, `totals` and `error` are as for [`batchwise_segment_walk`].
unsafe fn walk<S: ReadAt>(
    open: impl FnOnce() -> Result<S, Refusal>,
    verify: impl FnOnce(&S, Validator<'_>, &mut Told) -> io::Result<batchwise::Totals>,
    format: *const c_char,
    options: *const Options,
    sink: *const Sink,
    totals: *mut Totals,
    error: *mut Error,
) -> i32 {
    // SAFETY: null or a string, by the caller's obligation.
    let format = unsafe { string(format) };
    // SAFETY: null or options, by the caller's obligation.
    let options = unsafe { Options::read(options) };
    // SAFETY: null or a sink, by the caller's obligation.
    let sink = unsafe { sink.as_ref() };
    // Its callbacks may be called from here on, by the caller's obligation.
    let mut told = Told::new(sink);
    let mut seen = Totals::default();
    let code = guarded(|| {
        let result = (|| {
            let options = options.ok_or(Refusal::Argument)?;
            let source = open()?;
            let Some(format) = format_of(format, &source)? else { return Ok(()) };
            let result = verify(&source, Validator::new(format).options(options), &mut told);
            if told.stopped.get() {
                return Err(Refusal::Stopped);
            }
            seen = result.map_err(Refusal::System)?.into();
            Ok(())
        })();
        match result {
            Ok(()) if seen.errors > 0 => BATCHWISE_DEFECT,
            Ok(()) => BATCHWISE_OK,
            Err(Refusal::Argument) => BATCHWISE_INVALID_ARGUMENT,
            Err(Refusal::Stopped) => BATCHWISE_STOPPED,
            Err(Refusal::System(e)) => {
                told.first = Error::outside(&e, e.raw_os_error().unwrap_or(0));
                BATCHWISE_IO
            }
        }
    });
    // SAFETY: null or a place, by the caller's obligation.
    unsafe { put(totals, seen) };
    // SAFETY: as before.
    unsafe { put(error, told.first) };
    code
}

/// The format of that name, or that of the content; `None` for no content.
fn format_of(name: Option<&CStr>, source: &impl ReadAt) -> Result<Option<&'static dyn Format>, Refusal> {
    if let Some(name) = name {
        let name = name.to_str().map_err(|_| Refusal::Argument)?;
        return formats::ALL.iter().copied().find(|f| f.name() == name).map(Some).ok_or(Refusal::Argument);
    }
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while filled < head.len() {
        match source.read_at(&mut head[filled..], filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Refusal::System(e)),
        }
    }
    if filled == 0 {
        return Ok(None);
    }
    formats::detect(&head[..filled]).map(Some).ok_or(Refusal::Argument)
}

/// Passes on what the library finds, until the caller wants no more.
struct Told {
    on_finding: OnFinding,
    on_batch: OnBatch,
    context: *mut c_void,
    /// The first error.
    first: Error,
    stopped: Rc<Cell<bool>>,
}

impl Told {
    fn new(sink: Option<&Sink>) -> Self {
        Told {
            on_finding: sink.and_then(|s| s.on_finding),
            on_batch: sink.and_then(|s| s.on_batch),
            context: sink.map_or(null_mut(), |s| s.context),
            first: Error::NONE,
            stopped: Rc::default(),
        }
    }
}

impl batchwise::Sink for Told {
    fn finding(&mut self, finding: batchwise::Finding) {
        if self.stopped.get() {
            return;
        }
        let found = Finding {
            error: finding.defect.into(),
            batch: finding.batch.unwrap_or(BATCHWISE_NONE),
            first_offset: finding.first_offset.unwrap_or(BATCHWISE_NONE),
        };
        if found.error.severity == BATCHWISE_ERROR && self.first.severity != BATCHWISE_ERROR {
            self.first = found.error;
        }
        // SAFETY: only `walk` makes these, whose caller allows the call.
        self.stopped.set(self.on_finding.is_some_and(|call| unsafe { call(self.context, &found) } != 0));
    }

    fn batch(&mut self, batch: &batchwise::Batch, _: &[u8]) {
        if self.stopped.get() {
            return;
        }
        let found = Batch {
            number: batch.number,
            offset: batch.offset,
            length: batch.len,
            records: batch.summary.records,
            first_offset: batch.summary.first_offset.unwrap_or(BATCHWISE_NONE),
            next_offset: batch.summary.next_offset.unwrap_or(BATCHWISE_NONE),
            errors: batch.errors,
            warnings: batch.warnings,
        };
        // SAFETY: only `walk` makes these, whose caller allows the call.
        self.stopped.set(self.on_batch.is_some_and(|call| unsafe { call(self.context, &found) } != 0));
    }
}

/// A source that cannot be read any more once the caller has stopped.
struct Until<'a, S>(S, &'a Cell<bool>);

impl<S: ReadAt> ReadAt for Until<'_, S> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.1.get() { Err(io::ErrorKind::Other.into()) } else { self.0.read_at(buffer, offset) }
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
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
