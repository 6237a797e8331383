//! Long inputs with AVX-512: `crc32` chains and carry-less folding side by side, so that both units work at once.
//!
//! The odd bytes come first, as in [`short512`](super::short512). Of the lines that follow, a turn takes `G` pieces:
//!
//! ```text
//! V lines to fold | C lines for a chain | V lines to fold | C lines for a chain | ..
//! ```
//!
//! While a turn is folded, the `G` chains of the turn before it run, each from a register of 0 and interleaved with each
//! other; then one multiplication apiece adds what they found. Folding leads because it needs no earlier result: its
//! loads, and with them a look at each line of the chains, go through memory in order, as the hardware's prefetchers
//! like it, and the chains find their words in the first-level cache.

use super::many512;
use super::polynomial::{fold_keys, x_to_the};
use super::short512::{Line, add, broadcast, carry_all, finish, first, fold, load, state};
use core::arch::{asm, x86_64::*};

/// Accumulators of the folding, one line apart.
const A: usize = 4;

/// Lines of one chain: each `X` lines folded go with `W` words of all `G` chains.
const fn chain_lines<const X: usize, const W: usize, const G: usize, const V: usize>() -> usize {
    let words = G * V / X * W;
    assert!(V.is_multiple_of(A) && A.is_multiple_of(X) && words.is_multiple_of(8));
    words / 8
}

/// Words further with each chain. `$words` are those of a chain and of all behind it, chains are `$piece` lines apart.
///
/// A macro, because as a function it is not always inlined, and then all registers go through memory.
macro_rules! step {
    ($chains:ident, $words:expr, $piece:expr, $range:expr) => {
        for word in $range {
            for (g, chain) in $chains.iter_mut().enumerate() {
                *chain = _mm_crc32_u64(*chain, u64::from_le_bytes($words[8 * g * $piece + word]));
            }
        }
        for chain in &mut $chains {
            // SAFETY: no instruction; keeps the order of what is on either side.
            unsafe { asm!("/* {0} */", inout(reg) * chain, options(nomem, nostack, preserves_flags)) };
        }
    };
}

/// The CRC of any input; `W` words of all `G` chains go with `X` lines, and `V` lines of each piece are folded.
///
/// Shapes that lost on Zen 4, in bytes per cycle from the second-level cache, against 21 to 22 for this one, 16 for
/// folding alone, and 24 that both units could do: all chains of a turn and then its lines, 13 to 18, because the words
/// fill the scheduler and the lines wait behind them; chains that lead and add to the line behind them without any
/// multiplication, 18.7, or 21 with a prefetch instruction for each line; no turns at all, one stretch to fold and one for
/// each chain, 16 to 17 even at 16 KiB from the first-level cache. Those instructions and loads far ahead cost 10
/// to 30 % on data from memory, where this shape gains.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline(never)]
fn update<const X: usize, const W: usize, const G: usize, const V: usize>(crc: u32, data: &[u8]) -> u32 {
    // Chains are slower on words that lie in two cache lines.
    let (data, last) = data.split_at(data.len() - data.as_ptr_range().end.addr() % 64);
    let crc = update_aligned::<X, W, G, V, _>(crc, READ, data);
    if last.is_empty() { crc } else { !state(!crc, last) }
}

/// The same for a copy: each line is stored where it is loaded for folding, or looked at for the chains.
///
/// Against a copy of each 64 KiB and then its CRC: 1.4 times as fast at 16 KiB, 1.6 at 64 and 256 KiB on Zen 4, although
/// half of the stores then lie in two cache lines.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline(never)]
fn copy<const X: usize, const W: usize, const G: usize, const V: usize>(dst: &mut [u8], src: &[u8]) -> u32 {
    let (src, last) = src.split_at(src.len() - src.as_ptr_range().end.addr() % 64);
    let (dst, last_dst) = dst.split_at_mut(src.len());
    last_dst.copy_from_slice(last);
    let head = if src.len() < const { least::<X, W, G, V>() } { src.len() } else { 1 + (src.len() - 1) % 64 };
    dst[..head].copy_from_slice(&src[..head]);
    // SAFETY: `update_aligned` loads lines of `src` through it, and `dst` is not used any more.
    let source = unsafe { Source::copy(dst, src) };
    let crc = update_aligned::<X, W, G, V, _>(0, source, src);
    !state(!crc, last)
}

