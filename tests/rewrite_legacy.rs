//! Rewriting messages of magic 0 and 1 by the rules of Kafka's log cleaner, from Kafka's own sets.
#![cfg(all(feature = "gzip", feature = "snappy", feature = "lz4", feature = "zstd"))]

mod support;

use batchwise::codec::{Codec, Decoder};
use batchwise::kafka::{InnerMessage, Message, MessageSetBuilder, Rewriter, Rewritten};
use batchwise::{Error, ErrorKind, Options, Origin, Validator, kafka};
use support::{Parts, decompress, kafka_entries, message, messages};

/// What readers are given of a message.
type Read = (i64, Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>);

fn read(bytes: &[u8]) -> Vec<Read> {
    let (message, mut decoder) = (Message::parse(bytes, 0).unwrap(), Decoder::default());
    let one = |inner: InnerMessage<'_>| {
        let content = inner.message.content().unwrap();
        (inner.offset, inner.timestamp, content.key.map(<[u8]>::to_vec), content.value.map(<[u8]>::to_vec))
    };
    if message.codec() == 0 {
        let (offset, timestamp) = (message.header().offset(), message.timestamp());
        return vec![one(InnerMessage { offset, timestamp, message })];
    }
    message.inner(&mut decoder).unwrap().map(one).collect()
}

fn rewrite(bytes: &[u8], keep: impl FnMut(&InnerMessage<'_>) -> bool) -> Result<(Rewritten, Vec<u8>), Error> {
    let mut out = b"before".to_vec();
    let outcome = Rewriter::new().rewrite_message(&Message::parse(bytes, 0).unwrap(), keep, &mut out);
    let left = out.split_off(6);
    assert_eq!(out, b"before");
    assert!(outcome.is_ok() || left.is_empty());
    outcome.map(|outcome| (outcome, left))
}

/// Checks a wrapper of kept messages against the one that it was made of, by the layout.
fn assert_made_of(name: &str, before: &Parts, after: &Parts, kept: &[i64]) {
    let codec = before.attributes & 7;
    let inner = |parts: &Parts| messages(&decompress(codec, parts.value.as_deref().unwrap()));
    let (old, new) = (inner(before), inner(after));
    assert_eq!((after.magic, after.attributes, &after.key), (before.magic, before.attributes, &None), "{name}");
    assert_eq!(after.offset, *kept.last().unwrap(), "{name}");
    let is_append_time = before.magic == 1 && before.attributes & 8 != 0;
    let shift = if before.magic == 1 && before.offset != 0 { before.offset - old.last().unwrap().offset } else { 0 };
    let old: Vec<_> = old.iter().filter(|m| kept.contains(&(m.offset + shift))).collect();
    assert_eq!(new.len(), kept.len(), "{name}");
    for (i, (old, new)) in old.iter().zip(&new).enumerate() {
        let stored = if before.magic == 1 { kept[i] - kept[0] } else { kept[i] };
        assert_eq!(new.offset, stored, "{name}");
        assert_eq!((new.magic, new.attributes & 7), (before.magic, 0), "{name}");
        let timestamp = if is_append_time { before.timestamp } else { old.timestamp };
        assert_eq!((new.timestamp, &new.key, &new.value), (timestamp, &old.key, &old.value), "{name}");
    }
    let greatest = new.iter().map(|m| m.timestamp).max().unwrap();
    assert_eq!(after.timestamp, if is_append_time { before.timestamp } else { greatest }, "{name}");
}

#[test]
fn kafkas_sets_keep_what_they_are_told_to() {
    let (mut alone, mut made) = (0, 0);
    for (name, entry) in kafka_entries().into_iter().filter(|(_, entry)| entry[16] < 2) {
        let all = read(&entry);
        assert_eq!(rewrite(&entry, |_| true), Ok((Rewritten::Unchanged, entry.clone())), "{name}");
        assert_eq!(rewrite(&entry, |_| false), Ok((Rewritten::Dropped, vec![])), "{name}");
        if entry[17] & 7 == 0 {
            alone += 1;
            continue;
        }
        // Every other one; but the first; but the last.
        let last = all.len() - 1;
        let choices: [&dyn Fn(usize) -> bool; 3] = [&|i| i % 2 == 1, &|i| i > 0, &|i| i < last];
        for choice in choices {
            let wanted: Vec<_> = all.iter().enumerate().filter(|(i, _)| choice(*i)).map(|(_, m)| m.clone()).collect();
            if wanted.is_empty() || wanted.len() == all.len() {
                continue;
            }
            let mut next = 0..;
            let (outcome, left) = rewrite(&entry, |_| choice(next.next().unwrap())).unwrap();
            assert_eq!(outcome, Rewritten::Changed, "{name}");
            assert_eq!(read(&left), wanted, "{name}");
            let kept: Vec<_> = wanted.iter().map(|m| m.0).collect();
            assert_made_of(&name, &message(&entry), &message(&left), &kept);
            let mut options = Options::default();
            options.origin = Origin::Stored;
            let report = Validator::new(&kafka::Log).options(options).validate(&left);
            assert!(report.totals.is_valid() && report.totals.warnings == 0, "{name}: {:?}", report.findings);
            // A second pass finds nothing to do.
            assert_eq!(rewrite(&left, |_| true), Ok((Rewritten::Unchanged, left.clone())), "{name}");
            made += 1;
        }
    }
    assert!(alone > 40 && made > 60, "{alone} messages and {made} sets");
}

/// A wrapper of magic `magic` around messages of these magics, at offsets from 0 on.
fn mixed(magic: i8, magics: &[i8]) -> Vec<u8> {
    let mut set = Vec::new();
    for (offset, &magic) in (0..).zip(magics) {
        let mut builder = MessageSetBuilder::new(magic).unwrap().base_offset(offset);
        builder.append(1000 + offset, Some(b"k"), Some(b"v")).unwrap();
        set.extend(builder.finish().unwrap());
    }
    let mut stream = Vec::new();
    batchwise::codec::Compressor::new(Codec::Gzip, None).unwrap().compress(&set, &mut stream).unwrap();
    let mut builder = MessageSetBuilder::new(magic).unwrap().base_offset(magics.len() as i64 - 1);
    builder.append(1000 + magics.len() as i64 - 1, None, Some(&stream)).unwrap();
    let mut wrapper = builder.finish().unwrap();
    wrapper[17] |= 1;
    sealed(wrapper)
}

fn sealed(mut message: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&message[16..]);
    message[12..16].copy_from_slice(&crc.to_be_bytes());
    message
}

