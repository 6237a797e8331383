//! What `verify` prints.

use crate::paths::shown;
use anstyle::{AnsiColor, Style};
use batchwise::{Finding, Report, Severity, Totals};
use serde::Serialize;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was found in one file.
pub(crate) struct FileReport<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: &'static str,
    pub(crate) report: &'a Report,
}

impl FileReport<'_> {
    /// Findings that were too many to be kept.
    fn left_out(&self) -> u64 {
        let Totals { errors, warnings, notes, .. } = self.report.totals;
        errors + warnings + notes - self.report.findings.len() as u64
    }
}

#[derive(Serialize)]
struct JsonFile<'a> {
    path: AsText<std::path::Display<'a>>,
    format: &'static str,
    bytes: u64,
    batches: u64,
    records: u64,
    valid: bool,
    defects: Vec<JsonDefect>,
    /// Defects that are not in the list, which has an end.
    #[serde(skip_serializing_if = "is_zero")]
    defects_left_out: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Serialize)]
struct JsonDefect {
    offset: u64,
    batch: Option<u64>,
    field: &'static str,
    kind: &'static str,
    severity: &'static str,
    message: String,
}

/// Serializes as its text.
struct AsText<T>(T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

pub(crate) fn json(out: &mut impl Write, file: &FileReport<'_>) -> io::Result<()> {
    let totals = file.report.totals;
    let defects = file.report.findings.iter().map(|f| JsonDefect {
        offset: f.defect.error.offset(),
        batch: f.batch,
        field: f.defect.error.field(),
        kind: f.defect.error.kind().name(),
        severity: f.defect.severity.name(),
        message: f.defect.error.to_string(),
    });
    let line = JsonFile {
        path: AsText(file.path.display()),
        format: file.format,
        bytes: totals.bytes,
        batches: totals.batches,
        records: totals.records,
        valid: totals.is_valid(),
        defects: defects.collect(),
        defects_left_out: file.left_out(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const ODD: Style = AnsiColor::Yellow.on_default();
const QUIET: Style = Style::new().dimmed();

/// Lines for the findings of a file, at most, of each severity.
const LINES: [(Severity, usize); 3] = [(Severity::Error, 200), (Severity::Warning, 20), (Severity::Info, 20)];

/// A line for the file, and one below it for each finding.
pub(crate) fn human(out: &mut impl Write, file: &FileReport<'_>) -> io::Result<()> {
    let totals = file.report.totals;
    let (style, word) = if totals.is_valid() { (GOOD, "valid  ") } else { (BAD, "DAMAGED") };
    write!(out, "{style}{word}{style:#}  {}  {}, {}", shown(file.path), file.format, Bytes(totals.bytes))?;
    if totals.batches > 0 {
        let batches = Count(totals.batches, "batch", "batches");
        write!(out, ", {batches}, {}", Count(totals.records, "record", "records"))?;
    }
    writeln!(out)?;
    let mut printed = [0; 3];
    for f in &file.report.findings {
        let at = LINES.iter().position(|(severity, _)| *severity == f.defect.severity).unwrap_or(0);
        // What is legal, as after compaction, is not worth a line; what lies between batches is.
        if (f.defect.severity > Severity::Info || f.batch.is_none() || f.defect.error.field() == "batch")
            && printed[at] < LINES[at].1
        {
            printed[at] += 1;
            finding(out, f)?;
        }
    }
    for (of, (at, (severity, _))) in [totals.errors, totals.warnings].into_iter().zip(LINES.iter().enumerate()) {
        if let Some(more @ 1..) = of.checked_sub(printed[at] as u64) {
            writeln!(out, "  {QUIET}and {more} more of severity {}; --json lists them{QUIET:#}", severity.name())?;
        }
    }
    Ok(())
}

pub(crate) fn finding(out: &mut impl Write, f: &Finding) -> io::Result<()> {
    let error = f.defect.error;
    let style = match f.defect.severity {
        Severity::Error => BAD,
        Severity::Warning => ODD,
        Severity::Info => QUIET,
    };
    write!(out, "  {style}{:<7}{style:#}  {} {error}", f.defect.severity.name(), error.kind().name())?;
    if let (Some(batch), Some(start)) = (f.batch, f.batch_start) {
        write!(out, " {QUIET}(batch {batch} at byte {start}")?;
        if let Some(first) = f.first_offset {
            write!(out, ", base offset {first}")?;
        }
        write!(out, "){QUIET:#}")?;
    }
    writeln!(out)
}

/// Sums over all files, and over each directory.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) files: u64,
    pub(crate) totals: Totals,
    /// Files that are none of batches.
    pub(crate) sides: u64,
    damaged: u64,
    directories: Vec<Row>,
}

/// A line of the table.
struct Row {
    directory: PathBuf,
    files: u64,
    totals: Totals,
}

/// Rows of the table, at most: those with damage come first.
const ROWS: usize = 50;

impl Sum {
    pub(crate) fn add(&mut self, path: &Path, totals: &Totals) {
        self.files += 1;
        self.damaged += u64::from(!totals.is_valid());
        self.totals += *totals;
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Files come directory by directory.
        if self.directories.last().is_none_or(|row| row.directory != directory) {
            let row = Row { directory: directory.to_owned(), files: 0, totals: Totals::default() };
            self.directories.push(row);
        }
        if let Some(row) = self.directories.last_mut() {
            row.files += 1;
            row.totals += *totals;
        }
    }

    /// The last lines; `failed` if something could not be read.
    pub(crate) fn print(&mut self, out: &mut impl Write, time: Duration, failed: bool) -> io::Result<()> {
        if self.directories.len() > 1 {
            self.table(out)?;
        }
        let Totals { bytes, batches, records, errors, warnings, .. } = self.totals;
        let rate = bytes as f64 / time.as_secs_f64().max(1e-9) / 1e9;
        writeln!(
            out,
            "\n{}: {}, {}, {} in {time:.1?} ({rate:.1} GB/s)",
            Count(self.files, "file", "files"),
            Bytes(bytes),
            Count(batches, "batch", "batches"),
            Count(records, "record", "records"),
        )?;
        if errors == 0 && batches + self.sides == 0 {
            write!(out, "{ODD}nothing was checked{ODD:#}")?;
        } else if errors == 0 && failed {
            write!(out, "{ODD}valid, as far as it could be read{ODD:#}")?;
        } else if errors == 0 {
            write!(out, "{GOOD}all valid{GOOD:#}")?;
        } else {
            let (files, errors) = (Count(self.damaged, "file", "files"), Count(errors, "error", "errors"));
            write!(out, "{BAD}{files} damaged{BAD:#}, {errors}")?;
        }
        if warnings > 0 {
            write!(out, ", {}", Count(warnings, "warning", "warnings"))?;
        }
        writeln!(out)
    }

    fn table(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.directories.sort_by_key(|row| row.totals.is_valid());
        let listed = &self.directories[..self.directories.len().min(ROWS)];
        let width = listed.iter().map(|r| shown(&r.directory).chars().count()).max().unwrap_or(0).max(9);
        writeln!(
            out,
            "\n{QUIET}{:<width$} {:>6} {:>11} {:>10} {:>12} {:>8} {:>8}{QUIET:#}",
            "directory", "files", "size", "batches", "records", "errors", "warnings"
        )?;
        for Row { directory, files, totals } in listed {
            let Totals { bytes, batches, records, errors, warnings, .. } = totals;
            let (directory, bytes) = (shown(directory), Bytes(*bytes).to_string());
            let style = if *errors > 0 { BAD } else { Style::new() };
            writeln!(
                out,
                "{directory:<width$} {files:>6} {bytes:>11} {batches:>10} {records:>12} {style}{errors:>8}{style:#} {warnings:>8}"
            )?;
        }
        if let Some(more @ 1..) = self.directories.len().checked_sub(ROWS) {
            writeln!(out, "{QUIET}and {more} more{QUIET:#}")?;
        }
        Ok(())
    }
}

/// A number and its noun.
pub(crate) struct Count(pub(crate) u64, pub(crate) &'static str, pub(crate) &'static str);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { self.1 } else { self.2 })
    }
}

/// A number of bytes in a unit that suits it.
pub(crate) struct Bytes(pub(crate) u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n @ 0..1024 => write!(f, "{n} B"),
            n @ 1024..1_048_576 => write!(f, "{:.1} KiB", n as f64 / 1024.0),
            n @ 1_048_576..1_073_741_824 => write!(f, "{:.1} MiB", n as f64 / 1_048_576.0),
            n => write!(f, "{:.2} GiB", n as f64 / 1_073_741_824.0),
        }
    }
}
