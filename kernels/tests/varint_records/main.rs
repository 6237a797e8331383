//! Walks over records: every kernel and the reader of one record against a parser written from the definition.

mod support;

use batchwise_kernels::varint::{
    self,
    records::{self, Columns, Error, Fault, Field, Job, Survey, survey, walk, walk_many},
};
use support::Rng;

/// Owned columns.
#[derive(Clone, Debug, Default, PartialEq)]
struct Table {
    unsigned: [Vec<u32>; 5],
    signed: [Vec<i32>; 3],
    timestamp_deltas: Vec<i64>,
}

impl Table {
    fn new(len: usize) -> Self {
        Table {
            unsigned: std::array::from_fn(|_| vec![77; len]),
            signed: std::array::from_fn(|_| vec![77; len]),
            timestamp_deltas: vec![77; len],
        }
    }

    fn columns(&mut self) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..]);
        let signed = self.signed.each_mut().map(|c| &mut c[..]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas)
    }

    fn truncate(&mut self, len: usize) {
        self.unsigned.iter_mut().for_each(|c| c.truncate(len));
        self.signed.iter_mut().for_each(|c| c.truncate(len));
        self.timestamp_deltas.truncate(len);
    }
}

/// What a walk has to find: the rows before an error or all, and the end and whether all is plain, or the error.
struct Expected {
    table: Table,
    result: Result<(usize, bool), Error>,
    /// Where each of the first records ends that are of the common form.
    common: Vec<usize>,
}

/// A parser that shares nothing with the kernels but the names of what is wrong.
struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    plain: bool,
}

type Parsed<T> = Result<T, (Field, usize, Fault)>;

impl Parser<'_> {
    fn varint(&mut self, field: Field, max: usize, bits: u32) -> Parsed<u64> {
        let start = self.at;
        let mut value: u128 = 0;
        for i in 0..max {
            if self.at == self.end {
                return Err((field, start, Fault::Varint(varint::Error::Truncated)));
            }
            let byte = self.bytes[self.at];
            self.at += 1;
            value += u128::from(byte % 128) << (7 * i);
            if byte < 128 {
                let minimal = i == 0 || byte != 0;
                self.plain &= minimal && value >> bits == 0;
                return Ok((value % (1 << bits)) as u64);
            }
        }
        Err((field, start, Fault::Varint(varint::Error::TooLong)))
    }

    fn int(&mut self, field: Field) -> Parsed<i32> {
        let v = self.varint(field, 5, 32)?;
        Ok(if v % 2 == 0 { v / 2 } else { !(v / 2) } as i32)
    }

    fn blob(&mut self, field: Field) -> Parsed<(u32, i32)> {
        let start = self.at;
        let len = self.int(field)?;
        self.plain &= len >= -1;
        let from = self.at;
        if len > 0 {
            let left = self.end - self.at;
            if len as usize > left {
                return Err((field, start, Fault::TooLarge { needed: len as u64, available: left as u64 }));
            }
            self.at += len as usize;
        }
        Ok((from as u32, len))
    }

    fn record(&mut self, table: &mut Table) -> Parsed<()> {
        let start = self.at;
        self.end = self.bytes.len();
        if self.at == self.end {
            return Err((Field::Record, start, Fault::Missing));
        }
        let len = self.int(Field::Length)?;
        if len < 0 {
            return Err((Field::Length, start, Fault::Negative(len)));
        }
        let left = self.end - self.at;
        if len as usize > left {
            let fault = Fault::TooLarge { needed: len as u64, available: left as u64 };
            return Err((Field::Length, start, fault));
        }
        let body = self.at;
        self.end = body + len as usize;
        if len == 0 {
            return Err((Field::Attributes, body, Fault::Missing));
        }
        self.plain &= self.bytes[self.at] == 0;
        self.at += 1;
        let v = self.varint(Field::TimestampDelta, 10, 64)?;
        let timestamp = if v % 2 == 0 { v / 2 } else { !(v / 2) } as i64;
        let offset = self.int(Field::OffsetDelta)?;
        let key = self.blob(Field::KeyLength)?;
        let value = self.blob(Field::ValueLength)?;
        let headers_at = self.at;
        let headers = self.int(Field::HeadersCount)?;
        let headers_start = self.at;
        if headers < 0 {
            return Err((Field::HeadersCount, headers_at, Fault::Negative(headers)));
        }
        let left = self.end - self.at;
        if headers as usize > left {
            let fault = Fault::TooLarge { needed: headers as u64, available: left as u64 };
            return Err((Field::HeadersCount, headers_at, fault));
        }
        for _ in 0..headers {
            let at = self.at;
            let (_, len) = self.blob(Field::HeaderKeyLength)?;
            if len < 0 {
                return Err((Field::HeaderKeyLength, at, Fault::Negative(len)));
            }
            self.blob(Field::HeaderValueLength)?;
        }
        if self.at != self.end {
            let fault = Fault::Unfilled { stored: len as u64, used: (self.at - body) as u64 };
            return Err((Field::Length, self.at, fault));
        }
        let unsigned = [start as u32, key.0, value.0, headers_start as u32, headers as u32];
        table.unsigned.iter_mut().zip(unsigned).for_each(|(c, v)| c.push(v));
        table.signed.iter_mut().zip([offset, key.1, value.1]).for_each(|(c, v)| c.push(v));
        table.timestamp_deltas.push(timestamp);
        Ok(())
    }
}

