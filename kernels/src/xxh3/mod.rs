//! XXH3 with 64-bit output, as defined by the [xxHash specification].
//!
//! [xxHash specification]: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod batch;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod lanes;
mod long;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod primes;
mod secret;
mod short;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod stream;

pub use stream::{BuildXxh3, Xxh3};

use core::fmt;
use core::ops::Range;
use long::{Any, Keys};

/// Length of the shortest secret that the algorithm takes, bytes.
pub const SECRET_MIN_LEN: usize = secret::MIN_LEN;

/// XXH3-64 of `data` with seed 0 and the default secret.
///
/// ```
/// assert_eq!(batchwise_kernels::xxh3::hash64(b"batchwise"), batchwise_kernels::xxh3::hash64_with_seed(b"batchwise", 0));
/// ```
// Always, because the compiler thinks the sum of the classes too large, where a caller enters one or two.
#[inline(always)]
#[must_use]
pub fn hash64(data: &[u8]) -> u64 {
    match data.len() {
        ..=16 => short::up_to_16(data, 0, secret::SHORT),
        17..=128 => short::up_to_128(data, 0, secret::SHORT),
        129..=short::MAX => short::middle(data, secret::SHORT),
        _ => oneshot(data, 0),
    }
}

/// XXH3-64 of `data` with `seed` and the default secret.
///
/// ```
/// use batchwise_kernels::xxh3;
/// assert_ne!(xxh3::hash64_with_seed(b"batchwise", 1), xxh3::hash64(b"batchwise"));
/// ```
#[inline]
#[must_use]
pub fn hash64_with_seed(data: &[u8], seed: u64) -> u64 {
    match data.len() {
        ..=16 => short::up_to_16(data, seed, secret::SHORT),
        17..=short::MAX => short::hash(data, seed, secret::SHORT),
        _ => oneshot(data, seed),
    }
}

/// XXH3-64 of `data` with a secret in place of the default one; with the default one it is [`hash64`].
///
/// ```
/// use batchwise_kernels::xxh3::{SecretTooShort, hash64_with_secret};
/// assert_eq!(hash64_with_secret(b"batchwise", &[1; 100]), Err(SecretTooShort { len: 100 }));
/// ```
///
/// # Errors
/// If the secret has less than [`SECRET_MIN_LEN`] bytes.
pub fn hash64_with_secret(data: &[u8], secret: &[u8]) -> Result<u64, SecretTooShort> {
    let first = SecretTooShort::check(secret)?;
    if data.len() <= short::MAX {
        return Ok(short::hash(data, 0, first));
    }
    let keys = Any::new(secret);
    let (stripes, last) = long::split(data);
    let mut acc = long::INITIAL;
    consume(&mut acc, 0, stripes, secret);
    Ok(long::merge(&portable::stripe(acc, last, keys.last()), data.len() as u64, keys.merge()))
}

/// A secret has less than [`SECRET_MIN_LEN`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretTooShort {
    /// Bytes that it has.
    pub len: usize,
}

impl SecretTooShort {
    /// The part of `secret` that short inputs are hashed with.
    #[inline]
    fn check(secret: &[u8]) -> Result<&short::Secret, Self> {
        secret.first_chunk().ok_or(SecretTooShort { len: secret.len() })
    }
}

impl fmt::Display for SecretTooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a secret of {} bytes, of which XXH3 needs {SECRET_MIN_LEN}", self.len)
    }
}

impl core::error::Error for SecretTooShort {}

kernels! {
    /// XXH3-64 of `data` with `seed` and the default secret, by the kernel of this CPU whatever the length.
    ///
    /// [`hash64`] and [`hash64_with_seed`] come here with inputs over 240 bytes; shorter ones need no vectors.
    #[must_use]
    pub fn oneshot(data: &[u8], seed: u64) -> u64 {
        "x86_64" ["avx512f", "avx512dq", "avx512vl", "bmi2"] => avx512::oneshot,
        "x86_64" ["avx2", "bmi2"] => avx2::oneshot,
        "x86_64" ["sse2"] => sse2::oneshot,
        "aarch64" ["neon"] => neon::oneshot,
        portable => portable::oneshot,
    }
}

