//! Whether this machine computes what it should.

use crate::guarded;
use crate::types::{BATCHWISE_DEFECT, BATCHWISE_INTERNAL, BATCHWISE_OK};
use batchwise::selftest;

/// Checks that every kernel computes what it should on the core that the calling thread runs on; takes about a
/// millisecond.
///
/// Returns `BATCHWISE_OK` if so. Returns `BATCHWISE_DEFECT` if a kernel does not; if `fall_back` is not 0, only kernels of
/// lower instruction sets, which passed, are used from now on by all threads. Returns `BATCHWISE_INTERNAL` if even those
/// that need no instruction set fail: nothing on this machine can be relied on then.
#[unsafe(no_mangle)]
pub extern "C" fn batchwise_selftest(fall_back: i32) -> i32 {
    guarded(|| {
        if fall_back == 0 {
            return selftest::check().map_or_else(code, |()| BATCHWISE_OK);
        }
        match selftest::check_and_cap() {
            Ok(standing) => standing.failure.map_or(BATCHWISE_OK, code),
            Err(failure) => code(failure),
        }
    })
}

fn code(failure: selftest::Failure) -> i32 {
    if failure.level == batchwise::kernels::dispatch::Level::PORTABLE { BATCHWISE_INTERNAL } else { BATCHWISE_DEFECT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use batchwise::kernels::dispatch::Level;
    use selftest::{Case, Failure};

    #[test]
    fn a_machine_that_is_sound_passes() {
        assert_eq!((batchwise_selftest(0), batchwise_selftest(1)), (BATCHWISE_OK, BATCHWISE_OK));
    }

    #[test]
    fn failures_are_told_apart() {
        let failure = |level| Failure {
            operation: "test",
            kernel: "broken",
            level,
            case: Case::Known(0),
            index: 0,
            expected: 0,
            found: 1,
            steady: true,
        };
        assert_eq!(code(failure(Level::PORTABLE)), BATCHWISE_INTERNAL);
        if Level::highest() > Level::PORTABLE {
            assert_eq!(code(failure(Level::highest())), BATCHWISE_DEFECT);
        }
    }
}
