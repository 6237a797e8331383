//! Runs of varints against varint-simd.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::varint;

const COUNT: usize = 16 * 1024;

/// `bytes` is the width of the values. In `ones` all take one byte; in `mixed` every length from 1 to 5 is as frequent.
pub(super) fn cases() -> Vec<Plan> {
    vec![
        Plan::new("ones", 4, || run(1, narrow)),
        Plan::new("ones", 8, || run(1, wide)),
        Plan::new("mixed", 4, || run(5, narrow)),
        Plan::new("mixed", 8, || run(5, wide)),
    ]
}

struct Run<T> {
    longest: u32,
    wire: Vec<u8>,
    out: Vec<T>,
}

fn refresh<T>(run: &mut Run<T>, rng: &mut Rng) {
    run.wire.clear();
    for _ in 0..COUNT {
        let len = 1 + rng.next() as u32 % run.longest;
        let bits = (7 * len).min(8 * size_of::<T>() as u32);
        let v = (rng.next() | 1 << 63) >> (64 - bits);
        let mut one = [0; varint::MAX_LEN_64];
        let len = varint::encode_u64(v, &mut one);
        run.wire.extend_from_slice(&one[..len]);
    }
    // varint-simd reads up to 32 bytes at a time.
    run.wire.extend_from_slice(&[0; 32]);
}

fn run<T: Copy + Default + 'static>(longest: u32, contenders: fn(Case<Run<T>>) -> Case<Run<T>>) -> Case<Run<T>> {
    contenders(Case::new(Run { longest, wire: Vec::new(), out: vec![T::default(); COUNT] }, COUNT, refresh))
}

/// Cheap beside the decoding: a plain sum, and a few values where they stand.
fn digest<T: Copy + Into<u64> + std::ops::BitXor<Output = T> + Default>(out: &[T]) -> u64 {
    let all: u64 = out.iter().fold(T::default(), |a, &v| a ^ v).into();
    out.iter().step_by(61).fold(all, |a, &v| a.wrapping_mul(31).wrapping_add(v.into()))
}

fn narrow(case: Case<Run<u32>>) -> Case<Run<u32>> {
    case.ours(kernel("varint::decode_run_u32"), |r| {
        varint::decode_run_u32(&r.wire, &mut r.out).expect("well formed");
        digest(&r.out)
    })
    // Its fastest form here, which checks neither bounds nor width: 2.5 ns a value, ones or mixed. `decode` takes 3.0
    // and 3.9, `decode_two_unsafe` 2.7. Those for four and eight values are for narrower types.
    .native_peer("varint-simd", |r| {
        let mut at = 0;
        for slot in &mut r.out {
            // SAFETY: 32 bytes follow the last value.
            let (value, len) = unsafe { varint_simd::decode_unsafe(r.wire[at..].as_ptr()) };
            *slot = value;
            at += len;
        }
        digest(&r.out)
    })
}

fn wide(case: Case<Run<u64>>) -> Case<Run<u64>> {
    case.ours(kernel("varint::decode_run_u64"), |r| {
        varint::decode_run_u64(&r.wire, &mut r.out).expect("well formed");
        digest(&r.out)
    })
    // Its fastest form here, which checks neither bounds nor width: 3.1 ns a value, ones or mixed. `decode` takes 3.6,
    // `decode_unsafe` 3.3.
    .native_peer("varint-simd", |r| {
        let mut at = 0;
        for slots in r.out.as_chunks_mut::<2>().0 {
            #[cfg(target_feature = "avx2")]
            // SAFETY: 32 bytes follow the last value.
            let (first, second, len_a, len_b) = unsafe { varint_simd::decode_two_wide_unsafe(r.wire[at..].as_ptr()) };
            #[cfg(target_feature = "avx2")]
            let len = usize::from(len_a + len_b);
            #[cfg(not(target_feature = "avx2"))]
            let (first, second, len) = {
                let (a, len_a) = varint_simd::decode(&r.wire[at..]).expect("well formed");
                let (b, len_b) = varint_simd::decode(&r.wire[at + len_a..]).expect("well formed");
                (a, b, len_a + len_b)
            };
            *slots = [first, second];
            at += len;
        }
        digest(&r.out)
    })
}
