//! XXH3 with 64-bit output.

use crate::checksum::for_chunks;
use crate::types::{BATCHWISE_INVALID_ARGUMENT, BATCHWISE_OK, Slice};
use crate::{bytes, put};
use batchwise::xxh3;
use core::ffi::c_void;

/// XXH3-64 of `data` with `seed` (0 for none) and the default secret.
///
/// # Safety
/// `data` points to `len` readable bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_64(data: *const c_void, len: usize, seed: u64) -> u64 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let data = unsafe { bytes(data, len) };
    xxh3::hash64_with_seed(data, seed)
}

/// XXH3-64 of `data` with a secret of at least 136 bytes, into `hash`.
///
/// Returns `BATCHWISE_OK`, or `BATCHWISE_INVALID_ARGUMENT` if the secret is too short or `hash` is null.
///
/// # Safety
/// `data` points to `len` readable bytes, `secret` to `secret_len`, or they are null; `hash` points to a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_64_with_secret(
    data: *const c_void,
    len: usize,
    secret: *const c_void,
    secret_len: usize,
    hash: *mut u64,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let data = unsafe { bytes(data, len) };
    // SAFETY: as before.
    let secret = unsafe { bytes(secret, secret_len) };
    match xxh3::hash64_with_secret(data, secret) {
        Ok(value) if !hash.is_null() => {
            // SAFETY: a place for a number, by the caller's obligation.
            unsafe { put(hash, value) };
            BATCHWISE_OK
        }
        _ => BATCHWISE_INVALID_ARGUMENT,
    }
}

/// XXH3-64 with `seed` of each of `count` independent pieces, into `hashes`: with seed 0 faster than one call for each when
/// they are small.
///
/// # Safety
/// `slices` points to `count` slices, each of readable bytes or null, and `hashes` to `count` places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_64_many(slices: *const Slice, count: usize, seed: u64, hashes: *mut u64) {
    let many = |frames: &[&[u8]], hashes: &mut [u64]| {
        if seed == 0 {
            return xxh3::many(frames, hashes);
        }
        for (frame, hash) in frames.iter().zip(hashes) {
            *hash = xxh3::hash64_with_seed(frame, seed);
        }
    };
    // SAFETY: the caller's obligation is that of `for_chunks`.
    unsafe { for_chunks(slices, count, hashes, many) }
}

/// XXH3-64 of input that comes in pieces.
pub struct Xxh3 {
    state: xxh3::Xxh3,
}

/// A hash of no input yet, with `seed` (0 for none). Freed by `batchwise_xxh3_free`.
#[unsafe(no_mangle)]
pub extern "C" fn batchwise_xxh3_new(seed: u64) -> *mut Xxh3 {
    Box::into_raw(Box::new(Xxh3 { state: xxh3::Xxh3::with_seed(seed) }))
}

/// Starts anew, with `seed`.
///
/// # Safety
/// `hash` came from `batchwise_xxh3_new`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_reset(hash: *mut Xxh3, seed: u64) {
    // SAFETY: null or a handle of ours, by the caller's obligation.
    if let Some(hash) = unsafe { hash.as_mut() } {
        hash.state = xxh3::Xxh3::with_seed(seed);
    }
}

/// Adds `data` to the input.
///
/// # Safety
/// `hash` came from `batchwise_xxh3_new`, or is null; `data` points to `len` readable bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_update(hash: *mut Xxh3, data: *const c_void, len: usize) {
    // SAFETY: the caller's obligation is that of `bytes`.
    let data = unsafe { bytes(data, len) };
    // SAFETY: null or a handle of ours, by the caller's obligation.
    if let Some(hash) = unsafe { hash.as_mut() } {
        hash.state.update(data);
    }
}

/// The hash of all input so far; more may follow. 0 for null.
///
/// # Safety
/// `hash` came from `batchwise_xxh3_new`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_digest(hash: *const Xxh3) -> u64 {
    // SAFETY: null or a handle of ours, by the caller's obligation.
    unsafe { hash.as_ref() }.map_or(0, |hash| hash.state.digest())
}

/// Frees a handle; null is ignored.
///
/// # Safety
/// `hash` came from `batchwise_xxh3_new` and is not used again, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_xxh3_free(hash: *mut Xxh3) {
    // SAFETY: null, or what `batchwise_xxh3_new` made out of a box, by the caller's obligation.
    unsafe { crate::free(hash) }
}
