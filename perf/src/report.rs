//! From a record to the table of README.md and to charts.

use crate::chart;
use crate::record::{self, Row, perf_directory};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;

/// Writes the charts, and the table between the marks in README.md and in perf/README.md.
pub(crate) fn report(record: Option<PathBuf>) -> io::Result<()> {
    let path = match record {
        Some(path) => path,
        None => record::newest()?,
    };
    let rows = record::read(&path)?;
    let first = rows.first().ok_or_else(|| io::Error::other("the record is empty"))?;
    let shown = path.strip_prefix(perf_directory()).unwrap_or(&path).display();
    let source = format!(
        "From `perf/{shown}`: {}, level {}, {}, commit {}.\n\n",
        first.cpu, first.level, first.rustc, first.commit
    );
    replace("README.md", "performance", &format!("{source}{}", summary(&rows)))?;
    replace("perf/README.md", "figures", &format!("{source}{}", full(&rows)))?;
    for chart in chart::draw(&rows)? {
        println!("{}", chart.display());
    }
    Ok(())
}

/// One line per operation, case and peer: the ratios over the sizes.
fn summary(rows: &[Row]) -> String {
    let mut groups: BTreeMap<(usize, &str, &str, &str), Vec<&Row>> = BTreeMap::new();
    let order: Vec<&str> = crate::ops::OPS.iter().map(|o| o.name).collect();
    for row in rows {
        let at = order.iter().position(|o| *o == row.op).unwrap_or(order.len());
        groups.entry((at, &row.op, &row.case, &row.peer)).or_default().push(row);
    }
    let mut table = String::from(
        "| operation | case | peer | sizes, bytes | times faster than the peer, lowest to highest | lost at |\n\
         |---|---|---|---|---|---|\n",
    );
    for ((_, op, case, peer), mut rows) in groups {
        rows.sort_by_key(|r| r.bytes);
        let sizes = match (rows.first(), rows.last()) {
            (Some(a), Some(b)) if a.bytes != b.bytes => format!("{} to {}", a.bytes, b.bytes),
            (Some(a), _) => a.bytes.to_string(),
            _ => continue,
        };
        let ratios: Vec<f64> = rows.iter().map(|r| r.ratio).collect();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        let range = if rows.len() == 1 { format!("{low:.2}") } else { format!("{low:.2} to {high:.2}") };
        let lost: Vec<String> = rows.iter().filter(|r| r.ratio < 1.0).map(|r| r.bytes.to_string()).collect();
        let version = &rows[0].peer_version;
        let _ = writeln!(table, "| {op} | {case} | {peer} {version} | {sizes} | {range} | {} |", lost.join(", "));
    }
    table
}

/// Every line of the record.
fn full(rows: &[Row]) -> String {
    let mut table = String::from(
        "| operation | case | bytes | kernel | ours, ns (quartiles) | peer | peer, ns (quartiles) | ratio |\n\
         |---|---|---:|---|---:|---|---:|---:|\n",
    );
    for r in rows {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {:.2} ({:.2}..{:.2}) | {} {} | {:.2} ({:.2}..{:.2}) | {:.2} |",
            r.op,
            r.case,
            r.bytes,
            r.kernel,
            r.ours_ns,
            r.ours_quarter_ns,
            r.ours_three_quarters_ns,
            r.peer,
            r.peer_version,
            r.peer_ns,
            r.peer_quarter_ns,
            r.peer_three_quarters_ns,
            r.ratio
        );
    }
    table
}

/// Replaces what stands between `<!-- mark -->` and `<!-- /mark -->` in a file of the workspace.
fn replace(file: &str, mark: &str, with: &str) -> io::Result<()> {
    let path = perf_directory().join("..").join(file);
    let text = std::fs::read_to_string(&path)?;
    let missing = || io::Error::other(format!("{file} has no section {mark}"));
    let (before, rest) = text.split_once(&format!("<!-- {mark} -->\n")).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&format!("<!-- /{mark} -->")).ok_or_else(missing)?;
    std::fs::write(&path, format!("{before}<!-- {mark} -->\n{with}<!-- /{mark} -->{after}"))
}
