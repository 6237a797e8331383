//! Batches and messages of Iggy.

use super::log::Page;
use super::put::{Encoding, Put};
use crate::paths::shown;
use batchwise::Result;
use batchwise::iggy::{
    self, BatchHeader, BatchHeader24, Field, HeaderFields, Message, Revision, StoredMessage, UserHeaders, Value,
};
use batchwise::kafka::sequence_after;
use batchwise::validate::Batch;

/// Prints the batches of one log, of some generation.
#[derive(Clone, Copy)]
pub(super) enum Printer {
    /// Batches of today.
    Batches,
    /// Messages, which stand in the log by themselves.
    Messages(fn(&[u8], u64) -> Result<StoredMessage<'_>>),
    /// Batches that are not looked into.
    Old,
}

/// A message of any generation.
struct Printed<'a> {
    offset: u64,
    timestamp: u64,
    origin_timestamp: u64,
    id: u128,
    checksum: u64,
    payload: &'a [u8],
    user_headers: &'a [u8],
    /// Where those start in the file.
    user_headers_at: u64,
}

impl Printer {
    /// For the format of that name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "iggy-64" => Printer::Messages(|bytes, at| StoredMessage::parse(bytes, at)),
            "iggy-56" => Printer::Messages(|bytes, at| StoredMessage::parse_56(bytes, at)),
            "iggy-24" => Printer::Old,
            _ => Printer::Batches,
        }
    }

    /// Prints a batch. `head` is at least its header, also where `bytes` is nothing.
    pub(super) fn batch(&self, page: &mut Page<'_>, batch: &Batch, bytes: &[u8], head: &[u8]) {
        let printed = match self {
            Printer::Batches => current(page, batch, bytes, head),
            Printer::Messages(parse) => parse(bytes, batch.offset).map(|message| stored(page, batch, message)),
            Printer::Old => {
                old(page, batch, head);
                Ok(())
            }
        };
        // What is wrong with a damaged batch was told by the walk.
        if let Err(error) = printed
            && batch.is_valid()
        {
            page.damage(batch, error);
        }
    }
}

fn current(page: &mut Page<'_>, batch: &Batch, bytes: &[u8], head: &[u8]) -> Result<()> {
    let what = page.what;
    let Some(header) = BatchHeader::new(head) else { return Ok(()) };
    let fields = header.fields();
    let last = header.last_offset().unwrap_or(fields.base_offset);
    if !what.offsets.meets(fields.base_offset, last) || !what.timestamps.contains(fields.base_timestamp) {
        return Ok(());
    }
    if !(what.json && what.records) {
        batch_line(page, batch, &fields, header.last_offset());
    }
    if !what.records || bytes.is_empty() {
        return Ok(());
    }
    let mut at = batch.offset + BatchHeader::SIZE as u64;
    for message in iggy::Batch::parse(bytes, batch.offset, Revision::R2)?.messages() {
        let message = message?;
        at += message.bytes().len() as u64;
        if what.offsets.contains(message.offset()) {
            let is_valid = batch.is_valid() || message.computed_checksum() == message.header().checksum();
            record(page, batch, is_valid, &printed(&message, at));
        }
    }
    Ok(())
}

fn printed<'a>(message: &Message<'a>, end: u64) -> Printed<'a> {
    Printed {
        user_headers_at: end - message.user_header_bytes().len() as u64,
        offset: message.offset(),
        timestamp: message.timestamp(),
        origin_timestamp: message.origin_timestamp(),
        id: message.header().id(),
        checksum: message.header().checksum(),
        payload: message.payload(),
        user_headers: message.user_header_bytes(),
    }
}

