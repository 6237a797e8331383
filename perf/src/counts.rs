//! Instruction counts under callgrind: repeatable whatever else the machine does, so a guard against regressions.
//!
//! valgrind knows no AVX-512, so what is counted is the level that it shows the program (AVX2 in version 3.19).

use crate::ops::OPS;
use crate::record::perf_directory;
use std::io;
use std::process::{Command, Stdio};

/// Operation and case that are counted: our side, one round.
const COUNTED: &[(&str, &str, u64)] = &[
    ("crc32c", "hot", 64),
    ("crc32c", "hot", 1024),
    ("crc32c", "hot", 16384),
    ("crc32c", "mixed", 520),
    ("xxh3", "hot", 40),
    ("xxh3", "hot", 240),
    ("xxh3", "hot", 1024),
    ("varint", "ones", 8),
    ("varint", "mixed", 8),
    ("records", "uniform", 100),
    ("records", "random", 80),
    ("deep", "plain", 100),
    ("xxh3", "admission", 100),
];

/// Instructions may grow by this share before it is a failure.
const TOLERANCE: f64 = 0.03;

/// Runs our side of a case once, in a function that callgrind is told to count.
pub(crate) fn count(op: &str, case: &str, bytes: u64) -> io::Result<()> {
    let mut subject = subject(op, case, bytes).ok_or_else(|| io::Error::other("no such case"))?;
    subject.refresh(1);
    // The first run pays for detection.
    subject.run(0);
    counted_round(&mut *subject);
    Ok(())
}

#[inline(never)]
fn counted_round(subject: &mut dyn crate::harness::Subject) {
    std::hint::black_box(subject.run(0));
}

fn subject(op: &str, case: &str, bytes: u64) -> Option<Box<dyn crate::harness::Subject>> {
    let op = OPS.iter().find(|o| o.name == op)?;
    (op.cases)().iter().find(|p| p.name == case && p.bytes == bytes).map(|p| (p.build)())
}

/// Counts all and compares with `perf/counts.csv`, or writes it. Returns whether nothing grew past the tolerance.
pub(crate) fn counts(update: bool) -> io::Result<bool> {
    let path = perf_directory().join("counts.csv");
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        println!("valgrind is not installed: nothing was counted");
        return Ok(true);
    }
    let mut measured = Vec::new();
    for &(op, case, bytes) in COUNTED {
        if subject(op, case, bytes).is_none() {
            return Err(io::Error::other(format!("{op}/{case}/{bytes} is no case")));
        }
        measured.push((format!("{op}/{case}/{bytes}"), instructions(op, case, bytes)?));
    }
    if update {
        let mut writer = csv::Writer::from_path(&path)?;
        for (name, instructions) in &measured {
            writer.serialize((name, instructions))?;
        }
        writer.flush()?;
        println!("written to {}", path.display());
        return Ok(true);
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&path)?;
    let baseline: Vec<(String, u64)> = reader.deserialize().collect::<Result<_, _>>()?;
    let mut good = true;
    for (name, now) in measured {
        let before = baseline.iter().find(|(n, _)| *n == name).map(|(_, count)| *count);
        let (change, verdict) = match before {
            Some(before) => {
                let change = now as f64 / before as f64 - 1.0;
                (format!("{:+.1} %", 100.0 * change), if change > TOLERANCE { "GREW" } else { "" })
            }
            None => ("no baseline".to_owned(), "MISSING"),
        };
        good &= verdict.is_empty();
        println!("{name:<24} {now:>12} {change:>12} {verdict}");
    }
    Ok(good)
}

fn instructions(op: &str, case: &str, bytes: u64) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_round*"])
        .arg(std::env::current_exe()?)
        .args(["count", op, case, &bytes.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .find_map(|l| l.split_once("Collected : ")?.1.trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("callgrind said of {op}/{case}/{bytes}: {text}")))
}
