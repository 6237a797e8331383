//! Eight records at a time: a scalar hop from length to length, and everything else in vector lanes.
//!
//! The hop is the serial part: each record's length says where the next one begins, some ten cycles later. On its way it
//! leaves behind, for each record, where it begins and a *head*: the sixteen bytes from the one before the record,
//! shuffled so that the fields behind the length lie in places of their own. The control of that shuffle comes out of
//! a table indexed by the continuation bits of ten bytes.
//!
//! Blocks of eight records then pass through three stages, one block each per turn of the loop:
//!
//! 1. *heads*, two blocks behind the hop, when its stores have left the store buffer (loads of several pending stores
//!    at once would stall): the 7-bit groups of all four fields of eight heads are joined by two multiply-adds, put
//!    into columns by permutations, unzigzagged; the popcount of the continuation bits tells how long the head is, and
//!    so where the key begins and the value's length lies;
//! 2. *fetch*, one block later, scalar: four bytes from there;
//! 3. *values*, one block later: the value's length, and the check that the value ends one byte before the record,
//!    where the count of headers is zero.
//!
//! The source interleaves the stages with the hops, because the window of the CPU is too short to do it: a turn is
//! some 300 instructions. Any record that is not of the common form (a longer varint, a form that is not the shortest,
//! attributes, headers, anything wrong) ends the pass: the scalar walk takes over from the first record that has not
//! passed all stages, and hands back later.

use super::portable::{self, Place, check_input, steps};
use super::{Columns, Error, Walked};
use core::arch::x86_64::*;

/// Continuation bits that choose a shuffle: the record's length and all fields up to the key's length lie in this
/// many bytes.
const PATTERN_BITS: usize = 10;
/// Blocks that a ring keeps, by the turns between the first store and the last load; powers of two.
const HEADS: usize = 4;
const STARTS: usize = 8;
const VALUES: usize = 4;

/// Where each field goes in a shuffled head: the deltas and the key's length, least significant byte first.
const TIMESTAMP: usize = 0;
const OFFSET: usize = 4;
const KEY: usize = 8;
/// The attributes, the last byte of the record before, and the record's length.
const ATTRIBUTES: usize = 12;
const TAIL: usize = 13;
const LENGTH: usize = 14;

#[repr(align(64))]
struct Shuffles([[u8; 16]; 1 << PATTERN_BITS]);

/// The shuffles by continuation bits of the bytes behind the first.
static SHUFFLES: Shuffles = Shuffles({
    let mut all = [[0; 16]; 1 << PATTERN_BITS];
    let mut pattern = 0;
    while pattern < all.len() {
        all[pattern] = shuffle(pattern);
        pattern += 1;
    }
    all
});

const fn shuffle(pattern: usize) -> [u8; 16] {
    // Fields in the order of the wire, and how many bytes they may take here.
    const FIELDS: [(usize, usize); 5] = [(LENGTH, 2), (ATTRIBUTES, 1), (TIMESTAMP, 4), (OFFSET, 4), (KEY, 4)];
    const NOTHING: [u8; 16] = {
        let mut control = [0x80; 16];
        control[TAIL] = 0;
        control
    };
    let mut control = NOTHING;
    let mut from = 1;
    let mut field = 0;
    while field < FIELDS.len() {
        let (to, longest) = FIELDS[field];
        let mut len = 0;
        loop {
            if len == longest || from > PATTERN_BITS {
                // Not of the common form. Some byte has a continuation bit: as attributes it gives the record away.
                control = NOTHING;
                control[ATTRIBUTES] = 1 + pattern.trailing_zeros() as u8;
                return control;
            }
            control[to + len] = from as u8;
            let continued = pattern >> (from - 1) & 1 == 1;
            (len, from) = (len + 1, from + 1);
            if !continued || to == ATTRIBUTES {
                break;
            }
        }
        field += 1;
    }
    control
}

