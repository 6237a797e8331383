//! Requests to send messages, and replies to polls.

use crate::support::{batch, file, request};
use batchwise::ErrorKind;
use batchwise::iggy::{
    FrameList, Identifier, Partitioning, PollReply, Revision, SendMessages, ServerError, admit, decode,
};

#[test]
fn a_real_body_is_admitted() {
    let body = file("wire/mixed10.send_messages_body").expect("a body");
    assert_eq!(body, request(&batch("mixed10.bin"), 10));
    let mut frames = FrameList::default();
    let admitted = admit(&body, 7, Revision::R1, &mut frames).expect("admitted");
    let metadata = admitted.request.expect("metadata");
    assert_eq!((metadata.stream, metadata.topic), (Identifier::Number(1), Identifier::Number(2)));
    assert_eq!((metadata.partitioning, metadata.messages_count), (Partitioning::Balanced, 10));
    assert_eq!((metadata.batch_at, admitted.batch.offset(), frames.len()), (22, 22, 10));
    assert_eq!(admitted.batch.bytes(), batch("mixed10.bin"));
}

#[test]
fn every_cut_of_the_metadata_is_refused() {
    let body = file("wire/mixed10.send_messages_body").expect("a body");
    let mut frames = FrameList::default();
    for len in 0..body.len() {
        let e = admit(&body[..len], 0, Revision::R2, &mut frames).expect_err("refused");
        assert_eq!(ServerError::of(&e), ServerError::InvalidCommand, "{len}: {e}");
        let metadata = SendMessages::parse(&body[..len]);
        assert_eq!(metadata.is_ok(), len >= 22, "{len}");
    }
    // A length of the metadata that is not that of its fields.
    for (length, kind) in [
        (0, ErrorKind::MetadataMalformed),
        (17, ErrorKind::MetadataMalformed),
        (19, ErrorKind::MetadataMalformed),
        (u32::MAX, ErrorKind::RequestTruncated),
    ] {
        let mut body = body.clone();
        body[..4].copy_from_slice(&length.to_le_bytes());
        assert_eq!(admit(&body, 0, Revision::R2, &mut frames).expect_err("refused").kind(), kind);
    }
}

#[test]
fn identifiers_and_partitioning_are_read_by_their_kinds() {
    let parse = |fields: &[&[u8]]| {
        let fields = fields.concat();
        let body = [&(fields.len() as u32).to_le_bytes()[..], &fields].concat();
        SendMessages::parse(&body)
            .map(|m| format!("{:?} {:?} {:?} {}", m.stream, m.topic, m.partitioning, m.messages_count))
    };
    let (number, name, count) = (&[1, 4, 9, 0, 0, 0][..], &[2, 3, b'a', b'b', b'c'][..], &[5, 0, 0, 0][..]);
    let balanced = &[1, 0][..];
    assert_eq!(parse(&[name, number, &[2, 4, 7, 0, 0, 0], count]).unwrap(), "Name(\"abc\") Number(9) Partition(7) 5");
    assert_eq!(parse(&[number, name, &[3, 2, 0xFF, 0], count]).unwrap(), "Number(9) Name(\"abc\") Key([255, 0]) 5");
    for (fields, field, offset) in [
        ([&[0, 4, 0, 0, 0, 0][..], number, balanced, count], "stream_id", 4),
        ([&[3, 1, 0], number, balanced, count], "stream_id", 4),
        ([&[1, 3, 0, 0, 0], number, balanced, count], "stream_id", 4),
        ([number, &[2, 0], balanced, count], "topic_id", 10),
        ([number, &[2, 2, 0xFF, 0xFE], balanced, count], "topic_id", 10),
        ([number, name, &[1, 1, 0], count], "partitioning", 15),
        ([number, name, &[2, 3, 0, 0, 0], count], "partitioning", 15),
        ([number, name, &[3, 0], count], "partitioning", 15),
        ([number, name, &[4, 0], count], "partitioning", 15),
        ([number, name, balanced, &[5, 0, 0]], "messages_count", 17),
        ([number, name, balanced, &[5, 0, 0, 0, 0]], "metadata_length", 0),
    ] {
        let e = parse(&fields).expect_err("refused");
        assert_eq!((e.kind(), e.field(), e.offset()), (ErrorKind::MetadataMalformed, field, offset), "{fields:?}");
    }
}

