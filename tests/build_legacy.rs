//! The builder of message sets against Kafka's own bytes.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod support;

use batchwise::ErrorKind;
use batchwise::codec::Codec;
use batchwise::kafka::MessageSetBuilder;
use support::{decompress, entries, hex, kafka_entries, message, messages};

/// 2024-04-24T23:06:40Z.
const TIME: i64 = 1_714_000_000_000;

/// Whether the wrapper of `inner` came out of Kafka's codecs the same; where not, the size and the checksum differ too.
fn assert_same_set(name: &str, kafka: &[u8], built: &[u8], codec: u8) {
    let value = if kafka[16] == 0 { 26 } else { 34 };
    assert_eq!(decompress(codec, &built[value..]), decompress(codec, &kafka[value..]), "{name}");
    assert_eq!(built[..8], kafka[..8], "{name}");
    assert_eq!(built[16..value - 4], kafka[16..value - 4], "{name}");
    assert_eq!(built[value..][..7], kafka[value..][..7], "{name}: head of the stream");
    assert_eq!(built[12..16], crc32fast::hash(&built[16..]).to_be_bytes(), "{name}");
    assert_eq!(entries(built).len(), 1);
}

#[test]
fn messages_and_sets_of_kafka_are_built_again() {
    let (mut alone, mut sets) = (0, 0);
    for (name, kafka) in kafka_entries() {
        // Wrappers of offset 0 around several messages were made so by hand.
        if kafka[16] == 2 || name.contains("wrapper-zero") {
            continue;
        }
        let outer = message(&kafka);
        let mut builder = MessageSetBuilder::new(outer.magic).unwrap();
        let is_broker = outer.magic == 1 && outer.attributes & 8 != 0;
        if is_broker {
            builder = builder.log_append_time(outer.timestamp).unwrap();
        }
        let codec = outer.attributes & 7;
        let Some(kind) = Codec::from_number(codec) else {
            let mut builder = builder.base_offset(outer.offset);
            builder.append(outer.timestamp, outer.key.as_deref(), outer.value.as_deref()).unwrap();
            assert_eq!(builder.finish().unwrap(), kafka, "{name}");
            alone += 1;
            continue;
        };
        let inner = messages(&decompress(codec, outer.value.as_deref().unwrap()));
        let base = match outer.magic {
            0 => inner[0].offset,
            _ => outer.offset - inner.last().unwrap().offset,
        };
        let mut builder = builder.base_offset(base).compression(kind, None).unwrap();
        for m in &inner {
            let offset = if outer.magic == 0 { m.offset } else { base + m.offset };
            builder.append_at(offset, m.timestamp, m.key.as_deref(), m.value.as_deref()).unwrap();
        }
        let built = builder.finish().unwrap();
        assert_same_set(&name, &kafka, &built, codec);
        assert!(builder.is_empty());
        sets += 1;
    }
    assert!(alone > 40 && sets > 35, "{alone} messages and {sets} sets");
}

#[test]
fn examples_of_each_magic() {
    let build = |magic, codec: Option<Codec>| {
        let mut builder = MessageSetBuilder::new(magic).unwrap().base_offset(10);
        if let Some(codec) = codec {
            builder = builder.compression(codec, None).unwrap();
        }
        builder.append(TIME, Some(b"k"), Some(b"hello")).unwrap();
        if codec.is_some() {
            builder.append(TIME + 1, None, Some(b"world")).unwrap();
        }
        builder.finish().unwrap()
    };
    let kafka = [
        (0, None, "000000000000000a00000014a4cdab3a0000000000016b0000000568656c6c6f"),
        (1, None, "000000000000000a0000001c2954666d01000000018f125c7400000000016b0000000568656c6c6f"),
        (
            1,
            Some(Codec::Snappy),
            "000000000000000b0000006da822ef9301020000018f125c7401ffffffff0000005782534e41505059000000000100000001000000\
             434f00001901341c2954666d01000000018f125c74011828016b0000000568656c6c6f010f08000000011f101b870f8e1e01090528\
             3401ffffffff00000005776f726c64",
        ),
        // The checksum of the frame's descriptor: as Kafka has it in magic 0, and as it should be.
        (
            0,
            Some(Codec::Lz4),
            "000000000000000b000000573122eb060003ffffffff0000004904224d1860401a3a00000012000100910a00000014a4cdab3a0f00\
             b1016b0000000568656c6c6f1000f00b00000b000000138bc0cd770000ffffffff00000005776f726c6400000000",
        ),
        (
            1,
            Some(Codec::Lz4),
            "000000000000000b0000006532d237e201030000018f125c7401ffffffff0000004f04224d186040824000000016000100e01c2954\
             666d01000000018f125c741800b0016b0000000568656c6c6f0f00001b00850000001b870f8e1e2800e001ffffffff00000005776f\
             726c6400000000",
        ),
    ];
    for (magic, codec, expected) in kafka {
        let (built, expected) = (build(magic, codec), hex(expected));
        match codec {
            None => assert_eq!(built, expected, "magic {magic}"),
            Some(codec) => assert_same_set("example", &expected, &built, codec.number()),
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    assert_eq!(MessageSetBuilder::new(2).unwrap_err().kind(), ErrorKind::MagicNotAllowed);
    let new = |magic| MessageSetBuilder::new(magic).unwrap();
    assert_eq!(new(0).log_append_time(5).unwrap_err().kind(), ErrorKind::MagicNotAllowed);
    assert_eq!(new(1).compression(Codec::Zstd, None).unwrap_err().kind(), ErrorKind::CodecNotAllowed);
    assert_eq!(new(1).compression(Codec::Gzip, Some(11)).unwrap_err().kind(), ErrorKind::CodecLevelInvalid);
    assert_eq!(new(1).finish().unwrap_err().kind(), ErrorKind::EmptyBatch);
    let mut builder = new(1).base_offset(5);
    assert_eq!(builder.append_at(4, -1, None, None).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    assert_eq!(builder.append_at(5, -2, None, None).unwrap_err().kind(), ErrorKind::TimestampNegative);
    assert!(builder.is_empty());
    builder.append_at(5, -1, None, None).unwrap();
    assert_eq!(builder.append_at(5, -1, None, None).unwrap_err().kind(), ErrorKind::OffsetDeltaNotIncreasing);
    builder.append_at(i64::MAX, -1, None, None).unwrap();
    assert_eq!(builder.append(-1, None, None).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    assert_eq!(new(0).base_offset(-3).append(-1, None, None).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    assert_eq!(entries(&builder.finish().unwrap()).len(), 2);
}
