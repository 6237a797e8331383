//! Bytes that mean no good: every bit flipped, every cut, lies and junk. The expected answers come from a plain model.

use crate::support::{REVISIONS, Rng, batch};
use batchwise::iggy::{Batch, Failure, FrameList, Revision, decode};
use batchwise::{Detail, Error, ErrorKind};
use xxhash_rust::xxh3::xxh3_64;

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// The steps of the decoder as the specification lists them, written as plainly as can be: kind and place of the error.
fn model(bytes: &[u8], revision: Revision) -> Result<usize, Option<(ErrorKind, Option<u64>)>> {
    let wrong = |kind| Err(Some((kind, None)));
    if bytes.len() < 256 {
        return Err(None);
    }
    if u64_at(bytes, 32) < 256 {
        return Err(Some((ErrorKind::BatchLengthBelowHeader, Some(32))));
    }
    let reserved = if revision == Revision::R1 { 52 } else { 72 };
    if let Some(at) = (reserved..256).find(|&at| bytes[at] != 0) {
        return Err(Some((ErrorKind::HeaderReservedNonzero, Some(at as u64))));
    }
    let producer = bytes[52] == 1;
    if revision == Revision::R2 {
        let zero = |at: &[usize]| at.iter().all(|&at| bytes[at] == 0);
        let within = u64_at(bytes, 56) < 1 << 63 && bytes[65] < 0x80 && u32_at(bytes, 68) < 1 << 31;
        let absent = bytes[52..72].iter().all(|&b| b == 0);
        if !(absent || producer && zero(&[53, 54, 55, 66, 67]) && within) {
            return wrong(ErrorKind::ProducerMalformed);
        }
    }
    let length = u64_at(bytes, 32);
    if (bytes.len() as u64) < length {
        return Err(None);
    }
    let end = length as usize;
    let mut input = [&bytes[..40], &bytes[48..52]].concat();
    if producer {
        input.extend([&[1][..], &bytes[56..66], &bytes[68..72]].concat());
    }
    let (mut at, mut count) = (256, 0);
    while end - at >= 48 {
        let next = at as u64 + 48 + u32_at(bytes, at + 32) + u32_at(bytes, at + 36);
        if u64_at(bytes, at + 40) != 0 || next > length {
            break;
        }
        if xxh3_64(&bytes[at + 8..next as usize]) != u64_at(bytes, at) {
            return Err(Some((ErrorKind::MessageChecksumMismatch, Some(at as u64))));
        }
        input.extend(&bytes[at..at + 8]);
        at = next as usize;
        count += 1;
    }
    if at != end || count != u32_at(bytes, 48) {
        return wrong(ErrorKind::FramesNotFilling);
    }
    if xxh3_64(&input) != u64_at(bytes, 40) {
        return Err(Some((ErrorKind::BatchChecksumMismatch, Some(40))));
    }
    Ok(end)
}

fn agrees(bytes: &[u8], frames: &mut FrameList) {
    for (_, revision) in REVISIONS {
        let found = decode(bytes, 0, revision, frames).map(|b| b.bytes().len());
        let seen = found.map_err(|failure| match failure {
            Failure::NeedsMore { .. } => None,
            Failure::Damaged(e) => Some((e.kind(), Some(e.offset()))),
        });
        match (seen, model(bytes, revision)) {
            (Err(Some((found, _))), Err(Some((wanted, None)))) => assert_eq!(found, wanted),
            (found, wanted) => assert_eq!(found, wanted),
        }
        let read = Batch::parse(bytes, 0, revision).map(|b| b.messages().map(|m| m.map(|_| ())).collect::<Vec<_>>());
        if let Ok(messages) = read {
            assert!(messages.iter().rev().skip(1).all(Result::is_ok), "nothing comes after an error");
        }
    }
}

#[test]
fn every_flipped_bit_gives_the_models_answer() {
    let mut frames = FrameList::default();
    for name in ["mixed10.stamped_p7_o1000.bin", "rev2_producer_max.bin", "one_empty_payload.bin", "empty_count0.bin"] {
        let sound = batch(name);
        agrees(&sound, &mut frames);
        for bit in 0..8 * sound.len() {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            agrees(&bytes, &mut frames);
            assert!(decode(&bytes, 0, Revision::R2, &mut frames).is_err(), "{name}: bit {bit} goes unnoticed");
        }
    }
}

#[test]
fn every_cut_asks_for_what_is_missing() {
    let mut frames = FrameList::default();
    let sound = batch("mixed10.bin");
    for len in 0..sound.len() {
        agrees(&sound[..len], &mut frames);
        let failure = decode(&sound[..len], 0, Revision::R2, &mut frames).expect_err("cut");
        let needed = if len < 256 { 256 } else { sound.len() as u64 };
        assert_eq!(failure, Failure::NeedsMore { needed, available: len as u64, offset: 0 });
        let error = Error::from(failure);
        assert_eq!(error.detail(), Detail::Length { needed, available: len as u64 });
        // It names the field that says so, where it stands.
        assert_eq!((error.field(), error.offset()), if len < 256 { ("batch", 0) } else { ("batch_length", 32) });
    }
}

