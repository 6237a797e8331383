//! What Kafka's readers accept of each codec's container, and what they refuse.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

use batchwise::codec::{Codec, Compressor, Decoder, Failure, Notes};
use batchwise::{Error, ErrorKind};
use xxhash_rust::xxh32::xxh32;

/// What decoding gave.
type Outcome = Result<(Vec<u8>, Notes), Failure>;

fn decode(codec: Codec, stream: &[u8]) -> Outcome {
    Decoder::new(1 << 20).decode(codec, stream).map(|d| (d.bytes.to_vec(), d.notes))
}

/// The stream reads as `content`, and nothing is odd about it.
#[track_caller]
fn reads(codec: Codec, stream: &[u8], content: &[u8]) {
    let (bytes, notes) = decode(codec, stream).expect("a sound stream");
    assert_eq!((bytes, notes), (content.to_vec(), Notes::default()));
}

/// The stream reads as `content`, with this note.
#[track_caller]
fn noted(codec: Codec, stream: &[u8], content: &[u8], expected: (ErrorKind, &str, u64)) {
    let (bytes, notes) = decode(codec, stream).expect("a stream that is read");
    assert_eq!(bytes, content);
    let found: Vec<_> = notes.iter().map(|e: Error| (e.kind(), e.field(), e.offset())).collect();
    assert_eq!(found, [expected]);
}

#[track_caller]
fn refused(codec: Codec, stream: &[u8], expected: (ErrorKind, &str, u64)) {
    let failure = decode(codec, stream).expect_err("a stream that is refused");
    let e = failure.error;
    assert_eq!((e.kind(), e.field(), e.offset()), expected, "{e}");
}

use ErrorKind::{CodecChecksumMismatch, CodecHeaderInvalid, CodecTrailingBytes, DecompressFailed};

const TEXT: &[u8] = b"hello, hello, hello, hello and goodbye";

fn compress(codec: Codec) -> Vec<u8> {
    let mut out = Vec::new();
    Compressor::new(codec, None).unwrap().compress(TEXT, &mut out).unwrap();
    out
}

fn twice() -> Vec<u8> {
    [TEXT, TEXT].concat()
}

fn cut_anywhere_is_refused(codec: Codec, sound: &[u8], but: &[usize]) {
    for len in 0..sound.len() {
        let outcome = decode(codec, &sound[..len]);
        assert_eq!(outcome.is_ok(), but.contains(&len), "{codec}, first {len} bytes: {outcome:?}");
    }
}

#[test]
fn gzip_members() {
    let sound = compress(Codec::Gzip);
    let len = sound.len();
    reads(Codec::Gzip, &sound, TEXT);
    reads(Codec::Gzip, &[&sound[..], &sound].concat(), &twice());
    cut_anywhere_is_refused(Codec::Gzip, &sound, &[]);
    let with = |extra: &[u8]| [&sound[..], extra].concat();
    noted(Codec::Gzip, &with(b"x"), TEXT, (CodecTrailingBytes, "member", len as u64));
    noted(Codec::Gzip, &with(&[0; 40]), TEXT, (CodecTrailingBytes, "member", len as u64));
    // So little that it cannot be a member is not looked at, even if it begins like one.
    noted(Codec::Gzip, &with(&sound[..18]), TEXT, (CodecTrailingBytes, "member", len as u64));
    refused(Codec::Gzip, &with(&sound[..20]), (DecompressFailed, "deflate data", len as u64 + 20));
    let flip = |at: usize, by: u8| {
        let mut stream = sound.clone();
        stream[at] ^= by;
        stream
    };
    refused(Codec::Gzip, &flip(0, 1), (CodecHeaderInvalid, "ID1", 0));
    refused(Codec::Gzip, &flip(2, 1), (CodecHeaderInvalid, "CM", 2));
    refused(Codec::Gzip, &flip(len - 8, 1), (CodecChecksumMismatch, "CRC32", len as u64 - 8));
    refused(Codec::Gzip, &flip(len - 1, 1), (CodecChecksumMismatch, "ISIZE", len as u64 - 4));
    // Reserved flags have no effect.
    reads(Codec::Gzip, &flip(3, 0xE1), TEXT);
    let flagged = |flags: u8, extra: &[u8]| {
        let mut stream = sound.clone();
        stream[3] = flags;
        stream.splice(10..10, extra.iter().copied());
        stream
    };
    reads(Codec::Gzip, &flagged(4, b"\x03\0abc"), TEXT);
    reads(Codec::Gzip, &flagged(8 | 16, b"name\0comment\0"), TEXT);
    refused(Codec::Gzip, &flagged(4, b"\xff\xff")[..40], (CodecHeaderInvalid, "member header", 0));
    let mut head = sound[..10].to_vec();
    head[3] = 2;
    let crc = crc32fast::hash(&head) as u16;
    reads(Codec::Gzip, &flagged(2, &crc.to_le_bytes()), TEXT);
    refused(Codec::Gzip, &flagged(2, &(!crc).to_le_bytes()), (CodecChecksumMismatch, "CRC16", 10));
    // zlib's own container is another.
    refused(Codec::Gzip, b"\x78\x9c\x03\0\0\0\0\x01\0\0\0\0", (CodecHeaderInvalid, "ID1", 0));
}

