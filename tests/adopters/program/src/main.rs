//! Runs adopters of `crc32c` on real Kafka segments, then times them on batches of 1 MiB.
//!
//! `adopters check DIRECTORY` prints one line per adopter and segment; `adopters time [EARLIER]` prints nanoseconds per
//! batch, beside those of an earlier run.

mod adopters;
mod timing;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

pub type Result<T = (), E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// A segment file of record batches of magic 2.
pub struct Segment {
    pub name: String,
    pub bytes: Vec<u8>,
}

fn main() -> Result {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", directory] => check(Path::new(directory)),
        ["time"] => timing::run(""),
        ["time", earlier] => timing::run(&fs::read_to_string(earlier)?),
        _ => Err("usage: adopters check DIRECTORY | adopters time [EARLIER]".into()),
    }
}

fn check(directory: &Path) -> Result {
    let segments = segments(directory)?;
    if segments.is_empty() {
        return Err(format!("no segments in {}", directory.display()).into());
    }
    for segment in &segments {
        let seen = adopters::kafka_protocol::check(segment).map_err(|e| format!("{}: {e}", segment.name))?;
        println!("kafka-protocol  {:<28} {seen}", segment.name);
        let seen = adopters::rskafka::check(segment).map_err(|e| format!("{}: {e}", segment.name))?;
        println!("rskafka         {:<28} {seen}", segment.name);
    }
    println!("commitlog       {}", adopters::commitlog::check(&segments)?);
    println!("okaywal         {}", adopters::okaywal::check(&segments)?);
    Ok(())
}

/// The segments of magic 2 in the folders of `directory`, by name.
fn segments(directory: &Path) -> Result<Vec<Segment>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in fs::read_dir(directory)? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(&folder)? {
                paths.push(file?.path());
            }
        }
    }
    paths.sort();
    let mut segments = Vec::new();
    for path in paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "log")) {
        let bytes = fs::read(&path)?;
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let known = |b: Option<&[u8]>| b.is_some_and(|b| b[16] == 2);
        if !bytes.is_empty() && batches(&bytes).all(known) {
            segments.push(Segment { name: folder.to_string_lossy().into_owned(), bytes });
        }
    }
    Ok(segments)
}

/// The batches of a segment, by their length fields; `None` at the end of one that is cut short.
pub fn batches(mut rest: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = rest.get(8..12).map(|l| u32::from_be_bytes([l[0], l[1], l[2], l[3]]) as usize + 12);
        match length.filter(|&n| n >= 61).and_then(|n| rest.split_at_checked(n)) {
            Some((batch, after)) => {
                rest = after;
                Some(Some(batch))
            }
            None => {
                rest = &[];
                Some(None)
            }
        }
    })
}

/// CRC-32C bit by bit from its definition: the judge of what adopters write.
pub fn crc32c_by_definition(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82F6_3B78 & 0u32.wrapping_sub(crc & 1)))
    })
}

/// Whether every batch of `encoded` is whole and has the right checksum.
pub fn checksums_hold(encoded: &[u8]) -> bool {
    batches(encoded).all(|batch| {
        batch.is_some_and(|b| u32::from_be_bytes([b[17], b[18], b[19], b[20]]) == crc32c_by_definition(&b[21..]))
    })
}
