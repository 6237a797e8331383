//! One frame of each format, under every depth, origin and conformance: no panic, and findings that lie in the frame.
//!
//! A checksum hides everything behind it from random changes, so the frame is also checked as if it were right:
//! [`batchwise::formats::Format::check`] at `Depth::Records` stops there, hence the repair of Kafka's here.
#![no_main]

use batchwise::{Conformance, Depth, Format, Frame, Options, Origin, Scratch, crc32c, formats};
use libfuzzer_sys::fuzz_target;

fn check(format: &dyn Format, bytes: &[u8], choice: u8) {
    if bytes.len() < format.prefix_len() {
        return;
    }
    let Ok(len) = format.frame_len(bytes, 0) else { return };
    let Some(frame) = usize::try_from(len).ok().and_then(|n| bytes.get(..n)) else { return };
    let mut options = Options::default();
    options.max_decompressed = 1 << 20;
    options.depth = [Depth::Frames, Depth::Checksums, Depth::Records, Depth::Records][usize::from(choice & 3)];
    options.origin = [Origin::Client, Origin::Replica, Origin::Stored, Origin::Stored][usize::from(choice >> 2 & 3)];
    options.conformance = [Conformance::Strict, Conformance::Reference][usize::from(choice >> 4 & 1)];
    let mut scratch = Scratch::default();
    let mut findings = 0;
    let frame = Frame { offset: 1 << 40, bytes: frame };
    let summary = format.check(frame, &options, &mut scratch, &mut |defect| {
        findings += 1;
        assert!(!defect.error.to_string().is_empty());
        if defect.error.counted_in() == batchwise::Within::Input {
            let end = frame.offset + frame.bytes.len() as u64;
            assert!((frame.offset..=end).contains(&defect.error.offset()), "{}", defect.error);
        }
    });
    // Checking twice with the same scratch memory finds the same.
    let mut again = 0;
    assert_eq!(format.check(frame, &options, &mut scratch, &mut |_| again += 1), summary);
    assert_eq!(again, findings);
}

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, data) = input;
    for format in formats::ALL {
        check(*format, data, choice);
    }
    if choice & 0x80 != 0 && data.len() >= 61 && data[16] == 2 {
        // As a record batch of this length whose checksum is right.
        let mut batch = data.to_vec();
        batch[8..12].copy_from_slice(&(data.len() as u32 - 12).to_be_bytes());
        let crc = crc32c::crc32c(&batch[21..]);
        batch[17..21].copy_from_slice(&crc.to_be_bytes());
        check(&batchwise::kafka::Log, &batch, choice);
    }
});
