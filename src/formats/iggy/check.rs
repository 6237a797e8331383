//! Every promise of one batch, for the validator.

use super::header::CHECKSUM_HEAD;
use super::log::base_offset_at;
use super::{Batch, BatchHeader, FrameList, Message, MessageHeader, Revision};
use crate::formats::{Conformance, Defect, Depth, Frame, Options, Order, Origin, Severity, Summary};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, xxh3};

/// Largest payload and user headers that the client's message builder makes, and what encryption at rest adds to each.
const MAX_PAYLOAD: usize = 64_000_000 + 28;
const MAX_USER_HEADERS: usize = 100_000 + 28;

pub(super) fn check(
    frame: Frame<'_>,
    revision: Revision,
    options: &Options,
    frames: &mut FrameList,
    defect: &mut dyn FnMut(Defect),
) -> Summary {
    let batch = match Batch::parse_exact(frame.bytes, frame.offset, revision) {
        Ok(batch) => batch,
        Err(e) => {
            defect(e.into());
            return Summary { damaged: true, ..Summary::default() };
        }
    };
    let verified = if options.depth >= Depth::Checksums { batch.verify(frames) } else { batch.check_layout() };
    if let Err(e) = verified {
        defect(e.into());
        return after_damage(&batch, e, frames, defect);
    }
    let header = batch.header();
    if header.message_count() == 0 {
        // A segment from a peer with an empty batch is refused; a poll and the walk at start-up read over it.
        let lenient = (options.origin, options.conformance) == (Origin::Stored, Conformance::Reference);
        let severity = if lenient { Severity::Warning } else { Severity::Error };
        let detail = Detail::Value { found: 0, rule: "must be at least 1" };
        defect(Defect { error: header.error(ErrorKind::BatchEmpty, detail, "message_count", frame.offset), severity });
    }
    let mut summary = summary_of(header);
    // A segment from a peer is refused for it; all else reads over it.
    let strict = (options.origin, options.conformance) == (Origin::Stored, Conformance::Strict);
    let refused = strict && summary.next_offset.is_none();
    if refused {
        defect(header.error(ErrorKind::OffsetOverflow, no_room(header), "base_offset", frame.offset).into());
    }
    if options.origin == Origin::Replica {
        shift_slice(&batch, &mut summary);
    }
    if options.depth >= Depth::Records && options.conformance == Conformance::Strict {
        Oddities::default().report(&batch, options.origin, !refused, defect);
    }
    summary
}

fn no_room(header: BatchHeader<'_>) -> Detail {
    Detail::Value { found: header.base_offset() as i64, rule: "must leave room for all messages" }
}

pub(super) fn summary_of(header: BatchHeader<'_>) -> Summary {
    let count = u64::from(header.message_count());
    Summary {
        records: count,
        first_offset: Some(header.base_offset()),
        next_offset: header.base_offset().checked_add(count),
        timestamp: i64::try_from(header.base_timestamp()).ok(),
        ..Summary::default()
    }
}

/// What is known of a damaged batch. Its header counts only if the batch checksum, which covers it, holds.
fn after_damage(batch: &Batch<'_>, error: Error, frames: &mut FrameList, defect: &mut dyn FnMut(Defect)) -> Summary {
    let header = batch.header();
    if let Some(rule) = older_rule(batch, error) {
        let detail = Detail::Reason(rule);
        let error = Error::new(ErrorKind::GenerationOld, detail, error.field(), error.offset());
        defect(Defect { error, severity: Severity::Info });
    }
    // Those before the damage were read.
    let records = frames.len() as u64;
    if batch.list_frames(frames).is_ok() && frames.batch_checksum(header) == header.batch_checksum() {
        return Summary { records, ..summary_of(header) };
    }
    Summary { damaged: true, ..Summary::default() }
}

/// The rule of development builds of summer 2026 by which a checksum holds that does not hold by today's.
fn older_rule(batch: &Batch<'_>, error: Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::BatchChecksumMismatch => {
            let mut head = [0; CHECKSUM_HEAD];
            let from = batch.header().put_checksum_head(&mut head);
            let mut input = head[from..].to_vec();
            input.extend_from_slice(batch.blob());
            (xxh3::hash64(&input) == batch.header().batch_checksum())
                .then_some("the batch checksum covers whole messages, as before August 2026")
        }
        ErrorKind::MessageChecksumMismatch => {
            let at = usize::try_from(error.offset() - batch.offset()).ok()?;
            let frame = batch.bytes().get(at..)?;
            let header = MessageHeader::new(frame)?;
            let body = &frame[MessageHeader::SIZE..];
            let (payload, rest) = body.split_at_checked(header.payload_length() as usize)?;
            let mut input = frame[8..MessageHeader::SIZE].to_vec();
            input.extend_from_slice(rest.get(..header.user_headers_length() as usize)?);
            input.extend_from_slice(payload);
            (xxh3::hash64(&input) == header.checksum())
                .then_some("the message checksum covers user headers before the payload, as in builds around 0.8.0")
        }
        _ => None,
    }
}

/// A batch that a poll has cut keeps its base offset; its first message tells where it starts.
fn shift_slice(batch: &Batch<'_>, summary: &mut Summary) {
    let mut deltas = batch.messages().map_while(Result::ok).map(|m| u64::from(m.header().offset_delta()));
    let Some(first) = deltas.next().filter(|&first| first > 0) else { return };
    let last = deltas.last().unwrap_or(first);
    if last.checked_sub(first) == summary.records.checked_sub(1) {
        summary.first_offset = summary.first_offset.and_then(|offset| offset.checked_add(first));
        summary.next_offset = summary.next_offset.and_then(|offset| offset.checked_add(first));
    }
}

