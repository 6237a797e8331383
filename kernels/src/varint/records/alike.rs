//! What many records tell together, without columns.
//!
//! Records of one form and size, one after the other, are compared with the first of them; others are read. In ns a record
//! on a Zen 4, of batches of 16 KiB with values of 10 B / 100 B / 1 KiB, records alike: 1.45 / 1.6 / 3.3. A walk into
//! columns takes 3.8 / 4.2 / 5, and passes over the columns took 0.7 / 1.2 / 2 more, as they are compiled for any CPU.
//! With heads of 16 bytes, whose parts do not fit into the registers, comparing takes 2.5 / 2.6 / 4.7.

use super::{Head, MAX_INPUT, read};

/// What a survey tells of the records that it has passed. The default is that of no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// How many there are.
    pub records: usize,
    /// Where the last one ends.
    pub end: usize,
    /// The 64-bit delta of the first one.
    pub first_timestamp_delta: i64,
    /// The least 64-bit delta; [`i64::MAX`] without records.
    pub least_timestamp_delta: i64,
    /// The greatest 64-bit delta; [`i64::MIN`] without records.
    pub most_timestamp_delta: i64,
    /// The 32-bit delta of the first one.
    pub first_offset_delta: i32,
    /// The 32-bit delta of the last one.
    pub last_offset_delta: i32,
    /// Whether each 32-bit delta is greater than the one before.
    pub ascending: bool,
}

impl Default for Survey {
    fn default() -> Self {
        Survey {
            records: 0,
            end: 0,
            first_timestamp_delta: 0,
            least_timestamp_delta: i64::MAX,
            most_timestamp_delta: i64::MIN,
            first_offset_delta: 0,
            last_offset_delta: 0,
            ascending: true,
        }
    }
}

impl Survey {
    /// Takes in one more record, which begins at [`end`](Self::end).
    #[inline]
    pub fn add(&mut self, head: &Head) {
        let (timestamp, offset) = (head.timestamp_delta, head.offset_delta);
        if self.records == 0 {
            (self.first_timestamp_delta, self.first_offset_delta) = (timestamp, offset);
        } else {
            self.ascending &= offset > self.last_offset_delta;
        }
        self.least_timestamp_delta = self.least_timestamp_delta.min(timestamp);
        self.most_timestamp_delta = self.most_timestamp_delta.max(timestamp);
        self.last_offset_delta = offset;
        (self.records, self.end) = (self.records + 1, head.end);
    }

    /// Reads one more record of `bytes`, if it is of the common form.
    #[inline(always)]
    pub(super) fn step(&mut self, bytes: &[u8]) -> Option<Head> {
        let head = read(bytes, self.end, self.records).ok().filter(|head| head.plain && head.headers_count == 0)?;
        self.add(&head);
        Some(head)
    }
}

/// Fewer records alike than this are no run.
const RUN: usize = 8;
/// Records that are read without a look for a run, at first; as many again each time that none was found.
const PATIENCE: usize = 8;

/// Surveys records on to number `until`: runs of records that are alike here, others by `general`. That reads some of
/// them, as many as its last argument tells at least if they are of the common form, and may change that number.
#[inline(always)]
pub(super) fn survey_by(
    bytes: &[u8],
    until: usize,
    survey: &mut Survey,
    mut general: impl FnMut(&[u8], usize, &mut Survey, &mut usize),
) {
    let mut patience = PATIENCE;
    if bytes.len() > MAX_INPUT {
        return;
    }
    if until.saturating_sub(survey.records) < RUN {
        return one_by_one(bytes, until, survey, until);
    }
    while survey.records < until {
        let start = survey.end;
        let Some(head) = first(bytes, survey) else { return };
        if alike(bytes, start, &head, until - survey.records, survey) >= RUN {
            patience = PATIENCE;
        } else {
            general(bytes, until, survey, &mut patience);
            patience = patience.saturating_mul(2);
        }
    }
}

/// The first record of a run, one in many.
#[inline(never)]
fn first(bytes: &[u8], survey: &mut Survey) -> Option<Head> {
    survey.step(bytes)
}

/// Reads `least` records one by one, and further ones until two of the same size follow each other.
#[inline]
pub(super) fn one_by_one(bytes: &[u8], until: usize, survey: &mut Survey, least: usize) {
    // Not through the reference: what is behind it would be written for each record.
    let mut told = *survey;
    let unhurried = told.records.saturating_add(least);
    let mut size = 0;
    while told.records < until {
        let start = told.end;
        let Some(head) = told.step(bytes) else { break };
        if head.end - start == size && told.records >= unhurried {
            break;
        }
        size = head.end - start;
    }
    *survey = told;
}

/// The longest head that is compared, bytes.
const HEAD: usize = 8;
/// The longest length of a value that is compared, bytes.
const VALUE: usize = 4;

/// Where the varint at `at` ends.
#[inline(always)]
fn skip(bytes: &[u8], at: usize) -> usize {
    let len = bytes[at..].iter().take_while(|&&byte| byte >= 0x80).count();
    at + len + 1
}