/// What is read, and where it is copied to while it is, if it is.
#[derive(Clone, Copy)]
struct Source<const COPY: bool> {
    from: *const u8,
    to: *mut u8,
}

const READ: Source<false> = Source { from: core::ptr::null(), to: core::ptr::null_mut() };

impl Source<true> {
    /// # Safety
    /// Only lines of `src` are loaded or looked at through it, while nobody else uses `dst`.
    unsafe fn copy(dst: &mut [u8], src: &[u8]) -> Self {
        assert_eq!(dst.len(), src.len(), "a copy has one length");
        Source { from: src.as_ptr(), to: dst.as_mut_ptr() }
    }
}

impl<const COPY: bool> Source<COPY> {
    /// Loads `line`; in a copy also stores it.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(self, line: &Line) -> __m512i {
        let vector = load(line);
        if COPY {
            let to = self.to.wrapping_add(line.as_ptr().addr() - self.from.addr());
            // SAFETY: a line of the source by the promise made to `copy`; `to` lies as far in the destination, and they have
            // one length.
            unsafe { _mm512_storeu_si512(to.cast(), vector) };
        }
        vector
    }

    /// Loads from `line` what nobody needs: a prefetch instruction would not train the hardware's own prefetching. In a
    /// copy also stores it.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn look(self, line: &Line) {
        if COPY {
            self.load(line);
            return;
        }
        // SAFETY: reads a byte of `line`.
        unsafe {
            asm!("mov {0:l}, byte ptr [{1}]", out(reg) _, in(reg) line, options(nostack, readonly, preserves_flags))
        };
    }
}

/// Storing while folding gains nothing here: as fast at 4 KiB and slower below.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
fn copy_short(dst: &mut [u8], src: &[u8]) -> u32 {
    dst.copy_from_slice(src);
    !state(!0, src)
}

/// Bytes that fill a turn, and what stands around it.
const fn least<const X: usize, const W: usize, const G: usize, const V: usize>() -> usize {
    64 * (A + G * (V + chain_lines::<X, W, G, V>()) + G * V)
}

/// The CRC of `data`, all that is loaded through `source`.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline]
fn update_aligned<const X: usize, const W: usize, const G: usize, const V: usize, const COPY: bool>(
    crc: u32,
    source: Source<COPY>,
    data: &[u8],
) -> u32 {
    let turn = const { G * (V + chain_lines::<X, W, G, V>()) };
    if data.len() < const { least::<X, W, G, V>() } {
        return !state(!crc, data);
    }
    let (odd, lines) = data[1..].as_rchunks::<64>();
    let [a, b, c, lines @ ..] = lines else { return 0 };
    // SAFETY: what is left over of lines of 64 bytes, behind the first byte.
    let first = unsafe { first(!crc, data, odd.len()) };
    let mut sums = [first, source.load(a), source.load(b), source.load(c)];
    // What follows the last turn shall be enough to go with its chains.
    let turns = (lines.len() - G * V) / turn;
    let (turns, rest) = lines.split_at(turns * turn);
    let chained = all_turns::<X, W, G, V, _>(source, &mut sums, turns);
    !tail::<X, W, G, V, _>(source, sums, chained, rest)
}

