//! `batchwise bench`.

use crate::args::Bench;
use crate::open;
use crate::paths::{Target, shown};
use crate::{FAILED, VALID};
use batchwise::kernels::dispatch::{self, Level};
use batchwise::{Depth, Finding, Options, Validator, segment};
use std::io::{self, Read, Seek, Write};
use std::time::Instant;

/// Runs of which the fastest counts; the first one brings the file into memory.
const RUNS: usize = 5;

pub(crate) fn run(args: &Bench) -> io::Result<u8> {
    let mut file = match open::open(&args.file) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("batchwise: {}: {error}", shown(&args.file));
            return Ok(FAILED);
        }
    };
    let format = match open::format_of(args.format, &args.file, &file) {
        Ok(format) => format,
        Err(failure) => {
            eprintln!("batchwise: {}: {failure}", shown(&args.file));
            return Ok(FAILED);
        }
    };
    let target = Target::new(args.file.clone());
    let bytes = file.metadata()?.len();
    let mut out = io::stdout().lock();
    let mut buffer = vec![0; 256 << 10];
    let plain = fastest(|| {
        file.rewind()?;
        while file.read(&mut buffer)? > 0 {}
        Ok(())
    })?;
    let rate = |seconds: f64| bytes as f64 / seconds.max(1e-9) / 1e9;
    writeln!(out, "{}, {}, {bytes} bytes, one thread, fastest of {RUNS}\n", shown(&target.path), format.name())?;
    writeln!(out, "{:<10} {:<11} {:>8} {:>20}", "level", "depth", "GB/s", "of a plain read")?;
    writeln!(out, "{:<10} {:<11} {:>8.2} {:>20}", "-", "read", rate(plain), "1.00")?;
    let (before, detected) = (dispatch::cap(), Level::detected());
    for level in Level::all().filter(|l| *l <= detected) {
        dispatch::set_cap(level);
        for (name, depth) in [("checksums", Depth::Checksums), ("records", Depth::Records)] {
            let mut options = Options::default();
            options.depth = depth;
            let validator = Validator::new(format).options(options).base_offset(target.base_offset);
            let time = fastest(|| segment::verify(&file, validator, &mut |_: Finding| {}).map(drop))?;
            writeln!(out, "{:<10} {name:<11} {:>8.2} {:>20.2}", level.name(), rate(time), plain / time)?;
        }
    }
    dispatch::set_cap(before);
    Ok(VALID)
}

fn fastest(mut run: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
