//! Arguments.

use crate::dump::{Encoding, Range};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Verifies the batches of Apache Kafka and Apache Iggy logs.
#[derive(Parser)]
#[command(name = "batchwise", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Verifies segment files: lengths, checksums, every record
    #[command(
        after_help = "Exit status: 0 all valid, 1 damage found, 2 wrong usage, unreadable input or nothing checked; \
                      130 after Ctrl-C."
    )]
    Verify(Verify),
    /// Prints batches and records, as the lines of kafka-dump-log or as JSON
    #[command(after_help = DUMP_HELP)]
    Dump(Dump),
    /// Copies every valid batch of a segment to a new file and lists what was lost
    #[command(
        after_help = "Exit status: 0 nothing was lost, 1 something was, 2 no copy was made or no list of the lost; 130 after \
                      Ctrl-C, without a copy."
    )]
    Recover(Recover),
    /// Measures how fast this machine verifies a file, per level of kernels, against a plain read
    Bench(Bench),
    /// Shows what this CPU can do and which kernel each operation uses
    Cpu(Cpu),
    /// Checks that this machine computes what it should, with every kernel on every core
    #[command(after_help = "Exit status: 0 all as it should be, 1 a kernel computed something else, 2 wrong usage.")]
    Selftest(Selftest),
    /// Prints a script that completes arguments in a shell
    Completions(Completions),
    /// Prints the manual page, to be shown by man
    Man,
}

#[derive(ClapArgs)]
pub(crate) struct Verify {
    /// Segment files, or directories to look for them in, with the indexes beside them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// One JSON object per file and line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// Stop at the first damage
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// A broker is writing: the last entry of the newest segment may be incomplete
    #[arg(long)]
    pub(crate) live: bool,
    /// Threads; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

const DUMP_HELP: &str = "\
What a file is, its name tells: .log and .checkpoint hold batches, .index, .timeindex, .txnindex and .snapshot are \
printed entry by entry, and compared with the log beside them. In a directory the logs are printed.

A RANGE is A..B, from A to B and both included; A.. or ..B, open at one end; or A, only that.

The names of kafka-dump-log are accepted too: --files, --print-data-log, --deep-iteration, --skip-record-metadata, \
--max-bytes, --index-sanity-check, --verify-index-only. The fields of --json are in the README.

Exit status: 0 all could be read, 1 damage found, 2 wrong usage or unreadable input.";

#[derive(ClapArgs)]
pub(crate) struct Dump {
    /// Segments, snapshots and indexes, or directories to look for segments in
    #[arg(required_unless_present = "files", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The same, separated by commas
    #[arg(long, hide = true, value_name = "LIST", value_delimiter = ',')]
    pub(crate) files: Vec<PathBuf>,
    /// One JSON object per batch, or per record, and line
    #[arg(long)]
    pub(crate) json: bool,
    /// Also the records, with their keys and values
    #[arg(long, alias = "print-data-log", overrides_with = "records")]
    pub(crate) records: bool,
    /// Also the records, with their keys, without their values
    #[arg(long)]
    pub(crate) keys: bool,
    /// Also the values of the records' headers, not only their keys
    #[arg(long)]
    pub(crate) headers: bool,
    /// Also the records, without keys and values
    #[arg(long, hide = true)]
    pub(crate) deep_iteration: bool,
    /// Of records only what --records or --keys asks for
    #[arg(long, hide = true)]
    pub(crate) skip_record_metadata: bool,
    /// Only these offsets
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) offset: Option<Range>,
    /// Only these timestamps: ms since 1970 in Kafka, in Iggy µs since 1970, of the append
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) timestamp: Option<Range>,
    /// How values and payloads are printed, and the values of headers
    #[arg(long, value_enum, default_value_t = Encoding::Utf8, value_name = "ENCODING", alias = "payload-format")]
    pub(crate) value_format: Encoding,
    /// How keys are printed
    #[arg(long, value_enum, default_value_t = Encoding::Utf8, value_name = "ENCODING")]
    pub(crate) key_format: Encoding,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Read only so many bytes of each log
    #[arg(long, hide = true, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
    /// Accepted and not needed
    #[arg(long, hide = true, value_name = "N")]
    pub(crate) max_message_size: Option<u64>,
    /// Of indexes only whether they pass the check of a broker that starts
    #[arg(long, hide = true)]
    pub(crate) index_sanity_check: bool,
    /// Of indexes only where they differ from the log
    #[arg(long, hide = true)]
    pub(crate) verify_index_only: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Recover {
    /// The segment; it is only read
    #[arg(value_name = "SRC")]
    pub(crate) source: PathBuf,
    /// The new file, which must not exist
    #[arg(long, short, value_name = "DST")]
    pub(crate) output: PathBuf,
    /// Stop at the first damage, where a broker would cut the file
    #[arg(long)]
    pub(crate) like_broker: bool,
    #[command(flatten)]
    pub(crate) checks: Checks,
}

#[derive(ClapArgs)]
pub(crate) struct Bench {
    /// The segment
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Format of the file
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
}

/// What is checked, and by whose rules.
#[derive(ClapArgs)]
pub(crate) struct Checks {
    /// How far to look
    #[arg(long, value_enum, default_value_t = Depth::Records)]
    pub(crate) depth: Depth,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Whose rules decide what is an error: strict, or exactly those of the reference implementation
    #[arg(long, value_enum, default_value_t = Conformance::Strict)]
    pub(crate) conformance: Conformance,
    /// Where the bytes come from: a segment file, a producer, or another broker
    #[arg(long, value_enum, default_value_t = Origin::Stored)]
    pub(crate) origin: Origin,
}

#[derive(ClapArgs)]
pub(crate) struct Cpu {
    /// One JSON object per operation and line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Selftest {
    /// How long to go on, seconds; 0 for one short pass
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) seconds: u32,
    /// Threads, each on a core of its own; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// One JSON object per kernel and line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Depth {
    /// Lengths and the order of batches
    Frames,
    /// And checksums
    Checksums,
    /// And every record
    Records,
}

impl From<Depth> for batchwise::Depth {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Frames => Self::Frames,
            Depth::Checksums => Self::Checksums,
            Depth::Records => Self::Records,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Told from the content of each file
    Auto,
    /// Apache Kafka
    Kafka,
    /// Apache Iggy
    Iggy,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Conformance {
    /// Also what the reference implementation lets pass only because it does not look
    Strict,
    /// What the reference implementation refuses, and nothing else
    Reference,
}

impl From<Conformance> for batchwise::Conformance {
    fn from(conformance: Conformance) -> Self {
        match conformance {
            Conformance::Strict => Self::Strict,
            Conformance::Reference => Self::Reference,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Origin {
    /// From a segment file
    Stored,
    /// From a producer
    Client,
    /// From another broker
    Replica,
}

impl From<Origin> for batchwise::Origin {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Stored => Self::Stored,
            Origin::Client => Self::Client,
            Origin::Replica => Self::Replica,
        }
    }
}
