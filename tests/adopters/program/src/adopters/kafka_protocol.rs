//! kafka-protocol: checks the CRC of each batch that it decodes, writes one into each that it encodes.

use crate::{Result, Segment, checksums_hold};
use ::kafka_protocol::records::*;
use bytes::{Bytes, BytesMut};

pub fn check(segment: &Segment) -> Result<String> {
    let decoded = match decode(Bytes::from(segment.bytes.clone())) {
        Ok(decoded) => decoded,
        Err(e) if checksums_hold(&segment.bytes) && e.to_string().contains("redundancy check") => return Err(e),
        Err(e) => return Ok(format!("refused: {e}")),
    };
    let mut records: Vec<Record> = decoded.iter().flat_map(|set| set.records.clone()).collect();
    // Its encoder does not write this one.
    records.iter_mut().for_each(|r| r.timestamp_type = TimestampType::Creation);

    let encoded = encode(&records)?;
    if !checksums_hold(&encoded) {
        return Err("kafka-protocol wrote a wrong checksum".into());
    }
    let again: Vec<Record> = decode(encoded.freeze())?.into_iter().flat_map(|set| set.records).collect();
    if again != records {
        return Err("kafka-protocol read back something else".into());
    }

    let mut damaged = segment.bytes.clone();
    *damaged.last_mut().ok_or("empty")? ^= 1;
    match decode(damaged.into()) {
        Err(e) if e.to_string().contains("redundancy check") => {}
        other => return Err(format!("kafka-protocol and a flipped bit: {other:?}").into()),
    }
    Ok(format!("{} batches, {} records, read and written", decoded.len(), records.len()))
}

pub fn decode(mut bytes: Bytes) -> Result<Vec<RecordSet>> {
    Ok(RecordBatchDecoder::decode_all(&mut bytes)?)
}

pub fn encode(records: &[Record]) -> Result<BytesMut> {
    let mut out = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut out, records, &options)?;
    Ok(out)
}

/// `count` records of `len` bytes.
pub fn records(count: i32, len: usize) -> Vec<Record> {
    (0..count)
        .map(|i| Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: 0,
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            timestamp_type: TimestampType::Creation,
            offset: i.into(),
            // As if idempotent: with no sequence the encoder would make a batch of each record.
            sequence: i,
            timestamp: 1_700_000_000_000 + i64::from(i),
            key: None,
            value: Some(vec![i as u8; len].into()),
            headers: Default::default(),
        })
        .collect()
}
