//! What the fuzz targets share.

use batchwise::codec::{Codec, Compressor, Decoder};
use batchwise::{Conformance, Depth, Format, Frame, Options, Origin, Scratch, Severity, Summary, Within};
use std::ops::Range;

/// Reads `count` lengths off the front of `data` (one byte each, the unit growing with the number) and cuts what is behind
/// them: the bytes, and ranges in them. What is too long ends with the bytes.
pub fn cut(data: &[u8], count: usize) -> (&[u8], Vec<Range<usize>>) {
    let (lengths, bytes) = data.split_at(count.min(data.len()));
    let mut at = 0;
    let ranges = lengths.iter().enumerate().map(|(i, &len)| {
        let len = usize::from(len) << (i % 3);
        let end = (at + len).min(bytes.len());
        std::mem::replace(&mut at, end)..end
    });
    (bytes, ranges.collect())
}

/// As [`cut`], each range in memory of exactly its size, so that a read past either end is seen.
pub fn frames(data: &[u8], count: usize) -> Vec<Box<[u8]>> {
    let (bytes, ranges) = cut(data, count);
    ranges.into_iter().map(|range| bytes[range].into()).collect()
}

/// The most that a compressed batch may make of itself.
pub const BUDGET: usize = 1 << 20;

/// The options that a byte chooses.
pub fn options(choice: u8) -> Options {
    let mut options = Options::default();
    options.max_decompressed = BUDGET;
    options.depth = [Depth::Frames, Depth::Checksums, Depth::Records, Depth::Records][usize::from(choice & 3)];
    options.origin = [Origin::Client, Origin::Replica, Origin::Stored, Origin::Stored][usize::from(choice >> 2 & 3)];
    options.conformance = [Conformance::Strict, Conformance::Reference][usize::from(choice >> 4 & 1)];
    options
}

/// Every depth, origin and conformance.
pub fn all_options() -> impl Iterator<Item = Options> {
    [Depth::Frames, Depth::Checksums, Depth::Records].into_iter().flat_map(|depth| {
        [Origin::Client, Origin::Replica, Origin::Stored].into_iter().flat_map(move |origin| {
            [Conformance::Strict, Conformance::Reference].map(move |conformance| {
                let mut options = Options::default();
                options.max_decompressed = BUDGET;
                (options.depth, options.origin, options.conformance) = (depth, origin, conformance);
                options
            })
        })
    })
}

/// Checks the frame at the start of `bytes` twice, if there is one, and returns its length and how many errors it has.
pub fn check(format: &dyn Format, bytes: &[u8], options: &Options) -> Option<(usize, usize)> {
    if bytes.len() < format.prefix_len() {
        return None;
    }
    let len = usize::try_from(format.frame_len(bytes, 0).ok()?).ok()?;
    // Memory of exactly this size, so that a read past either end is seen.
    let bytes: Box<[u8]> = bytes.get(..len)?.into();
    let frame = Frame { offset: 1 << 40, bytes: &bytes };
    let mut scratch = Scratch::default();
    let mut found = Vec::new();
    let summary = format.check(frame, options, &mut scratch, &mut |defect| {
        if defect.error.counted_in() == Within::Input {
            let end = frame.offset + frame.bytes.len() as u64;
            assert!((frame.offset..=end).contains(&defect.error.offset()), "{}", defect.error);
        }
        found.push(defect);
    });
    assert!(found.iter().all(|defect| !defect.error.to_string().is_empty()));
    // Again, with memory that has seen a frame, and as one of many.
    let mut again = Vec::new();
    assert_eq!(format.check(frame, options, &mut scratch, &mut |defect| again.push(defect)), summary);
    assert_eq!(again, found);
    let (mut summaries, mut again) = ([Summary::default(); 2], [Vec::new(), Vec::new()]);
    format.check_many(&[frame; 2], options, &mut scratch, &mut summaries, &mut |i, defect| again[i].push(defect));
    assert_eq!(summaries, [summary; 2]);
    assert_eq!(again, [found.clone(), found.clone()]);
    let errors = found.iter().filter(|defect| defect.severity == Severity::Error).count();
    Some((len, errors))
}

/// Decodes any bytes as a stream of `codec`: within the limit, the same again, and an error that lies in the stream. Then
/// compresses them, and reads back what was written.
pub fn codec(codec: Codec, choice: u8, data: &[u8]) {
    let limit = 1 << (choice & 31).min(20);
    let stream: Box<[u8]> = data.into();
    let mut decoder = Decoder::new(limit).linked_blocks(choice & 32 != 0);
    let first = decoder.decode(codec, &stream).map(|decoded| {
        assert!(decoded.bytes.len() <= limit);
        (decoded.bytes.to_vec(), decoded.notes)
    });
    let again = decoder.decode(codec, &stream).map(|decoded| (decoded.bytes.to_vec(), decoded.notes));
    assert_eq!(first, again);
    match first {
        Ok((_, notes)) => notes.iter().for_each(|note| assert!(note.offset() <= stream.len() as u64, "{note}")),
        Err(failure) => assert!(failure.error.offset() <= stream.len() as u64, "{}", failure.error),
    }
    // Dear for some codecs, so not always.
    if choice & 0xC0 == 0 {
        let (mut compressor, mut out) = (Compressor::new(codec, None).expect("the default level"), Vec::new());
        compressor.compress(&stream, &mut out).expect("anything can be compressed");
        let decoded = Decoder::new(stream.len().max(1)).decode(codec, &out).expect("ours").bytes.to_vec();
        assert_eq!(decoded, *stream);
    }
}
