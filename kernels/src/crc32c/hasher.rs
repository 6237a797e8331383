//! A CRC-32C in the making.

use super::update;

/// A CRC-32C over data that comes in pieces.
///
/// ```
/// use batchwise_kernels::crc32c::Hasher;
/// let mut hasher = Hasher::new();
/// hasher.update(b"1234");
/// hasher.update(b"56789");
/// assert_eq!(hasher.finalize(), 0xE306_9283);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    crc: u32,
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
        Hasher { crc }
    }

    /// Adds `data`.
    #[inline]
    pub fn update(&mut self, data: &[u8]) {
        self.crc = update(self.crc, data);
    }

    /// The CRC-32C of all data added so far; more may follow.
    #[inline]
    #[must_use]
    pub fn finalize(&self) -> u32 {
        self.crc
    }
}
