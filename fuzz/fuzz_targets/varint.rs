//! Runs of varints by every kernel against one varint after the other.
#![no_main]

use batchwise::varint::{self, decode_run_u32, decode_run_u64};
use libfuzzer_sys::fuzz_target;

fn one_by_one<T: Copy + Default>(
    data: &[u8],
    count: usize,
    decode: impl Fn(&[u8]) -> Result<(T, usize), varint::Error>,
) -> Result<(Vec<T>, usize), varint::Error> {
    let (mut out, mut at) = (Vec::new(), 0);
    for _ in 0..count {
        let (value, len) = decode(&data[at..])?;
        out.push(value);
        at += len;
    }
    Ok((out, at))
}

fuzz_target!(|input: (u8, &[u8])| {
    let (count, data) = input;
    let count = usize::from(count);
    let want = one_by_one(data, count, varint::decode_u64);
    for kernel in decode_run_u64::available() {
        let mut out = vec![0; count];
        let got = decode_run_u64::with(kernel, data, &mut out).map(|at| (out, at));
        assert_eq!(got, want, "{}", kernel.name());
    }
    let want = one_by_one(data, count, varint::decode_u32);
    for kernel in decode_run_u32::available() {
        let mut out = vec![0; count];
        let got = decode_run_u32::with(kernel, data, &mut out).map(|at| (out, at));
        assert_eq!(got, want, "{}", kernel.name());
    }
});
