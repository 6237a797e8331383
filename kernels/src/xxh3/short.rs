//! Inputs of up to 240 bytes, in plain Rust that is inlined into the caller, but for two products that x86-64 has room for
//! in its vectors.
//!
//! Every load is at a constant place of an array that `first_chunk` or `last_chunk` has cut off, so no bounds check is
//! left, and with the default secret every word of it is a constant.

use super::primes::*;

/// The longest input that is hashed here, bytes.
pub(super) const MAX: usize = 240;

// One load each; assembled from single bytes the loads overlap, and the compiler then shares bytes between them.
#[inline(always)]
fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(*bytes[at..].first_chunk().expect("a constant place inside the array")))
}

#[inline(always)]
pub(super) fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a constant place inside the array"))
}

/// The value itself, in a general register, before anything that follows is loaded.
///
/// Without it the compiler gathers words of several products into vectors and takes them out again one by one, or loads
/// all words before the first product and spills them: 12 to 26 ns instead of 8 to 11 for 129 to 240 bytes.
#[inline(always)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(unused_mut, reason = "nothing is done there")
)]
pub(super) fn scalar(mut word: u64) -> u64 {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) word, options(nostack, preserves_flags));
    }
    word
}

/// The secret, of whose bytes the compiler knows nothing, so that it takes each word from memory.
///
/// A word of it that is a constant is an instruction of its own, of ten bytes, which costs as much as two. On Zen 4, for
/// 64, 96 and 128 bytes: 3.45, 4.43 and 5.71 ns; with constants 3.94, 5.55 and 7.02; with constants at the front of an
/// input and memory at its back 3.59, 4.88 and 6.22. The two loads, two XORs, the product in two parts, XOR and sum of 16
/// bytes take 1.9 cycles by themselves, which makes 15 of the 21 cycles of 128 bytes.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "no instruction reads through it")]
pub(super) fn opaque(s: &Secret) -> &Secret {
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(unused_mut, reason = "no instruction"))]
    let mut at: *const Secret = s;
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags));
    }
    // SAFETY: it is the address of `s` still.
    unsafe { &*at }
}

/// Both halves of the 128-bit product, XORed.
#[inline(always)]
pub(super) fn folded_product(a: u64, b: u64) -> u64 {
    let p = u128::from(a) * u128::from(b);
    p as u64 ^ (p >> 64) as u64
}

#[inline(always)]
pub(super) fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 37;
    h = h.wrapping_mul(PRIME_MX1);
    h ^ (h >> 32)
}

#[inline(always)]
fn avalanche_xxh64(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(PRIME64_2);
    h ^= h >> 29;
    h = h.wrapping_mul(PRIME64_3);
    h ^ (h >> 32)
}

/// The part of a secret that inputs of up to 240 bytes use.
pub(super) type Secret = [u8; super::secret::MIN_LEN];

/// Hash of an input of at most [`MAX`] bytes, out of line.
///
/// Kernels call this, so that the code is compiled without their instruction sets: with them the compiler makes vectors
/// of what is faster in general registers.
#[inline(never)]
pub(super) fn hash(data: &[u8], seed: u64, s: &Secret) -> u64 {
    match data.len() {
        ..=16 => up_to_16(data, seed, s),
        17..=128 => up_to_128(data, seed, s),
        _ => up_to_240(data, seed, s),
    }
}

/// Hash of an input of 129 to [`MAX`] bytes with seed 0, out of line.
#[inline(never)]
pub(super) fn middle(data: &[u8], s: &Secret) -> u64 {
    up_to_240(data, 0, s)
}

#[inline(always)]
pub(super) fn up_to_16(data: &[u8], seed: u64, s: &Secret) -> u64 {
    let len = data.len() as u64;
    if len > 8
        && let (Some(first), Some(last)) = (data.first_chunk::<8>(), data.last_chunk::<8>())
    {
        let low = (u64_at(s, 24) ^ u64_at(s, 32)).wrapping_add(seed) ^ u64_at(first, 0);
        let high = (u64_at(s, 40) ^ u64_at(s, 48)).wrapping_sub(seed) ^ u64_at(last, 0);
        let sum = len.wrapping_add(low.swap_bytes()).wrapping_add(high);
        // Opaque, or the compiler shares the avalanche with longer inputs and jumps there: 3 % of 16 bytes in turn.
        scalar(avalanche(sum.wrapping_add(folded_product(low, high))))
    } else if let (Some(first), Some(last)) = (data.first_chunk::<4>(), data.last_chunk::<4>()) {
        let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
        let word = u32_at(last, 0).wrapping_add(u32_at(first, 0) << 32);
        let mut h = (u64_at(s, 8) ^ u64_at(s, 16)).wrapping_sub(seed) ^ word;
        h ^= h.rotate_left(49) ^ h.rotate_left(24);
        h = h.wrapping_mul(PRIME_MX2);
        h ^= (h >> 35).wrapping_add(len);
        h = h.wrapping_mul(PRIME_MX2);
        h ^ (h >> 28)
    } else if let (Some(first), Some(last)) = (data.first(), data.last()) {
        let middle = data[data.len() / 2];
        let word = u64::from(*last) | len << 8 | u64::from(*first) << 16 | u64::from(middle) << 24;
        avalanche_xxh64((u32_at(s, 0) ^ u32_at(s, 4)).wrapping_add(seed) ^ word)
    } else {
        avalanche_xxh64(seed ^ u64_at(s, 56) ^ u64_at(s, 64))
    }
}

