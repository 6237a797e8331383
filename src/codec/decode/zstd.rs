//! Zstandard frames, by the zstd library.
//!
//! As zstd-jni reads them in a stream: frames and skippable frames one after the other, nothing else behind them, a
//! window of at most 128 MiB. Decoded in one go, which needs no window of its own: the output is the window.

use super::{Container, Notes, Output, States, Stop, zstd_frame};
use crate::Result;
use ::zstd::zstd_safe::DCtx;
use core::fmt;

/// The library's context, kept because it is large.
#[derive(Default)]
pub(super) struct State(Option<DCtx<'static>>);

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

/// The library's `ZSTD_error_dstSize_tooSmall`, as its functions return it.
const NO_ROOM: usize = 70usize.wrapping_neg();

pub(super) fn hint(stream: &[u8]) -> usize {
    zstd_frame::scan(stream).most
}

pub(super) fn decode(
    states: &mut States,
    stream: &[u8],
    _: &Container,
    output: &mut Output<'_>,
) -> Result<Notes, Stop> {
    let scanned = zstd_frame::scan(stream);
    if let Some(at) = scanned.window_too_large {
        return Err(Stop::corrupt("the window is larger than 128 MiB", "Window_Descriptor", at));
    }
    let context = match &mut states.zstd.0 {
        Some(context) => context,
        none => none.insert(DCtx::try_create().ok_or_else(|| Stop::corrupt("no memory for the decoder", "frame", 0))?),
    };
    match context.decompress(output.rest(), stream) {
        Ok(len) => {
            output.len += len;
            Ok(Notes::default())
        }
        Err(NO_ROOM) => Err(Stop::Full),
        Err(code) => Err(Stop::corrupt(::zstd::zstd_safe::get_error_name(code), "frame", 0)),
    }
}
