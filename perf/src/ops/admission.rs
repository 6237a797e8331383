//! Verifying an Iggy batch whole, against the same work written plainly with twox-hash, as the Iggy server does it.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::iggy::{FrameList, NewMessage, Revision, decode, encode};
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Messages in a batch.
const MESSAGES: usize = 1000;

/// `bytes` is the length of each payload.
pub(super) fn cases() -> Vec<Plan> {
    [(16, 8), (100, 4), (1024, 1)]
        .into_iter()
        .map(|(payload, batches)| {
            Plan::new("admission", payload as u64, move || admission(batches, move |_: &mut Rng| payload))
        })
        // Lengths up to twice the mean, fresh for each message: no branch can foresee where the next one starts.
        .chain([(100, 4), (1024, 1)].map(|(mean, batches)| {
            Plan::new("admission_mixed", mean as u64, move || admission(batches, move |rng| rng.below(2 * mean + 1)))
        }))
        .collect()
}

fn admission(batches: usize, length: impl Fn(&mut Rng) -> usize + 'static) -> Case<Vec<Vec<u8>>> {
    let mut frames = FrameList::default();
    let mut ours = FrameList::default();
    let mut payloads = Vec::new();
    let refresh = move |batches: &mut Vec<Vec<u8>>, rng: &mut Rng| {
        for batch in batches {
            let lengths: Vec<_> = (0..MESSAGES).map(|_| length(rng)).collect();
            payloads.resize(lengths.iter().sum(), 0);
            rng.fill(&mut payloads);
            let mut rest = &payloads[..];
            let messages: Vec<_> = lengths
                .iter()
                .map(|&len| {
                    let payload = rest.split_off(..len).expect("the sum of the lengths");
                    NewMessage { id: rng.next().into(), timestamp: 1_790_000_000_000_000, payload, user_headers: b"" }
                })
                .collect();
            batch.clear();
            encode(&messages, None, batch, &mut frames).expect("a batch");
        }
    };
    Case::new(vec![Vec::new(); batches], batches * MESSAGES, refresh)
        .ours(kernel("xxh3::oneshot"), move |batches| {
            let verify = |batch: &Vec<u8>, frames: &mut FrameList| {
                let batch = decode(batch, 0, Revision::R2, frames).expect("a sound batch");
                batch.header().batch_checksum().wrapping_add(frames.len() as u64)
            };
            batches.iter().fold(0, |sum, batch| sum.wrapping_add(verify(batch, &mut ours)))
        })
        .peer("twox-hash", |batches| {
            batches.iter().fold(0, |sum, batch| sum.wrapping_add(plain(batch).expect("a sound batch")))
        })
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Header, then one walk that hashes each frame and feeds a streaming hasher field by field and checksum by checksum.
fn plain(bytes: &[u8]) -> Option<u64> {
    let header = bytes.get(..256)?;
    let length = usize::try_from(u64_at(header, 32)?).ok()?;
    if length < 256 || header[52..].iter().any(|&b| b != 0) {
        return None;
    }
    let blob = bytes.get(256..length)?;
    let mut hasher = XxHash3_64::new();
    for field in [0, 8, 16, 24, 32] {
        hasher.write(&header[field..field + 8]);
    }
    hasher.write(&header[48..52]);
    let (mut at, mut count) = (0, 0u32);
    while let Some(end) = frame_end(blob, at) {
        if XxHash3_64::oneshot(&blob[at + 8..end]) != u64_at(blob, at)? {
            return None;
        }
        hasher.write(&blob[at..at + 8]);
        at = end;
        count += 1;
    }
    if at != blob.len() || count != u32_at(header, 48)? {
        return None;
    }
    let checksum = hasher.finish();
    (checksum == u64_at(header, 40)?).then(|| checksum.wrapping_add(count.into()))
}

fn frame_end(blob: &[u8], at: usize) -> Option<usize> {
    let header = blob.get(at..)?.get(..48)?;
    let (user_headers, payload) = (u32_at(header, 32)?, u32_at(header, 36)?);
    let end = at + 48 + payload as usize + user_headers as usize;
    (u64_at(header, 40)? == 0 && end <= blob.len()).then_some(end)
}
