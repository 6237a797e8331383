//! Records as bytes: the inverse of `record`.

use super::{BatchHeader, Header};
use crate::varint::{MAX_LEN_32, MAX_LEN_64, encode_u64, len_u64, zigzag32, zigzag64};
use crate::{Detail, Error, ErrorKind, Result};
use alloc::vec::Vec;

/// The most bytes of a batch: its size has to fit 31 bits.
const MAX_BATCH: u64 = i32::MAX as u64;

/// Records, written one after the other into memory that was filled before: while it lasts, a write is a store and nothing
/// else. Appending to a `Vec`, whose length is in memory, took twice the time of a record. Before the records there is room
/// for the batch's header.
#[derive(Debug)]
pub(super) struct Room {
    memory: Vec<u8>,
    written: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room { memory: Vec::new(), written: BatchHeader::SIZE }
    }
}

impl Room {
    /// Header and records.
    pub(super) fn batch(&mut self) -> &mut [u8] {
        if self.memory.is_empty() {
            self.grow(self.written);
        }
        &mut self.memory[..self.written]
    }

    pub(super) fn records(&self) -> &[u8] {
        self.memory.get(BatchHeader::SIZE..self.written).unwrap_or_default()
    }

    /// Bytes of header and records.
    pub(super) fn len(&self) -> usize {
        self.written
    }

    /// The first `len` bytes of what was written last.
    pub(super) fn last(&self, len: usize) -> &[u8] {
        &self.memory[..len]
    }

    pub(super) fn clear(&mut self) {
        self.written = BatchHeader::SIZE;
    }

    /// A place for a record whose length is `body`.
    #[inline]
    fn cursor(&mut self, body: u64) -> Result<Cursor<'_>> {
        let needed = (self.written as u64).saturating_add(body).saturating_add(MAX_LEN_32 as u64);
        if needed > MAX_BATCH {
            return Err(too_large(self.written, needed));
        }
        let with_last_word = needed as usize + MAX_LEN_64;
        if self.memory.len() < with_last_word {
            self.grow(with_last_word);
        }
        Ok(Cursor { out: &mut self.memory[self.written..], at: 0 })
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.memory.resize(len.max(2 * self.memory.len()).max(1024), 0);
    }
}

/// A place in a slice.
struct Cursor<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Copying 8 to 16 bytes as two overlapping words gained nothing over the call.
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Writes 8 bytes always, of which only those of the word stay: a store, where a copy of the exact size is a call.
    #[inline]
    fn put_word(&mut self, word: Word) {
        self.out[self.at..self.at + 8].copy_from_slice(&word.bytes.to_le_bytes());
        self.at += word.len;
    }

    fn put_varint(&mut self, v: u64) {
        if let Some(out) = self.out[self.at..].first_chunk_mut() {
            self.at += encode_u64(v, out);
        }
    }
}

/// A record of magic 2, to be written. The lengths fit 31 bits once the whole record does.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordFields<'a, H> {
    pub(super) timestamp_delta: i64,
    pub(super) offset_delta: i32,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) headers: H,
}