/// Surveys up to `most` records that are like the one at `start`, of which `head` tells: of the same size with keys and
/// values of the same lengths, 32-bit deltas rising by one, and 64-bit deltas that take as many bytes. Tells how many.
#[inline(always)]
fn alike(bytes: &[u8], start: usize, head: &Head, most: usize, survey: &mut Survey) -> usize {
    let timestamp_at = skip(bytes, start) + 1;
    let offset_at = skip(bytes, timestamp_at);
    let value_at = head.key_start + usize::try_from(head.key_len).unwrap_or(0);
    let (head_len, value_len) = (head.key_start - start, head.value_start - value_at);
    let size = head.end - start;
    let reach = size.max(HEAD).max(value_at - start + VALUE);
    let room = (bytes.len() - start).saturating_sub(reach) / size;
    if head_len > HEAD || value_len > VALUE || room == 0 {
        return 0;
    }
    // Within the low seven bits of the 32-bit delta nothing else of the head changes.
    let low = bytes[offset_at] & 0x7F;
    let most = if low & 1 == 0 { most.min(usize::from(0x7E - low) / 2) } else { 0 };
    // The payload of a 64-bit delta of one or two bytes may differ, but for its sign. As a number in this form it is in
    // the order of what it stands for.
    let (payload, timestamp_mask) = match offset_at - timestamp_at {
        _ if bytes[timestamp_at] & 1 != 0 => (0, 0),
        1 => (0x7E, 0xFF),
        2 => (0x7F7E, 0xFFFF),
        _ => (0, 0),
    };
    let timestamp_shift = 8 * (timestamp_at - start) as u32;
    let like = Like {
        size,
        more: 2 << (8 * (offset_at - start)),
        mask: u64::MAX >> (64 - 8 * head_len) & !(payload << timestamp_shift),
        value_at: value_at - start,
        value_mask: u32::MAX >> (32 - 8 * value_len),
        timestamp_shift,
        timestamp_mask,
    };
    // SAFETY: `reach` bytes are there from `start` and from each of the next `room` places, `size` bytes apart.
    let (count, least, greatest) = unsafe { like.count(bytes.as_ptr().wrapping_add(start), most.min(room)) };
    // Two bytes of which the second is 0 are not the shortest form.
    if count == 0 || timestamp_mask == 0xFFFF && least < 0x100 {
        return 0;
    }
    if timestamp_mask != 0 {
        let delta = |raw: u32| i64::from((raw & 0x7F | raw >> 8 << 7) >> 1);
        survey.least_timestamp_delta = survey.least_timestamp_delta.min(delta(least));
        survey.most_timestamp_delta = survey.most_timestamp_delta.max(delta(greatest));
    }
    survey.last_offset_delta += count as i32;
    (survey.records, survey.end) = (survey.records + count, head.end + count * size);
    count
}

/// What records have in common.
struct Like {
    size: usize,
    /// What the head gains from one record to the next.
    more: u64,
    /// Bits of the head that are compared, and of the value's length.
    mask: u64,
    value_at: usize,
    value_mask: u32,
    /// Where in the head the 64-bit delta lies.
    timestamp_shift: u32,
    timestamp_mask: u32,
}

impl Like {
    /// How many of up to `most` records behind that at `record` are like it, and their least and greatest 64-bit delta, in
    /// the form of the wire.
    ///
    /// The place of the next record is known before this one was looked at, so that they are compared as fast as
    /// instructions go.
    ///
    /// # Safety
    /// There are `size` and [`HEAD`] bytes, and [`VALUE`] bytes from `value_at` on, in that record and behind the start of
    /// each of `most` behind it, `size` bytes apart.
    #[inline(never)]
    unsafe fn count(&self, record: *const u8, most: usize) -> (usize, u32, u32) {
        let &Like { size, more, mask, value_at, value_mask, timestamp_shift, timestamp_mask } = self;
        // SAFETY: the caller's.
        let head = |at: *const u8| u64::from_le(unsafe { at.cast::<u64>().read_unaligned() });
        // SAFETY: the caller's.
        let value = |at: *const u8| u32::from_le(unsafe { at.wrapping_add(value_at).cast::<u32>().read_unaligned() });
        // SAFETY: the caller's.
        let last = |at: *const u8| unsafe { at.wrapping_add(size - 1).read() };
        let (mut expected, value_expected) = (head(record), value(record));
        let (mut least, mut greatest) = (u32::MAX, 0);
        let mut at = record;
        for count in 0..most {
            at = at.wrapping_add(size);
            expected = expected.wrapping_add(more);
            let found = head(at);
            let differing = (found ^ expected) & mask;
            let rest = (value(at) ^ value_expected) & value_mask | u32::from(last(at));
            if differing | u64::from(rest) != 0 {
                return (count, least, greatest);
            }
            let timestamp = (found >> timestamp_shift) as u32 & timestamp_mask;
            (least, greatest) = (least.min(timestamp), greatest.max(timestamp));
        }
        (most, least, greatest)
    }
}
