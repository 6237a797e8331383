//! What kafka-dump-log says after all files, on the standard error stream. None of it is damage.

use super::what::What;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Pairs that are kept of one file.
const MAX: usize = 10_000;

/// Offsets of records that do not follow each other, as after compaction.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    last: Option<i64>,
    pairs: Pairs,
}

impl Gaps {
    /// A record comes by.
    #[inline]
    pub(super) fn record(&mut self, offset: i64, what: What) {
        if let Some(last) = self.last.replace(offset)
            && last.wrapping_add(1) != offset
            && what.wants_all()
            && !what.json
        {
            self.pairs.add(last, offset);
        }
    }
}

/// The last pairs of numbers out of many.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    kept: VecDeque<(i64, i64)>,
    left_out: u64,
}

impl Pairs {
    pub(super) fn add(&mut self, a: i64, b: i64) {
        if self.kept.len() == MAX {
            self.kept.pop_front();
            self.left_out += 1;
        }
        self.kept.push_back((a, b));
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// A kind of remark: its heading, and what stands before and between the numbers of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// An entry of an index and the last offset of the batch that it points at.
    Index,
    /// An entry of a time index and the greatest timestamp of its batch.
    Timestamp,
    /// An entry of a time index and the one before it, which is not older.
    Order,
    /// An entry of a time index and the last offset of the batch that has its offset amid.
    NotFound,
    /// Records that do not follow each other.
    Gap,
}

impl About {
    /// In the order in which they are printed.
    const ALL: [About; 5] = [About::Index, About::Timestamp, About::Order, About::NotFound, About::Gap];

    fn heading(self, file: &Path) -> String {
        let file = file.display();
        match self {
            About::Index => format!("Mismatches in :{file}"),
            About::Timestamp => format!("Found timestamp mismatch in :{file}"),
            About::Order => format!("Found out of order timestamp in :{file}"),
            About::NotFound => "The following indexed offsets are not found in the log.".to_owned(),
            About::Gap => format!("Non-consecutive offsets in {file}"),
        }
    }

    fn line(self, (a, b): (i64, i64)) -> String {
        match self {
            About::Index => format!("  Index offset: {a}, log offset: {b}"),
            About::Timestamp => format!("  Index timestamp: {a}, log timestamp: {b}"),
            About::Order => format!("  Index timestamp: {a}, Previously indexed timestamp: {b}"),
            About::NotFound => format!("Indexed offset: {a}, found log offset: {b}"),
            About::Gap => format!("  {a} is followed by {b}"),
        }
    }
}

/// All remarks of a run.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    all: Vec<(About, PathBuf, Pairs)>,
}

impl Remarks {
    pub(super) fn add(&mut self, about: About, file: &Path, pairs: Pairs) {
        if !pairs.is_empty() {
            self.all.push((about, std::path::absolute(file).unwrap_or_else(|_| file.to_owned()), pairs));
        }
    }

    pub(super) fn gaps(&mut self, file: &Path, gaps: Gaps) {
        self.add(About::Gap, file, gaps.pairs);
    }

    /// Prints them, kind by kind.
    pub(super) fn print(&self) {
        let mut err = io::BufWriter::new(io::stderr().lock());
        // There is nobody else to tell if nobody reads this.
        let _ = self.print_to(&mut err).and_then(|()| err.flush());
    }

    fn print_to(&self, err: &mut impl Write) -> io::Result<()> {
        for about in About::ALL {
            for (_, file, pairs) in self.all.iter().filter(|(of, ..)| *of == about) {
                writeln!(err, "{}", about.heading(file))?;
                // Of gaps the last one comes first.
                let last_first = about == About::Gap;
                for i in 0..pairs.kept.len() {
                    let i = if last_first { pairs.kept.len() - 1 - i } else { i };
                    writeln!(err, "{}", about.line(pairs.kept[i]))?;
                }
                if pairs.left_out > 0 {
                    writeln!(err, "  and {} before these", pairs.left_out)?;
                }
            }
        }
        Ok(())
    }
}
