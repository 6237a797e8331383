//! Compression, in the containers that Kafka's own producer writes.

use super::Codec;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Compresses with one codec, and keeps the memory for the next time.
///
/// Containers are those of Kafka's Java producer: one gzip member without names; snappy in xerial's framing with chunks
/// of 32 KiB; an LZ4 frame of independent 64 KiB blocks without checksums; one zstd frame.
///
/// ```
/// use batchwise::codec::{Codec, Compressor};
/// # if !Codec::Lz4.is_available() { return Ok(()) }
/// let mut out = Vec::new();
/// Compressor::new(Codec::Lz4, None)?.compress(b"hello hello hello hello", &mut out)?;
/// assert_eq!(out[..7], [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82]);
/// # Ok::<(), batchwise::Error>(())
/// ```
pub struct Compressor {
    codec: Codec,
    encode: Encode,
}

/// A codec with its level and its memory: appends the compressed form of the first to the second.
type Encode = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<()> + Send + Sync>;

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl Compressor {
    /// For `codec` at `level`: gzip has 1 to 9, zstd -131072 to 22, lz4 1 to 17 for its slower, high compression; snappy
    /// has none. `None` is what Kafka takes: gzip 6, zstd 3, fast lz4.
    ///
    /// # Errors
    /// `CodecUnsupported` if this build was made without the codec, `CodecLevelInvalid`.
    pub fn new(codec: Codec, level: Option<i32>) -> Result<Self> {
        let _ = level; // which a build without codecs has no use for
        let encode: Result<Encode> = match codec {
            #[cfg(feature = "gzip")]
            Codec::Gzip => gzip::new(level),
            #[cfg(feature = "snappy")]
            Codec::Snappy => snappy::new(level),
            #[cfg(feature = "lz4")]
            Codec::Lz4 => lz4::new(level),
            #[cfg(feature = "zstd")]
            Codec::Zstd => zstd::new(level),
            #[allow(unreachable_patterns, reason = "where every codec is built in")]
            _ => Err(error(ErrorKind::CodecUnsupported, Detail::Reason(codec.name()))),
        };
        Ok(Compressor { codec, encode: encode? })
    }

    /// The codec.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.codec
    }

    /// Appends `data`, compressed, to `out`.
    ///
    /// # Errors
    /// `CompressFailed` if the codec's library refuses, which it does for no data below 2 GiB. Then what was appended to
    /// `out` is unspecified.
    pub fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        (self.encode)(data, out)
    }
}

fn error(kind: ErrorKind, detail: Detail) -> Error {
    Error::new(kind, detail, "records", 0)
}

#[allow(dead_code, reason = "in a build without codecs")]
fn invalid_level(level: i32, rule: &'static str) -> Error {
    error(ErrorKind::CodecLevelInvalid, Detail::Value { found: level.into(), rule })
}

#[cfg(feature = "gzip")]
mod gzip {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress, Status};

    /// Deflate, no time, no names, an unknown system: the header of Java's `GZIPOutputStream`.
    const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

    pub(super) fn new(level: Option<i32>) -> Result<Encode> {
        let level = match level.unwrap_or(6) {
            level @ 1..=9 => level as u32,
            level => return Err(invalid_level(level, "must be 1 to 9")),
        };
        let mut deflate = Compress::new(Compression::new(level), false);
        Ok(Box::new(move |data, out| encode(&mut deflate, data, out)))
    }

    fn encode(deflate: &mut Compress, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&HEADER);
        deflate.reset();
        loop {
            out.reserve(data.len() / 2 + 64);
            let rest = &data[deflate.total_in() as usize..];
            match deflate.compress_vec(rest, out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(Status::Ok | Status::BufError) => {}
                Err(_) => return Err(error(ErrorKind::CompressFailed, Detail::Reason("deflate"))),
            }
        }
        out.extend_from_slice(&crc32fast::hash(data).to_le_bytes());
        out.extend_from_slice(&(data.len() as u32).to_le_bytes());
        Ok(())
    }
}

