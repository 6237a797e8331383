//! The stages of a pass, and what they hand to each other.

use super::super::portable::Place;
use super::out::{Blocks, Sums, put_256, put_512};
use super::shuffle::{PATTERN, SHUFFLES};
use crate::varint::records::Columns;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Blocks in a ring: a power of two above the distance between the first stage and the last.
const RING: usize = 8;

/// What the stages hand to each other, by block. It is part of the chain, so that two of them are reached from one
/// register, the stack pointer. A stage reads what an earlier one of the same pass has written.
#[repr(align(64))]
struct Ring {
    heads: [MaybeUninit<BlockHeads>; RING],
    starts: [[u32; 8]; RING],
    /// Where the values' lengths lie; always four bytes or more before the end of the input.
    values_at: [[u32; 8]; RING],
    /// The four bytes there.
    values: [MaybeUninit<[u32; 8]>; RING],
    /// For a survey: both deltas, eight of each.
    deltas: [MaybeUninit<__m512i>; RING],
}

/// The heads of a block. Aligned by itself: a ring may have its fields in any order.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct BlockHeads([[u8; 16]; 8]);

/// The heads of a block, in halves.
///
/// # Safety
/// They have been written.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_heads(heads: &MaybeUninit<BlockHeads>) -> [__m512i; 2] {
    // SAFETY: written, by the caller's promise.
    let heads = unsafe { &heads.assume_init_ref().0 };
    // SAFETY: half of them, 64 bytes, aligned as they are.
    [&heads[..4], &heads[4..]].map(|half| unsafe { _mm512_load_si512(half.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx")]
fn load_lanes(lanes: &[u32; 8]) -> __m256i {
    // SAFETY: the array is 32 readable bytes and the load needs no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx")]
fn store_lanes(lanes: &mut [u32; 8], v: __m256i) {
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
pub(super) const MIN_INPUT: usize = 64;

/// One pass over consecutive records, which are put into columns if `STORE`, and summed up otherwise.
///
/// Whoever makes one promises to go through the turns in order, from 0, each by `early_turn!` or `full_turn!`: what a stage
/// reads has been written by an earlier one then. A turn that was left off, or a last one that was made, may be made again.
/// Every hop but the first begins where the one before ended. [`drain`](Chain::drain) and [`start`](Chain::start) are asked
/// for no more turns than were made, and [`sum`](Chain::sum) for one of the latest blocks behind the first stage.
pub(super) struct Chain<'a, const STORE: bool> {
    bytes: &'a [u8],
    /// The last byte at which a record may begin that is hopped over: sixteen bytes are read from one before it.
    last_hop: usize,
    out: Blocks<'a>,
    ring: Ring,
}

/// A block between the parts of the first stage.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    payload: [__m512i; 2],
    continued: [__m512i; 2],
    pub(super) odd: u32,
    pub(super) tails: u32,
}

impl Heads {
    /// Returns the fields of eight heads, joined, and how many bytes they take beyond one each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn join(&self) -> ([__m512i; 2], __m256i) {
        let fields = self.payload.map(|p| {
            let fourteen = _mm512_maddubs_epi16(_mm512_set1_epi16(FOURTEEN), p);
            _mm512_madd_epi16(fourteen, _mm512_set1_epi32(TWENTY_EIGHT))
        });
        let sums = self.continued.map(|c| _mm512_sad_epu8(c, _mm512_setzero_si512()));
        let lower = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0);
        let upper = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 0, 0, 0, 0, 0, 0, 0, 0);
        let lower = _mm512_castsi512_si256(_mm512_permutex2var_epi32(sums[0], lower, sums[1]));
        let upper = _mm512_castsi512_si256(_mm512_permutex2var_epi32(sums[0], upper, sums[1]));
        (fields, _mm256_srli_epi32::<7>(_mm256_add_epi32(lower, upper)))
    }
}

