//! CRC-32C beyond one slice: small updates, patches, combination and copies.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::crc32c;
use crc_fast::CrcAlgorithm::{Crc32Iscsi, Crc32IsoHdlc};
use std::hint::black_box;

pub(super) fn cases() -> Vec<Plan> {
    let mut plans = vec![Plan::new("updates", 8, updates)];
    plans.extend([1 << 10, 16 << 10, 1 << 20].map(|len| Plan::new("patch", len as u64, move || patch(len))));
    plans.extend([1 << 10, 1 << 20, 1 << 30].map(|len| Plan::new("combine", len, move || combine(len))));
    let sizes = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 64 << 20];
    plans.extend(sizes.map(|len| Plan::new("copy", len as u64, move || copy(len))));
    plans
}

/// One hasher fed 8 bytes at a time; the unit is one update.
fn updates() -> Case<Vec<u8>> {
    const LEN: usize = 16 << 10;
    fn words(data: &[u8]) -> &[[u8; 8]] {
        data.as_chunks().0
    }
    Case::new(vec![0; LEN], LEN / 8, |data, rng| rng.fill(data))
        .ours(kernel("crc32c::update"), |data| {
            let mut hasher = crc32c::Hasher::new();
            words(data).iter().for_each(|w| hasher.update(w));
            hasher.finalize().into()
        })
        .peer("crc32c", |data| words(data).iter().fold(0, |crc, w| ::crc32c::crc32c_append(crc, w)).into())
        .peer("crc-fast", |data| {
            let mut digest = crc_fast::Digest::new(Crc32Iscsi);
            words(data).iter().for_each(|w| digest.update(w));
            digest.finalize()
        })
        // The other CRC-32; where its result is right by its own measure, it counts as ours.
        .peer("crc32fast", |data| {
            let mut hasher = crc32fast::Hasher::new();
            words(data).iter().for_each(|w| hasher.update(w));
            let right = crc_fast::checksum(Crc32IsoHdlc, data) == u64::from(hasher.finalize());
            if right { crc32c::crc32c(data).into() } else { 0 }
        })
        .peer("bulk", |data| crc32c::crc32c(data).into())
}

/// Where a Kafka batch keeps what a leader rewrites: attributes to record count, behind the CRC itself.
const HEADER: usize = 40;

struct Patches {
    batch: Vec<u8>,
    /// Old header, its CRC, and the length of the batch.
    old: Vec<([u8; HEADER], u32, usize)>,
}

/// A header rewritten, against the CRC of the whole batch once more; batches are up to 1/8 shorter than the case says.
fn patch(len: usize) -> Case<Patches> {
    let count = ((1 << 20) / len).clamp(4, 256);
    let data = Patches { batch: vec![0; len], old: vec![([0; HEADER], 0, 0); count] };
    let refresh = move |p: &mut Patches, rng: &mut Rng| {
        rng.fill(&mut p.batch);
        let new: [u8; HEADER] = *p.batch.first_chunk().expect("longer");
        for (old, crc, n) in &mut p.old {
            rng.fill(old);
            *n = len - rng.below(len / 8);
            p.batch[..HEADER].copy_from_slice(old);
            *crc = crc32c::crc32c(&p.batch[..*n]);
        }
        p.batch[..HEADER].copy_from_slice(&new);
    };
    Case::new(data, count, refresh)
        .ours(kernel("crc32c::patch"), |p| {
            let new = &p.batch[..HEADER];
            p.old.iter().fold(0, |sum: u64, (old, crc, n)| {
                sum.wrapping_add(crc32c::patch(*crc, old, new, (n - HEADER) as u64).into())
            })
        })
        .peer("recompute", |p| {
            p.old.iter().fold(0, |sum: u64, (_, _, n)| sum.wrapping_add(crc32c::crc32c(&p.batch[..*n]).into()))
        })
}

struct Pairs {
    pairs: Vec<(u32, u32, u64)>,
    /// What crc32fast, whose polynomial is another, has to find.
    others: u64,
    expected: u64,
}

/// Two CRCs joined; the second half is of a random length up to the case's.
fn combine(len: u64) -> Case<Pairs> {
    const COUNT: usize = 256;
    fn sum(pairs: &[(u32, u32, u64)], combine: impl Fn(u32, u32, u64) -> u64) -> u64 {
        pairs.iter().fold(0, |sum, &(a, b, n)| sum.wrapping_add(combine(a, b, n)))
    }
    let refresh = move |data: &mut Pairs, rng: &mut Rng| {
        for pair in &mut data.pairs {
            *pair = (rng.next() as u32, rng.next() as u32, 1 + rng.next() % len);
        }
        data.others = sum(&data.pairs, |a, b, n| crc_fast::checksum_combine(Crc32IsoHdlc, a.into(), b.into(), n));
        data.expected = sum(&data.pairs, |a, b, n| crc32c::combine(a, b, n).into());
    };
    Case::new(Pairs { pairs: vec![(0, 0, 0); COUNT], others: 0, expected: 0 }, COUNT, refresh)
        .ours(kernel("crc32c::advance"), |p| sum(&p.pairs, |a, b, n| crc32c::combine(a, b, n).into()))
        .peer("crc32c", |p| sum(&p.pairs, |a, b, n| ::crc32c::crc32c_combine(a, b, n as usize).into()))
        .peer("crc-fast", |p| sum(&p.pairs, |a, b, n| crc_fast::checksum_combine(Crc32Iscsi, a.into(), b.into(), n)))
        .peer("crc32fast", |p| {
            let got = sum(&p.pairs, |a, b, n| {
                let mut first = crc32fast::Hasher::new_with_initial(a);
                first.combine(&crc32fast::Hasher::new_with_initial_len(b, n));
                first.finalize().into()
            });
            if got == p.others { p.expected } else { 0 }
        })
}

struct Copy {
    src: Vec<u8>,
    dst: Vec<u8>,
    /// Where in both the copies of a round begin.
    starts: Vec<(usize, usize)>,
}

/// A copy with its CRC, against a copy and then the CRC.
fn copy(len: usize) -> Case<Copy> {
    let count = ((256 << 10) / len).clamp(1, 512);
    let room = len + (8 << 10);
    let data = Copy { src: vec![0; room], dst: vec![0; room], starts: vec![(0, 0); count] };
    let refresh = move |c: &mut Copy, rng: &mut Rng| {
        rng.fill(&mut c.src);
        for start in &mut c.starts {
            *start = (rng.below(room - len), rng.below(room - len));
        }
    };
    fn sum(c: &mut Copy, len: usize, copy: impl Fn(&mut [u8], &[u8]) -> u32) -> u64 {
        let mut sum = 0u64;
        for &(from, to) in &c.starts {
            let dst = &mut c.dst[to..to + len];
            let crc = copy(dst, &c.src[from..from + len]);
            sum = sum.wrapping_add(u64::from(crc)).wrapping_add(u64::from(black_box(dst)[len / 2]));
        }
        sum
    }
    Case::new(data, count, refresh).ours(kernel("crc32c::copy"), move |c| sum(c, len, crc32c::copy)).peer(
        "memcpy+crc",
        move |c| {
            sum(c, len, |dst, src| {
                dst.copy_from_slice(src);
                crc32c::crc32c(dst)
            })
        },
    )
}
