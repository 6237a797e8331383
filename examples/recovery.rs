//! Recovery of a damaged segment: every sound batch is kept, what was lost is told.
//!
//! `cargo run --example recovery [SEGMENT]` (without one, a segment that it damages itself)

use batchwise::{Batch, Finding, Severity, Sink, Validator, kafka, segment};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Copies sound batches; bytes and batches come in the order of the segment, through bounded memory.
struct Recover<W> {
    kept: W,
    batches: u64,
    result: io::Result<()>,
}

impl<W: Write> Sink for Recover<W> {
    fn finding(&mut self, finding: Finding) {
        let defect = finding.defect;
        if defect.severity == Severity::Error || finding.batch.is_none() {
            println!("{}: {}", defect.severity.name(), defect.error);
        }
    }

    fn batch(&mut self, batch: &Batch, bytes: &[u8]) {
        if batch.is_valid() && self.result.is_ok() {
            self.batches += 1;
            self.result = self.kept.write_all(bytes);
        }
    }

    fn wants_bytes(&self) -> bool {
        true
    }
}

fn main() -> io::Result<()> {
    let folder = std::env::temp_dir().join(format!("batchwise-recovery-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let source = match std::env::args_os().nth(1) {
        Some(path) => path.into(),
        None => {
            let path = folder.join("00000000000123456789.log");
            std::fs::write(&path, damaged()?)?;
            path
        }
    };

    let target = folder.join("recovered.log");
    let mut recover = Recover { kept: BufWriter::new(File::create(&target)?), batches: 0, result: Ok(()) };
    let before = segment::verify(&File::open(&source)?, Validator::new(&kafka::Log), &mut recover)?;
    recover.result?;
    recover.kept.flush()?;
    println!(
        "{}: {} batches found, {} errors, {} batches kept",
        source.display(),
        before.batches,
        before.errors,
        recover.batches
    );

    // The copy holds nothing that is wrong.
    let after = segment::verify(&File::open(&target)?, Validator::new(&kafka::Log), &mut |_: Finding| {})?;
    assert_eq!((after.batches, after.errors), (recover.batches, 0));
    std::fs::remove_dir_all(folder)
}

/// A real segment with a flipped bit, a length that was overwritten, and a torn tail.
fn damaged() -> io::Result<Vec<u8>> {
    let path = "/tests/data/kafka/v2-many-small-batches/00000000000123456789.log";
    let mut bytes = std::fs::read(format!("{}{path}", env!("CARGO_MANIFEST_DIR")))?;
    bytes.truncate(bytes.len() - 10);
    bytes[5_000] ^= 4;
    // The second batch's length field.
    let second = 12 + u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
    bytes[second + 8..second + 12].fill(0x7f);
    Ok(bytes)
}