impl<const STORE: bool> Chain<'_, STORE> {
    /// Hops over record `j` of `block`, which begins at `at`, to the next one; `None` if it is too near the end.
    #[inline]
    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn hop(&mut self, at: usize, block: usize, j: usize) -> Option<usize> {
        assert!(j < 8);
        if at > self.last_hop {
            return None;
        }
        let record = self.bytes.as_ptr().wrapping_add(at);
        // The first record may be the first of the input. What precedes it has been dealt with or is not there.
        let first = block == 0 && j == 0;
        let from = record.wrapping_sub(usize::from(!first));
        // SAFETY: `at` is 16 or more below the length, and at least 1 where a hop has ended, as one has before all but the first.
        let bytes = unsafe { _mm_loadu_si128(from.cast()) };
        let bytes = if first { _mm_bslli_si128::<1>(bytes) } else { bytes };
        let length: usize;
        // SAFETY: the same bytes, four of them. The compiler would take them out of the vector, five cycles later.
        unsafe {
            core::arch::asm!("mov {0:e}, dword ptr [{1}]", out(reg) length, in(reg) record,
                options(pure, readonly, nostack, preserves_flags));
        }
        // The bits behind the first make an even number below the length of the table of halves.
        let pattern = _mm_movemask_epi8(bytes) as usize & PATTERN;
        let control = SHUFFLES.0.as_ptr().wrapping_add(pattern);
        // SAFETY: an even number: two halves of 8 bytes, within the table, which is aligned to 16.
        let control = unsafe { _mm_load_si128(control.cast()) };
        let shuffled = _mm_shuffle_epi8(bytes, control);
        let head = self.ring.heads[block % RING].as_mut_ptr().cast::<__m128i>().wrapping_add(j);
        // SAFETY: one of eight heads of 16 bytes, whose array is aligned.
        unsafe { _mm_store_si128(head, shuffled) };
        self.ring.starts[block % RING][j] = at as u32;
        let two = if length & 0x80 != 0 { (length >> 2 & 0x1FC0) + 1 } else { 0 };
        let mut next = at + 1 + (length >> 1 & 0x3F) + two;
        // SAFETY: no instruction at all. It keeps the compiler from packing the hops of two chains into the lanes of
        // one vector, which doubles their latency.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) next, options(pure, nomem, nostack, preserves_flags)) };
        Some(next)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn heads_split(&self, block: usize) -> Heads {
        // What is tested in the last four bytes of a head: attributes, and the sign of the record's length.
        const ODD: i32 = 0x0001_00FF;
        const TAILS: i32 = 0xFF00;
        let heads = &self.ring.heads[block % RING];
        // SAFETY: an earlier turn has hopped over the block, by the promise made with the chain.
        let heads = unsafe { load_heads(heads) };
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

    /// Writes the deltas and the lengths of the keys, and returns the latter.
    ///
    /// # Panics
    /// If there is no room for `block`, as all that write columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn heads_columns(&mut self, block: usize, fields: [__m512i; 2]) -> __m256i {
        assert!(block < self.out.room);
        let deltas = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
        let deltas = unzigzag_512(_mm512_permutex2var_epi32(fields[0], deltas, fields[1]));
        let keys = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 0, 0, 0, 0, 0, 0, 0, 0);
        let keys = _mm512_castsi512_si256(_mm512_permutex2var_epi32(fields[0], keys, fields[1]));
        let key_lens = unzigzag_256(keys);
        if !STORE {
            self.ring.deltas[block % RING].write(deltas);
            return key_lens;
        }
        let timestamps = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(deltas));
        // SAFETY: there is room for `block`.
        unsafe { put_512(self.out.timestamp_deltas, block, timestamps) };
        let offsets = _mm512_extracti64x4_epi64::<1>(deltas);
        // SAFETY: there is room for `block`.
        unsafe { put_256(self.out.offset_deltas, block, offsets) };
        // SAFETY: there is room for `block`.
        unsafe { put_256(self.out.key_lens, block, key_lens) };
        key_lens
    }

    /// Writes where records and keys begin, and finds the lengths of the values. Returns what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn heads_places(&mut self, block: usize, more: __m256i, key_lens: __m256i) -> u32 {
        assert!(block < self.out.room);
        let starts = load_lanes(&self.ring.starts[block % RING]);
        let key_starts = _mm256_add_epi32(_mm256_add_epi32(starts, more), _mm256_set1_epi32(5));
        if STORE {
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.starts, block, starts) };
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.key_starts, block, key_starts) };
        }
        let values_at = _mm256_add_epi32(key_starts, _mm256_max_epi32(key_lens, _mm256_setzero_si256()));
        // Four bytes are fetched from there.
        let last = _mm256_set1_epi32((self.bytes.len() - 4) as i32);
        store_lanes(&mut self.ring.values_at[block % RING], _mm256_min_epu32(values_at, last));
        let outside = _mm256_cmpgt_epu32_mask(values_at, last);
        (outside | _mm256_cmplt_epi32_mask(key_lens, _mm256_set1_epi32(-1))).into()
    }

    /// Fetches the length of value `j` of `block`.
    #[inline]
    pub(super) fn fetch(&mut self, block: usize, j: usize) {
        assert!(j < 8);
        let at = self.ring.values_at[block % RING][j];
        let length = self.bytes.as_ptr().wrapping_add(at as usize).cast::<u32>();
        // SAFETY: 0, or a position that `heads_places` has kept four bytes or more before the end of the input.
        let length = unsafe { length.read_unaligned() };
        let value = self.ring.values[block % RING].as_mut_ptr().cast::<u32>().wrapping_add(j);
        // SAFETY: one of eight lanes.
        unsafe { value.write(length) };
    }

    /// Returns the payload of eight lengths, all bits of their bytes, and what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn values_split(&self, block: usize) -> (__m256i, __m256i, u32) {
        // SAFETY: the block has passed the second stage, by the promise made with the chain.
        let bytes = load_lanes(unsafe { self.ring.values[block % RING].assume_init_ref() });
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
    pub(super) fn values_columns(&mut self, block: usize, payload: __m256i, own: __m256i) -> u32 {
        assert!(block < self.out.room);
        let fourteen = _mm256_maddubs_epi16(_mm256_set1_epi16(FOURTEEN), payload);
        let value_lens = unzigzag_256(_mm256_madd_epi16(fourteen, _mm256_set1_epi32(TWENTY_EIGHT)));
        let len = _mm256_srli_epi32::<3>(_mm256_popcnt_epi32(own));
        let value_starts = _mm256_add_epi32(load_lanes(&self.ring.values_at[block % RING]), len);
        let value_ends = _mm256_add_epi32(value_starts, _mm256_max_epi32(value_lens, _mm256_setzero_si256()));
        // A record ends where the next one begins, and one byte before that is the count of headers.
        let starts = load_lanes(&self.ring.starts[block % RING]);
        let ends = _mm256_alignr_epi32::<1>(load_lanes(&self.ring.starts[(block + 1) % RING]), starts);
        if STORE {
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.value_lens, block, value_lens) };
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.value_starts, block, value_starts) };
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.headers_starts, block, ends) };
            let none = _mm256_setzero_si256();
            // SAFETY: there is room for `block`.
            unsafe { put_256(self.out.headers_counts, block, none) };
        }
        let apart = _mm256_cmpneq_epi32_mask(value_ends, _mm256_sub_epi32(ends, _mm256_set1_epi32(1)));
        (apart | _mm256_cmplt_epi32_mask(value_lens, _mm256_set1_epi32(-1))).into()
    }
}

