//! Hashing of input that comes in pieces.

use super::long::{self, Any, INITIAL, Keys, Lanes, STRIPE};
use super::{SecretTooShort, consume, portable, secret, short};
use core::fmt;
use core::hash::{BuildHasher, Hasher};

/// Bytes held back until a kernel takes them.
const BUFFER: usize = 256;

/// XXH3-64 of input that comes in pieces: any split of an input gives the hash of the whole.
///
/// It owns all its memory, about half a KiB, on the stack. Small updates only fill a buffer. `S` holds the secret.
///
/// ```
/// use batchwise_kernels::xxh3::{Xxh3, hash64};
/// let mut hasher = Xxh3::new();
/// hasher.update(b"batch");
/// hasher.update(b"wise");
/// assert_eq!(hasher.digest(), hash64(b"batchwise"));
/// ```
#[derive(Clone)]
pub struct Xxh3<S = [u8; secret::LEN]> {
    acc: Lanes,
    /// Stripes that the accumulators have of the current block.
    position: usize,
    /// Bytes that the accumulators have.
    consumed: u64,
    /// Bytes in the buffer that they have not.
    filled: usize,
    /// Its last stripe stays readable until new bytes reach it: it precedes them in the input.
    buffer: [u8; BUFFER],
    secret: S,
    /// Inputs of up to 240 bytes are hashed with the default secret and a seed, or with the secret of the caller.
    seed: Option<u64>,
}

impl Xxh3 {
    /// A hasher with seed 0 and the default secret, as [`hash64`](super::hash64).
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Xxh3::start(secret::DEFAULT, Some(0))
    }

    /// A hasher with `seed`, as [`hash64_with_seed`](super::hash64_with_seed).
    #[inline]
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Xxh3::start(secret::seeded(seed), Some(seed))
    }
}

impl<S: AsRef<[u8]>> Xxh3<S> {
    /// A hasher with a secret, as [`hash64_with_secret`](super::hash64_with_secret).
    ///
    /// ```
    /// use batchwise_kernels::xxh3::{Xxh3, hash64_with_secret};
    /// let secret: Vec<u8> = (0..=200).collect();
    /// let mut hasher = Xxh3::with_secret(&secret)?;
    /// hasher.update(b"batchwise");
    /// assert_eq!(hasher.digest(), hash64_with_secret(b"batchwise", &secret)?);
    /// # Ok::<_, batchwise_kernels::xxh3::SecretTooShort>(())
    /// ```
    ///
    /// # Errors
    /// If the secret has less than [`SECRET_MIN_LEN`](super::SECRET_MIN_LEN) bytes.
    #[inline]
    pub fn with_secret(secret: S) -> Result<Self, SecretTooShort> {
        SecretTooShort::check(secret.as_ref())?;
        Ok(Xxh3::start(secret, None))
    }

    #[inline]
    fn start(secret: S, seed: Option<u64>) -> Self {
        Xxh3 { acc: INITIAL, position: 0, consumed: 0, filled: 0, buffer: [0; BUFFER], secret, seed }
    }

    /// Adds bytes to the input.
    #[inline]
    pub fn update(&mut self, data: &[u8]) {
        let filled = self.filled + data.len();
        match self.buffer.get_mut(self.filled..filled) {
            Some(free) => {
                free.copy_from_slice(data);
                self.filled = filled;
            }
            None => self.overflow(data),
        }
    }

    /// Adds words to the input, eight bytes each, little-endian.
    ///
    /// For values that lie scattered: they are gathered in the buffer and hashed as fast as if they had lain together.
    ///
    /// ```
    /// use batchwise_kernels::xxh3::{Xxh3, hash64};
    /// let mut hasher = Xxh3::new();
    /// hasher.update_words([1, 2]);
    /// assert_eq!(hasher.digest(), hash64(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]));
    /// ```
    #[inline]
    pub fn update_words(&mut self, words: impl IntoIterator<Item = u64>) {
        let mut words = words.into_iter();
        loop {
            let mut filled = self.filled;
            for slot in self.buffer[filled..].as_chunks_mut::<8>().0 {
                let Some(word) = words.next() else {
                    self.filled = filled;
                    return;
                };
                *slot = word.to_le_bytes();
                filled += 8;
            }
            self.filled = filled;
            let Some(word) = words.next() else { return };
            self.overflow(&word.to_le_bytes());
        }
    }

    /// Takes in more bytes than the buffer has room for.
    #[inline(never)]
    fn overflow(&mut self, mut data: &[u8]) {
        if self.filled > 0 {
            let (head, rest) = data.split_at(BUFFER - self.filled);
            self.buffer[self.filled..].copy_from_slice(head);
            let stripes = self.buffer.as_chunks().0;
            self.position = consume(&mut self.acc, self.position, stripes, self.secret.as_ref());
            self.consumed += BUFFER as u64;
            data = rest;
        }
        if data.len() > BUFFER {
            // At least one byte stays back: it is a digest that knows the last stripe.
            let (stripes, _) = long::split(data);
            self.position = consume(&mut self.acc, self.position, stripes, self.secret.as_ref());
            let (whole, rest) = data.split_at(stripes.as_flattened().len());
            self.buffer[BUFFER - STRIPE..].copy_from_slice(&whole[whole.len() - STRIPE..]);
            self.consumed += whole.len() as u64;
            data = rest;
        }
        self.buffer[..data.len()].copy_from_slice(data);
        self.filled = data.len();
    }

    /// The hash of the input so far; more may follow.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let rest = &self.buffer[..self.filled];
        let secret = self.secret.as_ref();
        if self.consumed == 0 && rest.len() <= short::MAX {
            return match (self.seed, secret.first_chunk()) {
                (None, Some(secret)) => short::hash(rest, 0, secret),
                (seed, _) => short::hash(rest, seed.unwrap_or(0), secret::SHORT),
            };
        }
        let mut acc = self.acc;
        let mut last = [0; STRIPE];
        if rest.len() >= STRIPE {
            let (stripes, end) = long::split(rest);
            consume(&mut acc, self.position, stripes, secret);
            last = *end;
        } else {
            let (old, new) = last.split_at_mut(STRIPE - rest.len());
            old.copy_from_slice(&self.buffer[BUFFER - old.len()..]);
            new.copy_from_slice(rest);
        }
        let keys = Any::new(secret);
        let len = self.consumed + rest.len() as u64;
        long::merge(&portable::stripe(acc, &last, keys.last()), len, keys.merge())
    }
}

impl Default for Xxh3 {
    #[inline]
    fn default() -> Self {
        Xxh3::new()
    }
}

impl<S> fmt::Debug for Xxh3<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.consumed + self.filled as u64;
        f.debug_struct("Xxh3").field("len", &len).finish_non_exhaustive()
    }
}

impl<S: AsRef<[u8]>> Hasher for Xxh3<S> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.digest()
    }
}

/// Makes [`Xxh3`] hashers, all with one seed, for the collections of the standard library.
///
/// ```
/// use batchwise_kernels::xxh3::BuildXxh3;
/// let mut map = std::collections::HashMap::with_hasher(BuildXxh3::with_seed(7));
/// map.insert("batch", "wise");
/// assert_eq!(map["batch"], "wise");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildXxh3 {
    seed: u64,
}

impl BuildXxh3 {
    /// A builder of hashers with `seed`.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        BuildXxh3 { seed }
    }
}

impl BuildHasher for BuildXxh3 {
    type Hasher = Xxh3;

    #[inline]
    fn build_hasher(&self) -> Xxh3 {
        Xxh3::with_seed(self.seed)
    }
}
