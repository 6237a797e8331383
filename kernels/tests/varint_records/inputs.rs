//! Chains of records to walk over.

use crate::support::{self, Rng};
use batchwise_kernels::varint;

pub(crate) fn put(out: &mut Vec<u8>, v: i64) {
    let mut one = [0; varint::MAX_LEN_64];
    let len = varint::encode_zigzag64(v, &mut one);
    out.extend_from_slice(&one[..len]);
}

/// Shapes of records, from all alike to anything at all.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) value: usize,
    pub(crate) key: usize,
    pub(crate) timestamp: u64,
    pub(crate) headers: usize,
    /// One in so many records has a form that is legal and not plain; 0 for none.
    pub(crate) odd: usize,
}

fn blob(out: &mut Vec<u8>, longest: usize, nullable: bool, rng: &mut Rng) {
    if nullable && rng.below(4) == 0 {
        return put(out, -1);
    }
    let len = rng.below(longest + 1);
    put(out, len as i64);
    out.extend(support::bytes(len, rng.next()));
}

/// Appends a varint, now and then with a zero group more than it needs.
fn put_padded(out: &mut Vec<u8>, v: i64, odd: bool) {
    put(out, v);
    if odd {
        *out.last_mut().expect("a byte") |= 0x80;
        out.push(0);
    }
}

fn record(out: &mut Vec<u8>, offset: usize, shape: &Shape, rng: &mut Rng) {
    let odd = |rng: &mut Rng| shape.odd > 0 && rng.below(shape.odd) == 0;
    let mut body = vec![if odd(rng) { 0x81 } else { 0 }];
    let timestamp = rng.next() % shape.timestamp.max(1);
    put_padded(&mut body, if rng.below(2) == 0 { timestamp as i64 } else { -(timestamp as i64) }, odd(rng));
    put_padded(&mut body, offset as i64, odd(rng));
    match shape.key {
        0 => put(&mut body, if odd(rng) { -2 } else { -1 }),
        longest => blob(&mut body, longest, true, rng),
    }
    if odd(rng) {
        put(&mut body, -7);
    } else {
        blob(&mut body, shape.value, shape.key > 0, rng);
    }
    let headers = if shape.headers > 0 { rng.below(shape.headers + 1) } else { 0 };
    put(&mut body, headers as i64);
    for _ in 0..headers {
        blob(&mut body, 10, false, rng);
        blob(&mut body, 20, true, rng);
    }
    put_padded(out, body.len() as i64, odd(rng));
    out.extend(body);
}

pub(crate) const SHAPES: [Shape; 9] = [
    Shape { value: 100, key: 0, timestamp: 0, headers: 0, odd: 0 },
    Shape { value: 150, key: 20, timestamp: 400, headers: 0, odd: 0 },
    Shape { value: 3, key: 0, timestamp: 60, headers: 0, odd: 0 },
    Shape { value: 0, key: 0, timestamp: 0, headers: 0, odd: 0 },
    Shape { value: 200, key: 100, timestamp: 1 << 27, headers: 0, odd: 0 },
    Shape { value: 9000, key: 0, timestamp: 1 << 14, headers: 0, odd: 0 },
    Shape { value: 40, key: 10, timestamp: 1 << 62, headers: 0, odd: 40 },
    Shape { value: 40, key: 10, timestamp: 100, headers: 3, odd: 0 },
    Shape { value: 40, key: 10, timestamp: 100, headers: 3, odd: 4 },
];

pub(crate) fn batch(shape: &Shape, count: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..count {
        record(&mut bytes, i, shape, rng);
    }
    bytes
}
