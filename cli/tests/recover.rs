//! `batchwise recover` and `batchwise bench` from outside.

mod common;

use common::{SEGMENT, batches, batchwise, segment};
use std::fs;

#[test]
fn a_sound_segment_is_copied_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, copy) = (directory.path().join(SEGMENT), directory.path().join("copy.log"));
    fs::write(&source, segment()).expect("a file");
    let ran = batchwise(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(fs::read(&copy).expect("the copy"), segment());
    // A second time it would be written over.
    let ran = batchwise(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("already exists"), "{}", ran.err);
}

#[test]
fn damaged_batches_are_left_out_and_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join(SEGMENT);
    let mut log = segment();
    let places = batches(&log);
    let (bad, end) = places[3];
    log[end - 1] ^= 1;
    fs::write(&source, &log).expect("a file");

    let copy = directory.path().join("copy.log");
    let ran = batchwise(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(&format!("batch 3 at byte {bad}")), "{}", ran.out);
    assert!(ran.out.ends_with(&format!("KiB kept, {} B left out\n", end - bad)), "{}", ran.out);
    let expected = [&log[..bad], &log[end..]].concat();
    assert_eq!(fs::read(&copy).expect("the copy"), expected);
    assert_eq!(fs::read(&source).expect("the source"), log, "the source is as it was");

    let cut = directory.path().join("cut.log");
    let args = ["recover".as_ref(), source.as_os_str(), "--output".as_ref(), cut.as_os_str(), "--like-broker".as_ref()];
    assert_eq!(batchwise(args).code, 1);
    assert_eq!(fs::read(&cut).expect("the copy"), log[..bad]);
    let left: Vec<_> = fs::read_dir(directory.path()).expect("a directory").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 3, "no temporary file is left: {left:?}");
}

#[test]
fn bytes_that_belong_to_no_batch_are_listed_with_their_number() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, copy) = (directory.path().join(SEGMENT), directory.path().join("copy.log"));
    let log = segment();
    let (start, end) = batches(&log)[3];
    fs::write(&source, [&log[..start + 10], &log[start + 30..]].concat()).expect("a file");
    let ran = batchwise(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let line = format!(
        "lost  UnreadableBytes batch at byte {start}: bytes that belong to no entry: {} bytes",
        end - start - 20
    );
    assert!(ran.out.lines().any(|l| l == line), "{line}: {}", ran.out);
    assert_eq!(fs::read(&copy).expect("the copy"), [&log[..start], &log[end..]].concat());
}

#[test]
fn what_cannot_be_read_or_written_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join(SEGMENT);
    let nowhere = directory.path().join("no such directory/copy.log");
    let args = ["recover".as_ref(), source.as_os_str(), "--output".as_ref(), nowhere.as_os_str()];
    assert_eq!(batchwise(args).code, 2, "no source");
    fs::write(&source, segment()).expect("a file");
    assert_eq!(batchwise(args).code, 2, "no directory to write to");
}

#[test]
fn bench_measures_every_level() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join(SEGMENT);
    fs::write(&source, segment()).expect("a file");
    let ran = batchwise(["bench".as_ref(), source.as_os_str()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("portable") && ran.out.contains("records"), "{}", ran.out);
}
