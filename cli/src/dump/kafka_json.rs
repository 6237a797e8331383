//! Batches and records of Kafka as JSON.

use super::control;
use super::kafka::{More, Outer, Place, Record, codec_name};
use super::log::Page;
use super::put::Put;
use batchwise::Result;
use batchwise::kafka::{Attributes, BatchHeader, sequence_after};

fn codec(out: &mut Vec<u8>, number: u8) {
    match codec_name(number) {
        Ok(name) => out.key("codec").string(name),
        Err(number) => out.key("codec").number(number),
    };
}

/// A batch of magic 2.
pub(super) fn batch(page: &mut Page<'_>, header: BatchHeader<'_>, place: Place) {
    let attributes = Attributes(header.attributes());
    let (base_sequence, delta) = (header.base_sequence(), header.last_offset_delta());
    let last_sequence = if base_sequence == -1 { -1 } else { sequence_after(base_sequence, delta) };
    let horizon = attributes.has_delete_horizon().then(|| header.base_timestamp());
    let out = &mut page.out.buffer;
    out.extend_from_slice(&page.start);
    out.key("position").number(place.position).key("size").number(place.len);
    out.key("magic").number(header.magic()).key("valid").bool(place.is_valid).key("crc").number(header.crc());
    out.key("base_offset").number(header.base_offset());
    out.key("last_offset").number(header.base_offset().wrapping_add(delta.into()));
    out.key("count").number(header.records_count());
    codec(out, attributes.codec());
    out.key("attributes").number(header.attributes());
    out.key("is_transactional").bool(attributes.is_transactional()).key("is_control").bool(attributes.is_control());
    out.key("timestamp_type").string(attributes.timestamp_type().name());
    out.key("base_timestamp").number_or_null((horizon.is_none()).then(|| header.base_timestamp()));
    out.key("max_timestamp").number(header.max_timestamp());
    out.key("delete_horizon_ms").number_or_null(horizon);
    out.key("partition_leader_epoch").number(header.partition_leader_epoch());
    out.key("producer_id").number(header.producer_id()).key("producer_epoch").number(header.producer_epoch());
    out.key("base_sequence").number(base_sequence).key("last_sequence").number(last_sequence);
    out.push(b'}');
    page.out.end();
}

/// A message of magic 0 or 1 that stands in the log by itself.
pub(super) fn message(page: &mut Page<'_>, outer: Outer<'_>, place: Place) {
    let Outer { header, timestamp, timestamp_type } = outer;
    let number = header.attributes() as u8 & 7;
    let out = &mut page.out.buffer;
    out.extend_from_slice(&page.start);
    out.key("position").number(place.position).key("size").number(place.len);
    out.key("magic").number(header.magic()).key("valid").bool(place.is_valid).key("crc").number(header.crc());
    // Those within a compressed message begin at an offset that only a look inside tells.
    out.key("base_offset").number_or_null((number == 0).then(|| header.offset()));
    out.key("last_offset").number(header.offset());
    codec(out, number);
    out.key("attributes").number(header.attributes());
    out.key("timestamp_type").string(timestamp_type).key("max_timestamp").number(timestamp);
    out.push(b'}');
    page.out.end();
}

/// A record.
pub(super) fn record(page: &mut Page<'_>, record: &Record<'_>, place: Place) -> Result<()> {
    let what = page.what;
    let out = &mut page.out.buffer;
    out.extend_from_slice(&page.start);
    out.key("position").number(place.position);
    let magic = match record.more {
        More::Current { .. } => 2,
        More::Legacy { magic, .. } => magic,
    };
    let is_valid = place.is_valid && !matches!(record.more, More::Legacy { is_valid: false, .. });
    out.key("magic").number(magic).key("valid").bool(is_valid);
    out.key("offset").number(record.offset);
    out.key("timestamp").number(record.timestamp).key("timestamp_type").string(record.timestamp_type);
    out.key("key_size").number(record.key.map_or(-1, |key| key.len() as i64));
    out.key("value_size").number(record.value.map_or(-1, |value| value.len() as i64));
    let mut read = Ok(());
    let mut is_control = false;
    match record.more {
        More::Current { sequence, headers, is_control: control } => {
            is_control = control;
            out.key("sequence").number(sequence).key("headers").text("[");
            for header in headers {
                out.comma().text("{").key("key").string(&String::from_utf8_lossy(header.key));
                if what.values || what.header_values {
                    out.bytes(["value", "value_format"], header.value, what.value_format);
                }
                out.push(b'}');
            }
            out.push(b']');
            if control {
                read = control::json(out.key("control"), record.key, record.value);
            }
        }
        More::Legacy { crc, .. } => {
            out.key("crc").number(crc);
        }
    }
    if !is_control && what.keys {
        out.bytes(["key", "key_format"], record.key, what.key_format);
    }
    if !is_control && what.values {
        out.bytes(["value", "value_format"], record.value, what.value_format);
    }
    out.push(b'}');
    page.out.end();
    read
}
