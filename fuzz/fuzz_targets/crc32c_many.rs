//! Many frames at once, of lengths that the input chooses, against one after the other.
#![no_main]

use batchwise::crc32c::many;
use batchwise_fuzz::frames;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (cuts, data) = input;
    let frames = frames(data, usize::from(cuts & 63));
    let frames: Vec<&[u8]> = frames.iter().map(|f| &**f).collect();
    let want: Vec<u32> = frames.iter().map(|f| ::crc32c::crc32c(f)).collect();
    for kernel in many::available() {
        let mut crcs = vec![!0; frames.len()];
        many::with(kernel, &frames, &mut crcs);
        assert_eq!(crcs, want, "{}", kernel.name());
    }
});
