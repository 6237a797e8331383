//! Cases of runs of varints.

use super::{Answers, Cases, Input, Words};
use crate::varint::{self, Error, MAX_LEN_32, MAX_LEN_64, decode_run_u32, decode_run_u64};

/// Values of a run, at most.
const VALUES: usize = 256;

/// A run, the values in it, and the bytes they take or why they cannot be read.
type Known = (&'static [u8], &'static [u64], Result<usize, Error>);

/// 300 and 150 are the examples of the encoding's documentation; the rest are the ends of each length.
static KNOWN: [Known; 9] = [
    (&[], &[], Ok(0)),
    (&[0xAC, 0x02, 0x96, 0x01, 0x00], &[300, 150, 0], Ok(5)),
    (&[0x7F, 0x80, 0x01, 0xFF, 0x7F, 0x80, 0x80, 0x01], &[127, 128, 16_383, 16_384], Ok(8)),
    (&[0xFF, 0xFF, 0x7F, 0x80, 0x80, 0x80, 0x01, 0xFF, 0xFF, 0xFF, 0x7F], &[0x1F_FFFF, 0x20_0000, 0xFFF_FFFF], Ok(11)),
    (&[0x80, 0x80, 0x80, 0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], &[0x1000_0000, 0xFFFF_FFFF], Ok(10)),
    // Longer than needed.
    (&[0x85, 0x00, 0x80, 0x80, 0x00], &[5, 0], Ok(5)),
    (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x80], &[0; 17], Err(Error::Truncated)),
    (&[0x80], &[0], Err(Error::Truncated)),
    (&[0xFF; 11], &[0], Err(Error::TooLong)),
];

/// What only 64 bits hold.
static KNOWN_64: [Known; 3] = [
    (&[0xFF, 0xFF, 0xFF, 0xFF, 0x7F], &[0x7_FFFF_FFFF], Ok(5)),
    (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], &[u64::MAX], Ok(10)),
    (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x01], &[1 << 63, 1], Ok(11)),
];

/// Compares a reader of runs with known answers; it gets a run and the number of its values.
fn known(
    tables: &[&'static [Known]],
    answers: &mut Answers,
    read: impl Fn(&[u8], usize, &mut Words) -> Result<usize, Error>,
) {
    for (bytes, values, result) in tables.iter().copied().flatten() {
        let mut words = Words::new();
        let found = read(bytes, values.len(), &mut words);
        answers.expect(code(*result), code(found));
        if result.is_ok() {
            answers.expect_all(values, &words);
        }
    }
}

/// A result as a number.
pub(super) fn code(result: Result<usize, Error>) -> u64 {
    match result {
        Ok(n) => n as u64,
        Err(error) => u64::MAX - error as u64,
    }
}

/// Writes a run of varints of some lengths, now and then with a fault in it.
fn make<const MAX: usize>(input: &mut Input<'_>) {
    let mut rng = input.rng();
    // Mostly short ones, mostly long ones, or all lengths alike.
    let (style, count) = (rng.below(4), rng.below(VALUES + 1));
    let most = count.min(input.scratch.len() / MAX - 1);
    let mut at = 0;
    for _ in 0..most {
        let bits = match style {
            0 => 7,
            1 => 14,
            2 => 7 * MAX,
            _ => 64,
        };
        let value = rng.next() >> (64 - rng.below(bits.min(64) + 1)).min(63);
        let mut one = [0; MAX_LEN_64];
        let value = if MAX == MAX_LEN_32 { value & 0xFFFF_FFFF } else { value };
        let len = varint::encode_u64(value, &mut one);
        input.scratch[at..at + len].copy_from_slice(&one[..len]);
        at += len;
    }
    if at > 0 && rng.below(4) == 0 {
        // One byte, which joins two, or so many that it gets too long.
        let (from, bytes) = (rng.below(at), [1, MAX][rng.below(2)]);
        input.scratch[from..at.min(from + bytes)].iter_mut().for_each(|b| *b |= 0x80);
    }
    if at > 0 && rng.below(8) == 0 {
        at -= 1;
    }
    input.used = at;
}

/// The run, and how many values to read of it: mostly as many as it has.
fn run<'a>(input: &'a Input<'_>) -> (&'a [u8], usize) {
    let bytes = &input.scratch[..input.used];
    let ends = bytes.iter().filter(|b| **b < 0x80).count();
    let mut rng = input.rng();
    let count = if rng.below(3) == 0 { rng.below(VALUES + 1) } else { ends };
    (bytes, count.min(VALUES))
}

pub(crate) const RUN_U32: Cases<decode_run_u32::Function> = Cases {
    known: |kernel, answers| {
        known(&[&KNOWN], answers, |bytes, count, words| {
            let mut values = [0; 32];
            let result = decode_run_u32::with(kernel, bytes, &mut values[..count]);
            values[..count].iter().for_each(|v| words.push(*v));
            result
        });
    },
    make: make::<MAX_LEN_32>,
    run: |kernel, input, words| {
        let (bytes, count) = run(input);
        let mut values = [0; VALUES];
        let result = decode_run_u32::with(kernel, bytes, &mut values[..count]);
        words.push(code(result));
        if result.is_ok() {
            values[..count].iter().for_each(|v| words.push(*v));
        }
    },
};

pub(crate) const RUN_U64: Cases<decode_run_u64::Function> = Cases {
    known: |kernel, answers| {
        known(&[&KNOWN, &KNOWN_64], answers, |bytes, count, words| {
            let mut values = [0; 32];
            let result = decode_run_u64::with(kernel, bytes, &mut values[..count]);
            values[..count].iter().for_each(|v| words.push(*v));
            result
        });
    },
    make: make::<MAX_LEN_64>,
    run: |kernel, input, words| {
        let (bytes, count) = run(input);
        let mut values = [0; VALUES];
        let result = decode_run_u64::with(kernel, bytes, &mut values[..count]);
        words.push(code(result));
        if result.is_ok() {
            values[..count].iter().for_each(|v| words.push(*v));
        }
    },
};
