//! Containers of compressed records.

use crate::support::{FIRST, batch, compress, compressed_batch, raw, validate, with};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::codec::Codec;
use batchwise::{Defect, Options};
use xxhash_rust::xxh32::xxh32;

const AT: u64 = FIRST as u64;

fn stream(codec: Codec) -> Vec<u8> {
    compress(codec, &batch()[FIRST..])
}

fn of(codec: Codec, stream: &[u8]) -> Vec<u8> {
    with(compressed_batch(codec.number(), stream), 57, &batch()[57..61])
}

/// An LZ4 frame of these flags around the records, stored as they are, and what comes behind them.
fn frame(flags: u8, size: &[u8], behind: &[u8]) -> Vec<u8> {
    let records = &batch()[FIRST..];
    let descriptor = [&[flags, 0x40], size].concat();
    let checksum = (xxh32(&descriptor, 0) >> 8) as u8;
    let length = (records.len() as u32 | 1 << 31).to_le_bytes();
    [b"\x04\x22\x4d\x18", &descriptor[..], &[checksum], &length, records, behind].concat()
}

/// With a limit on what comes out.
fn limited(limit: usize, log: Vec<u8>) -> impl Fn(&Options) -> Vec<Defect> {
    move |options| {
        let mut options = *options;
        options.max_decompressed = limit;
        validate(&log, &options)
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for codec in Codec::ALL {
        let codec = *codec;
        let sound = stream(codec);
        let len = sound.len();
        let flip = |at: usize| of(codec, &raw(sound.clone(), at, &[!sound[at]]));
        let neighbour = || of(codec, &sound);
        let (field, at) = match codec {
            Codec::Gzip => ("ID1", 0),
            Codec::Lz4 => ("frame magic", 0),
            Codec::Zstd => ("Magic_Number", 0),
            _ => ("block", 0),
        };
        let empty = if codec == Codec::Snappy { of(codec, &[]) } else { flip(0) };
        all.push(case("K89", CodecHeaderInvalid, "no header").at(field, AT + at, "EEE EEE").logs(empty, neighbour()));
        // Where the stream is found to end depends on the codec.
        let (field, at) = match codec {
            Codec::Gzip => ("deflate data", 18),
            Codec::Snappy => ("chunk length", 16),
            Codec::Lz4 => ("block size", 7),
            _ => ("frame", 0),
        };
        let cut = if codec == Codec::Gzip { 18 } else { 25.min(len - 1) };
        all.push(
            case("K90", DecompressFailed, "a stream that is cut off")
                .at(field, AT + at, "EEE EEE")
                .logs(of(codec, &sound[..cut]), neighbour()),
        );
        all.push(
            case("K94", DecompressedTooLarge, "one byte more than allowed")
                .at("records", AT, "EEE EEE")
                .runs(limited(17, neighbour()), limited(18, neighbour())),
        );
        let trailing = match codec {
            Codec::Gzip => "member",
            Codec::Snappy => "chunk length",
            Codec::Lz4 => "frame",
            _ => continue,
        };
        all.push(
            case("K93", CodecTrailingBytes, "a byte behind the stream")
                .at(trailing, AT + len as u64, "WWW WWW")
                .logs(of(codec, &[&sound[..], b"x"].concat()), neighbour()),
        );
    }
    all.extend(checksums());
    all
}

fn checksums() -> Vec<Case> {
    let gzip = stream(Codec::Gzip);
    let from_end = |back: usize| {
        let at = gzip.len() - back;
        (at as u64, of(Codec::Gzip, &raw(gzip.clone(), at, &[!gzip[at]])))
    };
    let ((crc_at, wrong_crc), (size_at, wrong_size)) = (from_end(8), from_end(4));
    let lz4 = |stream: &[u8]| of(Codec::Lz4, stream);
    let records = batch()[FIRST..].to_vec();
    let sum = xxh32(&records, 0);
    let end = [0u8; 4];
    let behind = (11 + records.len()) as u64;
    let block = |sum: u32| lz4(&frame(0x70, &[], &[&sum.to_le_bytes()[..], &end].concat()));
    let content = |sum: u32| lz4(&frame(0x64, &[], &[&end[..], &sum.to_le_bytes()].concat()));
    let sized = |size: u64| lz4(&frame(0x68, &size.to_le_bytes(), &end));
    let plain = || frame(0x60, &[], &end);
    let mut wrong_hc = plain();
    wrong_hc[6] ^= 1;
    let nothing = [&plain()[..7], &[1, 0, 0, 0, 0], &plain()[7..]].concat();
    let mut encoder = zstd::bulk::Compressor::new(1).unwrap();
    encoder.include_checksum(true).unwrap();
    let zstd = encoder.compress(&records).unwrap();
    let zstd_sum = zstd.len() - 4;
    let wrong_zstd = raw(zstd.clone(), zstd_sum, &[!zstd[zstd_sum]]);
    vec![
        case("K91", CodecChecksumMismatch, "gzip's CRC32")
            .at("CRC32", AT + crc_at, "EEE EEE")
            .logs(wrong_crc, of(Codec::Gzip, &gzip)),
        case("K91", CodecChecksumMismatch, "gzip's ISIZE")
            .at("ISIZE", AT + size_at, "EEE EEE")
            .logs(wrong_size, of(Codec::Gzip, &gzip)),
        case("K91", CodecChecksumMismatch, "that of an LZ4 descriptor")
            .at("HC", AT + 6, "EEE EEE")
            .logs(lz4(&wrong_hc), lz4(&plain())),
        case("K91", CodecChecksumMismatch, "that of an LZ4 block")
            .at("block checksum", AT + behind, "EEE EEE")
            .logs(block(!sum), block(sum)),
        case("K91", CodecChecksumMismatch, "zstd's")
            .at("Content_Checksum", AT + zstd_sum as u64, "EEE EEE")
            .logs(of(Codec::Zstd, &wrong_zstd), of(Codec::Zstd, &zstd)),
        case("K91", CodecChecksumMismatch, "zstd's, of the second frame")
            .at("Content_Checksum", AT + (zstd.len() + zstd_sum) as u64, "EEE EEE")
            .logs(of(Codec::Zstd, &[&zstd[..], &wrong_zstd].concat()), of(Codec::Zstd, &zstd)),
        case("K92", CodecChecksumMismatch, "that of LZ4's content, at which Kafka does not look")
            .at("content checksum", AT + behind + 4, "WWW WWW")
            .logs(content(!sum), content(sum)),
        case("K92", CodecChecksumMismatch, "LZ4's content size, at which Kafka does not look")
            .at("content size", AT + 6, "WWW WWW")
            .logs(sized(7), sized(records.len() as u64)),
        case("K90", DecompressFailed, "a block of nothing, at which only some of Kafka's readers stumble")
            .at("block", AT + 11, "EEE WEE")
            .logs(lz4(&nothing), lz4(&plain())),
    ]
}