/// What the stages hand to each other, by block.
#[repr(align(64))]
struct Ring {
    heads: [[[u8; 16]; 8]; HEADS],
    starts: [[u32; 8]; STARTS],
    /// Where the values' lengths lie.
    values_at: [[u32; 8]; VALUES],
    /// The four bytes there.
    values: [[u32; 8]; VALUES],
}

impl Ring {
    const fn new() -> Self {
        Ring {
            heads: [[[0; 16]; 8]; HEADS],
            starts: [[0; 8]; STARTS],
            values_at: [[0; 8]; VALUES],
            values: [[0; 8]; VALUES],
        }
    }
}

/// The columns from the first record of a pass on, by block, all of one length.
struct Blocks<'a> {
    starts: &'a mut [[u32; 8]],
    timestamp_deltas: &'a mut [[i64; 8]],
    offset_deltas: &'a mut [[i32; 8]],
    key_starts: &'a mut [[u32; 8]],
    key_lens: &'a mut [[i32; 8]],
    value_starts: &'a mut [[u32; 8]],
    value_lens: &'a mut [[i32; 8]],
    headers_starts: &'a mut [[u32; 8]],
    headers_counts: &'a mut [[u32; 8]],
}

impl<'a> Blocks<'a> {
    /// As many whole blocks as there are between `first` and `until`.
    fn new(columns: &'a mut Columns<'_>, first: usize, until: usize) -> Self {
        fn blocks<T>(column: &mut [T], first: usize, until: usize) -> &mut [[T; 8]] {
            column[first..until].as_chunks_mut().0
        }
        Blocks {
            starts: blocks(columns.starts, first, until),
            timestamp_deltas: blocks(columns.timestamp_deltas, first, until),
            offset_deltas: blocks(columns.offset_deltas, first, until),
            key_starts: blocks(columns.key_starts, first, until),
            key_lens: blocks(columns.key_lens, first, until),
            value_starts: blocks(columns.value_starts, first, until),
            value_lens: blocks(columns.value_lens, first, until),
            headers_starts: blocks(columns.headers_starts, first, until),
            headers_counts: blocks(columns.headers_counts, first, until),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is 64 readable bytes and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx")]
fn load_256(lanes: &[u32; 8]) -> __m256i {
    // SAFETY: the array is 32 readable bytes and the load needs no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_i64(lanes: &mut [i64; 8], v: __m512i) {
    // SAFETY: the array is 64 writable bytes and the store needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx")]
fn store_i32(lanes: &mut [i32; 8], v: __m256i) {
    // SAFETY: the array is 32 writable bytes and the store needs no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx")]
fn store_u32(lanes: &mut [u32; 8], v: __m256i) {
    // SAFETY: the array is 32 writable bytes and the store needs no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

/// Undoes the zigzag mapping in each 32-bit lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn unzigzag_512(v: __m512i) -> __m512i {
    let sign = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_and_si512(v, _mm512_set1_epi32(1)));
    _mm512_xor_si512(_mm512_srli_epi32::<1>(v), sign)
}

/// Undoes the zigzag mapping in each 32-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn unzigzag_256(v: __m256i) -> __m256i {
    let sign = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(v, _mm256_set1_epi32(1)));
    _mm256_xor_si256(_mm256_srli_epi32::<1>(v), sign)
}

/// The shortest input that a pass looks at.
const MIN_INPUT: usize = 64;

/// One pass over consecutive records.
struct Chain<'a> {
    bytes: &'a [u8],
    /// The next hop, at least 1.
    at: usize,
    out: Blocks<'a>,
    ring: &'a mut Ring,
    /// Whether the heads of the latest block follow a record whose last byte is not 0.
    tails: u32,
    /// Not zero once any record is not of the common form.
    odd: u32,
}

/// A block between the parts of the first stage.
#[derive(Clone, Copy)]
struct Heads {
    payload: [__m512i; 2],
    continued: [__m512i; 2],
    odd: u32,
    tails: u32,
}

impl Chain<'_> {
    /// Hops over record `j` of `block`; false if it is too near the end.
    #[inline]
    #[target_feature(enable = "avx2,bmi1")]
    fn hop(&mut self, block: usize, j: usize) -> bool {
        // Sixteen bytes from one before the record.
        if self.at > self.bytes.len() - 15 {
            return false;
        }
        let record = self.bytes.as_ptr().wrapping_add(self.at);
        // SAFETY: `at` is at least 1 and at most 15 below the length, so these are 16 bytes of the slice.
        let bytes = unsafe { _mm_loadu_si128(record.wrapping_sub(1).cast()) };
        let length: usize;
        // SAFETY: as above; these are four of them. The compiler would take them out of the vector, five cycles later.
        unsafe {
            core::arch::asm!("mov {0:e}, dword ptr [{1}]", out(reg) length, in(reg) record,
                options(pure, readonly, nostack, preserves_flags));
        }
        let pattern = _mm_movemask_epi8(bytes) as usize >> 1 & ((1 << PATTERN_BITS) - 1);
        let control = &SHUFFLES.0[pattern];
        // SAFETY: the array is 16 readable bytes and the load needs no alignment.
        let control = unsafe { _mm_loadu_si128(control.as_ptr().cast()) };
        let head = &mut self.ring.heads[block % HEADS][j];
        // SAFETY: the array is 16 writable bytes and the store needs no alignment.
        unsafe { _mm_storeu_si128(head.as_mut_ptr().cast(), _mm_shuffle_epi8(bytes, control)) };
        self.ring.starts[block % STARTS][j] = self.at as u32;
        let two = if length & 0x80 != 0 { (length >> 2 & 0x1FC0) + 1 } else { 0 };
        let mut next = self.at + 1 + (length >> 1 & 0x3F) + two;
        // SAFETY: no instruction at all. It keeps the compiler from packing the hops of two chains into the lanes of
        // one vector, which doubles their latency.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) next, options(pure, nomem, nostack, preserves_flags)) };
        self.at = next;
        true
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn heads_split(&self, block: usize) -> Heads {
        // What is tested in the last four bytes of a head: attributes, and the sign of the record's length.
        const ODD: i32 = 0x0001_00FF;
        const TAILS: i32 = 0xFF00;
        let (halves, _) = self.ring.heads[block % HEADS].as_flattened().as_chunks::<64>();
        let heads = [load_512(&halves[0]), load_512(&halves[1])];
        let payload = heads.map(|h| _mm512_and_si512(h, _mm512_set1_epi8(0x7F)));
        // Bits of the byte that is the record before's are none of ours.
        let bits = _mm512_set4_epi32(0x8080_0080_u32 as i32, CONTINUED, CONTINUED, CONTINUED);
        let continued = heads.map(|h| _mm512_and_si512(h, bits));
        // In a form that is not the shortest the highest bit that is set is a continuation bit.
        let long =
            _mm512_cmplt_epu32_mask(payload[0], continued[0]) | _mm512_cmplt_epu32_mask(payload[1], continued[1]);
        let any = _mm512_or_si512(heads[0], heads[1]);
        let odd = _mm512_test_epi32_mask(any, _mm512_set4_epi32(ODD, 0, 0, 0));
        let tails = _mm512_test_epi32_mask(any, _mm512_set4_epi32(TAILS, 0, 0, 0));
        Heads { payload, continued, odd: (long | odd).into(), tails: tails.into() }
    }

    /// Returns the fields of eight heads, joined, and how many bytes they take beyond one each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn heads_join(heads: &Heads) -> ([__m512i; 2], __m256i) {
        let fields = heads.payload.map(|p| {
            let fourteen = _mm512_maddubs_epi16(_mm512_set1_epi16(FOURTEEN), p);
            _mm512_madd_epi16(fourteen, _mm512_set1_epi32(TWENTY_EIGHT))
        });
        let sums = heads.continued.map(|c| _mm512_sad_epu8(c, _mm512_setzero_si512()));
        let lower = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
        let upper = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 0, 0, 0, 0, 0, 0, 0, 0);
        let lower = _mm512_castsi512_si256(_mm512_permutex2var_epi32(sums[0], lower, sums[1]));
        let upper = _mm512_castsi512_si256(_mm512_permutex2var_epi32(sums[0], upper, sums[1]));
        (fields, _mm256_srli_epi32::<7>(_mm256_add_epi32(lower, upper)))
    }

    /// Writes the deltas and the lengths of the keys, and returns the latter.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn heads_columns(&mut self, block: usize, fields: [__m512i; 2]) -> __m256i {
        let deltas = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
        let deltas = unzigzag_512(_mm512_permutex2var_epi32(fields[0], deltas, fields[1]));
        let keys = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 0, 0, 0, 0, 0, 0, 0, 0);
        let keys = _mm512_castsi512_si256(_mm512_permutex2var_epi32(fields[0], keys, fields[1]));
        let key_lens = unzigzag_256(keys);
        let timestamps = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(deltas));
        store_i64(&mut self.out.timestamp_deltas[block], timestamps);
        store_i32(&mut self.out.offset_deltas[block], _mm512_extracti64x4_epi64::<1>(deltas));
        store_i32(&mut self.out.key_lens[block], key_lens);
        key_lens
    }

    /// Writes where records and keys begin, and finds the lengths of the values. Returns what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn heads_places(&mut self, block: usize, more: __m256i, key_lens: __m256i) -> u32 {
        let starts = load_256(&self.ring.starts[block % STARTS]);
        let key_starts = _mm256_add_epi32(_mm256_add_epi32(starts, more), _mm256_set1_epi32(5));
        store_u32(&mut self.out.starts[block], starts);
        store_u32(&mut self.out.key_starts[block], key_starts);
        let values_at = _mm256_add_epi32(key_starts, _mm256_max_epi32(key_lens, _mm256_setzero_si256()));
        // Four bytes are fetched from there.
        let last = _mm256_set1_epi32((self.bytes.len() - 4) as i32);
        store_u32(&mut self.ring.values_at[block % VALUES], _mm256_min_epu32(values_at, last));
        let outside = _mm256_cmpgt_epu32_mask(values_at, last);
        (outside | _mm256_cmplt_epi32_mask(key_lens, _mm256_set1_epi32(-1))).into()
    }

    /// Fetches the length of value `j` of `block`.
    #[inline]
    fn fetch(&mut self, block: usize, j: usize) {
        let at = self.ring.values_at[block % VALUES][j];
        let length = self.bytes.as_ptr().wrapping_add(at as usize).cast::<u32>();
        // SAFETY: the first stage has written no position that is not four bytes before the end of the slice.
        self.ring.values[block % VALUES][j] = unsafe { length.read_unaligned() };
    }

    /// Returns the payload of eight lengths, all bits of their bytes, and what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn values_split(&self, block: usize) -> (__m256i, __m256i, u32) {
        let bytes = load_256(&self.ring.values[block % VALUES]);
        let ends = _mm256_andnot_si256(bytes, _mm256_set1_epi32(CONTINUED));
        let own = _mm256_xor_si256(ends, _mm256_add_epi32(ends, _mm256_set1_epi32(-1)));
        let bytes = _mm256_and_si256(bytes, own);
        let payload = _mm256_and_si256(bytes, _mm256_set1_epi8(0x7F));
        let long = _mm256_cmplt_epu32_mask(payload, _mm256_xor_si256(payload, bytes));
        (payload, own, (long | _mm256_testn_epi32_mask(ends, ends)).into())
    }

    /// Writes where the values and the headers are, and returns what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
    fn values_columns(&mut self, block: usize, payload: __m256i, own: __m256i) -> u32 {
        let fourteen = _mm256_maddubs_epi16(_mm256_set1_epi16(FOURTEEN), payload);
        let value_lens = unzigzag_256(_mm256_madd_epi16(fourteen, _mm256_set1_epi32(TWENTY_EIGHT)));
        let len = _mm256_srli_epi32::<3>(_mm256_popcnt_epi32(own));
        let value_starts = _mm256_add_epi32(load_256(&self.ring.values_at[block % VALUES]), len);
        let value_ends = _mm256_add_epi32(value_starts, _mm256_max_epi32(value_lens, _mm256_setzero_si256()));
        // A record ends where the next one begins, and one byte before that is the count of headers.
        let starts = load_256(&self.ring.starts[block % STARTS]);
        let ends = _mm256_alignr_epi32::<1>(load_256(&self.ring.starts[(block + 1) % STARTS]), starts);
        store_i32(&mut self.out.value_lens[block], value_lens);
        store_u32(&mut self.out.value_starts[block], value_starts);
        store_u32(&mut self.out.headers_starts[block], ends);
        store_u32(&mut self.out.headers_counts[block], _mm256_setzero_si256());
        let apart = _mm256_cmpneq_epi32_mask(value_ends, _mm256_sub_epi32(ends, _mm256_set1_epi32(1)));
        (apart | _mm256_cmplt_epi32_mask(value_lens, _mm256_set1_epi32(-1))).into()
    }
}

