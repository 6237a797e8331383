//! Whether the kernels compute on this machine what they should: known answers, and each kernel against the portable one.
//!
//! For machines that lie: some cores compute wrongly now and then, or one instruction wrongly always, and say nothing.
//! [`check`] is cheap enough for the start of a program; [`cross_check`], repeated on every core, is a soak.
//!
//! Every operation of [`OPERATIONS`](crate::OPERATIONS) is covered: it is declared together with its cases.
//!
//! ```
//! use batchwise_kernels::selftest;
//! match selftest::check_and_cap() {
//!     Ok(standing) => assert_eq!(standing.failure, None, "falls back to {}", standing.cap),
//!     Err(failure) => panic!("{failure}; nothing on this machine can be relied on"),
//! }
//! ```

mod crc32c;
mod search;
mod varint;
mod walk;
mod xxh3;

pub(crate) use crc32c::{ADVANCE, COPY, MANY, PATCH, UPDATE};
pub(crate) use search::FIND;
pub(crate) use varint::{RUN_U32, RUN_U64};
pub(crate) use walk::{SURVEY, WALK, WALK_MANY};
pub(crate) use xxh3::{CONSUME, MANY as HASH_MANY, MANY_RANGES, ONESHOT};

use crate::dispatch::{self, Kernel, Level, Operation, Table};
use core::fmt;

/// Bytes that [`cross_check`] needs to work in, at least.
pub const MIN_SPACE: usize = 4096;
/// Bytes behind the longest input, so that it can begin at any alignment.
const SLACK: usize = 64;
/// Rounds of [`check`], whose lengths grow by a sixth.
const ROUNDS: u64 = 32;

/// A kernel that computed something else than it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Name of the operation.
    pub operation: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// The lowest [`Level`] under which that kernel may run.
    pub level: Level,
    /// Which input it was.
    pub case: Case,
    /// Which of the numbers that the operation gives is the first wrong one.
    pub index: usize,
    /// What it should be: the known answer, or that of the portable kernel.
    pub expected: u64,
    /// What the kernel gave.
    pub found: u64,
    /// Whether the kernel failed a second time on the same input. If not, the error comes and goes.
    pub steady: bool,
}

/// Which input a [`Failure`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One with a known answer, by its number among those of the operation.
    Known(u64),
    /// One made by [`cross_check`] from this seed.
    Generated {
        /// The seed.
        seed: u64,
        /// Bytes of the space it was made in, on which it depends as well.
        space: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { operation, kernel, index, expected, found, .. } = self;
        write!(f, "{operation} by kernel {kernel} gave {found:#x} instead of {expected:#x}")?;
        match self.case {
            Case::Known(number) => write!(f, " for known answer {number}")?,
            Case::Generated { seed, space } => write!(f, " for seed {seed:#x} in {space} bytes")?,
        }
        write!(f, " (number {index} of its output; {})", if self.steady { "again and again" } else { "not every time" })
    }
}

impl core::error::Error for Failure {}

/// What came out of the cases of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the operation.
    pub operation: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// The lowest [`Level`] under which that kernel may run.
    pub level: Level,
    /// Whether this CPU can run it.
    pub available: bool,
    /// Cases it went through; 0 if this CPU cannot run it.
    pub cases: u64,
    /// How many of them went wrong.
    pub failures: u64,
    /// The first of those.
    pub failure: Option<Failure>,
}

/// Puts every kernel to inputs whose answers are known from specifications and other implementations, and tells what came
/// out of each.
pub fn known_answers(tell: &mut dyn FnMut(Outcome)) {
    for check in crate::CHECKS {
        check.known(tell);
    }
}

/// Puts every kernel and the portable one to inputs made from `seed`, one for each operation, and tells what came out of
/// each kernel.
///
/// Inputs differ in length, alignment and content; the longest takes half of `space`, where they are made. The same seed
/// and length of `space` make the same inputs.
///
/// # Panics
/// If `space` has less than [`MIN_SPACE`] bytes.
pub fn cross_check(seed: u64, space: &mut [u8], tell: &mut dyn FnMut(Outcome)) {
    assert!(space.len() >= MIN_SPACE, "the self-test needs {MIN_SPACE} bytes");
    let longest = space.len() / 2 - SLACK;
    let mut rng = Rng(seed);
    // Short inputs are the most in use and have the most cases, so each doubling gets the same share.
    let most = longest.min(256 << rng.below((longest / 256).ilog2() as usize + 2));
    round(seed, rng.below(most + 1), space, tell);
}

