//! Every promise of one entry.

mod header;
mod legacy;
mod oddities;
mod plain;
mod records;
mod run;
mod skip;

pub(super) use oddities::place_of;
pub(super) use run::pass;

use super::rules::{Judge, Of};
use super::{Produce, RecordBatch};
use crate::codec::Codec;
use crate::formats::{Defect, Depth, Frame, Options, Scratch, Summary};
use crate::{Detail, Error, ErrorKind, Within};

/// Where the magic stands.
const MAGIC_AT: usize = 16;
/// Where the attributes of a batch stand.
const ATTRIBUTES_AT: u64 = 21;

pub(super) fn check(
    frame: Frame<'_>,
    options: &Options,
    produce: &Produce,
    scratch: &mut Scratch,
    defect: &mut dyn FnMut(Defect),
) -> Summary {
    if frame.bytes.get(MAGIC_AT).is_some_and(|&magic| magic < 2) {
        let converts = produce.converts(frame.bytes[MAGIC_AT] as i8);
        let judge = Judge::new(options, Of::Message { converts }, defect);
        return legacy::check(frame, produce, scratch, judge);
    }
    batch(frame, produce, scratch, &mut Judge::new(options, Of::Batch, defect))
}

fn batch(frame: Frame<'_>, produce: &Produce, scratch: &mut Scratch, judge: &mut Judge<'_>) -> Summary {
    let batch = match RecordBatch::parse(frame.bytes, frame.offset) {
        Ok(batch) => batch,
        Err(e) => {
            judge.report(e);
            return Summary { damaged: true, ..Summary::default() };
        }
    };
    let header = batch.header();
    let mut summary = Summary {
        records: u64::try_from(header.records_count()).unwrap_or(0),
        first_offset: u64::try_from(header.base_offset()).ok(),
        next_offset: u64::try_from(batch.last_offset()).ok().map(|last| last + 1),
        epoch: Some(header.partition_leader_epoch()),
        timestamp: Some(header.max_timestamp()),
        version: Some(2),
        compressed: batch.codec() != 0,
        damaged: false,
    };
    if judge.options.depth < Depth::Checksums {
        return summary;
    }
    if let Err(e) = batch.verify_checksum() {
        // Nothing under a wrong checksum is worth a second finding.
        judge.report(e);
        return Summary { damaged: true, records: 0, ..summary };
    }
    header::check(&batch, produce, judge);
    if judge.options.depth >= Depth::Records {
        summary.records = payload(&batch, produce, scratch, judge);
    }
    summary
}

/// Checks what is behind the header; tells how many records were read.
fn payload(batch: &RecordBatch<'_>, produce: &Produce, scratch: &mut Scratch, judge: &mut Judge<'_>) -> u64 {
    let start = batch.offset() + super::BatchHeader::SIZE as u64;
    let number = batch.codec();
    if number == 0 {
        return records::check(batch, batch.payload(), Within::Input, produce, judge);
    }
    let Some(codec) = Codec::from_number(number) else {
        let detail = Detail::Value { found: number.into(), rule: "must be 0 to 4" };
        judge.report(Error::new(ErrorKind::CodecUnknown, detail, "attributes", batch.offset() + ATTRIBUTES_AT));
        return 0;
    };
    let limit = judge.options.max_decompressed;
    match scratch.decoder.decode_checking(codec, batch.payload(), true, limit) {
        // Readers open the stream of a batch without records, and do no more.
        Err(failure) if batch.header().records_count() > 0 || failure.on_open => {
            judge.report(failure.error.moved_by(start));
            0
        }
        Err(_) => 0,
        Ok(_) if batch.header().records_count() <= 0 => 0,
        Ok(decoded) => {
            let notes = decoded.notes;
            for note in [notes.checksum, notes.trailing, notes.empty_block].into_iter().flatten() {
                judge.note(note.moved_by(start));
            }
            records::check(batch, decoded.bytes, Within::Decompressed, produce, judge)
        }
    }
}