const CONTINUED: i32 = 0x8080_8080_u32 as i32;
/// Weights that join two groups of 7 bits, and two of 14.
const FOURTEEN: i16 = 0x8001_u16 as i16;
const TWENTY_EIGHT: i32 = 0x4000_0001;

impl<'a> Chain<'a> {
    /// A pass from `place` on; `place.at` is at least 1, `bytes` have [`MIN_INPUT`] at least.
    fn new(bytes: &'a [u8], columns: &'a mut Columns<'_>, place: Place, ring: &'a mut Ring) -> Self {
        assert!(place.at > 0 && bytes.len() >= MIN_INPUT);
        // Positions from another input must not be fetched from.
        ring.values_at = [[0; 8]; VALUES];
        ring.starts[0][0] = place.at as u32;
        let until = columns.len();
        let out = Blocks::new(columns, place.record, until);
        Chain { bytes, at: place.at, out, ring, tails: 0, odd: 0 }
    }

    /// Hops over the records of `block`; false if they come too near the end.
    #[inline]
    #[target_feature(enable = "avx2,bmi1")]
    fn hops(&mut self, block: usize) -> bool {
        for j in 0..8 {
            if !self.hop(block, j) {
                return false;
            }
        }
        self.hopped(block)
    }

    /// Notes where `block` ends; false if that is not within the input.
    #[inline]
    fn hopped(&mut self, block: usize) -> bool {
        self.ring.starts[(block + 1) % STARTS][0] = self.at as u32;
        self.at <= self.bytes.len()
    }

