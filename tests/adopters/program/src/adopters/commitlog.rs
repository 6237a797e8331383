//! commitlog: a CRC over each message that is appended, checked when a message set is opened.

use crate::{Result, Segment, batches, crc32c_by_definition};
use ::commitlog::message::{MessageBuf, MessageSet};

pub fn check(segments: &[Segment]) -> Result<String> {
    let directory = std::env::temp_dir().join(format!("adopters-commitlog-{}", std::process::id()));
    let result = append_and_read(segments, &directory);
    let _ = std::fs::remove_dir_all(&directory);
    result
}

fn append_and_read(segments: &[Segment], directory: &std::path::Path) -> Result<String> {
    let payloads: Vec<&[u8]> = segments.iter().flat_map(|s| batches(&s.bytes)).flatten().collect();
    let mut options = ::commitlog::LogOptions::new(directory);
    options.message_max_bytes(4 << 20);
    let mut log = ::commitlog::CommitLog::new(options)?;
    for payload in &payloads {
        log.append_msg(payload)?;
    }
    log.flush()?;
    let mut seen = 0;
    while seen < payloads.len() {
        let read = log.read(seen as u64, ::commitlog::ReadLimit::max_bytes(4 << 20))?;
        for message in read.iter() {
            let payload = payloads.get(seen).ok_or("more messages than were appended")?;
            let right = message.hash() == crc32c_by_definition(payload);
            if message.payload() != *payload || !right || !message.verify_hash() {
                return Err(format!("commitlog gave message {seen} back differently").into());
            }
            seen += 1;
        }
    }
    let mut damaged = MessageBuf::default();
    push(&mut damaged, payloads[0])?;
    let mut bytes = damaged.into_bytes();
    *bytes.last_mut().ok_or("empty")? ^= 1;
    if MessageBuf::from_bytes(bytes).is_ok() {
        return Err("commitlog took a flipped bit".into());
    }
    Ok(format!("{seen} messages appended and read"))
}

/// One message set of `count` messages of `len` bytes.
pub fn message_set(count: usize, len: usize) -> Result<Vec<u8>> {
    let mut set = MessageBuf::default();
    for i in 0..count {
        push(&mut set, &vec![i as u8; len])?;
    }
    Ok(set.into_bytes())
}

pub fn open(set: Vec<u8>) -> Result<usize> {
    Ok(MessageBuf::from_bytes(set).map_err(|e| format!("{e:?}"))?.len())
}

fn push(set: &mut MessageBuf, payload: &[u8]) -> Result {
    Ok(set.push(payload).map_err(|e| format!("{e:?}"))?)
}
