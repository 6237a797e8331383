//! A file of batches.

use super::out::Out;
use super::put::Put;
use super::{Run, iggy, kafka, what::What};
use crate::open;
use crate::paths::{self, Target};
use batchwise::segment::{self, ReadAt};
use batchwise::validate::{Batch, Sink};
use batchwise::{Depth, Error, ErrorKind, Finding, Options, Severity, Validator};
use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes of the longest header, which is printed even of a batch that is not at hand.
const HEAD: usize = 256;
/// Fewer bytes at the end of a log of Kafka's are passed over by its readers, whatever they are.
const LEFT_OVER: u64 = 17;

/// Where lines about a file go, and what they begin with.
pub(super) struct Page<'a> {
    pub(super) what: What,
    pub(super) out: &'a mut Out,
    pub(super) path: &'a Path,
    /// How each JSON object begins.
    pub(super) start: Vec<u8>,
}

impl Page<'_> {
    /// Tells of damage within a batch.
    #[cold]
    pub(super) fn damage(&mut self, batch: &Batch, error: Error) {
        self.out
            .damage(self.path, format_args!("{} {error}{}", error.kind().name(), place(batch.number, batch.offset)));
    }
}

fn place(number: u64, position: u64) -> String {
    format!(" (batch {number} at byte {position})")
}

/// The start of a file.
pub(super) struct Limited {
    file: File,
    max: u64,
}

impl ReadAt for Limited {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let room = usize::try_from(self.max.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        ReadAt::read_at(&self.file, &mut buffer[..room], offset)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.size()?.min(self.max))
    }
}

/// Prints batches as a walk comes by them.
struct Printing<'a> {
    page: Page<'a>,
    source: &'a Limited,
    printer: Printer,
    /// Bytes of an entry at the end of the file that is cut off.
    cut_off: Option<u64>,
    len: u64,
    is_damaged: bool,
}

enum Printer {
    Kafka(Box<kafka::Printer>),
    Iggy(iggy::Printer),
}

impl Sink for Printing<'_> {
    fn finding(&mut self, finding: Finding) {
        let Finding { batch, batch_start, defect, .. } = finding;
        let (error, is_error) = (defect.error, defect.severity == Severity::Error);
        let left = self.len.saturating_sub(error.offset());
        match error.kind() {
            ErrorKind::TornTail => self.cut_off = Some(left),
            ErrorKind::ZeroTail if left < LEFT_OVER => self.cut_off = Some(left),
            _ => {}
        }
        if is_error && self.source.is_cut(error) {
            return;
        }
        let place = batch.zip(batch_start).map(|(number, position)| place(number, position)).unwrap_or_default();
        let what = format_args!("{} {error}{place}", error.kind().name());
        if is_error {
            self.is_damaged = true;
            self.page.out.damage(self.page.path, what);
        } else if self.is_damaged && defect.severity == Severity::Info && error.field() == "batch" {
            // How many bytes or offsets are lost there.
            self.page.out.aside(format_args!("batchwise: {}: {what}", paths::shown(self.page.path)));
        }
    }

    fn batch(&mut self, batch: &Batch, bytes: &[u8]) {
        let mut held = [0; HEAD];
        let head = if bytes.is_empty() { self.source.head(&mut held, batch.offset) } else { bytes };
        match &mut self.printer {
            Printer::Kafka(printer) => printer.batch(&mut self.page, batch, bytes, head),
            Printer::Iggy(printer) => printer.batch(&mut self.page, batch, bytes, head),
        }
    }

    fn wants_bytes(&self) -> bool {
        true
    }

    fn wants_more(&self) -> bool {
        self.page.out.is_open()
    }
}

impl Limited {
    fn head<'h>(&self, held: &'h mut [u8; HEAD], offset: u64) -> &'h [u8] {
        let len = self.read_at(held, offset).unwrap_or(0);
        &held[..len]
    }

    /// Whether an error is that the limit cuts a batch.
    fn is_cut(&self, error: Error) -> bool {
        error.kind() == ErrorKind::TornTail && self.file.size().is_ok_and(|size| size > self.max)
    }
}

impl Run<'_> {
    /// Prints a file of batches.
    pub(super) fn log(&mut self, path: &Path) {
        if let Err(failure) = self.try_log(path) {
            self.out.failed(path, &failure);
        }
    }

    fn try_log(&mut self, path: &Path) -> Result<(), open::Failure> {
        let source = Limited { file: open::open(path)?, max: self.args.max_bytes.unwrap_or(u64::MAX) };
        let len = source.size()?;
        self.begin(path);
        if len == 0 && !paths::has_segment_name(path) {
            return Ok(());
        }
        let format = open::format_of(self.args.format, path, &source)?;
        self.starting_offset(path);
        let printer = match format.name() {
            "kafka" => Printer::Kafka(Box::default()),
            name => Printer::Iggy(iggy::Printer::of(name)),
        };
        let mut options = Options::default();
        options.depth = Depth::Checksums;
        let base_offset =
            Target::new(path.to_owned()).base_offset.filter(|_| path.extension().is_some_and(|e| e == "log"));
        let validator = Validator::new(format).options(options).base_offset(base_offset);
        let page = Page { what: self.what, out: &mut self.out, path, start: Self::json_start(path, format.name()) };
        let mut printing = Printing { page, source: &source, printer, cut_off: None, len, is_damaged: false };
        if len > 0 {
            segment::verify(&source, validator, &mut printing)?;
        }
        let Printing { printer, cut_off, .. } = printing;
        if let Printer::Kafka(printer) = printer {
            self.remarks.gaps(path, printer.gaps);
        }
        if let Some(bytes) = cut_off.filter(|_| !self.what.json && self.args.max_bytes.is_none()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.out.buffer.text("Found ").number(bytes).text(" invalid bytes at the end of ").text(&name);
            self.out.end();
        }
        Ok(())
    }

    /// The line that tells what the file's name tells.
    fn starting_offset(&mut self, path: &Path) {
        if self.what.json {
            return;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let base = paths::base_offset(path);
        let out = &mut self.out.buffer;
        if path.extension().is_some_and(|e| e == "checkpoint") {
            let epoch = name.split_once('-').and_then(|(_, epoch)| epoch.parse::<i32>().ok());
            match base.zip(epoch) {
                Some((offset, epoch)) => {
                    out.text("Snapshot end offset: ").number(offset).text(", epoch: ").number(epoch);
                }
                None => {
                    out.text("KRaft bootstrap snapshot");
                }
            }
        } else if let Some(base) = base {
            out.text("Log starting offset: ").number(base);
        } else {
            return;
        }
        self.out.end();
    }
}