#[test]
fn snappy_raw_and_framed() {
    let raw = snap::raw::Encoder::new().compress_vec(TEXT).unwrap();
    reads(Codec::Snappy, &raw, TEXT);
    refused(Codec::Snappy, &[], (CodecHeaderInvalid, "block", 0));
    refused(Codec::Snappy, &[&raw[..], b"x"].concat(), (DecompressFailed, "block", 0));
    cut_anywhere_is_refused(Codec::Snappy, &raw, &[]);
    let sound = compress(Codec::Snappy);
    let len = sound.len() as u64;
    reads(Codec::Snappy, &sound, TEXT);
    // A header alone, and up to three bytes behind the last chunk, are a stream of nothing more.
    cut_anywhere_is_refused(Codec::Snappy, &sound, &[16, 17, 18, 19]);
    let with = |extra: &[u8]| [&sound[..], extra].concat();
    noted(Codec::Snappy, &with(b"xyz"), TEXT, (CodecTrailingBytes, "chunk length", len));
    refused(Codec::Snappy, &with(b"\0\0\0\x05"), (DecompressFailed, "chunk length", len));
    refused(Codec::Snappy, &with(&[0; 4]), (DecompressFailed, "block", len + 4));
    refused(Codec::Snappy, &with(&[0xFF; 4]), (DecompressFailed, "chunk length", len));
    // Chunks go on, with another header between them or without; a chunk may hold nothing.
    reads(Codec::Snappy, &with(&sound[16..]), &twice());
    reads(Codec::Snappy, &with(&sound), &twice());
    reads(Codec::Snappy, &with(b"\0\0\0\x01\0"), TEXT);
    // A header that is none ends the stream, one that is cut off is an error.
    noted(
        Codec::Snappy,
        &with(b"\x82SNAPPX\0\0\0\0\x01\0\0\0\x01rest"),
        TEXT,
        (CodecTrailingBytes, "chunk length", len),
    );
    refused(Codec::Snappy, &with(&sound[..12]), (DecompressFailed, "magic", len));
    // Version numbers are not looked at.
    let mut versions = sound.clone();
    versions[8..16].copy_from_slice(&[9, 0, 0, 0, 0, 9, 9, 9]);
    reads(Codec::Snappy, &versions, TEXT);
}

/// A frame of these flags, descriptor and blocks, with the right descriptor checksum.
fn frame(flags: u8, block_descriptor: u8, size: &[u8], blocks: &[u8]) -> Vec<u8> {
    let mut descriptor = vec![flags, block_descriptor];
    descriptor.extend(size);
    let checksum = (xxh32(&descriptor, 0) >> 8) as u8;
    [b"\x04\x22\x4d\x18", &descriptor[..], &[checksum], blocks].concat()
}

/// The text as a block that is stored as it is, with what comes behind it.
fn stored(behind: &[u8]) -> Vec<u8> {
    [&(TEXT.len() as u32 | 1 << 31).to_le_bytes(), TEXT, behind].concat()
}

const END: [u8; 4] = [0; 4];