kernels! {
    /// Takes whole stripes into the accumulators `acc`, the first at `position` of its block, and returns the position
    /// of the one to come. The step between which [`Xxh3`] buffers; most callers want that instead.
    ///
    /// # Panics
    /// If the secret has less than [`SECRET_MIN_LEN`] bytes, or `position` is not below the `(secret.len() - 64) / 8`
    /// stripes of a block.
    pub fn consume(acc: &mut [u64; 8], position: usize, stripes: &[[u8; 64]], secret: &[u8]) -> usize {
        "x86_64" ["avx512f", "avx512dq", "avx512vl", "bmi2"] => avx512::consume,
        "x86_64" ["avx2"] => avx2::consume,
        "x86_64" ["sse2"] => sse2::consume,
        "aarch64" ["neon"] => neon::consume,
        portable => portable::consume,
    }
}

kernels! {
    /// XXH3-64 of each of many frames, into the hash of the same number.
    ///
    /// Faster than hashing one after another: frames are sorted by class of length, and several are in flight.
    ///
    /// # Panics
    /// If there are not as many hashes as frames.
    pub fn many(frames: &[&[u8]], hashes: &mut [u64]) -> () {
        "x86_64" ["avx512f", "avx512dq", "avx512vl", "avx512bw", "bmi2"] => avx512::many,
        "x86_64" ["avx2", "bmi2"] => avx2::many,
        "x86_64" ["sse2"] => sse2::many,
        "aarch64" ["neon"] => neon::many,
        portable => portable::many,
    }
}

kernels! {
    /// XXH3-64 of each of many frames that lie in one buffer, into the hash of the same number, as [`many()`].
    ///
    /// # Panics
    /// If there are not as many hashes as ranges, or a range does not lie in the buffer.
    pub fn many_ranges(buffer: &[u8], ranges: &[Range<usize>], hashes: &mut [u64]) -> () {
        "x86_64" ["avx512f", "avx512dq", "avx512vl", "avx512bw", "bmi2"] => avx512::many_ranges,
        "x86_64" ["avx2", "bmi2"] => avx2::many_ranges,
        "x86_64" ["sse2"] => sse2::many_ranges,
        "aarch64" ["neon"] => neon::many_ranges,
        portable => portable::many_ranges,
    }
}

/// Compares the XXH3-64 of each of many frames that lie in one buffer with the checksum of the same number.
///
/// ```
/// use batchwise_kernels::xxh3::{Mismatch, hash64, verify_many};
/// let stored = [hash64(b"batch"), hash64(b"wise")];
/// assert_eq!(verify_many(b"batchwise", &[0..5, 5..9], &stored), Ok(()));
/// let computed = hash64(b"size");
/// assert_eq!(verify_many(b"batchsize", &[0..5, 5..9], &stored), Err(Mismatch { index: 1, computed }));
/// ```
///
/// # Errors
/// The first frame, by number, whose hash is not its checksum.
///
/// # Panics
/// If there are not as many checksums as ranges, or a range does not lie in the buffer.
pub fn verify_many(buffer: &[u8], ranges: &[Range<usize>], checksums: &[u64]) -> Result<(), Mismatch> {
    assert_eq!(ranges.len(), checksums.len(), "one checksum for each frame");
    let mut hashes = [0; 256];
    for (part, (ranges, checksums)) in ranges.chunks(hashes.len()).zip(checksums.chunks(hashes.len())).enumerate() {
        let first = part * hashes.len();
        let hashes = &mut hashes[..ranges.len()];
        many_ranges(buffer, ranges, hashes);
        if hashes != checksums {
            let differ = hashes.iter().zip(checksums).position(|(h, c)| h != c);
            return differ.map_or(Ok(()), |i| Err(Mismatch { index: first + i, computed: hashes[i] }));
        }
    }
    Ok(())
}

/// A frame whose hash is not the checksum stored for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its number among the frames.
    pub index: usize,
    /// Its hash.
    pub computed: u64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hash of frame {} is {:#018x}, which is not its checksum", self.index, self.computed)
    }
}

impl core::error::Error for Mismatch {}
