//! Columns and iterator agree on every batch, sound or damaged, errors included.

use batchwise::codec::{Codec, Decoder};
use batchwise::kafka::{RecordBatch, RecordColumns};
use batchwise::varint;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn put(out: &mut Vec<u8>, v: i64) {
    let mut one = [0; varint::MAX_LEN_64];
    let len = varint::encode_zigzag64(v, &mut one);
    out.extend_from_slice(&one[..len]);
}

fn blob(out: &mut Vec<u8>, longest: usize, rng: &mut Rng) {
    if rng.below(4) == 0 {
        return put(out, -1);
    }
    let len = rng.below(longest);
    put(out, len as i64);
    out.extend((0..len).map(|_| rng.next() as u8));
}

/// A batch of `count` records; the checksum is not looked at here.
fn batch(count: usize, headers: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = vec![0; 61];
    for offset in 0..count {
        let mut body = vec![0];
        put(&mut body, rng.below(500) as i64 - 20);
        put(&mut body, offset as i64);
        blob(&mut body, 12, rng);
        blob(&mut body, 120, rng);
        let headers = rng.below(headers + 1);
        put(&mut body, headers as i64);
        for _ in 0..headers {
            put(&mut body, 1);
            body.push(b'h');
            blob(&mut body, 9, rng);
        }
        put(&mut bytes, body.len() as i64);
        bytes.extend(body);
    }
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    bytes[16] = 2;
    bytes[57..61].copy_from_slice(&(count as i32).to_be_bytes());
    bytes
}

/// Returns how many records there are, if the batch is sound.
fn agree(bytes: &[u8], columns: &mut RecordColumns) -> Option<usize> {
    let batch = RecordBatch::parse(bytes, 1000).expect("the header is sound");
    let filled = columns.fill(&batch);
    let records: Result<Vec<_>, _> = batch.records().and_then(Iterator::collect);
    let records = match (records, filled) {
        (Ok(records), Ok(())) => records,
        (Err(expected), Err(found)) => {
            assert_eq!(found, expected);
            assert!(columns.is_empty());
            return None;
        }
        (records, filled) => panic!("{:?} but {filled:?}: {bytes:02X?}", records.map(|r| r.len())),
    };
    assert_eq!(columns.len(), records.len());
    let mut before = 61;
    for (i, record) in records.iter().enumerate() {
        assert_eq!(columns.offset_deltas()[i], record.offset_delta());
        assert_eq!(columns.timestamp_deltas()[i], record.timestamp_delta());
        assert_eq!(columns.key(i).map(|r| &bytes[r]), record.key());
        assert_eq!(columns.value(i).map(|r| &bytes[r]), record.value());
        assert_eq!(columns.headers_counts()[i] as usize, record.headers().len());
        assert_eq!(columns.record(i).start, before);
        before = columns.record(i).end;
        assert_eq!(columns.headers(i).end, before);
    }
    assert!(before == bytes.len() || records.is_empty());
    assert_eq!(columns.is_sequential(), records.iter().zip(0..).all(|(r, i)| r.offset_delta() == i));
    let increasing = records.iter().try_fold(-1, |last, r| Some(r.offset_delta()).filter(|&d| d > last));
    assert_eq!(columns.is_increasing(), increasing.is_some());
    assert_eq!(columns.max_timestamp_delta(), records.iter().map(|r| r.timestamp_delta()).max());
    assert_eq!(columns.min_timestamp_delta(), records.iter().map(|r| r.timestamp_delta()).min());
    let payload = |r: &batchwise::kafka::Record<'_>| r.key().map_or(0, <[u8]>::len) + r.value().map_or(0, <[u8]>::len);
    assert_eq!(columns.payload_len(), records.iter().map(|r| payload(r) as u64).sum());
    Some(records.len())
}

#[test]
fn sound_batches() {
    let mut rng = Rng(1);
    let mut columns = RecordColumns::new();
    for count in (0..70).chain([200, 1000]) {
        for headers in [0, 2] {
            assert_eq!(agree(&batch(count, headers, &mut rng), &mut columns), Some(count));
        }
    }
}

