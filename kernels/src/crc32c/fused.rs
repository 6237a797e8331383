//! Long inputs: `crc32` chains and carry-less folding side by side, so that both units work at once.
//!
//! The body of the kernels that have both instructions, on whatever width of vector; see `fused512` for AVX-512, which
//! has enough registers for another shape. Data are cut into blocks; in each the chains take the first part, folding the
//! rest. The accumulators stay alive from block to block: they jump over the next block's chains by one fold with
//! another key, and take in what the chains found by one multiplication each, so nothing waits at a block's end.

use super::polynomial::{fold_keys, x_to_the};

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
///
/// `CHAINS` run at once: one takes three cycles for a word on the CPUs that this is for, and one unit runs them, so three
/// fill it if nothing ever waits. On Zen 4 four are faster beside 256-bit folding (393 ns for 16 KiB against 430) and
/// slower beside 128-bit folding (633 against 580). Lost there: longer chains, cutting the data where a cache line ends.
#[inline(always)]
pub(super) fn blocks<'a, const N: usize, const CHAINS: usize, const ACCUMULATORS: usize, V: Copy>(
    mut state: u32,
    data: &'a [u8],
    verbs: &Verbs<
        impl Fn(&[u8; N]) -> V,
        impl Fn([u64; 2]) -> V,
        impl Fn(V, V, V) -> V,
        impl Fn(V, u64) -> V,
        impl Fn(u32, u32) -> u64,
        impl Fn(u64, u64) -> u64,
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
        let pieces: [&[[u8; 8 * WORDS]]; CHAINS] =
            core::array::from_fn(|i| &chained.as_chunks::<{ 8 * WORDS }>().0[i * STEPS..(i + 1) * STEPS]);
        // The data begin with the first chain of the first block; every other chain begins from nothing.
        let mut chains = [0; CHAINS];
        chains[0] = u64::from(state);
        state = 0;
        let mut keys = far;
        for step in 0..STEPS {
            let Some(line) = steps.next() else { break };
            for i in 0..WORDS {
                for a in i * ACCUMULATORS / WORDS..(i + 1) * ACCUMULATORS / WORDS {
                    sums[a] = (verbs.fold)(sums[a], keys, (verbs.load)(&line[a]));
                }
                for (chain, piece) in chains.iter_mut().zip(pieces) {
                    *chain = (verbs.crc)(*chain, u64::from_le_bytes(piece[step].as_chunks::<8>().0[i]));
                }
                for chain in &mut chains {
                    // SAFETY: no instruction; keeps the words of all chains in turns.
                    unsafe {
                        core::arch::asm!("/* {0} */", inout(reg) * chain, options(nomem, nostack, preserves_flags))
                    };
                }
            }
            keys = near;
        }
        // A register stands 32 bits before the word that it is added to, and a product comes out one bit short.
        let over = const {
            let mut over = [0; CHAINS];
            let mut i = 0;
            while i < CHAINS {
                over[i] = x_to_the(8 * ((CHAINS - 1 - i) * CHAIN + ACCUMULATORS * N * STEPS) as i64 - 33);
                i += 1;
            }
            over
        };
        let found = chains.iter().zip(over).fold(0, |sum, (&chain, over)| sum ^ (verbs.multiply)(chain as u32, over));
        sums[ACCUMULATORS - 1] = (verbs.add)(sums[ACCUMULATORS - 1], found);
    }
    // The accumulators stand for the last bytes of the last block.
    for sum in sums {
        for word in store(sum).as_chunks::<8>().0 {
            state = (verbs.crc)(u64::from(state), u64::from_le_bytes(*word)) as u32;
        }
    }
    (state, rest)
}
