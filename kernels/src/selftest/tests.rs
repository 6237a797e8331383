//! That the self-test finds what is wrong: kernels with faults put in on purpose.

extern crate std;

use super::*;
use crate::varint::records::{Columns, Error, Walked, walk};
use crate::{crc32c, varint, xxh3};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{vec, vec::Vec};

/// Outcomes of the known answers and of many generated cases for one kernel beside the portable one.
fn outcomes<F: Copy>(cases: &Cases<F>, kernel: F, portable: &Kernel<F>) -> Vec<Failure> {
    let kernels = [
        // SAFETY: the callers pass safe functions, or the portable kernel's.
        unsafe { Kernel::new("broken", &[], || true, || true, kernel) },
        // SAFETY: the portable kernel runs on any CPU.
        unsafe { Kernel::new("portable", &[], || true, || true, portable.run) },
    ];
    let mut failures = Vec::new();
    let mut tell = |outcome: Outcome| {
        assert!(outcome.cases > 0);
        assert_eq!(outcome.failures > 0, outcome.failure.is_some());
        failures.extend(outcome.failure);
    };
    known("test", &kernels, cases, &mut tell);
    let mut space = [0; MIN_SPACE];
    for seed in 0..300 {
        let (data, scratch) = space.split_at_mut(MIN_SPACE / 2);
        let len = Rng(seed).below(data.len() - SLACK);
        let data = &mut data[..len + SLACK];
        Rng(seed).fill(data);
        let mut input = Input { seed, space: MIN_SPACE, data, scratch, used: 0 };
        let mut words = [const { Words::new() }; 2];
        generated("test", &kernels, cases, &mut input, &mut words, &mut tell);
    }
    assert!(failures.iter().all(|f| f.kernel == "broken" && f.operation == "test" && f.expected != f.found));
    failures
}

fn is_known(failure: &Failure) -> bool {
    matches!(failure.case, Case::Known(_))
}

fn last<F: Copy>(table: &'static Table<F>) -> &'static Kernel<F> {
    table.all().last().expect("a portable kernel")
}

#[test]
fn a_wrong_checksum_is_found() {
    fn long(crc: u32, data: &[u8]) -> u32 {
        crc32c::update::with(last(&crc32c::update::TABLE), crc, data) ^ u32::from(data.len() > 1000)
    }
    let failures = outcomes(&UPDATE, long, last(&crc32c::update::TABLE));
    // The first of the pattern's lengths over 1000: 7 published values and 10 of the pattern go before.
    let Failure { case, expected, found, steady, .. } = failures[0];
    assert_eq!((case, expected, found, steady), (Case::Known(17), 0xD6AD_6AF8, 0xD6AD_6AF9, true));
    assert!(failures.len() > 80 && failures.len() < 250, "{}", failures.len());
    assert!(std::format!("{}", failures[0]).starts_with("test by kernel broken gave 0xd6ad6af9 instead of 0xd6ad6af8"));
    let sound = outcomes(&UPDATE, last(&crc32c::update::TABLE).run, last(&crc32c::update::TABLE));
    assert_eq!(sound, []);
}

#[test]
fn an_error_that_comes_and_goes_is_told_as_such() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    fn sometimes(data: &[u8], seed: u64) -> u64 {
        let wrong = CALLS.fetch_add(1, Ordering::Relaxed) % 101 == 100;
        xxh3::oneshot::with(last(&xxh3::oneshot::TABLE), data, seed) ^ u64::from(wrong) << 40
    }
    let failures = outcomes(&ONESHOT, sometimes, last(&xxh3::oneshot::TABLE));
    assert!(failures.len() > 3 && failures.iter().all(|f| !f.steady), "{failures:?}");
    assert!(failures.iter().all(|f| f.expected ^ f.found == 1 << 40));
}

#[test]
fn a_copy_that_spills_or_misses_is_found() {
    fn spills(dst: &mut [u8], src: &[u8]) -> u32 {
        let crc = crc32c::copy::with(last(&crc32c::copy::TABLE), dst, src);
        if let [.., byte] = dst {
            *byte ^= u8::from(src.len() > 300);
        }
        crc
    }
    let failures = outcomes(&COPY, spills, last(&crc32c::copy::TABLE));
    assert!(is_known(&failures[0]));
    assert!(failures.iter().skip(1).all(|f| f.index == 1 && f.expected == u64::MAX && f.found > 299), "{failures:?}");
}

#[test]
fn a_frame_among_many_is_found() {
    fn many(frames: &[&[u8]], crcs: &mut [u32]) {
        crc32c::many::with(last(&crc32c::many::TABLE), frames, crcs);
        if let [_, _, _, _, _, _, _, crc, ..] = crcs {
            *crc ^= 4;
        }
    }
    let failures = outcomes(&MANY, many, last(&crc32c::many::TABLE));
    assert!(failures.len() > 200 && failures.iter().skip(1).all(|f| f.index == 7));
}

#[test]
fn a_wrong_patch_or_power_is_found() {
    fn patch(crc: u32, old: &[u8], new: &[u8], tail_len: u64) -> u32 {
        crc32c::patch::with(last(&crc32c::patch::TABLE), crc, old, new, tail_len & !(1 << 40))
    }
    assert!(outcomes(&PATCH, patch, last(&crc32c::patch::TABLE)).len() > 20);
    fn advance(residue: u32, len: u64) -> u32 {
        crc32c::advance::with(last(&crc32c::advance::TABLE), residue, len.min(1 << 32))
    }
    assert!(outcomes(&ADVANCE, advance, last(&crc32c::advance::TABLE)).len() > 100);
}

