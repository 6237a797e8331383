//! Peers built for the native CPU.
//!
//! Cargo builds a workspace with one set of flags, so these live in a second process: this same program, built with
//! `-C target-cpu=native`, that runs single rounds on request. Both make their data from the round's seed.

use crate::ops;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The other process, started when a case first wants it.
pub(crate) struct Native {
    allowed: bool,
    server: Option<Server>,
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Native {
    pub(crate) fn new(allowed: bool) -> Self {
        Native { allowed, server: None }
    }

    /// Makes the other process prepare a case; false if there is no such process.
    pub(crate) fn select(&mut self, op: &str, index: usize) -> bool {
        if self.allowed && self.server.is_none() {
            match Server::start() {
                Ok(server) => self.server = Some(server),
                Err(e) => {
                    eprintln!("peers built for the native CPU are left out: {e}");
                    self.allowed = false;
                }
            }
        }
        self.server.as_mut().is_some_and(|s| s.ask(&format!("case {op} {index}")).is_ok())
    }

    /// Runs a contender of the selected case there.
    pub(crate) fn run(&mut self, seed: u64, contender: usize) -> io::Result<(Duration, u64)> {
        let server = self.server.as_mut().ok_or_else(|| io::Error::other("no native process"))?;
        let answer = server.ask(&format!("run {seed} {contender}"))?;
        let mut numbers = answer.split(' ').map(str::parse::<u64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(nanos)), Some(Ok(digest))) => Ok((Duration::from_nanos(nanos), digest)),
            _ => Err(io::Error::other(format!("the native process answered {answer:?}"))),
        }
    }
}

impl Server {
    fn start() -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or(io::ErrorKind::NotFound)?;
        let target = root.join("target/native");
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let status = Command::new(cargo)
            .current_dir(root)
            .args(["build", "--release", "--quiet", "--locked", "-p", "batchwise-perf", "--target-dir"])
            .arg(&target)
            .env("RUSTFLAGS", "-C target-cpu=native")
            .stdout(Stdio::null())
            .status()?;
        if !status.success() {
            return Err(io::Error::other("the native build failed"));
        }
        let mut child = Command::new(target.join("release/batchwise-perf"))
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes to the native process"));
        };
        Ok(Server { child, input, output: BufReader::new(output) })
    }

    fn ask(&mut self, question: &str) -> io::Result<String> {
        writeln!(self.input, "{question}")?;
        self.input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.trim_end() {
            "" => Err(io::ErrorKind::UnexpectedEof.into()),
            text => Ok(text.to_owned()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other process: answers on standard output what is asked on standard input.
pub(crate) fn serve() -> io::Result<()> {
    let mut subject = None;
    for line in io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, line.clone());
        match words[..] {
            ["case", op, index] => {
                let op = ops::OPS.iter().find(|o| o.name == op).ok_or_else(invalid)?;
                let plans = (op.cases)();
                let plan = index.parse().ok().and_then(|i: usize| plans.get(i)).ok_or_else(invalid)?;
                subject = None; // frees the data of the case before
                subject = subject.or(Some((plan.build)()));
                println!("ready");
            }
            ["run", seed, contender] => {
                let (Some(subject), Ok(seed), Ok(contender)) = (&mut subject, seed.parse(), contender.parse()) else {
                    return Err(invalid());
                };
                subject.refresh(seed);
                let (elapsed, digest) = subject.run(contender);
                println!("{} {digest}", elapsed.as_nanos());
            }
            _ => return Err(invalid()),
        }
        io::stdout().flush()?;
    }
    Ok(())
}
