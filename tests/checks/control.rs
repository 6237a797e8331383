//! Control records.

use crate::support::{build, with};
use crate::{Case, case};
use batchwise::ErrorKind::*;
use batchwise::kafka::{NewControlRecord, NewRecord, RecordBatchBuilder};

/// Key and value.
type Pair<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// A control batch of these keys and values, transactional or not; written as data, as the builder would refuse most.
fn control(transactional: bool, records: &[Pair<'_>]) -> Vec<u8> {
    let records: Vec<_> =
        records.iter().map(|&(key, value)| NewRecord { timestamp: 1000, key, value, headers: &[] }).collect();
    let bytes = build(RecordBatchBuilder::new().producer(9, 1, 0).transactional(transactional), &records);
    let attributes = if transactional { 0x30 } else { 0x20 };
    with(with(bytes, 22, &[attributes]), 53, &[0xFF; 4])
}

const COMMIT: &[u8] = &[0, 0, 0, 1];
const EPOCH: &[u8] = &[0, 0, 0, 0, 0, 7];
/// Where key and value of a first record are: behind length, attributes, two deltas and the key's length.
const KEY: u64 = 66;
const VALUE: u64 = KEY + 4 + 1;

pub(crate) fn cases() -> Vec<Case> {
    let marker = || control(true, &[(Some(COMMIT), Some(EPOCH))]);
    let with_key = |key: Option<&[u8]>| control(true, &[(key, Some(EPOCH))]);
    let mut kraft = RecordBatchBuilder::new().control(true);
    kraft.append_control(1000, &NewControlRecord::KRaftVersion { kraft_version: 1 }).unwrap();
    let kraft = kraft.finish().unwrap();
    vec![
        case("K72", ControlKeyInvalid, "no key").at("key", KEY - 1, "-EE -WW").logs(with_key(None), marker()),
        case("K72", ControlKeyInvalid, "a key of three bytes")
            .at("key", KEY, "-EE -WW")
            .logs(with_key(Some(&[0, 0, 0])), with_key(Some(&[0, 0, 0, 1, 9]))),
        case("K72", ControlKeyInvalid, "a negative version")
            .at("key", KEY, "-EE -WW")
            .logs(with_key(Some(&[0x80, 0, 0, 1])), with_key(Some(&[0, 1, 0, 1]))),
        case("K73", ControlTypeUnknown, "type 7")
            .at("key", KEY, "-WW -WW")
            .logs(with_key(Some(&[0, 0, 0, 7])), marker()),
        case("ControlValueInvalid", ControlValueInvalid, "a version of KRaft without the version")
            .at("value", VALUE, "-WW -WW")
            .logs(control(false, &[(Some(&[0, 0, 0, 5]), Some(&[0, 0]))]), kraft),
        case("ControlValueInvalid", ControlValueInvalid, "no value").at("value", VALUE - 1, "-WW -WW").logs(
            control(false, &[(Some(&[0, 0, 0, 4]), None)]),
            control(false, &[(Some(&[0, 0, 0, 4]), Some(&[0, 0, 0]))]),
        ),
        case("K74", EndTxnMarkerInvalid, "a value of five bytes")
            .at("value", VALUE, "-EW -WW")
            .logs(control(true, &[(Some(COMMIT), Some(&EPOCH[..5]))]), marker()),
        case("K74", EndTxnMarkerInvalid, "a negative version").at("value", VALUE, "-EW -WW").logs(
            control(true, &[(Some(COMMIT), Some(&[0xFF, 0, 0, 0, 0, 7]))]),
            control(true, &[(Some(COMMIT), Some(&[0, 1, 0, 0, 0, 7]))]),
        ),
        case("K74", EndTxnMarkerInvalid, "not transactional")
            .at("attributes", 21, "-EW -WW")
            .logs(control(false, &[(Some(COMMIT), Some(EPOCH))]), marker()),
        case("K74", EndTxnMarkerInvalid, "two markers in a batch")
            .at("recordsCount", 57, "-EW -WW")
            .logs(control(true, &[(Some(COMMIT), Some(EPOCH)); 2]), marker()),
    ]
}