#[test]
fn lz4_frames() {
    let sound = compress(Codec::Lz4);
    let len = sound.len() as u64;
    reads(Codec::Lz4, &sound, TEXT);
    cut_anywhere_is_refused(Codec::Lz4, &sound, &[]);
    let with = |extra: &[u8]| [&sound[..], extra].concat();
    noted(Codec::Lz4, &with(b"x"), TEXT, (CodecTrailingBytes, "frame", len));
    noted(Codec::Lz4, &with(&sound), TEXT, (CodecTrailingBytes, "frame", len));
    refused(Codec::Lz4, &[b"\x50\x2a\x4d\x18\x01\0\0\0x", &sound[..]].concat(), (CodecHeaderInvalid, "frame magic", 0));
    for (flags, descriptor, field, at) in [
        (0x20, 0x40, "FLG", 4), // version 0
        (0x40, 0x40, "FLG", 4), // linked blocks
        (0x61, 0x40, "FLG", 4), // a dictionary id
        (0x62, 0x40, "FLG", 4), // a reserved bit
        (0x60, 0x30, "BD", 5),  // no such block size
        (0x60, 0xC0, "BD", 5),  // a reserved bit
        (0x60, 0x41, "BD", 5),
    ] {
        let stream = frame(flags, descriptor, &[], &stored(&END));
        refused(Codec::Lz4, &stream, (CodecHeaderInvalid, field, at));
    }
    for descriptor in [0x40, 0x50, 0x60, 0x70] {
        reads(Codec::Lz4, &frame(0x60, descriptor, &[], &stored(&END)), TEXT);
        // The other end mark.
        reads(Codec::Lz4, &frame(0x60, descriptor, &[], &stored(&[0, 0, 0, 0x80])), TEXT);
    }
    let mut wrong = sound.clone();
    wrong[6] ^= 1;
    refused(Codec::Lz4, &wrong, (CodecChecksumMismatch, "HC", 6));
    refused(Codec::Lz4, &frame(0x60, 0x40, &[], &65_537u32.to_le_bytes()), (DecompressFailed, "block size", 7));
    refused(Codec::Lz4, &frame(0x60, 0x40, &[], &stored(&[])), (DecompressFailed, "block size", 49));
    refused(Codec::Lz4, &frame(0x60, 0x40, &[], b"\x01\0\0\0\xf0\0\0\0\0"), (DecompressFailed, "block", 11));
}

#[test]
fn lz4_checksums_and_sizes() {
    let sum = xxh32(TEXT, 0);
    let block_sum = |sum: u32| [&sum.to_le_bytes()[..], &END].concat();
    reads(Codec::Lz4, &frame(0x70, 0x40, &[], &stored(&block_sum(sum))), TEXT);
    let wrong = frame(0x70, 0x40, &[], &stored(&block_sum(!sum)));
    refused(Codec::Lz4, &wrong, (CodecChecksumMismatch, "block checksum", 49));
    // That of the content has to be there and is not looked at; the size neither.
    let content_sum = |sum: u32| [&END[..], &sum.to_le_bytes()].concat();
    reads(Codec::Lz4, &frame(0x64, 0x40, &[], &stored(&content_sum(sum))), TEXT);
    let wrong = frame(0x64, 0x40, &[], &stored(&content_sum(!sum)));
    noted(Codec::Lz4, &wrong, TEXT, (CodecChecksumMismatch, "content checksum", 53));
    refused(Codec::Lz4, &frame(0x64, 0x40, &[], &stored(&END)), (DecompressFailed, "content checksum", 53));
    let size = (TEXT.len() as u64).to_le_bytes();
    reads(Codec::Lz4, &frame(0x68, 0x40, &size, &stored(&END)), TEXT);
    let wrong = frame(0x68, 0x40, &7u64.to_le_bytes(), &stored(&END));
    noted(Codec::Lz4, &wrong, TEXT, (CodecChecksumMismatch, "content size", 6));
    // A block of nothing, at which Kafka's reader stumbles.
    let nothing = frame(0x60, 0x40, &[], &[b"\x01\0\0\0\0", &stored(&END)[..]].concat());
    noted(Codec::Lz4, &nothing, TEXT, (DecompressFailed, "block", 11));
}

#[test]
fn lz4_linked_blocks_are_read_on_request() {
    // Four literals; then a match of 10 bytes at distance 4, into the block before, and five literals.
    let blocks = b"\x05\0\0\0\x40abcd\x09\0\0\0\x06\x04\0\x50vwxyz\0\0\0\0";
    let stream = frame(0x40, 0x40, &[], blocks);
    refused(Codec::Lz4, &stream, (CodecHeaderInvalid, "FLG", 4));
    let mut decoder = Decoder::new(1000).linked_blocks(true);
    assert_eq!(decoder.decode(Codec::Lz4, &stream).unwrap().bytes, b"abcdabcdabcdabvwxyz");
    let failure = Decoder::new(18).linked_blocks(true).decode(Codec::Lz4, &stream).unwrap_err();
    assert_eq!(failure.error.kind(), ErrorKind::DecompressedTooLarge);
    // A distance to before the first byte.
    let mut before = stream.clone();
    before[21] = 5;
    assert_eq!(before[21..23], [5, 0]);
    assert_eq!(decoder.decode(Codec::Lz4, &before).unwrap_err().error.kind(), DecompressFailed);
}