#[test]
fn changed_bytes() {
    let mut rng = Rng(2);
    let mut columns = RecordColumns::new();
    let (mut sound, mut damaged) = (0, 0);
    for round in 0..3000 {
        let mut bytes = batch(1 + rng.below(60), round % 3, &mut rng);
        for _ in 0..1 + rng.below(3) {
            let at = 57 + rng.below(bytes.len() - 57);
            bytes[at] = match rng.below(3) {
                0 => bytes[at] ^ 1 << rng.below(8),
                1 => rng.next() as u8,
                _ => bytes[at].wrapping_add(2),
            };
        }
        match agree(&bytes, &mut columns) {
            Some(_) => sound += 1,
            None => damaged += 1,
        }
    }
    assert!(sound > 100 && damaged > 100, "{sound} sound, {damaged} damaged");
}

#[test]
fn counts_that_do_not_fit() {
    let mut rng = Rng(3);
    let mut columns = RecordColumns::new();
    for count in [i32::MIN, -1, 0, 1, 29, 31, 1000, i32::MAX] {
        let mut bytes = batch(30, 0, &mut rng);
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        // A batch of no records reads as empty whatever follows its header; the check reports those bytes.
        let expected = (count == 0).then_some(0);
        assert_eq!(agree(&bytes, &mut columns), expected, "{count} instead of 30");
    }
    // Cut off within the records, and compressed.
    let mut bytes = batch(30, 0, &mut rng);
    bytes.truncate(bytes.len() - 5);
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    assert_eq!(agree(&bytes, &mut columns), None);
    let mut bytes = batch(30, 0, &mut rng);
    bytes[22] = 4;
    assert_eq!(agree(&bytes, &mut columns), None);
}

#[test]
fn decoded_batches_of_every_codec() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka");
    let (mut columns, mut decoder) = (RecordColumns::new(), Decoder::default());
    let mut codecs = [0; 5];
    for folder in std::fs::read_dir(root).expect("test data").flatten() {
        let Ok(files) = std::fs::read_dir(folder.path()) else { continue };
        for file in files.flatten().filter(|f| f.path().extension().is_some_and(|e| e == "log")) {
            let bytes = std::fs::read(file.path()).expect("test data");
            let mut at = 0;
            while let Ok(batch) = RecordBatch::parse(&bytes[at..], at as u64) {
                at += batch.bytes().len();
                if Codec::from_number(batch.codec()).is_some_and(|codec| !codec.is_available()) {
                    continue;
                }
                let mut other = Decoder::default();
                let expected: Result<Vec<_>, _> = batch.decoded_records(&mut other).and_then(Iterator::collect);
                match (columns.fill_decoded(&batch, &mut decoder), expected) {
                    (Ok(found), Ok(expected)) => {
                        let found = (0..columns.len()).map(|i| {
                            let [key, value] = [columns.key(i), columns.value(i)].map(|r| r.map(|r| &found[r]));
                            (columns.offset_deltas()[i], columns.timestamp_deltas()[i], key, value)
                        });
                        let expected =
                            expected.iter().map(|r| (r.offset_delta(), r.timestamp_delta(), r.key(), r.value()));
                        assert!(found.eq(expected), "{:?} at {at}", file.path());
                        codecs[usize::from(batch.codec())] += columns.len();
                    }
                    (Err(found), Err(expected)) => assert_eq!(found, expected),
                    (found, expected) => panic!("{:?}: {found:?}, {:?}", file.path(), expected.map(|r| r.len())),
                }
            }
        }
    }
    for (number, records) in codecs.into_iter().enumerate().skip(1) {
        let is_available = Codec::from_number(number as u8).is_some_and(|codec| codec.is_available());
        assert!(records > 0 || !is_available, "no records of codec {number} in the test data");
    }
    assert!(codecs[0] > 1000);
}
