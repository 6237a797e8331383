//! An LZ4 frame, its blocks by the LZ4 library, its container here.
//!
//! As Kafka's `Lz4BlockInputStream` reads it: the first frame only, whatever follows is ignored; blocks must be
//! independent; checksums of the descriptor and of blocks are checked, that of the content and its size are not; the
//! end mark has to be there. The blocks go to the library that lz4-java wraps too, because crafted blocks that break
//! its rules about the end of a block have to be refused as it refuses them.

use super::{Container, Notes, Output, States, Stop, lz4_block};
use crate::{Detail, Error, ErrorKind, Result};
use xxhash_rust::xxh32::xxh32;

/// Nothing: blocks are decoded without memory between them.
#[derive(Debug, Default)]
pub(super) struct State;

const MAGIC: u32 = 0x184D_2204;
const BLOCK_CHECKSUM: u8 = 1 << 4;
const CONTENT_SIZE: u8 = 1 << 3;
const CONTENT_CHECKSUM: u8 = 1 << 2;
const INDEPENDENT: u8 = 1 << 5;
/// Bit of a block's length: the block is stored as it is.
const STORED: u32 = 1 << 31;

/// What a frame's descriptor says.
struct Descriptor {
    flags: u8,
    max_block: usize,
    content_size: Option<u64>,
    /// Bytes up to the first block.
    len: usize,
}

