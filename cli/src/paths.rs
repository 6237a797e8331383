//! Which files to look at.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Endings of the files that hold batches.
const ENDINGS: [&str; 2] = ["log", "checkpoint"];

/// The files that `path` stands for: itself, or all segment files below it in the order of their names.
pub(crate) fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !std::fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    collect(path, &mut found)?;
    Ok(found)
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Symbolic links are not followed, so a loop of them ends nothing.
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&path, found)?;
        } else if kind.is_file() && has_segment_name(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether the name is that of a segment: its base offset and a known ending.
pub(crate) fn has_segment_name(path: &Path) -> bool {
    let stem_ok = path.file_stem().and_then(OsStr::to_str).is_some_and(|s| {
        s.as_bytes().first_chunk::<20>().is_some_and(|digits| digits.iter().all(u8::is_ascii_digit)) || s == "bootstrap"
    });
    stem_ok && path.extension().and_then(OsStr::to_str).is_some_and(|e| ENDINGS.contains(&e))
}
