//! Runs of varints by every kernel against one varint after the other; single ones against the definition.
#![no_main]

use batchwise::varint::{self, Error, decode_run_u32, decode_run_u64};
use libfuzzer_sys::fuzz_target;

fn one_by_one<T: Copy + Default>(
    data: &[u8],
    count: usize,
    decode: impl Fn(&[u8]) -> Result<(T, usize), Error>,
) -> Result<(Vec<T>, usize), Error> {
    let (mut out, mut at) = (Vec::new(), 0);
    for _ in 0..count {
        let (value, len) = decode(&data[at..])?;
        out.push(value);
        at += len;
    }
    Ok((out, at))
}

/// A varint of at most `max` bytes, by the definition: seven bits a byte, the lowest first.
fn by_definition(data: &[u8], max: usize) -> Result<(u128, usize), Error> {
    let mut value = 0;
    for (i, &byte) in data.iter().take(max).enumerate() {
        value |= u128::from(byte & 0x7F) << (7 * i);
        if byte < 0x80 {
            return Ok((value, i + 1));
        }
    }
    Err(if data.len() < max { Error::Truncated } else { Error::TooLong })
}

fn single(data: &[u8]) {
    let (short, long) = (by_definition(data, varint::MAX_LEN_32), by_definition(data, varint::MAX_LEN_64));
    assert_eq!(varint::decode_u32(data), short.map(|(v, len)| (v as u32, len)));
    assert_eq!(varint::decode_u64(data), long.map(|(v, len)| (v as u64, len)));
    assert_eq!(varint::skip_32(data), short.map(|(_, len)| len));
    assert_eq!(varint::skip_64(data), long.map(|(_, len)| len));
    let strict = |decoded: Result<(u128, usize), Error>, bits: u32| match decoded {
        Ok((v, _)) if v >> bits != 0u128 => None,
        Ok((v, len)) => (len == varint::len_u64(v as u64)).then_some(Ok(len)),
        Err(e) => Some(Err(e)),
    };
    // In the shortest form and within the width, or an error that says what else it is.
    match strict(short, 32) {
        Some(want) => assert_eq!(varint::strict_32(data), want),
        None => assert!(varint::strict_32(data).is_err()),
    }
    match strict(long, 64) {
        Some(want) => assert_eq!(varint::strict_64(data), want),
        None => assert!(varint::strict_64(data).is_err()),
    }
    if let Ok((v, _)) = long {
        let v = v as u64;
        let mut out = [0; varint::MAX_LEN_64];
        let len = varint::encode_u64(v, &mut out);
        assert_eq!(varint::decode_u64(&out[..len]), Ok((v, len)));
        assert_eq!(varint::zigzag64(varint::unzigzag64(v)), v);
        let mut out = [0; varint::MAX_LEN_32];
        let len = varint::encode_u32(v as u32, &mut out);
        assert_eq!(varint::decode_u32(&out[..len]), Ok((v as u32, len)));
        assert_eq!(varint::zigzag32(varint::unzigzag32(v as u32)), v as u32);
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (count, data) = input;
    let (count, data): (_, Box<[u8]>) = (usize::from(count), data.into());
    single(&data);
    let want = one_by_one(&data, count, varint::decode_u64);
    for kernel in decode_run_u64::available() {
        let mut out = vec![0; count];
        let got = decode_run_u64::with(kernel, &data, &mut out).map(|at| (out, at));
        assert_eq!(got, want, "{}", kernel.name());
    }
    let want = one_by_one(&data, count, varint::decode_u32);
    for kernel in decode_run_u32::available() {
        let mut out = vec![0; count];
        let got = decode_run_u32::with(kernel, &data, &mut out).map(|at| (out, at));
        assert_eq!(got, want, "{}", kernel.name());
    }
});
