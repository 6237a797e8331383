//! Looking for the next header behind damage: places where a magic, an offset and a length are plausible.
//!
//! Each contender counts the places that fit in 1 MiB; times are for all of it, `bytes` is its size. `random` are bytes as
//! of compressed values, `text` those of JSON, `zeros` a page that was never written: none of them is a header. The peers
//! are the same search by our scalar kernel, and by `memchr`, which finds the magic and leaves the rest to be looked at.

use super::kernel;
use crate::harness::{Case, Plan, Rng};
use batchwise::kernels::search::{Pattern, find};

const LEN: usize = 1 << 20;
/// What every entry of a Kafka log has.
const ENTRY: Pattern = Pattern::new([(16, 2), (0, 0x7F), (8, 0x7F)], 8);

pub(super) fn cases() -> Vec<Plan> {
    [("random", random as fn(&mut [u8], &mut Rng)), ("text", text), ("zeros", |bytes: &mut [u8], _| bytes.fill(0))]
        .map(|(name, fill)| Plan::new(name, LEN as u64, move || search(fill)))
        .into()
}

fn random(bytes: &mut [u8], rng: &mut Rng) {
    rng.fill(bytes);
}

fn text(bytes: &mut [u8], rng: &mut Rng) {
    rng.fill(bytes);
    let letters = b"{\"id\":1234567890,\"name\":\"abcdefghijklmnopqrstuvwxyz\",\"ok\":true}";
    bytes.iter_mut().for_each(|b| *b = letters[usize::from(*b) % letters.len()]);
}

fn search(fill: fn(&mut [u8], &mut Rng)) -> Case<Vec<u8>> {
    let scalar = find::TABLE.all().last().expect("the portable kernel");
    Case::new(vec![0; LEN], 1, move |bytes, rng| fill(bytes, rng))
        .ours(kernel("search::find"), |bytes| places(bytes, |rest| find(rest, &ENTRY)))
        .peer("scalar", move |bytes| places(bytes, |rest| find::with(scalar, rest, &ENTRY)))
        .peer("memchr", |bytes| {
            let fits = |at: &usize| ENTRY.matches(&bytes[*at..]);
            memchr::memchr3_iter(0, 1, 2, &bytes[16..]).filter(fits).fold(0, add)
        })
}

/// A digest of all places that `next` finds, one behind the other.
fn places(bytes: &[u8], next: impl Fn(&[u8]) -> Option<usize>) -> u64 {
    let (mut sum, mut at) = (0, 0);
    while let Some(skip) = next(&bytes[at..]) {
        at += skip;
        sum = add(sum, at);
        at += 1;
    }
    sum
}

fn add(sum: u64, at: usize) -> u64 {
    sum.rotate_left(1) ^ at as u64
}
