//! Byte by byte: the scalar baseline.

use super::Error;

/// A varint of at most `MAX` bytes; bits past the 64th are dropped.
#[inline]
pub(super) fn decode<const MAX: usize>(bytes: &[u8]) -> Result<(u64, usize), Error> {
    let mut value = 0;
    for i in 0..MAX {
        let &b = bytes.get(i).ok_or(Error::Truncated)?;
        value |= u64::from(b & 0x7F) << (7 * i);
        if b < 0x80 {
            return Ok((value, i + 1));
        }
    }
    Err(Error::TooLong)
}

pub(super) fn decode_run(bytes: &[u8], out: &mut [u64]) -> Result<usize, Error> {
    let mut at = 0;
    for slot in out {
        let (value, len) = decode::<{ super::MAX_LEN_64 }>(&bytes[at..])?;
        *slot = value;
        at += len;
    }
    Ok(at)
}
