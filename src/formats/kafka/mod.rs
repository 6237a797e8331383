//! Apache Kafka: record batches (magic 2), and messages of magic 0 and 1.
//!
//! The layout is that of Kafka's [message format]; behaviour is that of its Java readers.
//!
//! [message format]: https://kafka.apache.org/documentation/#messageformat

mod attributes;
mod batch;
mod build;
mod build_control;
mod build_legacy;
mod check;
mod columns;
mod control;
mod draft;
mod encode;
mod fields;
mod legacy;
mod order;
mod peek;
mod pieces;
mod produce;
mod producer;
mod record;
mod rewrite;
mod rewrite_legacy;
mod rules;
mod stamp;
mod stamp_legacy;

pub use attributes::{Attributes, TimestampType};
pub use batch::{BatchHeader, RecordBatch};
pub use build::{NewRecord, RecordBatchBuilder};
pub use build_control::{Endpoint, KRaftVoter, NewControlRecord, Voter};
pub use build_legacy::MessageSetBuilder;
pub use columns::RecordColumns;
pub use control::ControlRecord;
pub use legacy::{Content, InnerMessage, InnerMessages, Message, MessageHeader, MessageSet};
pub use produce::{Produce, Produced};
pub use producer::{
    Appended, EndedTransaction, ProducerState, Producers, RetainedBatch, sequence_after, sequence_before,
};
pub use record::{Header, Headers, Record, Records};
pub use rewrite::{Retention, Rewriter, Rewritten};
pub use rules::{Rule, rules};
pub use stamp::HeaderPatch;
pub use stamp_legacy::MessagePatch;

use alloc::boxed::Box;

use super::{Defect, Format, Frame, Options, Order, Passed, Pieces, Scratch, Severity, Summary};
use crate::{Detail, Error, ErrorKind, Result};

/// Bytes before what the length field counts: baseOffset and batchLength.
pub(crate) const LENGTH_END: usize = 12;
/// Bytes that every entry has in common, whatever its magic: up to and with the magic.
const PREFIX: usize = 17;

/// Entries of a Kafka log, whatever their magic.
#[derive(Clone, Copy, Debug)]
pub struct Log;

/// Length and magic of the entry that starts with `prefix`.
fn prefix_of(prefix: &[u8]) -> Option<(i32, i8)> {
    let prefix: &[u8; PREFIX] = prefix.first_chunk()?;
    Some((i32::from_be_bytes(crate::wire::bytes_at::<8, 4, PREFIX>(prefix)), prefix[16] as i8))
}

impl Format for Log {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn prefix_len(&self) -> usize {
        PREFIX
    }

    fn frame_len(&self, prefix: &[u8], offset: u64) -> Result<u64> {
        let Some((length, magic)) = prefix_of(prefix) else {
            let detail = Detail::Length { needed: PREFIX as u64, available: prefix.len() as u64 };
            return Err(Error::new(ErrorKind::TrailingBytes, detail, "baseOffset", offset));
        };
        batch::length_of(length, magic, offset)
    }

    fn head_len(&self) -> usize {
        BatchHeader::SIZE
    }

    fn peek(&self, head: &[u8]) -> Option<Summary> {
        peek::peek(head)
    }

    fn find(&self, bytes: &[u8], head: usize) -> Option<usize> {
        peek::find(bytes, head)
    }

    fn pieces(&self, offset: u64) -> Option<Box<dyn Pieces>> {
        Some(Box::new(pieces::InPieces::new(offset)))
    }

    fn is_intact(&self, frame: &[u8]) -> bool {
        let whole = |bytes: &[u8], checksum: Result<()>| bytes.len() == frame.len() && checksum.is_ok();
        if frame.get(PREFIX - 1) == Some(&2) {
            RecordBatch::parse(frame, 0).is_ok_and(|b| whole(b.bytes(), b.verify_checksum()))
        } else {
            Message::parse(frame, 0).is_ok_and(|m| whole(m.bytes(), m.verify_checksum()))
        }
    }

    fn check(
        &self,
        frame: Frame<'_>,
        options: &Options,
        scratch: &mut Scratch,
        defect: &mut dyn FnMut(Defect),
    ) -> Summary {
        check::check(frame, options, &Produce::default(), scratch, defect)
    }

    fn pass_sound(&self, bytes: &[u8], until: usize, order: &mut Order, options: &Options) -> Passed {
        check::pass(bytes, until, order, options)
    }

    fn check_order(
        &self,
        order: &Order,
        next: &Summary,
        offset: u64,
        options: &Options,
        defect: &mut dyn FnMut(Defect),
    ) {
        order::check(order, next, offset, options, defect);
    }

    fn severity(&self, kind: ErrorKind, options: &Options) -> Severity {
        rules::severity(kind, options).unwrap_or(Severity::Info)
    }

    fn tail(&self, tail: &[u8], offset: u64, options: &Options) -> Error {
        order::tail(tail, offset, options)
    }

    fn check_end(&self, batches: u64, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
        order::end(batches, offset, options, defect);
    }

    fn detect(&self, head: &[u8]) -> bool {
        prefix_of(head).is_some_and(|(length, magic)| batch::length_of(length, magic, 0).is_ok())
    }
}