const CONTINUED: i32 = 0x8080_8080_u32 as i32;
/// Weights that join two groups of 7 bits, and two of 14.
const FOURTEEN: i16 = 0x8001_u16 as i16;
const TWENTY_EIGHT: i32 = 0x4000_0001;

impl<'a> Chain<'a, true> {
    /// A pass from `place` on; `bytes` have [`MIN_INPUT`] at least.
    ///
    /// # Safety
    /// The order of the turns, as [`Chain`] tells.
    pub(super) unsafe fn new(bytes: &'a [u8], columns: &'a mut Columns<'_>, place: Place) -> Self {
        Chain::over(bytes, Blocks::new(columns, place.record), place.at)
    }
}

impl<'a> Chain<'a, false> {
    /// The same from byte `at` on, over no more than `records`.
    ///
    /// # Safety
    /// As for [`new`](Chain::new).
    pub(super) unsafe fn summing(bytes: &'a [u8], at: usize, records: usize) -> Self {
        Chain::over(bytes, Blocks::none(records / 8), at)
    }

    /// Sums up `block`, one of the latest.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sum(&self, block: usize, sums: &mut Sums) {
        // SAFETY: the block has passed the first stage, which writes them, by the promise made with the chain.
        sums.add(unsafe { self.ring.deltas[block % RING].assume_init() });
    }
}

