//! A whole input, walked through damage: ends, accounts for every byte, and finds the same through a window that fills in
//! pieces, by several threads, and when it may not know how much there is.
#![no_main]

use batchwise::segment::{self, ReadAt};
use batchwise::{Conformance, Finding, Options, Validator, formats};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The thread that fuzzes is one of the two: it need not wait for the other to wake up.
static POOL: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().expect("two threads"));

/// Gives at most so many bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl ReadAt for Slow<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read_at(&mut buffer[..len], offset)
    }

    fn size(&self) -> std::io::Result<u64> {
        Ok(self.0.len() as u64)
    }
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (step, choice, data) = input;
    let data: Box<[u8]> = data.into();
    let mut options = Options::default();
    options.max_decompressed = 1 << 20;
    options.conformance = [Conformance::Strict, Conformance::Reference][usize::from(choice >> 7)];
    let number = usize::from(choice & 15) % (formats::ALL.len() + 1);
    let validator = formats::ALL.get(number).map_or(Validator::detecting(), |format| Validator::new(*format));
    let validator = validator.options(options).growing(choice & 64 != 0).base_offset((choice & 32 != 0).then_some(0));
    let report = validator.list_batches(true).validate(&data);
    assert_eq!(report.totals.bytes, data.len() as u64);
    let mut end = 0;
    for batch in &report.batches {
        assert!(batch.offset >= end);
        // The length of a batch that is damaged may be what is wrong: then others are found within.
        end = batch.offset + if batch.summary.damaged { 1 } else { batch.len };
    }
    assert!(end <= data.len() as u64);
    let mut findings = Vec::new();
    let mut sink = |f: Finding| findings.push(f);
    let totals = segment::verify(&Slow(&data, usize::from(step) * 8 + 1), validator, &mut sink).expect("no I/O");
    assert_eq!((totals, &findings), (report.totals, &report.findings));
    let parallel = validator.list_batches(true).in_pool(&POOL).parallel_from(0).validate(&data);
    assert_eq!(parallel, report);
});
