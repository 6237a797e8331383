//! Batches of Kafka: what of them is asked for.

use super::log::Page;
use super::remarks::Gaps;
use super::{kafka_json as json, kafka_text as text};
use batchwise::codec::{Codec, Decoder};
use batchwise::kafka::{
    Attributes, BatchHeader, Headers, Message, MessageHeader, RecordBatch, TimestampType, sequence_after,
};
use batchwise::validate::Batch;

/// Prints the batches of one log.
#[derive(Default)]
pub(super) struct Printer {
    decoder: Decoder,
    pub(super) gaps: Gaps,
    /// The offset behind the last batch: the lowest that messages in a compressed one may have.
    next_offset: i64,
}

/// Where a batch stands, and whether its checksum holds.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) position: u64,
    pub(super) len: u64,
    pub(super) is_valid: bool,
}

/// What is known of a message of magic 0 or 1 by its header.
#[derive(Clone, Copy)]
pub(super) struct Outer<'a> {
    pub(super) header: MessageHeader<'a>,
    /// -1 in magic 0.
    pub(super) timestamp: i64,
    pub(super) timestamp_type: &'static str,
}

/// A record of any magic.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) offset: i64,
    pub(super) timestamp: i64,
    pub(super) timestamp_type: &'static str,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) more: More<'a>,
}

/// What only some records have.
#[derive(Clone, Copy)]
pub(super) enum More<'a> {
    /// Magic 2.
    Current { sequence: i32, headers: Headers<'a>, is_control: bool },
    /// Magic 0 and 1.
    Legacy { crc: u32, is_valid: bool, magic: i8 },
}

pub(super) fn codec_name(number: u8) -> Result<&'static str, u8> {
    match (number, Codec::from_number(number)) {
        (0, _) => Ok("none"),
        (_, Some(codec)) => Ok(codec.name()),
        _ => Err(number),
    }
}

impl Printer {
    /// Prints a batch. `head` is at least its header, also where `bytes` is nothing.
    pub(super) fn batch(&mut self, page: &mut Page<'_>, batch: &Batch, bytes: &[u8], head: &[u8]) {
        let place = Place { position: batch.offset, len: batch.len, is_valid: !batch.summary.damaged };
        match head.get(16) {
            Some(2) => {
                if let Some(header) = BatchHeader::new(head) {
                    self.current(page, batch, bytes, header, place);
                }
            }
            _ => self.legacy(page, batch, bytes, head, place),
        }
        if let Some(next) = batch.summary.next_offset.and_then(|next| i64::try_from(next).ok()) {
            self.next_offset = next;
        }
    }

    fn current(&mut self, page: &mut Page<'_>, batch: &Batch, bytes: &[u8], header: BatchHeader<'_>, place: Place) {
        let what = page.what;
        let first = header.base_offset();
        let last = first.wrapping_add(header.last_offset_delta().into());
        let attributes = Attributes(header.attributes());
        let by_broker = attributes.timestamp_type() == TimestampType::LogAppendTime;
        let max = header.max_timestamp();
        // By the header: a record may be older than the first one, so that a look at the records may tell more.
        let min = match (by_broker, attributes.has_delete_horizon()) {
            (true, _) => max,
            (false, true) => i64::MIN,
            (false, false) => max.min(header.base_timestamp()),
        };
        if !what.offsets.meets(first.min(last), last.max(first)) || i128::from(max) < what.timestamps.first {
            return;
        }
        let mut told = what.json && what.records;
        let line = |page: &mut Page<'_>| {
            if what.json { json::batch(page, header, place) } else { text::batch(page, header, place) }
        };
        if !told && what.timestamps.meets(min, max) {
            line(page);
            told = true;
        }
        if !what.records || bytes.is_empty() {
            return;
        }
        let records = RecordBatch::parse(bytes, batch.offset).and_then(|b| b.decoded_records(&mut self.decoder));
        let records = match records {
            Ok(records) => records,
            Err(error) => return page.damage(batch, error),
        };
        let (base_timestamp, base_sequence) = (header.base_timestamp(), header.base_sequence());
        for record in records {
            let record = match record {
                Ok(record) => record,
                Err(error) => return page.damage(batch, error),
            };
            let delta = record.offset_delta();
            let offset = first.wrapping_add(delta.into());
            let timestamp = if by_broker { max } else { base_timestamp.wrapping_add(record.timestamp_delta()) };
            if !what.wants(offset, timestamp) {
                continue;
            }
            if !told {
                line(page);
                told = true;
            }
            let more = More::Current {
                sequence: if base_sequence < 0 { -1 } else { sequence_after(base_sequence, delta) },
                headers: record.headers(),
                is_control: attributes.is_control(),
            };
            let timestamp_type = attributes.timestamp_type().name();
            let (key, value) = (record.key(), record.value());
            self.gaps.record(offset, what);
            let printed = Record { offset, timestamp, timestamp_type, key, value, more };
            let written = if what.json { json::record(page, &printed, place) } else { text::record(page, &printed) };
            if let Err(error) = written {
                page.damage(batch, error);
            }
        }
    }

    fn legacy(&mut self, page: &mut Page<'_>, batch: &Batch, bytes: &[u8], head: &[u8], place: Place) {
        let what = page.what;
        let Some(header) = MessageHeader::new(head) else { return };
        let by_broker = header.attributes() & 8 != 0;
        let magic = header.magic();
        let timestamp_type = match (magic, by_broker) {
            (0, _) => "NoTimestampType",
            (_, false) => TimestampType::CreateTime.name(),
            (_, true) => TimestampType::LogAppendTime.name(),
        };
        let timestamp = head.get(18..).and_then(|rest| rest.first_chunk()).filter(|_| magic != 0);
        let timestamp = timestamp.map_or(-1, |bytes| i64::from_be_bytes(*bytes));
        let outer = Outer { header, timestamp, timestamp_type };
        let last = header.offset();
        let is_wrapper = header.attributes() & 7 != 0;
        let first = if is_wrapper { self.next_offset.min(last) } else { last };
        if !what.offsets.meets(first, last) {
            return;
        }
        let mut told = what.json && what.records;
        let line = |page: &mut Page<'_>| {
            if what.json { json::message(page, outer, place) } else { text::message(page, outer, place) }
        };
        if !told && what.timestamps.contains(timestamp) {
            line(page);
            told = true;
        }
        if !what.records || bytes.is_empty() {
            return;
        }
        let mut print = |page: &mut Page<'_>, offset, timestamp: Option<i64>, message: Message<'_>| {
            let timestamp = timestamp.unwrap_or(-1);
            if !what.wants(offset, timestamp) {
                return Ok(());
            }
            let content = message.content()?;
            if !std::mem::replace(&mut told, true) {
                line(page);
            }
            self.gaps.record(offset, what);
            let (crc, is_valid) = (message.header().crc(), message.verify_checksum().is_ok());
            let more = More::Legacy { crc, is_valid, magic: message.header().magic() };
            let (key, value) = (content.key, content.value);
            let record = Record { offset, timestamp, timestamp_type, key, value, more };
            if what.json { json::record(page, &record, place) } else { text::record(page, &record) }
        };
        let printed = Message::parse(bytes, batch.offset).and_then(|message| {
            if !is_wrapper {
                return print(page, last, message.timestamp(), message);
            }
            let inner = message.inner(&mut self.decoder)?;
            let cut_off = inner.is_cut_off();
            for inner in inner {
                print(page, inner.offset, inner.timestamp, inner.message)?;
            }
            cut_off.map_or(Ok(()), Err)
        });
        if let Err(error) = printed {
            page.damage(batch, error);
        }
    }
}
