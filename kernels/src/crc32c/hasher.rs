//! A CRC-32C in the making.

use super::update;
use core::fmt;
use core::mem::MaybeUninit;

/// Bytes that are gathered before they are worth a call.
const BUFFER: usize = 512;

/// A CRC-32C over data that comes in pieces, however small: pieces below 512 bytes are gathered first.
///
/// It is also a [`core::hash::Hasher`], and with the feature `std` an [`std::io::Write`].
///
/// ```
/// use batchwise_kernels::crc32c::Hasher;
/// let mut hasher = Hasher::new();
/// hasher.update(b"1234");
/// hasher.update(b"56789");
/// assert_eq!(hasher.finalize(), 0xE306_9283);
/// ```
pub struct Hasher {
    crc: u32,
    /// How many bytes of the buffer are filled, less than all of them.
    filled: usize,
    buffer: [MaybeUninit<u8>; BUFFER],
}

impl Hasher {
    /// Of no data yet.
    #[must_use]
    pub const fn new() -> Self {
        Hasher::continuing(0)
    }

    /// Of the data that the finished `crc` is of.
    #[must_use]
    pub const fn continuing(crc: u32) -> Self {
        Hasher { crc, filled: 0, buffer: [MaybeUninit::uninit(); BUFFER] }
    }

    /// Adds `data`.
    #[inline]
    pub fn update(&mut self, data: &[u8]) {
        match self.buffer[self.filled..].get_mut(..data.len()) {
            // Strictly less than the room, so that the buffer is never full here.
            Some(room) if data.len() < BUFFER - self.filled => {
                write(room, data);
                self.filled += data.len();
            }
            _ => self.flush_and(data),
        }
    }

    /// Adds each of the `parts` in turn.
    #[cfg(feature = "std")]
    pub fn update_vectored(&mut self, parts: &[std::io::IoSlice<'_>]) {
        for part in parts {
            self.update(part);
        }
    }

    /// The CRC-32C of all data added so far; more may follow.
    #[inline]
    #[must_use]
    pub fn finalize(&self) -> u32 {
        update(self.crc, self.gathered())
    }

    /// Starts again, of no data.
    pub fn reset(&mut self) {
        (self.crc, self.filled) = (0, 0);
    }

    #[cold]
    #[inline(never)]
    fn flush_and(&mut self, data: &[u8]) {
        let (head, rest) = data.split_at(data.len().min(BUFFER - self.filled));
        write(&mut self.buffer[self.filled..][..head.len()], head);
        self.filled += head.len();
        self.crc = update(self.crc, self.gathered());
        self.filled = 0;
        let whole = rest.len() - rest.len() % BUFFER;
        self.crc = update(self.crc, &rest[..whole]);
        write(&mut self.buffer[..rest.len() - whole], &rest[whole..]);
        self.filled = rest.len() - whole;
    }

    #[inline]
    fn gathered(&self) -> &[u8] {
        let filled = &self.buffer[..self.filled];
        // SAFETY: the first `filled` bytes of the buffer have been written.
        unsafe { &*(core::ptr::from_ref(filled) as *const [u8]) }
    }
}

#[inline]
fn write(room: &mut [MaybeUninit<u8>], data: &[u8]) {
    for (place, &byte) in room.iter_mut().zip(data) {
        place.write(byte);
    }
}

impl Clone for Hasher {
    fn clone(&self) -> Self {
        let mut copy = Hasher::continuing(self.crc);
        write(&mut copy.buffer, self.gathered());
        copy.filled = self.filled;
        copy
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Hasher::new()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("crc", &self.finalize()).finish_non_exhaustive()
    }
}

impl core::hash::Hasher for Hasher {
    fn finish(&self) -> u64 {
        self.finalize().into()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Hasher {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn write_vectored(&mut self, parts: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
        self.update_vectored(parts);
        Ok(parts.iter().map(|p| p.len()).sum())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
