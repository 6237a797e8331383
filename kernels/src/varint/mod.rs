//! Base-128 varints, least significant group first, with the zigzag mapping of signed values.
//!
//! Decoding follows Apache Kafka's readers (`ByteUtils.readVarint`, `readVarlong`): forms longer than needed are
//! accepted, payload bits beyond the width are dropped, and a continuation bit in the last byte that the width
//! allows (the 5th of 32 bits, the 10th of 64) is an error. What those readers let pass is told by [`strict_32`] and
//! [`strict_64`].
//!
//! | | unsigned | zigzag |
//! |---|---|---|
//! | one value | [`decode_u32`], [`decode_u64`] | [`decode_zigzag32`], [`decode_zigzag64`] |
//! | many, back to back | [`decode_run_u32()`], [`decode_run_u64()`] | then [`unzigzag32`], [`unzigzag64`] |
//! | length only | [`skip_32`], [`skip_64`] | the same |
//! | writing | [`encode_u32`], [`encode_u64`] | [`encode_zigzag32`], [`encode_zigzag64`] |
//! | length before writing | [`len_u32`], [`len_u64`] | [`len_zigzag32`], [`len_zigzag64`] |
//!
//! ```
//! use batchwise_kernels::varint;
//! assert_eq!(varint::decode_zigzag32(&[0xD8, 0x04]), Ok((300, 2)));
//! assert_eq!(varint::decode_u64(&[0x80]), Err(varint::Error::Truncated));
//! // Two bytes where one would do: read, unless asked to be strict.
//! assert_eq!(varint::decode_u32(&[0x85, 0x00]), Ok((5, 2)));
//! assert_eq!(varint::strict_32(&[0x85, 0x00]), Err(varint::Error::NotMinimal));
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bmi2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
pub mod records;

use core::fmt;

/// Longest encoding of a 32-bit varint, bytes.
pub const MAX_LEN_32: usize = 5;
/// Longest encoding of a 64-bit varint, bytes.
pub const MAX_LEN_64: usize = 10;

/// Why bytes are not a varint, or not one in the form that writers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The input ends within the varint.
    Truncated,
    /// The last byte that the width allows still has its continuation bit set.
    TooLong,
    /// A shorter form of the same value exists. Only the strict functions report it.
    NotMinimal,
    /// Payload bits beyond the width are set; decoding drops them. Only the strict functions report it.
    OverflowBits,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "the input ends within the varint",
            Error::TooLong => "the varint is longer than its width allows",
            Error::NotMinimal => "the varint is longer than its value needs",
            Error::OverflowBits => "the varint has bits beyond its width",
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

/// How many bytes the 32-bit varint at the head of `bytes` takes.
#[inline]
pub fn skip_32(bytes: &[u8]) -> Result<usize, Error> {
    portable::skip::<MAX_LEN_32>(bytes)
}

/// How many bytes the 64-bit varint at the head of `bytes` takes.
#[inline]
pub fn skip_64(bytes: &[u8]) -> Result<usize, Error> {
    portable::skip::<MAX_LEN_64>(bytes)
}

/// Checks that `bytes` begin with a 32-bit varint in the only form that writers use, and tells its length.
///
/// # Errors
/// Besides those of decoding: [`Error::OverflowBits`] if one of the upper three payload bits of the 5th byte is set,
/// else [`Error::NotMinimal`] if the last of several bytes is zero.
#[inline]
pub fn strict_32(bytes: &[u8]) -> Result<usize, Error> {
    portable::strict::<MAX_LEN_32>(bytes, 0x0F)
}

