//! Records: what was measured, when, on which machine, from which commit. `perf/records/<cpu>/<date>.csv`.

use crate::harness::Measured;
use crate::output::round3;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// One line of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) cpu: String,
    pub(crate) level: String,
    pub(crate) rustc: String,
    pub(crate) op: String,
    pub(crate) case: String,
    pub(crate) bytes: u64,
    pub(crate) kernel: String,
    pub(crate) ours_ns: f64,
    pub(crate) ours_quarter_ns: f64,
    pub(crate) ours_three_quarters_ns: f64,
    pub(crate) peer: String,
    pub(crate) peer_version: String,
    pub(crate) peer_ns: f64,
    pub(crate) peer_quarter_ns: f64,
    pub(crate) peer_three_quarters_ns: f64,
    pub(crate) ratio: f64,
}

/// The workspace's directory `perf`.
pub(crate) fn perf_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Writes the record of today; lines of the same day that measure the same thing are replaced.
pub(crate) fn write(measured: &[Measured]) -> io::Result<PathBuf> {
    let cpu = cpu();
    let stamp = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let date = stamp.get(..10).unwrap_or(&stamp).to_owned();
    let (commit, rustc) = (output("git", &["rev-parse", "--short=10", "HEAD"]), output("rustc", &["--version"]));
    let path = perf_directory().join("records").join(&cpu).join(format!("{date}.csv"));
    let mut rows = if path.exists() { read(&path)? } else { Vec::new() };
    for m in measured {
        let row = Row {
            date: date.clone(),
            commit: commit.clone(),
            cpu: cpu.clone(),
            level: batchwise::kernels::dispatch::cap().min(batchwise::kernels::dispatch::Level::detected()).to_string(),
            rustc: rustc.clone(),
            op: m.op.to_owned(),
            case: m.case.to_owned(),
            bytes: m.bytes,
            kernel: m.kernel.to_owned(),
            ours_ns: round3(m.ours.median),
            ours_quarter_ns: round3(m.ours.quarter),
            ours_three_quarters_ns: round3(m.ours.three_quarters),
            peer: m.peer.clone(),
            peer_version: m.peer_version.clone(),
            peer_ns: round3(m.theirs.median),
            peer_quarter_ns: round3(m.theirs.quarter),
            peer_three_quarters_ns: round3(m.theirs.three_quarters),
            ratio: round3(m.theirs.median / m.ours.median),
        };
        let same = |r: &&mut Row| {
            (&r.op, &r.case, r.bytes, &r.peer, &r.level) == (&row.op, &row.case, row.bytes, &row.peer, &row.level)
        };
        match rows.iter_mut().find(same) {
            Some(old) => *old = row,
            None => rows.push(row),
        }
    }
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut writer = csv::Writer::from_path(&path)?;
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()?;
    Ok(path)
}

/// Reads a record.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Row>> {
    csv::Reader::from_path(path)?.deserialize().collect::<Result<_, _>>().map_err(io::Error::from)
}

/// The newest record of this CPU, or of any if it has none.
pub(crate) fn newest() -> io::Result<PathBuf> {
    let records = perf_directory().join("records");
    let mut paths = Vec::new();
    for directory in std::fs::read_dir(&records)? {
        let directory = directory?.path();
        let own = directory.file_name().is_some_and(|n| n == cpu().as_str());
        for file in std::fs::read_dir(directory)? {
            let path = file?.path();
            paths.push((own, path.file_name().map(ToOwned::to_owned), path));
        }
    }
    paths.into_iter().max().map(|(.., path)| path).ok_or_else(|| io::Error::other("no record in perf/records"))
}

/// Vendor, family and model: names of virtual CPUs say less.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let value = info.lines().find_map(|l| l.strip_prefix(name)?.trim_start().strip_prefix(':').map(str::trim));
        value.unwrap_or("unknown").to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    };
    if info.contains("vendor_id") {
        format!("{}-family{}-model{}", field("vendor_id"), field("cpu family"), field("model"))
    } else {
        format!("{}-part{}", std::env::consts::ARCH, field("CPU part"))
    }
}

/// What a program prints, run in the workspace; empty if it cannot be run.
pub(crate) fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(perf_directory()).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}
