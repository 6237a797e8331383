//! The self-test on this machine.

use batchwise_kernels::OPERATIONS;
use batchwise_kernels::selftest::{self, MIN_SPACE, Outcome};
use std::collections::BTreeMap;

type Counts = BTreeMap<(&'static str, &'static str), u64>;

fn count(run: impl FnOnce(&mut dyn FnMut(Outcome))) -> Counts {
    let mut counts = Counts::new();
    run(&mut |outcome| {
        assert_eq!((outcome.failures, outcome.failure), (0, None));
        *counts.entry((outcome.operation, outcome.kernel)).or_default() += outcome.cases;
    });
    counts
}

/// Every kernel of every operation is told about, and has run if this CPU can run it.
fn covers_everything(counts: &Counts) {
    let mut rows = 0;
    for operation in OPERATIONS {
        operation.rows(&mut |row| {
            let cases = counts.get(&(operation.name(), row.name)).unwrap_or_else(|| {
                panic!("{} by {} is left out", operation.name(), row.name);
            });
            assert_eq!(*cases > 0, row.available, "{} by {}", operation.name(), row.name);
            rows += 1;
        });
    }
    assert_eq!(counts.len(), rows, "no kernel that is in no table");
}

#[test]
fn no_operation_is_left_out() {
    covers_everything(&count(|tell| selftest::known_answers(tell)));
    let mut space = vec![0; 64 << 10];
    covers_everything(&count(|tell| selftest::cross_check(1, &mut space, tell)));
}

#[test]
fn this_machine_is_sound() {
    assert_eq!(selftest::check(), Ok(()));
    let mut space = vec![0; 256 << 10];
    let counts = count(|tell| (0..400).for_each(|seed| selftest::cross_check(seed, &mut space, tell)));
    for ((operation, kernel), cases) in counts {
        println!("{operation}: {kernel} {}", if cases > 0 { "ran" } else { "SKIPPED, the CPU lacks it" });
    }
}

#[test]
#[should_panic(expected = "needs 4096 bytes")]
fn too_little_space_is_refused() {
    selftest::cross_check(0, &mut [0; MIN_SPACE - 1], &mut |_| {});
}
