//! Places where a few bytes have plausible values: the first sieve of a search for a header amid other bytes.
//!
//! A [`Pattern`] says of some bytes, each at its distance from a place, how large they may be at most, and of four bytes
//! that they are not all zero. [`find`](find()) gives the first place that fits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

/// How many bytes a pattern limits.
pub const LIMITS: usize = 3;
/// How many bytes must not all be zero.
const SOME: usize = 4;

/// What has to hold of the bytes behind a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Distances and greatest values, the rarest first.
    limits: [(usize, u8); LIMITS],
    /// Distance of the four bytes that are not all zero.
    some: usize,
    span: usize,
}

impl Pattern {
    /// The byte at each distance of `limits` is at most the value beside it, and of the four bytes at the distance
    /// `some` one is not zero. Kernels look at the first limit first: it should be the one that is met most rarely.
    #[must_use]
    pub const fn new(limits: [(u8, u8); LIMITS], some: u8) -> Self {
        let mut span = some as usize + SOME;
        let mut wide = [(0, 0); LIMITS];
        let mut i = 0;
        while i < LIMITS {
            wide[i] = (limits[i].0 as usize, limits[i].1);
            if span <= wide[i].0 {
                span = wide[i].0 + 1;
            }
            i += 1;
        }
        Pattern { limits: wide, some: some as usize, span }
    }

    /// How many bytes from a place on the pattern looks at; places closer to the end are not looked at.
    #[must_use]
    pub const fn span(&self) -> usize {
        self.span
    }

    /// Whether the place at the start of `bytes` fits.
    ///
    /// # Panics
    /// If `bytes` are fewer than [`span`](Self::span).
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let bytes = &bytes[..self.span];
        self.limits.iter().all(|&(at, most)| bytes[at] <= most) && bytes[self.some..][..SOME] != [0; SOME]
    }
}

kernels! {
    /// The first place in `bytes` that fits `pattern`.
    ///
    /// ```
    /// use batchwise_kernels::search::{Pattern, find};
    /// // A length of four bytes that is neither negative nor zero, then a version of at most 2.
    /// let pattern = Pattern::new([(4, 2), (0, 0x7F), (0, 0x7F)], 0);
    /// assert_eq!(find(b"\xFF\xFF\xFF\xFF\0\0\0\x15\x02yyyy", &pattern), Some(4));
    /// assert_eq!(find(b"\xFF\xFF\xFF\xFF\0\0\0\x15\x03yyyy", &pattern), None);
    /// ```
    #[must_use]
    pub fn find(bytes: &[u8], pattern: &Pattern) -> Option<usize> {
        "x86_64" ["avx512f", "avx512bw"] => avx512::find,
        "x86_64" ["avx2"] => avx2::find,
        "aarch64" ["neon"] => neon::find,
        portable => portable::find,
    }
}

/// Looks at blocks of `N` places: `first` tells the first one that fits from the `N - 1 + span` bytes of a block, no less.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn blocks<const N: usize>(bytes: &[u8], pattern: &Pattern, first: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
    let places = (bytes.len() + 1).checked_sub(pattern.span)?;
    if places < N {
        return portable::find(bytes, pattern);
    }
    let mut at = 0;
    while at + N <= places {
        if let Some(within) = first(&bytes[at..at + N - 1 + pattern.span]) {
            return Some(at + within);
        }
        at += N;
    }
    // The last ones once more with some before them, none of which fits.
    let at = places - N;
    first(&bytes[at..]).map(|within| at + within)
}
