//! Whatever the encoder makes of arbitrary messages is valid, and reads as it was meant.
#![no_main]

use arbitrary::Arbitrary;
use batchwise::Options;
use batchwise::iggy::{Batches, FrameList, NewMessage, Producer, Revision, decode, encode, write_user_headers};
use batchwise_fuzz::check;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    producer: Option<(u64, u16, u32)>,
    messages: Vec<(u128, u32, &'a [u8], Vec<(u8, &'a [u8], u8, &'a [u8])>)>,
}

fuzz_target!(|input: Input<'_>| {
    let field = |kind, bytes| batchwise::iggy::Field { kind, bytes };
    let headers = input.messages.iter().map(|(_, _, _, pairs)| {
        let pairs: Vec<_> = pairs.iter().map(|(k, key, v, value)| (field(*k, key), field(*v, value))).collect();
        write_user_headers(&pairs).unwrap_or_default()
    });
    let headers: Vec<Vec<u8>> = headers.collect();
    let messages = input.messages.iter().zip(&headers).map(|((id, time, payload, _), user_headers)| NewMessage {
        id: *id,
        timestamp: (1 << 50) + u64::from(*time),
        payload,
        user_headers,
    });
    let messages: Vec<NewMessage<'_>> = messages.collect();
    let producer = input.producer.map(|(id, epoch, base_sequence)| Producer { id, epoch, base_sequence });
    let (mut out, mut frames) = (Vec::new(), FrameList::default());
    if encode(&messages, producer, &mut out, &mut frames).is_err() {
        assert!(out.is_empty());
        assert!(messages.is_empty() || producer.is_some_and(|producer| !producer.is_valid()));
        return;
    }
    assert_eq!(check(&Batches::R2, &out, &Options::default()).map(|(len, _)| len), Some(out.len()));
    let batch = decode(&out, 0, Revision::R2, &mut frames).expect("a sound batch");
    assert_eq!(batch.header().producer(), producer);
    let mut read = batch.messages();
    for message in &messages {
        let got = read.next().expect("as many").expect("sound");
        assert_eq!((got.header().id(), got.payload()), (message.id, message.payload));
        assert_eq!((got.origin_timestamp(), got.user_header_bytes()), (message.timestamp, message.user_headers));
    }
    assert!(read.next().is_none());
});
