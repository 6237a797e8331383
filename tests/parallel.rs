//! Several threads tell what one tells, bit for bit.

mod inputs;

use batchwise::{Depth, Item, Options, Report, Validator};
use inputs::Rng;
use rayon::{ThreadPool, ThreadPoolBuilder};

fn pools() -> Vec<ThreadPool> {
    [1, 2, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().expect("a pool")).into()
}

/// Every way of asking that could make a difference.
fn validators() -> Vec<Validator<'static>> {
    let mut all = Vec::new();
    for depth in [Depth::Frames, Depth::Checksums, Depth::Records] {
        for (stop, max) in [(false, usize::MAX), (false, 2), (true, usize::MAX)] {
            let mut options = Options::default();
            options.depth = depth;
            for validator in [Validator::detecting(), Validator::new(&batchwise::kafka::Log)] {
                let validator = validator.options(options).list_batches(true);
                all.push(validator.stop_at_first(stop).max_findings(max));
            }
        }
    }
    all
}

fn compare(what: &str, input: &[u8], pools: &[ThreadPool]) {
    // Every fifth has each depth, each way of stopping and both formats among them.
    for validator in validators().into_iter().step_by(if inputs::slow() { 5 } else { 1 }) {
        let one = validator.validate(input);
        // How much there has to be for several matters to one number of threads as to another.
        for (pool, least) in pools.iter().map(|pool| (pool, 1)).chain([(&pools[1], 8192)]) {
            let many = validator.in_pool(pool).parallel_from(least).validate(input);
            let threads = pool.current_num_threads();
            let what = || format!("{what}: {threads} threads, from {least} bytes");
            assert_eq!((one.totals, &one.findings), (many.totals, &many.findings), "{}", what());
            assert!(one == many, "{}: batches differ", what());
        }
    }
}

#[test]
fn on_every_vector() {
    let pools = pools();
    let mut whole = Vec::new();
    for path in inputs::logs() {
        let bytes = std::fs::read(&path).expect("test data");
        // Each part that begins among Iggy's bytes looks for Kafka's batches there, which costs checksums over megabytes.
        if inputs::slow() && bytes.len() > 100_000 {
            continue;
        }
        compare(&path.display().to_string(), &bytes, &pools);
        whole.extend_from_slice(&bytes);
    }
    compare("all vectors in one", &whole, &pools);
}

#[test]
fn on_damage() {
    let pools = pools();
    let clean = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    let mut rng = Rng(11);
    for round in 0..60 {
        let mut bytes = clean.clone();
        let what = match round % 4 {
            0 => {
                let flips: Vec<_> = (0..1 + rng.below(5)).map(|_| rng.below(bytes.len())).collect();
                flips.iter().for_each(|&at| bytes[at] ^= 1 << rng.below(8));
                format!("flips at {flips:?}")
            }
            1 => {
                let from = rng.below(bytes.len());
                let to = (from + rng.below(9000)).min(bytes.len());
                bytes[from..to].fill(0);
                format!("zeros in {from}..{to}")
            }
            2 => {
                let from = rng.below(bytes.len());
                let to = (from + rng.below(9000)).min(bytes.len());
                bytes.drain(from..to);
                format!("{from}..{to} lost")
            }
            _ => {
                let from = rng.below(bytes.len() - 9000);
                let copy = bytes[from..from + 1 + rng.below(9000)].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, copy.iter().copied());
                format!("{} bytes from {from} inserted at {to}", copy.len())
            }
        };
        compare(&what, &bytes, &pools);
    }
}

/// Several formats in one input: a part that ends in another one than it began with named the fields of the wrong one.
#[test]
fn on_what_fuzzing_found() {
    compare("formats that change", include_bytes!("data/found/formats-that-change.bin"), &pools());
}

#[test]
fn on_lists() {
    let pools = pools();
    let bytes = inputs::read("kafka/v2-many-small-batches/00000000000123456789.log");
    let mut batches: Vec<Vec<u8>> = Vec::new();
    for batch in Validator::detecting().list_batches(true).validate(&bytes).batches {
        batches.push(bytes[batch.offset as usize..(batch.offset + batch.len) as usize].to_vec());
    }
    let mut rng = Rng(5);
    for (i, batch) in batches.iter_mut().enumerate() {
        match i % 40 {
            7 => batch.truncate(9),
            13 => batch.push(0),
            21 => batch.clear(),
            33 => {
                let at = rng.below(batch.len());
                batch[at] ^= 4;
            }
            _ => {}
        }
    }
    let items: Vec<Item<'_>> = batches.iter().map(|b| b[..].into()).collect();
    for validator in validators() {
        let one = validator.validate_list(&items);
        if one.totals.errors != 1 {
            assert_eq!(one.totals.batches, items.len() as u64, "a batch for each item");
            assert!(one.findings.iter().all(|f| f.batch.is_some()), "each finding belongs to an item");
        }
        for pool in &pools {
            let mut many = Report::default();
            validator.in_pool(pool).parallel_from(1).validate_list_into(&items, &mut many);
            assert!(one == many, "{} threads, {validator:?}", pool.current_num_threads());
        }
    }
    let report = Validator::detecting().validate_list(&items);
    let damaged: Vec<_> = report.findings.iter().filter_map(|f| f.batch).map(|b| b % 40).collect();
    for kind in [7, 13, 21] {
        assert!(damaged.iter().filter(|b| **b == kind).count() >= 7, "{damaged:?}");
    }
}
