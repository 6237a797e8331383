//! What the kernel tests share.
#![allow(dead_code, reason = "each test crate uses its part")]

#[cfg(unix)]
pub(crate) mod guard;

use batchwise_kernels::dispatch::Kernel;

/// Bytes that look random and are the same in every run (SplitMix64).
pub(crate) fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng(seed);
    let mut out: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| rng.next().to_le_bytes()).collect();
    out.truncate(len);
    out
}

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Lengths that meet every class and every alignment of a block: all small ones, then some larger.
pub(crate) fn lengths() -> impl Iterator<Item = usize> {
    (0..1200).chain([1535, 1536, 2047, 2048, 2049, 3071, 3072, 4095, 4096, 4097, 6144, 8191, 16384, 65537, 262_147])
}

/// The slice in an allocation of exactly its size, so that a sanitizer sees a read past either end.
pub(crate) fn exact(data: &[u8]) -> Box<[u8]> {
    data.into()
}

/// Prints which kernels ran, and which this CPU lacks. With `BATCHWISE_REQUIRE_ALL` set the latter is a failure.
pub(crate) fn report<F: Copy>(operation: &str, all: &'static [Kernel<F>]) {
    for kernel in all {
        let ran = kernel.is_available();
        println!("{operation}: {} {}", kernel.name(), if ran { "ran" } else { "SKIPPED, the CPU lacks it" });
        assert!(
            ran || std::env::var_os("BATCHWISE_REQUIRE_ALL").is_none(),
            "{operation}: {} did not run",
            kernel.name()
        );
    }
}