/// Folds all lines that are for folding and adds what all chains find but those of the last turn, which are returned.
///
/// The accumulators stand before the lines, and then before the last chain.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline]
fn all_turns<'a, const X: usize, const W: usize, const G: usize, const V: usize, const COPY: bool>(
    source: Source<COPY>,
    sums: &mut [__m512i; A],
    lines: &'a [Line],
) -> &'a [Line] {
    let c = const { chain_lines::<X, W, G, V>() };
    let near = broadcast(const { fold_keys(64 * A as i64) });
    let over = broadcast(const { fold_keys(64 * (A + chain_lines::<X, W, G, V>()) as i64) });
    let keys = const {
        let piece = V + chain_lines::<X, W, G, V>();
        // The first accumulator after the next turn.
        join_keys::<G>(piece, G * piece - chain_lines::<X, W, G, V>() - A)
    };
    let mut turns = lines.chunks_exact(G * (V + c));
    let Some(mut before) = turns.next() else { return lines };
    // The first turn has no chains before it.
    let mut far = near;
    for piece in before.chunks_exact(V + c) {
        for v in 0..V {
            sums[v % A] = fold(sums[v % A], if v < A { far } else { near }, source.load(&piece[v]));
        }
        for line in &piece[V..] {
            source.look(line);
        }
        far = over;
    }
    for turn in turns {
        let mut chains = [0; G];
        let words = before[V..].as_flattened().as_chunks::<8>().0;
        // Written out, so that nothing but the work itself occupies the units: a loop of its own for each piece costs
        // a fifth of the speed on Zen 4.
        macro_rules! slot {
            ($g:literal $v:literal) => {
                if $g < G && $v < V {
                    let sum = &mut sums[$v % A];
                    *sum = fold(*sum, if $v < A { over } else { near }, source.load(&turn[$g * (V + c) + $v]));
                    // SAFETY: no instruction; keeps the order of what is on either side.
                    unsafe { asm!("/* {0} */", inout(zmm_reg) * sum, options(nomem, nostack, preserves_flags)) };
                    for i in $v * c / V..($v + 1) * c / V {
                        // Behind the lines that come before.
                        let piece = if $g > 0 { &turn[($g - 1) * (V + c)..] } else { &before[(G - 1) * (V + c)..] };
                        source.look(&piece[V + i]);
                    }
                    if $v % X == X - 1 {
                        let first = W * (($g * V + $v) / X);
                        step!(chains, words, V + c, first..first + W);
                    }
                }
            };
        }
        macro_rules! piece {
            ($($g:literal)+) => { $(
                slot!($g 0); slot!($g 1); slot!($g 2); slot!($g 3); slot!($g 4); slot!($g 5); slot!($g 6); slot!($g 7);
            )+ };
        }
        piece!(0 1 2 3 4 5 6 7);
        before = turn;
        sums[0] = _mm512_xor_si512(sums[0], _mm512_zextsi128_si512(join(&chains, &keys)));
    }
    before
}

/// Adds the chains of the last turn and the lines behind them: the register at their end.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline]
fn tail<const X: usize, const W: usize, const G: usize, const V: usize, const COPY: bool>(
    source: Source<COPY>,
    mut sums: [__m512i; A],
    chained: &[Line],
    rest: &[Line],
) -> u32 {
    let c = const { chain_lines::<X, W, G, V>() };
    let near = broadcast(const { fold_keys(64 * A as i64) });
    let mut keys = broadcast(const { fold_keys(64 * (A + chain_lines::<X, W, G, V>()) as i64) });
    let mut chains = [0; G];
    let words = &chained[V..].as_flattened().as_chunks::<8>().0[..8 * (G * (V + c) - V)];
    // What no turn behind it looked at.
    let (fours, odd) = rest.as_chunks::<A>();
    for line in chained[G * (V + c) - c..].iter().chain(odd) {
        source.look(line);
    }
    let (beside, fours) = fours.split_at(G * V / A);
    let mut word = 0;
    for four in beside {
        for (sum, line) in sums.iter_mut().zip(four) {
            *sum = fold(*sum, keys, source.load(line));
        }
        step!(chains, words[word..], V + c, 0..A / X * W);
        word += A / X * W;
        keys = near;
    }
    for four in fours {
        for (sum, line) in sums.iter_mut().zip(four) {
            *sum = fold(*sum, keys, source.load(line));
        }
    }
    let keys = const { join_keys::<G>(V + chain_lines::<X, W, G, V>(), 0) };
    let found = over(join(&chains, &keys), rest.len());
    let [first, a, b, c] = sums;
    let mut sum = carry_all(c, odd);
    for (i, vector) in [b, a, first].into_iter().enumerate() {
        // SAFETY: at most three are left over of fours, which makes six.
        sum = unsafe { add(sum, vector, odd.len() + 1 + i) };
    }
    finish(sum) ^ found
}

