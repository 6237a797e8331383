//! What goes wrong around the command: files that change, cannot be read or are none, disks that are full, readers that
//! leave, users that have waited long enough. Messages are clear, exit codes right, and nothing partial looks whole.
#![cfg(target_os = "linux")]

mod common;

use common::faults::{finish, signal, start, status, until, with_hole};
use common::{SEGMENT, batches, batchwise, command, directory, emulator, invocation, segment, write};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// Larger than is read before a signal arrives.
const ENDLESS: u64 = 1 << 40;

/// What a pipe holds before its writer waits.
const PIPE: usize = 1 << 16;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_shrinks_or_grows_is_read_to_an_end() {
    let dir = directory();
    let log = segment().repeat(200);
    let path = write(dir.path().join(SEGMENT), &log);
    for threads in ["1", "2"] {
        let child = start(["verify".as_ref(), "--threads".as_ref(), threads.as_ref(), path.as_os_str()]);
        let file = OpenOptions::new().write(true).open(&path).expect("a file");
        for part in [9, 2, 7, 0, 4, 10].into_iter().cycle().take(60) {
            file.set_len(log.len() as u64 * part / 8).expect("another length");
            std::thread::yield_now();
        }
        let ran = finish(child);
        assert!([1, 2].contains(&ran.code), "{ran:?}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        fs::write(&path, &log).expect("a file");
    }
}

#[test]
fn what_is_no_file_is_neither_waited_for_nor_read_for_ever() {
    let dir = directory();
    write(dir.path().join("logs").join(SEGMENT), &segment());
    let logs = dir.path().join("logs");
    let fifo = logs.join("00000000000000000001.log");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let socket = logs.join("00000000000000000002.log");
    let _socket = UnixListener::bind(&socket).expect("a socket");
    symlink("/dev/zero", logs.join("00000000000000000003.log")).expect("a link");
    symlink("00000000000000000004.log", logs.join("00000000000000000004.log")).expect("a link");
    symlink("..", logs.join("up")).expect("a link");
    symlink(".", logs.join("here")).expect("a link");

    // Below a directory they are passed over.
    let ran = finish(start(["verify".as_ref(), "--json".as_ref(), logs.as_os_str()]));
    assert_eq!((ran.code, ran.json().len()), (0, 1), "{ran:?}");
    // Asked for, they are refused.
    let loop_ = logs.join("00000000000000000004.log");
    for (path, message) in [
        (&fifo, "neither a file nor a directory"),
        (&socket, "neither a file nor a directory"),
        (&"/dev/zero".into(), "neither a file nor a directory"),
        (&"/dev/null".into(), "neither a file nor a directory"),
        (&loop_, "symbolic links"),
    ] {
        let ran = finish(start(["verify".as_ref(), path.as_os_str()]));
        assert!(ran.code == 2 && ran.err.contains(message), "{}: {ran:?}", path.display());
        let copy = dir.path().join("copy.log");
        let args = ["recover".as_ref(), path.as_os_str(), "--output".as_ref(), copy.as_os_str()];
        let ran = finish(start(args));
        assert!(ran.code == 2 && !copy.exists() && !ran.err.is_empty(), "{}: {ran:?}", path.display());
        assert_eq!(finish(start(["bench".as_ref(), path.as_os_str()])).code, 2);
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    let dir = directory();
    let good = write(dir.path().join("a").join(SEGMENT), &segment());
    // A regular file by its kind whose first byte cannot be read, whoever asks.
    let memory = Path::new("/proc/self/mem");
    let ran = batchwise(["verify".as_ref(), "--json".as_ref(), good.as_os_str(), memory.as_os_str()]);
    assert_eq!((ran.code, ran.json().len()), (2, 1), "{ran:?}");
    assert!(ran.err.contains("/proc/self/mem: ") && ran.err.contains("os error"), "{}", ran.err);

    // Root may read everything, so another user has to ask.
    let secret = dir.path().join("secret");
    write(secret.join(SEGMENT), &segment());
    let hidden = write(dir.path().join("b").join(SEGMENT), &segment());
    // Nothing but its content tells whether this one is a log; and a log is checked without an index that is hidden.
    let unnamed = write(dir.path().join("b").join("some.log"), &segment());
    let index = write(dir.path().join("a").join(SEGMENT).with_extension("index"), &[0; 8]);
    let mode = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("permissions");
    mode(dir.path(), 0o755);
    mode(&secret, 0);
    for path in [&hidden, &unnamed, &index] {
        mode(path, 0);
    }
    let mut nobody = if File::open(&hidden).is_ok() {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).args(invocation());
        setpriv
    } else {
        command()
    };
    match nobody.arg("--version").output() {
        Ok(output) if output.status.success() => {}
        other => return println!("SKIPPED: root may read everything, and cannot be another user here: {other:?}"),
    }
    let mut again = Command::new(nobody.get_program());
    again.args(nobody.get_args().filter(|a| *a != "--version"));
    let ran = common::ran(again.args(["verify", "--json"]).arg(dir.path()).output().expect("it runs"));
    mode(&secret, 0o755);
    assert_eq!((ran.code, ran.json().len()), (2, 1), "what can be read is: {ran:?}");
    assert_eq!(ran.err.matches("Permission denied").count(), 4, "{}", ran.err);
    for path in [&secret, &hidden, &unnamed, &index] {
        assert!(ran.err.contains(&format!("{}: ", path.display())), "{}: {}", path.display(), ran.err);
    }
}

#[test]
fn a_full_disk_leaves_no_copy() {
    let dir = directory();
    let source = write(dir.path().join(SEGMENT), &segment());
    let copy = dir.path().join("copy.log");
    let limited = "ulimit -f 8; exec \"$@\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", limited, "bash"]).args(invocation()).arg("recover");
    let ran = common::ran(bash.arg(&source).arg("--output").arg(&copy).output().expect("bash"));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("copy.log: ") && ran.err.contains("File too large"), "{}", ran.err);
    assert!(!ran.out.contains("kept"), "{}", ran.out);
    assert_eq!(names(dir.path()), [SEGMENT], "nothing is left");
    assert_eq!(fs::read(&source).expect("the source"), segment());
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let dir = directory();
    let source = write(dir.path().join(SEGMENT), &segment());
    for args in [&["verify"][..], &["verify", "--json"], &["selftest", "--seconds", "0", "--threads", "1"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = command();
        command.args(args).stdout(full).stderr(Stdio::piped());
        if args[0] == "verify" {
            command.arg(&source);
        }
        let ran = common::ran(command.output().expect("it runs"));
        assert!(ran.code == 2 && ran.err.contains("No space left"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_reader_that_leaves_ends_the_output_and_not_the_copy() {
    let dir = directory();
    let mut log = segment();
    let places = batches(&log);
    let mut bytes = Vec::new();
    for _ in 0..8 {
        places.iter().for_each(|(_, end)| log[end - 1] ^= 1);
        bytes.extend_from_slice(&log);
        places.iter().for_each(|(_, end)| log[end - 1] ^= 1);
    }
    bytes.extend_from_slice(&log);
    // So many files that no pipe holds what is told of them: no run is over before its reader leaves.
    let logs = dir.path().join("logs");
    let sources: Vec<_> = (1..=16).map(|n| write(logs.join(format!("{n:020}.log")), &bytes)).collect();
    for args in [&["verify"][..], &["verify", "--json"]] {
        let told = common::ran(command().args(args).arg(&logs).output().expect("it runs")).out.len();
        assert!(told > 4 * PIPE, "{told} bytes could fit into a pipe");
    }
    let copy = dir.path().join("copy.log");
    let recover = ["recover".as_ref(), sources[0].as_os_str(), "--output".as_ref(), copy.as_os_str()];
    for (args, code) in [
        (&["verify".as_ref(), "--json".as_ref(), logs.as_os_str()][..], 2),
        (&["verify".as_ref(), logs.as_os_str()], 2),
        (&recover, 1),
    ] {
        let mut child = start(args);
        let mut line = String::new();
        let mut out = BufReader::with_capacity(64, child.stdout.take().expect("a pipe"));
        if args[1] != "--json" {
            out.read_line(&mut line).expect("a line");
        }
        drop(out);
        let ran = finish(child);
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{args:?}");
    }
    assert!(fs::read(&copy).expect("the copy").ends_with(&log), "what is sound was copied");
}

#[test]
fn an_interrupted_verification_says_so() {
    let dir = directory();
    write(dir.path().join("00000000000000000001.log"), &segment());
    with_hole(&dir.path().join("00000000000000000002.log"), &segment(), ENDLESS);
    write(dir.path().join("00000000000000000003.log"), &segment());
    for (threads, name, code) in [("1", "INT", 130), ("2", "INT", 130), ("2", "TERM", 143)] {
        for json in [true, false] {
            let mut args = vec!["verify".as_ref(), "--threads".as_ref(), threads.as_ref(), dir.path().as_os_str()];
            args.extend(json.then_some("--json".as_ref() as &std::ffi::OsStr));
            let mut child = start(args);
            // The first file is told of; the second takes for ever.
            let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
            let mut line = String::new();
            out.read_line(&mut line).expect("a line");
            assert!(line.contains("00000000000000000001.log"), "{line}");
            signal(&child, name);
            let rest: Vec<_> = out.lines().map_while(Result::ok).collect();
            let ran = finish(child);
            assert_eq!(ran.code, code, "{ran:?}");
            // The signal may come between telling of the first and turning to the second.
            let at = [1, 2].map(|n| format!("interrupted at file {n} of 3"));
            assert!(at.iter().any(|at| ran.err.contains(at)), "{}", ran.err);
            assert!(rest.iter().all(|l| !l.contains("all valid") && !l.contains("2.log\"")), "{rest:?}");
        }
    }
}

#[test]
fn an_interrupted_recovery_leaves_nothing() {
    let dir = directory();
    let source = dir.path().join(SEGMENT);
    with_hole(&source, &segment(), ENDLESS);
    let target = directory();
    let copy = target.path().join("copy.log");
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let child = start(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
        until("it writes", || !names(target.path()).is_empty());
        assert!(!copy.exists(), "it writes under another name");
        signal(&child, name);
        let ran = finish(child);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.err.contains("interrupted") && !ran.out.contains("kept"), "{ran:?}");
        assert_eq!(names(target.path()), [""; 0], "nothing is left");
    }
}

#[test]
fn an_interrupted_selftest_tells_how_far_it_got() {
    let child = start(["selftest", "--seconds", "1000", "--threads", "2"]);
    // An emulator has a thread of its own.
    let threads = if emulator().is_empty() { 3 } else { 4 };
    until("its threads work", || status(&child, "Threads", 10).is_some_and(|n| n >= threads));
    signal(&child, "INT");
    let ran = finish(child);
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.out.contains("on 2 threads") && ran.err.contains("interrupted after"), "{ran:?}");
}

#[test]
fn a_copy_is_as_open_as_its_source() {
    let dir = directory();
    let source = write(dir.path().join(SEGMENT), &segment());
    let copy = dir.path().join("copy.log");
    fs::set_permissions(&source, PermissionsExt::from_mode(0o640)).expect("permissions");
    let ran = batchwise(["recover".as_ref(), source.as_os_str(), "--output".as_ref(), copy.as_os_str()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(fs::metadata(&copy).expect("the copy").permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_live_segment_that_is_damaged_is_looked_at_again_and_told() {
    let dir = directory();
    let mut log = segment();
    let (_, end) = batches(&log)[200];
    log.truncate(end + 30);
    log[700] ^= 8;
    write(dir.path().join(SEGMENT), &log);
    for threads in ["1", "2"] {
        let words = ["verify", "--live", "--json", "--threads", threads].map(AsRef::as_ref);
        let ran = finish(start(words.into_iter().chain([dir.path().as_os_str()])));
        assert_eq!((ran.code, ran.json().len()), (1, 1), "{ran:?}");
        assert_eq!(ran.json()[0]["defects"][0]["kind"], "CrcMismatch");
    }
}
