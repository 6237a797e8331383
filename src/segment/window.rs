//! A file seen through a window of bounded size.

use std::fs::File;
use std::io::{self, ErrorKind};

use crate::validate::Input;

/// Bytes read at a time: small enough that they are still in the second-level cache when they are checked.
const CHUNK: usize = 256 << 10;

/// Something that can be read at any place, without a cursor.
pub trait ReadAt {
    /// Reads bytes from `offset` on into `buffer`, as far as they are there, and tells how many.
    ///
    /// # Errors
    /// Those of reading.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// How many bytes there are now.
    ///
    /// # Errors
    /// If that cannot be told.
    fn size(&self) -> io::Result<u64>;
}

impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buffer, offset)
    }

    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }
}

/// The part of a source that is in memory. It grows only as far as bytes arrive.
#[derive(Debug)]
pub(super) struct Window<S> {
    source: S,
    /// End of the source; falls if it turns out to be shorter.
    len: u64,
    /// Place of the first byte in the buffer.
    start: u64,
    filled: usize,
    buffer: Vec<u8>,
}

impl<S: ReadAt> Window<S> {
    /// A window on the first `len` bytes of `source`, with a buffer that is used again.
    pub(super) fn new(source: S, len: u64, buffer: Vec<u8>) -> Self {
        Window { source, len, start: 0, filled: 0, buffer }
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Reads on until `want` bytes from `at` on are there, or the source ends.
    #[cold]
    fn fill(&mut self, at: u64, want: u64) -> io::Result<()> {
        if self.buffer.len() < CHUNK {
            self.buffer.resize(CHUNK, 0);
        }
        let held = self.start + self.filled as u64;
        if (self.start..held).contains(&at) {
            let from = (at - self.start) as usize;
            self.buffer.copy_within(from..self.filled, 0);
            self.filled -= from;
        } else {
            self.filled = 0;
        }
        self.start = at;
        let want = want.min(self.len.saturating_sub(at));
        while (self.filled as u64) < want {
            if self.filled == self.buffer.len() {
                // No faster than the bytes arrive, whatever a length field claims.
                let wanted = usize::try_from(want).unwrap_or(usize::MAX);
                self.buffer.resize(wanted.min(2 * self.filled), 0);
            }
            let next = at + self.filled as u64;
            let room = usize::try_from(self.len - next).unwrap_or(usize::MAX).min(self.buffer.len() - self.filled);
            match self.source.read_at(&mut self.buffer[self.filled..self.filled + room], next) {
                Ok(0) => self.len = next,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            if self.len == next {
                break;
            }
        }
        Ok(())
    }
}

impl<S: ReadAt> Input for Window<S> {
    type Error = io::Error;

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&mut self, at: u64, want: u64) -> io::Result<&[u8]> {
        let held = self.start + self.filled as u64;
        let there = if at >= self.start { held.saturating_sub(at) } else { 0 };
        if there < want && held < self.len.max(at) || at < self.start {
            self.fill(at, want)?;
        }
        let from = usize::try_from(at - self.start).unwrap_or(usize::MAX).min(self.filled);
        Ok(&self.buffer[from..self.filled])
    }
}
