//! Runs the command from outside.
#![allow(dead_code, reason = "each test uses some of it")]

#[cfg(target_os = "linux")]
pub(crate) mod faults;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The lines of the output, each of them JSON.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }
}

pub(crate) fn command() -> Command {
    let mut words = invocation().into_iter();
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).env_remove("BATCHWISE_KERNEL").stdin(Stdio::null());
    command
}

/// The program, behind the emulator if cargo is told of one in its variable: an emulated test starts no emulated child
/// by itself.
pub(crate) fn invocation() -> Vec<String> {
    let mut words = emulator();
    words.push(env!("CARGO_BIN_EXE_batchwise").into());
    words
}

/// What cargo runs programs with, which is nothing where they run by themselves.
pub(crate) fn emulator() -> Vec<String> {
    let variable = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_RUNNER", std::env::consts::ARCH.to_uppercase());
    std::env::var(variable).unwrap_or_default().split_whitespace().map(String::from).collect()
}

pub(crate) fn batchwise<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Ran {
    ran(command().args(args).output().expect("the command runs"))
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A file of the test data.
pub(crate) fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(path)
}

/// A real segment of 300 batches and its name.
pub(crate) const SEGMENT: &str = "00000000000123456789.log";

pub(crate) fn segment() -> Vec<u8> {
    std::fs::read(data("kafka/v2-many-small-batches").join(SEGMENT)).expect("test data")
}

/// Starts and ends of the batches in `log`.
pub(crate) fn batches(log: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < log.len() {
        let len = u32::from_be_bytes(log[at + 8..at + 12].try_into().expect("four bytes")) as usize + 12;
        found.push((at, at + len));
        at += len;
    }
    found
}

/// A directory that goes away with the test.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

pub(crate) fn write(path: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
    let path = path.as_ref();
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, bytes).expect("a file");
    path.to_owned()
}
