//! `batchwise cpu`.

use crate::args::Cpu;
use crate::{FAILED, VALID};
use batchwise::kernels::OPERATIONS;
use batchwise::kernels::dispatch::{self, Level, Operation, Row};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Line {
    operation: &'static str,
    kernel: &'static str,
    available: Vec<&'static str>,
    unavailable: Vec<&'static str>,
}

pub(crate) fn run(args: &Cpu) -> io::Result<u8> {
    let mut out = io::stdout().lock();
    // An empty one is none.
    let cap = std::env::var(dispatch::CAP_VARIABLE).ok().filter(|v| !v.is_empty());
    let unknown_cap = cap.filter(|v| Level::from_name(v).is_none());
    if !args.json {
        writeln!(out, "architecture  {}", std::env::consts::ARCH)?;
        writeln!(out, "features      {}", features().join(" "))?;
        writeln!(out, "level         {} (of {})", Level::detected(), levels())?;
        writeln!(out, "cap           {}\n", dispatch::cap())?;
        writeln!(out, "{:<26} {:<12} other kernels (- not on this CPU)", "operation", "kernel")?;
    }
    for operation in OPERATIONS {
        let rows = rows(*operation);
        let chosen = operation.chosen();
        if args.json {
            let names = |available| rows.iter().filter(|r| r.available == available).map(|r| r.name).collect();
            let line =
                Line { operation: operation.name(), kernel: chosen, available: names(true), unavailable: names(false) };
            serde_json::to_writer(&mut out, &line)?;
            writeln!(out)?;
        } else {
            let others: Vec<_> = rows
                .iter()
                .filter(|r| r.name != chosen)
                .map(|r| format!("{}{}", if r.available { "" } else { "-" }, r.name))
                .collect();
            writeln!(out, "{:<26} {chosen:<12} {}", operation.name(), others.join(" "))?;
        }
    }
    if let Some(value) = unknown_cap {
        eprintln!("batchwise: {} is {value:?}, which is none of {}; it is ignored", dispatch::CAP_VARIABLE, levels());
        return Ok(FAILED);
    }
    Ok(VALID)
}

fn levels() -> String {
    Level::all().map(Level::name).collect::<Vec<_>>().join(", ")
}

fn rows(operation: &dyn Operation) -> Vec<Row> {
    let mut rows = Vec::new();
    operation.rows(&mut |row| rows.push(row));
    rows
}

/// The features that some kernel asks for and this CPU has, as far as the rows that it can run tell.
fn features() -> Vec<&'static str> {
    let mut all: Vec<_> = OPERATIONS
        .iter()
        .flat_map(|o| rows(*o))
        .filter(|r| r.available)
        .flat_map(|r| r.features.iter().copied())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}
