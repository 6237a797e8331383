//! The codes of deflate's blocks as tables: an entry for every value of the next bits.
//!
//! An entry's lowest five bits are the bits that it takes, with the extra bits of a length or distance; the two above
//! them count literals. One or two literals lie in its upper half, as does the base of a length or distance, of which
//! bits 8 to 11 say how many bits the code itself takes. Codes too long for the table have a table of their own, whose
//! place is in the upper half and whose bits are in bits 8 to 11 of an entry marked as special and as subtable.

use super::inflate::{Bits, Not};
use alloc::boxed::Box;

pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 9;

/// Neither a literal nor a length or distance.
pub(super) const SPECIAL: u32 = 1 << 7;
pub(super) const SUBTABLE: u32 = 1 << 14;
/// The end of the block.
pub(super) const END: u32 = 1 << 13;
const ONE_LITERAL: u32 = 1 << 5;
const TWO_LITERALS: u32 = 2 << 5;

/// Entries, with subtables. A code that needs more is left to others.
const SYMBOLS: usize = 2400;
const DISTANCES: usize = 640;
/// Codes have at most 15 bits.
const MAX_BITS: usize = 15;
/// A code of 7 bits at most for the lengths of the two codes, and the order of its own lengths.
const LENGTH_BITS: u32 = 7;
pub(super) const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Bits that an entry takes.
#[inline(always)]
pub(super) fn skip(entry: u32) -> u32 {
    entry & 0x1F
}

/// How many literals an entry stands for.
#[inline(always)]
pub(super) fn literals(entry: u32) -> usize {
    (entry >> 5 & 3) as usize
}

/// The length or distance of an entry, from the bits that it takes.
#[inline(always)]
pub(super) fn extra(entry: u32, taken: usize) -> usize {
    (entry >> 16) as usize + (taken >> (entry >> 8 & 0xF))
}

/// Where an entry's subtable has what the next bits stand for.
#[inline(always)]
pub(super) fn subtable(entry: u32, bits: &Bits<'_>) -> usize {
    (entry >> 16) as usize + bits.low(entry >> 8 & 0xF)
}

/// Base and number of extra bits of each length or distance: 2^`group` bases share a number of bits.
const fn bases<const N: usize>(first: u32, group: u32) -> [(u32, u32); N] {
    let mut table = [(0, 0); N];
    let (mut i, mut base) = (0, first);
    while i < N {
        let extra = (i as u32 >> group).saturating_sub(1);
        table[i] = (base, extra);
        base += 1 << extra;
        i += 1;
    }
    table
}

const LENGTHS: [(u32, u32); 29] = {
    let mut table = bases(3, 2);
    table[28] = (258, 0);
    table
};
const BACK: [(u32, u32); 30] = bases(1, 1);

/// The entry of a literal, of the end, or of a length, whose code has `len` bits in this table.
fn of_symbol(symbol: usize, len: u32) -> u32 {
    match symbol {
        0..256 => (symbol as u32) << 16 | ONE_LITERAL | len,
        256 => SPECIAL | END | len,
        _ => based(LENGTHS.get(symbol - 257), len),
    }
}

fn of_distance(symbol: usize, len: u32) -> u32 {
    based(BACK.get(symbol), len)
}

fn of_length(symbol: usize, len: u32) -> u32 {
    (symbol as u32) << 16 | len
}

fn based(base: Option<&(u32, u32)>, len: u32) -> u32 {
    base.map_or(SPECIAL, |&(base, extra)| base << 16 | len << 8 | (len + extra))
}

/// The two tables of a block.
#[derive(Debug)]
pub(super) struct Tables {
    symbols: Box<[u32; SYMBOLS]>,
    distances: Box<[u32; DISTANCES]>,
    is_fixed: bool,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables { symbols: Box::new([0; SYMBOLS]), distances: Box::new([0; DISTANCES]), is_fixed: false }
    }
}

impl Tables {
    #[inline(always)]
    pub(super) fn both(&self) -> (&[u32; SYMBOLS], &[u32; DISTANCES]) {
        (&self.symbols, &self.distances)
    }

    /// The codes that need no description.
    pub(super) fn fix(&mut self) {
        if self.is_fixed {
            return;
        }
        let mut lens = [8; 288];
        lens[144..256].fill(9);
        lens[256..280].fill(7);
        let symbols = build(&mut self.symbols[..], LITERAL_BITS, &lens, of_symbol, true);
        let distances = build(&mut self.distances[..], DISTANCE_BITS, &[5; 32], of_distance, false);
        self.is_fixed = symbols.and(distances).is_ok();
        debug_assert!(self.is_fixed);
    }