    /// All of the first stage.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn heads(&mut self, block: usize) {
        let heads = self.heads_split(block);
        let (fields, more) = Self::heads_join(&heads);
        let key_lens = self.heads_columns(block, fields);
        self.odd |= self.heads_places(block, more, key_lens) | heads.odd;
        self.tails = heads.tails;
    }

    /// All of the third stage.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
    fn values(&mut self, block: usize) {
        let (payload, own, odd) = self.values_split(block);
        self.odd |= self.values_columns(block, payload, own) | odd;
    }

    /// A turn of a pass of `total` blocks, stage by stage. False if the hops come too near the end.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,bmi1")]
    fn turn(&mut self, turn: usize, total: usize) -> bool {
        if turn < total && !self.hops(turn) {
            return false;
        }
        if turn == 0 {
            // What precedes the first record has been dealt with.
            self.ring.heads[0][0][TAIL] = 0;
        }
        // The last byte of each record stands in the head of the next one.
        self.odd |= self.tails;
        self.tails = 0;
        if (2..total + 2).contains(&turn) {
            self.heads(turn - 2);
        }
        if (3..total + 3).contains(&turn) {
            for j in 0..8 {
                self.fetch(turn - 3, j);
            }
        }
        if (4..total + 4).contains(&turn) {
            self.values(turn - 4);
        }
        if turn + 1 == total + 4 {
            self.odd |= u32::from(self.bytes[self.at - 1]);
        }
        true
    }
}

