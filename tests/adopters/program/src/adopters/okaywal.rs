//! okaywal: a CRC over each chunk of a write-ahead log, checked at recovery.

use crate::{Result, Segment, batches};
use ::okaywal::{Configuration, Entry, EntryId, LogManager, SegmentReader, WriteAheadLog};
use std::io;
use std::sync::mpsc::{Sender, channel};

/// Hands over what recovery reads, entry by entry.
#[derive(Debug)]
struct Collect(Sender<Option<Vec<Vec<u8>>>>);

impl LogManager for Collect {
    fn recover(&mut self, entry: &mut Entry<'_>) -> io::Result<()> {
        let _ = self.0.send(entry.read_all_chunks()?);
        Ok(())
    }

    fn checkpoint_to(&mut self, _: EntryId, _: &mut SegmentReader, _: &WriteAheadLog) -> io::Result<()> {
        Ok(())
    }
}

pub fn check(segments: &[Segment]) -> Result<String> {
    let directory = std::env::temp_dir().join(format!("adopters-okaywal-{}", std::process::id()));
    let result = write_and_recover(segments, &directory);
    let _ = std::fs::remove_dir_all(&directory);
    result
}

fn write_and_recover(segments: &[Segment], directory: &std::path::Path) -> Result<String> {
    // One entry for each segment, one chunk for each batch. No checkpoint in between, so that all are recovered.
    let entries: Vec<Vec<Vec<u8>>> =
        segments.iter().map(|s| batches(&s.bytes).flatten().map(<[u8]>::to_vec).collect()).collect();
    let open = |sender| Configuration::default_for(directory).checkpoint_after_bytes(64 << 20).open(Collect(sender));
    let log = open(channel().0)?;
    let mut positions = Vec::new();
    for entry in &entries {
        let mut writer = log.begin_entry()?;
        for chunk in entry {
            positions.push((writer.write_chunk(chunk)?, chunk));
        }
        writer.commit()?;
    }
    for (record, chunk) in &positions {
        let mut reader = log.read_at(record.position)?;
        let mut read = Vec::new();
        io::Read::read_to_end(&mut reader, &mut read)?;
        if read != **chunk || !reader.crc_is_valid()? {
            return Err("okaywal gave a chunk back differently".into());
        }
    }
    drop(log);
    let (sender, received) = channel();
    drop(open(sender)?);
    let recovered: Vec<Vec<Vec<u8>>> = received.iter().flatten().collect();
    if recovered != entries {
        return Err(format!("okaywal recovered {} of {} entries", recovered.len(), entries.len()).into());
    }
    Ok(format!("{} chunks in {} entries written, read and recovered", positions.len(), entries.len()))
}
