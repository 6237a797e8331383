//! Opens files of batches and tells their format.

use crate::args::{Checks, Format as FormatArg};
use crate::paths::{self, Target};
use batchwise::segment::{ReadAt, SideFile, SideKind};
use batchwise::{Format, Options, Validator, formats};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a file that its format is told from.
const HEAD: usize = 64 << 10;
/// Bytes of an index that are compared with the log: two million entries.
const SIDE_LIMIT: u64 = 16 << 20;

/// Why a file cannot be looked at.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    /// It is no log of any format.
    NotALog(&'static str),
    /// There is no log, only what would lie beside it.
    NoLog,
    /// It lies beside a log of a format that nothing is read beside.
    NoSuchSide(&'static str),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Io(error) => error.fmt(f),
            Failure::NotALog(why) => f.write_str(why),
            Failure::NoLog => f.write_str("there is no log"),
            Failure::NoSuchSide(format) => {
                write!(f, "not checked: such files beside logs of the format {format} are not read")
            }
        }
    }
}

/// Opens a regular file for reading, never waiting for a writer.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a file"));
    }
    File::open(path)
}

/// The format of a file, by its first bytes or as told on the command line.
pub(crate) fn format_of(
    wanted: FormatArg,
    path: &Path,
    source: &(impl ReadAt + ?Sized),
) -> Result<&'static dyn Format, Failure> {
    let mut head = vec![0; HEAD];
    let mut len = 0;
    while len < HEAD {
        match source.read_at(&mut head[len..], len as u64)? {
            0 => break,
            n => len += n,
        }
    }
    head.truncate(len);
    let named = |name| formats::ALL.iter().copied().find(|f| f.name() == name);
    let told = formats::detect(&head);
    let found = match wanted {
        FormatArg::Kafka => named("kafka"),
        // Which of its generations.
        FormatArg::Iggy => told.filter(|f| f.name().starts_with("iggy")).or_else(|| named("iggy")),
        FormatArg::Auto => told,
    };
    match found {
        Some(format) => Ok(format),
        // A segment whose start is damaged, or that is still empty, is told by its name, and by not being text.
        None if paths::has_segment_name(path) => Ok(beside(path).or(named("kafka")).unwrap_or(formats::ALL[0])),
        None if head.is_empty() => Err(Failure::NotALog("empty file")),
        None if is_text(&head) => Err(Failure::NotALog("a text file, not a log of Kafka or Iggy")),
        None => Ok(named("kafka").unwrap_or(formats::ALL[0])),
    }
}

/// The format of another segment in the same directory.
fn beside(path: &Path) -> Option<&'static dyn Format> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).ok()?.flatten().map(|e| e.path());
    let others = entries.filter(|p| paths::has_segment_name(p) && p != path).take(8);
    others.filter_map(|other| formats::detect(&head_of(&other).ok()?)).next()
}

/// Whether a file that is not named like a segment is a log all the same: it ends in `.log`, and what it begins with is a
/// batch, or at least no text, so that a damaged start hides no log.
pub(crate) fn is_log(path: &Path) -> io::Result<bool> {
    if path.extension().is_none_or(|e| e != "log") {
        return Ok(false);
    }
    let head = head_of(path)?;
    Ok(formats::detect(&head).is_some() || !is_text(&head))
}

/// Whether a file begins with a batch of some format, whatever its name is.
pub(crate) fn begins_with_batch(path: &Path) -> bool {
    head_of(path).is_ok_and(|head| formats::detect(&head).is_some())
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn is_text(head: &[u8]) -> bool {
    head.iter().all(|&b| b >= b' ' || matches!(b, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B))
}

/// A validator for a file, as told on the command line.
pub(crate) fn validator(checks: &Checks, format: &'static dyn Format, target: &Target) -> Validator<'static> {
    let mut options = Options::default();
    options.depth = checks.depth.into();
    options.origin = checks.origin.into();
    options.conformance = checks.conformance.into();
    // A snapshot's number is that behind its last record, not of its first.
    let base_offset = target.base_offset.filter(|_| target.path.extension().is_some_and(|e| e == "log"));
    Validator::new(format).options(options).base_offset(base_offset)
}

/// Reads a file that lies beside no log; `None` if it cannot be told what it is.
pub(crate) fn orphan(path: &Path, wanted: FormatArg) -> io::Result<Option<SideFile>> {
    let format = match wanted {
        FormatArg::Kafka => "kafka",
        FormatArg::Iggy => "iggy",
        FormatArg::Auto => match beside(path) {
            Some(format) => format.name(),
            // Nothing tells but the content.
            None => {
                let is_sound = |side: &SideFile| side.check_orphan().totals.is_valid();
                let kafka = side(path, "kafka")?;
                if !kafka.as_ref().is_some_and(is_sound)
                    && let Some(iggy) = side(path, "iggy")?.filter(is_sound)
                {
                    return Ok(Some(iggy));
                }
                return Ok(kafka);
            }
        },
    };
    side(path, format)
}

/// Reads a file that lies beside a log of `format`; `None` if such logs have no such file.
pub(crate) fn side(path: &Path, format: &str) -> io::Result<Option<SideFile>> {
    let extension = path.extension().unwrap_or_default();
    let kind = SideKind::ALL.iter().copied().find(|k| k.extension() == extension && k.format() == format);
    let Some(kind) = kind else { return Ok(None) };
    let mut bytes = Vec::new();
    open(path)?.take(SIDE_LIMIT).read_to_end(&mut bytes)?;
    Ok(Some(SideFile { kind, base_offset: paths::base_offset(path).unwrap_or(0), bytes }))
}
