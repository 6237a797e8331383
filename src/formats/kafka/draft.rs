//! A batch that is being written.

use super::attributes::{Attributes, TimestampType};
use super::encode::{RecordFields, Room};
use super::fields::HeaderFields;
use super::{BatchHeader, Header, LENGTH_END};
use crate::codec::Compressor;
use crate::{Detail, Error, ErrorKind, Result, crc32c};
use alloc::vec::Vec;

/// The records of a batch that is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) room: Room,
    /// Time that takes the place of the base timestamp, set before the first record.
    pub(super) horizon: Option<i64>,
    pub(super) count: i32,
    pub(super) last_delta: Option<i32>,
    pub(super) base_timestamp: Option<i64>,
    max_timestamp: Option<i64>,
}

impl Draft {
    /// Appends a record, at an offset above the last.
    #[inline]
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
        RecordFields { timestamp_delta, offset_delta, key, value, headers }.write(&mut self.room)?;
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
        fields: HeaderFields,
        compressor: Option<&mut Compressor>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let codec = compressor.as_ref().map_or(0, |c| c.codec().number());
        out.resize(start + BatchHeader::SIZE, 0);
        match compressor {
            Some(compressor) => compressor.compress(self.room.records(), out)?,
            None => out.extend_from_slice(self.room.records()),
        }
        let batch = &mut out[start..];
        write_header(batch, self.complete(fields, codec, batch.len())?);
        Ok(())
    }

    /// Makes a batch of the records, which is not compressed, where they are.
    pub(super) fn finish_in_place(&mut self, fields: HeaderFields) -> Result<()> {
        let fields = self.complete(fields, 0, self.room.len())?;
        write_header(self.room.batch(), fields);
        Ok(())
    }

    /// Adds what follows from the records, and from a batch of `len` bytes of them.
    fn complete(&self, mut fields: HeaderFields, codec: u8, len: usize) -> Result<HeaderFields> {
        fields.batch_length = i32::try_from(len).map(|n| n - LENGTH_END as i32).map_err(|_| {
            let detail = Detail::Length { needed: len as u64, available: i32::MAX as u64 };
            Error::new(ErrorKind::BatchTooLarge, detail, "batchLength", 8)
        })?;
        fields.attributes.0 = fields.attributes.0 & !Attributes::CODEC | i16::from(codec);
        fields.base_timestamp = self.base_timestamp.unwrap_or(-1);
        if fields.attributes.timestamp_type() == TimestampType::CreateTime {
            fields.max_timestamp = self.max_timestamp.unwrap_or(-1);
        }
        fields.records_count = self.count;
        Ok(fields)
    }

    /// Drops the records; the horizon stays, and so does the memory.
    pub(super) fn clear(&mut self) {
        self.room.clear();
        (self.count, self.last_delta, self.base_timestamp, self.max_timestamp) = (0, None, None, None);
    }
}

/// Writes `fields` and the checksum to the head of `batch`.
pub(super) fn write_header(batch: &mut [u8], mut fields: HeaderFields) {
    batch[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
    fields.crc = crc32c::crc32c(&batch[HeaderFields::CRC_FROM..]);
    batch[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
}
