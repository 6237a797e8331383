//! Places that fit a pattern: every kernel against a look at each place.

mod support;

use batchwise_kernels::prefetch;
use batchwise_kernels::search::{Pattern, find};
use support::Rng;

/// Patterns, and what has to hold, said once more: limits, the distance of four bytes, and how many bytes that are.
type Told = ([(u8, u8); 3], u8, usize);
const PATTERNS: &[Told] = &[
    ([(16, 2), (0, 0x7F), (8, 0x7F)], 8, 17),
    ([(0, 0), (0, 0xFF), (0, 0xFF)], 0, 4),
    ([(3, 1), (200, 0x80), (7, 0xFE)], 255, 259),
    ([(9, 255), (9, 255), (9, 255)], 60, 64),
];

fn one_by_one(bytes: &[u8], &(limits, some, span): &Told) -> Option<usize> {
    bytes.windows(span).position(|w| {
        let some = usize::from(some);
        limits.iter().all(|&(at, most)| w[usize::from(at)] <= most) && w[some..some + 4].iter().any(|&b| b != 0)
    })
}

/// Every kernel, in an allocation of exactly the size of `bytes`.
fn compare(bytes: &[u8], told: &Told) {
    let bytes = support::exact(bytes);
    let pattern = Pattern::new(told.0, told.1);
    assert_eq!(pattern.span(), told.2);
    let expected = one_by_one(&bytes, told);
    for kernel in find::available() {
        let found = find::with(kernel, &bytes, &pattern);
        assert_eq!(found, expected, "{} over {} bytes for {told:?}", kernel.name(), bytes.len());
    }
    assert_eq!(expected.is_some_and(|at| pattern.matches(&bytes[at..])), expected.is_some());
}

/// Bytes of which some are zero and some small, in shares that change.
fn bytes(len: usize, rng: &mut Rng) -> Vec<u8> {
    let (zeros, small) = (rng.below(8), rng.below(8));
    let byte = |rng: &mut Rng| match rng.below(16) {
        n if n < zeros => 0,
        n if n < zeros + small => rng.below(4) as u8,
        _ => rng.next() as u8,
    };
    (0..len).map(|_| byte(rng)).collect()
}

#[test]
fn all_lengths() {
    support::report("search::find", find::TABLE.all());
    let mut rng = Rng(31);
    for len in (0..700).chain([1023, 1024, 1025, 5000]) {
        for told in PATTERNS {
            compare(&bytes(len, &mut rng), told);
        }
    }
}

#[test]
fn one_place_anywhere() {
    for told in PATTERNS {
        let &(limits, some, span) = told;
        for len in (span..span + 200).chain([span + 1000]) {
            // Nothing fits but what is put in.
            for at in (0..=len - span).rev().step_by(if len > span + 200 { 37 } else { 1 }) {
                let mut bytes = vec![0xFF; len];
                limits.iter().for_each(|&(d, most)| bytes[at + usize::from(d)] = most.min(1));
                bytes[at + usize::from(some) + 3] = bytes[at + usize::from(some) + 3].max(1);
                compare(&bytes, told);
            }
        }
    }
}

#[test]
fn zeros_fit_nothing() {
    for told in PATTERNS {
        for len in [0, 3, 64, 300, 1000] {
            compare(&vec![0; len], told);
            compare(&vec![0xFF; len], told);
        }
    }
}

#[cfg(unix)]
#[test]
fn searches_stay_inside() {
    let mut guarded = support::guard::Guarded::new(2);
    let data = support::bytes(guarded.len(), 74);
    for pattern in [Pattern::new([(16, 0), (0, 0), (8, 0)], 8), Pattern::new([(0, 0), (70, 0), (1, 1)], 67)] {
        for len in (0..700).chain([1023, 1024, 1025, 4095, 4096]) {
            let want = data[..len].windows(pattern.span()).position(|w| pattern.matches(w));
            for kernel in find::available() {
                guarded.at_both_ends(&data[..len], |slice| {
                    prefetch(slice);
                    assert_eq!(find::with(kernel, slice, &pattern), want, "{} len {len}", kernel.name());
                });
            }
        }
    }
}
