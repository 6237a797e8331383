//! Instruction counts under callgrind: repeatable whatever else the machine does, so a guard against regressions.
//!
//! valgrind knows no AVX-512, so what is counted is the level that it shows the program (AVX2 in version 3.19). Another
//! compiler makes other code, so counts are judged only where compiler and level are those of the baseline.

use crate::ops::OPS;
use crate::record::{output, perf_directory};
use batchwise::kernels::dispatch;
use std::io;
use std::process::{Command, Stdio};

/// Operation and case that are counted: our side, one round.
const COUNTED: &[(&str, &str, u64)] = &[
    ("crc32c", "hot", 64),
    ("crc32c", "hot", 1024),
    ("crc32c", "hot", 16384),
    ("crc32c", "mixed", 520),
    ("crc32c", "many", 288),
    ("crc32c", "patch", 1024),
    ("crc32c", "copy", 1024),
    ("xxh3", "hot", 40),
    ("xxh3", "hot", 240),
    ("xxh3", "hot", 1024),
    ("xxh3", "mixed", 128),
    ("xxh3", "many", 1000),
    ("varint", "ones", 8),
    ("varint", "mixed", 8),
    ("records", "uniform", 100),
    ("records", "random", 80),
    ("records", "many", 100),
    ("deep", "plain", 100),
    ("xxh3", "admission", 100),
    ("stamp", "log_append_time", 1024),
    ("validate", "loop", 16384),
];

/// Instructions may grow by this share before it is a failure.
const TOLERANCE: f64 = 0.03;

/// Runs our side of a case once, in a function that callgrind is told to count, and prints the level.
pub(crate) fn count(op: &str, case: &str, bytes: u64) -> io::Result<()> {
    let mut subject = subject(op, case, bytes).ok_or_else(|| io::Error::other("no such case"))?;
    subject.refresh(1);
    // The first run pays for detection.
    subject.run(0);
    counted_round(&mut *subject);
    println!("{}", dispatch::cap().min(dispatch::Level::detected()));
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
    let mut made_by = String::new();
    for &(op, case, bytes) in COUNTED {
        let (count, level) = instructions(op, case, bytes)?;
        made_by = format!("# {}, level {level}", output("rustc", &["--version"]));
        measured.push((format!("{op}/{case}/{bytes}"), count));
    }
    if update {
        let lines: Vec<String> = measured.iter().map(|(name, count)| format!("{name},{count}\n")).collect();
        std::fs::write(&path, format!("{made_by}\n{}", lines.concat()))?;
        println!("written to {}", path.display());
        return Ok(true);
    }
    let text = std::fs::read_to_string(&path)?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).from_reader(text.as_bytes());
    let baseline: Vec<(String, u64)> = reader.deserialize().collect::<Result<_, _>>()?;
    let comparable = text.lines().next() == Some(&made_by);
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
        println!("{name:<28} {now:>12} {change:>12} {verdict}");
    }
    if !comparable {
        println!("not judged: the baseline says {:?}, this is {made_by:?}", text.lines().next().unwrap_or_default());
    } else if !good {
        println!(
            "more than {} % above the baseline; if it has to be, `counts --update` writes a new one",
            100.0 * TOLERANCE
        );
    }
    Ok(good || !comparable)
}

/// Instructions of one round, and the level that they were counted at.
fn instructions(op: &str, case: &str, bytes: u64) -> io::Result<(u64, String)> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted_round*"])
        .arg(std::env::current_exe()?)
        .args(["count", op, case, &bytes.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let level = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.lines()
        .find_map(|l| l.split_once("Collected : ")?.1.trim().parse().ok())
        .map(|count| (count, level))
        .ok_or_else(|| io::Error::other(format!("callgrind said of {op}/{case}/{bytes}: {text}")))
}
