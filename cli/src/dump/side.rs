//! Indexes and snapshots of producers.

use super::Run;
use super::put::Put;
use super::remarks::{About, Pairs};
use crate::args::Format as FormatArg;
use crate::open;
use crate::paths::shown;
use batchwise::kafka::sequence_before;
use batchwise::segment::{self, SideFile, SideKind};
use batchwise::validate::{Batch, Sink};
use batchwise::{Depth, Finding, Options, Severity, Validator, iggy, kafka};
use std::io;
use std::path::Path;

impl Run<'_> {
    /// Prints a file that lies beside a log.
    pub(super) fn side(&mut self, path: &Path) {
        if let Err(error) = self.try_side(path) {
            self.out.failed(path, &error);
        }
    }

    fn try_side(&mut self, path: &Path) -> io::Result<()> {
        let side = open::orphan(path, self.args.format)?;
        let side = side.ok_or_else(|| io::Error::other("such files beside logs of this format are not read"))?;
        self.begin(path);
        let check = side.check();
        let errors = check.findings.iter().filter(|f| f.defect.severity == Severity::Error);
        let told = self.out.damages;
        if !self.args.index_sanity_check {
            match side.kind {
                SideKind::OffsetIndex => self.offset_index(path, &side)?,
                SideKind::TimeIndex => self.time_index(path, &side)?,
                SideKind::TxnIndex => self.txn_index(path, &side),
                SideKind::ProducerSnapshot => self.snapshot(path, &side),
                _ => self.iggy_index(path, &side),
            }
        }
        for finding in errors {
            let error = finding.defect.error;
            self.out.damage(path, format_args!("{} {error}", error.kind().name()));
        }
        let len = std::fs::metadata(path)?.len();
        if len > side.bytes.len() as u64 {
            return Err(io::Error::other(format!("only its first {} bytes were read", side.bytes.len())));
        }
        if self.args.index_sanity_check && self.out.damages == told {
            self.out.buffer.text(&path.to_string_lossy()).text(" passed sanity check.");
            self.out.end();
        }
        Ok(())
    }

    /// Whether entries are printed, not only compared.
    fn prints(&self) -> bool {
        !self.args.verify_index_only
    }

    fn offset_index(&mut self, path: &Path, side: &SideFile) -> io::Result<()> {
        if side.bytes.len() < segment::OffsetIndexEntry::SIZE {
            return self.empty(path);
        }
        let start = Self::json_start(path, side.kind.name());
        let absolute = |relative: i32| side.base_offset.saturating_add_signed(relative.into());
        let mut entries: Vec<_> =
            side.offset_entries().map(|e| (absolute(e.relative_offset()), e.position())).collect();
        let is_blank = entries.is_empty();
        if is_blank {
            // The first entry of one that was only preallocated reads as this, and is printed so.
            entries.push((side.base_offset, 0));
        }
        for &(offset, position) in &entries {
            if self.prints() && self.what.offsets.contains(offset) {
                let out = &mut self.out.buffer;
                if self.what.json {
                    out.extend_from_slice(&start);
                    out.key("offset").number(offset).key("position").number(position).text("}");
                } else {
                    out.text("offset: ").number(offset).text(" position: ").number(position);
                }
                self.out.end();
            }
        }
        if is_blank {
            return Ok(());
        }
        let wanted = entries.iter().enumerate().map(|(i, &(_, position))| (i64::from(position), i));
        let Some(found) = self.look_up(path, Look::new(wanted, By::Position, entries.len()))? else { return Ok(()) };
        let mut mismatches = Pairs::default();
        for (&(offset, position), found) in entries.iter().zip(found) {
            match found {
                Some(found) if i128::from(found.last_offset) != i128::from(offset) => {
                    mismatches.add(offset as i64, found.last_offset);
                }
                Some(_) => {}
                None => self.out.damage(
                    path,
                    format_args!(
                        "the entry of offset {offset} points at byte {position} of the log, where no batch starts"
                    ),
                ),
            }
        }
        self.remarks.add(About::Index, path, mismatches);
        Ok(())
    }

    fn time_index(&mut self, path: &Path, side: &SideFile) -> io::Result<()> {
        let start = Self::json_start(path, side.kind.name());
        let absolute = |relative: i32| side.base_offset.saturating_add_signed(relative.into());
        let entries: Vec<_> = side.time_entries().map(|e| (e.timestamp(), absolute(e.relative_offset()))).collect();
        for &(timestamp, offset) in &entries {
            if self.prints() && self.what.wants(offset, timestamp) {
                let out = &mut self.out.buffer;
                if self.what.json {
                    out.extend_from_slice(&start);
                    out.key("timestamp").number(timestamp).key("offset").number(offset).text("}");
                } else {
                    out.text("timestamp: ").number(timestamp).text(" offset: ").number(offset);
                }
                self.out.end();
            }
        }
        let wanted = entries.iter().enumerate().map(|(i, &(_, offset))| (i64::try_from(offset).unwrap_or(i64::MAX), i));
        let Some(found) = self.look_up(path, Look::new(wanted, By::Offset, entries.len()))? else { return Ok(()) };
        let (mut mismatches, mut order, mut missing) = (Pairs::default(), Pairs::default(), Pairs::default());
        let mut before = -1;
        for (&(timestamp, offset), found) in entries.iter().zip(found) {
            match found {
                Some(found) if i128::from(found.last_offset) == i128::from(offset) => {
                    if found.timestamp != timestamp {
                        mismatches.add(timestamp, found.timestamp);
                    }
                    if before >= timestamp {
                        order.add(timestamp, before);
                    }
                }
                found => missing.add(offset as i64, found.map_or(-1, |found| found.last_offset)),
            }
            before = timestamp;
        }
        self.remarks.add(About::Timestamp, path, mismatches);
        self.remarks.add(About::Order, path, order);
        self.remarks.add(About::NotFound, path, missing);
        Ok(())
    }

    fn txn_index(&mut self, path: &Path, side: &SideFile) {
        let start = Self::json_start(path, side.kind.name());
        for entry in side.aborted_transactions() {
            let numbers = [
                ("version", "version: ", entry.version().into()),
                ("producer_id", " producerId: ", entry.producer_id()),
                ("first_offset", " firstOffset: ", entry.first_offset()),
                ("last_offset", " lastOffset: ", entry.last_offset()),
                ("last_stable_offset", " lastStableOffset: ", entry.last_stable_offset()),
            ];
            self.numbers(&start, &numbers);
        }
    }

    /// A line of numbers, each with its name in JSON and what stands before it in text.
    fn numbers(&mut self, start: &[u8], numbers: &[(&str, &str, i64)]) {
        if !self.prints() {
            return;
        }
        let out = &mut self.out.buffer;
        if self.what.json {
            out.extend_from_slice(start);
        }
        for (name, text, number) in numbers {
            if self.what.json { out.key(name) } else { out.text(text) }.number(*number);
        }
        if self.what.json {
            out.push(b'}');
        }
        self.out.end();
    }

    fn snapshot(&mut self, path: &Path, side: &SideFile) {
        let start = Self::json_start(path, side.kind.name());
        for entry in side.producers().take_while(|_| self.args.format != FormatArg::Iggy) {
            let transaction = Some(entry.current_txn_first_offset()).filter(|&first| first >= 0);
            let has_data = entry.last_offset() >= 0;
            let (last, delta) = (entry.last_sequence(), entry.offset_delta());
            let first = sequence_before(last, delta);
            let out = &mut self.out.buffer;
            if self.what.json {
                out.extend_from_slice(&start);
                out.key("producer_id").number(entry.producer_id()).key("producer_epoch").number(entry.epoch());
                out.key("coordinator_epoch").number(entry.coordinator_epoch());
                out.key("current_txn_first_offset").number_or_null(transaction);
                out.key("last_timestamp").number(entry.timestamp());
                out.key("first_sequence").number_or_null(has_data.then_some(first));
                out.key("last_sequence").number_or_null(has_data.then_some(last));
                out.key("last_offset").number_or_null(has_data.then(|| entry.last_offset()));
                out.key("offset_delta").number_or_null(has_data.then_some(delta)).text("}");
            } else {
                out.text("producerId: ").number(entry.producer_id()).text(" producerEpoch: ").number(entry.epoch());
                out.text(" coordinatorEpoch: ").number(entry.coordinator_epoch());
                out.text(" currentTxnFirstOffset: ").optional_long(transaction);
                // With its space even where nothing follows.
                out.text(" lastTimestamp: ").number(entry.timestamp()).text(" ");
                if has_data {
                    out.text("firstSequence: ").number(first).text(" lastSequence: ").number(last);
                    out.text(" lastOffset: ").number(entry.last_offset()).text(" offsetDelta: ").number(delta);
                    out.text(" timestamp: ").number(entry.timestamp());
                }
            }
            self.out.end();
        }
    }

    fn iggy_index(&mut self, path: &Path, side: &SideFile) {
        let start = Self::json_start(path, side.kind.name());
        for entry in iggy::index_entries(&side.bytes) {
            if !self.what.wants(entry.base_offset(), entry.base_timestamp()) {
                continue;
            }
            let out = &mut self.out.buffer;
            if self.what.json {
                out.extend_from_slice(&start);
                out.key("base_offset").number(entry.base_offset()).key("base_timestamp").number(entry.base_timestamp());
                out.key("position").number(entry.position()).text("}");
            } else {
                out.text("offset: ").number(entry.base_offset()).text(" timestamp: ").number(entry.base_timestamp());
                out.text(" position: ").number(entry.position());
            }
            self.out.end();
        }
    }

    fn empty(&mut self, path: &Path) -> io::Result<()> {
        if !self.what.json {
            self.out.buffer.text(&path.to_string_lossy()).text(" is empty.");
            self.out.end();
        }
        Ok(())
    }

    /// Looks entries up in the log beside; `None` if there is none.
    fn look_up(&mut self, path: &Path, mut look: Look) -> io::Result<Option<Vec<Option<Found>>>> {
        let log = path.with_extension("log");
        if !log.is_file() {
            self.out.aside(format_args!("batchwise: {}: there is no log beside it to compare with", shown(path)));
            return Ok(None);
        }
        let mut options = Options::default();
        options.depth = Depth::Frames;
        segment::verify(&open::open(&log)?, Validator::new(&kafka::Log).options(options), &mut look)?;
        Ok(Some(look.found))
    }
}

