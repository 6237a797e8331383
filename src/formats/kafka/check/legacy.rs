//! Messages of magic 0 and 1.

use crate::formats::kafka::rules::Judge;
use crate::formats::kafka::{InnerMessage, InnerMessages, Message, Produce, TimestampType};
use crate::formats::{Depth, Frame, Scratch, Summary};
use crate::{Detail, Error, ErrorKind, Within};

/// Checks a message that stands in the log or in a request by itself.
pub(super) fn check(frame: Frame<'_>, produce: &Produce, scratch: &mut Scratch, mut judge: Judge<'_>) -> Summary {
    let message = match Message::parse(frame.bytes, frame.offset) {
        Ok(message) => message,
        Err(e) => {
            judge.report(e);
            return Summary { damaged: true, ..Summary::default() };
        }
    };
    let is_wrapper = message.codec() != 0;
    let last = u64::try_from(message.header().offset()).ok();
    let mut summary = Summary {
        records: 1,
        first_offset: if is_wrapper { None } else { last },
        next_offset: last.map(|last| last + 1),
        timestamp: message.timestamp(),
        version: u8::try_from(message.header().magic()).ok(),
        compressed: is_wrapper,
        ..Summary::default()
    };
    if judge.options.depth < Depth::Checksums {
        return summary;
    }
    if let Err(e) = message.verify_checksum() {
        judge.report(e);
        return Summary { damaged: true, records: 0, ..summary };
    }
    if judge.options.depth < Depth::Records {
        return summary;
    }
    let at = Place { offset: frame.offset, within: Within::Input };
    attributes(&message, at, &mut judge);
    summary.records = 0;
    if is_wrapper {
        if let Err(e) = wrapper(&message, produce, scratch, &mut summary, &mut judge) {
            judge.report(e);
        }
    } else if content(&message, at, produce, &mut judge) {
        summary.records = 1;
        timestamp(message.timestamp(), message.timestamp_type(), at, produce, &mut judge);
    }
    summary
}

/// Where a message stands.
#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    within: Within,
}

impl Place {
    fn error(self, kind: ErrorKind, detail: Detail, field: &'static str, at: u64) -> Error {
        Error::new(kind, detail, field, self.offset + at).within(self.within)
    }
}

fn attributes(message: &Message<'_>, place: Place, judge: &mut Judge<'_>) {
    let attributes = message.header().attributes();
    let (known, rule) = match message.header().magic() {
        0 => (0x07, "bits 3 to 7 have no meaning"),
        _ => (0x0F, "bits 4 to 7 have no meaning"),
    };
    if attributes & !known != 0 {
        let detail = Detail::Value { found: attributes.into(), rule };
        judge.report_once(place.error(ErrorKind::AttributesReservedBits, detail, "attributes", 17));
    }
}

/// Checks key and value; tells whether they can be read.
fn content(message: &Message<'_>, place: Place, produce: &Produce, judge: &mut Judge<'_>) -> bool {
    let content = match message.content() {
        Ok(content) => content,
        Err(e) => {
            judge.report(e.within(place.within));
            return false;
        }
    };
    if let Some((length, field, at)) = content.odd_length {
        let detail = Detail::Value { found: length.into(), rule: "must be -1 or more" };
        judge.report_once(Error::new(ErrorKind::LengthBelowMinusOne, detail, field, at).within(place.within));
    }
    if !content.rest.is_empty() {
        let detail = Detail::Length { needed: 0, available: content.rest.len() as u64 };
        let at = (message.bytes().len() - content.rest.len()) as u64;
        judge.report_once(place.error(ErrorKind::EntryTrailingBytes, detail, "message", at));
    }
    if produce.compacted && content.key.is_none() && judge.is_client() {
        let at = message.key_at();
        judge.report(place.error(ErrorKind::KeyMissingOnCompactedTopic, Detail::None, "keyLength", at));
    }
    true
}

