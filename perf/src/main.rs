//! Compares Batchwise with its peers, all in one run.

mod asm;
mod chart;
mod counts;
mod harness;
mod native;
mod ops;
mod output;
mod peers;
mod profile;
mod record;
mod report;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Parser)]
#[command(version, about = "Compares Batchwise with its peers in one process")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures us and the peers, interleaved, on fresh data each round
    Compare {
        /// One JSON object per line instead of a table
        #[arg(long)]
        json: bool,
        /// Only this operation
        #[arg(long, value_name = "OP")]
        only: Option<String>,
        /// Only cases of this name
        #[arg(long, value_name = "CASE")]
        case: Option<String>,
        /// Time for each case
        #[arg(long, value_name = "SECONDS", default_value_t = 0.4)]
        seconds: f64,
        /// Leave out the peers built for the native CPU
        #[arg(long)]
        no_native: bool,
        /// Also write the lines to `perf/records/CPU/DATE.csv`
        #[arg(long)]
        record: bool,
        /// And bring the tables of README.md and perf/README.md and the charts up to date with them
        #[arg(long, requires = "record")]
        report: bool,
    },
    /// Turns a record into the tables of README.md and perf/README.md and into charts
    Report {
        /// The record; by default the newest of this CPU
        record: Option<PathBuf>,
    },
    /// Samples our side of an operation and writes a flamegraph to perf/flamegraphs
    Profile {
        /// The operation
        op: String,
        /// Only cases of this name
        #[arg(long, value_name = "CASE")]
        case: Option<String>,
        /// Time to sample; there are about 250 samples a second
        #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
        seconds: f64,
    },
    /// Counts instructions under callgrind and compares them with perf/counts.csv
    Counts {
        /// Write the baseline instead
        #[arg(long)]
        update: bool,
    },
    /// Looks at the machine code of the kernels' hot loops: no calls, no spilled vectors
    Asm,
    /// Runs one round of our side of a case; `counts` starts it under callgrind
    #[command(hide = true)]
    Count { op: String, case: String, bytes: u64 },
    /// Runs contenders on behalf of another process; `compare` starts it from the native build
    #[command(hide = true)]
    Serve,
}

fn main() -> std::io::Result<()> {
    match Args::parse().command {
        Command::Compare { json, only, case, seconds, no_native, record, report } => {
            if let Some(op) = &only {
                operation(op);
            }
            let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_millis(400));
            let mut native = native::Native::new(!no_native);
            let mut out = output::Printer::new(json);
            let wanted = |op: &&ops::Op| only.as_ref().map_or(!op.on_request, |name| name == op.name);
            for op in ops::OPS.iter().filter(wanted) {
                for (index, plan) in (op.cases)().into_iter().enumerate() {
                    if case.as_ref().is_some_and(|c| c != plan.name) {
                        continue;
                    }
                    let mut subject = (plan.build)();
                    harness::measure(op.name, index, &plan, &mut *subject, time, &mut native, &mut out)?;
                }
            }
            if record {
                let path = record::write(out.measured())?;
                eprintln!("written to {}", path.display());
                if report {
                    report::report(Some(path))?;
                }
            }
            Ok(())
        }
        Command::Report { record } => report::report(record),
        Command::Profile { op, case, seconds } => {
            let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(5));
            profile::profile(operation(&op), case.as_deref(), time)
        }
        Command::Counts { update } => fail_unless(counts::counts(update)?),
        Command::Asm => fail_unless(asm::check()?),
        Command::Count { op, case, bytes } => counts::count(&op, &case, bytes),
        Command::Serve => native::serve(),
    }
}

/// The operation of that name; ends the program with the list of names if there is none.
fn operation(name: &str) -> &'static ops::Op {
    ops::OPS.iter().find(|o| o.name == name).unwrap_or_else(|| {
        let names: Vec<_> = ops::OPS.iter().map(|o| o.name).collect();
        eprintln!("no operation {name:?}; there are: {}", names.join(", "));
        std::process::exit(2)
    })
}

fn fail_unless(good: bool) -> std::io::Result<()> {
    if good { Ok(()) } else { Err(std::io::Error::other("see above")) }
}