fn round(seed: u64, len: usize, space: &mut [u8], tell: &mut dyn FnMut(Outcome)) {
    let total = space.len();
    let (data, scratch) = space.split_at_mut(total / 2);
    let data = &mut data[..len + SLACK];
    Rng(seed ^ 1).fill(data);
    let mut input = Input { seed, space: total, data, scratch, used: 0 };
    let mut words = [const { Words::new() }; 2];
    for check in crate::CHECKS {
        check.generated(&mut input, &mut words, tell);
    }
}

/// Puts every kernel that this CPU can run to known answers and to some thirty inputs of up to 2 KiB.
///
/// Takes about 1300 µs of one core (Zen 4 with AVX-512, 49 kernels; fewer kernels take less) and 32 KiB of stack, and keeps
/// no state: a broker can afford it at its start, and now and then later on.
///
/// ```
/// assert_eq!(batchwise_kernels::selftest::check(), Ok(()));
/// ```
///
/// # Errors
/// The failure of the lowest [`Level`].
pub fn check() -> Result<(), Failure> {
    let mut lowest: Option<Failure> = None;
    let mut tell = |outcome: Outcome| {
        if let Some(failure) = outcome.failure
            && lowest.is_none_or(|f| failure.level < f.level)
        {
            lowest = Some(failure);
        }
    };
    known_answers(&mut tell);
    let mut space = [0; MIN_SPACE];
    let mut len = 0;
    for seed in 0..ROUNDS {
        round(seed, len.min(MIN_SPACE / 2 - SLACK), &mut space, &mut tell);
        len += len / 6 + 4;
    }
    lowest.map_or(Ok(()), Err)
}

/// What [`check_and_cap`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The highest level in use from now on.
    pub cap: Level,
    /// Why it is not the one from before.
    pub failure: Option<Failure>,
}

/// Runs [`check`], and if a kernel fails, [caps](dispatch::set_cap) the choice of kernels below its level.
///
/// A cap that is already lower stays. One core may be sound where another is not: what is checked is the one that the
/// calling thread runs on.
///
/// # Errors
/// If a portable kernel fails, below which there is nothing; the cap is then [`Level::PORTABLE`].
pub fn check_and_cap() -> Result<Standing, Failure> {
    act(check())
}

fn act(checked: Result<(), Failure>) -> Result<Standing, Failure> {
    let Err(failure) = checked else { return Ok(Standing { cap: dispatch::cap(), failure: None }) };
    let below = Level::all().rfind(|level| *level < failure.level);
    let cap = below.unwrap_or(Level::PORTABLE).min(dispatch::cap());
    dispatch::set_cap(cap);
    if below.is_none() { Err(failure) } else { Ok(Standing { cap, failure: Some(failure) }) }
}

/// The cases of one operation; `F` is the type of its kernels.
pub(crate) struct Cases<F: 'static> {
    /// Compares a kernel with known answers.
    known: fn(&Kernel<F>, &mut Answers),
    /// Makes an input that needs more than random bytes.
    make: fn(&mut Input<'_>),
    /// Lets a kernel work on the input and writes down all that it gives.
    run: fn(&Kernel<F>, &mut Input<'_>, &mut Words),
}

/// An operation and its cases.
pub(crate) struct Checked<F: 'static> {
    pub(crate) table: &'static Table<F>,
    pub(crate) cases: Cases<F>,
}

/// [`Checked`] without its function type.
pub(crate) trait Check: Sync {
    fn known(&self, tell: &mut dyn FnMut(Outcome));
    fn generated(&self, input: &mut Input<'_>, words: &mut [Words; 2], tell: &mut dyn FnMut(Outcome));
}

impl<F: Copy + Sync> Check for Checked<F> {
    fn known(&self, tell: &mut dyn FnMut(Outcome)) {
        known(self.table.name(), self.table.all(), &self.cases, tell);
    }

