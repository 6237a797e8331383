//! Where a walk gets its bytes from.

use core::convert::Infallible;

/// An input that can be looked at piece by piece, mostly forwards.
pub(crate) trait Input {
    /// Why bytes cannot be had.
    type Error;

    /// Bytes of the input. May shrink while it is read.
    fn len(&self) -> u64;

    /// The bytes from `at` on: at least `want` of them unless the input ends before, more if they are at hand.
    fn bytes(&mut self, at: u64, want: u64) -> Result<&[u8], Self::Error>;
}

/// An input that lies in memory as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'a>(pub(crate) &'a [u8]);

impl Input for Memory<'_> {
    type Error = Infallible;

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn bytes(&mut self, at: u64, _: u64) -> Result<&[u8], Infallible> {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.0.len());
        Ok(&self.0[at..])
    }
}
