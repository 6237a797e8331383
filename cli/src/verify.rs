//! `batchwise verify`.

use crate::args::Verify;
use crate::open::{self, Failure};
use crate::paths::{self, Target};
use crate::progress::{Progress, Watched};
use crate::report::{self, FileReport, Sum};
use crate::{DAMAGED, FAILED, VALID, interrupt};
use batchwise::segment::{Job, SideKind, Verified, verify_all};
use batchwise::{Defect, Detail, Error, ErrorKind, Finding, Format, Report, Severity};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The most findings of each severity that are told of one file.
pub(crate) const MAX_FINDINGS: usize = 50_000;
/// How often a live file is looked at again, and how long to wait before.
const LIVE_TRIES: usize = 3;
const LIVE_PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &Verify) -> io::Result<u8> {
    let threads = match args.threads {
        Some(threads) => threads.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    interrupt::listen()?;
    let start = Instant::now();
    let listing = paths::list(&args.paths);
    let mut failed = !listing.failures.is_empty();
    for (path, error) in &listing.failures {
        eprintln!("batchwise: {}: {error}", paths::shown(path));
    }
    paths::tell_links(&listing);
    let sizes = listing.targets.iter().filter_map(|t| std::fs::metadata(&t.path).ok()).map(|m| m.len());
    let run = Run { args, targets: &listing.targets, progress: Progress::new(sizes.sum()), opened: Vec::new() };
    let run = Run { opened: (0..run.targets.len()).map(|_| OnceLock::new()).collect(), ..run };
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    let mut sum = Sum::default();
    let (mut printed, mut told_of) = (Ok(()), 0);
    verify_all(run.targets.len(), threads, &|i| run.open(i), &mut |i, mut verified| {
        // Not while the bar is aside: it stands still then, and reading would wait for it.
        if let Ok(verified) = &mut verified {
            run.look_again(i, verified);
        }
        let told = run.progress.aside(|| run.tell(i, verified, &mut sum, &mut out));
        match told {
            Ok(true) => {}
            Ok(false) => failed = true,
            Err(e) => {
                printed = Err(e);
                return ControlFlow::Break(());
            }
        }
        told_of += 1;
        let enough = interrupt::came().is_some() || args.fail_fast && sum.totals.errors > 0;
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    drop(run.progress);
    printed?;
    if let Some(status) = interrupt::came() {
        out.flush()?;
        eprintln!("batchwise: interrupted at file {told_of} of {}", listing.targets.len());
        return Ok(status);
    }
    let checked = sum.totals.batches + sum.sides;
    if !args.json && sum.files > 0 {
        sum.print(&mut out, start.elapsed(), failed)?;
    }
    out.flush()?;
    if sum.totals.errors == 0 && checked == 0 && !failed {
        eprintln!("batchwise: nothing was checked: no batch in any of the files");
    }
    Ok(match (sum.totals.errors, checked) {
        (1.., _) => DAMAGED,
        (0, 0) => FAILED,
        _ if failed => FAILED,
        _ => VALID,
    })
}

/// What is known of a file once it is open.
struct Opened {
    format: &'static dyn Format,
    /// What lies beside it.
    sides: Vec<(PathBuf, SideKind)>,
    /// What lies beside it and is not looked at, and why.
    left_out: Vec<(PathBuf, Failure)>,
}

/// What stays the same over a run.
struct Run<'a> {
    args: &'a Verify,
    targets: &'a [Target],
    progress: Progress,
    /// Of each file, once it is known.
    opened: Vec<OnceLock<Opened>>,
}

impl Run<'_> {
    fn open(&self, i: usize) -> Result<Job<Watched>, Failure> {
        let target = &self.targets[i];
        if target.is_missing {
            return Err(Failure::NoLog);
        }
        let file = self.progress.watch(open::open(&target.path)?);
        let format = open::format_of(self.args.checks.format, &target.path, &file)?;
        let validator = open::validator(&self.args.checks, format, target)
            .stop_at_first(self.args.fail_fast)
            .growing(self.args.live && target.is_newest)
            .max_findings(MAX_FINDINGS);
        let (mut sides, mut opened) = (Vec::new(), Opened { format, sides: Vec::new(), left_out: Vec::new() });
        for path in &target.sides {
            match open::side(path, format.name()) {
                Ok(Some(side)) => {
                    opened.sides.push((path.clone(), side.kind));
                    sides.push(side);
                }
                // Only what was asked for is missed.
                Ok(None) if target.only_sides => {
                    opened.left_out.push((path.clone(), Failure::NoSuchSide(format.name())))
                }
                Ok(None) => {}
                Err(error) => opened.left_out.push((path.clone(), error.into())),
            }
        }
        // Each file is opened once.
        self.opened[i].get_or_init(|| opened);
        Ok(Job { source: file, validator, sides })
    }

    /// Tells what was found in a file; whether it could be looked at.
    fn tell(
        &self,
        i: usize,
        verified: Result<Verified, Failure>,
        sum: &mut Sum,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        let target = &self.targets[i];
        let mut verified = match verified {
            Ok(verified) => verified,
            Err(Failure::NoLog) => return self.tell_orphans(target, sum, out),
            Err(failure) => {
                eprintln!("batchwise: {}: {failure}", paths::shown(&target.path));
                return Ok(false);
            }
        };
        let Some(Opened { format, sides, left_out }) = self.opened[i].get() else { return Ok(false) };
        let growing = self.args.live && target.is_newest;
        note_empty(&mut verified.log, growing);
        if !target.only_sides {
            self.print(&target.path, format.name(), &verified.log, sum, out)?;
        }
        for ((path, kind), report) in sides.iter().zip(&verified.sides) {
            // Those that are right are not worth a line, unless they were asked for.
            if target.only_sides || !report.findings.is_empty() {
                self.print(path, kind.name(), report, sum, out)?;
            }
        }
        for (path, failure) in left_out {
            eprintln!("batchwise: {}: {failure}", paths::shown(path));
        }
        Ok(left_out.iter().all(|(_, failure)| matches!(failure, Failure::NoSuchSide(_))))
    }

    /// A broker may have been amid a write. What is still wrong after a while is wrong.
    fn look_again(&self, i: usize, verified: &mut Verified) {
        if !self.args.live || !self.targets[i].is_newest {
            return;
        }
        for _ in 0..LIVE_TRIES {
            if verified.log.totals.is_valid() && verified.sides.iter().all(|s| s.totals.is_valid()) {
                return;
            }
            std::thread::sleep(LIVE_PAUSE);
            verify_all(1, 1, &|_| self.open(i), &mut |_, again: Result<Verified, Failure>| {
                if let Ok(again) = again {
                    *verified = again;
                }
                ControlFlow::Break(())
            });
        }
    }

    /// Files beside a log that is not there. Their own checks need no log.
    fn tell_orphans(&self, target: &Target, sum: &mut Sum, out: &mut impl Write) -> io::Result<bool> {
        for path in &target.sides {
            let side = match open::orphan(path, self.args.checks.format) {
                Ok(Some(side)) => side,
                Ok(None) => continue,
                Err(e) => {
                    eprintln!("batchwise: {}: {e}", paths::shown(path));
                    return Ok(false);
                }
            };
            let report = side.check_orphan();
            if !report.findings.is_empty() || target.only_sides {
                self.print(path, side.kind.name(), &report, sum, out)?;
            }
        }
        Ok(true)
    }

    fn print(
        &self,
        path: &Path,
        format: &'static str,
        report: &Report,
        sum: &mut Sum,
        out: &mut impl Write,
    ) -> io::Result<()> {
        sum.add(path, &report.totals);
        sum.sides += u64::from(SideKind::ALL.iter().any(|kind| kind.name() == format));
        let file = FileReport { path, format, report };
        if self.args.json { report::json(out, &file) } else { report::human(out, &file) }
    }
}

/// A file without a batch: one that is empty is fine, one that has bytes is not, unless they are still to be written.
fn note_empty(report: &mut Report, growing: bool) {
    let is_told = report.findings.iter().any(|f| f.defect.error.kind() == ErrorKind::EmptySegment);
    if report.totals.batches > 0 || report.totals.errors > 0 || is_told {
        return;
    }
    if report.totals.bytes == 0 {
        add(report, Severity::Info, ErrorKind::EmptySegment, Detail::None);
    } else if !growing {
        add(report, Severity::Error, ErrorKind::NoBatch, Detail::None);
    }
}

fn add(report: &mut Report, severity: Severity, kind: ErrorKind, detail: Detail) {
    let defect = Defect { error: Error::new(kind, detail, "batch", 0), severity };
    report.totals.count(severity);
    report.findings.push(Finding::outside(defect));
}