/// Damage of every sort, some of it with checksums made to fit, so that later steps are reached.
#[test]
fn random_damage_gives_the_models_answer() {
    let mut rng = Rng(11);
    let mut frames = FrameList::default();
    let bases = ["mixed10.bin", "zero_512.bin", "rev2_producer_20.stamped_p5_o900.bin", "lengths_with_headers.bin"];
    let bases = bases.map(batch);
    for _ in 0..4000 {
        let mut bytes = bases[rng.below(4)].clone();
        for _ in 0..1 + rng.below(3) {
            let at = match rng.below(4) {
                0 => rng.below(72),
                1 => 256 + rng.below(48),
                _ => rng.below(bytes.len()),
            };
            let at = at.min(bytes.len() - 1);
            match rng.below(6) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.extend(rng.bytes(1 + at % 64)),
                3 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][rng.below(5)],
                4 => drop(bytes.drain(at..(at + 1 + rng.below(60)).min(bytes.len()))),
                _ => drop(bytes.splice(at..at, rng.bytes(4))),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        if bytes.len() >= 256 && rng.below(2) == 0 {
            let length = bytes.len() as u64;
            bytes[32..40].copy_from_slice(&length.to_le_bytes());
        }
        repair(&mut bytes, &mut rng);
        agrees(&bytes, &mut frames);
    }
}

/// Sets the checksums of frames right, up to a random one.
fn repair(bytes: &mut [u8], rng: &mut Rng) {
    let stop = rng.below(40);
    let mut at = 256;
    for _ in 0..stop {
        if bytes.len() < at + 48 {
            return;
        }
        let end = at as u64 + 48 + u32_at(bytes, at + 32) + u32_at(bytes, at + 36);
        if end > bytes.len() as u64 {
            return;
        }
        let checksum = xxh3_64(&bytes[at + 8..end as usize]);
        bytes[at..at + 8].copy_from_slice(&checksum.to_le_bytes());
        at = end as usize;
    }
}

#[test]
fn claims_size_no_memory() {
    // 4 billion messages in a batch of one, a length of 2^64 - 1, frames of 8 GiB.
    let mut frames = FrameList::default();
    let sound = batch("one_hello.bin");
    for (at, lie) in [(48, &[0xFF; 4][..]), (32, &[0xFF; 8]), (256 + 32, &[0xFF; 8])] {
        let mut bytes = sound.clone();
        bytes[at..at + lie.len()].copy_from_slice(lie);
        agrees(&bytes, &mut frames);
        assert!(frames.len() <= 1);
    }
}

#[test]
fn random_bytes_are_no_batch() {
    let mut rng = Rng(12);
    let mut frames = FrameList::default();
    for _ in 0..2000 {
        let len = rng.below(600);
        let bytes = rng.bytes(len);
        agrees(&bytes, &mut frames);
        // The same with a header that passes.
        let mut bytes = [vec![0; 256], bytes].concat();
        let length = bytes.len() as u64;
        bytes[32..40].copy_from_slice(&length.to_le_bytes());
        agrees(&bytes, &mut frames);
    }
}

#[test]
fn what_stops_the_walk_is_named() {
    let sound = batch("mixed10.bin");
    let stop = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        let e = Batch::parse(&bytes, 1000, Revision::R2).expect("a header").check_layout().expect_err("a stop");
        assert_eq!(e.kind(), ErrorKind::FramesNotFilling);
        (e.field(), e.offset(), e.detail())
    };
    let reserved = stop(&|b| b[317 + 40] = 1);
    assert_eq!((reserved.0, reserved.1), ("reserved", 1000 + 317 + 40));
    let payload = stop(&|b| b[317 + 39] = 1);
    let detail = Detail::Length { needed: (1 << 24) + 26, available: 1926 - 317 - 48 };
    assert_eq!(payload, ("payload_length", 1000 + 317 + 36, detail));
    let user_headers = stop(&|b| b[317 + 35] = 1);
    assert_eq!((user_headers.0, user_headers.1), ("user_headers_length", 1000 + 317 + 32));
    let rest = stop(&|b| {
        b.extend([0; 47]);
        let length = b.len() as u64;
        b[32..40].copy_from_slice(&length.to_le_bytes());
    });
    assert_eq!(rest, ("message", 1000 + 1926, Detail::Length { needed: 48, available: 47 }));
    let count = stop(&|b| b[48] = 11);
    assert_eq!(count, ("message_count", 1048, Detail::Expected { expected: 11, found: 10 }));
}