impl<'a, const STORE: bool> Chain<'a, STORE> {
    fn over(bytes: &'a [u8], out: Blocks<'a>, at: usize) -> Self {
        assert!(bytes.len() >= MIN_INPUT);
        let mut ring = Ring {
            heads: [MaybeUninit::uninit(); RING],
            starts: [[0; 8]; RING],
            values_at: [[0; 8]; RING],
            values: [MaybeUninit::uninit(); RING],
            deltas: [MaybeUninit::uninit(); RING],
        };
        ring.starts[0][0] = at as u32;
        Chain { bytes, last_hop: bytes.len() - 16, out, ring }
    }

    /// How many blocks there is room for.
    pub(super) fn room(&self) -> usize {
        self.out.room
    }

    /// Where `block` begins, which is one of the latest.
    pub(super) fn start(&self, block: usize) -> usize {
        self.ring.starts[block % RING][0] as usize
    }

    /// Notes that `block` ends at `at`; false if that is not within the input.
    #[inline]
    pub(super) fn hopped(&mut self, at: usize, block: usize) -> bool {
        self.ring.starts[(block + 1) % RING][0] = at as u32;
        at <= self.bytes.len()
    }

    /// The stages of one of the first four turns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn early_stages(&mut self, turn: usize, tails: &mut u32, odd: &mut u32) {
        *odd |= *tails;
        *tails = 0;
        if let Some(block) = turn.checked_sub(2) {
            self.heads(block, tails, odd);
        }
        if let Some(block) = turn.checked_sub(3) {
            (0..8).for_each(|j| self.fetch(block, j));
        }
    }

    /// All of the first stage.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn heads(&mut self, block: usize, tails: &mut u32, odd: &mut u32) {
        let heads = self.heads_split(block);
        let (fields, more) = heads.join();
        let key_lens = self.heads_columns(block, fields);
        *odd |= self.heads_places(block, more, key_lens) | heads.odd;
        *tails |= heads.tails;
    }

    /// The stages that are left after `turns` turns. Returns what is odd.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
    pub(super) fn drain(&mut self, turns: usize) -> u32 {
        let (mut tails, mut odd) = (0, 0);
        for block in turns.saturating_sub(2)..turns {
            self.heads(block, &mut tails, &mut odd);
        }
        for block in turns.saturating_sub(3)..turns {
            (0..8).for_each(|j| self.fetch(block, j));
        }
        for block in turns.saturating_sub(4)..turns {
            let (payload, own, long) = self.values_split(block);
            odd |= self.values_columns(block, payload, own) | long;
        }
        // The last byte of each record stands in the head of the next one, that of the last one nowhere.
        let last = self.start(turns).checked_sub(1).map_or(0, |at| self.bytes[at]);
        odd | tails | u32::from(last)
    }
}
