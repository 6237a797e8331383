//! Runs that something happens to.

use super::command;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a run may take before it is taken for one that hangs.
const LONG: Duration = Duration::from_secs(60);

/// Starts the command with pipes for its output.
pub(crate) fn start<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Child {
    command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs")
}

/// Waits until `ready`, or fails.
pub(crate) fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < LONG, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for the end; a run that does not end is killed.
pub(crate) fn finish(mut child: Child) -> super::Ran {
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > LONG {
            child.kill().expect("killed");
            panic!("it hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output: Output = child.wait_with_output().expect("output");
    super::ran(output)
}

/// The number behind a key in /proc/PID/status, in the given base.
pub(crate) fn status(child: &Child, key: &str, base: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':'))?;
    u64::from_str_radix(line.split_whitespace().next()?, base).ok()
}

/// Sends a signal by name. That the command listens is for the caller to have seen by what it does.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("bash").args(["-c", &format!("kill -{name} {}", child.id())]).status();
    assert!(sent.expect("bash").success());
}

/// A file with `head` and a hole behind it that takes long to read.
pub(crate) fn with_hole(path: &Path, head: &[u8], len: u64) {
    super::write(path, head);
    std::fs::OpenOptions::new().write(true).open(path).and_then(|f| f.set_len(len)).expect("a file with a hole");
}