    /// The codes that a block describes.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>) -> Result<(), Not> {
        self.is_fixed = false;
        let (symbols, distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
        let described = bits.take(4)? + 4;
        if symbols > 286 || distances > 30 {
            return Err(Not::Sure);
        }
        let mut lens = [0; ORDER.len()];
        bits.refill();
        for (i, &at) in ORDER[..described].iter().enumerate() {
            if i == 14 {
                bits.refill();
            }
            lens[at] = bits.take(3)? as u8;
        }
        let mut table = [0; 1 << LENGTH_BITS];
        build(&mut table, LENGTH_BITS, &lens, of_length, false)?;
        // With room for the longest run behind the last one.
        let mut lens = [0; 286 + 30 + 138];
        let mut at = 0;
        // A copy, so that it stays in registers.
        let mut from = bits.clone();
        while at < symbols + distances {
            from.refill();
            let entry = table[from.low(LENGTH_BITS)];
            from.take(skip(entry))?;
            let len = (entry >> 16) as u8;
            if len <= MAX_BITS as u8 {
                lens[at] = len;
                at += 1;
                continue;
            }
            let (len, count) = match len {
                16 => (*at.checked_sub(1).and_then(|i: usize| lens.get(i)).ok_or(Not::Sure)?, 3 + from.take(2)?),
                17 => (0, 3 + from.take(3)?),
                _ => (0, 11 + from.take(7)?),
            };
            if len > 0 {
                lens[at..at + count].fill(len);
            }
            at += count;
        }
        *bits = from;
        // Without an end code a block has no end.
        if at > symbols + distances || lens[256] == 0 {
            return Err(Not::Sure);
        }
        let (of_symbols, of_distances) = lens[..at].split_at(symbols);
        build(&mut self.symbols[..], LITERAL_BITS, of_symbols, of_symbol, true)?;
        build(&mut self.distances[..], DISTANCE_BITS, of_distances, of_distance, false)
    }
}

/// The code after `code`, which has `len` bits; first bits lowest, as they are read.
fn next(code: usize, len: usize) -> usize {
    let zeros = !code & ((1 << len) - 1);
    // After the last code of all comes the first.
    zeros.checked_ilog2().map_or(0, |bit| code & ((1 << bit) - 1) | 1 << bit)
}

/// Calls `each` with every symbol that has a code, and the length of that.
#[inline(always)]
fn used(lens: &[u8], mut each: impl FnMut(usize, usize)) {
    for (i, eight) in lens.chunks(8).enumerate() {
        // Most symbols have none, and they lie together.
        if eight.iter().all(|&len| len == 0) {
            continue;
        }
        for (symbol, &len) in (8 * i..).zip(eight) {
            if len != 0 {
                each(symbol, usize::from(len) & MAX_BITS);
            }
        }
    }
}

/// Makes the table, of `1 << bits` entries and subtables, of the code with these lengths. It has to be complete.
#[inline(always)]
fn build(table: &mut [u32], bits: u32, lens: &[u8], entry: impl Fn(usize, u32) -> u32, pairs: bool) -> Result<(), Not> {
    let bits = bits as usize;
    let mut counts = [0usize; MAX_BITS + 1];
    used(lens, |_, len| counts[len] += 1);
    let mut firsts = [0; MAX_BITS + 2];
    let mut space = 0;
    for len in 1..=MAX_BITS {
        firsts[len + 1] = firsts[len] + counts[len];
        space += counts[len] << (MAX_BITS - len);
    }
    if space != 1 << MAX_BITS {
        return Err(Not::Sure);
    }
    // Symbols by length, then value: the order of their codes.
    let mut symbols = [0u16; 288];
    let mut places = firsts;
    used(lens, |symbol, len| {
        symbols[places[len]] = symbol as u16;
        places[len] += 1;
    });
    let mut codes = [0u16; 288];
    let mut literals = [0; MAX_BITS + 1];
    let mut code = 0;
    for len in 1..=bits {
        for i in firsts[len]..firsts[len + 1] {
            let symbol = usize::from(symbols[i]);
            table[code] = entry(symbol, len as u32);
            codes[i] = code as u16;
            literals[len] += usize::from(symbol < 256);
            code = next(code, len);
        }
        if pairs {
            for first in 1..len {
                let of = |len: usize| {
                    let range = firsts[len]..firsts[len] + literals[len];
                    symbols[range.clone()].iter().zip(&codes[range])
                };
                for (&a, &code_a) in of(first) {
                    let both = u32::from(a) << 16 | TWO_LITERALS | len as u32;
                    for (&b, &code_b) in of(len - first) {
                        table[usize::from(code_a) | usize::from(code_b) << first] = both | u32::from(b) << 24;
                    }
                }
            }
        }
        // The next bit does not matter for what is there by now.
        if len < bits {
            table.copy_within(..1 << len, 1 << len);
        }
    }
    // Longer codes: a table for each value of the first `bits`.
    let (mut start, mut end, mut prefix) = (0, 1 << bits, None);
    for len in bits + 1..=MAX_BITS {
        for (i, &symbol) in symbols[firsts[len]..firsts[len + 1]].iter().enumerate() {
            let low = code & ((1 << bits) - 1);
            if prefix != Some(low) {
                prefix = Some(low);
                // As many bits as the codes need that share this prefix.
                let mut more = len - bits;
                let mut codes = counts[len] - i;
                while codes < 1 << more && bits + more < MAX_BITS {
                    more += 1;
                    codes = (codes << 1) + counts[bits + more];
                }
                (start, end) = (end, end + (1 << more));
                if end > table.len() {
                    return Err(Not::Sure);
                }
                table[low] = SPECIAL | SUBTABLE | (start as u32) << 16 | (more as u32) << 8 | bits as u32;
            }
            let of = entry(usize::from(symbol), (len - bits) as u32);
            for at in (start + (code >> bits)..end).step_by(1 << (len - bits)) {
                table[at] = of;
            }
            code = next(code, len);
        }
    }
    Ok(())
}