/// A turn of which every stage has a block, the same for each chain in turn.
macro_rules! full_turn {
    ($turn:expr, $($chain:ident $heads:ident $joined:ident $values:ident),+) => {'turn: {
        let (heads, fetched, valued) = ($turn - 2, $turn - 3, $turn - 4);
        macro_rules! hop { ($j:literal) => { $(
            if !$chain.hop($turn, $j) {
                break 'turn false;
            }
        )+ }; }
        hop!(0);
        $( let $heads = $chain.heads_split(heads); $chain.fetch(fetched, 0); )+
        hop!(1);
        $( let $joined = Chain::heads_join(&$heads); $chain.fetch(fetched, 1); )+
        hop!(2);
        $( let $values = $chain.heads_columns(heads, $joined.0); $chain.fetch(fetched, 2); )+
        hop!(3);
        $(
            $chain.odd |= $chain.tails | $heads.odd | $chain.heads_places(heads, $joined.1, $values);
            $chain.tails = $heads.tails;
            $chain.fetch(fetched, 3);
        )+
        hop!(4);
        $( let $values = $chain.values_split(valued); $chain.fetch(fetched, 4); )+
        hop!(5);
        $( $chain.odd |= $values.2 | $chain.values_columns(valued, $values.0, $values.1); $chain.fetch(fetched, 5); )+
        hop!(6);
        $( $chain.fetch(fetched, 6); )+
        hop!(7);
        $( $chain.fetch(fetched, 7); )+
        true $( && $chain.hopped($turn) )+
    }};
}

