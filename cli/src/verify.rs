//! `batchwise verify`.

use crate::args::{Format as FormatArg, Verify};
use crate::report::{self, FileReport, Sum};
use crate::{DAMAGED, FAILED, VALID, paths};
use batchwise::{Format, Options, Validator, formats, segment};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

/// Bytes of a file that its format is told from.
const HEAD: usize = 64 << 10;

pub(crate) fn run(args: &Verify) -> io::Result<u8> {
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let start = Instant::now();
    let mut sum = Sum::default();
    let mut failed = false;
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    for path in &args.paths {
        let files = match paths::files(path) {
            Ok(files) => files,
            Err(e) => {
                eprintln!("batchwise: {}: {e}", path.display());
                failed = true;
                continue;
            }
        };
        if files.is_empty() {
            eprintln!("batchwise: {}: no segment files in this directory", path.display());
            failed = true;
        }
        for file in files {
            match pool.install(|| check(args, &file)) {
                Ok(Some(report)) => {
                    sum.add(&report.totals);
                    if args.json { report::json(&mut out, &report)? } else { report::human(&mut out, &report)? }
                }
                Ok(None) => {
                    eprintln!("batchwise: {}: not a log of Kafka or Iggy", file.display());
                    failed = true;
                }
                Err(e) => {
                    eprintln!("batchwise: {}: {e}", file.display());
                    failed = true;
                }
            }
        }
    }
    if !args.json && sum.files > 0 {
        sum.print(&mut out, start.elapsed())?;
    }
    out.flush()?;
    if sum.totals.errors == 0 && sum.totals.batches == 0 && !failed {
        eprintln!("batchwise: nothing was checked: no batch in any of the files");
    }
    Ok(match (sum.totals.errors, sum.totals.batches) {
        (1.., _) => DAMAGED,
        (0, 0) => FAILED,
        _ if failed => FAILED,
        _ => VALID,
    })
}

/// Checks one file; `None` if it is of no format known.
fn check<'a>(args: &Verify, path: &'a Path) -> io::Result<Option<FileReport<'a>>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(HEAD as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let Some(format) = format_of(args.format, path, &head) else { return Ok(None) };
    let mut options = Options::default();
    options.depth = args.depth.into();
    options.origin = args.origin.into();
    options.conformance = args.conformance.into();
    let validator = Validator::new(format).options(options).parallel(true);
    let mut findings = Vec::new();
    let totals = segment::verify(&file, validator, &mut |f| findings.push(f))?;
    Ok(Some(FileReport { path, format: format.name(), totals, findings }))
}

fn format_of(wanted: FormatArg, path: &Path, head: &[u8]) -> Option<&'static dyn Format> {
    let named = |name| formats::ALL.iter().copied().find(|f| f.name() == name);
    match wanted {
        FormatArg::Kafka => named("kafka"),
        // Older servers wrote other layouts, and nothing but their content tells.
        FormatArg::Iggy => formats::detect(head).filter(|f| f.name().starts_with("iggy")).or_else(|| named("iggy")),
        // A segment whose start is damaged, or that is still empty, is told by its name, and by not being text.
        FormatArg::Auto => formats::detect(head)
            .or_else(|| if paths::has_segment_name(path) || !is_text(head) { named("kafka") } else { None }),
    }
}

fn is_text(head: &[u8]) -> bool {
    head.iter().all(|&b| b >= b' ' || matches!(b, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B))
}
