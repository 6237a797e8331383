//! The laws of ARCHITECTURE.md, held against the sources.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Rust files below a directory of the workspace, with their text stripped of comments.
fn sources(directory: &str) -> Vec<(PathBuf, String)> {
    fn collect(directory: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(directory).expect("a directory of the workspace") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                let code = text.lines().map(|l| l.split_once("//").map_or(l, |(code, _)| code));
                out.push((path, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    let mut out = Vec::new();
    collect(&root().join(directory), &mut out);
    assert!(!out.is_empty(), "{directory} has sources");
    out
}

fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(before) && !is_part(after)
    })
}

fn nowhere(directory: &str, words: &[&str], law: &str) {
    for (path, code) in sources(directory) {
        for word in words {
            assert!(!contains_word(&code, word), "{law}: {} says `{word}`", path.display());
        }
    }
}

#[test]
fn unsafe_code_lives_in_the_kernels() {
    for directory in ["src", "cli/src", "perf/src", "benches", "tests"] {
        for (path, code) in sources(directory) {
            let blocks = code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl");
            // A peer whose fastest functions are unsafe is measured by those.
            let exempt = path.ends_with("tests/laws.rs") || path.ends_with("perf/src/ops/varint.rs");
            assert!(!blocks || exempt, "{} has unsafe code", path.display());
        }
    }
    assert!(fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs").contains("#![forbid(unsafe_code)]"));
}

#[test]
fn kernels_know_no_format_and_depend_on_nothing() {
    nowhere("kernels/src", &["kafka", "iggy", "Kafka", "Iggy"], "kernels never see a format's name");
    let manifest = fs::read_to_string(root().join("kernels/Cargo.toml")).expect("kernels/Cargo.toml");
    assert!(!manifest.contains("[dependencies]"), "the kernels have no dependencies");
}

#[test]
fn formats_know_no_instruction_set() {
    let words = ["sse2", "sse42", "avx2", "avx512", "neon", "target_arch", "target_feature"];
    nowhere("src", &words, "the library never sees an instruction set's name");
}

#[test]
fn arrows_point_down() {
    nowhere("src/wire", &["formats", "codec", "validate", "segment"], "wire is the lowest room");
    nowhere("src/formats", &["validate", "segment"], "formats do not know who uses them");
    nowhere("src/validate", &["kafka", "iggy", "segment"], "the validator never matches on a format");
    if root().join("src/codec").is_dir() {
        nowhere("src/codec", &["formats", "validate", "segment"], "codecs know bytes only");
    }
}

#[test]
fn files_are_rooms_not_halls() {
    for directory in ["kernels/src", "src", "cli/src", "perf/src"] {
        for (path, code) in sources(directory) {
            let lines = code.lines().count();
            assert!(lines <= 450, "{} has {lines} lines", path.display());
        }
    }
}
