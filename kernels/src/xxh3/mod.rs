//! XXH3 with 64-bit output, as defined by the [xxHash specification].
//!
//! [xxHash specification]: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

mod portable;
mod secret;

/// XXH3-64 of `data` with seed 0 and the default secret.
///
/// ```
/// assert_eq!(batchwise_kernels::xxh3::hash64(b"batchwise"), batchwise_kernels::xxh3::hash64_with_seed(b"batchwise", 0));
/// ```
#[inline]
#[must_use]
pub fn hash64(data: &[u8]) -> u64 {
    hash64_with_seed(data, 0)
}

kernels! {
    /// XXH3-64 of `data` with `seed` and the default secret.
    #[must_use]
    pub fn hash64_with_seed(data: &[u8], seed: u64) -> u64 {
        portable => portable::hash64_with_seed,
    }
}