    fn generated(&self, input: &mut Input<'_>, words: &mut [Words; 2], tell: &mut dyn FnMut(Outcome)) {
        generated(self.table.name(), self.table.all(), &self.cases, input, words, tell);
    }
}

fn known<F>(operation: &'static str, kernels: &[Kernel<F>], cases: &Cases<F>, tell: &mut dyn FnMut(Outcome)) {
    for kernel in kernels {
        let (name, level, available) = (kernel.name(), kernel.level(), kernel.is_available());
        let mut answers = Answers::default();
        if available {
            (cases.known)(kernel, &mut answers);
        }
        let failure = answers.first.map(|(number, expected, found)| {
            let mut again = Answers::default();
            (cases.known)(kernel, &mut again);
            let (case, steady) = (Case::Known(number), again.first.is_some_and(|(n, ..)| n == number));
            Failure { operation, kernel: name, level, case, index: 0, expected, found, steady }
        });
        let Answers { count: cases, wrong: failures, .. } = answers;
        tell(Outcome { operation, kernel: name, level, available, cases, failures, failure });
    }
}

/// Each of `kernels` against the last of them.
fn generated<F>(
    operation: &'static str,
    kernels: &[Kernel<F>],
    cases: &Cases<F>,
    input: &mut Input<'_>,
    words: &mut [Words; 2],
    tell: &mut dyn FnMut(Outcome),
) {
    (cases.make)(input);
    let run = |kernel: &Kernel<F>, input: &mut Input<'_>, words: &mut Words| {
        words.len = 0;
        (cases.run)(kernel, input, words);
    };
    let portable = &kernels[kernels.len() - 1];
    let [wanted, got] = words;
    run(portable, input, wanted);
    for kernel in kernels {
        let (name, level, available) = (kernel.name(), kernel.level(), kernel.is_available());
        let mut difference = None;
        if available {
            run(kernel, input, got);
            difference = wanted.first_difference(got);
        }
        let failure = difference.map(|(index, expected, found)| {
            run(portable, input, wanted);
            run(kernel, input, got);
            let steady = wanted.first_difference(got).is_some();
            let case = Case::Generated { seed: input.seed, space: input.space };
            Failure { operation, kernel: name, level, case, index, expected, found, steady }
        });
        let (cases, failures) = (available.into(), failure.is_some().into());
        tell(Outcome { operation, kernel: name, level, available, cases, failures, failure });
    }
}

/// Counts known answers, and keeps the first wrong one: its number, what it should be, what it was.
#[derive(Default)]
struct Answers {
    count: u64,
    wrong: u64,
    first: Option<(u64, u64, u64)>,
}

impl Answers {
    fn expect(&mut self, expected: impl Into<u64>, found: impl Into<u64>) {
        let (expected, found) = (expected.into(), found.into());
        if expected != found {
            self.wrong += 1;
            self.first.get_or_insert((self.count, expected, found));
        }
        self.count += 1;
    }

    fn expect_all(&mut self, expected: &[u64], found: &Words) {
        self.expect(expected.len() as u64, found.len as u64);
        for (expected, found) in expected.iter().zip(found.all()) {
            self.expect(*expected, *found);
        }
    }
}

/// What a generated case has to work with.
pub(crate) struct Input<'a> {
    seed: u64,
    space: usize,
    /// Random bytes: the length of the case, and [`SLACK`].
    data: &'a [u8],
    /// At least as many bytes, for what is made of them.
    scratch: &'a mut [u8],
    /// How many bytes of the scratch space `make` has filled.
    used: usize,
}

impl Input<'_> {
    /// The same numbers whenever the case runs.
    fn rng(&self) -> Rng {
        Rng(self.seed ^ 2)
    }

    fn len(&self) -> usize {
        self.data.len() - SLACK
    }

    /// The random bytes from a random alignment on.
    fn bytes(&self, rng: &mut Rng) -> &[u8] {
        let from = rng.below(SLACK);
        &self.data[from..from + self.len()]
    }

    /// A part of the random bytes.
    fn part(&self, most: usize, rng: &mut Rng) -> &[u8] {
        let len = rng.below(most.min(self.len()) + 1);
        let from = rng.below(self.data.len() - len + 1);
        &self.data[from..from + len]
    }
}

fn nothing(_: &mut Input<'_>) {}

const WORDS: usize = 512;

/// All that an operation gives, as numbers.
pub(crate) struct Words {
    words: [u64; WORDS],
    len: usize,
}

impl Words {
    const fn new() -> Self {
        Words { words: [0; WORDS], len: 0 }
    }

    fn push(&mut self, word: impl Into<u64>) {
        // No case gives more; if one did, the count would still be compared.
        if let Some(place) = self.words.get_mut(self.len) {
            *place = word.into();
        }
        self.len += 1;
    }

    fn all(&self) -> &[u64] {
        &self.words[..self.len.min(WORDS)]
    }

    fn first_difference(&self, other: &Words) -> Option<(usize, u64, u64)> {
        if self.all() == other.all() && self.len == other.len {
            return None;
        }
        let pairs = self.all().iter().zip(other.all());
        let differ = pairs.enumerate().find_map(|(i, (a, b))| (a != b).then_some((i, *a, *b)));
        differ.or((self.len != other.len).then_some((WORDS, self.len as u64, other.len as u64)))
    }
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Of any magnitude.
    fn number(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// The bytes that known answers are for: byte i is bits 11 to 18 of i * 0x9E3779B1.
const PATTERN: [u8; 4096] = {
    let mut bytes = [0; 4096];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = ((i as u64 * 0x9E37_79B1) >> 11) as u8;
        i += 1;
    }
    bytes
};

#[cfg(test)]
mod tests;