fn batch_line(page: &mut Page<'_>, batch: &Batch, fields: &HeaderFields, last: Option<u64>) {
    let count = fields.message_count;
    let last_sequence = |base: u32| sequence_after(base as i32, count.saturating_sub(1) as i32);
    let out = &mut page.out.buffer;
    if page.what.json {
        out.extend_from_slice(&page.start);
        out.key("position").number(batch.offset).key("size").number(batch.len).key("valid").bool(batch.is_valid());
        checksum(out.key("checksum").text("\""), fields.batch_checksum).push(b'"');
        out.key("base_offset").number(fields.base_offset).key("last_offset").number_or_null(last);
        out.key("count").number(count).key("partition_id").number(fields.partition_id);
        out.key("base_timestamp").number(fields.base_timestamp);
        out.key("origin_timestamp").number(fields.origin_timestamp);
        out.key("producer_id").number_or_null(fields.producer.map(|p| p.id));
        out.key("producer_epoch").number_or_null(fields.producer.map(|p| p.epoch));
        out.key("base_sequence").number_or_null(fields.producer.map(|p| p.base_sequence));
        out.key("last_sequence").number_or_null(fields.producer.map(|p| last_sequence(p.base_sequence)));
        out.push(b'}');
        return page.out.end();
    }
    out.text("baseOffset: ").number(fields.base_offset).text(" lastOffset: ");
    match last {
        Some(last) => out.number(last),
        None => out.number(-1),
    };
    let [base_sequence, last_sequence, id, epoch] = match fields.producer {
        Some(p) => [p.base_sequence.into(), last_sequence(p.base_sequence).into(), p.id as i64, p.epoch.into()],
        None => [-1; 4],
    };
    out.text(" count: ").number(count);
    out.text(" baseSequence: ").number(base_sequence).text(" lastSequence: ").number(last_sequence);
    out.text(" producerId: ").number(id).text(" producerEpoch: ").number(epoch);
    out.text(" partitionId: ").number(fields.partition_id).text(" position: ").number(batch.offset);
    out.text(" timestamp: ").number(fields.base_timestamp);
    out.text(" originTimestamp: ").number(fields.origin_timestamp).text(" size: ").number(batch.len);
    checksum(out.text(" checksum: "), fields.batch_checksum);
    out.text(" isvalid: ").bool(batch.is_valid());
    page.out.end();
}

/// A message that stands in the log by itself.
fn stored(page: &mut Page<'_>, batch: &Batch, message: StoredMessage<'_>) {
    let what = page.what;
    if !what.wants(message.log_offset(), message.timestamp()) {
        return;
    }
    let printed = Printed {
        user_headers_at: batch.offset + batch.len - message.user_header_bytes().len() as u64,
        offset: message.log_offset(),
        timestamp: message.timestamp(),
        origin_timestamp: message.origin_timestamp(),
        id: message.id(),
        checksum: message.checksum(),
        payload: message.payload(),
        user_headers: message.user_header_bytes(),
    };
    if what.records && what.json {
        return record(page, batch, batch.is_valid(), &printed);
    }
    let out = &mut page.out.buffer;
    if what.json {
        out.extend_from_slice(&page.start);
        out.key("position").number(batch.offset).key("size").number(batch.len).key("valid").bool(batch.is_valid());
        checksum(out.key("checksum").text("\""), printed.checksum).push(b'"');
        out.key("base_offset").number(printed.offset).key("last_offset").number(printed.offset).key("count").number(1);
        out.key("base_timestamp").number(printed.timestamp);
        out.key("origin_timestamp").number(printed.origin_timestamp).text("}");
        return page.out.end();
    }
    out.text("offset: ").number(printed.offset).text(" position: ").number(batch.offset);
    out.text(" timestamp: ").number(printed.timestamp);
    out.text(" originTimestamp: ").number(printed.origin_timestamp).text(" size: ").number(batch.len);
    checksum(out.text(" checksum: "), printed.checksum);
    out.text(" isvalid: ").bool(batch.is_valid());
    page.out.end();
    if what.records {
        record(page, batch, batch.is_valid(), &printed);
    }
}

/// A batch of the first generation, whose messages are not read.
fn old(page: &mut Page<'_>, batch: &Batch, head: &[u8]) {
    let Some(header) = BatchHeader24::new(head) else { return };
    let (first, delta) = (header.base_offset(), header.last_offset_delta());
    let last = first.saturating_add(delta.into());
    let what = page.what;
    if !what.offsets.meets(first, last) || !what.timestamps.contains(header.max_timestamp()) {
        return;
    }
    let out = &mut page.out.buffer;
    if what.json {
        out.extend_from_slice(&page.start);
        out.key("position").number(batch.offset).key("size").number(batch.len).key("valid").bool(batch.is_valid());
        out.key("base_offset").number(first).key("last_offset").number(last).key("count").number(u64::from(delta) + 1);
        out.key("max_timestamp").number(header.max_timestamp()).text("}");
    } else {
        out.text("baseOffset: ").number(first).text(" lastOffset: ").number(last);
        out.text(" count: ").number(u64::from(delta) + 1).text(" position: ").number(batch.offset);
        out.text(" timestamp: ").number(header.max_timestamp()).text(" size: ").number(batch.len);
        out.text(" isvalid: ").bool(batch.is_valid());
    }
    page.out.end();
}