/// Checks the timestamp that a reader is given.
fn timestamp(
    timestamp: Option<i64>,
    kind: Option<TimestampType>,
    place: Place,
    produce: &Produce,
    judge: &mut Judge<'_>,
) {
    let Some(timestamp) = timestamp else { return };
    if timestamp < -1 {
        let detail = Detail::Value { found: timestamp, rule: "must be -1 or more" };
        judge.report_once(place.error(ErrorKind::TimestampNegative, detail, "timestamp", 18));
    }
    if !judge.is_client() {
        return;
    }
    let set_by_broker = kind == Some(TimestampType::LogAppendTime);
    if set_by_broker {
        let detail = Detail::Reason("bit 3 is the broker's to set");
        let refused = timestamp == -1 || produce.timestamp_type == TimestampType::LogAppendTime;
        let error = place.error(ErrorKind::TimestampTypeFromClient, detail, "attributes", 17);
        judge.report_as_once(error, refused);
    }
    if let Some((from, to)) = produce.timestamps
        && timestamp != -1
        && !(from..=to).contains(&timestamp)
    {
        let detail = Detail::Value { found: timestamp, rule: "must be in the topic's range" };
        judge.report(place.error(ErrorKind::TimestampOutOfRange, detail, "timestamp", 18));
    }
}

/// Checks a compressed message and those within.
fn wrapper(
    message: &Message<'_>,
    produce: &Produce,
    scratch: &mut Scratch,
    summary: &mut Summary,
    judge: &mut Judge<'_>,
) -> Result<(), Error> {
    let codec = message.wrapper_codec()?;
    let content = match message.content() {
        Ok(content) => content,
        Err(e) => {
            // Without the value there is nothing to convert.
            judge.report_as(e, true);
            return Ok(());
        }
    };
    if content.key.is_some() {
        let at = message.offset() + message.key_at();
        judge.report(Error::new(ErrorKind::WrapperKeyNotNull, Detail::None, "keyLength", at));
    }
    let (stream, start) = message.stream()?;
    let limit = judge.options.max_decompressed;
    let decoded = scratch.decoder.decode_checking(codec, stream, message.header().magic() != 0, limit);
    let decoded = decoded.map_err(|failure| failure.error.moved_by(start))?;
    for note in decoded.notes.iter() {
        judge.note(note.moved_by(start));
    }
    let inner = InnerMessages::new(message, decoded.bytes)?;
    if let Some(e) = inner.is_cut_off() {
        judge.report(e);
    }
    if let Some(first) = inner.clone().next() {
        summary.first_offset = u64::try_from(first.offset).ok();
    }
    if message.header().magic() == 0 || inner.clone().zip(0..).any(|(one, index)| one.offset != index) {
        // Without offsets from 0 on the set is written anew, whatever its format.
        judge.set_converts();
    }
    for (expected, one) in (0..).zip(inner) {
        if !inner_message(message, &one, produce, judge) {
            break;
        }
        let own_offset = one.message.header().offset();
        if message.header().magic() != 0 && own_offset != expected {
            let detail = Detail::Mismatch { stored: own_offset, computed: expected };
            let place = Place { offset: one.message.offset(), within: Within::Decompressed };
            judge.report_once(place.error(ErrorKind::OffsetDeltaNotSequential, detail, "offset", 0));
        }
        summary.records += 1;
    }
    Ok(())
}

/// Checks a message within a compressed one; tells whether a reader goes on.
fn inner_message(wrapper: &Message<'_>, one: &InnerMessage<'_>, produce: &Produce, judge: &mut Judge<'_>) -> bool {
    let message = &one.message;
    let place = Place { offset: message.offset(), within: Within::Decompressed };
    let codec = message.codec();
    if codec != 0 {
        let detail = Detail::Value { found: codec.into(), rule: "must be 0 within a compressed message" };
        judge.report(place.error(ErrorKind::InnerCompressed, detail, "attributes", 17));
        return false;
    }
    if message.header().magic() != wrapper.header().magic() {
        let detail =
            Detail::Mismatch { stored: message.header().magic().into(), computed: wrapper.header().magic().into() };
        judge.report_once(place.error(ErrorKind::InnerMagicMismatch, detail, "magic", 16));
    }
    if let Err(e) = message.verify_checksum() {
        judge.report(e.of_kind(ErrorKind::InnerCrcMismatch).within(place.within));
        return false;
    }
    attributes(message, place, judge);
    if !content(message, place, produce, judge) {
        return false;
    }
    timestamp(one.timestamp, wrapper.timestamp_type(), place, produce, judge);
    true
}
