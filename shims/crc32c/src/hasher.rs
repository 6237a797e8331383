use batchwise_kernels::crc32c::Hasher as Pieces;
use std::hash::Hasher;

/// CRC-32C as a [`Hasher`]: 32 bits in the lower half of its `u64`.
#[derive(Default)]
pub struct Crc32cHasher {
    pieces: Pieces,
}

impl Crc32cHasher {
    /// Continues the CRC-32C `initial`; [`Default`] starts anew.
    pub fn new(initial: u32) -> Self {
        Crc32cHasher { pieces: Pieces::continuing(initial) }
    }
}

impl Hasher for Crc32cHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.pieces.finalize().into()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.pieces.update(bytes);
    }
}
