//! Files of batches, read in bounded memory.

mod parallel;
mod side;
mod window;

use std::io;

use crate::validate::{Sink, Totals, Validator, Walk};
pub use parallel::{Job, Verified, verify_all};
pub use side::{AbortedTxn, OffsetIndexEntry, ProducerEntry, SideFile, SideKind, SnapshotHeader, TimeIndexEntry};
pub use window::ReadAt;
use window::Window;

/// Checks everything in `source` and tells `sink` as it goes along, on the caller's thread.
///
/// What is checked is what is there when it begins. Memory: 256 KiB, or as much as the largest batch; a batch longer
/// than 8 MiB is held only after its checksum was found to be right, and of one whose checksum is wrong no record is read.
///
/// ```
/// use batchwise::{Finding, Validator, kafka, segment};
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v2-none-counts/00000000000000000000.log");
/// let file = std::fs::File::open(path)?;
/// let mut findings = Vec::new();
/// let totals = segment::verify(&file, Validator::new(&kafka::Log), &mut |f: Finding| findings.push(f))?;
/// assert!(totals.is_valid() && totals.batches > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of reading.
pub fn verify<S: ReadAt + ?Sized>(source: &S, validator: Validator<'_>, sink: &mut dyn Sink) -> io::Result<Totals> {
    let mut window = Window::new(source, source.size()?, Vec::new());
    let mut walk = Walk::new(validator);
    walk.advance(&mut window, u64::MAX, sink)?;
    walk.end(sink);
    Ok(walk.totals())
}
