//! Many frames at once: every kernel gives each frame the hash that it has alone.

#![allow(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]

mod support;

use batchwise_kernels::xxh3::{Mismatch, hash64, many, many_ranges, verify_many};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Rng, bytes, exact};

/// Both forms, by every kernel, over copies of the frames in allocations of exactly their size.
fn check(buffer: &[u8], ranges: &[Range<usize>]) {
    let want: Vec<u64> = ranges.iter().map(|r| xxhash_rust::xxh3::xxh3_64(&buffer[r.clone()])).collect();
    let boxes: Vec<Box<[u8]>> = ranges.iter().map(|r| exact(&buffer[r.clone()])).collect();
    let frames: Vec<&[u8]> = boxes.iter().map(|b| &**b).collect();
    let what = || format!("{:?}", ranges.iter().map(Range::len).collect::<Vec<_>>());
    for kernel in many::available() {
        let mut hashes = vec![1; ranges.len()];
        many::with(kernel, &frames, &mut hashes);
        assert_eq!(hashes, want, "{} {}", kernel.name(), what());
    }
    for kernel in many_ranges::available() {
        let mut hashes = vec![2; ranges.len()];
        many_ranges::with(kernel, buffer, ranges, &mut hashes);
        assert_eq!(hashes, want, "{} {}", kernel.name(), what());
    }
}

/// Frames of these lengths, back to back in a buffer that ends with the last of them.
fn check_lens(lens: &[usize], seed: u64) {
    let buffer = exact(&bytes(lens.iter().sum(), seed));
    let mut at = 0;
    let ranges: Vec<Range<usize>> = lens
        .iter()
        .map(|len| {
            at += len;
            at - len..at
        })
        .collect();
    check(&buffer, &ranges);
}

#[test]
fn frames_of_one_length() {
    for len in (0..1300).chain([2047, 2048, 2049, 4096, 20_000]) {
        check_lens(&vec![len; 9 + len % 9], len as u64);
    }
    support::report("xxh3::many", many::TABLE.all());
    support::report("xxh3::many_ranges", many_ranges::TABLE.all());
}

#[test]
fn every_length_beside_others() {
    let mut rng = Rng(1);
    let longest = [20, 40, 130, 250, 700, 1100, 3000];
    for count in (0..40).chain([63, 64, 65, 127, 128, 129, 135, 136, 137, 255, 256, 257, 300, 700]) {
        for most in longest {
            let lens: Vec<usize> = (0..count).map(|_| rng.below(most)).collect();
            check_lens(&lens, count as u64);
        }
    }
}

#[test]
fn classes_in_every_order() {
    // One length of each class and of each number of stripes, in runs that fill eights and do not.
    let classes =
        [0, 7, 16, 17, 64, 128, 129, 191, 240, 241, 256, 257, 320, 513, 640, 960, 961, 1024, 1025, 1100, 2500];
    let mut rng = Rng(2);
    for _ in 0..300 {
        let mut lens = Vec::new();
        while lens.len() < 200 {
            let run = 1 + rng.below(12);
            let len = classes[rng.below(classes.len())];
            lens.extend(std::iter::repeat_n(len, run));
        }
        check_lens(&lens, 3);
    }
}

#[test]
fn tails_of_equal_size_in_frames_of_different_lengths() {
    let mut rng = Rng(6);
    for whole in 128..=240 {
        let lens: Vec<usize> = (0..40).map(|_| (whole / 16 * 16 + rng.below(16)).clamp(129, 240)).collect();
        check_lens(&lens, whole as u64);
    }
}

#[test]
fn ranges_may_overlap_repeat_and_run_backwards() {
    let buffer = exact(&bytes(4000, 4));
    let mut rng = Rng(5);
    for count in [1, 8, 50, 200] {
        let ranges: Vec<Range<usize>> = (0..count)
            .map(|_| {
                let len = rng.below([130, 250, 1200][count % 3]);
                let start = rng.below(buffer.len() - len + 1);
                start..start + len
            })
            .collect();
        check(&buffer, &ranges);
    }
    check(&buffer, &vec![0..4000; 20]);
    check(&buffer, &vec![4000..4000; 20]);
    check(&buffer, &(0..129).rev().map(|i| 15 * i..4000 - i).collect::<Vec<_>>());
}

#[test]
fn frames_at_both_ends_of_their_buffer() {
    for len in 17..=240 {
        let buffer = exact(&bytes(len + 8 * 3, len as u64));
        let ranges: Vec<Range<usize>> = (0..25).map(|i| i..i + len).take(buffer.len() - len + 1).collect();
        check(&buffer, &ranges);
    }
}

#[test]
fn wrong_calls_panic() {
    let buffer = bytes(100, 6);
    for kernel in many_ranges::available() {
        let panics = |ranges: &[Range<usize>], hashes: usize| {
            let mut hashes = vec![0; hashes];
            let run = AssertUnwindSafe(|| many_ranges::with(kernel, &buffer, ranges, &mut hashes));
            assert!(catch_unwind(run).is_err(), "{} {ranges:?}", kernel.name());
        };
        panics(&[0..10], 0);
        panics(&[0..10], 2);
        #[expect(clippy::reversed_empty_ranges, reason = "that is what must not pass")]
        for wrong in [0..101, 101..101, 50..40, usize::MAX..usize::MAX, 0..usize::MAX, usize::MAX - 10..30] {
            for at in [0, 4, 7, 8, 11] {
                let mut ranges = vec![0..50; 12];
                ranges[at] = wrong.clone();
                panics(&ranges, 12);
                panics(&ranges[at..=at], 1);
            }
        }
    }
    for kernel in many::available() {
        let run = || many::with(kernel, &[&buffer], &mut [0; 2]);
        assert!(catch_unwind(run).is_err(), "{}", kernel.name());
    }
    assert!(catch_unwind(|| verify_many(&buffer, &[0..3], &[])).is_err());
}

#[test]
fn the_first_mismatch_is_reported() {
    let buffer = bytes(60_000, 7);
    let ranges: Vec<Range<usize>> = (0..600).map(|i| 97 * i..97 * i + i).collect();
    let checksums: Vec<u64> = ranges.iter().map(|r| hash64(&buffer[r.clone()])).collect();
    assert_eq!(verify_many(&buffer, &ranges, &checksums), Ok(()));
    assert_eq!(verify_many(&buffer, &[], &[]), Ok(()));
    for index in [0, 1, 7, 8, 200, 255, 256, 257, 511, 512, 599] {
        for later in [false, true] {
            let mut stored = checksums.clone();
            stored[index] ^= 1 << (index % 64);
            if later {
                stored[599] ^= 2;
            }
            let want = Mismatch { index, computed: checksums[index] };
            assert_eq!(verify_many(&buffer, &ranges, &stored), Err(want));
        }
    }
    let shown = Mismatch { index: 3, computed: 0xAB }.to_string();
    assert_eq!(shown, "the hash of frame 3 is 0x00000000000000ab, which is not its checksum");
}
