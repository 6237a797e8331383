//! gzip: RFC 1952 members, one after the other, by flate2 on zlib-rs.
//!
//! As `java.util.zip.GZIPInputStream` reads them: the checksum and the size of each member are checked; after a member
//! another is looked for only if more than 26 bytes are left, its trailer among them; whatever does not start with a
//! sound header is ignored.

use super::{Container, Notes, Output, States, Stop};
use crate::{Detail, Error, ErrorKind, Result};
use core::fmt;
use flate2::{Decompress, FlushDecompress, Status};

/// The inflater, kept because it is large.
#[derive(Default)]
pub(super) struct State(Option<Decompress>);

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

const FHCRC: u8 = 2;
const FEXTRA: u8 = 4;
const FNAME: u8 = 8;
const FCOMMENT: u8 = 16;
/// Bytes of the trailer: CRC32 and ISIZE.
const TRAILER: usize = 8;
/// Fewer bytes behind the deflate data cannot hold its trailer and another member.
const ANOTHER_FROM: usize = 26;
/// The most bytes that deflate makes of one.
const MAX_RATIO: usize = 1032;

pub(super) fn hint(stream: &[u8]) -> usize {
    let isize = stream.last_chunk().map_or(0, |b| u32::from_le_bytes(*b) as usize);
    isize.min(stream.len().saturating_mul(MAX_RATIO))
}

pub(super) fn decode(
    states: &mut States,
    stream: &[u8],
    _: &Container,
    output: &mut Output<'_>,
) -> Result<Notes, Stop> {
    let inflate = states.gzip.0.get_or_insert_with(|| Decompress::new(false));
    let mut at = header(stream, 0)?;
    loop {
        let start = output.len;
        at += member(inflate, stream, at, output)?;
        let rest = stream.len() - at;
        trailer(stream, at, &output.room[start..output.len])?;
        at += TRAILER;
        if rest > ANOTHER_FROM
            && let Ok(next) = header(stream, at)
        {
            at = next;
            continue;
        }
        let left = (stream.len() - at) as u64;
        let detail = Detail::Length { needed: 0, available: left };
        let trailing = (left > 0).then(|| Error::new(ErrorKind::CodecTrailingBytes, detail, "member", at as u64));
        return Ok(Notes { trailing, ..Notes::default() });
    }
}

/// Where the deflate data begin of the member whose header starts at `start`.
fn header(stream: &[u8], start: usize) -> Result<usize, Stop> {
    let cut_off = |at| Stop::header("it is cut off", "member header", at);
    let head: &[u8; 10] = stream[start..].first_chunk().ok_or_else(|| cut_off(start))?;
    if head[..2] != [0x1F, 0x8B] {
        return Err(Stop::header("ID1 and ID2 must be 1f 8b", "ID1", start));
    }
    if head[2] != 8 {
        return Err(Stop::header("CM must be 8", "CM", start + 2));
    }
    let flags = head[3];
    let mut at = start + 10;
    if flags & FEXTRA != 0 {
        let len: &[u8; 2] = stream[at..].first_chunk().ok_or_else(|| cut_off(at))?;
        at += 2 + usize::from(u16::from_le_bytes(*len));
    }
    for flag in [FNAME, FCOMMENT] {
        if flags & flag != 0 {
            let rest = stream.get(at..).ok_or_else(|| cut_off(start))?;
            at += 1 + rest.iter().position(|&b| b == 0).ok_or_else(|| cut_off(at))?;
        }
    }
    if flags & FHCRC != 0 {
        let (covered, rest) = stream.split_at_checked(at).ok_or_else(|| cut_off(start))?;
        let stored: &[u8; 2] = rest.first_chunk().ok_or_else(|| cut_off(at))?;
        let (stored, computed) = (u16::from_le_bytes(*stored), crc32fast::hash(&covered[start..]) as u16);
        if stored != computed {
            let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
            return Err(Stop::bad(ErrorKind::CodecChecksumMismatch, detail, "CRC16", at).on_open());
        }
        at += 2;
    }
    if at > stream.len() {
        return Err(cut_off(start));
    }
    Ok(at)
}

/// Inflates the data that start at `at`; tells how many bytes they take.
fn member(inflate: &mut Decompress, stream: &[u8], at: usize, output: &mut Output<'_>) -> Result<usize, Stop> {
    inflate.reset(false);
    loop {
        let (read, written) = (inflate.total_in() as usize, inflate.total_out() as usize);
        // A room of no bytes would keep the end of the data from being seen.
        let mut none = [0];
        let is_full = output.rest().is_empty();
        let room = if is_full { &mut none[..] } else { output.rest() };
        let status = inflate.decompress(&stream[at + read..], room, FlushDecompress::Finish);
        let new_read = inflate.total_in() as usize - read;
        let new_written = inflate.total_out() as usize - written;
        if is_full && new_written > 0 {
            return Err(Stop::Full);
        }
        output.len += new_written;
        match status {
            Ok(Status::StreamEnd) => return Ok(inflate.total_in() as usize),
            Ok(_) if new_read + new_written > 0 => {}
            Ok(_) => return Err(Stop::corrupt("the deflate data are cut off", "deflate data", stream.len())),
            Err(_) => return Err(Stop::corrupt("the deflate data are corrupt", "deflate data", at + read + new_read)),
        }
    }
}

/// Compares the trailer at `at` with the member's content.
fn trailer(stream: &[u8], at: usize, content: &[u8]) -> Result<(), Stop> {
    let Some((crc, rest)) = stream[at..].split_first_chunk::<4>() else {
        return Err(Stop::corrupt("the trailer is cut off", "CRC32", at));
    };
    let Some(size) = rest.first_chunk::<4>() else {
        return Err(Stop::corrupt("the trailer is cut off", "ISIZE", at + 4));
    };
    let check = |stored: u32, computed: u32, field, at| {
        let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
        if stored == computed { Ok(()) } else { Err(Stop::bad(ErrorKind::CodecChecksumMismatch, detail, field, at)) }
    };
    check(u32::from_le_bytes(*crc), crc32fast::hash(content), "CRC32", at)?;
    check(u32::from_le_bytes(*size), content.len() as u32, "ISIZE", at + 4)
}
