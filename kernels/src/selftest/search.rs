//! Cases of the search for places that fit a pattern.

use super::{Cases, nothing};
use crate::search::{Pattern, find};

/// A length that is neither negative nor zero, and behind it a version of at most 2.
const SMALL: Pattern = Pattern::new([(4, 2), (0, 0x7F), (0, 0x7F)], 0);
/// One byte that is often small enough, and one that rarely is.
const MADE: Pattern = Pattern::new([(16, 2), (0, 0x7F), (8, 0x7F)], 8);

/// What is found, as a number.
fn code(found: Option<usize>) -> u64 {
    found.map_or(u64::MAX, |at| at as u64)
}

pub(crate) const FIND: Cases<find::Function> = Cases {
    known: |kernel, answers| {
        answers.expect(u64::MAX, code(find::with(kernel, b"", &SMALL)));
        answers.expect(u64::MAX, code(find::with(kernel, &[0; 200], &SMALL)));
        answers.expect(u64::MAX, code(find::with(kernel, &[0xFF; 200], &SMALL)));
        for at in 0..=195 {
            // All places fit but for their version, save one.
            let mut bytes = [7; 200];
            bytes[at + 4] = 2;
            answers.expect(at as u64, code(find::with(kernel, &bytes, &SMALL)));
            // Its length is negative.
            bytes[at] = 0x80;
            answers.expect(u64::MAX, code(find::with(kernel, &bytes, &SMALL)));
        }
    },
    make: nothing,
    run: |kernel, input, words| {
        let mut rng = input.rng();
        let bytes = input.bytes(&mut rng);
        let mut at = 0;
        // All places, one behind the other.
        for _ in 0..16 {
            let found = find::with(kernel, &bytes[at..], &MADE);
            words.push(code(found));
            let Some(found) = found else { break };
            at += found + 1;
        }
    },
};
