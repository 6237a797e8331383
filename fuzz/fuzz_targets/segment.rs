//! A whole input, walked through damage: ends, consumes every byte, finds the same in pieces as at once.
#![no_main]

use batchwise::{Options, Validator, formats, segment};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

/// Gives at most so many bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(out.len());
        self.0.read(&mut out[..n])
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (step, data) = input;
    let mut options = Options::default();
    options.max_decompressed = 1 << 20;
    for format in formats::ALL {
        let validator = Validator::new(*format).options(options);
        let report = validator.validate(data);
        assert_eq!(report.totals.bytes, data.len() as u64);
        let mut findings = Vec::new();
        let slow = Slow(data, usize::from(step) + 1);
        let totals = segment::verify(slow, data.len() as u64, validator, &mut |f| findings.push(f)).expect("no I/O");
        assert_eq!((totals, findings), (report.totals, report.findings));
    }
});
