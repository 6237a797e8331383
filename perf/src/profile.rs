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
    let mut samples = report.pprof().map_err(io::Error::other)?;
    samples.string_table.iter_mut().for_each(|text| *text = without_machine(text).to_owned());
    std::fs::File::create(directory.join(format!("{name}.pb")))?.write_all(&samples.encode_to_vec())?;
    println!("{}", svg.display());
    Ok(())
}

/// A path of ours from the project's root on, that of a dependency from its name on: where they lie here is of no use
/// elsewhere.
fn without_machine(text: &str) -> &str {
    let root = perf_directory().parent().and_then(std::path::Path::to_str);
    let ours = root.and_then(|root| text.strip_prefix(root)?.strip_prefix('/'));
    let dependency = || text.split_once("/registry/src/")?.1.split_once('/').map(|(_, path)| path);
    ours.or_else(dependency).unwrap_or(text)
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
    let root = perf_directory().parent();
    for symbol in frames.frames.iter_mut().flatten() {
        let file = root.and_then(|root| symbol.filename.as_deref()?.strip_prefix(root).ok()?.to_str());
        if let Some(file) = file {
            let file = file.strip_prefix("kernels/src/").or_else(|| file.strip_prefix("src/")).unwrap_or(file);
            let name = symbol.name();
            let name = name.split('<').next().filter(|n| !n.is_empty()).unwrap_or(&name);
            symbol.name = Some(format!("{file} {name}").into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::{Reader, events::Event};

    /// Names of all elements of a well-formed file.
    fn elements(path: &std::path::Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let mut reader = Reader::from_str(&text);
        let (mut names, mut depth) = (Vec::new(), 0);
        loop {
            match reader.read_event().unwrap_or_else(|e| panic!("{}: {e}", path.display())) {
                Event::Start(e) => {
                    depth += 1;
                    names.push(String::from_utf8_lossy(e.name().as_ref()).into_owned());
                }
                Event::Empty(e) => names.push(String::from_utf8_lossy(e.name().as_ref()).into_owned()),
                Event::End(_) => depth -= 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0, "{} ends in the middle", path.display());
        names
    }

    fn svgs(directory: &str) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(perf_directory().join(directory)).unwrap().map(|e| e.unwrap().path());
        entries.filter(|p| p.extension().is_some_and(|e| e == "svg")).collect()
    }

    #[test]
    fn paths_begin_at_the_project_or_a_dependency() {
        let root = perf_directory().parent().unwrap().to_str().unwrap().to_owned();
        assert_eq!(without_machine(&format!("{root}/kernels/src/lib.rs")), "kernels/src/lib.rs");
        assert_eq!(
            without_machine("/home/a/.cargo/registry/src/index.x-1/snap-1.1.2/src/lib.rs"),
            "snap-1.1.2/src/lib.rs"
        );
        assert_eq!(without_machine("memcpy"), "memcpy");
    }

    #[test]
    fn charts_open_and_show_us() {
        assert!(svgs("charts").len() > 4);
        for path in svgs("charts") {
            assert!(elements(&path).iter().any(|e| e == "polyline"), "{} has lines", path.display());
            assert!(std::fs::read_to_string(&path).unwrap().contains("batchwise"), "{} shows us", path.display());
        }
    }

    #[test]
    fn flamegraphs_open_name_our_functions_and_are_read() {
        let page = std::fs::read_to_string(perf_directory().join("flamegraphs/README.md")).unwrap();
        assert!(svgs("flamegraphs").len() > 4);
        for path in svgs("flamegraphs") {
            assert!(elements(&path).iter().filter(|e| *e == "title").count() > 20, "{} has frames", path.display());
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(["crc32c/", "xxh3/", "formats/", "varint/"].iter().any(|room| text.contains(room)), "{path:?}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(page.contains(&format!("({name})")), "the page reads {name}");
            let samples = std::fs::read(path.with_extension("pb")).expect("its samples are beside it");
            let texts = pprof::protos::Profile::decode(&samples[..]).unwrap().string_table;
            // The standard library is built where nobody is.
            let is_of_rust = |t: &str| t.starts_with("/rustc/") || t.starts_with("/rust/deps/");
            assert!(texts.iter().all(|t| !t.starts_with('/') || is_of_rust(t)), "{name} tells of a machine");
            // Each function that the page names for a graph is in it.
            let (_, chapter) = page.split_once(&format!("({name})")).unwrap();
            let chapter = chapter.split_once("\n## ").map_or(chapter, |(c, _)| c);
            for function in chapter.split('`').skip(1).step_by(2).filter(|f| f.contains(".rs ")) {
                assert!(text.contains(function), "{name} shows `{function}`");
            }
        }
    }
}
