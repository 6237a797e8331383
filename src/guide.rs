//! The library in a broker: what to call when it starts, and where bytes come in, are passed on, read, recovered and compacted.
//!
//! Six places, each a function of a few lines. They share three ideas. *Who sent it* decides what is promised: a
//! producer's batch has to start at offset 0, a stored one may have gaps; that is [`Origin`](crate::Origin). *How far to
//! look* is [`Depth`](crate::Depth): a follower compares checksums, a leader reads every record. And nobody *computes a
//! checksum again* over bytes that they did not make: a leader's stamp moves it along ([`kafka::HeaderPatch`]), so that
//! damage done anywhere shows at the consumer.
//!
//! [`kafka::HeaderPatch`]: crate::kafka::HeaderPatch
//!
//! # Start
//!
//! Some machines compute wrongly and say nothing. A broker that wants to know checks the kernels when it starts, about 1.3 ms,
//! and goes on with those that pass.
//!
//! ```
//! use batchwise::selftest;
//!
//! fn start() -> Result<(), selftest::Failure> {
//!     let standing = selftest::check_and_cap()?; // nothing passes: do not serve data from this machine
//!     if let Some(failure) = standing.failure {
//!         eprintln!("{failure}: using kernels up to {}", standing.cap);
//!     }
//!     Ok(())
//! }
//! # start().unwrap();
//! ```
//!
//! # Produce
//!
//! A leader checks what a producer sends, record by record, then stamps it in place and appends the bytes as they are.
//!
//! ```
//! use batchwise::kafka::{self, HeaderPatch};
//! use batchwise::{Error, Options, Origin, Validator};
//!
//! /// Appends the records of a produce request; returns the offset of the first.
//! fn append(log: &mut Vec<u8>, log_end: &mut i64, mut records: Vec<u8>, epoch: i32, now: i64) -> Result<i64, Error> {
//!     let mut options = Options::default();
//!     options.origin = Origin::Client;
//!     let report = Validator::new(&kafka::Log).options(options).validate(&records);
//!     if let Some(refused) = report.first_error() {
//!         return Err(refused.defect.error); // names field and byte, for the answer and for the broker's own log
//!     }
//!     let base = *log_end;
//!     let stamp = HeaderPatch::new().base_offset(base).partition_leader_epoch(epoch).log_append_time(now);
//!     *log_end = stamp.apply(&mut records)?;
//!     log.extend_from_slice(&records);
//!     Ok(base)
//! }
//!
//! # let sent = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin")).to_vec();
//! let (mut log, mut log_end) = (Vec::new(), 1000);
//! assert_eq!(append(&mut log, &mut log_end, sent.clone(), 5, 1_714_000_123_456)?, 1000);
//! assert_eq!(log_end, 1002);
//! let mut damaged = sent;
//! damaged[70] ^= 1;
//! assert_eq!(append(&mut log, &mut log_end, damaged, 5, 0).unwrap_err().field(), "crc");
//! # Ok::<(), Error>(())
//! ```
//!
//! A topic of `CreateTime` takes [`create_time`](crate::kafka::HeaderPatch::create_time) instead, with the greatest
//! timestamp of the records. [`kafka::Producers`](crate::kafka::Producers) keeps what the sequence numbers of idempotent
//! producers are compared with.
//!
//! # Replicate
//!
//! A follower takes the leader's bytes as they are: it compares checksums and the order of offsets, and decompresses
//! nothing.
//!
//! ```
//! use batchwise::{Depth, Options, Origin, Validator, kafka};
//!
//! fn replicate(log: &mut Vec<u8>, fetched: &[u8]) -> bool {
//!     let mut options = Options::default();
//!     (options.origin, options.depth) = (Origin::Replica, Depth::Checksums);
//!     let is_valid = Validator::new(&kafka::Log).options(options).validate(fetched).totals.is_valid();
//!     if is_valid {
//!         log.extend_from_slice(fetched);
//!     }
//!     is_valid
//! }
//!
//! # let fetched = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
//! # let mut log = Vec::new();
//! assert!(replicate(&mut log, fetched));
//! assert_eq!(log, fetched);
//! ```
//!
//! # Fetch
//!
//! A consumer reads batch by batch. What counts for the next fetch is the last offset of the batch, not that of its last
//! record, which compaction may have taken. A cut-off batch at the end of a response is no error: the next fetch has it
//! whole.
//!
//! ```
//! use batchwise::codec::Decoder;
//! use batchwise::kafka::RecordBatch;
//! use batchwise::{Error, ErrorKind};
//!
//! /// Prints the values from `position` on; returns where to fetch next.
//! fn consume(mut response: &[u8], mut position: i64, decoder: &mut Decoder) -> Result<i64, Error> {
//!     loop {
//!         let batch = match RecordBatch::parse(response, 0) {
//!             Ok(batch) => batch,
//!             Err(e) if e.kind() == ErrorKind::TornTail => return Ok(position),
//!             Err(e) => return Err(e),
//!         };
//!         batch.verify_checksum()?;
//!         if !batch.attributes().is_control() {
//!             for record in batch.decoded_records(decoder)? {
//!                 let record = record?;
//!                 let offset = batch.header().base_offset() + i64::from(record.offset_delta());
//!                 if offset >= position {
//!                     println!("{offset}: {:?}", record.value());
//!                 }
//!             }
//!         }
//!         position = batch.last_offset() + 1;
//!         response = &response[batch.bytes().len()..];
//!     }
//! }
//!
//! # let response = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
//! # let response = [&response[..], &response[..40]].concat();
//! let mut decoder = Decoder::new(64 << 20); // keeps its memory; no batch may decompress to more
//! assert_eq!(consume(&response, 1, &mut decoder)?, 2);
//! # Ok::<(), Error>(())
//! ```
//!
//! Topics older than Kafka 0.11 hold [messages](crate::kafka::Message) of magic 0 and 1 as well; the byte at 16 tells.
//!
//! # Recover
//!
//! After a crash the end of the active segment may be torn or full of zeros. The broker cuts it where the first entry is
//! not whole and sound; what could not have been torn is left to a deeper check.
//!
//! ```
//! use batchwise::kafka::RecordBatch;
//!
//! /// How many bytes of a segment to keep.
//! fn sound_bytes(segment: &[u8]) -> usize {
//!     let mut at = 0;
//!     while let Ok(batch) = RecordBatch::parse(&segment[at..], at as u64) {
//!         if batch.verify_checksum().is_err() {
//!             break;
//!         }
//!         at += batch.bytes().len();
//!     }
//!     at
//! }
//!
//! # let batch = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
//! let segment = [&batch[..], &[0; 4096]].concat();
//! assert_eq!(sound_bytes(&segment), batch.len());
//! ```
//!
//! # Compact
//!
//! The cleaner of a compacted topic keeps the last record of each key. Batches keep their offsets and sequence numbers,
//! whatever is left of them; a tombstone stays until its delete horizon is past.
//! [`Rewriter::rewrite_message`](crate::kafka::Rewriter::rewrite_message) does the same for messages of magic 0 and 1.
//!
//! ```
//! use batchwise::codec::Decoder;
//! use batchwise::kafka::{RecordBatch, Retention, Rewriter};
//! use std::collections::HashMap;
//!
//! fn compact(mut segment: &[u8], now: i64, delete_retention: i64) -> Result<Vec<u8>, batchwise::Error> {
//!     let (mut decoder, mut rewriter) = (Decoder::default(), Rewriter::new());
//!     let mut last = HashMap::new();
//!     let mut rest = segment;
//!     while !rest.is_empty() {
//!         let batch = RecordBatch::parse(rest, 0)?;
//!         for record in batch.decoded_records(&mut decoder)? {
//!             let record = record?;
//!             let offset = batch.header().base_offset() + i64::from(record.offset_delta());
//!             last.insert(record.key().map(<[u8]>::to_vec), offset);
//!         }
//!         rest = &rest[batch.bytes().len()..];
//!     }
//!     let mut compacted = Vec::new();
//!     while !segment.is_empty() {
//!         let batch = RecordBatch::parse(segment, 0)?;
//!         let (base, horizon) = (batch.header().base_offset(), batch.header().base_timestamp());
//!         let may_drop_tombstones = batch.attributes().has_delete_horizon() && horizon <= now;
//!         segment = &segment[batch.bytes().len()..];
//!         let retention = Retention::default().delete_horizon(now + delete_retention).keep_empty(segment.is_empty());
//!         let is_last = |record: &batchwise::kafka::Record<'_>| {
//!             last[&record.key().map(<[u8]>::to_vec)] == base + i64::from(record.offset_delta())
//!                 && (record.value().is_some() || !may_drop_tombstones)
//!         };
//!         rewriter.rewrite(&batch, retention, is_last, &mut compacted)?;
//!     }
//!     Ok(compacted)
//! }
//!
//! # use batchwise::kafka::{NewRecord, RecordBatchBuilder};
//! # let mut segment = Vec::new();
//! # for (base, keys) in [(0, ["a", "b"]), (2, ["b", "c"])] {
//! #     let mut builder = RecordBatchBuilder::new().base_offset(base);
//! #     for key in keys {
//! #         builder.append(&NewRecord { key: Some(key.as_bytes()), value: Some(b"v"), ..NewRecord::default() })?;
//! #     }
//! #     builder.finish_into(&mut segment)?;
//! # }
//! // Keys a, b in one batch, then b, c.
//! let compacted = compact(&segment, 1_714_000_000_000, 86_400_000)?;
//! let first = RecordBatch::parse(&compacted, 0)?;
//! assert_eq!((first.header().records_count(), first.last_offset()), (1, 1));
//! # Ok::<(), batchwise::Error>(())
//! ```
