//! A parser written from the definition, and what walks and surveys have to find by it.

use batchwise_kernels::varint::{
    self,
    records::{Columns, Error, Fault, Field, Survey},
};

/// Owned columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) unsigned: [Vec<u32>; 5],
    pub(crate) signed: [Vec<i32>; 3],
    pub(crate) timestamp_deltas: Vec<i64>,
}

impl Table {
    pub(crate) fn new(len: usize) -> Self {
        Table {
            unsigned: std::array::from_fn(|_| vec![77; len]),
            signed: std::array::from_fn(|_| vec![77; len]),
            timestamp_deltas: vec![77; len],
        }
    }

    pub(crate) fn columns(&mut self) -> Columns<'_> {
        let unsigned = self.unsigned.each_mut().map(|c| &mut c[..]);
        let signed = self.signed.each_mut().map(|c| &mut c[..]);
        Columns::over(unsigned, signed, &mut self.timestamp_deltas)
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.unsigned.iter_mut().for_each(|c| c.truncate(len));
        self.signed.iter_mut().for_each(|c| c.truncate(len));
        self.timestamp_deltas.truncate(len);
    }
}

/// What a walk has to find: the rows before an error or all, and the end and whether all is plain, or the error.
pub(crate) struct Expected {
    pub(crate) table: Table,
    pub(crate) result: Result<(usize, bool), Error>,
    /// Where each of the first records ends that are of the common form.
    pub(crate) common: Vec<usize>,
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

pub(crate) fn expected(bytes: &[u8], count: usize) -> Expected {
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
pub(crate) fn surveyed(expected: &Expected, records: usize) -> Survey {
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