fn record(page: &mut Page<'_>, batch: &Batch, is_valid: bool, message: &Printed<'_>) {
    let what = page.what;
    let headers = UserHeaders::parse(message.user_headers, message.user_headers_at);
    let out = &mut page.out.buffer;
    if what.json {
        out.extend_from_slice(&page.start);
        out.key("position").number(batch.offset).key("valid").bool(is_valid);
        checksum(out.key("checksum").text("\""), message.checksum).push(b'"');
        out.key("offset").number(message.offset).key("timestamp").number(message.timestamp);
        out.key("origin_timestamp").number(message.origin_timestamp);
        out.key("id").text("\"").number(message.id).text("\"");
        out.key("headers_size").number(message.user_headers.len()).key("payload_size").number(message.payload.len());
        out.key("headers");
        json_headers(out, headers.ok(), what.values || what.header_values, what.value_format);
        if what.values {
            out.bytes(["payload", "payload_format"], Some(message.payload), what.value_format);
        }
        out.push(b'}');
    } else {
        if what.metadata {
            out.text("| offset: ").number(message.offset).text(" timestamp: ").number(message.timestamp);
            out.text(" originTimestamp: ").number(message.origin_timestamp).text(" id: ").number(message.id);
            out.text(" headersSize: ").number(message.user_headers.len());
            out.text(" payloadSize: ").number(message.payload.len()).text(" headerKeys: [");
            for (i, (key, _)) in headers.ok().into_iter().flatten().enumerate() {
                field(out.text(if i > 0 { "," } else { "" }), key, Encoding::Utf8);
            }
            out.push(b']');
        }
        if what.header_values {
            out.text(" headers: [");
            for (i, (key, value)) in headers.ok().into_iter().flatten().enumerate() {
                field(out.text(if i > 0 { "," } else { "" }), key, Encoding::Utf8).push(b'=');
                field(out, value, what.value_format);
            }
            out.push(b']');
        }
        if what.values {
            out.text(" payload: ").encoded(message.payload, what.value_format);
        }
    }
    page.out.end();
    // Nobody but clients looks inside, so the batch is valid all the same.
    if let Err(error) = headers
        && (what.header_values || what.json)
    {
        page.out.aside(format_args!("batchwise: {}: {} {error}", shown(page.path), error.kind().name()));
    }
}

fn checksum(out: &mut Vec<u8>, number: u64) -> &mut Vec<u8> {
    out.text("0x").encoded(&number.to_be_bytes(), Encoding::Hex)
}

/// Names of kinds, by their numbers from 1.
const KINDS: [&str; 15] = [
    "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32", "uint64",
    "uint128", "float32", "float64",
];

fn kind(field: Field<'_>) -> &'static str {
    let known = field.value().is_some();
    let name = usize::from(field.kind).checked_sub(1).and_then(|kind| KINDS.get(kind)).filter(|_| known);
    name.copied().unwrap_or("unknown")
}

/// A key or a value as text: numbers as numbers, bytes in the encoding.
fn field<'o>(out: &'o mut Vec<u8>, field: Field<'_>, encoding: Encoding) -> &'o mut Vec<u8> {
    match field.value() {
        Some(Value::Bool(value)) => out.bool(value),
        Some(Value::I8(value)) => out.number(value),
        Some(Value::I16(value)) => out.number(value),
        Some(Value::I32(value)) => out.number(value),
        Some(Value::I64(value)) => out.number(value),
        Some(Value::I128(value)) => out.number(value),
        Some(Value::U8(value)) => out.number(value),
        Some(Value::U16(value)) => out.number(value),
        Some(Value::U32(value)) => out.number(value),
        Some(Value::U64(value)) => out.number(value),
        Some(Value::U128(value)) => out.number(value),
        Some(Value::F32(value)) => out.text(&value.to_string()),
        Some(Value::F64(value)) => out.text(&value.to_string()),
        _ => out.encoded(field.bytes, encoding),
    }
}

fn json_headers(out: &mut Vec<u8>, headers: Option<UserHeaders<'_>>, values: bool, encoding: Encoding) {
    let Some(headers) = headers else {
        out.text("null");
        return;
    };
    out.push(b'[');
    for (key, value) in headers {
        out.comma().push(b'{');
        json_field(out, ["key", "key_format"], key, Encoding::Utf8);
        out.key("key_kind").string(kind(key));
        if values {
            json_field(out, ["value", "value_format"], value, encoding);
            out.key("value_kind").string(kind(value));
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// A key or a value as a string; of bytes also the encoding.
fn json_field(out: &mut Vec<u8>, names: [&str; 2], field_: Field<'_>, encoding: Encoding) {
    match field_.value() {
        None | Some(Value::Raw(_) | Value::Text(_)) => {
            out.bytes(names, Some(field_.bytes), encoding);
        }
        Some(_) => {
            field(out.key(names[0]).text("\""), field_, encoding).push(b'"');
        }
    }
}
