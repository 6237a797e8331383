//! Several threads tell what one tells, bit for bit, of every mutation in the test data.

mod inputs;
#[path = "iggy/support.rs"]
#[allow(dead_code, reason = "this test uses a part")]
mod support;
mod vectors;

use batchwise::{Depth, Options, Validator};
use rayon::{ThreadPool, ThreadPoolBuilder};

fn pools() -> Vec<ThreadPool> {
    [1, 2, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().expect("a pool")).into()
}

fn compare(what: &dyn Fn() -> String, input: &[u8], pools: &[ThreadPool]) {
    // Long ones take their time, and differ in their content, not in their frames.
    let least = if input.len() < 256 << 10 { Depth::Frames } else { Depth::Records };
    for depth in [Depth::Frames, Depth::Checksums, Depth::Records].iter().filter(|d| **d >= least) {
        let mut options = Options::default();
        options.depth = *depth;
        let validator = Validator::detecting().options(options).list_batches(true);
        let one = validator.validate(input);
        let quick = validator.list_batches(false);
        for pool in pools {
            let many = validator.in_pool(pool).parallel_from(1).validate(input);
            let what = || format!("{} at {depth:?}: {} threads", what(), pool.current_num_threads());
            assert_eq!((one.totals, &one.findings), (many.totals, &many.findings), "{}", what());
            assert!(one == many, "{}: batches differ", what());
            let many = quick.in_pool(pool).parallel_from(1).validate(input);
            assert_eq!((one.totals, &one.findings), (many.totals, &many.findings), "{}, not listed", what());
        }
    }
}

/// Mutations in one input, with sound batches between: waking threads costs more than checking one.
const TOGETHER: usize = 40;

/// One group of so many is looked at. That each mutation is judged rightly, other tests tell everywhere.
fn every() -> usize {
    if inputs::slow() { 4 } else { 1 }
}

#[test]
fn kafka() {
    let pools = pools();
    // Sound batches on both sides, so that there is something to share out.
    let log = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    let batches = Validator::detecting().list_batches(true).validate(&log).batches;
    let (before, after) = (batches[8].offset as usize, batches[16].offset as usize);
    for group in vectors::mutations().chunks(TOGETHER).step_by(every()) {
        let mut input = log[..before].to_vec();
        for mutation in group {
            input.extend_from_slice(&mutation.bytes);
            input.extend_from_slice(&log[before..after]);
        }
        compare(&|| format!("from {} on", group[0].describe()), &input, &pools);
    }
}

#[test]
fn iggy() {
    let pools = pools();
    let sound = support::file("segments/small/00000000000000000000.log").expect("a segment");
    let mut all = Vec::new();
    for (name, file, ops) in [("mutations.json", "file", "ops"), ("segment_mutations.json", "log", "log_ops")] {
        for mutation in support::list(&support::json(name), "mutations") {
            let Some(mut bytes) = support::file(support::text(mutation, file)) else { continue };
            support::edit(&mut bytes, support::list(mutation, ops));
            all.push((format!("{} of {name}", mutation["id"]), bytes));
        }
    }
    assert!(all.len() > 450, "{} mutations", all.len());
    // Fewer, because a search for the next batch may look at all that follows.
    for group in all.chunks(TOGETHER / 8).step_by(every()) {
        let input: Vec<&[u8]> = group.iter().flat_map(|(_, bytes)| [bytes, &sound[..4096.min(sound.len())]]).collect();
        compare(&|| format!("from {} on", group[0].0), &input.concat(), &pools);
    }
}
