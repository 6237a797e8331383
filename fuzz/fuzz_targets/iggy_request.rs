//! Bodies of requests and replies of Iggy's: metadata in front of a batch.
#![no_main]

use batchwise::iggy::{FrameList, PollReply, Revision, SendMessages, ServerError, UserHeaders, admit, decode_exact};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (partition, data) = input;
    let body: Box<[u8]> = data.into();
    let mut frames = FrameList::default();
    for revision in [Revision::R1, Revision::R2] {
        match admit(&body, partition.into(), revision, &mut frames) {
            Ok(admitted) => {
                let batch = admitted.batch.bytes();
                assert!(body.ends_with(batch));
                assert_eq!(admitted.request.is_some(), batch.len() < body.len());
                assert!(decode_exact(batch, 0, revision, &mut frames).is_ok());
            }
            Err(e) => {
                assert!(e.offset() <= body.len() as u64, "{e}");
                let _ = ServerError::of(&e);
            }
        }
        if let Ok(reply) = PollReply::parse(&body) {
            let mut ended = false;
            for message in reply.messages(revision) {
                assert!(!ended);
                ended = message.is_err();
            }
        }
    }
    if let Ok(request) = SendMessages::parse(&body) {
        assert_eq!(request.batch_at as usize + request.batch.len(), body.len());
    }
    if let Ok(headers) = UserHeaders::parse(&body, 0) {
        let _ = (headers.check_types(), headers.to_map());
        assert_eq!(headers.len(), headers.count());
    }
});
