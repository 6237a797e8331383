//! Record by record, branching on the length of each varint: the scalar baseline.

use super::alike::{one_by_one, survey_by};
use super::{Columns, Error, Fault, Field, Job, MAX_INPUT, Survey, Walked, read};

/// How far a walk has come: the next record, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) record: usize,
    pub(super) at: usize,
}

pub(super) fn walk(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
    check_input(bytes)?;
    let mut place = Place { record: 0, at: 0 };
    let plain = steps(bytes, columns, &mut place, usize::MAX)?;
    Ok(Walked { end: place.at, plain })
}

pub(super) fn walk_many(jobs: &mut [Job<'_>]) {
    for job in jobs {
        job.walked = walk(job.bytes, &mut job.columns);
    }
}

pub(super) fn survey(bytes: &[u8], until: usize, survey: &mut Survey) {
    survey_by(bytes, until, survey, |bytes, until, survey, patience| one_by_one(bytes, until, survey, *patience));
}

pub(super) fn check_input(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MAX_INPUT {
        return Err(Error { record: 0, field: Field::Record, at: 0, fault: Fault::InputTooLong });
    }
    Ok(())
}

/// Walks on by at most `most` records and tells whether they are plain.
#[inline]
pub(super) fn steps(bytes: &[u8], columns: &mut Columns<'_>, place: &mut Place, most: usize) -> Result<bool, Error> {
    let until = columns.len().min(place.record.saturating_add(most));
    // Slices of one length, so that one comparison serves them all.
    let Columns { starts, timestamp_deltas, offset_deltas, key_starts, key_lens, .. } = columns;
    let (starts, timestamp_deltas, offset_deltas) =
        (&mut starts[..until], &mut timestamp_deltas[..until], &mut offset_deltas[..until]);
    let (key_starts, key_lens) = (&mut key_starts[..until], &mut key_lens[..until]);
    let Columns { value_starts, value_lens, headers_starts, headers_counts, .. } = columns;
    let (value_starts, value_lens) = (&mut value_starts[..until], &mut value_lens[..until]);
    let (headers_starts, headers_counts) = (&mut headers_starts[..until], &mut headers_counts[..until]);
    let Place { mut record, mut at } = *place;
    let mut plain = true;
    while record < until {
        let head = read(bytes, at, record)?;
        starts[record] = at as u32;
        timestamp_deltas[record] = head.timestamp_delta;
        offset_deltas[record] = head.offset_delta;
        key_starts[record] = head.key_start as u32;
        key_lens[record] = head.key_len;
        value_starts[record] = head.value_start as u32;
        value_lens[record] = head.value_len;
        headers_starts[record] = head.headers_start as u32;
        headers_counts[record] = head.headers_count;
        plain &= head.plain;
        (record, at) = (record + 1, head.end);
    }
    *place = Place { record, at };
    Ok(plain)
}
