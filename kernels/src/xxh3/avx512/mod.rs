//! One 512-bit vector to a stripe.

use super::long::{self, Any, INITIAL, Keys, Lanes, STRIPE, Table};
use super::primes::PRIME32_1;
use super::{secret, short};
use core::arch::x86_64::*;

mod many;

pub(super) use many::{many, many_ranges};

/// Sum of the products, and plain sum of the words.
type Sums = (__m512i, __m512i);

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
pub(super) fn oneshot(data: &[u8], seed: u64) -> u64 {
    match (data.len(), seed) {
        (..=short::MAX, _) => short::hash(data, seed, secret::SHORT),
        (_, 0) => default(data),
        _ => with_seed(data, seed),
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
pub(super) fn consume(lanes: &mut Lanes, position: usize, stripes: &[[u8; STRIPE]], secret: &[u8]) -> usize {
    let (acc, position) = run(from_lanes(lanes), position, stripes, &Any::new(secret));
    *lanes = to_lanes(acc);
    position
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
#[inline(never)]
fn with_seed(data: &[u8], seed: u64) -> u64 {
    let secret = secret::seeded(seed);
    let keys = Any::new(&secret);
    let (stripes, last) = long::split(data);
    let (acc, _) = run(from_lanes(&INITIAL), 0, stripes, &keys);
    finish(acc, last, data.len(), &keys)
}

/// An input of over 240 bytes with the default secret: the keys of whole blocks stay in registers.
///
/// On a core that runs a 512-bit operation in two passes the five operations of a stripe take 2.5 cycles, which is the
/// bound here, 25.6 bytes a cycle: 16 KiB take 3.0 cycles a stripe on Zen 4 with call, scrambling and merging, 21.3 bytes a
/// cycle, against 17.0 with pairs of 256-bit vectors. The best peer there has 15.1, so 1.7 times as fast is the most that
/// such a core allows. Lost there: the words of 4, 6 or 8 of 16 stripes summed in general registers, 233, 248 and 273 ns
/// where all in vectors take 205, also three blocks ahead, as their loads are then what is waited for; the stripes behind
/// the last whole block with the keys in registers, 67.0 to 66.2 ns at 5,000 bytes. Up to 1 KiB the bound is loads: two for
/// a stripe that lies in two cache lines and one for its key, one a cycle; 17.5 ns, 15.0 where stripes are aligned.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
#[inline]
fn default(data: &[u8]) -> u64 {
    let keys = &long::DEFAULT;
    let (stripes, last) = long::split(data);
    let (blocks, rest) = stripes.as_chunks::<16>();
    let mut acc = from_lanes(&INITIAL);
    if !blocks.is_empty() {
        acc = whole_blocks(acc, blocks, keys);
    }
    let mut sums = zero();
    for (s, k) in rest.iter().zip(&keys.stripes) {
        sums = stripe(sums, load(s), load(k));
    }
    finish(add(acc, sums), last, data.len(), keys)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
#[inline]
fn whole_blocks(mut acc: __m512i, blocks: &[[[u8; STRIPE]; 16]], keys: &Table) -> __m512i {
    let mut k = [_mm512_setzero_si512(); 16];
    for (k, bytes) in k.iter_mut().zip(&keys.stripes) {
        *k = load(bytes);
    }
    let end = load(&keys.scramble);
    for block in blocks {
        let mut sums = zero();
        for (s, &k) in block.iter().zip(&k) {
            sums = stripe(sums, load(s), k);
        }
        acc = scramble(add(acc, sums), end);
    }
    acc
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
#[inline]
fn run(acc: __m512i, position: usize, stripes: &[[u8; STRIPE]], keys: &impl Keys) -> (__m512i, usize) {
    // Closures take on the features of this function; the functions themselves are not `Fn`.
    let stripe = |sums: Sums, s: &[u8; STRIPE], k: &[u8; STRIPE]| stripe(sums, load(s), load(k));
    let add = |acc: __m512i, sums: Sums| add(acc, sums);
    let scramble = |acc: __m512i, k: &[u8; STRIPE]| scramble(acc, load(k));
    long::consume(acc, position, stripes, keys, zero(), stripe, add, scramble)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2")]
#[inline]
fn finish(acc: __m512i, last: &[u8; STRIPE], len: usize, keys: &impl Keys) -> u64 {
    let acc = add(acc, stripe(zero(), load(last), load(keys.last())));
    long::merge(&to_lanes(acc), len as u64, keys.merge())
}

#[target_feature(enable = "avx512f")]
#[inline]
fn zero() -> Sums {
    (_mm512_setzero_si512(), _mm512_setzero_si512())
}

#[target_feature(enable = "avx512f")]
#[inline]
fn stripe((products, words): Sums, stripe: __m512i, key: __m512i) -> Sums {
    let value = _mm512_xor_si512(stripe, key);
    let product = _mm512_mul_epu32(value, _mm512_srli_epi64::<32>(value));
    (_mm512_add_epi64(products, product), _mm512_add_epi64(words, stripe))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn add(acc: __m512i, (products, words): Sums) -> __m512i {
    let neighbours = _mm512_shuffle_epi32::<0b01_00_11_10>(words);
    _mm512_add_epi64(acc, _mm512_add_epi64(products, neighbours))
}

#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn scramble(acc: __m512i, key: __m512i) -> __m512i {
    let mixed = _mm512_ternarylogic_epi64::<0x96>(acc, _mm512_srli_epi64::<47>(acc), key);
    // Three times dearer than a 32-bit multiplication on Intel, but there is no other work in its place.
    _mm512_mullo_epi64(mixed, _mm512_set1_epi64(PRIME32_1 as i64))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; STRIPE]) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn from_lanes(lanes: &Lanes) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn to_lanes(acc: __m512i) -> Lanes {
    let mut lanes = [0; 8];
    // SAFETY: the array is 64 writable bytes and the store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), acc) };
    lanes
}
