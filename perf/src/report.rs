//! From a record to the table of README.md and to charts.

use crate::chart;
use crate::record::{self, Row, perf_directory};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the charts, and the tables between the marks in README.md and in perf/README.md.
pub(crate) fn report(record: Option<PathBuf>) -> io::Result<()> {
    let path = match record {
        Some(path) => path,
        None => record::newest()?,
    };
    let rows = record::read(&path)?;
    for (file, mark, text) in sections(&path, &rows)? {
        replace(file, mark, &text)?;
    }
    for chart in chart::draw(&rows)? {
        println!("{}", chart.display());
    }
    Ok(())
}

/// File of the workspace, mark and text of everything that a record says.
fn sections(path: &Path, rows: &[Row]) -> io::Result<[(&'static str, &'static str, String); 3]> {
    let first = rows.first().ok_or_else(|| io::Error::other("the record is empty"))?;
    let shown = path.strip_prefix(perf_directory()).unwrap_or(path).display();
    let source = format!(
        "From `perf/{shown}`: {}, level {}, {}, commit {}.\n\n",
        first.cpu, first.level, first.rustc, first.commit
    );
    Ok([
        ("README.md", "performance", format!("{source}{}", summary(rows))),
        ("perf/README.md", "losses", losses(rows)),
        ("perf/README.md", "figures", format!("{source}{}", full(rows))),
    ])
}

/// Every line that a peer wins, the worst first.
fn losses(rows: &[Row]) -> String {
    let mut lost: Vec<&Row> = rows.iter().filter(|r| r.ratio < 1.0).collect();
    lost.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let mut table = String::from(
        "| operation | case | bytes | peer | ours, ns | peer, ns | ratio |\n|---|---|---:|---|---:|---:|---:|\n",
    );
    for r in lost {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} {} | {:.2} | {:.2} | {:.2} |",
            r.op, r.case, r.bytes, r.peer, r.peer_version, r.ours_ns, r.peer_ns, r.ratio
        );
    }
    table
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
    let (path, text) = read(file)?;
    let (before, _, after) =
        cut(&text, mark).ok_or_else(|| io::Error::other(format!("{file} has no section {mark}")))?;
    std::fs::write(&path, format!("{before}{with}{after}"))
}

fn read(file: &str) -> io::Result<(PathBuf, String)> {
    let path = perf_directory().join("..").join(file);
    let text = std::fs::read_to_string(&path)?;
    Ok((path, text))
}

/// What stands before, between and behind the marks.
fn cut<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let open = format!("<!-- {mark} -->\n");
    let from = text.find(&open)? + open.len();
    let to = from + text[from..].find(&format!("<!-- /{mark} -->"))?;
    Some((&text[..from], &text[from..to], &text[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_what_the_record_says() {
        let (_, readme) = read("README.md").unwrap();
        let (_, table, _) = cut(&readme, "performance").unwrap();
        let (_, source) = table.split_once("From `perf/").unwrap();
        let path = perf_directory().join(source.split_once('`').unwrap().0);
        let rows = record::read(&path).unwrap();
        assert!(rows.iter().all(|r| (r.peer_ns / r.ours_ns - r.ratio).abs() <= 0.03 * r.ratio), "ratios are quotients");
        for (file, mark, want) in sections(&path, &rows).unwrap() {
            let (_, text) = read(file).unwrap();
            let (_, have, _) = cut(&text, mark).unwrap();
            assert!(have == want, "{mark} in {file} is not what {path:?} says: run `batchwise-perf report`");
        }
    }

    /// A figure in a sentence would be in no record.
    #[test]
    fn sentences_about_speed_have_no_figures() {
        let (_, readme) = read("README.md").unwrap();
        let (_, chapter) = readme.split_once("## Performance\n").unwrap();
        let (sentences, _) = chapter.split_once("<!-- performance -->").unwrap();
        for word in sentences.split_whitespace() {
            let digits = word.starts_with(|c: char| c.is_ascii_digit());
            assert!(!digits && !word.contains('%'), "README.md claims {word:?} in a sentence");
        }
    }
}
