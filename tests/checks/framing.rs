//! Lengths and magics.

use crate::support::{batch, batch_at, message, raw, validate};
use crate::{Case, case};
use batchwise::ErrorKind::*;

/// The batch with a length that it has not.
fn length(length: i32) -> Vec<u8> {
    raw(batch(), 8, &length.to_be_bytes())
}

fn followed_by(tail: &[u8]) -> Vec<u8> {
    [&batch(), tail].concat()
}

pub(crate) fn cases() -> Vec<Case> {
    let len = batch().len() as u64;
    let next = batch_at(2);
    vec![
        case("K01", TrailingBytes, "five bytes behind a batch")
            .at("batch", len, "W-I W-I")
            .logs(followed_by(&next[..5]), batch()),
        case("K03", TornTail, "five bytes behind a batch, of a file")
            .at("batch", len, "-E- -E-")
            .logs(followed_by(&next[..5]), batch()),
        case("K02", TrailingBytes, "sixteen bytes behind a batch")
            .at("batch", len, "W-I W-I")
            .logs(followed_by(&next[..16]), followed_by(&next)),
        case("K03", TornTail, "seventeen bytes with a length of 0, at which a file's reader does not look")
            .at("batch", len, "-E- -E-")
            .logs(followed_by(&[0; 17]), batch()),
        case("K06", TornTail, "the second batch is half there")
            .at("batch", len, "EEI WEI")
            .logs(followed_by(&next[..40]), followed_by(&next)),
        case("K68", TornTail, "the last byte is missing")
            .at("batch", 0, "EEI WEI")
            .logs(batch()[..78].to_vec(), batch()),
        case("K06", BatchLengthPastEnd, "a length beyond the end, before another batch")
            .at("batch", 0, "-EE -EW")
            .logs([length(1000), next.clone()].concat(), [batch(), next.clone()].concat()),
        case("K69", ZeroTail, "eighteen zeros behind a batch")
            .at("batch", len, "EWE EEE")
            .logs(followed_by(&[0; 18]), batch()),
        case("K04", BatchLengthTooSmall, "a length of 13").at("batchLength", 8, "EEE EEE").logs(length(13), length(14)),
        case("K04", BatchLengthTooSmall, "a negative length, of a message")
            .at("batchLength", 8, "EEE EEE")
            .logs(raw(message(0, 0), 8, &[0xFF; 4]), message(0, 0)),
        case("K05", BatchLengthBelowHeader, "a length of 48")
            .at("batchLength", 8, "EEE EEE")
            .logs(length(48), length(49)),
        case("K07", BatchLengthOverflow, "a length of 2147483636")
            .at("batchLength", 8, "EEE EEE")
            .logs(length(i32::MAX - 11), length(i32::MAX - 12)),
        case("K10", MagicUnknown, "magic 3").at("magic", 16, "EEE EEE").logs(raw(batch(), 16, &[3]), batch()),
        case("K10", MagicUnknown, "magic -1").at("magic", 16, "EEE EEE").logs(raw(batch(), 16, &[0xFF]), batch()),
        case("UnreadableBytes", UnreadableBytes, "thirty bytes of no entry between two batches")
            .at("batch", len, "III III")
            .logs([batch(), vec![0xFF; 30], next.clone()].concat(), [batch(), next.clone()].concat()),
        case("K67", EmptySegment, "no bytes").at("batch", 0, "-I- -I-").logs(vec![], batch()),
        case("K11", NoBatch, "no bytes").at("records", 0, "E-- E--").logs(vec![], batch()),
    ]
}

#[test]
fn the_tail_of_a_growing_file_is_no_defect() {
    let mut options = batchwise::Options::default();
    options.origin = batchwise::Origin::Stored;
    assert!(validate(&batch(), &options).is_empty());
    for len in 1..78 {
        let report =
            batchwise::Validator::new(&batchwise::kafka::Log).growing(true).validate(&followed_by(&batch_at(2)[..len]));
        assert!(report.totals.is_valid() && report.totals.warnings == 0, "{len}");
    }
}