fn u32_at(stream: &[u8], at: usize) -> Option<u32> {
    stream.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

fn descriptor(stream: &[u8], container: &Container) -> Result<Descriptor, Stop> {
    let cut_off = || Stop::header("the frame descriptor is cut off", "frame descriptor", stream.len());
    let head: &[u8; 6] = stream.first_chunk().ok_or_else(cut_off)?;
    if u32_at(stream, 0) != Some(MAGIC) {
        return Err(Stop::header("it must be 0x184d2204", "frame magic", 0));
    }
    let (flags, block_descriptor) = (head[4], head[5]);
    if flags >> 6 != 1 {
        return Err(Stop::header("the version must be 1", "FLG", 4));
    }
    if flags & 3 != 0 {
        return Err(Stop::header("reserved bits are set", "FLG", 4));
    }
    if flags & INDEPENDENT == 0 && !container.lz4_linked_blocks {
        return Err(Stop::header("blocks that refer to the blocks before them are not supported", "FLG", 4));
    }
    let code = block_descriptor >> 4;
    if !(4..=7).contains(&code) || block_descriptor & 0x0F != 0 {
        return Err(Stop::header("the maximal block size must be 4 to 7, other bits 0", "BD", 5));
    }
    let mut at = 6;
    let mut content_size = None;
    if flags & CONTENT_SIZE != 0 {
        content_size = Some(u64::from_le_bytes(*stream[at..].first_chunk().ok_or_else(cut_off)?));
        at += 8;
    }
    let stored = *stream.get(at).ok_or_else(cut_off)?;
    let computed = (xxh32(&stream[4..at], 0) >> 8) as u8;
    if stored != computed && container.lz4_descriptor_checksum {
        let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
        return Err(Stop::bad(ErrorKind::CodecChecksumMismatch, detail, "HC", at).on_open());
    }
    Ok(Descriptor { flags, max_block: 1 << (8 + 2 * code), content_size, len: at + 1 })
}

/// The most bytes that a block of `len` makes, with room for the library's copies in strides.
fn most(len: usize, max_block: usize) -> usize {
    len.saturating_mul(255).saturating_add(64).min(max_block)
}

pub(super) fn hint(stream: &[u8]) -> usize {
    let container = Container { lz4_descriptor_checksum: false, lz4_linked_blocks: true };
    let Ok(descriptor) = descriptor(stream, &container) else { return 0 };
    let extra = if descriptor.flags & BLOCK_CHECKSUM == 0 { 4 } else { 8 };
    let (mut at, mut sum) = (descriptor.len, 0usize);
    while let Some(length) = u32_at(stream, at) {
        let len = (length & !STORED) as usize;
        if len == 0 || len > stream.len() - at {
            break;
        }
        sum = sum.saturating_add(if length & STORED == 0 { most(len, descriptor.max_block) } else { len });
        at += len + extra;
    }
    sum
}

pub(super) fn decode(
    _: &mut States,
    stream: &[u8],
    container: &Container,
    output: &mut Output<'_>,
) -> Result<Notes, Stop> {
    let descriptor = descriptor(stream, container)?;
    let mut notes = Notes::default();
    let mut at = descriptor.len;
    loop {
        let Some(length) = u32_at(stream, at) else {
            return Err(Stop::corrupt("the frame ends without an end mark", "block size", at));
        };
        let len = (length & !STORED) as usize;
        if len == 0 {
            at += 4;
            break;
        }
        if len > descriptor.max_block {
            let detail = Detail::Length { needed: len as u64, available: descriptor.max_block as u64 };
            return Err(Stop::bad(ErrorKind::DecompressFailed, detail, "block size", at));
        }
        let start = at + 4;
        let Some(block) = stream[start..].get(..len) else {
            let detail = Detail::Length { needed: len as u64, available: (stream.len() - start) as u64 };
            return Err(Stop::bad(ErrorKind::DecompressFailed, detail, "block size", at));
        };
        let before = output.len;
        if length & STORED != 0 {
            output.take(len)?.copy_from_slice(block);
        } else {
            decode_block(block, start, &descriptor, output)?;
        }
        at = start + len;
        if descriptor.flags & BLOCK_CHECKSUM != 0 {
            block_checksum(stream, block, at)?;
            at += 4;
        }
        if output.len == before {
            let detail = Detail::Reason("the block holds no bytes");
            notes.empty_block = Some(Error::new(ErrorKind::DecompressFailed, detail, "block", start as u64));
        }
    }
    let content = &output.room[..output.len];
    if let Some(size) = descriptor.content_size
        && size != content.len() as u64
    {
        let detail = Detail::Checksum { stored: size, computed: content.len() as u64 };
        notes.checksum = Some(Error::new(ErrorKind::CodecChecksumMismatch, detail, "content size", 6));
    }
    if descriptor.flags & CONTENT_CHECKSUM != 0 {
        let Some(stored) = u32_at(stream, at) else {
            return Err(Stop::corrupt("the content checksum is missing", "content checksum", at));
        };
        let computed = xxh32(content, 0);
        if stored != computed {
            let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
            let error = Error::new(ErrorKind::CodecChecksumMismatch, detail, "content checksum", at as u64);
            notes.checksum = Some(error);
        }
        at += 4;
    }
    if at < stream.len() {
        let detail = match u32_at(stream, at) {
            Some(MAGIC) => Detail::Reason("another frame, which readers leave out"),
            _ => Detail::Length { needed: 0, available: (stream.len() - at) as u64 },
        };
        notes.trailing = Some(Error::new(ErrorKind::CodecTrailingBytes, detail, "frame", at as u64));
    }
    Ok(notes)
}

fn decode_block(block: &[u8], at: usize, descriptor: &Descriptor, output: &mut Output<'_>) -> Result<(), Stop> {
    let corrupt = || Stop::corrupt("the block is corrupt", "block", at);
    let wanted = most(block.len(), descriptor.max_block);
    if descriptor.flags & INDEPENDENT == 0 {
        let end = output.room.len().min(output.len.saturating_add(wanted));
        let is_short = end - output.len < wanted;
        return match lz4_block::decode(block, &mut output.room[..end], output.len) {
            Ok(len) => {
                output.len = len;
                Ok(())
            }
            Err(lz4_block::Error::OutputFull) if is_short => Err(Stop::Full),
            Err(_) => Err(corrupt()),
        };
    }
    let room = output.rest();
    let is_short = room.len() < wanted;
    let room_len = room.len().min(wanted);
    let decoded = ::lz4::block::decompress_to_buffer(block, i32::try_from(room_len).ok(), &mut room[..room_len]);
    match decoded {
        Ok(len) => {
            output.len += len;
            Ok(())
        }
        // The library does not tell a block that is corrupt from one that needs more room.
        Err(_) if is_short => Err(Stop::Full),
        Err(_) => Err(corrupt()),
    }
}

fn block_checksum(stream: &[u8], block: &[u8], at: usize) -> Result<(), Stop> {
    let Some(stored) = u32_at(stream, at) else {
        return Err(Stop::corrupt("the block checksum is missing", "block checksum", at));
    };
    let computed = xxh32(block, 0);
    if stored == computed {
        return Ok(());
    }
    let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
    Err(Stop::bad(ErrorKind::CodecChecksumMismatch, detail, "block checksum", at))
}
