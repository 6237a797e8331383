//! Finds the way back after damage.
//!
//! The search looks at every byte for a header that could be that of a frame, and takes the first whose frame has the
//! right checksum. A wrong one passes about once in 2^32 times for a 32-bit checksum.

use super::input::Input;
use super::walk::WHOLE;
use crate::formats::{Format, Summary};

/// What a candidate has to fulfil beside being intact; its end in the input is the second value.
pub(super) type Accept<'a> = &'a dyn Fn(&Summary, u64) -> bool;

/// Bytes of frames that a search may verify for each byte that it looks at, and at least at all.
///
/// Headers that lead nowhere are rare in real damage. In bytes made to look like headers of long frames each one would
/// cost its length, so beyond this only short frames are verified.
const VERIFY_PER_BYTE: u64 = 64;
const VERIFY_AT_LEAST: u64 = 1 << 30;
/// A frame that is always verified.
const SHORT: u64 = 4096;

/// Whether the frame of `len` bytes at `at` is there as a whole and its checksums hold.
pub(super) fn is_intact<I: Input>(
    format: &'static dyn Format,
    input: &mut I,
    at: u64,
    len: u64,
) -> Result<bool, I::Error> {
    if at.checked_add(len).is_none_or(|end| end > input.len()) {
        return Ok(false);
    }
    if len > WHOLE
        && let Some(verdict) = in_pieces(format, input, at, len)?
    {
        return Ok(verdict.is_ok());
    }
    let bytes = input.bytes(at, len)?;
    Ok(usize::try_from(len).ok().and_then(|len| bytes.get(..len)).is_some_and(|frame| format.is_intact(frame)))
}

/// Verifies a frame without holding it; `None` if the format has no way to.
pub(super) fn in_pieces<I: Input>(
    format: &'static dyn Format,
    input: &mut I,
    at: u64,
    len: u64,
) -> Result<Option<crate::Result<()>>, I::Error> {
    let Some(mut pieces) = format.pieces(at) else { return Ok(None) };
    let mut done = 0;
    while done < len {
        let bytes = input.bytes(at + done, 1)?;
        let piece = &bytes[..bytes.len().min(usize::try_from(len - done).unwrap_or(usize::MAX))];
        if piece.is_empty() {
            break;
        }
        pieces.feed(piece);
        done += piece.len() as u64;
    }
    Ok(Some(pieces.finish()))
}

/// What stands behind a candidate.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Behind {
    /// Anything.
    Whatever,
    /// Another header, or the end of the input. Told without reading the candidate itself, so that bytes which merely
    /// look like a header cost next to nothing, whatever length they claim.
    Header,
}

/// The first frame that starts in `from..to`, is of `likely` or another one of `formats`, is intact and accepted.
pub(super) fn search<I: Input>(
    likely: &'static dyn Format,
    formats: &[&'static dyn Format],
    input: &mut I,
    from: u64,
    to: u64,
    behind: Behind,
    accept: Accept<'_>,
) -> Result<Option<(u64, &'static dyn Format)>, I::Error> {
    let mut first = search_one(likely, input, from, to, behind, accept)?.map(|at| (at, likely));
    for format in formats.iter().copied().filter(|f| *f != likely) {
        let to = first.map_or(to, |(at, _)| at);
        if let Some(at) = search_one(format, input, from, to, behind, accept)? {
            first = Some((at, format));
        }
    }
    Ok(first)
}

fn search_one<I: Input>(
    format: &'static dyn Format,
    input: &mut I,
    from: u64,
    to: u64,
    behind: Behind,
    accept: Accept<'_>,
) -> Result<Option<u64>, I::Error> {
    let head_len = format.head_len();
    let mut verified = 0;
    let mut at = from;
    while at < to {
        let end = input.len();
        let bytes = input.bytes(at, head_len as u64)?;
        // Only at the end of the input a header may be cut off.
        let head = if at + bytes.len() as u64 >= end { format.prefix_len() } else { head_len };
        let reach = usize::try_from(to - at).unwrap_or(usize::MAX).saturating_add(head_len - 1);
        let bytes = &bytes[..bytes.len().min(reach)];
        let Some(skip) = format.find(bytes, head) else {
            let places = (bytes.len() + 1).saturating_sub(head);
            if places == 0 {
                break;
            }
            at += places as u64;
            continue;
        };
        let found = at + skip as u64;
        if found >= to {
            break;
        }
        at = found + 1;
        let header = &bytes[skip..];
        let (Some(claims), Ok(len)) = (format.peek(header), format.frame_len(header, found)) else { continue };
        let affordable = len <= SHORT || verified < VERIFY_AT_LEAST + VERIFY_PER_BYTE * (found - from);
        if len > end - found || !affordable || !accept(&claims, found + len) {
            continue;
        }
        if behind == Behind::Header && found + len < end {
            let next = input.bytes(found + len, head_len as u64)?;
            if format.peek(next).is_none() {
                continue;
            }
        }
        verified += len;
        if is_intact(format, input, found, len)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
