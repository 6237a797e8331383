//! Many frames at once tell what one after the other tells: the same defects, in the same order, and the same summaries.

mod inputs;

use batchwise::kafka::Log;
use batchwise::{
    Conformance, Defect, Depth, Finding, Format, Frame, Options, Origin, Scratch, Summary, Validator, formats,
};
use inputs::Rng;

/// Every combination of what options there are.
fn options() -> Vec<Options> {
    let mut all = Vec::new();
    for depth in [Depth::Frames, Depth::Checksums, Depth::Records] {
        for origin in [Origin::Client, Origin::Replica, Origin::Stored] {
            for conformance in [Conformance::Strict, Conformance::Reference] {
                let mut options = Options::default();
                (options.depth, options.origin, options.conformance) = (depth, origin, conformance);
                all.push(options);
            }
        }
    }
    all
}

/// The frames of all vectors of a format, as far as lengths lead.
fn frames(format: &dyn Format) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for path in inputs::logs() {
        let bytes = std::fs::read(path).expect("test data");
        let mut rest = &bytes[..];
        while rest.len() >= format.prefix_len() {
            let Some(len) = format.frame_len(rest, 0).ok().filter(|&len| len <= rest.len() as u64) else { break };
            let (frame, behind) = rest.split_at(len as usize);
            // Long ones take long, and are few.
            if frame.len() < 32 << 10 {
                frames.push(frame.to_vec());
            }
            rest = behind;
        }
    }
    frames
}

fn compare(format: &dyn Format, frames: &[Vec<u8>], options: &Options) {
    let frame = |(i, bytes)| Frame { offset: 1000 * i as u64, bytes };
    let frames: Vec<Frame<'_>> = frames.iter().map(|f| &f[..]).enumerate().map(frame).collect();
    let mut scratch = Scratch::default();
    let mut expected: (Vec<Summary>, Vec<(usize, Defect)>) = Default::default();
    for (i, frame) in frames.iter().enumerate() {
        let defects = &mut expected.1;
        expected.0.push(format.check(*frame, options, &mut scratch, &mut |d| defects.push((i, d))));
    }
    let mut defects = Vec::new();
    let mut summaries = vec![Summary::default(); frames.len()];
    format.check_many(&frames, options, &mut scratch, &mut summaries, &mut |i, d| defects.push((i, d)));
    assert_eq!(defects, expected.1, "{} {options:?}", format.name());
    assert_eq!(summaries, expected.0, "{} {options:?}", format.name());
}

#[test]
fn on_every_vector_in_random_company() {
    for format in formats::ALL {
        let sound = frames(*format);
        let mut rng = Rng(17);
        for options in options() {
            for _ in 0..6 {
                let company: Vec<_> = (0..rng.below(90)).map(|_| sound[rng.below(sound.len())].clone()).collect();
                compare(*format, &company, &options);
            }
        }
    }
}

/// Bits flipped anywhere behind the length and magic, under the old checksum or under one that is right again.
#[test]
fn on_mutations() {
    let sound = frames(&Log);
    let mut rng = Rng(18);
    for round in 0..5 {
        for options in options() {
            let mut company: Vec<_> = (0..40).map(|_| sound[rng.below(sound.len())].clone()).collect();
            for frame in company.iter_mut().filter(|_| round % 5 != 0) {
                for _ in 0..rng.below(4) {
                    let at = 17 + rng.below(frame.len() - 17);
                    frame[at] ^= 1 << rng.below(8);
                }
                if frame[16] == 2 && rng.below(4) > 0 {
                    let crc = batchwise::crc32c::crc32c(&frame[21..]);
                    frame[17..21].copy_from_slice(&crc.to_be_bytes());
                }
            }
            compare(&Log, &company, &options);
        }
    }
}

/// A report that lists batches and one that does not take different ways through sound ones.
#[test]
fn listing_changes_nothing_else() {
    let mut rng = Rng(19);
    for path in inputs::logs() {
        let clean = std::fs::read(&path).expect("test data");
        for round in 0..8 {
            let mut bytes = clean.clone();
            for _ in 0..round.min(bytes.len()) {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
            for stop in [false, true] {
                let validator = Validator::detecting().stop_at_first(stop);
                let (brief, listed) = (validator.validate(&bytes), validator.list_batches(true).validate(&bytes));
                assert_eq!((brief.totals, &brief.findings), (listed.totals, &listed.findings), "{}", path.display());
                let mut told = Vec::new();
                let totals = validator.walk(&bytes, &mut |finding: Finding| told.push(finding));
                assert_eq!((totals, &told), (listed.totals, &listed.findings), "{}", path.display());
            }
        }
    }
}
