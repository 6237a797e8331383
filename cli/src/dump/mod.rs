//! `batchwise dump`.

mod control;
mod iggy;
mod kafka;
mod kafka_json;
mod kafka_text;
mod log;
mod out;
mod put;
mod remarks;
mod side;
mod what;

pub(crate) use put::Encoding;
pub(crate) use what::Range;

use crate::args::Dump;
use crate::paths::{self, Target};
use crate::{DAMAGED, FAILED, VALID, open};
use out::Out;
use put::Put;
use remarks::Remarks;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use what::What;

/// What stays the same over a run.
struct Run<'a> {
    args: &'a Dump,
    what: What,
    out: Out,
    remarks: Remarks,
}

pub(crate) fn run(args: &Dump) -> io::Result<u8> {
    let mut run = Run { args, what: What::new(args), out: Out::new(), remarks: Remarks::default() };
    for path in args.paths.iter().chain(&args.files) {
        if path.is_dir() {
            run.directory(path);
        } else {
            run.file(path);
        }
        if !run.out.is_open() {
            break;
        }
    }
    run.out.finish()?;
    run.remarks.print();
    Ok(match (run.out.damages, run.out.failures) {
        (1.., _) => DAMAGED,
        (0, 1..) => FAILED,
        (0, 0) => VALID,
    })
}

impl Run<'_> {
    fn directory(&mut self, path: &Path) {
        let listing = paths::list(&[path.to_owned()]);
        paths::tell_links(&listing);
        for (path, error) in &listing.failures {
            self.out.failed(path, error);
        }
        let logs: Vec<_> = listing.targets.iter().filter(|t| !t.is_missing).collect();
        if logs.is_empty() && listing.failures.is_empty() {
            self.out.failed(path, &"no logs in this directory");
        }
        for (i, target) in logs.iter().enumerate() {
            let next = logs.get(i + 1).filter(|next| next.path.parent() == target.path.parent());
            if self.may_hold_wanted(target, next.and_then(|n| n.base_offset)) && self.out.is_open() {
                self.log(&target.path);
            }
        }
    }

    /// Whether a segment may hold offsets that are asked for, as its name and that of the next one tell.
    fn may_hold_wanted(&self, target: &Target, next: Option<u64>) -> bool {
        let is_segment = target.path.extension().is_some_and(|e| e == "log");
        let Some(base) = target.base_offset.filter(|_| is_segment) else { return true };
        let end = next.map_or(i128::MAX, |next| i128::from(next) - 1);
        self.what.offsets.meets(base, end)
    }

    fn file(&mut self, path: &Path) {
        match path.extension().and_then(OsStr::to_str) {
            Some("log" | "checkpoint") => self.log(path),
            Some("index" | "timeindex" | "txnindex" | "snapshot") => self.side(path),
            // A segment under another name, as brokers give to those that they are about to delete.
            _ if open::begins_with_batch(path) => self.log(path),
            _ if path.is_file() => self.out.failed(path, &"neither a log nor an index nor a snapshot"),
            _ => match open::open(path) {
                Err(error) => self.out.failed(path, &error),
                Ok(_) => self.out.failed(path, &"cannot be read"),
            },
        }
    }

    /// The line that each file begins with.
    fn begin(&mut self, path: &Path) {
        if !self.what.json {
            self.out.buffer.text("Dumping ").text(&path.to_string_lossy());
            self.out.end();
        }
    }

    /// How each JSON object of a file begins.
    fn json_start(path: &Path, format: &str) -> Vec<u8> {
        let mut start = b"{".to_vec();
        start.key("path").string(&path.to_string_lossy()).key("format").string(format);
        start
    }
}
