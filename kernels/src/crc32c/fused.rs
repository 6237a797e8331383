//! Long inputs: `crc32` chains and carry-less folding side by side, so that both units work at once.
//!
//! The body of the kernels that have both instructions, on whatever width of vector; see `fused512` for AVX-512, which
//! has enough registers for another shape. Data are cut into blocks; in each the chains take the first part, folding the
//! rest. The accumulators stay alive from block to block: they jump over the next block's chains by one fold with
//! another key, and take in what the chains found by one multiplication each, so nothing waits at a block's end.

use super::polynomial::{fold_keys, x_to_the};

/// Chains that run at once: one takes three cycles for a word on the CPUs that this is for, and one unit runs them.
const CHAINS: usize = 3;
/// Words of each chain in one step.
const WORDS: usize = 4;
/// Steps in a block. Few, so that the chains' places in memory lie close together and prefetching keeps up.
const STEPS: usize = 8;
/// Bytes of one chain in a block.
const CHAIN: usize = 8 * WORDS * STEPS;

/// What a set of instructions brings.
pub(super) struct Verbs<Load, Keys, Fold, Add, Multiply, Crc> {
    /// N bytes as a vector.
    pub(super) load: Load,
    /// The same two factors in each 128-bit lane.
    pub(super) keys: Keys,
    /// `accumulator * keys + next`, lane by lane.
    pub(super) fold: Fold,
    /// Adds to the last eight bytes.
    pub(super) add: Add,
    /// Carry-less product of the low halves.
    pub(super) multiply: Multiply,
    /// The register after one word.
    pub(super) crc: Crc,
}

/// Takes whole blocks off the start of `data`: the register after them, and the rest.
#[inline(always)]
pub(super) fn blocks<'a, const N: usize, const ACCUMULATORS: usize, V: Copy>(
    mut state: u32,
    data: &'a [u8],
    verbs: &Verbs<
        impl Fn(&[u8; N]) -> V,
        impl Fn([u64; 2]) -> V,
        impl Fn(V, V, V) -> V,
        impl Fn(V, u64) -> V,
        impl Fn(u32, u32) -> u64,
        impl Fn(u32, u64) -> u32,
    >,
    store: impl Fn(V) -> [u8; N],
) -> (u32, &'a [u8]) {
    let folded = ACCUMULATORS * N * STEPS;
    let (blocks, rest) = data.split_at(data.len() - data.len() % (CHAINS * CHAIN + folded));
    if blocks.is_empty() {
        return (state, data);
    }
    let zero = (verbs.load)(&[0; N]);
    let mut sums = [zero; ACCUMULATORS];
    let near = (verbs.keys)(const { fold_keys((ACCUMULATORS * N) as i64) });
    let far = (verbs.keys)(const { fold_keys((ACCUMULATORS * N + CHAINS * CHAIN) as i64) });
    for block in blocks.chunks_exact(CHAINS * CHAIN + folded) {
        let (chained, lines) = block.split_at(CHAINS * CHAIN);
        let mut steps = lines.as_chunks::<N>().0.as_chunks::<ACCUMULATORS>().0.iter();
        let (a, bc) = chained.as_chunks::<{ 8 * WORDS }>().0.split_at(STEPS);
        let (b, c) = bc.split_at(STEPS);
        // The data begin with the first chain of the first block; every other chain begins from nothing.
        let mut chains = [state, 0, 0];
        state = 0;
        let mut keys = far;
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            let Some(line) = steps.next() else { break };
            for (sum, next) in sums.iter_mut().zip(line) {
                *sum = (verbs.fold)(*sum, keys, (verbs.load)(next));
            }
            keys = near;
            let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).zip(c.as_chunks::<8>().0);
            for ((a, b), c) in words {
                chains[0] = (verbs.crc)(chains[0], u64::from_le_bytes(*a));
                chains[1] = (verbs.crc)(chains[1], u64::from_le_bytes(*b));
                chains[2] = (verbs.crc)(chains[2], u64::from_le_bytes(*c));
            }
        }
        // A register stands 32 bits before the word that it is added to, and a product comes out one bit short.
        let over = const {
            let folded = (ACCUMULATORS * N * STEPS) as i64;
            let chain = CHAIN as i64;
            [x_to_the(8 * (2 * chain + folded) - 33), x_to_the(8 * (chain + folded) - 33), x_to_the(8 * folded - 33)]
        };
        let found = (verbs.multiply)(chains[0], over[0])
            ^ (verbs.multiply)(chains[1], over[1])
            ^ (verbs.multiply)(chains[2], over[2]);
        sums[ACCUMULATORS - 1] = (verbs.add)(sums[ACCUMULATORS - 1], found);
    }
    // The accumulators stand for the last bytes of the last block.
    for sum in sums {
        for word in store(sum).as_chunks::<8>().0 {
            state = (verbs.crc)(state, u64::from_le_bytes(*word));
        }
    }
    (state, rest)
}
