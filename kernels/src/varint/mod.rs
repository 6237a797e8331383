//! Base-128 varints, least significant group first, with the zigzag mapping of signed values.
//!
//! Decoding follows Apache Kafka's readers (`ByteUtils.readVarint`, `readVarlong`): forms longer than needed are
//! accepted, payload bits beyond the width are dropped, and a continuation bit in the last byte that the width
//! allows (the 5th of 32 bits, the 10th of 64) is an error.
//!
//! ```
//! use batchwise_kernels::varint;
//! assert_eq!(varint::decode_zigzag32(&[0xD8, 0x04]), Ok((300, 2)));
//! assert_eq!(varint::decode_u64(&[0x80]), Err(varint::Error::Truncated));
//! ```

mod portable;

use core::fmt;

/// Longest encoding of a 32-bit varint, bytes.
pub const MAX_LEN_32: usize = 5;
/// Longest encoding of a 64-bit varint, bytes.
pub const MAX_LEN_64: usize = 10;

/// Why bytes are not a varint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The input ends within the varint.
    Truncated,
    /// The last byte that the width allows still has its continuation bit set.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "the input ends within the varint",
            Error::TooLong => "the varint is longer than its width allows",
        })
    }
}

impl core::error::Error for Error {}

/// The unsigned 32-bit varint at the head of `bytes`, and how many bytes it takes.
#[inline]
pub fn decode_u32(bytes: &[u8]) -> Result<(u32, usize), Error> {
    portable::decode::<MAX_LEN_32>(bytes).map(|(v, n)| (v as u32, n))
}

/// The unsigned 64-bit varint at the head of `bytes`, and how many bytes it takes.
#[inline]
pub fn decode_u64(bytes: &[u8]) -> Result<(u64, usize), Error> {
    portable::decode::<MAX_LEN_64>(bytes)
}

/// The signed 32-bit varint (zigzag) at the head of `bytes`, and how many bytes it takes.
#[inline]
pub fn decode_zigzag32(bytes: &[u8]) -> Result<(i32, usize), Error> {
    decode_u32(bytes).map(|(v, n)| (unzigzag32(v), n))
}

/// The signed 64-bit varint (zigzag) at the head of `bytes`, and how many bytes it takes.
#[inline]
pub fn decode_zigzag64(bytes: &[u8]) -> Result<(i64, usize), Error> {
    decode_u64(bytes).map(|(v, n)| (unzigzag64(v), n))
}

/// Undoes the zigzag mapping: 0, 1, 2, 3 become 0, -1, 1, -2.
#[inline]
#[must_use]
pub const fn unzigzag32(v: u32) -> i32 {
    (v >> 1) as i32 ^ -((v & 1) as i32)
}

/// Undoes the zigzag mapping: 0, 1, 2, 3 become 0, -1, 1, -2.
#[inline]
#[must_use]
pub const fn unzigzag64(v: u64) -> i64 {
    (v >> 1) as i64 ^ -((v & 1) as i64)
}

/// The zigzag mapping: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
#[must_use]
pub const fn zigzag64(v: i64) -> u64 {
    (v << 1 ^ v >> 63) as u64
}

/// Bytes that [`encode_u64`] writes for `v`.
#[inline]
#[must_use]
pub const fn len_u64(v: u64) -> usize {
    (70 - (v | 1).leading_zeros() as usize) / 7
}

/// Writes `v` in its shortest form to the head of `out` and returns its length.
#[inline]
pub fn encode_u64(mut v: u64, out: &mut [u8; MAX_LEN_64]) -> usize {
    let len = len_u64(v);
    for b in &mut out[..len - 1] {
        *b = v as u8 | 0x80;
        v >>= 7;
    }
    out[len - 1] = v as u8;
    len
}

kernels! {
    /// Decodes unsigned 64-bit varints that lie back to back in `bytes` until `out` is full.
    ///
    /// Returns how many bytes they took. On an error the number of values written so far is unspecified.
    pub fn decode_run(bytes: &[u8], out: &mut [u64]) -> Result<usize, Error> {
        portable => portable::decode_run,
    }
}
