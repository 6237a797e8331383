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

/// Below this many bytes a hand-over to another thread may cost more than it gains: one thread takes some 0.5 ms for as
/// many, and a thread that sleeps, or that waits for a core, is woken in 10 to 100 µs.
pub(super) const PAYS_FROM: usize = 4 << 20;
/// Bytes of the first frame above which it is quicker to hop than to search: for 1 MiB a search took 0.6 to 2 ms.
const HOP_FROM: u64 = 64 << 10;
/// Parts for each thread: more are shared out more evenly, and cost more.
const PARTS_PER_THREAD: usize = 4;

/// Whether `bytes` of input are worth more than one thread.
pub(super) fn pays(validator: &Validator<'_>, bytes: usize) -> bool {
    bytes >= validator.parallel_from && threads(validator) > 1
}

/// Bytes that a part should have.
fn part_len(validator: &Validator<'_>, bytes: usize) -> usize {
    (bytes / (threads(validator) * PARTS_PER_THREAD)).max(validator.parallel_from / 8).max(1)
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
fn share_out<T: Send>(validator: &Validator<'_>, parts: &mut [T], work: impl Fn(&mut T) + Sync) {
    let others = threads(validator).min(parts.len()).saturating_sub(1);
    let queue = Mutex::new(parts.iter_mut());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some(part) = next() {
            work(part);
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
    let target = part_len(validator, input.len());
    // Where the format is known each part finds its first frame itself: to hop through all frames is a share of the work.
    // But the longer they are, the longer is the search for one, and the smaller that share.
    let frame = validator.format.and_then(|format| format.frame_len(input.get(..format.prefix_len())?, 0).ok());
    let hop = frame.is_none_or(|len| len > HOP_FROM);
    let mut parts = if hop { cut(validator, input, target) } else { slice(validator, input, target) };
    let (max, list) = (validator.max_findings, validator.list_batches);
    share_out(validator, &mut parts, |part: &mut Part<'_>| {
        let (mut memory, end) = (Memory(input), part.end as u64);
        if let Some(from) = part.from {
            let begun = part.walk.begin_within(&mut memory, from as u64, end);
            let Ok(true) = begun as Result<bool, Infallible> else { return };
        }
        let mut sink = Collector { report: &mut part.report, max, list };
        let Ok(()) = part.walk.advance(&mut memory, end, &mut sink) as Result<(), Infallible>;
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
fn slice<'p>(validator: &Validator<'p>, input: &[u8], target: usize) -> Vec<Part<'p>> {
    let part = |start: usize| Part {
        from: (start > 0).then_some(start),
        end: start.saturating_add(target).min(input.len()),
        walk: Walk::new(*validator),
        report: Report::default(),
    };
    (0..input.len().max(1)).step_by(target).map(part).collect()
}

/// Cuts `input` at frames, as far as they can be told from their lengths.
fn cut<'p>(validator: &Validator<'p>, input: &[u8], target: usize) -> Vec<Part<'p>> {
    let mut format = validator.first_format(input);
    let new_part = |walk| Part { from: None, end: input.len(), walk, report: Report::default() };
    let mut parts = Vec::new();
    parts.push(new_part(Walk::new(*validator)));
    let (mut at, mut start) = (0, 0);
    while at < input.len() {
        let rest = &input[at..];
        format = validator.format_at(rest, format);
        if at - start >= target {
            start = at;
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
    let target = part_len(validator, items.iter().map(|i| i.bytes.len()).sum());
    let mut parts = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, item) in items.iter().enumerate() {
        sum += item.bytes.len();
        if sum >= target || i + 1 == items.len() {
            parts.push((start..i + 1, Report::default()));
            (start, sum) = (i + 1, 0);
        }
    }
    share_out(validator, &mut parts, |(range, found)| {
        validator.list_into(&items[range.clone()], range.start as u64, found);
    });
    for (_, mut found) in parts {
        report.totals += found.totals;
        report.append(&mut found, 0, validator.max_findings);
        if validator.stop_at_first && report.totals.errors > 0 {
            break;
        }
    }
}
