//! A cursor over a slice.

use crate::varint;

/// Reads fields one after the other; a failed read moves nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    #[inline]
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// Bytes read so far.
    #[inline]
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Bytes left.
    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..len)?;
        self.at += len;
        Some(taken)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let b = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(b)
    }

    #[inline]
    pub(crate) fn u32_le(&mut self) -> Option<u32> {
        let bytes = self.rest().first_chunk()?;
        self.at += 4;
        Some(u32::from_le_bytes(*bytes))
    }

    #[inline]
    pub(crate) fn varint32(&mut self) -> Result<i32, varint::Error> {
        let (value, len) = varint::decode_zigzag32(self.rest())?;
        self.at += len;
        Ok(value)
    }

    #[inline]
    pub(crate) fn varint64(&mut self) -> Result<i64, varint::Error> {
        let (value, len) = varint::decode_zigzag64(self.rest())?;
        self.at += len;
        Ok(value)
    }
}
