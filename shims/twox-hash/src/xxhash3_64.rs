//! XXH3-64.
//!
//! [`Hasher`] is ours; [`RawHasher`], for callers that bring their own memory, is the original.

use batchwise_kernels::xxh3;
use original::xxhash3_64 as theirs;

pub use theirs::{
    DEFAULT_SECRET_LENGTH, FixedBuffer, FixedMutBuffer, OneshotWithSecretError, RawHasher, SECRET_MINIMUM_LENGTH,
    SecretBuffer, SecretTooShortError, SecretWithSeedError,
};

/// XXH3-64, at once or as a [`core::hash::Hasher`].
///
/// ```
/// # #[cfg(feature = "std")] {
/// use core::hash::Hasher as _;
/// use twox_hash::XxHash3_64;
/// let mut hasher = XxHash3_64::with_seed(7);
/// hasher.write(b"batch");
/// hasher.write(b"wise");
/// assert_eq!(hasher.finish(), XxHash3_64::oneshot_with_seed(7, b"batchwise"));
/// # }
/// ```
#[derive(Clone)]
pub struct Hasher {
    #[cfg(feature = "alloc")]
    state: streaming::State,
    _private: (),
}

impl Hasher {
    /// The hash of `input`.
    #[must_use]
    #[inline]
    pub fn oneshot(input: &[u8]) -> u64 {
        xxh3::hash64(input)
    }

    /// The hash of `input` with a seed.
    #[must_use]
    #[inline]
    pub fn oneshot_with_seed(seed: u64, input: &[u8]) -> u64 {
        xxh3::hash64_with_seed(input, seed)
    }

    /// The hash of `input` with a secret.
    ///
    /// # Errors
    /// If the secret has less than [`SECRET_MINIMUM_LENGTH`] bytes.
    #[inline]
    pub fn oneshot_with_secret(secret: &[u8], input: &[u8]) -> Result<u64, OneshotWithSecretError> {
        match xxh3::hash64_with_secret(input, secret) {
            Ok(hash) => Ok(hash),
            // Only the original can make its error.
            Err(_) => theirs::Hasher::oneshot_with_secret(secret, input),
        }
    }

    /// The hash of `input` with a seed, and above 240 bytes with a secret; by the original.
    ///
    /// # Errors
    /// If the secret is used and has less than [`SECRET_MINIMUM_LENGTH`] bytes.
    #[inline]
    pub fn oneshot_with_seed_and_secret(seed: u64, secret: &[u8], input: &[u8]) -> Result<u64, OneshotWithSecretError> {
        theirs::Hasher::oneshot_with_seed_and_secret(seed, secret, input)
    }
}

#[cfg(feature = "alloc")]
mod streaming {
    use super::{Hasher, SecretTooShortError, theirs};
    use alloc::boxed::Box;
    use batchwise_kernels::xxh3::Xxh3;
    use core::hash;

    #[derive(Clone)]
    pub(super) enum State {
        Ours {
            hash: Xxh3,
            seed: u64,
        },
        /// With a secret as well as a seed.
        Theirs(theirs::Hasher),
    }

    impl Hasher {
        /// With the default seed and secret.
        pub fn new() -> Self {
            Self::with_seed(0)
        }

        /// With a seed, and a secret that is derived from it.
        pub fn with_seed(seed: u64) -> Self {
            Hasher { state: State::Ours { hash: Xxh3::with_seed(seed), seed }, _private: () }
        }

        /// With a seed and a secret; by the original.
        ///
        /// # Errors
        /// If the secret has less than [`SECRET_MINIMUM_LENGTH`](super::SECRET_MINIMUM_LENGTH) bytes.
        pub fn with_seed_and_secret(
            seed: u64,
            secret: impl Into<Box<[u8]>>,
        ) -> Result<Self, SecretTooShortError<Box<[u8]>>> {
            let hasher = theirs::Hasher::with_seed_and_secret(seed, secret)?;
            Ok(Hasher { state: State::Theirs(hasher), _private: () })
        }

        /// The secret.
        pub fn into_secret(self) -> Box<[u8]> {
            match self.state {
                // The original derives the same one.
                State::Ours { seed, .. } => theirs::Hasher::with_seed(seed).into_secret(),
                State::Theirs(hasher) => hasher.into_secret(),
            }
        }
    }

    impl Default for Hasher {
        fn default() -> Self {
            Self::new()
        }
    }

    impl hash::Hasher for Hasher {
        #[inline]
        fn write(&mut self, input: &[u8]) {
            match &mut self.state {
                State::Ours { hash, .. } => hash.update(input),
                State::Theirs(hasher) => hasher.write(input),
            }
        }

        #[inline]
        fn finish(&self) -> u64 {
            match &self.state {
                State::Ours { hash, .. } => hash.digest(),
                State::Theirs(hasher) => hasher.finish(),
            }
        }
    }
}