/// Checks that `bytes` begin with a 64-bit varint in the only form that writers use, and tells its length.
///
/// # Errors
/// Besides those of decoding: [`Error::OverflowBits`] if one of the upper six payload bits of the 10th byte is set,
/// else [`Error::NotMinimal`] if the last of several bytes is zero.
#[inline]
pub fn strict_64(bytes: &[u8]) -> Result<usize, Error> {
    portable::strict::<MAX_LEN_64>(bytes, 0x01)
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
pub const fn zigzag32(v: i32) -> u32 {
    (v << 1 ^ v >> 31) as u32
}

/// The zigzag mapping: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
#[must_use]
pub const fn zigzag64(v: i64) -> u64 {
    (v << 1 ^ v >> 63) as u64
}

/// Bytes that [`encode_u32`] writes for `v`.
#[inline]
#[must_use]
pub const fn len_u32(v: u32) -> usize {
    (38 - (v | 1).leading_zeros() as usize) / 7
}

/// Bytes that [`encode_u64`] writes for `v`.
#[inline]
#[must_use]
pub const fn len_u64(v: u64) -> usize {
    (70 - (v | 1).leading_zeros() as usize) / 7
}

/// Bytes that [`encode_zigzag32`] writes for `v`.
#[inline]
#[must_use]
pub const fn len_zigzag32(v: i32) -> usize {
    len_u32(zigzag32(v))
}

/// Bytes that [`encode_zigzag64`] writes for `v`.
#[inline]
#[must_use]
pub const fn len_zigzag64(v: i64) -> usize {
    len_u64(zigzag64(v))
}

/// Writes `v` in its shortest form to the head of `out` and returns its length.
#[inline]
pub fn encode_u32(v: u32, out: &mut [u8; MAX_LEN_32]) -> usize {
    let len = len_u32(v);
    portable::encode(v.into(), &mut out[..len]);
    len
}

/// Writes `v` in its shortest form to the head of `out` and returns its length.
#[inline]
pub fn encode_u64(v: u64, out: &mut [u8; MAX_LEN_64]) -> usize {
    let len = len_u64(v);
    portable::encode(v, &mut out[..len]);
    len
}

/// Writes `v`, zigzag mapped, in its shortest form to the head of `out` and returns its length.
#[inline]
pub fn encode_zigzag32(v: i32, out: &mut [u8; MAX_LEN_32]) -> usize {
    encode_u32(zigzag32(v), out)
}

/// Writes `v`, zigzag mapped, in its shortest form to the head of `out` and returns its length.
#[inline]
pub fn encode_zigzag64(v: i64, out: &mut [u8; MAX_LEN_64]) -> usize {
    encode_u64(zigzag64(v), out)
}

/// Whether `N` set bits stand in a row.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
const fn has_run<const N: usize>(bits: u64) -> bool {
    let two = bits & bits >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    (match N {
        5 => four & bits >> 4,
        8 => eight,
        10 => eight & two >> 8,
        _ => panic!("not needed"),
    }) != 0
}

kernels! {
    /// Decodes unsigned 32-bit varints that lie back to back in `bytes` until `out` is full.
    ///
    /// Returns how many bytes they took; what follows is not looked at. On an error the contents of `out` are
    /// unspecified.
    ///
    /// ```
    /// let mut values = [0; 3];
    /// assert_eq!(batchwise_kernels::varint::decode_run_u32(&[1, 0xAC, 0x02, 7, 0xFF], &mut values), Ok(4));
    /// assert_eq!(values, [1, 300, 7]);
    /// ```
    pub fn decode_run_u32(bytes: &[u8], out: &mut [u32]) -> Result<usize, Error> {
        "x86_64" ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi1", "popcnt"]
            => avx512::decode_run_u32,
        "x86_64" ["avx2", "bmi1", "bmi2", "popcnt"] => avx2::decode_run_u32,
        "x86_64" ["sse2", "bmi1", "bmi2", "popcnt"] => bmi2::decode_run_u32,
        "aarch64" ["neon"] => neon::decode_run_u32,
        portable => portable::decode_run_u32,
    }
}

kernels! {
    /// Decodes unsigned 64-bit varints that lie back to back in `bytes` until `out` is full.
    ///
    /// Returns how many bytes they took; what follows is not looked at. On an error the contents of `out` are
    /// unspecified.
    pub fn decode_run_u64(bytes: &[u8], out: &mut [u64]) -> Result<usize, Error> {
        "x86_64" ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi1", "popcnt"]
            => avx512::decode_run_u64,
        "x86_64" ["avx2", "bmi1", "bmi2", "popcnt"] => avx2::decode_run_u64,
        "x86_64" ["sse2", "bmi1", "bmi2", "popcnt"] => bmi2::decode_run_u64,
        "aarch64" ["neon"] => neon::decode_run_u64,
        portable => portable::decode_run_u64,
    }
}
