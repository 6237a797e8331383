//! `batchwise selftest`.

use crate::args::Selftest;
use crate::cores::{self, Core};
use crate::{DAMAGED, VALID, interrupt};
use batchwise::selftest::{self, Failure, Outcome};
use serde::Serialize;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Bytes that each thread works in; inputs are up to half as long.
const SPACE: usize = 256 << 10;
/// Generated cases between two runs of the known answers, and the least that a thread does.
const ROUNDS: u64 = 100;
/// Failures that are told of, at most.
const FAILURES: usize = 100;

/// What came out of one kernel.
struct Row {
    operation: &'static str,
    kernel: &'static str,
    level: &'static str,
    available: bool,
    known: u64,
    generated: u64,
    failures: u64,
}

/// What came out of all kernels, of one thread or of all.
#[derive(Default)]
struct Tally {
    rows: Vec<Row>,
    failures: Vec<(Core, Failure)>,
    /// Cores on which a kernel did not even return.
    panics: Vec<Core>,
}

impl Tally {
    /// The place of an outcome; the same kernels come in the same order every time, so the search begins behind the last.
    fn add(&mut self, core: Core, outcome: &Outcome, generated: bool, at: &mut usize) {
        let same = |row: &Row| (row.operation, row.kernel) == (outcome.operation, outcome.kernel);
        if !self.rows.get(*at).is_some_and(same) {
            *at = self.rows.iter().position(same).unwrap_or(self.rows.len());
        }
        if *at == self.rows.len() {
            self.rows.push(Row {
                operation: outcome.operation,
                kernel: outcome.kernel,
                level: outcome.level.name(),
                available: outcome.available,
                known: 0,
                generated: 0,
                failures: 0,
            });
        }
        let row = &mut self.rows[*at];
        *(if generated { &mut row.generated } else { &mut row.known }) += outcome.cases;
        row.failures += outcome.failures;
        if let Some(failure) = outcome.failure
            && self.failures.len() < FAILURES
        {
            self.failures.push((core, failure));
        }
        *at += 1;
    }

    fn join(&mut self, other: Tally) {
        if self.rows.is_empty() {
            self.rows = other.rows;
        } else {
            for (row, more) in self.rows.iter_mut().zip(other.rows) {
                row.known += more.known;
                row.generated += more.generated;
                row.failures += more.failures;
            }
        }
        self.failures.extend(other.failures);
        self.panics.extend(other.panics);
    }

    fn is_good(&self) -> bool {
        self.panics.is_empty() && self.rows.iter().all(|row| row.failures == 0)
    }

    fn cases(&self) -> u64 {
        self.rows.iter().map(|row| row.known + row.generated).sum()
    }
}

pub(crate) fn run(args: &Selftest) -> io::Result<u8> {
    interrupt::listen()?;
    let cores = cores::all();
    let threads = args.threads.map_or(cores.len(), usize::from);
    // The fastest of a few: the first one fills the caches.
    let quick = (0..5).map(|_| time(|| _ = selftest::check())).min().unwrap_or_default();
    let start = Instant::now();
    let end = start + Duration::from_secs(args.seconds.into());
    // Other inputs every time; a failure tells its own seed.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let spawn = |(i, core): (u64, &Core)| {
            // Far enough apart never to meet.
            let (core, seed) = (*core, seed.wrapping_add(i << 40));
            (core, scope.spawn(move || soak(core, seed, end)))
        };
        let started: Vec<_> = (0..).zip(cores.iter().cycle().take(threads)).map(spawn).collect();
        for (core, thread) in started {
            match thread.join() {
                Ok(part) => tally.join(part),
                Err(_) => tally.panics.push(core),
            }
        }
    });
    let took = start.elapsed();
    let mut out = io::stdout().lock();
    if args.json {
        json(&mut out, &tally)?;
    } else {
        human(&mut out, &tally, threads, took)?;
        writeln!(out, "the check that a program makes when it starts takes {quick:.0?}")?;
    }
    out.flush()?;
    if !tally.is_good() {
        return Ok(DAMAGED);
    }
    if let Some(status) = interrupt::came() {
        eprintln!("batchwise: interrupted after {took:.1?}");
        return Ok(status);
    }
    Ok(VALID)
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn soak(core: Core, mut seed: u64, end: Instant) -> Tally {
    core.bind();
    let mut tally = Tally::default();
    let mut space = vec![0; SPACE];
    while interrupt::came().is_none() {
        selftest::known_answers(&mut told(&mut tally, core, false));
        for _ in 0..ROUNDS {
            selftest::cross_check(seed, &mut space, &mut told(&mut tally, core, true));
            seed = seed.wrapping_add(1);
        }
        if Instant::now() >= end {
            break;
        }
    }
    tally
}