/// What the log has where an entry points.
#[derive(Clone, Copy)]
struct Found {
    last_offset: i64,
    /// The greatest of the batch, by its header.
    timestamp: i64,
}

/// What entries are looked up by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Where a batch starts.
    Position,
    /// The first batch that ends with this offset or a later one.
    Offset,
}

/// Looks up entries in one walk through a log.
struct Look {
    /// Key and number of each entry, by the keys.
    wanted: Vec<(i64, usize)>,
    next: usize,
    by: By,
    found: Vec<Option<Found>>,
}

impl Look {
    fn new(wanted: impl Iterator<Item = (i64, usize)>, by: By, count: usize) -> Self {
        let mut wanted: Vec<_> = wanted.collect();
        wanted.sort_unstable();
        Look { wanted, next: 0, by, found: vec![None; count] }
    }
}

impl Sink for Look {
    fn finding(&mut self, _: Finding) {}

    fn batch(&mut self, batch: &Batch, _: &[u8]) {
        let Some(last) = batch.summary.next_offset.and_then(|next| i64::try_from(next - 1).ok()) else { return };
        let found = Found { last_offset: last, timestamp: batch.summary.timestamp.unwrap_or(-1) };
        let position = i64::try_from(batch.offset).unwrap_or(i64::MAX);
        let key = if self.by == By::Position { position } else { last };
        while let Some(&(wanted, entry)) = self.wanted.get(self.next).filter(|(wanted, _)| *wanted <= key) {
            if wanted == key || self.by == By::Offset {
                self.found[entry] = Some(found);
            }
            self.next += 1;
        }
    }

    fn wants_more(&self) -> bool {
        self.next < self.wanted.len()
    }
}
