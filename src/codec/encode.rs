//! Compression, in the containers that Kafka's own producer writes.

use super::Codec;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;
use core::fmt;

/// Compresses with one codec, and keeps the memory for the next time.
///
/// Containers are those of Kafka's Java producer: one gzip member without names; snappy in xerial's framing with chunks
/// of 32 KiB; an LZ4 frame of independent 64 KiB blocks without checksums; one zstd frame.
///
/// ```
/// use batchwise::codec::{Codec, Compressor};
/// # if !Codec::Lz4.is_supported() { return Ok(()) }
/// let mut out = Vec::new();
/// Compressor::new(Codec::Lz4, None)?.compress(b"hello hello hello hello", &mut out)?;
/// assert_eq!(out[..7], [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82]);
/// # Ok::<(), batchwise::Error>(())
/// ```
pub struct Compressor {
    codec: Codec,
    engine: Engine,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

enum Engine {
    None,
    #[cfg(feature = "gzip")]
    Gzip(flate2::Compress),
    #[cfg(feature = "snappy")]
    Snappy(snap::raw::Encoder),
    #[cfg(feature = "lz4")]
    Lz4(lz4_flex::block::CompressTable),
    #[cfg(feature = "zstd")]
    Zstd(zstd::zstd_safe::CCtx<'static>),
}

impl Compressor {
    /// For `codec` at `level`: gzip has 1 to 9, zstd -131072 to 22, snappy and lz4 have none. `None` is the codec's own
    /// choice (gzip 6, zstd 3).
    ///
    /// # Errors
    /// `CodecUnsupported` if this build was made without the codec, `CodecLevelInvalid`.
    pub fn new(codec: Codec, level: Option<i32>) -> Result<Self> {
        let engine = match codec {
            Codec::None => no_level(level, Engine::None)?,
            #[cfg(feature = "gzip")]
            Codec::Gzip => Engine::Gzip(gzip_engine(level)?),
            #[cfg(feature = "snappy")]
            Codec::Snappy => no_level(level, Engine::Snappy(snap::raw::Encoder::new()))?,
            #[cfg(feature = "lz4")]
            Codec::Lz4 => no_level(level, Engine::Lz4(lz4_flex::block::CompressTable::large()))?,
            #[cfg(feature = "zstd")]
            Codec::Zstd => Engine::Zstd(zstd_engine(level)?),
            #[allow(unreachable_patterns, reason = "with every codec built in none is left")]
            _ => return Err(error(ErrorKind::CodecUnsupported, Detail::Reason(codec.name()))),
        };
        Ok(Compressor { codec, engine })
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
        match &mut self.engine {
            Engine::None => {
                out.extend_from_slice(data);
                Ok(())
            }
            #[cfg(feature = "gzip")]
            Engine::Gzip(deflate) => gzip(deflate, data, out),
            #[cfg(feature = "snappy")]
            Engine::Snappy(encoder) => snappy(encoder, data, out),
            #[cfg(feature = "lz4")]
            Engine::Lz4(table) => lz4(table, data, out),
            #[cfg(feature = "zstd")]
            Engine::Zstd(context) => zstd(context, data, out),
        }
    }
}

fn error(kind: ErrorKind, detail: Detail) -> Error {
    Error::new(kind, detail, "records", 0)
}

fn invalid_level(level: i32, rule: &'static str) -> Error {
    error(ErrorKind::CodecLevelInvalid, Detail::Value { found: level.into(), rule })
}

#[cfg(any(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]
fn failed(reason: &'static str) -> Error {
    error(ErrorKind::CompressFailed, Detail::Reason(reason))
}

fn no_level<T>(level: Option<i32>, engine: T) -> Result<T> {
    match level {
        None => Ok(engine),
        Some(level) => Err(invalid_level(level, "must not be given: the codec has no levels")),
    }
}

#[cfg(feature = "gzip")]
fn gzip_engine(level: Option<i32>) -> Result<flate2::Compress> {
    let level = match level.unwrap_or(6) {
        level @ 1..=9 => level as u32,
        level => return Err(invalid_level(level, "must be 1 to 9")),
    };
    Ok(flate2::Compress::new(flate2::Compression::new(level), false))
}

/// Deflate, no time, no names, an unknown system: the header of Java's `GZIPOutputStream`.
#[cfg(feature = "gzip")]
const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

#[cfg(feature = "gzip")]
fn gzip(deflate: &mut flate2::Compress, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    use flate2::{FlushCompress, Status};
    out.extend_from_slice(&GZIP_HEADER);
    deflate.reset();
    loop {
        // Stored blocks bound the output: 5 bytes for every 16 KiB, and a little.
        out.reserve(data.len() / 2 + data.len() / 2048 + 64);
        let rest = &data[deflate.total_in() as usize..];
        match deflate.compress_vec(rest, out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => break,
            Ok(Status::Ok | Status::BufError) => {}
            Err(_) => return Err(failed("deflate")),
        }
    }
    out.extend_from_slice(&crc32fast::hash(data).to_le_bytes());
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    Ok(())
}

/// Magic, version 1, compatible with version 1.
#[cfg(feature = "snappy")]
const XERIAL_HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";

#[cfg(feature = "snappy")]
fn snappy(encoder: &mut snap::raw::Encoder, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    const CHUNK: usize = 32 << 10;
    out.extend_from_slice(&XERIAL_HEADER);
    for chunk in data.chunks(CHUNK) {
        let at = out.len();
        out.resize(at + 4 + snap::raw::max_compress_len(chunk.len()), 0);
        let len = encoder.compress(chunk, &mut out[at + 4..]).map_err(|_| failed("snappy"))?;
        out[at..at + 4].copy_from_slice(&(len as u32).to_be_bytes());
        out.truncate(at + 4 + len);
    }
    Ok(())
}

/// Magic; version 1, independent blocks, no checksums, no size; blocks of up to 64 KiB; checksum of those two bytes.
#[cfg(feature = "lz4")]
const LZ4_HEADER: [u8; 7] = [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82];

#[cfg(feature = "lz4")]
fn lz4(table: &mut lz4_flex::block::CompressTable, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    use lz4_flex::block::{compress_into_with_table, get_maximum_output_size};
    const BLOCK: usize = 64 << 10;
    const STORED: u32 = 1 << 31;
    const END_MARK: [u8; 4] = [0; 4];
    out.extend_from_slice(&LZ4_HEADER);
    for block in data.chunks(BLOCK) {
        let at = out.len();
        out.resize(at + 4 + get_maximum_output_size(block.len()), 0);
        let mut len = compress_into_with_table(block, &mut out[at + 4..], table).map_err(|_| failed("lz4"))?;
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

#[cfg(feature = "zstd")]
fn zstd_engine(level: Option<i32>) -> Result<zstd::zstd_safe::CCtx<'static>> {
    use zstd::zstd_safe::{CCtx, CParameter, max_c_level, min_c_level};
    let level = level.unwrap_or(3);
    if !(min_c_level()..=max_c_level()).contains(&level) {
        return Err(invalid_level(level, "must be -131072 to 22"));
    }
    let mut context = CCtx::try_create().ok_or_else(|| failed("zstd: no memory"))?;
    context.set_parameter(CParameter::CompressionLevel(level)).map_err(|_| failed("zstd"))?;
    Ok(context)
}

#[cfg(feature = "zstd")]
fn zstd(context: &mut zstd::zstd_safe::CCtx<'static>, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let at = out.len();
    out.resize(at + zstd::zstd_safe::compress_bound(data.len()), 0);
    let len = context.compress2(&mut out[at..], data).map_err(|_| failed("zstd"))?;
    out.truncate(at + len);
    Ok(())
}
