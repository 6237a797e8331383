//! The check of one batch.

use crate::types::*;
use crate::{bytes, guarded, put};
use batchwise::{Defect, ErrorKind, Format, Frame, Severity, iggy, kafka};
use core::ffi::c_void;

/// Memory that checks use again and again, so that in the steady state they allocate nothing.
#[derive(Default)]
pub struct Scratch {
    scratch: batchwise::Scratch,
}

/// Memory for checks. Freed by `batchwise_scratch_free`.
#[unsafe(no_mangle)]
pub extern "C" fn batchwise_scratch_new() -> *mut Scratch {
    Box::into_raw(Box::default())
}

/// Frees a handle; null is ignored.
///
/// # Safety
/// `scratch` came from `batchwise_scratch_new` and is not used again, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_scratch_free(scratch: *mut Scratch) {
    // SAFETY: null, or what `batchwise_scratch_new` made out of a box, by the caller's obligation.
    unsafe { crate::free(scratch) }
}

/// Checks the Kafka batch at the start of `input`, of any magic; more may follow it.
///
/// Returns `BATCHWISE_OK`; `BATCHWISE_DEFECT` with the first defect of severity error in `error`, whose kind is
/// `BATCHWISE_TORN_TAIL` if `input` ends before the batch; or `BATCHWISE_INVALID_ARGUMENT`. `summary.length` is the length
/// of the batch whenever its header tells it, else 0.
///
/// `options`, `scratch`, `summary` and `error` may be null.
///
/// # Safety
/// `input` points to `len` readable bytes, or is null; the others are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_kafka_check(
    input: *const c_void,
    len: usize,
    options: *const Options,
    scratch: *mut Scratch,
    summary: *mut Summary,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `check_one`.
    unsafe { check_one(&kafka::Log, input, len, options, scratch, summary, error) }
}

/// Checks the Iggy batch at the start of `input`; more may follow it. The rest is as for `batchwise_kafka_check`.
///
/// # Safety
/// As for `batchwise_kafka_check`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_iggy_check(
    input: *const c_void,
    len: usize,
    options: *const Options,
    scratch: *mut Scratch,
    summary: *mut Summary,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `check_one`.
    unsafe { check_one(&iggy::Batches::R2, input, len, options, scratch, summary, error) }
}

unsafe fn check_one(
    format: &'static dyn Format,
    input: *const c_void,
    len: usize,
    options: *const Options,
    scratch: *mut Scratch,
    summary: *mut Summary,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let input = unsafe { bytes(input, len) };
    // SAFETY: null or options, by the caller's obligation.
    let Some(options) = (unsafe { Options::read(options) }) else { return BATCHWISE_INVALID_ARGUMENT };
    // SAFETY: null or a handle of ours, by the caller's obligation.
    let scratch = unsafe { scratch.as_mut() };
    let mut first = None;
    let mut found = Summary { length: 0, records: 0, first_offset: BATCHWISE_NONE, next_offset: BATCHWISE_NONE };
    let code = guarded(|| {
        let mut own = batchwise::Scratch::default();
        let scratch = scratch.map_or(&mut own, |s| &mut s.scratch);
        let mut defect = |defect: Defect| {
            if defect.severity == Severity::Error && first.is_none() {
                first = Some(defect);
            }
        };
        match whole_frame(format, input) {
            Ok(frame) => {
                let held = format.check(frame, &options, scratch, &mut defect);
                found.length = frame.bytes.len() as u64;
                found.records = held.records;
                found.first_offset = held.first_offset.unwrap_or(BATCHWISE_NONE);
                found.next_offset = held.next_offset.unwrap_or(BATCHWISE_NONE);
            }
            Err((length, e)) => {
                found.length = length;
                defect(e.into());
            }
        }
        if first.is_some() { BATCHWISE_DEFECT } else { BATCHWISE_OK }
    });
    // SAFETY: null or a place, by the caller's obligation.
    unsafe { put(summary, found) };
    // SAFETY: as before.
    unsafe { put(error, first.map_or(Error::NONE, Error::from)) };
    code
}

/// The frame at the start of `input`; or its length, 0 if unknown, and why there is none.
fn whole_frame<'a>(format: &dyn Format, input: &'a [u8]) -> Result<Frame<'a>, (u64, batchwise::Error)> {
    let torn = |needed: u64| {
        let detail = batchwise::Detail::Length { needed, available: input.len() as u64 };
        batchwise::Error::new(ErrorKind::TornTail, detail, "batch", 0)
    };
    if input.len() < format.prefix_len() {
        return Err((0, torn(format.prefix_len() as u64)));
    }
    let length = format.frame_len(input, 0).map_err(|e| (0, e))?;
    let whole = usize::try_from(length).ok().and_then(|n| input.get(..n));
    whole.map(|bytes| Frame { offset: 0, bytes }).ok_or_else(|| (length, torn(length)))
}
