//! The command `batchwise`.

mod args;
mod bench;
mod cores;
mod cpu;
mod dump;
mod interrupt;
mod open;
mod paths;
mod print;
mod progress;
mod recover;
mod report;
mod selftest;
mod verify;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// Everything that was checked is valid.
pub(crate) const VALID: u8 = 0;
/// Damage was found, or a kernel that computes wrongly.
pub(crate) const DAMAGED: u8 = 1;
/// Wrong usage, an input that could not be read, or nothing that could be checked.
pub(crate) const FAILED: u8 = 2;

fn main() -> ExitCode {
    let code = match Args::parse().command {
        Command::Verify(args) => verify::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Recover(args) => recover::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Cpu(args) => cpu::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Completions(args) => print::completions(&args),
        Command::Man => print::man(),
    };
    match code {
        Ok(code) => code.into(),
        // Whoever read our output has seen enough.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => FAILED.into(),
        Err(e) => {
            eprintln!("batchwise: {e}");
            FAILED.into()
        }
    }
}
