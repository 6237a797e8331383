//! Compares Batchwise with its peers, all in one run.

mod harness;
mod native;
mod ops;
mod peers;

use clap::{Parser, Subcommand};
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
    },
    /// Runs contenders on behalf of another process; `compare` starts it from the native build
    #[command(hide = true)]
    Serve,
}

fn main() -> std::io::Result<()> {
    match Args::parse().command {
        Command::Compare { json, only, case, seconds, no_native } => {
            if let Some(op) = &only
                && !ops::OPS.iter().any(|o| o.name == op)
            {
                let names: Vec<_> = ops::OPS.iter().map(|o| o.name).collect();
                eprintln!("no operation {op:?}; there are: {}", names.join(", "));
                std::process::exit(2);
            }
            let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_millis(400));
            let mut native = native::Native::new(!no_native);
            let mut out = harness::Printer::new(json);
            for op in ops::OPS.iter().filter(|o| only.as_ref().is_none_or(|name| name == o.name)) {
                for (index, plan) in (op.cases)().into_iter().enumerate() {
                    if case.as_ref().is_some_and(|c| c != plan.name) {
                        continue;
                    }
                    let mut subject = (plan.build)();
                    harness::measure(op.name, index, &plan, &mut *subject, time, &mut native, &mut out)?;
                }
            }
            Ok(())
        }
        Command::Serve => native::serve(),
    }
}