#[cfg(feature = "snappy")]
mod snappy {
    use super::*;
    use snap::raw::{Encoder, max_compress_len};

    /// Magic, version 1, compatible with version 1.
    const HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
    const CHUNK: usize = 32 << 10;

    pub(super) fn new(level: Option<i32>) -> Result<Encode> {
        if let Some(level) = level {
            return Err(invalid_level(level, "must not be given: the codec has no levels"));
        }
        let mut encoder = Encoder::new();
        Ok(Box::new(move |data, out| encode(&mut encoder, data, out)))
    }

    fn encode(encoder: &mut Encoder, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&HEADER);
        for chunk in data.chunks(CHUNK) {
            let at = out.len();
            out.resize(at + 4 + max_compress_len(chunk.len()), 0);
            let len = encoder.compress(chunk, &mut out[at + 4..]);
            let len = len.map_err(|_| error(ErrorKind::CompressFailed, Detail::Reason("snappy")))?;
            out[at..at + 4].copy_from_slice(&(len as u32).to_be_bytes());
            out.truncate(at + 4 + len);
        }
        Ok(())
    }
}

#[cfg(feature = "lz4")]
mod lz4 {
    use super::*;
    use ::lz4::block::{CompressionMode, compress_bound, compress_to_buffer};

    /// Magic; version 1, independent blocks, no checksums, no size; blocks of up to 64 KiB; checksum of those two bytes.
    const HEADER: [u8; 7] = [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82];
    const END_MARK: [u8; 4] = [0; 4];
    const BLOCK: usize = 64 << 10;
    /// Bit of a block's length: the block is stored as it is.
    const STORED: u32 = 1 << 31;

    pub(super) fn new(level: Option<i32>) -> Result<Encode> {
        let mode = match level {
            None => CompressionMode::DEFAULT,
            Some(level @ 1..=17) => CompressionMode::HIGHCOMPRESSION(level),
            Some(level) => return Err(invalid_level(level, "must be 1 to 17")),
        };
        Ok(Box::new(move |data, out| encode(mode, data, out)))
    }

    fn encode(mode: CompressionMode, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |_| error(ErrorKind::CompressFailed, Detail::Reason("lz4"));
        out.extend_from_slice(&HEADER);
        for block in data.chunks(BLOCK) {
            let at = out.len();
            out.resize(at + 4 + compress_bound(block.len()).map_err(failed)?, 0);
            let mut len = compress_to_buffer(block, Some(mode), false, &mut out[at + 4..]).map_err(failed)?;
            let mut word = len as u32;
            if len >= block.len() {
                len = block.len();
                word = len as u32 | STORED;
                out[at + 4..at + 4 + len].copy_from_slice(block);
            }
            out[at..at + 4].copy_from_slice(&word.to_le_bytes());
            out.truncate(at + 4 + len);
        }
        out.extend_from_slice(&END_MARK);
        Ok(())
    }
}

#[cfg(feature = "zstd")]
mod zstd {
    use super::*;
    use ::zstd::zstd_safe::{CCtx, CParameter, compress_bound, max_c_level, min_c_level};

    pub(super) fn new(level: Option<i32>) -> Result<Encode> {
        let level = level.unwrap_or(3);
        if !(min_c_level()..=max_c_level()).contains(&level) {
            return Err(invalid_level(level, "must be -131072 to 22"));
        }
        let failed = || error(ErrorKind::CompressFailed, Detail::Reason("zstd"));
        let mut context = CCtx::try_create().ok_or_else(failed)?;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(|_| failed())?;
        Ok(Box::new(move |data, out| {
            let at = out.len();
            out.resize(at + compress_bound(data.len()), 0);
            let len = context.compress2(&mut out[at..], data).map_err(|_| failed())?;
            out.truncate(at + len);
            Ok(())
        }))
    }
}