fn told(tally: &mut Tally, core: Core, generated: bool) -> impl FnMut(Outcome) {
    let mut at = 0;
    move |outcome| tally.add(core, &outcome, generated, &mut at)
}

fn human(out: &mut impl Write, tally: &Tally, threads: usize, took: Duration) -> io::Result<()> {
    writeln!(
        out,
        "{:<27} {:<12} {:<9} {:>8} {:>10} {:>8}",
        "operation", "kernel", "level", "known", "generated", "wrong"
    )?;
    for row in &tally.rows {
        let Row { operation, kernel, level, known, generated, failures, .. } = row;
        if row.available {
            writeln!(out, "{operation:<27} {kernel:<12} {level:<9} {known:>8} {generated:>10} {failures:>8}")?;
        } else {
            writeln!(out, "{operation:<27} {kernel:<12} {level:<9} {:>28}", "not on this CPU")?;
        }
    }
    writeln!(out)?;
    for (core, failure) in tally.failures.iter().take(FAILURES) {
        writeln!(out, "WRONG  core {core}: {failure}")?;
    }
    for core in &tally.panics {
        writeln!(out, "WRONG  core {core}: a kernel panicked")?;
    }
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let cases = tally.cases();
    if tally.is_good() {
        writeln!(out, "{cases} cases on {threads} in {took:.1?}: all as it should be")
    } else {
        let wrong: u64 = tally.rows.iter().map(|row| row.failures).sum();
        writeln!(out, "{cases} cases on {threads} in {took:.1?}: {wrong} WRONG; do not rely on this machine")
    }
}

#[derive(Serialize)]
struct Line {
    operation: &'static str,
    kernel: &'static str,
    level: &'static str,
    available: bool,
    known: u64,
    generated: u64,
    wrong: u64,
    /// Descriptions of the first wrong ones.
    failures: Vec<String>,
}

fn json(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    for row in &tally.rows {
        let of_row = |f: &&(Core, Failure)| (f.1.operation, f.1.kernel) == (row.operation, row.kernel);
        let failures = tally.failures.iter().filter(of_row).map(|(core, f)| format!("core {core}: {f}")).collect();
        let &Row { operation, kernel, level, available, known, generated, failures: wrong } = row;
        serde_json::to_writer(
            &mut *out,
            &Line { operation, kernel, level, available, known, generated, wrong, failures },
        )?;
        writeln!(out)?;
    }
    for core in &tally.panics {
        eprintln!("batchwise: core {core}: a kernel panicked");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use batchwise::selftest::Case;

    fn tally_with(wrong: bool) -> Tally {
        let (core, mut tally) = (cores::all()[0], Tally::default());
        selftest::known_answers(&mut |mut outcome| {
            if wrong && outcome.kernel == "portable" && outcome.operation == "xxh3::many" {
                outcome.failures = 1;
                outcome.failure = Some(Failure {
                    operation: outcome.operation,
                    kernel: outcome.kernel,
                    level: outcome.level,
                    case: Case::Generated { seed: 7, space: 4096 },
                    index: 3,
                    expected: 0x10,
                    found: 0x11,
                    steady: false,
                });
            }
            tally.add(core, &outcome, false, &mut 0);
        });
        tally
    }

    #[test]
    fn a_wrong_kernel_is_told() {
        let mut all = tally_with(false);
        assert!(all.is_good());
        all.join(tally_with(true));
        assert!(!all.is_good());
        let mut out = Vec::new();
        human(&mut out, &all, 2, Duration::ZERO).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert!(
            text.contains("xxh3::many by kernel portable gave 0x11 instead of 0x10 for seed 0x7 in 4096 bytes"),
            "{text}"
        );
        assert!(text.contains("1 WRONG"), "{text}");
        let mut out = Vec::new();
        json(&mut out, &all).expect("memory");
        let lines = String::from_utf8(out).expect("text");
        let wrong: Vec<serde_json::Value> = lines
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON"))
            .filter(|l| l["wrong"] != 0)
            .collect();
        assert_eq!((wrong.len(), wrong[0]["failures"].as_array().map(Vec::len)), (1, Some(1)));
    }

    #[test]
    fn a_panic_is_no_success() {
        let mut tally = tally_with(false);
        tally.panics.push(cores::all()[0]);
        assert!(!tally.is_good());
    }
}
