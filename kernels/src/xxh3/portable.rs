//! XXH3-64 in plain Rust: the scalar baseline.

use super::secret;

const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;
const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;

const STRIPE: usize = 64;
/// Stripes that the 192-byte secret serves before the accumulators are scrambled.
const STRIPES_PER_BLOCK: usize = (secret::LEN - STRIPE) / 8;

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(core::array::from_fn(|i| bytes[at + i])))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|i| bytes[at + i]))
}

/// Both halves of the 128-bit product, XORed.
fn folded_product(a: u64, b: u64) -> u64 {
    let p = u128::from(a) * u128::from(b);
    p as u64 ^ (p >> 64) as u64
}

fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 37;
    h = h.wrapping_mul(PRIME_MX1);
    h ^ (h >> 32)
}

fn avalanche_xxh64(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(PRIME64_2);
    h ^= h >> 29;
    h = h.wrapping_mul(PRIME64_3);
    h ^ (h >> 32)
}

pub(super) fn hash64_with_seed(data: &[u8], seed: u64) -> u64 {
    let s = &secret::DEFAULT;
    match data.len() {
        0 => avalanche_xxh64(seed ^ u64_at(s, 56) ^ u64_at(s, 64)),
        1..=3 => up_to_3(data, seed),
        4..=8 => up_to_8(data, seed),
        9..=16 => up_to_16(data, seed),
        17..=128 => up_to_128(data, seed),
        129..=240 => up_to_240(data, seed),
        _ if seed == 0 => long(data, s),
        _ => long(data, &secret::seeded(seed)),
    }
}

fn up_to_3(data: &[u8], seed: u64) -> u64 {
    let s = &secret::DEFAULT;
    let len = data.len();
    let combined =
        u64::from(data[len - 1]) | (len as u64) << 8 | u64::from(data[0]) << 16 | u64::from(data[len >> 1]) << 24;
    avalanche_xxh64((u32_at(s, 0) ^ u32_at(s, 4)).wrapping_add(seed) ^ combined)
}

fn up_to_8(data: &[u8], seed: u64) -> u64 {
    let s = &secret::DEFAULT;
    let len = data.len();
    let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
    let word = u32_at(data, len - 4).wrapping_add(u32_at(data, 0) << 32);
    let mut h = (u64_at(s, 8) ^ u64_at(s, 16)).wrapping_sub(seed) ^ word;
    h ^= h.rotate_left(49) ^ h.rotate_left(24);
    h = h.wrapping_mul(PRIME_MX2);
    h ^= (h >> 35).wrapping_add(len as u64);
    h = h.wrapping_mul(PRIME_MX2);
    h ^ (h >> 28)
}

fn up_to_16(data: &[u8], seed: u64) -> u64 {
    let s = &secret::DEFAULT;
    let len = data.len();
    let low = (u64_at(s, 24) ^ u64_at(s, 32)).wrapping_add(seed) ^ u64_at(data, 0);
    let high = (u64_at(s, 40) ^ u64_at(s, 48)).wrapping_sub(seed) ^ u64_at(data, len - 8);
    let sum = (len as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
    avalanche(sum.wrapping_add(folded_product(low, high)))
}

/// One product of 16 input bytes at `at` with 16 secret bytes at `key`.
fn mix16(data: &[u8], at: usize, key: usize, seed: u64) -> u64 {
    let s = &secret::DEFAULT;
    folded_product(
        u64_at(data, at) ^ u64_at(s, key).wrapping_add(seed),
        u64_at(data, at + 8) ^ u64_at(s, key + 8).wrapping_sub(seed),
    )
}

fn up_to_128(data: &[u8], seed: u64) -> u64 {
    let len = data.len();
    let mut acc = (len as u64).wrapping_mul(PRIME64_1);
    for i in 0..(len - 1) / 32 + 1 {
        acc = acc.wrapping_add(mix16(data, 16 * i, 32 * i, seed));
        acc = acc.wrapping_add(mix16(data, len - 16 * (i + 1), 32 * i + 16, seed));
    }
    avalanche(acc)
}

fn up_to_240(data: &[u8], seed: u64) -> u64 {
    let len = data.len();
    let head = (0..8).map(|i| mix16(data, 16 * i, 16 * i, seed)).fold(0, u64::wrapping_add);
    let acc = avalanche((len as u64).wrapping_mul(PRIME64_1).wrapping_add(head));
    let tail = (8..len / 16).map(|i| mix16(data, 16 * i, 16 * (i - 8) + 3, seed)).fold(0, u64::wrapping_add);
    avalanche(acc.wrapping_add(tail).wrapping_add(mix16(data, len - 16, 136 - 17, seed)))
}

fn long(data: &[u8], secret: &[u8; secret::LEN]) -> u64 {
    let mut acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    let len = data.len();
    // The last stripe is the last 64 bytes, whatever they overlap; so at least one byte is left out here.
    let (stripes, _) = data[..len - 1].as_chunks::<STRIPE>();
    for (i, stripe) in stripes.iter().enumerate() {
        let n = i % STRIPES_PER_BLOCK;
        accumulate(&mut acc, stripe, &secret[8 * n..]);
        if n == STRIPES_PER_BLOCK - 1 {
            scramble(&mut acc, &secret[secret::LEN - STRIPE..]);
        }
    }
    accumulate(&mut acc, &data[len - STRIPE..], &secret[secret::LEN - STRIPE - 7..]);
    let merged = (0..4)
        .map(|i| folded_product(acc[2 * i] ^ u64_at(secret, 11 + 16 * i), acc[2 * i + 1] ^ u64_at(secret, 19 + 16 * i)))
        .fold((len as u64).wrapping_mul(PRIME64_1), u64::wrapping_add);
    avalanche(merged)
}

fn accumulate(acc: &mut [u64; 8], stripe: &[u8], key: &[u8]) {
    for i in 0..8 {
        let data = u64_at(stripe, 8 * i);
        let value = data ^ u64_at(key, 8 * i);
        acc[i ^ 1] = acc[i ^ 1].wrapping_add(data);
        acc[i] = acc[i].wrapping_add((value & 0xFFFF_FFFF).wrapping_mul(value >> 32));
    }
}

fn scramble(acc: &mut [u64; 8], key: &[u8]) {
    for (i, a) in acc.iter_mut().enumerate() {
        *a = (*a ^ *a >> 47 ^ u64_at(key, 8 * i)).wrapping_mul(PRIME32_1);
    }
}
