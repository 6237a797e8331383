//! What `verify` prints.

use anstyle::{AnsiColor, Style};
use batchwise::{Finding, Severity, Totals};
use serde::Serialize;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// What was found in one file.
pub(crate) struct FileReport<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: &'static str,
    pub(crate) totals: Totals,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Serialize)]
struct JsonFile<'a> {
    path: Display_<std::path::Display<'a>>,
    format: &'static str,
    bytes: u64,
    batches: u64,
    records: u64,
    valid: bool,
    defects: Vec<JsonDefect>,
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
struct Display_<T>(T);

impl<T: Display> Serialize for Display_<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

pub(crate) fn json(out: &mut impl Write, file: &FileReport<'_>) -> io::Result<()> {
    let defects = file.findings.iter().map(|f| JsonDefect {
        offset: f.defect.error.offset(),
        batch: f.batch,
        field: f.defect.error.field(),
        kind: f.defect.error.kind().name(),
        severity: f.defect.severity.name(),
        message: f.defect.error.to_string(),
    });
    let line = JsonFile {
        path: Display_(file.path.display()),
        format: file.format,
        bytes: file.totals.bytes,
        batches: file.totals.batches,
        records: file.totals.records,
        valid: file.totals.is_valid(),
        defects: defects.collect(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const ODD: Style = AnsiColor::Yellow.on_default();
const QUIET: Style = Style::new().dimmed();

/// A line for the file, and one below it for each finding.
pub(crate) fn human(out: &mut impl Write, file: &FileReport<'_>) -> io::Result<()> {
    let (style, word) = if file.totals.is_valid() { (GOOD, "valid  ") } else { (BAD, "DAMAGED") };
    let Totals { bytes, batches, records, .. } = file.totals;
    writeln!(
        out,
        "{style}{word}{style:#}  {}  {}, {}, {}, {}",
        file.path.display(),
        file.format,
        Bytes(bytes),
        Count(batches, "batch", "batches"),
        Count(records, "record", "records"),
    )?;
    for f in &file.findings {
        let error = f.defect.error;
        let style = match f.defect.severity {
            Severity::Error => BAD,
            Severity::Warning => ODD,
            Severity::Info => QUIET,
        };
        write!(out, "  {style}{:<7}{style:#}  {} {error}", f.defect.severity.name(), error.kind().name())?;
        match (f.batch, f.first_offset) {
            (Some(batch), Some(first)) => writeln!(out, " {QUIET}(batch {batch}, base offset {first}){QUIET:#}")?,
            (Some(batch), None) => writeln!(out, " {QUIET}(batch {batch}){QUIET:#}")?,
            _ => writeln!(out)?,
        }
    }
    Ok(())
}

/// Sums over all files.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) files: u64,
    pub(crate) damaged: u64,
    pub(crate) totals: Totals,
}

impl Sum {
    pub(crate) fn add(&mut self, totals: &Totals) {
        self.files += 1;
        self.damaged += u64::from(!totals.is_valid());
        self.totals.bytes += totals.bytes;
        self.totals.batches += totals.batches;
        self.totals.records += totals.records;
        self.totals.errors += totals.errors;
        self.totals.warnings += totals.warnings;
    }

    pub(crate) fn print(&self, out: &mut impl Write, time: Duration) -> io::Result<()> {
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
        if errors == 0 {
            write!(out, "{GOOD}all valid{GOOD:#}")?;
        } else {
            write!(
                out,
                "{BAD}{} damaged{BAD:#}, {}",
                Count(self.damaged, "file", "files"),
                Count(errors, "error", "errors")
            )?;
        }
        if warnings > 0 {
            write!(out, ", {}", Count(warnings, "warning", "warnings"))?;
        }
        writeln!(out)
    }
}

/// A number and its noun.
struct Count(u64, &'static str, &'static str);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { self.1 } else { self.2 })
    }
}

/// A number of bytes in a unit that suits it.
struct Bytes(u64);

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
