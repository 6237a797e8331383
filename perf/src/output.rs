//! Printing what was measured, as it comes.

use crate::harness::Measured;
use batchwise::kernels::dispatch::{self, Level};
use serde::Serialize;
use std::io::{self, Write};

/// The JSON line; its fields are an interface and do not change.
#[derive(Serialize)]
struct Line<'a> {
    op: &'a str,
    case: &'a str,
    bytes: u64,
    kernel: &'a str,
    ours_ns: f64,
    peer: &'a str,
    peer_version: &'a str,
    peer_ns: f64,
    ratio: f64,
}

/// Prints lines as a table or as JSON, and keeps them.
pub(crate) struct Printer {
    json: bool,
    measured: Vec<Measured>,
}

impl Printer {
    pub(crate) fn new(json: bool) -> Self {
        Printer { json, measured: Vec::new() }
    }

    /// Everything printed so far.
    pub(crate) fn measured(&self) -> &[Measured] {
        &self.measured
    }

    pub(crate) fn line(&mut self, m: Measured) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let ratio = m.theirs.median / m.ours.median;
        if self.json {
            let line = Line {
                op: m.op,
                case: m.case,
                bytes: m.bytes,
                kernel: m.kernel,
                ours_ns: round3(m.ours.median),
                peer: &m.peer,
                peer_version: &m.peer_version,
                peer_ns: round3(m.theirs.median),
                ratio: round3(ratio),
            };
            serde_json::to_writer(&mut out, &line)?;
            writeln!(out)?;
        } else {
            if self.measured.is_empty() {
                writeln!(
                    out,
                    "detected level {}, cap {}; ns per unit, median (quartiles)\n",
                    Level::detected(),
                    dispatch::cap()
                )?;
                writeln!(
                    out,
                    "{:<9} {:<15} {:>9}  {:<10} {:>30}  {:<26} {:>30} {:>8}",
                    "op", "case", "bytes", "kernel", "ours", "peer", "theirs", "ratio"
                )?;
            }
            let figure =
                |f: crate::harness::Figure| format!("{:.2} ({:.2}..{:.2})", f.median, f.quarter, f.three_quarters);
            writeln!(
                out,
                "{:<9} {:<15} {:>9}  {:<10} {:>30}  {:<26} {:>30} {ratio:>8.2}",
                m.op,
                m.case,
                m.bytes,
                m.kernel,
                figure(m.ours),
                format!("{} {}", m.peer, m.peer_version),
                figure(m.theirs),
            )?;
        }
        self.measured.push(m);
        out.flush()
    }
}

pub(crate) fn round3(v: f64) -> f64 {
    (v * 1000.0).round() / 1000.0
}
