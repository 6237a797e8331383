//! Inputs: what the library builds, altered byte by byte and sealed with the right checksum again.

use batchwise::codec::Codec;
use batchwise::kafka::{Log, MessageSetBuilder, NewRecord, RecordBatchBuilder};
use batchwise::{Defect, Options, Validator, crc32c};
use std::ops::Range;

/// Nine bytes as the first record: length, attributes, timestampDelta, offsetDelta, keyLength, key, valueLength, value,
/// headersCount; each takes one.
pub(crate) const RECORD: NewRecord<'static> =
    NewRecord { timestamp: 1000, key: Some(b"k"), value: Some(b"v"), headers: &[] };
/// Where the first record starts in a batch, and the second behind [`RECORD`].
pub(crate) const FIRST: usize = 61;
pub(crate) const SECOND: usize = FIRST + 9;

pub(crate) fn validate(log: &[u8], options: &Options) -> Vec<Defect> {
    let report = Validator::new(&Log).options(*options).validate(log);
    report.findings.iter().map(|f| f.defect).collect()
}

pub(crate) fn build(mut builder: RecordBatchBuilder, records: &[NewRecord<'_>]) -> Vec<u8> {
    records.iter().for_each(|r| builder.append(r).expect("a sound record"));
    builder.finish().expect("a batch")
}

/// Two records of 79 bytes with the header.
pub(crate) fn batch() -> Vec<u8> {
    build(RecordBatchBuilder::new(), &[RECORD, RECORD])
}

pub(crate) fn batch_at(base_offset: i64) -> Vec<u8> {
    build(RecordBatchBuilder::new().base_offset(base_offset), &[RECORD, RECORD])
}

/// The header that compaction leaves of a batch.
pub(crate) fn empty_batch() -> Vec<u8> {
    let mut bytes = batch()[..FIRST].to_vec();
    bytes[57..61].fill(0);
    sealed(bytes)
}

/// With the length and the checksum of a record batch that it should have.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// The batch with other bytes at `at`, sealed.
pub(crate) fn with(mut bytes: Vec<u8>, at: usize, patch: &[u8]) -> Vec<u8> {
    bytes[at..at + patch.len()].copy_from_slice(patch);
    sealed(bytes)
}

/// The batch with `range` replaced by `patch`, sealed.
pub(crate) fn spliced(mut bytes: Vec<u8>, range: Range<usize>, patch: &[u8]) -> Vec<u8> {
    bytes.splice(range, patch.iter().copied());
    sealed(bytes)
}

/// The bytes with others at `at`, and nothing else done to them.
pub(crate) fn raw(mut bytes: Vec<u8>, at: usize, patch: &[u8]) -> Vec<u8> {
    bytes[at..at + patch.len()].copy_from_slice(patch);
    bytes
}

/// A batch whose records are `stream`, announced as compressed with codec number `codec`.
pub(crate) fn compressed_batch(codec: u8, stream: &[u8]) -> Vec<u8> {
    let bytes = [&batch()[..FIRST], stream].concat();
    with(bytes, 22, &[codec])
}

pub(crate) fn compress(codec: Codec, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    batchwise::codec::Compressor::new(codec, None).unwrap().compress(content, &mut out).unwrap();
    out
}

/// A message without a codec: key "k", value "hello".
pub(crate) fn message(magic: i8, offset: i64) -> Vec<u8> {
    let mut builder = MessageSetBuilder::new(magic).unwrap().base_offset(offset);
    builder.append(1000, Some(b"k"), Some(b"hello")).unwrap();
    builder.finish().unwrap()
}

/// Messages in a compressed one, at offsets from 0 on.
pub(crate) fn wrapper(magic: i8, messages: usize) -> Vec<u8> {
    let mut builder = MessageSetBuilder::new(magic).unwrap().compression(Codec::Gzip, None).unwrap();
    for i in 0..messages {
        builder.append(1000 + i as i64, Some(b"k"), Some(b"hello")).unwrap();
    }
    builder.finish().unwrap()
}

/// A compressed message of magic `magic` around `content`, with codec number `codec`.
pub(crate) fn wrapping(magic: i8, codec: u8, stream: &[u8], offset: i64) -> Vec<u8> {
    let head = if magic == 0 { 26 } else { 34 };
    let mut bytes = message(magic, offset)[..head - 8].to_vec();
    bytes[17] = codec;
    bytes.extend((-1i32).to_be_bytes());
    bytes.extend((stream.len() as i32).to_be_bytes());
    bytes.extend(stream);
    sealed_message(bytes)
}

/// With the size and the checksum of a message that it should have.
pub(crate) fn sealed_message(mut bytes: Vec<u8>) -> Vec<u8> {
    let size = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&size.to_be_bytes());
    let crc = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// The message with `range` replaced by `patch`, sealed.
pub(crate) fn spliced_message(mut bytes: Vec<u8>, range: Range<usize>, patch: &[u8]) -> Vec<u8> {
    bytes.splice(range, patch.iter().copied());
    sealed_message(bytes)
}
