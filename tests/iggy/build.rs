//! Batches that are made here.

use crate::support::{Rng, batch, json, list, text};
use batchwise::ErrorKind;
use batchwise::iggy::{
    Batch, BatchHeader, Field, FrameList, NewMessage, Producer, Revision, decode, encode, write_user_headers,
};

/// Every unstamped batch of the client's encoder, taken apart and made again.
#[test]
fn the_clients_batches_are_made_byte_for_byte() {
    let manifest = json("manifest.json");
    let mut done = 0;
    for entry in list(&manifest, "batches") {
        let made_by = entry["made_by"].as_str().unwrap_or_default();
        if !made_by.starts_with("client encoder") || entry["stamped"] != false {
            continue;
        }
        let name = text(entry, "file").trim_start_matches("batches/");
        let Some(wanted) = crate::support::file(text(entry, "file")) else { continue };
        let parsed = Batch::parse(&wanted, 0, Revision::R2).expect("a batch");
        let messages: Vec<_> = parsed.messages().map(|m| m.expect("a message")).collect();
        let new: Vec<_> = messages
            .iter()
            .map(|m| NewMessage {
                id: m.header().id(),
                timestamp: m.origin_timestamp(),
                payload: m.payload(),
                user_headers: m.user_header_bytes(),
            })
            .collect();
        let (mut out, mut frames) = (vec![0xAA; 3], FrameList::default());
        encode(&new, parsed.header().producer(), &mut out, &mut frames).expect("a batch");
        assert!(out[3..] == wanted, "{name}");
        assert_eq!(frames.len(), messages.len());
        done += 1;
    }
    assert!(done >= 23, "{done}");
}

#[test]
fn known_inputs_make_a_known_batch() {
    let (mut out, mut frames) = (Vec::new(), FrameList::default());
    let hello = NewMessage { id: 42, timestamp: 1_790_000_000_123_456, payload: b"hello iggy", user_headers: b"" };
    encode(&[hello], None, &mut out, &mut frames).expect("a batch");
    assert_eq!(out, batch("one_hello.bin"));
}

#[test]
fn random_batches_are_accepted_and_read_back() {
    let mut rng = Rng(4);
    let mut frames = FrameList::default();
    for _ in 0..200 {
        let count = 1 + rng.below(300);
        let bodies: Vec<_> = (0..count)
            .map(|_| {
                let len = [rng.below(24), rng.below(300), rng.below(3000)][rng.below(3)];
                let mut pair = |_| {
                    let len = 1 + rng.below(20);
                    (rng.bytes(4), rng.bytes(len))
                };
                let pairs: Vec<_> = (0..len % 4).map(&mut pair).collect();
                let fields: Vec<_> =
                    pairs.iter().map(|(k, v)| (Field { kind: 11, bytes: k }, Field { kind: 1, bytes: v })).collect();
                (rng.bytes(len), write_user_headers(&fields).expect("pairs"))
            })
            .collect();
        let messages: Vec<_> = bodies
            .iter()
            .map(|(payload, user_headers)| NewMessage {
                id: u128::from(rng.next()) << 64 | u128::from(rng.next()),
                timestamp: 1_790_000_000_000_000 + rng.next() % u64::from(u32::MAX),
                payload,
                user_headers,
            })
            .collect();
        let producer = (rng.below(2) == 0).then(|| Producer {
            id: rng.next() & Producer::MAX_ID,
            epoch: rng.next() as u16 & Producer::MAX_EPOCH,
            base_sequence: rng.next() as u32 & Producer::MAX_SEQUENCE,
        });
        let mut out = Vec::new();
        encode(&messages, producer, &mut out, &mut frames).expect("a batch");
        let decoded = decode(&out, 0, Revision::R2, &mut frames).expect("a sound batch");
        assert_eq!(decode(&out, 0, Revision::R1, &mut frames).is_ok(), producer.is_none());
        assert_eq!(decoded.header().producer(), producer);
        for (read, message) in decoded.messages().zip(&messages) {
            let read = read.expect("a message");
            assert_eq!((read.header().id(), read.payload()), (message.id, message.payload));
            assert_eq!((read.origin_timestamp(), read.user_header_bytes()), (message.timestamp, message.user_headers));
            // The oracle is another implementation of the hash.
            assert_eq!(read.header().checksum(), xxhash_rust::xxh3::xxh3_64(&read.bytes()[8..]));
            read.user_headers().expect("structure").check_types().expect("types");
        }
    }
}

#[test]
fn what_cannot_be_a_batch_is_refused_and_leaves_nothing() {
    let (mut out, mut frames) = (vec![1, 2, 3], FrameList::default());
    let at = |timestamp| NewMessage { timestamp, ..NewMessage::default() };
    let far = [at(5), at(5 + (1 << 32))];
    let e = encode(&far, None, &mut out, &mut frames).expect_err("too far apart");
    assert_eq!(
        (e.kind(), e.field(), e.offset()),
        (ErrorKind::TimestampDeltaTooLarge, "timestamp_delta", 256 + 48 + 28)
    );
    assert!(encode(&[at(5), at(4 + (1 << 32))], None, &mut Vec::new(), &mut frames).is_ok());
    let e = encode(&[], None, &mut out, &mut frames).expect_err("empty");
    assert_eq!((e.kind(), e.field(), e.offset()), (ErrorKind::BatchEmpty, "message_count", 48));
    for producer in [
        Producer { id: 1 << 63, ..Producer::default() },
        Producer { epoch: 1 << 15, ..Producer::default() },
        Producer { base_sequence: 1 << 31, ..Producer::default() },
    ] {
        let e = encode(&[at(0)], Some(producer), &mut out, &mut frames).expect_err("a limit");
        assert_eq!(e.kind(), ErrorKind::ProducerMalformed);
    }
    assert_eq!(out, [1, 2, 3]);
}

#[test]
fn the_fields_of_the_header_tile_it() {
    assert_eq!(BatchHeader::FIELDS.first(), Some(&("partition_id", 0, 8)));
    assert_eq!(BatchHeader::FIELDS.last(), Some(&("reserved", 72, 184)));
}