#[test]
fn messages_of_another_magic_are_made_anew() {
    let sound = mixed(1, &[1, 1]);
    assert_eq!(rewrite(&sound, |_| true), Ok((Rewritten::Unchanged, sound)));
    for (magic, magics) in [(1, [0, 1]), (0, [1, 0])] {
        let (outcome, left) = rewrite(&mixed(magic, &magics), |_| true).unwrap();
        assert_eq!(outcome, Rewritten::Changed);
        let inner = messages(&decompress(1, message(&left).value.as_deref().unwrap()));
        assert!(inner.iter().all(|m| m.magic == magic), "{magic}");
        // Magic 0 has no timestamp, and what it becomes has none either.
        let timestamps: Vec<_> = read(&left).iter().map(|m| m.1).collect();
        assert_eq!(timestamps, if magic == 1 { [Some(-1), Some(1001)] } else { [None, None] });
        // Only the kept ones count.
        let (outcome, _) = rewrite(&mixed(1, &[1, 0]), |m| m.offset == 0).unwrap();
        assert_eq!(outcome, Rewritten::Changed);
    }
}

#[test]
fn damage_is_not_made_to_look_sound() {
    let kind = |bytes: &[u8]| rewrite(bytes, |m| m.offset > 0).unwrap_err().kind();
    let mut wrapper = mixed(1, &[1, 1]);
    *wrapper.last_mut().unwrap() ^= 1;
    assert_eq!(kind(&wrapper), ErrorKind::CrcMismatch);
    assert_eq!(kind(&sealed(wrapper)), ErrorKind::CodecChecksumMismatch);
    // Stored blocks, so that what is within can be altered: the checksum of the second message.
    let inner = mixed(1, &[1, 1]);
    let set = decompress(1, message(&inner).value.as_deref().unwrap());
    let around = |set: &[u8]| {
        let mut stream = Vec::new();
        batchwise::codec::Compressor::new(Codec::Gzip, None).unwrap().compress(set, &mut stream).unwrap();
        let mut bytes = [&inner[..30], &(stream.len() as i32).to_be_bytes(), &stream].concat();
        let size = bytes.len() as i32 - 12;
        bytes[8..12].copy_from_slice(&size.to_be_bytes());
        sealed(bytes)
    };
    assert_eq!(rewrite(&around(&set), |_| true).unwrap().0, Rewritten::Unchanged);
    let mut damaged = set.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(kind(&around(&damaged)), ErrorKind::InnerCrcMismatch);
    let half = set.len() / 2;
    let compressed = sealed([&set[half..half + 17], &[1], &set[half + 18..]].concat());
    assert_eq!(kind(&around(&[&set[..half], &compressed].concat())), ErrorKind::InnerCompressed);
    // A negative timestamp, which the cleaner refuses to write again.
    let negative = sealed([&set[half..half + 18], &(-2i64).to_be_bytes()[..], &set[half + 26..]].concat());
    let odd = around(&[&set[..half], &negative].concat());
    assert_eq!(kind(&odd), ErrorKind::TimestampNegative);
    assert_eq!(rewrite(&odd, |_| true).unwrap().0, Rewritten::Unchanged);
}