impl<'a, H: ExactSizeIterator<Item = Header<'a>> + Clone> RecordFields<'a, H> {
    /// Appends the record to `records`, all records of a batch so far.
    #[inline]
    pub(super) fn write(&self, records: &mut Room) -> Result<()> {
        let timestamp_delta = zigzag64(self.timestamp_delta);
        let offset_delta = zigzag32(self.offset_delta).into();
        let (key_len, value_len) = (length_of(self.key), length_of(self.value));
        if timestamp_delta | offset_delta | key_len | value_len >= Word::SHORT || self.headers.len() > 0 {
            return self.write_any(records);
        }
        // Without headers, and each of these takes two bytes at most: what most records are.
        let (timestamp_delta, offset_delta) = (Word::short(timestamp_delta), Word::short(offset_delta));
        let (key_len, value_len) = (Word::short(key_len), Word::short(value_len));
        let (key, value) = (self.key.unwrap_or_default(), self.value.unwrap_or_default());
        let fields = timestamp_delta.len + offset_delta.len + key_len.len + value_len.len;
        let body = Word::ATTRIBUTES.len + fields + key.len() + value.len() + Word::NO_HEADERS.len;
        let mut out = records.cursor(body as u64)?;
        out.put_word(Word::length(body).then(Word::ATTRIBUTES).then(timestamp_delta));
        out.put_word(offset_delta.then(key_len));
        out.put(key);
        out.put_word(value_len);
        out.put(value);
        out.put_word(Word::NO_HEADERS);
        let written = out.at;
        records.written += written;
        Ok(())
    }

    #[cold]
    fn write_any(&self, records: &mut Room) -> Result<()> {
        let (key, value) = (self.key.unwrap_or_default(), self.value.unwrap_or_default());
        let fields = [zigzag64(self.timestamp_delta), zigzag32(self.offset_delta).into(), length_of(self.key)];
        let (value_len, headers_count) = (length_of(self.value), (self.headers.len() as u64) << 1);
        let lens = fields.map(len_u64).into_iter().sum::<usize>() + len_u64(value_len) + len_u64(headers_count);
        // These three cannot overflow: no slice has more than 63 bits.
        let bytes = 1 + lens as u64 + key.len() as u64 + value.len() as u64;
        let body = bytes.saturating_add(self.headers_len());
        let mut out = records.cursor(body)?;
        out.put_varint(body << 1);
        out.put_varint(0); // attributes
        for field in fields {
            out.put_varint(field);
        }
        out.put(key);
        out.put_varint(value_len);
        out.put(value);
        out.put_varint(headers_count);
        for header in self.headers.clone() {
            out.put_varint(length_of(Some(header.key)));
            out.put(header.key);
            out.put_varint(length_of(header.value));
            out.put(header.value.unwrap_or_default());
        }
        let written = out.at;
        records.written += written;
        Ok(())
    }

    /// Bytes of the headers behind their number.
    fn headers_len(&self) -> u64 {
        self.headers.clone().fold(0, |sum, header| {
            let lens = len_u64(length_of(Some(header.key))) + len_u64(length_of(header.value));
            let bytes = header.key.len() as u64 + header.value.map_or(0, <[u8]>::len) as u64;
            sum.saturating_add(bytes + lens as u64)
        })
    }
}

#[cold]
fn too_large(at: usize, needed: u64) -> Error {
    let detail = Detail::Length { needed, available: MAX_BATCH };
    Error::new(ErrorKind::BatchTooLarge, detail, "length", at as u64)
}

/// The length of a blob, -1 for null, zigzag mapped.
#[inline]
fn length_of(blob: Option<&[u8]>) -> u64 {
    blob.map_or(1, |b| (b.len() as u64) << 1)
}

/// Varints of up to 8 bytes together, low byte first.
#[derive(Clone, Copy)]
struct Word {
    bytes: u64,
    len: usize,
}

impl Word {
    /// The attributes of a record, of which none is defined.
    const ATTRIBUTES: Word = Word { bytes: 0, len: 1 };
    /// headersCount 0.
    const NO_HEADERS: Word = Word { bytes: 0, len: 1 };
    /// Numbers from here on take more than two bytes.
    const SHORT: u64 = 1 << 14;

    /// A zigzag mapped number below [`SHORT`](Self::SHORT).
    #[inline]
    fn short(v: u64) -> Self {
        let is_two = u64::from(v > 0x7F);
        Word { bytes: v & 0x7F | is_two << 7 | (v >> 7) << 8, len: 1 + is_two as usize }
    }

    /// The length of a record whose fields are short: three bytes at most.
    #[inline]
    fn length(body: usize) -> Self {
        let v = (body as u64) << 1;
        let (is_two, is_three) = (u64::from(v > 0x7F), u64::from(v > 0x3FFF));
        let low = v & 0x7F | is_two << 7 | (v >> 7 & 0x7F | is_three << 7) << 8;
        Word { bytes: low | v >> 14 << 16, len: 1 + is_two as usize + is_three as usize }
    }

    /// This and `next` behind it, less than 8 bytes of this.
    #[inline]
    fn then(self, next: Word) -> Self {
        Word { bytes: self.bytes | next.bytes << (8 * self.len), len: self.len + next.len }
    }
}
