//! Hops through an input in pieces, and finds its way back after damage.

use alloc::vec::Vec;

use super::{Finding, Totals, Validator};
use crate::formats::{Defect, Frame, Order, Severity, Summary};
use crate::{Detail, Error, ErrorKind};

/// A candidate longer than this is not waited for when searching after damage.
const SEARCH_LIMIT: usize = 8 << 20;

/// A walk through one input, fed piece by piece.
///
/// Feed it what is there; it consumes whole frames and tells what it wants to see at once next time.
#[derive(Debug)]
pub struct Walk {
    validator: Validator,
    position: u64,
    totals: Totals,
    before: Option<Summary>,
    /// Where the bytes begin that belong to no frame, while searching for the next one.
    lost_since: Option<u64>,
}

/// What [`Walk::feed`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Bytes consumed: feed what is behind them next.
    pub consumed: usize,
    /// How many bytes the next call needs to get on, at least. 0 at the end of the input.
    pub wanted: usize,
}

impl Walk {
    /// A walk from the start of an input.
    #[must_use]
    pub fn new(validator: Validator) -> Self {
        Walk { validator, position: 0, totals: Totals::default(), before: None, lost_since: None }
    }

    /// What was read so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Checks the whole frames at the start of `bytes`, which are followed by `after` more bytes of the input.
    pub fn feed(&mut self, bytes: &[u8], after: u64, finding: &mut dyn FnMut(Finding)) -> Fed {
        let format = self.validator.format;
        let mut frames = Vec::new();
        let mut at = 0;
        let wanted = loop {
            let rest = &bytes[at..];
            let left = rest.len() as u64 + after;
            let offset = self.position + at as u64;
            if left == 0 {
                break 0;
            }
            if self.lost_since.is_some() {
                match self.search(rest, after) {
                    Search::Found(skip) => {
                        at += skip;
                        self.report_lost(offset + skip as u64, finding);
                        continue;
                    }
                    Search::More { skip, wanted } => {
                        at += skip;
                        break wanted;
                    }
                    Search::Nothing => {
                        at = bytes.len();
                        self.report_lost(offset + left, finding);
                        break 0;
                    }
                }
            }
            if rest.len() < format.prefix_len() && after > 0 {
                break format.prefix_len();
            }
            match frame_at(&self.validator, rest, left, offset) {
                Ok(len) if len <= rest.len() => {
                    frames.push(Frame { offset, bytes: &rest[..len] });
                    at += len;
                }
                Ok(len) => break len,
                Err(defect) => {
                    self.flush(&mut frames, finding);
                    self.report(Finding { batch: None, first_offset: None, defect }, finding);
                    // Whatever follows does not come right after the frame before.
                    self.before = None;
                    if is_tail(&defect) {
                        at = bytes.len();
                        break 0;
                    }
                    self.lost_since = Some(offset);
                }
            }
        };
        self.flush(&mut frames, finding);
        self.position += at as u64;
        self.totals.bytes += at as u64;
        Fed { consumed: at, wanted }
    }

    fn flush(&mut self, frames: &mut Vec<Frame<'_>>, finding: &mut dyn FnMut(Finding)) {
        let checked = self.validator.check_frames(frames);
        let mut defects = checked.defects.into_iter().peekable();
        for (i, (frame, summary)) in frames.drain(..).zip(checked.summaries).enumerate() {
            let (batch, first_offset) = (Some(self.totals.batches), summary.first_offset);
            self.totals.batches += 1;
            self.totals.records += summary.records;
            if let Some(before) = self.before.replace(summary) {
                let Validator { format, options, .. } = self.validator;
                let mut order = Order::default();
                (order.next_offset, order.epoch) = (before.next_offset, before.epoch);
                format.check_order(&order, &summary, frame.offset, &options, &mut |defect| {
                    self.totals.count(defect.severity);
                    finding(Finding { batch, first_offset, defect });
                });
            }
            while let Some((_, defect)) = defects.next_if(|(of, _)| *of == i) {
                self.report(Finding { batch, first_offset, defect }, finding);
            }
        }
    }

    fn report(&mut self, found: Finding, finding: &mut dyn FnMut(Finding)) {
        self.totals.count(found.defect.severity);
        finding(found);
    }

    /// Tells how many bytes up to `end` belong to no frame.
    fn report_lost(&mut self, end: u64, finding: &mut dyn FnMut(Finding)) {
        if let Some(since) = self.lost_since.take() {
            let detail = Detail::Length { needed: 0, available: end - since };
            let error = Error::new(ErrorKind::UnreadableBytes, detail, "batch", since);
            let defect = Defect { error, severity: Severity::Info };
            self.report(Finding { batch: None, first_offset: None, defect }, finding);
        }
    }

    /// The next intact frame in `bytes`, not at their first byte.
    fn search(&self, bytes: &[u8], after: u64) -> Search {
        let format = self.validator.format;
        let left = bytes.len() as u64 + after;
        for skip in 1..bytes.len() {
            let rest = &bytes[skip..];
            if rest.len() < format.prefix_len() {
                return if after > 0 {
                    Search::More { skip: skip - 1, wanted: bytes.len() + 1 }
                } else {
                    Search::Nothing
                };
            }
            let Ok(len) = format.frame_len(rest, 0) else { continue };
            if len > left - skip as u64 {
                continue;
            }
            let Ok(len) = usize::try_from(len) else { continue };
            if len > rest.len() {
                if len > SEARCH_LIMIT {
                    continue;
                }
                return Search::More { skip: skip - 1, wanted: len + 1 };
            }
            if format.is_intact(&rest[..len]) {
                return Search::Found(skip);
            }
        }
        if after > 0 {
            Search::More { skip: bytes.len().saturating_sub(1), wanted: format.prefix_len() + 1 }
        } else {
            Search::Nothing
        }
    }
}

enum Search {
    /// An intact frame starts so many bytes on.
    Found(usize),
    /// None that starts in the first `skip` bytes after the first; with `wanted` bytes there the search can go on.
    More {
        skip: usize,
        wanted: usize,
    },
    Nothing,
}

/// Length of the frame at the start of `rest`, or the defect that stands there. `left` bytes of the input are left.
fn frame_at(validator: &Validator, rest: &[u8], left: u64, offset: u64) -> Result<usize, Defect> {
    let tail = |kind, detail, field| Error::new(kind, detail, field, offset).into();
    // Only a rest that is there as a whole can be told to be zeros.
    if rest.len() as u64 == left && rest.iter().all(|&b| b == 0) && rest.len() > validator.format.prefix_len() {
        let detail = Detail::Length { needed: 0, available: left };
        let error = Error::new(ErrorKind::ZeroTail, detail, "batch", offset);
        return Err(Defect { error, severity: validator.format.zero_tail() });
    }
    if left < validator.format.prefix_len() as u64 {
        let detail = Detail::Length { needed: validator.format.prefix_len() as u64, available: left };
        return Err(tail(ErrorKind::TornTail, detail, "batch"));
    }
    let len = validator.format.frame_len(rest, offset)?;
    match usize::try_from(len) {
        Ok(len) if len as u64 <= left => Ok(len),
        _ => {
            let detail = Detail::Length { needed: len, available: left };
            Err(tail(ErrorKind::TornTail, detail, "batch"))
        }
    }
}

/// Whether nothing can come behind the defect.
fn is_tail(defect: &Defect) -> bool {
    matches!(defect.error.kind(), ErrorKind::ZeroTail)
}