#[test]
fn zstd_frames() {
    let sound = compress(Codec::Zstd);
    reads(Codec::Zstd, &sound, TEXT);
    reads(Codec::Zstd, &[], &[]);
    cut_anywhere_is_refused(Codec::Zstd, &sound, &[0]);
    let with = |extra: &[u8]| [&sound[..], extra].concat();
    reads(Codec::Zstd, &with(&sound), &twice());
    let skippable = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";
    reads(Codec::Zstd, &[&skippable[..], &sound, skippable, &sound, skippable].concat(), &twice());
    for extra in [&b"x"[..], b"wxyz", &[0; 20], &skippable[..10]] {
        refused(Codec::Zstd, &with(extra), (DecompressFailed, "frame", sound.len() as u64));
    }
    refused(Codec::Zstd, &with(b"")[1..], (CodecHeaderInvalid, "Magic_Number", 0));
    // Frames without a size and with a checksum, which is checked.
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut encoder, TEXT).unwrap();
    let mut streamed = encoder.finish().unwrap();
    reads(Codec::Zstd, &streamed, TEXT);
    *streamed.last_mut().unwrap() ^= 1;
    let checksum = streamed.len() as u64 - 4;
    refused(Codec::Zstd, &streamed, (CodecChecksumMismatch, "Content_Checksum", checksum));
    refused(
        Codec::Zstd,
        &[&sound[..], &streamed].concat(),
        (CodecChecksumMismatch, "Content_Checksum", sound.len() as u64 + checksum),
    );
}

#[test]
fn zstd_windows_are_limited() {
    // A frame without a size whose window is 2^(10 + exponent), of one raw block.
    let frame = |exponent: u8| [b"\x28\xb5\x2f\xfd\0", &[exponent << 3][..], b"\x09\0\0a"].concat();
    reads(Codec::Zstd, &frame(17), b"a");
    refused(Codec::Zstd, &frame(18), (DecompressFailed, "Window_Descriptor", 5));
    // With a small content size the window does not matter.
    reads(Codec::Zstd, b"\x28\xb5\x2f\xfd\x80\x90\x01\0\0\0\x09\0\0a", b"a");
}

/// Kafka's reader decodes frames of unknown or of more than 16 KiB of content in a stream, where the library judges a few
/// blocks otherwise than in one go.
#[test]
fn zstd_blocks_are_judged_as_in_a_stream() {
    // A raw block "a", then an empty last block: raw, compressed, all the same.
    let frame = |last: u8| [b"\x28\xb5\x2f\xfd\0\x58\x08\0\0a", &[1 | last << 1, 0, 0][..]].concat();
    reads(Codec::Zstd, &frame(0), b"a");
    reads(Codec::Zstd, &frame(2), b"a");
    refused(Codec::Zstd, &frame(1), (DecompressFailed, "frame", 0));
    refused(Codec::Zstd, &frame(3), (DecompressFailed, "frame", 0));
    reads(Codec::Zstd, &[frame(2), frame(0), frame(2)].concat(), b"aaa");
    // Where the content's size is known and small the reader does it in one go.
    let sized = |size: u32| [b"\x28\xb5\x2f\xfd\x80\x58", &size.to_le_bytes()[..], b"\x04\0\0\x09\0\0a"].concat();
    refused(Codec::Zstd, &sized(1), (DecompressFailed, "frame", 0));
    refused(Codec::Zstd, &sized(16 << 10), (DecompressFailed, "frame", 0));
    let many = |blocks: &[u8], size: usize| {
        let mut frame = [b"\x28\xb5\x2f\xfd\x80\x58", &(size as u32).to_le_bytes()[..], blocks].concat();
        // The same byte over and over.
        frame.extend_from_slice(&(1 | 1 << 1 | (size as u32) << 3).to_le_bytes()[..3]);
        frame.push(b'a');
        frame
    };
    let size = (16 << 10) + 1;
    reads(Codec::Zstd, &many(&[4, 0, 0], size), &vec![b'a'; size]);
    refused(Codec::Zstd, &many(&[4, 0, 0], size - 1), (DecompressFailed, "frame", 0));

    // A window of 1 KiB, and blocks of 1024 and 1025 bytes.
    let block = |kind: u32, len: usize| {
        let mut frame = b"\x28\xb5\x2f\xfd\0\0".to_vec();
        frame.extend_from_slice(&(1 | kind << 1 | (len as u32) << 3).to_le_bytes()[..3]);
        frame.resize(frame.len() + if kind == 0 { len } else { 1 }, b'a');
        frame
    };
    for kind in [0, 1] {
        reads(Codec::Zstd, &block(kind, 1024), &[b'a'; 1024]);
        refused(Codec::Zstd, &block(kind, 1025), (DecompressFailed, "Block_Size", 6));
    }
}
