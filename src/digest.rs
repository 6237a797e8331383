//! The traits of the crate `digest`, for code that is generic over checksums and hashes.

use crate::crc32c::Hasher;
use digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update, consts::U4};

/// CRC-32C behind [`digest::Digest`]; the output is the finished CRC, most significant byte first.
///
/// A checksum, not a cryptographic hash: it finds damage, not forgery.
///
/// ```
/// use batchwise::digest::Crc32c;
/// use digest::Digest;
/// let mut crc = Crc32c::new();
/// crc.update(b"1234");
/// crc.update(b"56789");
/// assert_eq!(crc.finalize()[..], 0xE306_9283_u32.to_be_bytes());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Crc32c(Hasher);

impl HashMarker for Crc32c {}

impl OutputSizeUser for Crc32c {
    type OutputSize = U4;
}

impl Update for Crc32c {
    #[inline]
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
}

impl Reset for Crc32c {
    fn reset(&mut self) {
        self.0 = Hasher::new();
    }
}

impl FixedOutput for Crc32c {
    fn finalize_into(self, out: &mut Output<Self>) {
        out.copy_from_slice(&self.0.finalize().to_be_bytes());
    }
}

impl FixedOutputReset for Crc32c {
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        core::mem::take(self).finalize_into(out);
    }
}

#[cfg(test)]
mod tests {
    use super::Crc32c;
    use crate::crc32c::crc32c;
    use digest::{Digest, FixedOutputReset};

    #[test]
    fn pieces_and_resets_give_the_crc_of_what_was_added_since() {
        let data: Vec<u8> = (0..3000_u32).map(|i| (i * 7) as u8).collect();
        let mut digest = Crc32c::new();
        for piece in data.chunks(333) {
            Digest::update(&mut digest, piece);
        }
        assert_eq!(digest.clone().finalize()[..], crc32c(&data).to_be_bytes());
        let mut out = Default::default();
        FixedOutputReset::finalize_into_reset(&mut digest, &mut out);
        assert_eq!(out[..], crc32c(&data).to_be_bytes());
        Digest::update(&mut digest, b"123456789");
        assert_eq!(digest.finalize()[..], 0xE306_9283_u32.to_be_bytes());
        assert_eq!(Crc32c::output_size(), 4);
    }
}