#[test]
fn a_bare_batch_has_to_be_the_one_routed() {
    let stamped = batch("mixed10.stamped_p7_o1000.bin");
    let mut frames = FrameList::default();
    let admitted = admit(&stamped, 7, Revision::R1, &mut frames).expect("admitted");
    assert!(admitted.request.is_none());
    let refused = |body: &[u8], partition, frames: &mut FrameList| {
        let e = admit(body, partition, Revision::R1, frames).expect_err("refused");
        assert_eq!(ServerError::of(&e), ServerError::InvalidCommand);
        e.kind()
    };
    assert_eq!(refused(&stamped, 8, &mut frames), ErrorKind::PartitionMismatch);
    assert_eq!(refused(&[&stamped[..], &[0]].concat(), 7, &mut frames), ErrorKind::BatchLengthMismatch);
    assert_eq!(refused(&batch("empty_count0.bin"), 0, &mut frames), ErrorKind::BatchEmpty);
    // A damaged one is not a bare batch, and no request either.
    let mut damaged = stamped;
    damaged[300] ^= 1;
    assert_eq!(refused(&damaged, 7, &mut frames), ErrorKind::MetadataMalformed);
}

#[test]
fn replies_are_walked_as_clients_do() {
    let batches = ["poll_slice_from_4.bin", "rev2_no_producer.bin"].map(batch).concat();
    let mut body = vec![7, 0, 0, 0];
    body.extend(1009u64.to_le_bytes());
    body.extend(9u32.to_le_bytes());
    body.extend(&batches);
    let reply = PollReply::parse(&body).expect("a head");
    assert_eq!((reply.partition_id, reply.current_offset, reply.count), (7, 1009, 9));
    let offsets: Vec<_> = reply.messages(Revision::R1).map(|m| m.expect("a message").offset()).collect();
    assert_eq!(offsets, [1004, 1005, 1006, 1007, 1008, 1009, 0, 1, 2]);
    for len in 0..PollReply::HEAD {
        let e = PollReply::parse(&body[..len]).expect_err("too short");
        assert_eq!(ServerError::of(&e), ServerError::InvalidNumberEncoding);
    }
    // A number of messages that is wrong is not looked at, a cut is.
    body[16 + 48] ^= 1;
    assert_eq!(PollReply::parse(&body).expect("a head").messages(Revision::R1).filter(Result::is_ok).count(), 9);
    body.pop();
    let messages: Vec<_> = PollReply::parse(&body).expect("a head").messages(Revision::R1).collect();
    assert_eq!((messages.len(), messages[6].as_ref().expect_err("cut").kind()), (7, ErrorKind::TornTail));
}

#[test]
fn a_decoder_tells_how_much_is_missing() {
    use batchwise::iggy::{Failure, decode_all};
    let bytes = ["mixed10.bin", "one_hello.bin"].map(batch).concat();
    let mut frames = FrameList::default();
    for (len, needed, available) in [(0, 256, 0), (255, 256, 255), (256, 1926, 256), (1925, 1926, 1925)] {
        let failure = decode(&bytes[..len], 5, Revision::R2, &mut frames).expect_err("cut");
        assert_eq!(failure, Failure::NeedsMore { needed, available, offset: 5 });
    }
    let mut whole = 0;
    let failure = decode_all(&bytes[..2000], 0, Revision::R2, &mut frames, |_, _| whole += 1).expect_err("cut");
    assert_eq!((whole, failure), (1, Failure::NeedsMore { needed: 256, available: 74, offset: 1926 }));
    assert_eq!(decode_all(&bytes, 0, Revision::R2, &mut frames, |_, _| whole += 1), Ok(bytes.len()));
    assert_eq!(whole, 3);
}