/// What the reference lets pass because it does not look: one finding of each kind for a batch.
#[derive(Default)]
struct Oddities {
    delta: Option<Error>,
    user_headers: Option<Error>,
    oversized: Option<Error>,
    max_delta: u64,
}

impl Oddities {
    fn report(mut self, batch: &Batch<'_>, origin: Origin, room: bool, defect: &mut dyn FnMut(Defect)) {
        let (header, offset) = (batch.header(), batch.offset());
        let mut earliest = u32::MAX;
        let mut first_delta = 0;
        let mut at = offset + BatchHeader::SIZE as u64;
        for (index, message) in batch.messages().map_while(Result::ok).enumerate() {
            let delta = message.header().offset_delta();
            if index == 0 && origin == Origin::Replica {
                first_delta = delta.into();
            }
            earliest = earliest.min(message.header().timestamp_delta());
            self.look(&message, first_delta + index as u64, at);
            at += message.bytes().len() as u64;
        }
        let user_headers = if origin == Origin::Client { Severity::Warning } else { Severity::Info };
        let found =
            [(self.delta, Severity::Warning), (self.user_headers, user_headers), (self.oversized, Severity::Info)];
        for (error, severity) in found {
            if let Some(error) = error {
                defect(Defect { error, severity });
            }
        }
        let mut odd = |kind, detail, field, severity| {
            defect(Defect { error: header.error(kind, detail, field, offset), severity });
        };
        if earliest != 0 && header.message_count() > 0 && origin != Origin::Replica {
            let detail = Detail::Reason("no message has a timestamp_delta of 0");
            odd(ErrorKind::OriginTimestampUnexpected, detail, "origin_timestamp", Severity::Info);
        }
        let last = header.base_offset().checked_add(self.max_delta.max(u64::from(header.message_count())));
        if last.is_none() && room {
            odd(ErrorKind::OffsetOverflow, no_room(header), "base_offset", Severity::Warning);
        }
        if origin == Origin::Client {
            let set = [
                ("partition_id", header.partition_id()),
                ("base_offset", header.base_offset()),
                ("base_timestamp", header.base_timestamp()),
            ];
            for (field, found) in set.into_iter().filter(|(_, found)| *found != 0) {
                let detail = Detail::Value { found: found as i64, rule: "is 0 from a producer" };
                odd(ErrorKind::ServerFieldSet, detail, field, Severity::Info);
            }
        }
    }

    /// A message that starts at `at` of the input and should have the offset delta `expected`.
    fn look(&mut self, message: &Message<'_>, expected: u64, at: u64) {
        let header = message.header();
        let place = |field| at + start_of(MessageHeader::FIELDS, field) as u64;
        let found = u64::from(header.offset_delta());
        self.max_delta = self.max_delta.max(found);
        if found != expected && self.delta.is_none() {
            let detail = Detail::Expected { expected, found };
            let kind = ErrorKind::OffsetDeltaUnexpected;
            self.delta = Some(Error::new(kind, detail, "offset_delta", place("offset_delta")));
        }
        let headers = message.user_header_bytes();
        if !headers.is_empty() && self.user_headers.is_none() {
            let start = at + (message.bytes().len() - headers.len()) as u64;
            self.user_headers = super::UserHeaders::parse(headers, start).err();
        }
        let lengths = [
            ("payload_length", message.payload().len(), MAX_PAYLOAD, "clients make at most 64000000"),
            ("user_headers_length", headers.len(), MAX_USER_HEADERS, "clients make at most 100000"),
        ];
        for (field, found, max, rule) in lengths {
            if found > max && self.oversized.is_none() {
                let detail = Detail::Value { found: found as i64, rule };
                self.oversized = Some(Error::new(ErrorKind::MessageOversized, detail, field, place(field)));
            }
        }
    }
}

pub(super) fn check_order(
    order: &Order,
    next: &Summary,
    offset: u64,
    options: &Options,
    defect: &mut dyn FnMut(Defect),
) {
    // Requests of producers have no order among them.
    let (Origin::Replica | Origin::Stored, Some(found)) = (options.origin, next.first_offset) else { return };
    // A poll, and the walk at start-up where there is an index, compare no offsets.
    let lenient = options.conformance == Conformance::Reference;
    let severity = if lenient { Severity::Warning } else { Severity::Error };
    let mut wrong = |kind, detail| {
        let error = Error::new(kind, detail, "base_offset", base_offset_at(offset));
        defect(Defect { error, severity });
    };
    if let Some(expected) = order.base_offset.filter(|&base| order.is_first && base != found) {
        wrong(ErrorKind::BaseOffsetMismatch, Detail::Expected { expected, found });
    }
    match order.next_offset {
        Some(expected) if found < expected || order.is_misplaced(next) => {
            wrong(ErrorKind::OffsetOverlap, Detail::Expected { expected, found });
        }
        Some(expected) if found > expected && !order.after_damage => {
            wrong(ErrorKind::OffsetGap, Detail::Offsets { first: expected, last: found - 1 });
        }
        _ => {}
    }
}
