//! One input on several threads, with the results of one.
//!
//! The input is cut at frames into parts of about as many bytes, each is walked through on its own, and a last walk takes
//! over what the parts found as long as it stands where they began. Where it does not, because of damage, it goes itself.

use alloc::vec::Vec;
use core::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use super::input::Memory;
use super::search::{Behind, search};
use super::{Collector, Item, Report, Threads, Validator, Walk};
use crate::formats::Scratch;

/// Below this many bytes a hand-over to another thread may cost more than it gains: one thread takes some 0.3 ms for as
/// many, and a thread that sleeps, or that waits for a core, is woken in 10 to 100 µs.
pub(super) const PAYS_FROM: usize = 3 << 20;
/// Bytes of the first frame above which it is quicker to hop than to search: for 1 MiB a search took 0.6 to 2 ms.
const HOP_FROM: u64 = 64 << 10;
/// The next part is what is left, shared out over each thread as often as this: parts get smaller towards the end, where
/// one thread may wait for another. With 8 equal parts for two threads that took 5 to 10 % of the time.
const ROUNDS: usize = 2;

/// Whether `bytes` of input are worth more than one thread.
pub(super) fn pays(validator: &Validator<'_>, bytes: usize) -> bool {
    bytes >= validator.parallel_from && threads(validator) > 1
}

/// Bytes that the next part should have if so many are left.
fn part_len(validator: &Validator<'_>, left: usize) -> usize {
    (left / (threads(validator) * ROUNDS)).max(validator.parallel_from / 16).max(1)
}

fn threads(validator: &Validator<'_>) -> usize {
    match validator.threads {
        Threads::Caller(_) => 1,
        Threads::Current => rayon::current_num_threads(),
        Threads::Pool(pool) => pool.current_num_threads(),
    }
}

/// Hands out `parts` one after the other, to the caller's thread and to others.
///
/// The caller's takes part because it is awake; one that sleeps starts tens of microseconds later.
fn share_out<T: Send>(validator: &Validator<'_>, parts: &mut [T], work: impl Fn(&mut T, &mut Scratch) + Sync) {
    let others = threads(validator).min(parts.len()).saturating_sub(1);
    let queue = Mutex::new(parts.iter_mut());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut scratch = Scratch::default();
        while let Some(part) = next() {
            work(part, &mut scratch);
        }
    };
    match validator.threads {
        Threads::Pool(pool) => pool.in_place_scope(|scope| everywhere(scope, others, &run)),
        _ => rayon::in_place_scope(|scope| everywhere(scope, others, &run)),
    }
}

/// Runs `run` here and on `others` more threads.
fn everywhere<'s>(scope: &rayon::Scope<'s>, others: usize, run: &'s (impl Fn() + Sync)) {
    for _ in 0..others {
        scope.spawn(move |_| run());
    }
    run();
}

/// A part of a buffer, and what was found in it.
struct Part<'p> {
    /// Where to look for its first frame, if that is not known.
    from: Option<usize>,
    end: usize,
    walk: Walk<'p>,
    report: Report,
}

pub(super) fn validate(validator: &Validator<'_>, input: &[u8], report: &mut Report) {
    // Where the format is known each part finds its first frame itself: to hop through all frames is a share of the work.
    // But the longer they are, the longer is the search for one, and the smaller that share.
    let frame = validator.format.and_then(|format| format.frame_len(input.get(..format.prefix_len())?, 0).ok());
    let hop = frame.is_none_or(|len| len > HOP_FROM);
    let mut parts = if hop { cut(validator, input) } else { slice(validator, input) };
    let (max, list) = (validator.max_findings, validator.list_batches);
    share_out(validator, &mut parts, |part: &mut Part<'_>, scratch| {
        let (mut memory, end) = (Memory(input), part.end as u64);
        if let Some(from) = part.from {
            let begun = part.walk.begin_within(&mut memory, from as u64, end);
            let Ok(true) = begun as Result<bool, Infallible> else { return };
        }
        let mut sink = Collector { report: &mut part.report, max, list };
        part.walk.swap_scratch(scratch);
        let Ok(()) = part.walk.advance(&mut memory, end, &mut sink) as Result<(), Infallible>;
        part.walk.swap_scratch(scratch);
    });
    let mut parts = parts.into_iter();
    let Some(mut first) = parts.next() else { return };
    report.append(&mut first.report, 0, max);
    let mut walk = first.walk;
    for mut part in parts {
        if !walk.absorb(&part.walk, &mut part.report, report) {
            let mut sink = Collector { report, max, list };
            let walked = walk.advance(&mut Memory(input), part.end as u64, &mut sink);
            let Ok(()) = walked as Result<(), Infallible>;
        }
    }
    walk.end(&mut Collector { report, max, list });
    report.totals = walk.totals();
}

/// Slices `input` anywhere.
fn slice<'p>(validator: &Validator<'p>, input: &[u8]) -> Vec<Part<'p>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    loop {
        let left = input.len() - start;
        let end = start + part_len(validator, left).min(left);
        let (from, walk) = ((start > 0).then_some(start), Walk::new(*validator));
        parts.push(Part { from, end, walk, report: Report::default() });
        start = end;
        if start == input.len() {
            return parts;
        }
    }
}

/// Cuts `input` at frames, as far as they can be told from their lengths.
fn cut<'p>(validator: &Validator<'p>, input: &[u8]) -> Vec<Part<'p>> {
    let mut format = validator.first_format(input);
    let new_part = |walk| Part { from: None, end: input.len(), walk, report: Report::default() };
    let mut parts = Vec::new();
    parts.push(new_part(Walk::new(*validator)));
    let (mut at, mut start, mut target) = (0, 0, part_len(validator, input.len()));
    while at < input.len() {
        let rest = &input[at..];
        format = validator.format_at(rest, format);
        if at - start >= target {
            (start, target) = (at, part_len(validator, input.len() - at));
            let mut walk = Walk::new(*validator);
            walk.restart(at as u64, format);
            if let Some(before) = parts.last_mut() {
                before.end = at;
            }
            parts.push(new_part(walk));
        }
        let len = if rest.len() < format.prefix_len() { None } else { format.frame_len(rest, at as u64).ok() };
        match len.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= rest.len()) {
            Some(len) => at += len,
            None => {
                let mut memory = Memory(input);
                let (from, to) = (at as u64 + 1, input.len() as u64);
                let found = search(format, validator.formats(), &mut memory, from, to, Behind::Whatever, &|_, _| true);
                let Ok(found) = found as Result<_, Infallible>;
                let Some((next, of)) = found else { break };
                (at, format) = (next as usize, of);
            }
        }
    }
    parts
}

pub(super) fn validate_list(validator: &Validator<'_>, items: &[Item<'_>], report: &mut Report) {
    let mut left: usize = items.iter().map(|i| i.bytes.len()).sum();
    let mut parts = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, item) in items.iter().enumerate() {
        sum += item.bytes.len();
        if sum >= part_len(validator, left) || i + 1 == items.len() {
            parts.push((start..i + 1, Report::default()));
            left -= sum;
            (start, sum) = (i + 1, 0);
        }
    }
    share_out(validator, &mut parts, |(range, found), scratch| {
        validator.list_into(&items[range.clone()], range.start as u64, scratch, found);
    });
    for (_, mut found) in parts {
        report.totals += found.totals;
        report.append(&mut found, 0, validator.max_findings);
        if validator.stop_at_first && report.totals.errors > 0 {
            break;
        }
    }
}
