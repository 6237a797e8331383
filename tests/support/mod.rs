//! What several tests need: the test data, and decoders other than the ones under test.
#![allow(dead_code, reason = "no test uses everything")]

#[path = "../vectors/mod.rs"]
mod vectors;

use std::io::Read;

/// Bytes of hexadecimal digits; anything else between them is skipped.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// The bytes of a file of the set that Kafka wrote.
pub(crate) fn kafka_file(name: &str) -> Vec<u8> {
    vectors::files("java").remove(name).unwrap_or_else(|| panic!("no file {name}"))
}

/// Entries that lie back to back, whatever their magic; `bytes` hold nothing else.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(head) = rest.first_chunk::<12>() {
        let size = i32::from_be_bytes(head[8..].try_into().unwrap());
        let (entry, tail) = rest.split_at(12 + usize::try_from(size).unwrap());
        found.push(entry.to_vec());
        rest = tail;
    }
    assert!(rest.is_empty());
    found
}

/// The entries of every segment that Kafka wrote, with its name.
pub(crate) fn kafka_entries() -> Vec<(String, Vec<u8>)> {
    let segments = vectors::files("java").into_iter().filter(|(name, _)| name.ends_with(".log"));
    segments.flat_map(|(name, bytes)| entries(&bytes).into_iter().map(move |e| (name.clone(), e))).collect()
}

/// Decompresses a stream as Kafka writes them: codec 0 none, 1 gzip, 2 snappy in xerial's framing, 3 lz4, 4 zstd.
pub(crate) fn decompress(codec: u8, stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match codec {
        0 => out.extend(stream),
        1 => assert!(flate2::bufread::GzDecoder::new(stream).read_to_end(&mut out).is_ok()),
        2 => {
            let mut rest = stream.strip_prefix(b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01").unwrap();
            while let Some((len, tail)) = rest.split_first_chunk() {
                let (chunk, tail) = tail.split_at(u32::from_be_bytes(*len) as usize);
                out.extend(snap::raw::Decoder::new().decompress_vec(chunk).unwrap());
                rest = tail;
            }
            assert!(rest.is_empty());
        }
        3 => {
            assert_eq!(stream[..6], [0x04, 0x22, 0x4D, 0x18, 0x60, 0x40]);
            let mut rest = &stream[7..];
            loop {
                let (word, tail) = rest.split_first_chunk().unwrap();
                let word = u32::from_le_bytes(*word);
                if word == 0 {
                    assert!(tail.is_empty());
                    break;
                }
                let (block, tail) = tail.split_at((word & !(1 << 31)) as usize);
                match word >> 31 {
                    1 => out.extend(block),
                    _ => out.extend(lz4_flex::block::decompress(block, 64 << 10).unwrap()),
                }
                rest = tail;
            }
        }
        4 => out = zstd::decode_all(stream).unwrap(),
        _ => panic!("codec {codec}"),
    }
    out
}

/// Bytes that no codec makes smaller.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A message of magic 0 or 1, taken apart by its layout.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) offset: i64,
    pub(crate) magic: i8,
    pub(crate) attributes: u8,
    pub(crate) timestamp: i64,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
}

/// Takes a message of magic 0 or 1 apart.
pub(crate) fn message(bytes: &[u8]) -> Parts {
    let magic = bytes[16] as i8;
    let (timestamp, mut rest) = match magic {
        0 => (-1, &bytes[18..]),
        _ => (i64::from_be_bytes(bytes[18..26].try_into().unwrap()), &bytes[26..]),
    };
    let mut blob = || {
        let (len, tail) = rest.split_first_chunk().unwrap();
        let Ok(len) = usize::try_from(i32::from_be_bytes(*len)) else {
            rest = tail;
            return None;
        };
        let (blob, tail) = tail.split_at(len);
        rest = tail;
        Some(blob.to_vec())
    };
    let (key, value) = (blob(), blob());
    assert!(rest.is_empty());
    let offset = i64::from_be_bytes(bytes[..8].try_into().unwrap());
    Parts { offset, magic, attributes: bytes[17], timestamp, key, value }
}

/// The messages of a set.
pub(crate) fn messages(set: &[u8]) -> Vec<Parts> {
    entries(set).iter().map(|m| message(m)).collect()
}
