//! Runs of varints against varint-simd.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::varint;

const COUNT: usize = 16 * 1024;

pub(super) fn cases() -> Vec<Plan> {
    vec![Plan::new("ones", 8, || run(7)), Plan::new("mixed", 8, || run(35))]
}

struct Run {
    max_bits: u64,
    wire: Vec<u8>,
    out: Vec<u64>,
}

fn refresh(run: &mut Run, rng: &mut Rng) {
    run.wire.clear();
    for _ in 0..COUNT {
        // Every encoded length from 1 byte to the longest is equally frequent.
        let bits = 7 * (1 + rng.next() % (run.max_bits / 7));
        let v = (rng.next() | 1 << 63) >> (64 - bits);
        let mut one = [0; varint::MAX_LEN_64];
        let len = varint::encode_u64(v, &mut one);
        run.wire.extend_from_slice(&one[..len]);
    }
    // varint-simd reads 16 bytes at a time.
    run.wire.extend_from_slice(&[0; 16]);
}

fn sum(out: &[u64]) -> u64 {
    out.iter().fold(0, |a, &v| a.wrapping_mul(31).wrapping_add(v))
}

fn run(max_bits: u64) -> Case<Run> {
    Case::new(Run { max_bits, wire: Vec::new(), out: vec![0; COUNT] }, COUNT, refresh)
        .ours(kernel("varint::decode_run"), |r| {
            varint::decode_run(&r.wire, &mut r.out).expect("well formed");
            sum(&r.out)
        })
        .native_peer("varint-simd", |r| {
            let mut at = 0;
            for slot in &mut r.out {
                let (value, len) = varint_simd::decode::<u64>(&r.wire[at..]).expect("well formed");
                *slot = value;
                at += len;
            }
            sum(&r.out)
        })
}
