//! Charts: throughput over size, all contenders, both axes logarithmic.

use crate::record::{Row, perf_directory};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Colours that stay apart for colour-blind eyes (Okabe and Ito); ours is the first.
const COLOURS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
];

/// Bytes and GB/s.
type Points = Vec<(f64, f64)>;

/// A chart for each operation and case with at least four sizes, in `perf/charts`.
pub(crate) fn draw(rows: &[Row]) -> io::Result<Vec<PathBuf>> {
    let mut cases: BTreeMap<(&str, &str), BTreeMap<String, Points>> = BTreeMap::new();
    for row in rows {
        // Bytes per nanosecond are GB/s.
        let point = |ns: f64| (row.bytes as f64, row.bytes as f64 / ns);
        let lines = cases.entry((&row.op, &row.case)).or_default();
        let ours = lines.entry(" batchwise".into()).or_default();
        if !ours.iter().any(|p| p.0 == row.bytes as f64) {
            ours.push(point(row.ours_ns));
        }
        lines.entry(format!("{} {}", row.peer, row.peer_version)).or_default().push(point(row.peer_ns));
    }
    let directory = perf_directory().join("charts");
    std::fs::create_dir_all(&directory)?;
    let mut drawn = Vec::new();
    for ((op, case), mut lines) in cases {
        for points in lines.values_mut() {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        if lines.values().map(Vec::len).max() >= Some(4) {
            let path = directory.join(format!("{op}-{case}.svg"));
            chart(&path, &format!("{op}, {case}"), &lines).map_err(io::Error::other)?;
            drawn.push(path);
        }
    }
    Ok(drawn)
}

fn chart(
    path: &std::path::Path,
    title: &str,
    lines: &BTreeMap<String, Points>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let all = || lines.values().flatten();
    let range = |f: fn(&(f64, f64)) -> f64| {
        let low = all().map(f).fold(f64::INFINITY, f64::min);
        let high = all().map(f).fold(0.0, f64::max);
        (low * 0.8, high * 1.25)
    };
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    let root = SVGBackend::new(path, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 24))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d((x.0..x.1).log_scale().base(4.0), (y.0..y.1).log_scale().base(2.0))?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(BLACK.mix(0.15))
        .x_desc("bytes")
        .y_desc("GB/s (higher is better)")
        .x_label_formatter(&|v| size(*v))
        .y_label_formatter(&|v| format!("{v:.3}").trim_end_matches('0').trim_end_matches('.').to_owned())
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    // In the order in which the lines end, and each peer in one colour, dashed where it is built for the native CPU.
    let mut lines: Vec<_> = lines.iter().collect();
    lines.sort_by(|a, b| height(b.1).total_cmp(&height(a.1)));
    let mut peers: Vec<&str> = lines.iter().map(|(name, _)| peer(name)).collect();
    peers.sort_unstable();
    peers.dedup();
    for (name, points) in lines {
        let number = peers.iter().position(|p| *p == peer(name)).unwrap_or(0);
        let width = if name.starts_with(' ') { 3 } else { 2 };
        let style = COLOURS[number % COLOURS.len()].stroke_width(width);
        let points = points.iter().copied();
        if name.contains(NATIVE) {
            chart
                .draw_series(DashedLineSeries::new(points, 7, 5, style))?
                .label(name)
                .legend(move |(x, y)| DashedPathElement::new([(x, y), (x + 24, y)], 7, 5, style));
        } else {
            chart
                .draw_series(LineSeries::new(points, style).point_size(3))?
                .label(name.trim())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 14))
        .draw()?;
    root.present()?;
    Ok(())
}

/// How peers are marked that were built for the native CPU.
const NATIVE: &str = "-native";

/// The name without version and build.
fn peer(name: &str) -> &str {
    let name = name.rsplit_once(' ').map_or(name, |(name, _)| name);
    name.trim_end_matches(NATIVE)
}

/// Where the line ends on the right.
fn height(points: &Points) -> f64 {
    points.last().map_or(0.0, |p| p.1)
}

/// The ticks are powers of four.
fn size(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    match bytes {
        b if b >= KIB * KIB => format!("{:.0} MiB", b / KIB / KIB),
        b if b >= KIB => format!("{:.0} KiB", b / KIB),
        b => format!("{b:.0} B"),
    }
}
