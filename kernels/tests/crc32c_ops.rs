//! The operations around the checksum: every kernel of each against CRCs of the bytes themselves.

mod support;

use batchwise_kernels::crc32c::{self, Shift, advance, copy, many, patch};
use support::{Rng, bytes, exact, lengths};

#[test]
fn combination_equals_concatenation() {
    let data = bytes(70_000, 11);
    for cut in (0..300).chain([4095, 4096, 65_535, 65_536, 69_999, 70_000]) {
        let (a, b) = data.split_at(cut);
        let (crc_a, crc_b, whole) = (crc32c::crc32c(a), crc32c::crc32c(b), crc32c::crc32c(&data));
        let len_b = b.len() as u64;
        for kernel in advance::available() {
            let name = kernel.name();
            assert_eq!(advance::with(kernel, crc_a, len_b) ^ crc_b, whole, "{name} cut at {cut}");
        }
        assert_eq!(crc32c::combine(crc_a, crc_b, len_b), whole);
        assert_eq!(Shift::over(len_b).combine(crc_a, crc_b), whole);
        assert_eq!(crc32c::remove_prefix(whole, crc_a, len_b), crc_b, "cut at {cut}");
        assert_eq!(crc32c::remove_suffix(whole, crc_b, len_b), crc_a, "cut at {cut}");
    }
    support::report("crc32c::advance", advance::TABLE.all());
}

#[test]
fn shift_equals_appended_zeros() {
    let mut data = bytes(100, 12);
    let crc = crc32c::crc32c(&data);
    for zeros in 0..1000 {
        assert_eq!(crc32c::shift(crc, zeros), crc32c::crc32c(&data), "{zeros} zeros");
        data.push(0);
    }
}

#[test]
fn advance_is_a_group_action_at_any_length() {
    // The order of x: moving over this many bytes changes nothing.
    const ORDER: u64 = (1 << 31) - 1;
    let mut rng = Rng(13);
    for kernel in advance::available() {
        let name = kernel.name();
        let advance = |residue, len| advance::with(kernel, residue, len);
        for bits in 0..64 {
            for _ in 0..20 {
                let (r, m, n) = (rng.next() as u32, rng.next() >> 2 >> (61 - bits.min(61)), rng.next() >> 40);
                assert_eq!(advance(advance(r, m), n), advance(r, m + n), "{name} {m} {n}");
                assert_eq!(advance(r, m % ORDER), advance(r, m), "{name} {m}");
                assert_eq!(advance(r, n), Shift::over(n).advance(r), "{name} {n}");
                assert_eq!(Shift::over(m).and(Shift::over(n)), Shift::over(m + n), "{m} {n}");
            }
        }
        for len in [0, 1, 255, 256, 1 << 16, (1 << 24) - 1, 1 << 24, ORDER - 1, ORDER, ORDER + 1, u64::MAX] {
            let r = rng.next() as u32;
            assert_eq!(advance(advance(r, len), ORDER - len % ORDER), r, "{name} {len}");
            // One byte further, by the definition.
            let next = (0..8).fold(advance(r, len), |c, _| if c & 1 == 1 { c >> 1 ^ 0x82F6_3B78 } else { c >> 1 });
            assert_eq!(advance(r, len % ORDER + 1), next, "{name} {len}");
        }
        assert_eq!(advance(0, 77), 0, "{name}");
    }
}

#[test]
fn a_patch_equals_the_crc_of_the_patched() {
    let mut rng = Rng(14);
    for len in (0..200).chain([1000, 5000]) {
        for tail in [0, 1, 7, 8, 61, 255, 256, 70_000] {
            let head = rng.below(50);
            let before = bytes(head + len + tail, rng.next());
            let mut after = before.clone();
            let new = exact(&bytes(len, rng.next()));
            after[head..head + len].copy_from_slice(&new);
            let old = exact(&before[head..head + len]);
            let (crc, want) = (crc32c::crc32c(&before), crc32c::crc32c(&after));
            for kernel in patch::available() {
                let name = kernel.name();
                assert_eq!(patch::with(kernel, crc, &old, &new, tail as u64), want, "{name} len {len} tail {tail}");
                // A CRC that was wrong stays wrong by the same bits.
                let damage = rng.next() as u32 | 1;
                let patched = patch::with(kernel, crc ^ damage, &old, &new, tail as u64);
                assert_eq!(patched, want ^ damage, "{name} len {len} tail {tail}");
            }
        }
    }
    support::report("crc32c::patch", patch::TABLE.all());
}

