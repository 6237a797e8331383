//! A hint to the memory system.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the CPU to bring `bytes` near, without waiting for them. Changes nothing but time; without effect where the
/// instruction set offers no stable way.
///
/// For data that is about to be hopped through: a hop that depends on the one before waits for each line in turn.
///
/// ```
/// batchwise_kernels::prefetch(&[0; 4096]);
/// ```
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which never faults; every x86-64 CPU has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
