//! CRC-32C.

use crate::types::Slice;
use crate::{bytes, bytes_mut};
use batchwise::crc32c;
use core::ffi::c_void;

/// CRC-32C of `data`, continuing `crc`: 0 to start, the result of the call before to go on.
///
/// # Safety
/// `data` points to `len` readable bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_crc32c(crc: u32, data: *const c_void, len: usize) -> u32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let data = unsafe { bytes(data, len) };
    crc32c::update(crc, data)
}

/// CRC-32C of a piece followed by another, from the CRCs of both and the length of the second in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn batchwise_crc32c_combine(first: u32, second: u32, second_len: u64) -> u32 {
    crc32c::combine(first, second, second_len)
}

/// CRC-32C of data in which `len` bytes `old_bytes` became `new_bytes`, from the CRC-32C before and without the rest of
/// the data; `tail_len` is the number of bytes behind the change.
///
/// Where `crc` did not match the data before, the result does not match them after: a rewrite never hides damage.
///
/// # Safety
/// `old_bytes` and `new_bytes` each point to `len` readable bytes, or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_crc32c_patch(
    crc: u32,
    old_bytes: *const c_void,
    new_bytes: *const c_void,
    len: usize,
    tail_len: u64,
) -> u32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let old = unsafe { bytes(old_bytes, len) };
    // SAFETY: as before.
    let new = unsafe { bytes(new_bytes, len) };
    // They differ in length only if one is null: then nothing can be said about a change.
    if old.len() == new.len() { crc32c::patch(crc, old, new, tail_len) } else { crc }
}

/// Copies `len` bytes from `source` to `destination` and returns the CRC-32C of what it copied.
///
/// # Safety
/// `destination` points to `len` writable bytes and `source` to `len` readable ones; they do not overlap. If either is
/// null nothing is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_crc32c_copy(destination: *mut c_void, source: *const c_void, len: usize) -> u32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let source = unsafe { bytes(source, len) };
    // SAFETY: the caller's obligation is that of `bytes_mut`.
    let destination = unsafe { bytes_mut(destination, source.len()) };
    if destination.len() == source.len() { crc32c::copy(destination, source) } else { 0 }
}

/// Slices that are turned into Rust's at a time, on the stack.
const TOGETHER: usize = 64;

/// CRC-32C of each of `count` independent pieces, into `crcs`: faster than one call for each when they are small.
///
/// # Safety
/// `slices` points to `count` slices, each of readable bytes or null, and `crcs` to `count` places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_crc32c_many(slices: *const Slice, count: usize, crcs: *mut u32) {
    // SAFETY: the caller's obligation is that of `for_chunks`.
    unsafe { for_chunks(slices, count, crcs, crc32c::many) }
}

/// Calls `many` on runs of the slices and of the places for their results.
///
/// # Safety
/// As [`batchwise_crc32c_many`], for results of type `T`.
pub(crate) unsafe fn for_chunks<T: Copy + Default>(
    slices: *const Slice,
    count: usize,
    results: *mut T,
    mut many: impl FnMut(&[&[u8]], &mut [T]),
) {
    if slices.is_null() || results.is_null() || isize::try_from(count.saturating_mul(size_of::<Slice>())).is_err() {
        return;
    }
    // SAFETY: not null, and `count` slices by this function's contract.
    let slices = unsafe { core::slice::from_raw_parts(slices, count) };
    for (part, slices) in slices.chunks(TOGETHER).enumerate() {
        let results = results.wrapping_add(part * TOGETHER);
        for i in 0..slices.len() {
            // What the caller has in these places may be no values yet, which a slice has to have.
            // SAFETY: not null, and `count` places by this function's contract.
            unsafe { results.wrapping_add(i).write(T::default()) };
        }
        // SAFETY: the places that were written just now.
        let results = unsafe { core::slice::from_raw_parts_mut(results, slices.len()) };
        let mut frames: [&[u8]; TOGETHER] = [&[]; TOGETHER];
        for (frame, slice) in frames.iter_mut().zip(slices) {
            // SAFETY: each slice is null or readable by this function's contract.
            *frame = unsafe { bytes(slice.data, slice.len) };
        }
        many(&frames[..slices.len()], results);
    }
}