/// What ended a pass.
#[derive(PartialEq)]
enum Ended {
    /// Too few records or bytes are left.
    Short,
    /// A record that is not of the common form.
    Odd,
}

/// Walks on from `place` as far as records are of the common form, by whole blocks.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
fn pass(bytes: &[u8], columns: &mut Columns<'_>, place: &mut Place, ring: &mut Ring) -> Ended {
    let mut chain = Chain::new(bytes, columns, *place, ring);
    let mut total = chain.out.starts.len();
    let mut turn = 0;
    while turn < total + 4 {
        let hopped = if turn >= 4 && turn < total { full_turn!(turn, chain h j v) } else { chain.turn(turn, total) };
        if chain.odd != 0 {
            // Blocks before this one have passed all stages.
            let done = turn.saturating_sub(4);
            *place = Place { record: place.record + 8 * done, at: chain.ring.starts[done % STARTS][0] as usize };
            return Ended::Odd;
        }
        if hopped {
            turn += 1;
        } else {
            // This block is left to the scalar walk; the stages of those before it are still to come.
            total = turn;
            chain.at = chain.ring.starts[turn % STARTS][0] as usize;
        }
    }
    *place = Place { record: place.record + 8 * total, at: chain.at };
    Ended::Short
}

/// Records below which a pass is not worth its beginning and end.
const MIN_RECORDS: usize = 24;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
pub(super) fn walk(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
    if columns.len() < MIN_RECORDS {
        return portable::walk(bytes, columns);
    }
    check_input(bytes)?;
    let mut place = Place { record: 0, at: 0 };
    // A pass looks one byte behind, so the first record is read by itself.
    let mut plain = steps(bytes, columns, &mut place, 1)?;
    let mut ring = Ring::new();
    let mut scalar = 8;
    while columns.len() - place.record >= MIN_RECORDS && bytes.len() - place.at >= MIN_INPUT {
        let from = place.record;
        if pass(bytes, columns, &mut place, &mut ring) == Ended::Short {
            break;
        }
        // Where odd records are frequent, passes become rare.
        scalar = if place.record - from > 8 * scalar { 8 } else { 2 * scalar };
        plain &= steps(bytes, columns, &mut place, scalar)?;
    }
    plain &= steps(bytes, columns, &mut place, usize::MAX)?;
    Ok(Walked { end: place.at, plain })
}
