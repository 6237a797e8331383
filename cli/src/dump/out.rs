//! Where lines go.

use crate::paths::shown;
use std::io::{self, StdoutLock, Write};
use std::path::Path;

/// Bytes that are gathered before they are written.
const SPILL: usize = 128 << 10;

/// The standard output, written to in large pieces, and the account of what went wrong.
pub(super) struct Out {
    /// The line that is being made, and those before it.
    pub(super) buffer: Vec<u8>,
    to: StdoutLock<'static>,
    /// Why nothing can be written any more.
    failure: Option<io::Error>,
    /// Lines about damage.
    pub(super) damages: u64,
    /// Lines about files that could not be read.
    pub(super) failures: u64,
}

impl Out {
    pub(super) fn new() -> Self {
        Out { buffer: Vec::with_capacity(2 * SPILL), to: io::stdout().lock(), failure: None, damages: 0, failures: 0 }
    }

    /// Ends the line.
    #[inline]
    pub(super) fn end(&mut self) {
        self.buffer.push(b'\n');
        if self.buffer.len() >= SPILL {
            self.spill();
        }
    }

    #[cold]
    fn spill(&mut self) {
        if self.failure.is_none()
            && let Err(e) = self.to.write_all(&self.buffer)
        {
            self.failure = Some(e);
        }
        self.buffer.clear();
        // One huge value is no reason to hold on to its memory.
        self.buffer.shrink_to(16 * SPILL);
    }

    fn flush(&mut self) {
        self.spill();
        if self.failure.is_none() {
            self.failure = self.to.flush().err();
        }
    }

    /// Whether anybody still reads.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.failure.is_none()
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.flush();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// A line on the standard error stream, behind all that was printed so far.
    pub(super) fn aside(&mut self, line: std::fmt::Arguments<'_>) {
        self.flush();
        // Nobody to tell that nobody can be told.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Tells of damage.
    pub(super) fn damage(&mut self, path: &Path, what: std::fmt::Arguments<'_>) {
        self.damages += 1;
        self.aside(format_args!("batchwise: {}: {what}", shown(path)));
    }

    /// Tells that a file could not be read.
    pub(super) fn failed(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.failures += 1;
        self.aside(format_args!("batchwise: {}: {why}", shown(path)));
    }
}
