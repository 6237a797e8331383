//! `batchwise selftest` from outside.

mod common;

use batchwise::kernels::OPERATIONS;
use common::batchwise;

#[test]
fn every_kernel_is_listed_and_right() {
    let ran = batchwise(["selftest", "--seconds", "0", "--threads", "2", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let lines = ran.json();
    let mut at = 0;
    for operation in OPERATIONS {
        operation.rows(&mut |row| {
            let line = &lines[at];
            assert_eq!((line["operation"].as_str(), line["kernel"].as_str()), (Some(operation.name()), Some(row.name)));
            assert_eq!(line["available"], row.available);
            let generated = if row.available { 200 } else { 0 };
            assert!(line["generated"] == generated && (line["known"] != 0) == row.available, "{line}");
            assert_eq!(line["wrong"], 0);
            at += 1;
        });
    }
    assert_eq!(at, lines.len());
}

#[test]
fn it_goes_on_for_the_time_given() {
    let start = std::time::Instant::now();
    let ran = batchwise(["selftest", "--seconds", "1", "--threads", "1"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(start.elapsed().as_secs() >= 1);
    for part in ["crc32c::update", "varint::records::walk_many", "portable", "on 1 thread", "all as it should be"] {
        assert!(ran.out.contains(part), "no {part:?} in {}", ran.out);
    }
}

#[test]
fn wrong_usage_is_told() {
    for args in [&["--seconds", "soon"][..], &["--threads", "0"], &["now"]] {
        let ran = batchwise(["selftest"].iter().chain(args));
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("selftest") || ran.err.contains("error"), "{}", ran.err);
    }
}