#[test]
fn a_copy_is_a_copy_and_writes_nothing_else() {
    let data = bytes(300_000, 15);
    let mut room = vec![0; data.len() + 64];
    for len in lengths() {
        for (from, to) in [(0, 0), (1, 0), (0, 1), (31, 5), (63, 64), (8, 33)] {
            let src = exact(&data[from..from + len]);
            let want = crc32c::crc32c(&src);
            for kernel in copy::available() {
                let name = kernel.name();
                room[..to + len + 64].fill(0xA5);
                assert_eq!(copy::with(kernel, &mut room[to..to + len], &src), want, "{name} len {len} to {to}");
                assert!(room[to..to + len] == src[..], "{name} len {len} to {to}");
                let untouched = room[..to].iter().chain(&room[to + len..to + len + 64]).all(|&b| b == 0xA5);
                assert!(untouched, "{name} len {len} to {to}");
            }
        }
    }
    support::report("crc32c::copy", copy::TABLE.all());
}

#[test]
fn many_equals_one_by_one() {
    let data = bytes(40_000, 16);
    let mut rng = Rng(17);
    for kernel in many::available() {
        let name = kernel.name();
        let mut check = |lengths: &mut dyn Iterator<Item = usize>| {
            let frames: Vec<Box<[u8]>> = lengths
                .map(|len| {
                    let start = rng.below(data.len() - len);
                    exact(&data[start..start + len])
                })
                .collect();
            let frames: Vec<&[u8]> = frames.iter().map(|f| &f[..]).collect();
            let want: Vec<u32> = frames.iter().map(|f| crc32c::crc32c(f)).collect();
            let mut crcs = vec![0xDEAD_BEEF; frames.len()];
            many::with(kernel, &frames, &mut crcs);
            for ((frame, got), want) in frames.iter().zip(&crcs).zip(&want) {
                assert_eq!(got, want, "{name} a frame of {} among {}", frame.len(), frames.len());
            }
        };
        check(&mut (0..1200));
        check(&mut (0..1200).rev());
        let mut rng = Rng(18);
        // Lengths of one class, which need no sorting.
        for lines in 0..17 {
            check(&mut (0..50).map(|_| 64 * lines + 1 + rng.below(64)));
        }
        for count in (0..40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 1000]) {
            for most in [1, 16, 70, 300, 600, 5000] {
                check(&mut (0..count).map(|_| rng.below(most + 1)));
            }
            check(&mut std::iter::repeat_n(count, count));
        }
    }
    support::report("crc32c::many", many::TABLE.all());
}

#[test]
fn lengths_that_differ_are_refused() {
    fn refused(f: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(f).is_err()
    }
    for kernel in copy::available() {
        assert!(refused(|| _ = copy::with(kernel, &mut [0; 3], &[0; 4])), "{}", kernel.name());
    }
    for kernel in patch::available() {
        assert!(refused(|| _ = patch::with(kernel, 0, &[0; 3], &[0; 4], 0)), "{}", kernel.name());
    }
    for kernel in many::available() {
        assert!(refused(|| many::with(kernel, &[b"a"], &mut [])), "{}", kernel.name());
    }
}

#[test]
fn a_hasher_fed_in_pieces_equals_the_whole() {
    let data = bytes(20_000, 19);
    let mut rng = Rng(20);
    for most in [1, 8, 9, 100, 511, 512, 513, 1024, 5000] {
        let mut hasher = crc32c::Hasher::new();
        let mut at = 0;
        while at < data.len() {
            let len = rng.below(most + 1).min(data.len() - at);
            hasher.update(&data[at..at + len]);
            at += len;
            if rng.below(20) == 0 {
                assert_eq!(hasher.finalize(), crc32c::crc32c(&data[..at]), "pieces up to {most}, {at} bytes");
                let mut copy = hasher.clone();
                copy.update(b"more");
                assert_eq!(copy.finalize(), crc32c::update(hasher.finalize(), b"more"));
            }
        }
        assert_eq!(hasher.finalize(), crc32c::crc32c(&data), "pieces up to {most}");
        hasher.reset();
        assert_eq!(hasher.finalize(), 0);
    }
}

#[test]
fn a_hasher_is_a_writer_and_a_std_hasher() {
    use std::io::{IoSlice, Write};
    let mut hasher = crc32c::Hasher::continuing(crc32c::crc32c(b"12"));
    hasher.update_vectored(&[IoSlice::new(b"3"), IoSlice::new(b""), IoSlice::new(b"4567")]);
    assert_eq!(hasher.write_vectored(&[IoSlice::new(b"8"), IoSlice::new(b"9")]).expect("never fails"), 2);
    hasher.write_all(b"").and_then(|()| hasher.flush()).expect("never fails");
    assert_eq!(std::hash::Hasher::finish(&hasher), 0xE306_9283);
}