fn expected(bytes: &[u8], count: usize) -> Expected {
    let mut parser = Parser { bytes, at: 0, end: bytes.len(), plain: true };
    let mut table = Table::default();
    let mut common = Vec::new();
    for record in 0..count {
        if let Err((field, at, fault)) = parser.record(&mut table) {
            return Expected { table, result: Err(Error { record, field, at, fault }), common };
        }
        if parser.plain && table.unsigned[4][record] == 0 && common.len() == record {
            common.push(parser.at);
        }
    }
    Expected { table, result: Ok((parser.at, parser.plain)), common }
}

/// What a survey of the first `records` has to tell.
fn surveyed(expected: &Expected, records: usize) -> Survey {
    let (offsets, timestamps) = (&expected.table.signed[0][..records], &expected.table.timestamp_deltas[..records]);
    Survey {
        records,
        end: expected.common[..records].last().copied().unwrap_or(0),
        first_timestamp_delta: timestamps.first().copied().unwrap_or(0),
        least_timestamp_delta: timestamps.iter().copied().min().unwrap_or(i64::MAX),
        most_timestamp_delta: timestamps.iter().copied().max().unwrap_or(i64::MIN),
        first_offset_delta: offsets.first().copied().unwrap_or(0),
        last_offset_delta: offsets.last().copied().unwrap_or(0),
        ascending: offsets.is_sorted_by(|a, b| a < b),
    }
}

/// Every kernel and the reader of single records, on an allocation of exactly the size of `bytes`.
fn compare(bytes: &[u8], count: usize) -> Expected {
    let bytes = support::exact(bytes);
    let expected = expected(&bytes, count);
    let rows = expected.table.timestamp_deltas.len();
    for kernel in walk::available() {
        let mut table = Table::new(count);
        let walked = walk::with(kernel, &bytes, &mut table.columns()).map(|w| (w.end, w.plain));
        table.truncate(rows);
        if (&table, walked) != (&expected.table, expected.result) {
            let row = (0..rows).find(|&i| table.unsigned[0][i] != expected.table.unsigned[0][i]);
            panic!(
                "{}: {count} records, {rows} sound, first start that differs {row:?}: {walked:?} != {:?}\n{table:?}\n{:?}\n{bytes:02X?}",
                kernel.name(),
                expected.result,
                expected.table
            );
        }
    }
    for kernel in survey::available() {
        // In one go and in two.
        for stop in [count, count / 3] {
            let mut told = Survey::default();
            for until in [stop, count] {
                survey::with(kernel, &bytes, until, &mut told);
                let want = surveyed(&expected, expected.common.len().min(until));
                assert_eq!(told, want, "{}: until {until}\n{bytes:02X?}", kernel.name());
            }
        }
    }
    let (mut at, mut plain) = (0, true);
    let one_by_one = (0..count).try_for_each(|i| {
        let head = records::read(&bytes, at, i)?;
        let row = [at, head.key_start, head.value_start, head.headers_start, head.headers_count as usize];
        assert_eq!(row, std::array::from_fn(|c| expected.table.unsigned[c][i] as usize));
        let row = [head.offset_delta, head.key_len, head.value_len];
        assert_eq!(row, std::array::from_fn(|c| expected.table.signed[c][i]));
        assert_eq!(head.timestamp_delta, expected.table.timestamp_deltas[i]);
        at = head.end;
        plain &= head.plain;
        Ok(())
    });
    assert_eq!(one_by_one.map(|()| (at, plain)), expected.result);
    expected
}

