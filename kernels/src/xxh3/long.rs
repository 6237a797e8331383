//! Inputs over 240 bytes: the algorithm once, for every vector width.
//!
//! The input is cut into stripes of 64 bytes and blocks of as many stripes as the secret serves. A stripe adds to each
//! of eight 64-bit accumulators a product of its own word and the word of its neighbour. The second addition is linear,
//! so a kernel keeps one sum of products and one plain sum of words per block, and exchanges neighbours once at the end
//! of the block ([`Verbs`]); the sums of a block do not wait for the scrambling of the block before it.

use super::primes::*;
use super::secret;
use super::short::{avalanche, folded_product, scalar, u64_at};

/// Bytes in a stripe.
pub(super) const STRIPE: usize = 64;
/// The eight accumulators, as memory holds them.
pub(super) type Lanes = [u64; 8];

/// What the accumulators start with.
pub(super) const INITIAL: Lanes =
    [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];

/// The pieces of a secret that the algorithm reads.
pub(super) trait Keys {
    /// Stripes between two scramblings.
    fn stripes_per_block(&self) -> usize;
    /// Key of the stripe at that place of its block.
    fn stripe(&self, at: usize) -> &[u8; STRIPE];
    /// Key of the scrambling.
    fn scramble(&self) -> &[u8; STRIPE];
    /// Key of the last stripe of an input.
    fn last(&self) -> &[u8; STRIPE];
    /// Key under which the accumulators are merged.
    fn merge(&self) -> &[u8; STRIPE];
}

/// The default secret, cut up so that each key is aligned and no load of one crosses a cache line.
#[repr(align(64))]
pub(super) struct Table {
    pub(super) stripes: [[u8; STRIPE]; 16],
    pub(super) scramble: [u8; STRIPE],
    pub(super) last: [u8; STRIPE],
    pub(super) merge: [u8; STRIPE],
}

/// See [`Table`].
pub(super) static DEFAULT: Table = {
    let mut table = Table {
        stripes: [[0; STRIPE]; 16],
        scramble: piece(secret::LEN - STRIPE),
        last: piece(secret::LEN - STRIPE - 7),
        merge: piece(11),
    };
    let mut i = 0;
    while i < table.stripes.len() {
        table.stripes[i] = piece(8 * i);
        i += 1;
    }
    table
};

const fn piece(at: usize) -> [u8; STRIPE] {
    let mut key = [0; STRIPE];
    let mut i = 0;
    while i < STRIPE {
        key[i] = secret::DEFAULT[at + i];
        i += 1;
    }
    key
}

impl Keys for Table {
    #[inline(always)]
    fn stripes_per_block(&self) -> usize {
        self.stripes.len()
    }
    #[inline(always)]
    fn stripe(&self, at: usize) -> &[u8; STRIPE] {
        &self.stripes[at]
    }
    #[inline(always)]
    fn scramble(&self) -> &[u8; STRIPE] {
        &self.scramble
    }
    #[inline(always)]
    fn last(&self) -> &[u8; STRIPE] {
        &self.last
    }
    #[inline(always)]
    fn merge(&self) -> &[u8; STRIPE] {
        &self.merge
    }
}

/// A secret as the caller has it, at least [`secret::MIN_LEN`] bytes.
pub(super) struct Any<'a>(&'a [u8]);

impl<'a> Any<'a> {
    #[inline(always)]
    pub(super) fn new(secret: &'a [u8]) -> Self {
        assert!(secret.len() >= secret::MIN_LEN, "a secret of {} bytes", secret.len());
        Any(secret)
    }

    #[inline(always)]
    fn at(&self, at: usize) -> &[u8; STRIPE] {
        self.0[at..].first_chunk().expect("a key lies inside the secret")
    }
}

impl Keys for Any<'_> {
    #[inline(always)]
    fn stripes_per_block(&self) -> usize {
        (self.0.len() - STRIPE) / 8
    }
    #[inline(always)]
    fn stripe(&self, at: usize) -> &[u8; STRIPE] {
        self.at(8 * at)
    }
    #[inline(always)]
    fn scramble(&self) -> &[u8; STRIPE] {
        self.at(self.0.len() - STRIPE)
    }
    #[inline(always)]
    fn last(&self) -> &[u8; STRIPE] {
        self.at(self.0.len() - STRIPE - 7)
    }
    #[inline(always)]
    fn merge(&self) -> &[u8; STRIPE] {
        self.at(11)
    }
}

/// Runs whole stripes through the accumulators, the first of them at `position` of its block, and tells the position of
/// the stripe to come.
///
/// The verbs are what an instruction set has to do: `stripe` takes one stripe and its key into the sums, `add` the sums
/// into the accumulators, `scramble` ends a block.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "four of them are the verbs")]
pub(super) fn consume<A: Copy, S: Copy, K: Keys>(
    mut acc: A,
    mut position: usize,
    mut stripes: &[[u8; STRIPE]],
    keys: &K,
    zero: S,
    stripe: impl Fn(S, &[u8; STRIPE], &[u8; STRIPE]) -> S,
    add: impl Fn(A, S) -> A,
    scramble: impl Fn(A, &[u8; STRIPE]) -> A,
) -> (A, usize) {
    let per_block = keys.stripes_per_block();
    assert!(position < per_block, "position {position} in a block of {per_block} stripes");
    loop {
        let (now, later) = stripes.split_at(stripes.len().min(per_block - position));
        let mut sums = zero;
        for (i, s) in now.iter().enumerate() {
            sums = stripe(sums, s, keys.stripe(position + i));
        }
        acc = add(acc, sums);
        position += now.len();
        if position < per_block {
            return (acc, position);
        }
        acc = scramble(acc, keys.scramble());
        position = 0;
        stripes = later;
    }
}

/// The stripes of a whole input of over [`STRIPE`] bytes that are consumed in order, and the last one, which may overlap
/// them.
#[inline(always)]
pub(super) fn split(data: &[u8]) -> (&[[u8; STRIPE]], &[u8; STRIPE]) {
    let (Some((_, but_one)), Some(last)) = (data.split_last(), data.last_chunk()) else {
        unreachable!("the caller has compared the length")
    };
    (but_one.as_chunks().0, last)
}

/// The hash, from the accumulators after the last stripe.
#[inline(always)]
pub(super) fn merge(acc: &Lanes, len: u64, key: &[u8; STRIPE]) -> u64 {
    in_memory(acc);
    let mut sum = len.wrapping_mul(PRIME64_1);
    for i in 0..4 {
        let (low, high) = (acc[2 * i] ^ u64_at(key, 16 * i), acc[2 * i + 1] ^ u64_at(key, 16 * i + 8));
        sum = scalar(sum.wrapping_add(folded_product(low, high)));
    }
    avalanche(sum)
}

/// Has the lanes stored, so that single ones are then loaded.
///
/// Without it the compiler takes each lane out of a vector register: twice the instructions, and of the kind that the
/// stripes need, 1.5 ns of an input of 1 KiB.
#[inline(always)]
fn in_memory(lanes: &Lanes) {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) lanes.as_ptr(), options(nostack, preserves_flags));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    let _ = lanes;
}
