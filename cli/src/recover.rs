//! `batchwise recover`.

use crate::args::Recover;
use crate::open::{self, Failure};
use crate::paths::{Target, shown};
use crate::progress::Progress;
use crate::report::{Bytes, Count};
use crate::{DAMAGED, FAILED, VALID, interrupt};
use batchwise::validate::{Batch, Sink};
use batchwise::{ErrorKind, Finding, Severity, segment};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Copies the sound batches and keeps account of the rest.
struct Copy {
    out: BufWriter<std::fs::File>,
    like_broker: bool,
    /// Nothing is copied from here on, as a broker cuts the file here.
    cut: bool,
    kept: u64,
    kept_bytes: u64,
    records: u64,
    lost: u64,
    /// Where the lost is listed, at once: a list kept would be as long as the damage.
    list: Listing,
    failure: Option<io::Error>,
}

/// Lines on the standard output, whether or not somebody reads them to the end.
#[derive(Default)]
struct Listing {
    failure: Option<io::Error>,
}

impl Listing {
    fn line(&mut self, line: &dyn std::fmt::Display) {
        if self.failure.is_none() {
            self.failure = writeln!(io::stdout(), "{line}").err();
        }
    }

    /// What is to be told of it. The copy is made all the same when a reader of the list has seen enough.
    fn end(self) -> io::Result<()> {
        self.failure.filter(|e| e.kind() != io::ErrorKind::BrokenPipe).map_or(Ok(()), Err)
    }
}

impl Copy {
    fn lose(&mut self, what: &dyn std::fmt::Display) {
        self.lost += 1;
        self.list.line(&format_args!("lost  {what}"));
    }
}

impl Sink for Copy {
    fn finding(&mut self, finding: Finding) {
        let error = finding.defect.error;
        if finding.defect.severity == Severity::Error {
            self.cut |= self.like_broker;
            let batch = finding.batch.map_or(String::new(), |n| format!(" (batch {n})"));
            self.lose(&format_args!("{} {error}{batch}", error.kind().name()));
        } else if error.kind() == ErrorKind::UnreadableBytes {
            // How much of it; what is wrong there came before.
            self.list.line(&format_args!("lost  {} {error}", error.kind().name()));
        }
    }

    fn batch(&mut self, batch: &Batch, bytes: &[u8]) {
        let offsets = match (batch.summary.first_offset, batch.summary.next_offset) {
            (Some(first), Some(next)) if next > first => format!(", offsets {first} to {}", next - 1),
            _ => String::new(),
        };
        if !batch.is_valid() || self.cut || bytes.is_empty() {
            let why = if batch.is_valid() { "behind the cut" } else { "damaged" };
            let Batch { number, offset, len, .. } = batch;
            self.lose(&format_args!("batch {number} at byte {offset}, {len} bytes{offsets}: {why}"));
            return;
        }
        if self.failure.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failure = Some(error);
        }
        self.kept += 1;
        self.kept_bytes += batch.len;
        self.records += batch.summary.records;
    }

    fn wants_bytes(&self) -> bool {
        true
    }
}

pub(crate) fn run(args: &Recover) -> io::Result<u8> {
    let fail = |path: &Path, why: &dyn std::fmt::Display| {
        eprintln!("batchwise: {}: {why}", shown(path));
        Ok(FAILED)
    };
    interrupt::listen()?;
    let source = match open::open(&args.source) {
        Ok(source) => source,
        Err(error) => return fail(&args.source, &error),
    };
    if args.output.exists() {
        return fail(&args.output, &"already exists; nothing is written over");
    }
    let format = match open::format_of(args.checks.format, &args.source, &source) {
        Ok(format) => format,
        Err(Failure::Io(error)) => return fail(&args.source, &error),
        Err(failure) => return fail(&args.source, &failure),
    };
    let target = Target::new(args.source.clone());
    let validator = open::validator(&args.checks, format, &target);

    // Under a name of its own until it is whole, so that nothing half written looks like a segment.
    let directory = args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = match tempfile::Builder::new().prefix(".batchwise-recover-").suffix(".tmp").tempfile_in(directory) {
        Ok(file) => file,
        Err(error) => return fail(directory, &error),
    };
    let mut copy = Copy {
        out: BufWriter::with_capacity(1 << 20, file.reopen()?),
        like_broker: args.like_broker,
        cut: false,
        kept: 0,
        kept_bytes: 0,
        records: 0,
        lost: 0,
        list: Listing::default(),
        failure: None,
    };
    let metadata = source.metadata()?;
    let progress = Progress::new(metadata.len());
    let walked = segment::verify(&progress.watch(source), validator, &mut copy);
    drop(progress);
    let Copy { mut out, kept, kept_bytes, records, lost, mut list, failure, .. } = copy;
    let flushed = out.flush();
    drop(out);
    let totals = match walked {
        Ok(totals) => totals,
        Err(error) => {
            fail(&args.source, &error)?;
            return Ok(interrupt::came().unwrap_or(FAILED));
        }
    };
    // Who may read the source may read the copy.
    let written = failure.map_or(flushed, Err).and_then(|()| file.as_file().set_permissions(metadata.permissions()));
    let written = written.and_then(|()| file.as_file().sync_all());
    if let Err(error) = written.and_then(|()| file.persist_noclobber(&args.output).map(drop).map_err(|e| e.error)) {
        return fail(&args.output, &error);
    }

    list.line(&format_args!(
        "{}: {}, {}, {} kept, {} left out",
        shown(&args.output),
        Count(kept, "batch", "batches"),
        Count(records, "record", "records"),
        Bytes(kept_bytes),
        Bytes(totals.bytes.saturating_sub(kept_bytes))
    ));
    list.end()?;
    Ok(if lost == 0 { VALID } else { DAMAGED })
}
