//! Records as bytes, and the batch around them: the inverse of `record` and `batch`.

use super::attributes::{Attributes, TimestampType};
use super::fields::HeaderFields;
use super::{BatchHeader, Header, LENGTH_END};
use crate::codec::Compressor;
use crate::varint::{MAX_LEN_32, MAX_LEN_64, encode_zigzag32, encode_zigzag64, len_zigzag32, len_zigzag64};
use crate::{Detail, Error, ErrorKind, Result, crc32c};
use alloc::vec::Vec;

/// The most bytes that the records of a batch may take: the whole batch has to fit 31 bits.
const MAX_RECORDS: u64 = i32::MAX as u64 - BatchHeader::SIZE as u64;

/// The records of a batch that is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) bytes: Vec<u8>,
    /// Time that takes the place of the base timestamp, set before the first record.
    pub(super) horizon: Option<i64>,
    pub(super) count: i32,
    pub(super) last_delta: Option<i32>,
    pub(super) base_timestamp: Option<i64>,
    max_timestamp: Option<i64>,
}

impl Draft {
    /// Appends a record, at an offset above the last.
    pub(super) fn append<'a>(
        &mut self,
        timestamp: i64,
        offset_delta: i32,
        key: Option<&'a [u8]>,
        value: Option<&'a [u8]>,
        headers: impl ExactSizeIterator<Item = Header<'a>> + Clone,
    ) -> Result<()> {
        let base = self.base_timestamp.or(self.horizon).unwrap_or(timestamp);
        // As readers add with wrapping, whatever the difference is.
        let timestamp_delta = timestamp.wrapping_sub(base);
        RecordFields { timestamp_delta, offset_delta, key, value, headers }.write(&mut self.bytes)?;
        self.count += 1;
        self.last_delta = Some(offset_delta);
        self.base_timestamp = Some(base);
        self.max_timestamp = self.max_timestamp.max(Some(timestamp));
        Ok(())
    }

    /// Appends a batch of the records to `out`. `fields` are those of the header, except for what follows from the
    /// records; under `LogAppendTime` they have the greatest timestamp as well.
    pub(super) fn finish_into(
        &self,
        mut fields: HeaderFields,
        compressor: Option<&mut Compressor>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let codec = compressor.as_ref().map_or(0, |c| c.codec().number());
        out.resize(start + BatchHeader::SIZE, 0);
        match compressor {
            Some(compressor) => compressor.compress(&self.bytes, out)?,
            None => out.extend_from_slice(&self.bytes),
        }
        let batch = &mut out[start..];
        let available = i32::MAX as u64;
        fields.batch_length = i32::try_from(batch.len()).map(|n| n - LENGTH_END as i32).map_err(|_| {
            let detail = Detail::Length { needed: batch.len() as u64, available };
            Error::new(ErrorKind::BatchTooLarge, detail, "batchLength", 8)
        })?;
        fields.attributes.0 = fields.attributes.0 & !Attributes::CODEC | i16::from(codec);
        fields.base_timestamp = self.base_timestamp.unwrap_or(-1);
        if fields.attributes.timestamp_type() == TimestampType::CreateTime {
            fields.max_timestamp = self.max_timestamp.unwrap_or(-1);
        }
        fields.records_count = self.count;
        write_header(batch, fields);
        Ok(())
    }

    /// Drops the records; the horizon stays.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        *self = Draft { bytes: core::mem::take(&mut self.bytes), horizon: self.horizon, ..Draft::default() };
    }
}

/// Writes `fields` and the checksum to the head of `batch`.
pub(super) fn write_header(batch: &mut [u8], mut fields: HeaderFields) {
    batch[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
    fields.crc = crc32c::crc32c(&batch[HeaderFields::CRC_FROM..]);
    batch[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
}

/// A record of magic 2, to be written. The lengths fit 31 bits once the whole record does.
#[derive(Clone, Copy, Debug)]
struct RecordFields<'a, H> {
    timestamp_delta: i64,
    offset_delta: i32,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    headers: H,
}

impl<'a, H: ExactSizeIterator<Item = Header<'a>> + Clone> RecordFields<'a, H> {
    /// Appends the record to `records`, all records of a batch so far.
    fn write(&self, records: &mut Vec<u8>) -> Result<()> {
        let body = self.body_len();
        let needed = (records.len() as u64).saturating_add(body).saturating_add(MAX_LEN_32 as u64);
        if needed > MAX_RECORDS {
            let detail = Detail::Length { needed, available: MAX_RECORDS };
            let at = (BatchHeader::SIZE + records.len()) as u64;
            return Err(Error::new(ErrorKind::BatchTooLarge, detail, "length", at));
        }
        records.reserve(needed as usize - records.len());
        // Everything up to the key at once: appending a byte at a time costs more than writing it.
        let mut head = Head::default();
        head.varint32(body as i32);
        head.byte(0); // attributes
        head.varint64(self.timestamp_delta);
        head.varint32(self.offset_delta);
        head.length(self.key);
        head.flush(records);
        records.extend_from_slice(self.key.unwrap_or_default());
        head.length(self.value);
        head.flush(records);
        records.extend_from_slice(self.value.unwrap_or_default());
        head.varint32(self.headers.len() as i32);
        head.flush(records);
        for header in self.headers.clone() {
            head.length(Some(header.key));
            head.flush(records);
            records.extend_from_slice(header.key);
            head.length(header.value);
            head.flush(records);
            records.extend_from_slice(header.value.unwrap_or_default());
        }
        Ok(())
    }

    /// Bytes of the record behind its length.
    fn body_len(&self) -> u64 {
        let mut len = 1 + len_zigzag64(self.timestamp_delta) as u64 + len_zigzag32(self.offset_delta) as u64;
        len += blob_len(self.key) + blob_len(self.value) + len_of(self.headers.len());
        for header in self.headers.clone() {
            len = len.saturating_add(blob_len(Some(header.key)) + blob_len(header.value));
        }
        len
    }
}

/// Bytes of a length's varint; those of no use once they exceed 31 bits count as the most there can be.
fn len_of(len: usize) -> u64 {
    i32::try_from(len).map_or(MAX_LEN_32, len_zigzag32) as u64
}

fn blob_len(blob: Option<&[u8]>) -> u64 {
    blob.map_or(1, |b| len_of(b.len()) + b.len() as u64)
}

/// Small fields, gathered before they are appended.
struct Head {
    bytes: [u8; 40],
    len: usize,
}

impl Default for Head {
    fn default() -> Self {
        Head { bytes: [0; 40], len: 0 }
    }
}

impl Head {
    fn byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn varint32(&mut self, value: i32) {
        if let Some(out) = self.bytes[self.len..].first_chunk_mut::<MAX_LEN_32>() {
            self.len += encode_zigzag32(value, out);
        }
    }

    fn varint64(&mut self, value: i64) {
        if let Some(out) = self.bytes[self.len..].first_chunk_mut::<MAX_LEN_64>() {
            self.len += encode_zigzag64(value, out);
        }
    }

    /// Length of a blob, -1 for null.
    fn length(&mut self, blob: Option<&[u8]>) {
        self.varint32(blob.map_or(-1, |b| b.len() as i32));
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }
}
