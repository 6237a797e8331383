//! Zstandard frames, by the zstd library.
//!
//! As zstd-jni reads them in a stream: frames and skippable frames one after the other, nothing else behind them, a
//! window of at most 128 MiB. Decoded in one go, which needs no window of its own: the output is the window. Where the
//! library judges otherwise in one go than in a stream, its lengths are looked at before.

use super::{Container, Notes, Output, States, Stop, zstd_frame};
use crate::{Detail, ErrorKind, Result};
use ::zstd::zstd_safe::{DCtx, find_frame_compressed_size, get_error_name};
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
/// Its `ZSTD_error_checksum_wrong`, `ZSTD_error_prefix_unknown` and `ZSTD_error_frameParameter_unsupported`.
const CHECKSUM_WRONG: usize = 22usize.wrapping_neg();
const NO_MAGIC: usize = 10usize.wrapping_neg();
const UNSUPPORTED: usize = 14usize.wrapping_neg();

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
    if let Some(at) = scanned.block_too_large {
        return Err(Stop::corrupt("a block is larger than the window", "Block_Size", at));
    }
    let mended;
    let stream = if scanned.has_empty_block {
        mended = zstd_frame::without_empty_blocks(stream);
        &mended
    } else {
        stream
    };
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
        Err(code) => Err(find_reason(context, stream, output, code)),
    }
}

/// Decodes frame by frame, to tell in which one the library failed with `code`.
#[cold]
fn find_reason(context: &mut DCtx<'_>, stream: &[u8], output: &mut Output<'_>, code: usize) -> Stop {
    let (mut at, mut code) = (0, code);
    while let Ok(len) = find_frame_compressed_size(&stream[at..]) {
        match context.decompress(output.rest(), &stream[at..at + len]) {
            Ok(written) => {
                output.len += written;
                at += len;
            }
            Err(CHECKSUM_WRONG) => {
                let detail = Detail::Reason(get_error_name(CHECKSUM_WRONG));
                return Stop::bad(ErrorKind::CodecChecksumMismatch, detail, "Content_Checksum", at + len - 4);
            }
            Err(e) => {
                code = e;
                break;
            }
        }
        if at == stream.len() {
            break;
        }
    }
    let reason = get_error_name(code);
    match code {
        NO_MAGIC if at == 0 => Stop::bad(ErrorKind::CodecHeaderInvalid, Detail::Reason(reason), "Magic_Number", at),
        UNSUPPORTED => {
            Stop::bad(ErrorKind::CodecHeaderInvalid, Detail::Reason(reason), "Frame_Header_Descriptor", at + 4)
        }
        _ => Stop::corrupt(reason, "frame", at),
    }
}
