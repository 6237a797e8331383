//! Which files `verify` looks at, and how it names them and what it passes over.
#![cfg(unix)]

mod common;

use common::{SEGMENT, batchwise, data, directory, segment, write};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_linked_file_is_checked_and_a_linked_directory_named() {
    let dir = directory();
    let mut damaged = segment();
    damaged[700] ^= 8;
    let elsewhere = write(dir.path().join("elsewhere").join("some.log"), &damaged);
    let logs = dir.path().join("logs");
    write(logs.join(SEGMENT), &segment());
    symlink(&elsewhere, logs.join("00000000000000000009.log")).expect("a link");
    symlink(dir.path().join("elsewhere"), logs.join("more")).expect("a link");
    for name in ["00000000000000000010.log", ".lock"] {
        symlink("nothing", logs.join(name)).expect("a link");
    }
    let ran = batchwise(["verify".as_ref(), "--json".as_ref(), logs.as_os_str()]);
    assert_eq!((ran.code, ran.json().len()), (1, 2), "{ran:?}");
    assert!(ran.err.contains("logs/more: a link to a directory is not followed"), "{}", ran.err);
    assert!(ran.err.contains("00000000000000000010.log: No such file") && !ran.err.contains(".lock"), "{}", ran.err);
    assert_eq!(fs::read(&elsewhere).expect("a file"), damaged);
}

#[test]
fn each_directory_without_a_segment_is_named() {
    let dir = directory();
    let bare = [dir.path().join("a"), dir.path().join("b")];
    bare.iter().for_each(|path| fs::create_dir(path).expect("a directory"));
    let missing = dir.path().join("missing");
    let paths = [missing.as_os_str(), bare[0].as_os_str(), bare[1].as_os_str()];
    for command in ["verify", "dump"] {
        let ran = batchwise([command.as_ref()].into_iter().chain(paths));
        assert_eq!(ran.code, 2);
        assert_eq!(ran.err.matches("no segment files in this directory").count(), 2, "{command}: {}", ran.err);
    }
}

#[test]
fn the_last_line_claims_no_more_than_was_read() {
    let dir = directory();
    let good = write(dir.path().join("a").join(SEGMENT), &segment());
    let empty = write(dir.path().join("b").join(SEGMENT), b"");
    let missing = dir.path().join("missing");
    let last = |ran: &common::Ran| ran.out.lines().last().unwrap_or_default().to_owned();
    let ran = batchwise(["verify".as_ref(), good.as_os_str()]);
    assert_eq!((ran.code, last(&ran).as_str()), (0, "all valid"));
    let ran = batchwise(["verify".as_ref(), good.as_os_str(), missing.as_os_str()]);
    assert_eq!((ran.code, last(&ran).as_str()), (2, "valid, as far as it could be read"));
    let ran = batchwise(["verify".as_ref(), empty.as_os_str()]);
    assert_eq!((ran.code, last(&ran).as_str()), (2, "nothing was checked"));
}

#[test]
fn an_index_that_is_not_read_is_named() {
    let [log, index] = ["log", "index"].map(|end| data(&format!("iggy/legacy/00000000000000005000.{end}")));
    let ran = batchwise(["verify".as_ref(), index.as_os_str()]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("5000.index: not checked: ") && ran.err.contains("iggy-64"), "{}", ran.err);
    let ran = batchwise(["verify".as_ref(), "--json".as_ref(), log.as_os_str(), index.as_os_str()]);
    assert_eq!((ran.code, ran.json().len()), (0, 1), "{ran:?}");
    assert!(ran.err.contains("not checked"), "{}", ran.err);
}

/// A name may hold what moves a cursor or looks like a line of ours.
#[test]
fn a_name_forges_no_line() {
    let dir = directory();
    let name = "a\n1 file, all valid\u{1b}[2K.log";
    let mut log = segment();
    log[700] ^= 8;
    let path = write(dir.path().join(name), &log);
    let ran = batchwise(["verify".as_ref(), path.as_os_str()]);
    assert!(ran.out.contains(r"a\n1 file, all valid\u{1b}[2K.log"), "{}", ran.out);
    assert!(ran.out.lines().all(|l| !l.starts_with("1 file, all valid")), "{}", ran.out);
    let missing = batchwise(["verify".as_ref(), path.with_extension("missing").as_os_str()]);
    assert_eq!((missing.code, missing.err.lines().count()), (2, 1), "{}", missing.err);
    let told = batchwise(["verify".as_ref(), "--json".as_ref(), path.as_os_str()]).json();
    assert_eq!(told[0]["path"].as_str(), path.to_str(), "JSON has the name itself");
}
