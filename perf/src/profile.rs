//! Flamegraphs of our side of an operation's cases, by sampling.

use crate::ops::Op;
use crate::record::perf_directory;
use pprof::protos::Message;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Runs our side of the operation's cases for `time`, on fresh data, and writes `perf/flamegraphs/OP.svg` and `.pb`.
pub(crate) fn profile(op: &Op, case: Option<&str>, time: Duration) -> io::Result<()> {
    let plans: Vec<_> = (op.cases)().into_iter().filter(|p| case.is_none_or(|c| c == p.name)).collect();
    if plans.is_empty() {
        return Err(io::Error::other("no such case"));
    }
    let guard = pprof::ProfilerGuardBuilder::default()
        .frequency(997)
        .blocklist(&["libc", "libgcc", "pthread", "vdso"])
        .build()
        .map_err(io::Error::other)?;
    let share = time / plans.len() as u32;
    for plan in &plans {
        let mut subject = (plan.build)();
        let start = Instant::now();
        let mut round = 0;
        while start.elapsed() < share {
            // Making the data costs more than most kernels: a hundred runs on each keep it out of the picture.
            subject.refresh(round);
            for _ in 0..100 {
                subject.run(0);
                if start.elapsed() >= share {
                    break;
                }
            }
            round += 1;
        }
    }
    let report = guard.report().frames_post_processor(tidy).build().map_err(io::Error::other)?;
    let directory = perf_directory().join("flamegraphs");
    std::fs::create_dir_all(&directory)?;
    let name = case.map_or_else(|| op.name.to_owned(), |c| format!("{}-{c}", op.name));
    let svg = directory.join(format!("{name}.svg"));
    report.flamegraph(std::fs::File::create(&svg)?).map_err(io::Error::other)?;
    let bytes = report.pprof().map_err(io::Error::other)?.encode_to_vec();
    std::fs::File::create(directory.join(format!("{name}.pb")))?.write_all(&bytes)?;
    println!("{}", svg.display());
    Ok(())
}

/// Leaves out what lies below the operation (the runtime and this program), and puts the file before each of our
/// functions: the name alone, say `update`, is that of many.
fn tidy(frames: &mut pprof::Frames) {
    let below = frames.frames.iter().position(|f| {
        f.iter().any(|s| s.filename.as_deref().is_some_and(|path| path.ends_with("perf/src/profile.rs")))
    });
    if let Some(below) = below {
        frames.frames.truncate(below);
    }
    for symbol in frames.frames.iter_mut().flatten() {
        let ours = symbol.filename.as_deref().and_then(|path| {
            let path = path.to_str()?;
            let at = ["kernels/src/", "perf/src/"].iter().find_map(|room| Some(path.find(room)? + room.len()));
            at.or_else(|| Some(path.rfind("/src/formats/")? + 5)).and_then(|at| path.get(at..))
        });
        if let Some(file) = ours {
            let name = symbol.name();
            let name = name.split('<').next().filter(|n| !n.is_empty()).unwrap_or(&name);
            symbol.name = Some(format!("{file} {name}").into_bytes());
        }
    }
}
