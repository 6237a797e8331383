//! rskafka: the same for its own reader and writer.

use crate::{Result, Segment, batches, checksums_hold};
use ::rskafka::protocol::record::*;
use ::rskafka::protocol::traits::{ReadType, WriteType};
use std::io::Cursor;

pub fn check(segment: &Segment) -> Result<String> {
    let (mut read, mut identical, mut refused) = (0, 0, 0);
    for batch in batches(&segment.bytes) {
        let batch = batch.ok_or("cut short")?;
        match decode(batch) {
            Ok(decoded) => {
                let encoded = encode(&decoded)?;
                if !checksums_hold(&encoded) {
                    return Err("rskafka wrote a wrong checksum".into());
                }
                if decode(&encoded)? != decoded {
                    return Err("rskafka read back something else".into());
                }
                read += 1;
                identical += u32::from(encoded == batch);
            }
            // What it does not know (a control batch of another kind, an empty one) is none of the checksum's doing.
            Err(e) if !e.to_string().contains("CRC") => refused += 1,
            Err(e) => return Err(e),
        }
    }
    let mut damaged = segment.bytes.clone();
    *damaged.last_mut().ok_or("empty")? ^= 1;
    let last = batches(&damaged).last().flatten().ok_or("empty")?;
    match decode(last) {
        Err(e) if e.to_string().contains("CRC") => {}
        other => return Err(format!("rskafka and a flipped bit: {other:?}").into()),
    }
    Ok(format!("{read} batches read and written ({identical} to the same bytes), {refused} not understood"))
}

pub fn decode(batch: &[u8]) -> Result<RecordBatch> {
    Ok(RecordBatch::read(&mut Cursor::new(batch))?)
}

pub fn encode(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    batch.write(&mut out)?;
    Ok(out)
}
