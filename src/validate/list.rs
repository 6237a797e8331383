//! A list of batches that lie anywhere in memory.

use alloc::vec::Vec;

use super::walk::torn;
use super::{Batch, Collector, Finding, Report, Sink, Validator};
use crate::formats::{self, Defect, Format, Frame, Scratch, Summary};
use crate::{Detail, Error, ErrorKind};

/// Most frames that are checked together.
const RUN: usize = 64;

/// One batch of a list.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its format; `None` to have it told from the bytes, or to take that of the validator.
    pub format: Option<&'static dyn Format>,
    /// The whole batch and nothing else.
    pub bytes: &'a [u8],
}

impl<'a> From<&'a [u8]> for Item<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Item { format: None, bytes }
    }
}

impl Validator<'_> {
    /// Checks batches that lie anywhere, each on its own. Batch `i` of the report is item `i` of the list; offsets
    /// count from the start of the item.
    ///
    /// ```
    /// use batchwise::{Validator, kafka};
    /// # let bytes: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
    /// let mut damaged = bytes.to_vec();
    /// damaged[80] ^= 1;
    /// let report = Validator::new(&kafka::Log).validate_list(&[bytes.into(), damaged[..].into()]);
    /// assert_eq!((report.totals.batches, report.findings[0].batch), (2, Some(1)));
    /// ```
    #[must_use]
    pub fn validate_list(&self, items: &[Item<'_>]) -> Report {
        let mut report = Report::default();
        self.validate_list_into(items, &mut report);
        report
    }

    /// The same into a report whose memory is used again.
    pub fn validate_list_into(&self, items: &[Item<'_>], report: &mut Report) {
        report.clear();
        #[cfg(feature = "rayon")]
        if super::parallel::pays(self, items.iter().map(|i| i.bytes.len()).sum()) {
            return super::parallel::validate_list(self, items, report);
        }
        self.list_into(items, 0, &mut Scratch::default(), report);
    }

    /// Checks `items`, the first of which is number `first` of its list, and adds to `report`.
    pub(super) fn list_into(&self, items: &[Item<'_>], first: u64, scratch: &mut Scratch, report: &mut Report) {
        let mut defects = Vec::new();
        let mut summaries = [Summary::default(); RUN];
        let mut at = 0;
        while at < items.len() {
            let mut frames = [Frame { offset: 0, bytes: &[] }; RUN];
            let format = self.format_of(&items[at]);
            let mut count = 0;
            // A broken frame ends the run, behind it.
            let broken = loop {
                let Some(item) = items.get(at + count).filter(|_| count < RUN) else { break None };
                if count > 0 && self.format_of(item) != format {
                    break None;
                }
                match frame_of(format, item.bytes) {
                    Ok(frame) => frames[count].bytes = frame,
                    Err(defect) => break Some(defect),
                }
                count += 1;
                if frames[count - 1].bytes.len() < item.bytes.len() {
                    break Some(trailing(frames[count - 1].bytes.len(), item.bytes.len()));
                }
            };
            let (frames, summaries) = (&frames[..count], &mut summaries[..count]);
            defects.clear();
            format.check_many(frames, &self.options, scratch, summaries, &mut |i, d| defects.push((i, d)));
            if let Some(defect) = broken {
                // Either behind the last frame or instead of one more.
                let is_behind = count > 0 && frames[count - 1].bytes.len() < items[at + count - 1].bytes.len();
                defects.push((if is_behind { count - 1 } else { count }, defect));
            }
            let run = defects.last().map_or(count, |(i, _)| count.max(i + 1));
            let mut defects = defects.iter().peekable();
            for i in 0..run {
                let summary = summaries.get(i).copied().unwrap_or(Summary { damaged: true, ..Summary::default() });
                let len = items[at + i].bytes.len() as u64;
                let number = first + (at + i) as u64;
                let mut batch = Batch { number, offset: 0, len, format, summary, errors: 0, warnings: 0 };
                while let Some((_, defect)) = defects.next_if(|(of, _)| *of == i) {
                    self.tell(&mut batch, *defect, report);
                }
                self.count(&batch, report);
                if self.stop_at_first && batch.errors > 0 {
                    return;
                }
            }
            at += run;
        }
    }

    fn tell(&self, batch: &mut Batch, defect: Defect, report: &mut Report) {
        if self.stop_at_first && batch.errors > 0 {
            return;
        }
        batch.count(defect.severity);
        report.totals.count(defect.severity);
        Collector { report, max: self.max_findings, list: false }.finding(Finding::of(batch, defect));
    }

    fn count(&self, batch: &Batch, report: &mut Report) {
        report.totals.bytes += batch.len;
        report.totals.batches += 1;
        report.totals.records += batch.summary.records;
        if self.list_batches {
            report.batches.push(*batch);
        }
    }

    /// The format of an item: given, or one whose length field fits the item exactly, or told from its bytes.
    fn format_of(&self, item: &Item<'_>) -> &'static dyn Format {
        let len = item.bytes.len() as u64;
        let fits = |f: &&dyn Format| f.peek(item.bytes).is_some() && f.frame_len(item.bytes, 0) == Ok(len);
        item.format
            .or(self.format)
            .or_else(|| formats::ALL.iter().copied().find(fits))
            .unwrap_or_else(|| self.first_format(item.bytes))
    }
}

/// The frame at the start of `bytes`.
fn frame_of<'a>(format: &dyn Format, bytes: &'a [u8]) -> Result<&'a [u8], Defect> {
    let available = bytes.len() as u64;
    if bytes.len() < format.prefix_len() {
        return Err(torn(format.prefix_len() as u64, available, 0));
    }
    let len = format.frame_len(bytes, 0)?;
    usize::try_from(len).ok().and_then(|n| bytes.get(..n)).ok_or_else(|| torn(len, available, 0))
}

fn trailing(frame: usize, there: usize) -> Defect {
    let detail = Detail::Bytes { count: (there - frame) as u64 };
    Error::new(ErrorKind::TrailingBytes, detail, "batch", frame as u64).into()
}
