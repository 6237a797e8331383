//! A batch of Iggy's, as it is or with length and checksums put right: checks, decoders, messages, slices and stamps.
#![no_main]

use batchwise::iggy::{
    Batch, BatchHeader, Batches, ChecksumMode, FrameList, PollFrom, Revision, Stamp, decode, decode_exact, poll_slice,
    stamp,
};
use batchwise::xxh3;
use batchwise_fuzz::{all_options, check, options};
use libfuzzer_sys::fuzz_target;

/// Writes length, count and checksums that fit, if the messages lie back to back.
fn repair(bytes: &mut [u8], frames: &mut FrameList) {
    let mut fields = BatchHeader::new(bytes).expect("long enough").fields();
    fields.batch_length = bytes.len() as u64;
    bytes[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
    let Ok(batch) = Batch::parse(bytes, 0, Revision::R2) else { return };
    fields.message_count = batch.messages().take_while(Result::is_ok).count() as u32;
    bytes[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
    let Ok(batch) = Batch::parse(bytes, 0, Revision::R2) else { return };
    if batch.list_frames(frames).is_err() {
        return;
    }
    // Ranges count in the whole batch.
    let ranges: Vec<_> = (0..frames.len()).filter_map(|i| frames.range(i)).collect();
    for range in ranges {
        let checksum = xxh3::hash64(&bytes[range.start + 8..range.end]);
        bytes[range.start..][..8].copy_from_slice(&checksum.to_le_bytes());
    }
    let Ok(batch) = Batch::parse(bytes, 0, Revision::R2) else { return };
    batch.list_frames(frames).expect("as before");
    fields.batch_checksum = frames.batch_checksum(batch.header());
    bytes[..BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
}

fuzz_target!(|input: (u8, u32, &[u8])| {
    let (choice, number, data) = input;
    let mut bytes: Box<[u8]> = data.into();
    let mut frames = FrameList::default();
    if choice & 0x80 != 0 && bytes.len() >= BatchHeader::SIZE {
        repair(&mut bytes, &mut frames);
    }
    if choice & 0x60 == 0 {
        for options in all_options() {
            check(&Batches::R2, &bytes, &options);
            check(&Batches::R1, &bytes, &options);
        }
    } else {
        check(&Batches::R2, &bytes, &options(choice));
    }
    for revision in [Revision::R1, Revision::R2] {
        let Ok(batch) = decode(&bytes, 0, revision, &mut frames) else { continue };
        assert_eq!(decode_exact(batch.bytes(), 0, revision, &mut frames).map(|b| b.bytes()), Ok(batch.bytes()));
        for message in batch.messages() {
            let message = message.expect("a sound batch");
            assert_eq!(message.header().checksum(), message.computed_checksum());
            if let Ok(headers) = message.user_headers() {
                let _ = (headers.check_types(), headers.to_map());
                assert!(headers.count() <= message.user_header_bytes().len());
            }
        }
        let from = if choice & 1 == 0 {
            PollFrom::Offset(number.into())
        } else {
            PollFrom::Timestamp(u64::from(number) << 20)
        };
        if let Some(slice) = poll_slice(&batch, &frames, from, number & 15, u64::MAX) {
            let whole = [&slice.header, slice.messages].concat();
            let part = decode(&whole, 0, revision, &mut FrameList::default()).map(|part| part.bytes().len());
            assert_eq!(part.ok(), Some(whole.len()));
        }
        let mut stamped = batch.bytes().to_vec();
        let numbers = Stamp { partition_id: Some(7), base_offset: Some(number.into()), base_timestamp: Some(1 << 50) };
        let header = stamped.first_chunk_mut().expect("a header");
        stamp(header, numbers, &mut frames, ChecksumMode::Compute);
        assert!(decode(&stamped, 0, revision, &mut frames).is_ok());
    }
});
