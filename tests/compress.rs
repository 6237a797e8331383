//! Compressed streams against those of Kafka's own producer, and their containers byte by byte.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod support;

use batchwise::ErrorKind;
use batchwise::codec::{Codec, Compressor};
use support::{hex, noise};

/// The records of tests/data/kafka/two-records.bin.
const RECORDS: &str = "16000000010a68656c6c6f0016000002010a776f726c6400";

fn compress(codec: Codec, data: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(codec, None).unwrap();
    let mut out = b"before".to_vec();
    compressor.compress(data, &mut out).unwrap();
    assert_eq!(out[..6], *b"before");
    // The memory that is kept carries nothing over.
    let mut again = Vec::new();
    compressor.compress(data, &mut again).unwrap();
    assert_eq!(out[6..], again);
    again
}

/// Nothing, a byte, sizes around chunks and blocks; noise, zeros and text.
fn inputs() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for len in [0, 1, 2, 12, 13, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 131_072, 300_001] {
        inputs.push(noise(len));
        inputs.push(vec![0; len]);
        inputs.push(b"the quick brown fox ".iter().copied().cycle().take(len).collect());
    }
    inputs
}

#[test]
fn two_records_compress_to_the_bytes_of_kafka() {
    let kafka = [
        (Codec::Gzip, "1f8b08000000000000ff 1363606060e4ca48cdc9c9671063606062e42acf2fca49610000 6985f36918000000"),
        (
            Codec::Snappy,
            "82534e41505059000000000100000001 0000001a185c16000000010a68656c6c6f0016000002010a776f726c6400",
        ),
        (Codec::Lz4, "04224d18604082 18000080 16000000010a68656c6c6f0016000002010a776f726c6400 00000000"),
    ];
    for (codec, expected) in kafka {
        assert_eq!(compress(codec, &hex(RECORDS)), hex(expected), "{codec}");
    }
}

#[test]
fn snappy_comes_in_chunks_of_32_kib() {
    for data in inputs() {
        let stream = compress(Codec::Snappy, &data);
        let mut rest = stream.strip_prefix(b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01").unwrap();
        let mut out = Vec::new();
        while let Some((len, tail)) = rest.split_first_chunk() {
            let (chunk, tail) = tail.split_at(u32::from_be_bytes(*len) as usize);
            let chunk = snap::raw::Decoder::new().decompress_vec(chunk).unwrap();
            assert!(chunk.len() == 32 << 10 || tail.is_empty());
            out.extend(chunk);
            rest = tail;
        }
        assert!(rest.is_empty());
        assert_eq!(out, data);
    }
}

#[test]
fn lz4_comes_in_independent_blocks_of_64_kib() {
    for data in inputs() {
        let stream = compress(Codec::Lz4, &data);
        let mut rest = stream.strip_prefix(&[0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82]).unwrap();
        let mut out = Vec::new();
        loop {
            let (word, tail) = rest.split_first_chunk().unwrap();
            let word = u32::from_le_bytes(*word);
            if word == 0 {
                assert!(tail.is_empty());
                break;
            }
            let (block, tail) = tail.split_at((word & !(1 << 31)) as usize);
            let block = match word >> 31 {
                1 => block.to_vec(),
                _ => lz4_flex::block::decompress(block, 64 << 10).unwrap(),
            };
            assert!(block.len() == 64 << 10 || tail.len() == 4);
            out.extend(block);
            rest = tail;
        }
        assert_eq!(out, data);
        assert!(stream.len() <= data.len() + 11 + 4 * data.len().div_ceil(64 << 10));
    }
}

#[test]
fn gzip_is_one_member_and_zstd_one_frame() {
    use std::io::Read;
    for data in inputs() {
        let stream = compress(Codec::Gzip, &data);
        assert_eq!(stream[..10], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]);
        let mut out = Vec::new();
        let mut member = flate2::bufread::GzDecoder::new(&stream[..]);
        member.read_to_end(&mut out).unwrap();
        assert_eq!(out, data);
        assert!(member.into_inner().is_empty());

        let stream = compress(Codec::Zstd, &data);
        assert_eq!(zstd::zstd_safe::find_frame_compressed_size(&stream), Ok(stream.len()));
        assert_eq!(zstd::decode_all(&stream[..]).unwrap(), data);
    }
}

#[test]
fn levels_reach_their_codecs() {
    let text: Vec<u8> = inputs().pop().unwrap().iter().zip(noise(300_001)).map(|(a, b)| a ^ (b & 7)).collect();
    let len = |codec, level| {
        let mut out = Vec::new();
        Compressor::new(codec, Some(level)).unwrap().compress(&text, &mut out).unwrap();
        out.len()
    };
    assert!(len(Codec::Gzip, 9) < len(Codec::Gzip, 1));
    assert!(len(Codec::Lz4, 9) < len(Codec::Lz4, 1));
    assert!(len(Codec::Zstd, 19) < len(Codec::Zstd, -5));
    let wrong = [
        (Codec::Gzip, 0),
        (Codec::Gzip, 10),
        (Codec::Snappy, 1),
        (Codec::Lz4, 0),
        (Codec::Lz4, 18),
        (Codec::Zstd, 23),
        (Codec::Zstd, -131_073),
    ];
    for (codec, level) in wrong {
        assert_eq!(Compressor::new(codec, Some(level)).unwrap_err().kind(), ErrorKind::CodecLevelInvalid, "{codec}");
    }
}
