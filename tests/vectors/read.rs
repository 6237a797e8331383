//! Reading entries of any magic record by record, and the canonical lines that digests are made of.

use super::hex;
use batchwise::Format;
use batchwise::codec::Decoder;
use batchwise::kafka::{Attributes, Log, Message, RecordBatch, TimestampType, sequence_after};
use sha2::{Digest, Sha256};

/// A record as a reader is given it.
pub struct Read {
    pub offset: i64,
    pub timestamp: i64,
    pub sequence: i32,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// An entry of a segment: where it stands, and its records.
pub struct Entry<'a> {
    pub bytes: &'a [u8],
    pub position: usize,
    pub records: Vec<Read>,
}

impl Entry<'_> {
    pub fn is_control(&self) -> bool {
        self.bytes[16] == 2 && self.bytes[22] & Attributes::CONTROL as u8 != 0
    }
}

fn sequence(base: i32, delta: i32) -> i32 {
    if base < 0 { -1 } else { sequence_after(base, delta) }
}

fn read_batch(batch: &RecordBatch<'_>, decoder: &mut Decoder) -> batchwise::Result<Vec<Read>> {
    let header = batch.header();
    let owned = <[u8]>::to_vec;
    let mut out = Vec::new();
    for record in batch.decoded_records(decoder)? {
        let record = record?;
        let timestamp = match batch.attributes().timestamp_type() {
            TimestampType::LogAppendTime => header.max_timestamp(),
            TimestampType::CreateTime => header.base_timestamp().wrapping_add(record.timestamp_delta()),
        };
        out.push(Read {
            offset: header.base_offset().wrapping_add(record.offset_delta().into()),
            timestamp,
            sequence: sequence(header.base_sequence(), record.offset_delta()),
            key: record.key().map(owned),
            value: record.value().map(owned),
            headers: record.headers().map(|h| (h.key.to_vec(), h.value.map(owned))).collect(),
        });
    }
    Ok(out)
}

fn read_message(message: &Message<'_>, decoder: &mut Decoder) -> batchwise::Result<Vec<Read>> {
    let read = |offset, timestamp: Option<i64>, message: &Message<'_>| {
        let content = message.content()?;
        let timestamp = timestamp.unwrap_or(-1);
        let (key, value) = (content.key.map(<[u8]>::to_vec), content.value.map(<[u8]>::to_vec));
        Ok(Read { offset, timestamp, sequence: -1, key, value, headers: Vec::new() })
    };
    if message.codec() == 0 {
        return Ok(vec![read(message.header().offset(), message.timestamp(), message)?]);
    }
    message.inner(decoder)?.map(|one| read(one.offset, one.timestamp, &one.message)).collect()
}

/// The records of one entry.
pub fn records(bytes: &[u8], position: u64, decoder: &mut Decoder) -> batchwise::Result<Vec<Read>> {
    if bytes[16] == 2 {
        let batch = RecordBatch::parse(bytes, position)?;
        batch.verify_checksum()?;
        read_batch(&batch, decoder)
    } else {
        let message = Message::parse(bytes, position)?;
        message.verify_checksum()?;
        read_message(&message, decoder)
    }
}

/// The entries that lie back to back in `bytes`, with their records.
pub fn entries<'a>(bytes: &'a [u8], decoder: &mut Decoder) -> batchwise::Result<Vec<Entry<'a>>> {
    let mut out = Vec::new();
    let mut position = 0;
    while position < bytes.len() {
        let len = Log.frame_len(&bytes[position..], position as u64)? as usize;
        let bytes = &bytes[position..position + len];
        let records = records(bytes, position as u64, decoder)?;
        out.push(Entry { bytes, position, records });
        position += len;
    }
    Ok(out)
}

fn hex_or_dash(bytes: Option<&[u8]>) -> String {
    bytes.map_or("-".to_owned(), hex)
}

/// The canonical line of a record, as the manifest of the Java set defines it.
fn line(record: &Read) -> String {
    let headers: Vec<String> = record
        .headers
        .iter()
        .map(|(key, value)| {
            let key = String::from_utf8_lossy(key);
            format!("{}={}", hex(key.as_bytes()), hex_or_dash(value.as_deref()))
        })
        .collect();
    let (key, value) = (hex_or_dash(record.key.as_deref()), hex_or_dash(record.value.as_deref()));
    format!("{}|{}|{}|{key}|{value}|{}\n", record.offset, record.timestamp, record.sequence, headers.join(","))
}

/// SHA-256 of the canonical lines.
pub fn digest(records: &[Read]) -> String {
    let mut digest = Sha256::new();
    records.iter().for_each(|r| digest.update(line(r)));
    hex(&digest.finalize())
}