fn put(out: &mut Vec<u8>, v: i64) {
    let mut one = [0; varint::MAX_LEN_64];
    let len = varint::encode_zigzag64(v, &mut one);
    out.extend_from_slice(&one[..len]);
}

/// Shapes of records, from all alike to anything at all.
#[derive(Clone, Copy)]
struct Shape {
    value: usize,
    key: usize,
    timestamp: u64,
    headers: usize,
    /// One in so many records has a form that is legal and not plain; 0 for none.
    odd: usize,
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

const SHAPES: [Shape; 9] = [
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

fn batch(shape: &Shape, count: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..count {
        record(&mut bytes, i, shape, rng);
    }
    bytes
}

#[test]
fn sound_records_of_every_shape() {
    support::report("varint::records::walk", walk::TABLE.all());
    let mut rng = Rng(1);
    for shape in &SHAPES {
        for count in (0..80).chain([100, 127, 128, 129, 300]) {
            let bytes = batch(shape, count, &mut rng);
            let sound = compare(&bytes, count);
            assert_eq!(sound.result.map(|(end, _)| end), Ok(bytes.len()));
            if shape.odd == 0 {
                assert_eq!(sound.result, Ok((bytes.len(), true)));
            }
            compare(&bytes, count + 1);
            compare(&bytes, count / 2);
        }
    }
}

/// Records of one size, which a survey passes together: `timestamp` gives the 64-bit deltas.
fn alike(count: usize, key: Option<usize>, value: usize, timestamp: impl Fn(usize) -> i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..count {
        let mut body = vec![0];
        put(&mut body, timestamp(i));
        put(&mut body, i as i64);
        for len in [key, Some(value)] {
            put(&mut body, len.map_or(-1, |len| len as i64));
            body.extend(support::bytes(len.unwrap_or(0), i as u64));
        }
        put(&mut body, 0);
        put(&mut bytes, body.len() as i64);
        bytes.extend(body);
    }
    bytes
}

/// Batches of records that are alike, or nearly.
fn alikes(count: usize) -> Vec<Vec<u8>> {
    let timestamps: [fn(usize) -> i64; 8] = [
        |_| 0,
        |i| (i % 64) as i64,
        |i| 64 + 13 * i as i64,
        |i| 8150 + i as i64,
        |_| 1 << 20,
        |_| -3,
        |i| -(i as i64),
        |_| i64::MIN,
    ];
    let shapes = [(None, 10), (None, 100), (None, 0), (Some(0), 0), (Some(8), 70), (Some(100), 9), (Some(3), 9000)];
    shapes.iter().flat_map(|&(key, value)| timestamps.map(|t| alike(count, key, value, t))).collect()
}

#[test]
fn records_alike() {
    support::report("varint::records::survey", survey::TABLE.all());
    for count in [1, 2, 9, 10, 24, 64, 66, 150] {
        for bytes in alikes(count) {
            let sound = compare(&bytes, count);
            assert_eq!(sound.common.len(), count);
            compare(&bytes, count + 1);
            compare(&bytes[..bytes.len() - 1], count);
        }
    }
    let sound = compare(&alike(9000, None, 1, |_| 0), 9000);
    assert_eq!(sound.common.len(), 9000);
}

#[test]
fn records_nearly_alike() {
    let mut rng = Rng(7);
    for sound in alikes(40) {
        let starts = expected(&sound, 40).table.unsigned[0].clone();
        for i in 0..40 {
            let start = starts[i] as usize;
            let next = starts.get(i + 1).map_or(sound.len(), |&next| next as usize);
            // Heads, the last bytes of each record, and one between.
            let middle = start + rng.below(next - start);
            for at in (start..next).filter(|&at| at - start < 14 || next - at < 3 || at == middle) {
                for change in [2, 0x80, rng.next() as u8] {
                    let mut bytes = sound.clone();
                    bytes[at] ^= change;
                    compare(&bytes, 40);
                }
            }
        }
    }
}

#[test]
fn every_cut() {
    let mut rng = Rng(2);
    for shape in &SHAPES {
        let bytes = batch(shape, 60, &mut rng);
        let step = bytes.len() / 3000 + 1;
        for len in (0..bytes.len()).step_by(step) {
            let cut = compare(&bytes[..len], 60);
            assert!(cut.result.is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut rng = Rng(3);
    for shape in &SHAPES {
        let sound = batch(shape, 50, &mut rng);
        let step = sound.len() / 2500 + 1;
        let mut bytes = sound.clone();
        for at in (0..sound.len()).step_by(step) {
            for change in [1, 2, 0x80, 0xFF, rng.next() as u8] {
                bytes[at] = sound[at] ^ change;
                compare(&bytes, 50);
            }
            bytes[at] = sound[at];
        }
    }
}

#[test]
fn heads_of_random_bytes() {
    // Long runs of sound records around heads in which everything is possible.
    let mut rng = Rng(4);
    for _ in 0..4000 {
        let shape = &SHAPES[rng.below(4)];
        let mut bytes = batch(shape, 40, &mut rng);
        let starts = expected(&bytes, 40).table.unsigned[0].clone();
        let start = starts[rng.below(40)] as usize;
        for i in start..bytes.len().min(start + 1 + rng.below(14)) {
            // Bits that matter, one at a time or all at once.
            bytes[i] = match rng.below(4) {
                0 => bytes[i],
                1 => bytes[i] ^ 0x80,
                2 => rng.next() as u8 & 0x83,
                _ => rng.next() as u8,
            };
        }
        compare(&bytes, 40);
    }
}

/// Walks of several inputs together against each by itself.
fn compare_many(inputs: &[(Vec<u8>, usize)]) {
    let inputs: Vec<(Box<[u8]>, usize)> = inputs.iter().map(|(b, n)| (support::exact(b), *n)).collect();
    for kernel in walk_many::available() {
        let mut tables: Vec<Table> = inputs.iter().map(|&(_, count)| Table::new(count)).collect();
        let mut jobs: Vec<Job<'_>> =
            inputs.iter().zip(&mut tables).map(|((bytes, _), table)| Job::new(bytes, table.columns())).collect();
        walk_many::with(kernel, &mut jobs);
        let walked: Vec<_> = jobs.into_iter().map(|job| job.walked.map(|w| (w.end, w.plain))).collect();
        for (((bytes, count), mut table), walked) in inputs.iter().zip(tables).zip(walked) {
            let expected = expected(bytes, *count);
            table.truncate(expected.table.timestamp_deltas.len());
            assert_eq!((table, walked), (expected.table, expected.result), "{}", kernel.name());
        }
    }
}

#[test]
fn several_together() {
    support::report("varint::records::walk_many", walk_many::TABLE.all());
    let mut rng = Rng(6);
    for round in 0..600 {
        let mut inputs = Vec::new();
        for _ in 0..rng.below(6) {
            // Mostly the common form, so that most walks stay together for long.
            let shape = &SHAPES[if rng.below(4) == 0 { rng.below(SHAPES.len()) } else { rng.below(3) }];
            let count = rng.below(150);
            let mut bytes = batch(shape, count, &mut rng);
            if round % 2 == 0 && !bytes.is_empty() {
                for _ in 0..rng.below(3) {
                    let at = rng.below(bytes.len());
                    bytes[at] ^= rng.next() as u8;
                }
                bytes.truncate(bytes.len() - rng.below(2) * rng.below(bytes.len()));
            }
            inputs.push((bytes, count));
        }
        compare_many(&inputs);
    }
}

#[test]
fn noise() {
    let mut rng = Rng(5);
    for round in 0..2000 {
        let len = rng.below(600);
        let mut bytes = support::bytes(len, round);
        if round % 2 == 0 {
            // Small even numbers make chains of records.
            bytes.iter_mut().for_each(|b| *b &= 0x1E);
        }
        compare(&bytes, rng.below(80));
    }
}
