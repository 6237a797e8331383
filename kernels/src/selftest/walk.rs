//! Cases of walks over records.

use super::varint::code;
use super::{Answers, Cases, Input, Rng, Words};
use crate::varint::records::{Columns, Error, Fault, Field, Job, Survey, Walked, survey, walk, walk_many};
use crate::varint::{MAX_LEN_64, encode_zigzag64};

/// Records of a case, at most.
const RECORDS: usize = 40;
/// Walks of a case that are made together.
const JOBS: usize = 3;

/// Columns, all of one length.
#[derive(Clone, Copy)]
struct Table {
    unsigned: [[u32; RECORDS]; 5],
    signed: [[i32; RECORDS]; 3],
    timestamp_deltas: [i64; RECORDS],
}

impl Table {
    const NEW: Table =
        Table { unsigned: [[77; RECORDS]; 5], signed: [[77; RECORDS]; 3], timestamp_deltas: [77; RECORDS] };

    fn columns(&mut self, len: usize) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..len]);
        let signed = self.signed.each_mut().map(|c| &mut c[..len]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas[..len])
    }

    /// The result, and what it says is in the columns.
    fn tell(&self, len: usize, walked: Result<Walked, Error>, words: &mut Words) {
        let rows = match walked {
            Ok(Walked { end, plain }) => {
                words.push(end as u64);
                words.push(plain);
                len
            }
            Err(error) => {
                words.push(error.record as u64);
                words.push(error.field as u64);
                words.push(error.at as u64);
                fault(error.fault).iter().for_each(|word| words.push(*word));
                error.record
            }
        };
        for row in 0..rows.min(len) {
            self.unsigned.iter().for_each(|column| words.push(column[row]));
            self.signed.iter().for_each(|column| words.push(column[row] as u32));
            words.push(self.timestamp_deltas[row] as u64);
        }
    }
}

fn fault(fault: Fault) -> [u64; 3] {
    match fault {
        Fault::Varint(error) => [1, code(Err(error)), 0],
        Fault::Missing => [2, 0, 0],
        Fault::Negative(n) => [3, n as u64, 0],
        Fault::TooLarge { needed, available } => [4, needed, available],
        Fault::Unfilled { stored, used } => [5, stored, used],
        Fault::InputTooLong => [6, 0, 0],
    }
}

/// Two records: null key, value "x"; then timestamp 3, offset 1, key "k", null value, one header "h" with a null value.
const RECORDS_KNOWN: [u8; 21] = [14, 0, 0, 0, 1, 2, b'x', 0, 20, 0, 6, 2, 2, b'k', 1, 2, 2, b'h', 1, 0x55, 0x55];

/// What [`Table::tell`] makes of them, field by field as the definition of a record has it.
const TOLD: [u64; 20] = {
    let null = u32::MAX as u64;
    [19, 1, 0, 5, 6, 8, 0, 0, null, 1, 0, 8, 13, 15, 16, 1, 1, 1, null, 3]
};

/// The same of two records without their end, and of a record that its fields do not fill.
const TOLD_TRUNCATED: [u64; 15] = [1, Field::Length as u64, 8, 4, 10, 9, 0, 5, 6, 8, 0, 0, u32::MAX as u64, 1, 0];
const UNFILLED: [u8; 8] = [14, 0, 0, 0, 1, 0, 0, 0];
const TOLD_UNFILLED: [u64; 6] = [0, Field::Length as u64, 7, 5, 7, 6];

/// Compares a walker with known answers; it gets records and their number.
fn known(answers: &mut Answers, walk: &dyn Fn(&[u8], usize, &mut Words)) {
    let cases: [(&[u8], usize, &[u64]); 3] =
        [(&RECORDS_KNOWN, 2, &TOLD), (&RECORDS_KNOWN[..18], 2, &TOLD_TRUNCATED), (&UNFILLED, 1, &TOLD_UNFILLED)];
    for (bytes, count, told) in cases {
        let mut words = Words::new();
        walk(bytes, count, &mut words);
        answers.expect_all(told, &words);
    }
}

/// Writes fields of a record.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn number(&mut self, value: i64) {
        let mut one = [0; MAX_LEN_64];
        let len = encode_zigzag64(value, &mut one);
        self.bytes(&one[..len]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn blob(&mut self, bytes: Option<&[u8]>) {
        self.number(bytes.map_or(-1, |b| b.len() as i64));
        self.bytes(bytes.unwrap_or_default());
    }
}

/// The longest body that is made, bytes.
const BODY: usize = 1024;

