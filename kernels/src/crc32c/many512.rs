//! Many small frames with AVX-512, by classes of length.
//!
//! Frames of random lengths cost more in branches that nobody can foresee than in arithmetic. Sorted by their number of
//! lines, each class runs through the same branches.

use super::short512;

/// Frames that are sorted at a time.
const CHUNK: usize = 256;
/// Up to 16 bytes; 1 to 16 lines; more.
const CLASSES: usize = 18;

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
            for (frame, crc) in frames.iter().zip(crcs) {
                *crc = !short512::state(!0, frame);
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
                crcs[usize::from(i)] = if class < CLASSES - 1 { !short512::state(!0, frame) } else { long(frame) };
            }
        }
    }
}
