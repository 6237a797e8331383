//! What is asked for.

use super::put::Encoding;
use crate::args::Dump;
use std::str::FromStr;

/// Offsets or timestamps from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: i128,
    pub(crate) last: i128,
}

impl Range {
    pub(super) const ALL: Range = Range { first: i128::MIN, last: i128::MAX };

    pub(super) fn contains(self, value: impl Into<i128>) -> bool {
        let value = value.into();
        self.first <= value && value <= self.last
    }

    /// Whether any value from `first` to `last` is in the range.
    pub(super) fn meets(self, first: impl Into<i128>, last: impl Into<i128>) -> bool {
        first.into() <= self.last && self.first <= last.into()
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<i128>().map_err(|_| format!("{text:?} is no whole number"));
        let bound = |text: &str, open| if text.is_empty() { Ok(open) } else { number(text) };
        let range = match text.split_once("..") {
            Some(("", "")) => return Err("A.., ..B or A..B: a bound is missing".to_owned()),
            Some((first, last)) => {
                // As people write it who know it from Rust.
                let last = last.strip_prefix('=').unwrap_or(last);
                Range { first: bound(first, Range::ALL.first)?, last: bound(last, Range::ALL.last)? }
            }
            None => Range { first: number(text)?, last: number(text)? },
        };
        if range.first > range.last {
            return Err(format!("{} is after {}", range.first, range.last));
        }
        Ok(range)
    }
}

/// What is printed of each batch and record.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    pub(super) json: bool,
    /// A line for each record.
    pub(super) records: bool,
    /// What such a line has.
    pub(super) metadata: bool,
    pub(super) keys: bool,
    pub(super) values: bool,
    pub(super) header_values: bool,
    pub(super) offsets: Range,
    pub(super) timestamps: Range,
    pub(super) key_format: Encoding,
    pub(super) value_format: Encoding,
}

impl What {
    pub(super) fn new(args: &Dump) -> Self {
        What {
            json: args.json,
            records: args.records || args.keys || args.headers || args.deep_iteration,
            metadata: !args.skip_record_metadata,
            keys: args.records || args.keys,
            values: args.records,
            header_values: args.headers,
            offsets: args.offset.unwrap_or(Range::ALL),
            timestamps: args.timestamp.unwrap_or(Range::ALL),
            key_format: args.key_format,
            value_format: args.value_format,
        }
    }

    pub(super) fn wants_all(&self) -> bool {
        self.offsets == Range::ALL && self.timestamps == Range::ALL
    }

    /// Whether a record is asked for.
    #[inline]
    pub(super) fn wants(&self, offset: impl Into<i128>, timestamp: impl Into<i128>) -> bool {
        self.wants_all() || self.offsets.contains(offset) && self.timestamps.contains(timestamp)
    }
}
