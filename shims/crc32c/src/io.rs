use std::io::{self, Read, Write};

/// A reader that keeps the CRC-32C of what was read through it.
pub struct Crc32cReader<R: Read> {
    checksum: u32,
    inner: R,
}

impl<R: Read> Crc32cReader<R> {
    /// Wraps `r`.
    pub fn new(r: R) -> Self {
        Self::new_with_seed(r, 0)
    }

    /// Wraps `r`, continuing the CRC-32C `seed`.
    pub fn new_with_seed(r: R, seed: u32) -> Self {
        Self { checksum: seed, inner: r }
    }

    /// The wrapped reader.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// CRC-32C of all bytes read so far.
    pub fn crc32c(&self) -> u32 {
        self.checksum
    }
}

impl<R: Read> Read for Crc32cReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.checksum = crate::crc32c_append(self.checksum, &buf[..read]);
        Ok(read)
    }
}

/// A writer that keeps the CRC-32C of what was written through it.
pub struct Crc32cWriter<W: Write> {
    checksum: u32,
    inner: W,
}

impl<W: Write> Crc32cWriter<W> {
    /// Wraps `w`.
    pub fn new(w: W) -> Self {
        Self::new_with_seed(w, 0)
    }

    /// Wraps `w`, continuing the CRC-32C `seed`.
    pub fn new_with_seed(w: W, seed: u32) -> Self {
        Self { checksum: seed, inner: w }
    }

    /// The wrapped writer.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// CRC-32C of all bytes written so far.
    pub fn crc32c(&self) -> u32 {
        self.checksum
    }
}

impl<W: Write> Write for Crc32cWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buf)?;
        self.checksum = crate::crc32c_append(self.checksum, &buf[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
