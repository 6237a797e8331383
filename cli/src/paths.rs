//! Which files to look at.

use crate::open;
use batchwise::segment::SideKind;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// A path as it is shown to people: control characters, which could move a cursor or forge a line, are escaped.
pub(crate) fn shown(path: &Path) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    path.to_string_lossy().chars().map(escape).collect()
}

/// A file of batches, and what lies beside it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// The number in its name, if it is named like a segment.
    pub(crate) base_offset: Option<u64>,
    /// Whether it has the highest number in its directory.
    pub(crate) is_newest: bool,
    /// Indexes and snapshots of the same number.
    pub(crate) sides: Vec<PathBuf>,
    /// Whether there is no such file, but only what would lie beside it.
    pub(crate) is_missing: bool,
    /// Whether it was not asked for, but what lies beside it.
    pub(crate) only_sides: bool,
}

impl Target {
    pub(crate) fn new(path: PathBuf) -> Self {
        let base_offset = base_offset(&path);
        Target { path, base_offset, is_newest: true, sides: Vec::new(), is_missing: false, only_sides: false }
    }
}

/// Files found, and what could not be looked at.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) targets: Vec<Target>,
    pub(crate) failures: Vec<(PathBuf, io::Error)>,
    /// Links that were passed over, to directories or from a log's name to nothing, and why.
    pub(crate) links: Vec<(PathBuf, io::Error)>,
}

/// Lists the files that `paths` stand for: themselves, and for directories the segments below them, by their names.
pub(crate) fn list(paths: &[PathBuf]) -> Listing {
    let mut listing = Listing::default();
    for path in paths {
        let (found, failed) = (listing.targets.len(), listing.failures.len());
        if let Err(e) = listing.add(path) {
            listing.failures.push((path.clone(), e));
        } else if listing.targets.len() == found && listing.failures.len() == failed {
            let error = io::Error::other("no segment files in this directory");
            listing.failures.push((path.clone(), error));
        }
    }
    listing
}

/// Says which links were passed over.
pub(crate) fn tell_links(listing: &Listing) {
    for (link, why) in &listing.links {
        eprintln!("batchwise: {}: {why}", shown(link));
    }
}

impl Listing {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return self.add_directory(path);
        }
        if !kind.is_file() {
            return Err(io::Error::other("neither a file nor a directory"));
        }
        let mut target = Target::new(path.to_owned());
        if side_extension(path) && base_offset(path).is_some() {
            // What lies beside a log is looked at with that log, but only it is told about.
            let log = path.with_extension("log");
            let (is_missing, sides) = (!log.is_file(), vec![path.to_owned()]);
            target = Target { is_missing, sides, only_sides: true, ..Target::new(log) };
        }
        target.is_newest = newest_beside(&target.path).is_none_or(|newest| target.base_offset >= Some(newest));
        self.targets.push(target);
        Ok(())
    }

    fn add_directory(&mut self, directory: &Path) -> io::Result<()> {
        let mut entries = std::fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let first = self.targets.len();
        let mut sides: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
        let mut below = Vec::new();
        for entry in entries {
            let path = entry.path();
            let mut kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(e) => {
                    self.failures.push((path, e));
                    continue;
                }
            };
            // Links to directories are not followed, so a loop of them ends nothing; nor is anything read that may block.
            if kind.is_symlink() {
                match std::fs::metadata(&path) {
                    Ok(to) if to.is_dir() => {
                        self.links.push((path.clone(), io::Error::other("a link to a directory is not followed")));
                    }
                    Ok(to) => kind = to.file_type(),
                    // Other names may lead nowhere, as those of locks do.
                    Err(e) if path.extension().is_some_and(|e| e == "log") => self.links.push((path.clone(), e)),
                    Err(_) => {}
                }
            }
            if kind.is_dir() {
                below.push(path);
                continue;
            }
            if !kind.is_file() {
                continue;
            }
            match if has_segment_name(&path) { Ok(true) } else { open::is_log(&path) } {
                Ok(true) => self.targets.push(Target::new(path)),
                Ok(false) => {
                    if let Some(base) = base_offset(&path).filter(|_| side_extension(&path)) {
                        sides.entry(base).or_default().push(path);
                    }
                }
                // Whether it is one cannot be told.
                Err(e) => self.failures.push((path, e)),
            }
        }
        let here = &mut self.targets[first..];
        let newest = here.iter().filter_map(|t| t.base_offset).max();
        for target in here {
            target.is_newest = target.base_offset == newest;
            if extension(&target.path) == "log" {
                target.sides = target.base_offset.and_then(|base| sides.remove(&base)).unwrap_or_default();
            }
        }
        for (base, sides) in sides {
            let path = directory.join(format!("{base:020}.log"));
            self.targets.push(Target { is_missing: true, sides, ..Target::new(path) });
        }
        for directory in below {
            // One directory that cannot be read does not hide the others.
            if let Err(e) = self.add_directory(&directory) {
                self.failures.push((directory, e));
            }
        }
        Ok(())
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// The number that the file's name begins with.
pub(crate) fn base_offset(path: &Path) -> Option<u64> {
    let digits = path.file_stem()?.to_str()?.as_bytes().first_chunk::<20>()?;
    let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok()
}

fn side_extension(path: &Path) -> bool {
    SideKind::ALL.iter().any(|kind| kind.extension() == extension(path))
}

/// Whether the name is that of a segment or of a snapshot of metadata: its number and a known ending.
pub(crate) fn has_segment_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    match extension(path) {
        "log" => base_offset(path).is_some() && stem.len() == 20,
        "checkpoint" => stem == "bootstrap" || (base_offset(path).is_some() && stem.as_bytes().get(20) == Some(&b'-')),
        _ => false,
    }
}

/// The highest number of a log in the directory of `path`.
fn newest_beside(path: &Path) -> Option<u64> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).ok()?.flatten().map(|e| e.path());
    entries.filter(|p| has_segment_name(p)).filter_map(|p| base_offset(&p)).max()
}
