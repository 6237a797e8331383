//! Which core this is, where that decides between kernels that it could all run.

use core::arch::x86_64::{__cpuid, __cpuid_count};

/// Whether the core executes three `crc32` a cycle: AMD, family 1Ah (Zen 5) and later.
pub(super) fn has_three_crc32_units() -> bool {
    vendor() == *b"AuthenticAMD" && {
        let signature = leaf(1).eax;
        ((signature >> 8) & 0xF) + ((signature >> 20) & 0xFF) >= 0x1A
    }
}

/// Whether the core starts a 512-bit carry-less multiplication every cycle: Intel since Golden Cove, which is told by its
/// half-precision arithmetic.
pub(super) fn multiplies_every_cycle() -> bool {
    vendor() == *b"GenuineIntel" && leaf(0).eax >= 7 && {
        #[allow(unused_unsafe, reason = "unsafe to call before Rust 1.94")]
        // SAFETY: x86-64 has the instruction, and the leaf exists.
        let features = unsafe { __cpuid_count(7, 0) };
        features.edx >> 23 & 1 == 1
    }
}

fn vendor() -> [u8; 12] {
    let leaf = leaf(0);
    let mut name = [0; 12];
    for (part, register) in name.chunks_exact_mut(4).zip([leaf.ebx, leaf.edx, leaf.ecx]) {
        part.copy_from_slice(&register.to_le_bytes());
    }
    name
}

fn leaf(number: u32) -> core::arch::x86_64::CpuidResult {
    #[allow(unused_unsafe, reason = "unsafe to call before Rust 1.94")]
    // SAFETY: x86-64 has the instruction.
    unsafe {
        __cpuid(number)
    }
}
