//! Many small frames with AVX-512, by classes of length.
//!
//! Frames of random lengths cost more in branches that nobody can foresee than in arithmetic. Sorted by their number of
//! lines, each class runs through the same branches. Frames that are all of one class need no sorting and go side by side:
//! the lines of some are folded while `crc32` chains run over those of others.

use super::short512::{Line, MOST_LINES, add_by, finish, first, keys, load, state};
use core::arch::x86_64::*;

/// Frames that are sorted at a time.
const CHUNK: usize = 256;
/// Up to 16 bytes; 1 to 16 lines; more.
const CLASSES: usize = 18;
/// Frames of a group that are folded, and those that are chained: as much work for either unit.
const FOLDED: usize = 6;
const CHAINED: usize = 3;
const GROUP: usize = FOLDED + CHAINED;
/// Lines from which a group is faster than its frames one by one: on Zen 4 10 % at 8 lines, nothing at 2. Groups within
/// the classes of a sorted list lose 10 %, since few frames of a class are left for them.
const LEAST: usize = 4;

fn class(len: usize) -> u8 {
    match len {
        0..=16 => 0,
        17..=1024 => 1 + ((len - 1) / 64) as u8,
        _ => CLASSES as u8 - 1,
    }
}

#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32], long: impl Fn(&[u8]) -> u32) {
    assert_eq!(frames.len(), crcs.len(), "one CRC for each frame");
    for (frames, crcs) in frames.chunks(CHUNK).zip(crcs.chunks_mut(CHUNK)) {
        // Frames of one class need no sorting.
        let first = class(frames[0].len());
        if first < CLASSES as u8 - 1 && frames.iter().all(|f| class(f.len()) == first) {
            let n = usize::from(first).saturating_sub(1);
            let (mut frames, mut crcs) = (frames, crcs);
            if n >= LEAST {
                let (groups, rest) = frames.as_chunks::<GROUP>();
                let (found, rest_crcs) = crcs.as_chunks_mut::<GROUP>();
                for (group, found) in groups.iter().zip(found) {
                    *found = side_by_side(group, n);
                }
                (frames, crcs) = (rest, rest_crcs);
            }
            for (frame, crc) in frames.iter().zip(crcs) {
                *crc = !state(!0, frame);
            }
            continue;
        }
        let mut classes = [0; CHUNK];
        let mut ends = [0u16; CLASSES];
        for (frame, slot) in frames.iter().zip(&mut classes) {
            *slot = class(frame.len());
            ends[usize::from(*slot)] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            // Where the class begins; placing its frames moves this to its end.
            let begin = end;
            end += *count;
            *count = begin;
        }
        let mut order = [0u8; CHUNK];
        for (i, class) in classes[..frames.len()].iter().enumerate() {
            let place = &mut ends[usize::from(*class)];
            order[usize::from(*place) % CHUNK] = i as u8;
            *place += 1;
        }
        let mut order = &order[..frames.len()];
        let mut begin = 0;
        for (class, end) in ends.into_iter().enumerate() {
            let (these, rest) = order.split_at(usize::from(end) - begin);
            order = rest;
            begin = usize::from(end);
            for &i in these {
                let frame = frames[usize::from(i)];
                crcs[usize::from(i)] = if class < CLASSES - 1 { !state(!0, frame) } else { long(frame) };
            }
        }
    }
}

/// The CRCs of frames that all have `n` lines behind their odd bytes, at most 15.
///
/// # Panics
/// If one has not, or `n` is more.
#[target_feature(enable = "sse4.2,pclmulqdq,bmi2,avx512f,avx512bw,avx512vl,vpclmulqdq")]
#[inline(never)]
fn side_by_side(frames: &[&[u8]; GROUP], n: usize) -> [u32; GROUP] {
    let mut sums = [_mm512_setzero_si512(); GROUP];
    let mut lines: [&[Line]; GROUP] = [&[]; GROUP];
    assert!(n < MOST_LINES, "{n} lines");
    // SAFETY: as asserted.
    let over = unsafe { keys(n) };
    for ((frame, sum), lines) in frames.iter().zip(&mut sums).zip(&mut lines) {
        let odd;
        (odd, *lines) = frame[1..].as_rchunks();
        assert_eq!(lines.len(), n, "frames of one class");
        // SAFETY: what is left over of lines of 64 bytes, behind the first byte.
        *sum = add_by(over, *sum, unsafe { first(!0, frame, odd.len()) });
    }
    let mut chains = [0; CHAINED];
    for i in 0..n {
        // SAFETY: less than `n`.
        let keys = unsafe { keys(n - 1 - i) };
        for word in 0..8 {
            if word < FOLDED {
                // SAFETY: `i` is below `n`, and all frames have as many lines, as asserted.
                let line = unsafe { lines[word].get_unchecked(i) };
                sums[word] = add_by(keys, sums[word], load(line));
            }
            for (chain, lines) in chains.iter_mut().zip(&lines[FOLDED..]) {
                // SAFETY: as before.
                let word = unsafe { lines.get_unchecked(i) }.as_chunks::<8>().0[word];
                *chain = _mm_crc32_u64(*chain, u64::from_le_bytes(word));
            }
        }
    }
    let mut crcs = sums.map(|sum| !finish(sum));
    for (crc, chain) in crcs[FOLDED..].iter_mut().zip(chains) {
        *crc ^= chain as u32;
    }
    crcs
}
