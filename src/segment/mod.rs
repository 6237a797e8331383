//! A file of batches, read in bounded memory.

use crate::formats;
use crate::validate::{Finding, Totals, Validator, Walk};
use std::io::{self, Read};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Reads `source`, which holds `len` bytes as far as is known, and checks it.
///
/// Memory: a buffer of 1 MiB, or as large as the largest batch. Findings come in the order of their place.
///
/// # Errors
/// Those of reading.
pub fn verify(
    mut source: impl Read,
    len: u64,
    validator: Validator,
    finding: &mut dyn FnMut(Finding),
) -> io::Result<Totals> {
    let mut walk = Walk::new(validator);
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut read, mut ended) = (0, 0, false);
    loop {
        while !ended && filled < buffer.len() {
            match source.read(&mut buffer[filled..]) {
                Ok(0) => ended = true,
                Ok(n) => {
                    filled += n;
                    read += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        // A file that shrank ends where it ends; one that grew is read on.
        let after = if ended { 0 } else { len.saturating_sub(read).max(1) };
        let fed = walk.feed(&buffer[..filled], after, finding);
        buffer.copy_within(fed.consumed..filled, 0);
        filled -= fed.consumed;
        if ended {
            return Ok(walk.totals());
        }
        if fed.wanted > buffer.len() {
            // Grows no faster than data arrive, whatever the length field claims.
            buffer.resize(fed.wanted.min(2 * buffer.len()), 0);
        }
    }
}

/// The format that the start of a file looks like.
#[must_use]
pub fn detect(head: &[u8]) -> Option<&'static dyn formats::Format> {
    formats::detect(head)
}
