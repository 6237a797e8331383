//! Snappy, by snap: one raw block, or chunks in the framing of snappy-java ("xerial").
//!
//! As `org.xerial.snappy.SnappyInputStream` reads them: the version numbers in the framing's header are not looked at,
//! the header may come again between chunks, up to three bytes behind the last chunk are ignored.

use super::{Container, Notes, Output, States, Stop};
use crate::{Detail, Error, ErrorKind, Result};
use core::fmt;

#[derive(Default)]
pub(super) struct State(snap::raw::Decoder);

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// The magic, and two version numbers of four bytes.
const HEADER: usize = 16;
/// The longest chunk that snappy-java reads.
const MAX_CHUNK: usize = 512 << 20;
/// The most bytes that snappy makes of one: a copy of 64 bytes takes three.
const MAX_RATIO: usize = 22;

/// A piece of the stream.
enum Piece<'a> {
    /// A raw block that starts at this byte.
    Block(usize, &'a [u8]),
    /// The stream ends here.
    End(usize),
}

/// Whether the stream has snappy-java's framing.
fn is_framed(stream: &[u8]) -> bool {
    stream.len() >= HEADER && stream.starts_with(&MAGIC)
}

/// The piece at `at` of a framed stream.
fn piece(stream: &[u8], mut at: usize) -> Result<Piece<'_>, Stop> {
    loop {
        let Some(length) = stream[at..].first_chunk::<4>() else { return Ok(Piece::End(at)) };
        if length[..] == MAGIC[..4] {
            let Some(header) = stream[at..].first_chunk::<HEADER>() else {
                return Err(Stop::corrupt("a header between chunks is cut off", "magic", at));
            };
            if !header.starts_with(&MAGIC) {
                return Ok(Piece::End(at));
            }
            at += HEADER;
            continue;
        }
        let length = i32::from_be_bytes(*length);
        let start = at + 4;
        let Some(length) = usize::try_from(length).ok().filter(|&l| l <= MAX_CHUNK) else {
            let detail = Detail::Value { found: length.into(), rule: "must be from 1 to 536870912" };
            return Err(Stop::bad(ErrorKind::DecompressFailed, detail, "chunk length", at));
        };
        return match stream[start..].get(..length) {
            Some(block) => Ok(Piece::Block(start, block)),
            None => {
                let detail = Detail::Length { needed: length as u64, available: (stream.len() - start) as u64 };
                Err(Stop::bad(ErrorKind::DecompressFailed, detail, "chunk length", at))
            }
        };
    }
}

/// The length that a block declares, if it can be true.
fn content_len(block: &[u8], at: usize) -> Result<usize, Stop> {
    let mut value = 0u64;
    for (i, &b) in block.iter().enumerate().take(5) {
        value |= u64::from(b & 0x7F) << (7 * i);
        if b & 0x80 == 0 {
            let most = (block.len() - i - 1).saturating_mul(MAX_RATIO) as u64;
            if value > most {
                let detail = Detail::Length { needed: value, available: most };
                return Err(Stop::bad(ErrorKind::DecompressFailed, detail, "uncompressed length", at));
            }
            return Ok(value as usize);
        }
    }
    Err(Stop::corrupt("it is no varint of 32 bits", "uncompressed length", at))
}

pub(super) fn hint(stream: &[u8]) -> usize {
    let mut sum = 0usize;
    if !is_framed(stream) {
        return content_len(stream, 0).unwrap_or(0);
    }
    let mut at = HEADER;
    while let Ok(Piece::Block(start, block)) = piece(stream, at) {
        sum = sum.saturating_add(content_len(block, start).unwrap_or(0));
        at = start + block.len();
    }
    sum
}

pub(super) fn decode(
    states: &mut States,
    stream: &[u8],
    _: &Container,
    output: &mut Output<'_>,
) -> Result<Notes, Stop> {
    let decoder = &mut states.snappy.0;
    if stream.is_empty() {
        return Err(Stop::header("the stream is empty", "block", 0));
    }
    if !is_framed(stream) {
        return block(decoder, stream, 0, output).map(|()| Notes::default()).map_err(Stop::on_open);
    }
    let mut at = HEADER;
    loop {
        match piece(stream, at)? {
            Piece::Block(start, bytes) => {
                block(decoder, bytes, start, output)?;
                at = start + bytes.len();
            }
            Piece::End(at) => {
                let detail = Detail::Length { needed: 0, available: (stream.len() - at) as u64 };
                let error = Error::new(ErrorKind::CodecTrailingBytes, detail, "chunk length", at as u64);
                return Ok(Notes { trailing: (at < stream.len()).then_some(error), ..Notes::default() });
            }
        }
    }
}

/// Decodes a raw block that starts at `at`.
fn block(decoder: &mut snap::raw::Decoder, block: &[u8], at: usize, output: &mut Output<'_>) -> Result<(), Stop> {
    if block.is_empty() {
        return Err(Stop::corrupt("a block has at least one byte", "block", at));
    }
    let room = output.take(content_len(block, at)?)?;
    match decoder.decompress(block, room) {
        Ok(_) => Ok(()),
        Err(_) => Err(Stop::corrupt("the block is corrupt", "block", at)),
    }
}
