//! User headers: verdicts on structure and types.

use crate::support::{batch, json, list, number, text, unhex};
use batchwise::iggy::{Batch, Field, Revision, ServerError, UserHeaders, Value, write_user_headers};
use batchwise::{Detail, ErrorKind};

#[test]
fn every_block_gets_iggys_verdict() {
    let all = json("user_headers.json");
    for case in list(&all, "cases") {
        let (bytes, name) = (unhex(text(case, "hex")), text(case, "name"));
        let (structure, typed) = (&case["structure"], &case["typed"]);
        let headers = match UserHeaders::parse(&bytes, 0) {
            Ok(headers) => headers,
            Err(e) => {
                let reason = match e.kind() {
                    ErrorKind::UserHeaderTruncated => {
                        let Detail::Length { needed, available } = e.detail() else { panic!("{name}: {e:?}") };
                        let wanted = ["need", "have", "offset"].map(|key| number(structure, key));
                        assert_eq!([needed, available, e.offset()], wanted, "{name}");
                        None
                    }
                    ErrorKind::UserHeaderKindZero => Some("kind_zero"),
                    ErrorKind::UserHeaderLength => Some("length_range"),
                    ErrorKind::UserHeaderUnpaired => Some("odd_count"),
                    other => panic!("{name}: {other:?}"),
                };
                assert_eq!((structure["ok"].as_bool(), structure["reason"].as_str()), (Some(false), reason), "{name}");
                continue;
            }
        };
        assert_eq!((structure["ok"].as_bool(), structure["pairs"].as_u64()), (Some(true), Some(headers.len() as u64)));
        assert_eq!(headers.count(), headers.len());
        match headers.to_map() {
            Ok(map) => assert_eq!(typed["pairs"].as_u64(), Some(map.len() as u64), "{name}"),
            Err(e) => {
                let error = ServerError::of(&e);
                let wanted = (typed["error"].as_str(), typed["code"].as_u64());
                assert_eq!((Some(error.name()), Some(error.code().into())), wanted, "{name}: {e}");
            }
        }
    }
    assert_eq!(list(&all, "cases").len(), 64);
}

#[test]
fn of_equal_keys_the_last_one_counts() {
    let key = Field { kind: 2, bytes: b"a" };
    let bytes = unhex("020100000061020100000031020100000061020100000032");
    let map = UserHeaders::parse(&bytes, 0).expect("structure").to_map().expect("types");
    assert_eq!(map[&key], Field { kind: 2, bytes: b"2" });
}

#[test]
fn every_kind_has_its_value() {
    let bytes = batch("one_all_header_kinds.bin");
    let parsed = Batch::parse(&bytes, 0, Revision::R1).expect("a batch");
    let message = parsed.messages().next().expect("a message").expect("a sound message");
    let map = message.user_headers().expect("structure").to_map().expect("types");
    let value = |name: &str| map[&Field { kind: 2, bytes: name.as_bytes() }].value().expect("a value");
    assert_eq!(value("bool"), Value::Bool(true));
    assert_eq!(value("f32"), Value::F32(1.5));
    assert_eq!(value("f64"), Value::F64(-2.25));
    assert_eq!(value("i128"), Value::I128(-128));
    assert_eq!(value("i16"), Value::I16(-16));
    assert_eq!(value("i32"), Value::I32(-32));
    assert_eq!(value("i64"), Value::I64(-64));
    assert_eq!(value("i8"), Value::I8(-8));
    assert_eq!(value("u8"), Value::U8(8));
    assert_eq!(value("u16"), Value::U16(16));
    assert_eq!(value("u32"), Value::U32(32));
    assert_eq!(value("u64"), Value::U64(64));
    assert_eq!(value("u128"), Value::U128(128));
    assert_eq!(value("raw"), Value::Raw(&[0, 1, 0xFE, 0xFF]));
    assert_eq!(value("string"), Value::Text("wert ü".as_bytes()));
    assert_eq!(map[&Field { kind: 11, bytes: &[7, 0, 0, 0] }].value(), Some(Value::Text(b"numeric key")));
    // Written again the block is the client's, whatever the order of the pairs.
    let mut pairs: Vec<_> = map.into_iter().collect();
    pairs.reverse();
    assert_eq!(write_user_headers(&pairs).expect("pairs"), message.user_header_bytes());
}

#[test]
fn what_nobody_would_read_is_not_written() {
    let good = Field { kind: 2, bytes: b"k" };
    for (bad, kind) in [
        (Field { kind: 0, bytes: b"v" }, ErrorKind::UserHeaderKindZero),
        (Field { kind: 1, bytes: b"" }, ErrorKind::UserHeaderLength),
        (Field { kind: 1, bytes: &[0; 256] }, ErrorKind::UserHeaderLength),
    ] {
        assert_eq!(write_user_headers(&[(good, bad)]).expect_err("refused").kind(), kind);
        assert_eq!(write_user_headers(&[(bad, good)]).expect_err("refused").kind(), kind);
    }
}
