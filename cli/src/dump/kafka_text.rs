//! Batches and records of Kafka as kafka-dump-log prints them.

use super::control;
use super::kafka::{More, Outer, Place, Record, codec_name};
use super::log::Page;
use super::put::{Encoding, Put};
use batchwise::Result;
use batchwise::kafka::{Attributes, BatchHeader, sequence_after};

/// The line of a batch of magic 2.
pub(super) fn batch(page: &mut Page<'_>, header: BatchHeader<'_>, place: Place) {
    let attributes = Attributes(header.attributes());
    let (base_sequence, delta) = (header.base_sequence(), header.last_offset_delta());
    let last_sequence = if base_sequence == -1 { -1 } else { sequence_after(base_sequence, delta) };
    let horizon = attributes.has_delete_horizon().then(|| header.base_timestamp());
    let out = &mut page.out.buffer;
    out.text("baseOffset: ").number(header.base_offset());
    out.text(" lastOffset: ").number(header.base_offset().wrapping_add(delta.into()));
    out.text(" count: ").number(header.records_count());
    out.text(" baseSequence: ").number(base_sequence).text(" lastSequence: ").number(last_sequence);
    out.text(" producerId: ").number(header.producer_id());
    out.text(" producerEpoch: ").number(header.producer_epoch());
    out.text(" partitionLeaderEpoch: ").number(header.partition_leader_epoch());
    out.text(" isTransactional: ").bool(attributes.is_transactional());
    out.text(" isControl: ").bool(attributes.is_control());
    out.text(" deleteHorizonMs: ").optional_long(horizon);
    let kind = attributes.timestamp_type().name();
    rest(out, place, kind, header.max_timestamp(), header.magic(), attributes.codec(), header.crc());
    page.out.end();
}

/// The line of a message of magic 0 or 1 that stands in the log by itself.
pub(super) fn message(page: &mut Page<'_>, outer: Outer<'_>, place: Place) {
    let Outer { header, timestamp, timestamp_type } = outer;
    let out = &mut page.out.buffer;
    out.text("offset: ").number(header.offset());
    let codec = header.attributes() as u8 & 7;
    rest(out, place, timestamp_type, timestamp, header.magic(), codec, header.crc());
    page.out.end();
}

/// What the lines of all batches end with.
fn rest(out: &mut Vec<u8>, place: Place, kind: &str, timestamp: i64, magic: i8, codec: u8, crc: u32) {
    out.text(" position: ").number(place.position);
    out.text(" ").text(kind).text(": ").number(timestamp);
    out.text(" size: ").number(place.len);
    out.text(" magic: ").number(magic);
    match codec_name(codec) {
        Ok(name) => out.text(" compresscodec: ").text(name),
        Err(number) => out.text(" compresscodec: ").number(number),
    };
    out.text(" crc: ").number(crc);
    out.text(" isvalid: ").bool(place.is_valid);
}

/// The line of a record.
pub(super) fn record(page: &mut Page<'_>, record: &Record<'_>) -> Result<()> {
    let what = page.what;
    let out = &mut page.out.buffer;
    if what.metadata {
        out.text("| offset: ").number(record.offset);
        out.text(" ").text(record.timestamp_type).text(": ").number(record.timestamp);
        out.text(" keySize: ").number(record.key.map_or(-1, |key| key.len() as i64));
        out.text(" valueSize: ").number(record.value.map_or(-1, |value| value.len() as i64));
    }
    let mut is_control = false;
    let mut read = Ok(());
    match record.more {
        More::Current { sequence, headers, is_control: control } => {
            is_control = control;
            if what.metadata {
                out.text(" sequence: ").number(sequence).text(" headerKeys: [");
                for (i, header) in headers.enumerate() {
                    out.text(if i > 0 { "," } else { "" }).encoded(header.key, Encoding::Utf8);
                }
                out.push(b']');
                if control {
                    read = control::text(out, record.key, record.value);
                }
            }
            if what.header_values {
                out.text(" headers: [");
                for (i, header) in headers.enumerate() {
                    out.text(if i > 0 { "," } else { "" }).encoded(header.key, Encoding::Utf8).push(b'=');
                    match header.value {
                        Some(value) => out.encoded(value, what.value_format),
                        None => out.text("null"),
                    };
                }
                out.push(b']');
            }
        }
        // The brace is that of kafka-dump-log, and scripts have learned to live with it.
        More::Legacy { crc, is_valid, .. } if what.metadata => {
            out.text(" isValid: ").bool(is_valid).text(" crc: ").number(crc).push(b'}');
        }
        More::Legacy { .. } => {}
    }
    if !is_control {
        if let Some(key) = record.key.filter(|_| what.keys) {
            out.text(if what.metadata { " key: " } else { "| key: " }).encoded(key, what.key_format);
        }
        if let Some(value) = record.value.filter(|_| what.values) {
            out.text(" payload: ").encoded(value, what.value_format);
        }
    }
    page.out.end();
    read
}
