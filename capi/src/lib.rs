//! The C interface of Batchwise; `include/batchwise.h` is made from this crate.
//!
//! Rust programs use the crate [`batchwise`] itself. Here are the rules that hold for every function:
//!
//! - Memory is `const void *` and `size_t` bytes. A pointer may be null where the length is 0; null is taken as no
//!   bytes whatever the length.
//! - What a function reads nobody changes before it returns, not a callback either.
//! - No function keeps a pointer after it returns, except a handle to itself.
//! - No state is shared between calls but the choice of kernels; all functions may be called from any thread, a handle
//!   from one at a time. The first call reads an environment variable: no thread may be in `setenv` meanwhile.
//! - No panic leaves a function: what cannot be excluded is caught and becomes [`BATCHWISE_INTERNAL`].
//! - Functions that can fail return `BATCHWISE_OK` (0), `BATCHWISE_DEFECT` (1: the input is bad, and `error` says where)
//!   or a negative code (the call is bad).

mod check;
mod checksum;
mod kinds;
#[doc(hidden)]
pub mod outside;
mod segment;
mod selftest;
mod stamp;
mod types;
mod xxh3;

pub use check::*;
pub use checksum::*;
pub use kinds::{KINDS, kind_number};
pub use segment::*;
pub use selftest::*;
pub use stamp::*;
pub use types::*;
pub use xxh3::*;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body` and turns a panic into [`BATCHWISE_INTERNAL`].
fn guarded(body: impl FnOnce() -> i32) -> i32 {
    // The state that `body` sees belongs to the call or to a handle, and is overwritten by the next use of it.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(BATCHWISE_INTERNAL)
}

/// The memory of a caller; none if `data` is null or no object can be that long.
///
/// # Safety
/// `data` is null or points to `len` readable bytes that nobody changes during the call.
unsafe fn bytes<'a>(data: *const core::ffi::c_void, len: usize) -> &'a [u8] {
    if data.is_null() || isize::try_from(len).is_err() {
        return &[];
    }
    // SAFETY: not null, and readable for `len` bytes by this function's contract.
    unsafe { core::slice::from_raw_parts(data.cast(), len) }
}

/// As [`bytes`], to write to.
///
/// What a function only writes, as the destination of a copy, a caller need not have written before: this side cannot tell
/// such bytes from others, because they come over the boundary, and reads none of them.
///
/// # Safety
/// `data` is null or points to `len` bytes that are the caller's to write, used by nobody else during the call.
unsafe fn bytes_mut<'a>(data: *mut core::ffi::c_void, len: usize) -> &'a mut [u8] {
    if data.is_null() || isize::try_from(len).is_err() {
        return &mut [];
    }
    // SAFETY: not null, and exclusively ours for `len` bytes by this function's contract.
    unsafe { core::slice::from_raw_parts_mut(data.cast(), len) }
}

/// Writes `value` to where the caller wants it, if anywhere.
///
/// # Safety
/// `out` is null or points to an aligned place for a `T`.
unsafe fn put<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not null, and a place for a `T` by this function's contract.
        unsafe { out.write(value) }
    }
}

/// Frees what `Box::into_raw` gave out.
///
/// # Safety
/// `handle` is null, or came from a box of `T` and is not used again.
unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: came from a box and is given back once, by this function's contract.
        drop(unsafe { Box::from_raw(handle) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guarded(|| panic!("caught on purpose")), BATCHWISE_INTERNAL);
        assert_eq!(guarded(|| 7), 7);
    }
}
