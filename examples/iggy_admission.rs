//! An Iggy server's admission path: check a request, copy the batch, stamp it, append it.
//!
//! `cargo run --example iggy_admission`

use batchwise::iggy::{self, BatchHeader, ChecksumMode, FrameList, Revision, ServerError, Stamp};
use batchwise::{Error, Validator};

struct Partition {
    id: u64,
    segment: Vec<u8>,
    index: Vec<u8>,
    next_offset: u64,
    /// Where the messages of a batch lie and what their checksums are; its memory is used for batch after batch.
    frames: FrameList,
}

impl Partition {
    /// Appends the batch in the body of a request, at time `now`, µs.
    fn admit(&mut self, body: &[u8], now: u64) -> Result<u64, Error> {
        // Metadata, header, every message, the batch checksum, in the server's order.
        let admitted = iggy::admit(body, self.id, Revision::R2, &mut self.frames)?;
        let first = self.next_offset;
        let position = self.segment.len();
        self.segment.extend_from_slice(admitted.batch.bytes());

        // The stamp takes the messages' checksums from the admission: they are not walked again.
        let stamp = Stamp { partition_id: Some(self.id), base_offset: Some(first), base_timestamp: Some(now) };
        let header: &mut [u8; BatchHeader::SIZE] =
            self.segment[position..].first_chunk_mut().expect("an admitted batch has a header");
        iggy::stamp(header, stamp, &mut self.frames, ChecksumMode::Compute);
        iggy::write_index_entry(&mut self.index, first, now, position as u64);
        self.next_offset += u64::from(admitted.batch.header().message_count());
        Ok(first)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/wire/mixed10.send_messages_body");
    let body = std::fs::read(path)?;
    let mut partition =
        Partition { id: 7, segment: Vec::new(), index: Vec::new(), next_offset: 0, frames: FrameList::default() };
    for round in 0..3 {
        let first = partition.admit(&body, 1_790_000_222_000_000 + round)?;
        println!("admitted 10 messages at offset {first}");
    }

    let mut damaged = body;
    *damaged.last_mut().ok_or("an empty body")? ^= 1;
    let error = partition.admit(&damaged, 0).err().ok_or("a flipped bit is always found")?;
    let answer = ServerError::of(&error);
    println!("refused as {} ({}): {error}", answer.name(), answer.code());
    assert_eq!(answer, ServerError::InvalidMessageChecksum);

    let report = Validator::new(&iggy::Batches::R2).validate(&partition.segment);
    assert!(report.totals.is_valid(), "{:?}", report.findings);
    assert_eq!((report.totals.batches, report.totals.records, partition.next_offset), (3, 30, 30));
    assert_eq!(iggy::index_entries(&partition.index).len(), 3);
    println!("{} bytes in the segment, {} in its index", partition.segment.len(), partition.index.len());
    Ok(())
}