/// The sum of what chains found, each carried by its factor.
#[target_feature(enable = "pclmulqdq")]
#[inline]
fn join<const G: usize>(chains: &[u64; G], keys: &[u64; G]) -> __m128i {
    let mut sum = _mm_setzero_si128();
    for (&chain, &key) in chains.iter().zip(keys) {
        let (chain, key) = (_mm_cvtsi64_si128(chain as i64), _mm_cvtsi64_si128(key as i64));
        sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0>(chain, key));
    }
    sum
}

/// Takes the registers at the ends of chains that are `piece` lines apart to the first 8 bytes of a line that begins
/// `ahead` lines behind the end of the last one.
const fn join_keys<const G: usize>(piece: usize, ahead: usize) -> [u64; G] {
    let mut keys = [0; G];
    let mut g = 0;
    while g < G {
        let bytes = 64 * ((G - 1 - g) * piece + ahead) + 8;
        // A product of registers is one bit short, and data count x^32 times as much as a register.
        keys[g] = x_to_the(8 * bytes as i64 - 32 - 1) as u64;
        g += 1;
    }
    keys
}

/// Takes 8 bytes in front of so many lines to their end.
static OVER: [u32; 160] = {
    let mut keys = [0; 160];
    let mut lines = 0;
    while lines < 160 {
        // Of the 8 bytes' register, which the multiplication leaves one bit short and counts x^32 times as much.
        keys[lines] = x_to_the(512 * lines as i64 - 64 - 32 - 1);
        lines += 1;
    }
    keys
};

/// The register after `lines` of zeros behind 8 bytes at the start of one more line.
#[target_feature(enable = "sse4.2,pclmulqdq")]
#[inline]
fn over(bytes: __m128i, lines: usize) -> u32 {
    let register = _mm_crc32_u64(0, _mm_cvtsi128_si64(bytes) as u64);
    let key = _mm_cvtsi32_si128(OVER[lines] as i32);
    let product = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(register as i64), key);
    _mm_crc32_u64(0, _mm_cvtsi128_si64(product) as u64) as u32
}

/// For CPUs with one `crc32` a cycle and one 512-bit multiplication every two: Zen 4, Ice Lake.
pub(super) mod zen4 {
    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    #[inline]
    pub(in super::super) fn update(crc: u32, data: &[u8]) -> u32 {
        match data.len() {
            0..=4096 => !super::state(!crc, data),
            4097..32768 => super::update::<1, 1, 4, 4>(crc, data),
            _ => super::update::<1, 1, 4, 8>(crc, data),
        }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
        match src.len() {
            0..=4096 => super::copy_short(dst, src),
            4097..32768 => super::copy::<1, 1, 4, 4>(dst, src),
            _ => super::copy::<1, 1, 4, 8>(dst, src),
        }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
        super::many512::many(frames, crcs, |data| update(0, data));
    }
}

/// For CPUs with three `crc32` a cycle. Made from published latencies, not measured.
pub(super) mod zen5 {
    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    #[inline]
    pub(in super::super) fn update(crc: u32, data: &[u8]) -> u32 {
        match data.len() {
            0..=3584 => !super::state(!crc, data),
            3585..16384 => super::update::<1, 2, 4, 4>(crc, data),
            _ => super::update::<1, 2, 8, 4>(crc, data),
        }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
        match src.len() {
            0..=3584 => super::copy_short(dst, src),
            3585..16384 => super::copy::<1, 2, 4, 4>(dst, src),
            _ => super::copy::<1, 2, 8, 4>(dst, src),
        }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
        super::many512::many(frames, crcs, |data| update(0, data));
    }
}

/// For CPUs with one `crc32` and one 512-bit multiplication a cycle. Made from published latencies, not measured.
pub(super) mod golden_cove {
    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    #[inline]
    pub(in super::super) fn update(crc: u32, data: &[u8]) -> u32 {
        if data.len() <= 6144 { !super::state(!crc, data) } else { super::update::<2, 1, 4, 8>(crc, data) }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn copy(dst: &mut [u8], src: &[u8]) -> u32 {
        if src.len() <= 6144 { super::copy_short(dst, src) } else { super::copy::<2, 1, 4, 8>(dst, src) }
    }

    #[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
    pub(in super::super) fn many(frames: &[&[u8]], crcs: &mut [u32]) {
        super::many512::many(frames, crcs, |data| update(0, data));
    }
}