/// One product of 16 input bytes with 16 secret bytes.
#[inline(always)]
fn mix16<const D: usize, const S: usize>(data: &[u8; D], at: usize, s: &[u8; S], key: usize, seed: u64) -> u64 {
    let low = u64_at(data, at) ^ u64_at(s, key).wrapping_add(seed);
    let high = u64_at(data, at + 8) ^ u64_at(s, key + 8).wrapping_sub(seed);
    folded_product(low, high)
}

/// The sum with the two products of the 16 bytes that end, and begin, `N` bytes from the front and from the back.
#[inline(always)]
fn ends<const N: usize>(data: &[u8], seed: u64, s: &Secret, sum: u64) -> u64 {
    let (Some(front), Some(back)) = (data.first_chunk::<N>(), data.last_chunk::<N>()) else {
        unreachable!("the caller has compared the length")
    };
    let sum = sum.wrapping_add(mix16(front, N - 16, s, 2 * N - 32, seed));
    sum.wrapping_add(mix16(back, 0, s, 2 * N - 16, seed))
}

/// The sum of two products of 16 bytes, made by other units of the CPU than the rest where there are such.
#[inline(always)]
fn pair(data: [&[u8; 16]; 2], seed: u64, s: &Secret, key: usize) -> u64 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        let keys = s[key..].as_chunks().0;
        super::lanes::folded_products(data, [&keys[0], &keys[1]], seed)
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    mix16(data[0], 0, s, key, seed).wrapping_add(mix16(data[1], 0, s, key + 16, seed))
}

// Unrolled by hand: the compiler makes a loop of it otherwise, at one and a half times the cost.
#[inline(always)]
pub(super) fn up_to_128(data: &[u8], seed: u64, s: &Secret) -> u64 {
    let s = opaque(s);
    let mut acc = (data.len() as u64).wrapping_mul(PRIME64_1);
    if data.len() > 32 {
        if data.len() > 64 {
            let (front, back) = (data.as_chunks().0, data.as_rchunks().1);
            let inner = pair([&front[1], &back[back.len() - 2]], seed, s, 32);
            if data.len() > 96 {
                acc = ends::<64>(data, seed, s, acc);
            }
            acc = ends::<48>(data, seed, s, acc).wrapping_add(inner);
        } else {
            acc = ends::<32>(data, seed, s, acc);
        }
    }
    avalanche(ends::<16>(data, seed, s, acc))
}

#[inline(always)]
fn up_to_240(data: &[u8], seed: u64, s: &Secret) -> u64 {
    let Some(head) = data.first_chunk::<128>() else { unreachable!("the caller has compared the length") };
    let pieces = head.as_chunks().0;
    let later = pair([&pieces[6], &pieces[7]], seed, s, 96);
    let mut acc = (data.len() as u64).wrapping_mul(PRIME64_1);
    acc = step::<16>(head, seed, s, 0, acc);
    acc = step::<32>(head, seed, s, 16, acc);
    acc = step::<48>(head, seed, s, 32, acc);
    acc = step::<64>(head, seed, s, 48, acc);
    acc = step::<80>(head, seed, s, 64, acc);
    acc = step::<96>(head, seed, s, 80, acc);
    // Opaque, or the compiler begins the tail before: 8 to 10 % of 129 to 240 bytes.
    acc = scalar(acc.wrapping_add(later));
    avalanche(avalanche(acc).wrapping_add(tail(data, seed, s)))
}

/// The sum that comes in after the first avalanche of an input of 129 to [`MAX`] bytes: the products of the 16 bytes that
/// follow the first 128, and of the last 16.
#[inline(always)]
pub(super) fn tail(data: &[u8], seed: u64, s: &Secret) -> u64 {
    let Some(last) = data.last_chunk::<16>() else { unreachable!("the caller has compared the length") };
    let mut tail = scalar(mix16(last, 0, s, super::secret::MIN_LEN - 17, seed));
    tail = step::<144>(data, seed, s, 3, tail);
    tail = step::<160>(data, seed, s, 19, tail);
    tail = step::<176>(data, seed, s, 35, tail);
    tail = step::<192>(data, seed, s, 51, tail);
    tail = step::<208>(data, seed, s, 67, tail);
    tail = step::<224>(data, seed, s, 83, tail);
    step::<240>(data, seed, s, 99, tail)
}

/// The product of the last 16 bytes of an input of 129 to [`MAX`] bytes, seed 0.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn last(data: &[u8], s: &Secret) -> u64 {
    let Some(last) = data.last_chunk::<16>() else { unreachable!("the caller has compared the length") };
    scalar(mix16(last, 0, s, super::secret::MIN_LEN - 17, 0))
}

/// The sum with the product of the 16 bytes that end at `N`, if the input has them.
#[inline(always)]
fn step<const N: usize>(data: &[u8], seed: u64, s: &Secret, key: usize, sum: u64) -> u64 {
    match data.first_chunk::<N>() {
        Some(d) => scalar(sum.wrapping_add(mix16(d, N - 16, s, key, seed))),
        None => sum,
    }
}