/// Writes records, now and then with a fault among them.
fn make(input: &mut Input<'_>) {
    let mut rng = input.rng();
    let count = rng.below(RECORDS + 1);
    let longest = [4, 40, 150, 400][rng.below(4)];
    let (keys, headers) = (rng.below(2) == 0, rng.below(3) == 0);
    let mut at = 0;
    for i in 0..count {
        let mut body = [0; BODY];
        let mut writer = Writer { out: &mut body, at: 0 };
        writer.bytes(&[u8::from(rng.below(40) == 0)]);
        let shift = [64, 60, 50, 1][rng.below(4)];
        writer.number((rng.next().unbounded_shr(shift)) as i64);
        writer.number(i as i64);
        let key = if keys { some(input, 60, &mut rng) } else { None };
        writer.blob(key);
        writer.blob(if keys { some(input, longest, &mut rng) } else { Some(input.part(longest, &mut rng)) });
        let count = if headers { rng.below(4) } else { 0 };
        writer.number(count as i64);
        for _ in 0..count {
            writer.blob(Some(input.part(10, &mut rng)));
            writer.blob(some(input, 20, &mut rng));
        }
        let len = writer.at;
        if at + len + 2 * MAX_LEN_64 > input.scratch.len() {
            break;
        }
        let mut writer = Writer { out: input.scratch, at };
        writer.number(len as i64);
        writer.bytes(&body[..len]);
        at = writer.at;
    }
    if at > 0 && rng.below(3) == 0 {
        input.scratch[rng.below(at)] ^= 1 << rng.below(8);
    }
    if at > 0 && rng.below(8) == 0 {
        at -= 1;
    }
    input.used = at;
}

fn some<'a>(input: &'a Input<'_>, most: usize, rng: &mut Rng) -> Option<&'a [u8]> {
    let part = input.part(most, rng);
    (rng.below(4) > 0).then_some(part)
}

/// How many records to walk over: mostly as many as there are.
fn count(input: &Input<'_>) -> usize {
    let mut rng = input.rng();
    let made = rng.below(RECORDS + 1);
    if rng.below(3) == 0 { rng.below(RECORDS + 1) } else { made }
}

pub(crate) const WALK: Cases<walk::Function> = Cases {
    known: |kernel, answers| {
        known(answers, &|bytes, count, words| {
            let mut table = Table::NEW;
            let walked = walk::with(kernel, bytes, &mut table.columns(count));
            table.tell(count, walked, words);
        });
    },
    make,
    run: |kernel, input, words| {
        let (bytes, count) = (&input.scratch[..input.used], count(input));
        let mut table = Table::NEW;
        let walked = walk::with(kernel, bytes, &mut table.columns(count));
        table.tell(count, walked, words);
    },
};

pub(crate) const WALK_MANY: Cases<walk_many::Function> = Cases {
    known: |kernel, answers| {
        known(answers, &|bytes, count, words| {
            let mut tables = [Table::NEW; JOBS];
            let mut jobs = tables.each_mut().map(|table| Job::new(bytes, table.columns(count)));
            walk_many::with(kernel, &mut jobs);
            let results = jobs.map(|job| job.walked);
            // The last one, whose neighbours went before.
            tables[JOBS - 1].tell(count, results[JOBS - 1], words);
        });
    },
    make,
    run: |kernel, input, words| {
        let (bytes, all) = (&input.scratch[..input.used], count(input));
        let mut rng = input.rng();
        let counts = [all, all / 2, rng.below(all + 1)].map(|count| count.min(super::WORDS / 9 / JOBS - 1));
        let mut tables = [Table::NEW; JOBS];
        let mut counts_left = counts.iter();
        let mut jobs = tables.each_mut().map(|table| {
            let count = counts_left.next().map_or(0, |count| *count);
            Job::new(bytes, table.columns(count))
        });
        walk_many::with(kernel, &mut jobs);
        let results = jobs.map(|job| job.walked);
        for ((table, walked), count) in tables.iter().zip(results).zip(counts) {
            table.tell(count, walked, words);
        }
    },
};

fn tell(survey: &Survey, words: &mut Words) {
    let Survey { records, end, first_timestamp_delta, least_timestamp_delta, most_timestamp_delta, .. } = *survey;
    let Survey { first_offset_delta, last_offset_delta, ascending, .. } = *survey;
    let deltas = [first_timestamp_delta, least_timestamp_delta, most_timestamp_delta];
    [records as u64, end as u64].into_iter().chain(deltas.map(|delta| delta as u64)).for_each(|word| words.push(word));
    [first_offset_delta, last_offset_delta].iter().for_each(|delta| words.push(*delta as u32));
    words.push(ascending);
}

pub(crate) const SURVEY: Cases<survey::Function> = Cases {
    known: |kernel, answers| {
        // Up to the header of the second record; then it is one of records that are alike, but for the last one.
        let mut alike = [0; 12 * 8];
        for (i, record) in alike.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *record = [14, 0, if i == 5 { 6 } else { 2 }, 2 * i as u8, 1, 2, b'x', 0];
        }
        alike[11 * 8 + 3] = 2;
        let cases: [(&[u8], usize, [u64; 8]); 2] =
            [(&RECORDS_KNOWN, 2, [1, 8, 0, 0, 0, 0, 0, 1]), (&alike, 13, [12, 96, 1, 1, 3, 0, 1, 0])];
        for (bytes, until, told) in cases {
            let (mut survey, mut words) = (Survey::default(), Words::new());
            survey::with(kernel, bytes, until, &mut survey);
            tell(&survey, &mut words);
            answers.expect_all(&told, &words);
        }
    },
    make,
    run: |kernel, input, words| {
        let (bytes, count) = (&input.scratch[..input.used], count(input));
        let mut survey = Survey::default();
        for until in [count / 2, count] {
            survey::with(kernel, bytes, until, &mut survey);
            tell(&survey, words);
        }
    },
};
