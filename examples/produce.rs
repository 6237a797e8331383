//! A leader's produce path: check what a producer sent, stamp it in place, append it.
//!
//! `cargo run --example produce`

use batchwise::kafka::{self, HeaderPatch, NewRecord, RecordBatch, RecordBatchBuilder};
use batchwise::{Depth, Error, Options, Origin, Severity, Validator, crc32c};

/// The end of a partition's log.
struct Partition {
    /// The active segment, with room for what comes.
    segment: Vec<u8>,
    next_offset: i64,
    leader_epoch: i32,
}

impl Partition {
    /// Appends a batch at time `now`, ms; returns the offset of its first record.
    fn append(&mut self, mut batch: Vec<u8>, now: i64) -> Result<i64, Error> {
        // Lengths, checksum, and every record, by a broker's rules for producers.
        let mut options = Options::default();
        (options.origin, options.depth) = (Origin::Client, Depth::Records);
        let report = Validator::new(&kafka::Log).options(options).validate(&batch);
        if let Some(refused) = report.findings.iter().find(|f| f.defect.severity == Severity::Error) {
            return Err(refused.defect.error);
        }

        // The checksum follows by arithmetic: no byte of the records is read again.
        let first = self.next_offset;
        let stamp =
            HeaderPatch::new().base_offset(first).partition_leader_epoch(self.leader_epoch).log_append_time(now);
        self.next_offset = stamp.apply(&mut batch)?;

        // Copying and summing up what was copied is one pass; a storage layer keeps such sums of its pages.
        let at = self.segment.len();
        self.segment.resize(at + batch.len(), 0);
        let copied = crc32c::copy(&mut self.segment[at..], &batch);
        println!("appended {} bytes at offset {first}, checksum of the piece {copied:#010x}", batch.len());
        Ok(first)
    }
}

fn main() -> Result<(), Error> {
    let mut partition = Partition { segment: Vec::new(), next_offset: 1000, leader_epoch: 5 };
    let mut producer = RecordBatchBuilder::new();
    for i in 0..3_i64 {
        for word in ["to", "be", "or", "not"] {
            let timestamp = 1_714_000_000_000 + i;
            producer.append(&NewRecord { timestamp, value: Some(word.as_bytes()), ..NewRecord::default() })?;
        }
        partition.append(producer.finish()?, 1_714_000_100_000 + i)?;
    }

    // A bit that flips on the way is refused, by field and byte.
    producer.append(&NewRecord { timestamp: 1_714_000_000_000, value: Some(b"lost"), ..NewRecord::default() })?;
    let mut damaged = producer.finish()?;
    damaged[70] ^= 1;
    match partition.append(damaged, 0) {
        Err(e) => println!("refused: {e}"),
        Ok(_) => unreachable!("a flipped bit is always found"),
    }

    // What a consumer will read.
    let report = Validator::new(&kafka::Log).validate(&partition.segment);
    assert!(report.totals.is_valid(), "{:?}", report.findings);
    assert_eq!((report.totals.batches, report.totals.records, partition.next_offset), (3, 12, 1012));
    let first = RecordBatch::parse(&partition.segment, 0)?;
    assert_eq!((first.header().base_offset(), first.header().partition_leader_epoch()), (1000, 5));
    println!("{} batches, {} records in the log", report.totals.batches, report.totals.records);
    Ok(())
}