#[test]
fn wrong_stripes_are_found() {
    fn consume(acc: &mut [u64; 8], position: usize, stripes: &[[u8; 64]], secret: &[u8]) -> usize {
        let after = xxh3::consume::with(last(&xxh3::consume::TABLE), acc, position, stripes, secret);
        acc[6] ^= u64::from(after == 3);
        after
    }
    let failures = outcomes(&CONSUME, consume, last(&xxh3::consume::TABLE));
    assert!(!failures.is_empty() && failures.iter().all(|f| f.index == 7), "{failures:?}");
}

#[test]
fn a_wrong_varint_is_found() {
    fn run(bytes: &[u8], out: &mut [u64]) -> Result<usize, varint::Error> {
        let read = varint::decode_run_u64::with(last(&varint::decode_run_u64::TABLE), bytes, out)?;
        out.iter_mut().filter(|v| **v >> 63 == 1).for_each(|v| *v = 0);
        Ok(read)
    }
    let failures = outcomes(&RUN_U64, run, last(&varint::decode_run_u64::TABLE));
    assert!(is_known(&failures[0]) && failures.len() > 10, "{}", failures.len());
    fn error(bytes: &[u8], out: &mut [u32]) -> Result<usize, varint::Error> {
        varint::decode_run_u32::with(last(&varint::decode_run_u32::TABLE), bytes, out)
            .map_err(|_| varint::Error::Truncated)
    }
    let failures = outcomes(&RUN_U32, error, last(&varint::decode_run_u32::TABLE));
    assert!(is_known(&failures[0]) && failures.len() > 10, "{}", failures.len());
}

#[test]
fn a_wrong_walk_is_found() {
    fn headers(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
        let walked = walk::with(last(&walk::TABLE), bytes, columns);
        columns.headers_counts.iter_mut().filter(|n| **n == 3).for_each(|n| *n = 2);
        walked
    }
    let failures = outcomes(&WALK, headers, last(&walk::TABLE));
    assert!(failures.len() > 20, "{}", failures.len());
    fn errors(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
        walk::with(last(&walk::TABLE), bytes, columns).map_err(|e| Error { at: e.at + 1, ..e })
    }
    let failures = outcomes(&WALK, errors, last(&walk::TABLE));
    // A fair share of the inputs is sound, a fair share is not.
    assert!((60..240).contains(&failures.len()), "{}", failures.len());
}

/// Held by tests that set the cap, which is that of the process.
static SETTING_THE_CAP: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn a_failure_caps_below_its_level() {
    let _alone = SETTING_THE_CAP.lock();
    let failure = |level| Failure {
        operation: "test",
        kernel: "broken",
        level,
        case: Case::Known(0),
        index: 0,
        expected: 0,
        found: 1,
        steady: true,
    };
    let levels: Vec<_> = Level::all().collect();
    for pair in levels.windows(2) {
        dispatch::set_cap(Level::highest());
        let standing = act(Err(failure(pair[1])));
        assert_eq!(standing, Ok(Standing { cap: pair[0], failure: Some(failure(pair[1])) }));
        assert_eq!(dispatch::cap(), pair[0]);
    }
    dispatch::set_cap(Level::PORTABLE);
    let standing = act(Err(failure(Level::highest())));
    if levels.len() > 1 {
        assert_eq!(standing.map(|s| s.cap), Ok(Level::PORTABLE), "a lower cap stays");
    }
    dispatch::set_cap(Level::highest());
    assert_eq!(act(Err(failure(Level::PORTABLE))), Err(failure(Level::PORTABLE)));
    assert_eq!(dispatch::cap(), Level::PORTABLE);
    dispatch::set_cap(Level::highest());
    assert_eq!(act(Ok(())), Ok(Standing { cap: Level::highest(), failure: None }));
}

/// Two threads, played by one: the cap is set after a first call has read the cap and before it has chosen.
#[test]
fn a_cap_set_during_a_first_call_holds() {
    static MEANWHILE: AtomicBool = AtomicBool::new(false);
    static ROWS: &[Kernel<fn() -> &'static str>] = &[
        // SAFETY: a safe function.
        unsafe { Kernel::new("high", &["high"], || true, suits, || "high") },
        // SAFETY: a safe function.
        unsafe { Kernel::new("low", &[], || true, || true, || "low") },
    ];
    // SAFETY: `resolve` is of that type and does so, and the last row needs nothing.
    static TABLE: Table<fn() -> &'static str> =
        unsafe { Table::new("test::test", ROWS, resolve as fn() -> &'static str as *mut ()) };
    fn resolve() -> &'static str {
        TABLE.choose()()
    }
    fn suits() -> bool {
        if MEANWHILE.swap(false, Ordering::Relaxed) {
            dispatch::set_cap(Level::PORTABLE);
            Operation::reset(&TABLE);
        }
        true
    }
    let _alone = SETTING_THE_CAP.lock();
    dispatch::set_cap(Level::highest());
    assert_eq!(TABLE.current()(), "high");
    Operation::reset(&TABLE);
    MEANWHILE.store(true, Ordering::Relaxed);
    TABLE.current()();
    assert_eq!(dispatch::cap(), Level::PORTABLE);
    assert_eq!(TABLE.current()(), TABLE.best().name());
    dispatch::set_cap(Level::highest());
}

#[test]
fn every_input_fits_its_space() {
    let mut space = vec![0; 3 * MIN_SPACE + 1];
    for seed in 0..400 {
        cross_check(seed, &mut space, &mut |outcome| assert_eq!(outcome.failure, None));
    }
}
