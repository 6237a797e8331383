//! Where a pass leaves what it found: columns, or sums.

use crate::varint::records::{Columns, Survey};
use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::ptr::null_mut;

/// The columns from the first record of a pass on, in blocks. All have room for as many.
pub(super) struct Blocks<'a> {
    pub(super) starts: *mut [u32; 8],
    pub(super) timestamp_deltas: *mut [i64; 8],
    pub(super) offset_deltas: *mut [i32; 8],
    pub(super) key_starts: *mut [u32; 8],
    pub(super) key_lens: *mut [i32; 8],
    pub(super) value_starts: *mut [u32; 8],
    pub(super) value_lens: *mut [i32; 8],
    pub(super) headers_starts: *mut [u32; 8],
    pub(super) headers_counts: *mut [u32; 8],
    pub(super) room: usize,
    columns: PhantomData<&'a mut Columns<'a>>,
}

impl<'a> Blocks<'a> {
    /// As many whole blocks as there are from record `first` on.
    #[inline]
    pub(super) fn new(columns: &'a mut Columns<'_>, first: usize) -> Self {
        let until = columns.len();
        Blocks {
            starts: columns.starts[first..until].as_mut_ptr().cast(),
            timestamp_deltas: columns.timestamp_deltas[first..until].as_mut_ptr().cast(),
            offset_deltas: columns.offset_deltas[first..until].as_mut_ptr().cast(),
            key_starts: columns.key_starts[first..until].as_mut_ptr().cast(),
            key_lens: columns.key_lens[first..until].as_mut_ptr().cast(),
            value_starts: columns.value_starts[first..until].as_mut_ptr().cast(),
            value_lens: columns.value_lens[first..until].as_mut_ptr().cast(),
            headers_starts: columns.headers_starts[first..until].as_mut_ptr().cast(),
            headers_counts: columns.headers_counts[first..until].as_mut_ptr().cast(),
            room: (until - first) / 8,
            columns: PhantomData,
        }
    }

    /// Nowhere: for as many blocks of a survey.
    pub(super) fn none(room: usize) -> Self {
        Blocks {
            starts: null_mut(),
            timestamp_deltas: null_mut(),
            offset_deltas: null_mut(),
            key_starts: null_mut(),
            key_lens: null_mut(),
            value_starts: null_mut(),
            value_lens: null_mut(),
            headers_starts: null_mut(),
            headers_counts: null_mut(),
            room,
            columns: PhantomData,
        }
    }
}

/// Writes block `block` of a column.
///
/// # Safety
/// It is below the room of the [`Blocks`] that `column` is of.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn put_512(column: *mut [i64; 8], block: usize, v: __m512i) {
    // SAFETY: the caller's; a block is 64 bytes, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(column.wrapping_add(block).cast(), v) }
}

/// Writes block `block` of a column.
///
/// # Safety
/// It is below the room of the [`Blocks`] that `column` is of.
#[inline]
#[target_feature(enable = "avx")]
pub(super) unsafe fn put_256<T>(column: *mut [T; 8], block: usize, v: __m256i) {
    const { assert!(size_of::<T>() == 4) }
    // SAFETY: the caller's; a block is 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(column.wrapping_add(block).cast(), v) }
}

/// What the blocks of a survey tell. Lanes are those of the deltas: eight of 64 bits, as 32, then eight of 32.
pub(super) struct Sums {
    least: __m512i,
    most: __m512i,
    last: __m512i,
    /// Lanes whose delta was not above the one before.
    fallen: u16,
}

impl Sums {
    /// Sums of no blocks behind records whose last 32-bit delta is `before`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(before: i32) -> Self {
        let (least, most) = (_mm512_set1_epi32(i32::MAX), _mm512_set1_epi32(i32::MIN));
        Sums { least, most, last: _mm512_set1_epi32(before), fallen: 0 }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(&mut self, deltas: __m512i) {
        self.least = _mm512_min_epi32(self.least, deltas);
        self.most = _mm512_max_epi32(self.most, deltas);
        // Each lane beside the one before it; the first of the upper half beside the last of the block before.
        let before = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 31, 8, 9, 10, 11, 12, 13, 14);
        let before = _mm512_permutex2var_epi32(deltas, before, self.last);
        self.fallen |= _mm512_cmple_epi32_mask(deltas, before);
        self.last = deltas;
    }

    /// Adds to `survey` what `records` records told, one block at least, of which the last ends at `end`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn tell(&self, survey: &mut Survey, records: usize, end: usize) {
        const TIMESTAMPS: u16 = 0xFF;
        let least = _mm512_mask_reduce_min_epi32(TIMESTAMPS, self.least);
        let most = _mm512_mask_reduce_max_epi32(TIMESTAMPS, self.most);
        survey.least_timestamp_delta = survey.least_timestamp_delta.min(least.into());
        survey.most_timestamp_delta = survey.most_timestamp_delta.max(most.into());
        survey.ascending &= self.fallen & !TIMESTAMPS == 0;
        survey.last_offset_delta = _mm512_mask_reduce_add_epi32(1 << 15, self.last);
        (survey.records, survey.end) = (survey.records + records, end);
    }
}
