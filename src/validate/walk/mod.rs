//! Hops through an input frame by frame, and finds its way back after damage.

mod damage;
mod sound;

use alloc::vec::Vec;

use super::input::Input;
use super::search::{in_pieces, is_intact};
use super::{Batch, DETECT_IN, Finding, Sink, Totals, Validator};
#[cfg(feature = "std")]
use super::{Collector, Report};
use crate::formats::{Defect, Depth, Format, Order, Scratch, Severity, Summary};
use crate::{Detail, Error, ErrorKind};
use sound::Next;

/// Longest frame that is held as a whole before its checksum was found to be right.
pub(super) const WHOLE: u64 = 8 << 20;
/// A walk through one input, or through a part of it.
#[derive(Debug)]
pub(crate) struct Walk<'p> {
    validator: Validator<'p>,
    format: &'static dyn Format,
    /// Whether the format is known, or is still to be told from the first bytes.
    settled: bool,
    /// Where the walk began, and where the next frame is expected.
    begin: u64,
    position: u64,
    totals: Totals,
    order: Order,
    /// The first frame of a walk that began amid the input: how it stands to what is before is told when that is known.
    joint: Option<(Batch, Option<u64>)>,
    amid: bool,
    stopped: bool,
    /// Start and length of the frame before, if nobody looked at its checksum.
    unverified: Option<(u64, u64)>,
    /// What was found in the frame at the position; memory that is used again.
    defects: Vec<Defect>,
    scratch: Scratch,
}

impl<'p> Walk<'p> {
    /// A walk from the start of an input.
    pub(crate) fn new(validator: Validator<'p>) -> Self {
        let order = Order { base_offset: validator.base_offset, ..Order::default() };
        Walk {
            validator,
            format: validator.formats()[0],
            settled: false,
            begin: 0,
            position: 0,
            totals: Totals::default(),
            order,
            joint: None,
            amid: false,
            stopped: false,
            unverified: None,
            defects: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Begins anew at `position` amid the input, at a frame of `format`; keeps its memory.
    #[cfg(feature = "std")]
    pub(crate) fn restart(&mut self, position: u64, format: &'static dyn Format) {
        (self.format, self.settled) = (format, true);
        (self.begin, self.position) = (position, position);
        self.totals = Totals::default();
        self.order = Order { base_offset: self.validator.base_offset, ..Order::default() };
        (self.joint, self.amid, self.stopped, self.unverified) = (None, true, false, None);
    }

    /// Takes that memory and hands over its own.
    #[cfg(feature = "rayon")]
    pub(super) fn swap_scratch(&mut self, scratch: &mut Scratch) {
        core::mem::swap(&mut self.scratch, scratch);
    }

    /// Looks at the input as a whole, after all of it was walked through.
    pub(crate) fn end(&mut self, sink: &mut dyn Sink) {
        let Walk { format, position, totals, .. } = *self;
        let options = self.validator.options;
        format.check_end(totals.batches, position, &options, &mut |defect| self.report(None, defect, sink));
    }

    /// What was read so far.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    #[cfg(feature = "std")]
    /// Whether the walk stopped before the end, as it was told to.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Walks over every frame that starts before `until`.
    pub(crate) fn advance<I: Input>(&mut self, input: &mut I, until: u64, sink: &mut dyn Sink) -> Result<(), I::Error> {
        let wants_batches = sink.wants_batches() || sink.wants_bytes();
        while self.position < until.min(input.len()) && !self.stopped {
            match self.check_at_hand(input, until, !wants_batches)? {
                Next::Passed => {}
                Next::Frame(len, summary) => self.settle(len, summary, input, sink)?,
                Next::Long(len) => self.long(len, input, sink)?,
                Next::Bad(defect) => self.hop(defect, input, sink)?,
            }
        }
        self.totals.bytes = self.position - self.begin;
        Ok(())
    }

    /// The format of what stands at `at`: the one so far, unless it cannot be that and is an intact frame of another one,
    /// however much of the input is at hand.
    fn format_at<I: Input>(&self, at: u64, input: &mut I) -> Result<&'static dyn Format, I::Error> {
        let head_len = self.validator.head_len();
        if self.validator.doubts(self.format, input.bytes(at, head_len)?) {
            for format in self.validator.formats().iter().copied() {
                let head = input.bytes(at, head_len)?;
                let len = if head.len() < format.prefix_len() { None } else { format.frame_len(head, at).ok() };
                if let Some(len) = len
                    && is_intact(format, input, at, len)?
                {
                    return Ok(format);
                }
            }
        }
        Ok(self.format)
    }

    /// Reports what was found in the frame that was checked, and goes past it.
    fn settle<I: Input>(
        &mut self,
        len: u64,
        summary: Summary,
        input: &mut I,
        sink: &mut dyn Sink,
    ) -> Result<(), I::Error> {
        let mut defects = core::mem::take(&mut self.defects);
        let mut batch = self.next_batch(len, summary);
        let placed = self.place(&mut batch, input, sink);
        for defect in defects.drain(..) {
            self.report(Some(&mut batch), defect, sink);
        }
        self.defects = defects;
        placed?;
        self.finish(&batch, input, sink)
    }

    /// A frame that is not at hand: fetches it if it is short enough or intact, else tells that it is damaged.
    fn long<I: Input>(&mut self, len: u64, input: &mut I, sink: &mut dyn Sink) -> Result<(), I::Error> {
        let Walk { position, format, .. } = *self;
        let depth = self.validator.options.depth;
        let verdict =
            if len > WHOLE && depth > Depth::Frames { in_pieces(format, input, position, len)? } else { None };
        let mut claims = format.peek(input.bytes(position, format.head_len() as u64)?).unwrap_or_default();
        if len > WHOLE && depth == Depth::Frames {
            let mut batch = self.next_batch(len, claims);
            self.place(&mut batch, input, sink)?;
            return self.finish(&batch, input, sink);
        }
        if let Some(Err(error)) = verdict {
            (claims.damaged, claims.records) = (true, 0);
            let mut batch = self.next_batch(len, claims);
            self.report(Some(&mut batch), error.into(), sink);
            sink.batch(&batch, &[]);
            self.stopped |= !sink.wants_more();
            return if self.stopped { Ok(()) } else { self.past_damaged(&batch, input, sink) };
        }
        // Now it is worth the memory. If it is still not there, the input shrank.
        let there = input.bytes(position, len)?.len() as u64;
        if there < len { self.hop(torn(len, there, position), input, sink) } else { Ok(()) }
    }

    #[inline]
    fn next_batch(&mut self, len: u64, summary: Summary) -> Batch {
        let (number, offset, format) = (self.totals.batches, self.position, self.format);
        self.totals.batches += 1;
        self.totals.records += summary.records;
        Batch { number, offset, len, format, summary, errors: 0, warnings: 0 }
    }

    /// Hands over the batch and goes past it.
    fn finish<I: Input>(&mut self, batch: &Batch, input: &mut I, sink: &mut dyn Sink) -> Result<(), I::Error> {
        if sink.wants_bytes() {
            let bytes = input.bytes(batch.offset, batch.len)?;
            sink.batch(batch, &bytes[..bytes.len().min(usize::try_from(batch.len).unwrap_or(usize::MAX))]);
        } else {
            sink.batch(batch, &[]);
        }
        self.stopped |= !sink.wants_more();
        if batch.summary.damaged && !self.stopped {
            return self.past_damaged(batch, input, sink);
        }
        self.unverified = (self.validator.options.depth == Depth::Frames).then_some((batch.offset, batch.len));
        self.position = batch.offset + batch.len;
        Ok(())
    }

    /// Compares the batch with its neighbours.
    #[inline]
    fn place<I: Input>(&mut self, batch: &mut Batch, input: &mut I, sink: &mut dyn Sink) -> Result<(), I::Error> {
        if batch.summary.damaged {
            return Ok(());
        }
        let lowest = batch.summary.lowest_offset();
        self.order.is_first = batch.number == 0 && !self.amid;
        if self.order.next_offset != lowest || lowest.is_none() {
            // Not what was found in the next frame, which may not be at hand: the same look wherever a run ends.
            self.order.ahead = self.claims_at(batch.offset + batch.len, input)?.and_then(|c| c.lowest_offset());
        }
        if self.amid && batch.number == 0 {
            self.joint = Some((*batch, self.order.ahead));
            self.order.go_on_from(&batch.summary);
        } else {
            self.compare(batch, sink);
        }
        Ok(())
    }

    /// Reports how the batch stands to its neighbours.
    #[inline]
    fn compare(&mut self, batch: &mut Batch, sink: &mut dyn Sink) {
        // Borrowed piece by piece: a copy of the order would wait for its fields to be written.
        let misplaced = self.order.ahead.is_some() && self.order.is_misplaced(&batch.summary);
        if self.order.after_damage && !misplaced {
            self.lost_before(batch, sink);
        }
        let Walk { order, format, validator, totals, stopped, .. } = self;
        let (summary, offset) = (batch.summary, batch.offset);
        format.check_order(order, &summary, offset, &validator.options, &mut |defect| {
            tell(validator, totals, stopped, Some(batch), defect, sink);
        });
        (self.order.ahead, self.order.resumes) = (None, false);
        if misplaced {
            // It leaves a hole where it should have been.
            self.order.after_damage = true;
        } else {
            self.order.go_on_from(&summary);
        }
    }

    /// Reports the offsets that are missing before the batch because of damage.
    #[cold]
    fn lost_before(&mut self, batch: &mut Batch, sink: &mut dyn Sink) {
        if let (Some(first), Some(before)) = (batch.summary.first_offset, self.order.next_offset)
            && first > before
        {
            let lost = Detail::Offsets { first: before, last: first - 1 };
            let error = Error::new(ErrorKind::OffsetGap, lost, "batch", batch.offset);
            self.report(Some(batch), Defect { error, severity: Severity::Info }, sink);
        }
    }

    fn report(&mut self, batch: Option<&mut Batch>, defect: Defect, sink: &mut dyn Sink) {
        tell(&self.validator, &mut self.totals, &mut self.stopped, batch, defect, sink);
    }

    /// What the header at `at` claims.
    fn claims_at<I: Input>(&mut self, at: u64, input: &mut I) -> Result<Option<Summary>, I::Error> {
        let head = input.bytes(at, self.format.head_len() as u64)?;
        Ok(self.format.peek(head))
    }

    /// Goes on as `part` did, which began amid the input and found `report`.
    ///
    /// That is what this walk would have done itself only if it stands where the part began and the first batch there
    /// fits in. Otherwise nothing happens, and the answer is no.
    #[cfg(feature = "std")]
    pub(crate) fn absorb(&mut self, part: &Walk<'_>, found: &mut Report, report: &mut Report) -> bool {
        let Some((mut batch, ahead)) = part.joint else { return false };
        let mut order = Order { ahead, ..self.order };
        order.is_first = false;
        let mut would_stop = part.totals.errors > 0;
        let Validator { options, stop_at_first, max_findings: max, .. } = self.validator;
        if stop_at_first {
            batch.format.check_order(&order, &batch.summary, batch.offset, &options, &mut |defect| {
                would_stop |= defect.severity == Severity::Error;
            });
        }
        let same = !self.settled || self.format == batch.format;
        // What the part's first batch leaves open, its later ones are compared with from before it, which it did not know.
        let knew = (batch.summary.next_offset.is_some() || self.order.next_offset.is_none())
            && (batch.summary.epoch.is_some() || self.order.epoch.is_none());
        let fits = knew
            && same
            && part.begin == self.position
            && batch.offset == part.begin
            && !order.is_misplaced(&batch.summary);
        if !fits || self.stopped || (stop_at_first && would_stop) {
            return false;
        }
        let shift = self.totals.batches;
        batch.number += shift;
        self.order = order;
        self.format = batch.format;
        self.compare(&mut batch, &mut Collector { report, max, list: false });
        self.totals += part.totals;
        report.append(found, shift, max);
        if let Some(first) = report.batches.get_mut(shift as usize) {
            first.errors += batch.errors;
            first.warnings += batch.warnings;
        }
        let Order { base_offset, next_offset, epoch, .. } = self.order;
        let (next_offset, epoch) = (part.order.next_offset.or(next_offset), part.order.epoch.or(epoch));
        self.order = Order { base_offset, next_offset, epoch, ..part.order };
        self.totals.bytes = part.position - self.begin;
        (self.position, self.format, self.unverified) = (part.position, part.format, part.unverified);
        true
    }
}

/// Counts a defect and tells it, unless the walk has stopped; stops it if that is wanted.
#[cold]
fn tell(
    validator: &Validator<'_>,
    totals: &mut Totals,
    stopped: &mut bool,
    batch: Option<&mut Batch>,
    defect: Defect,
    sink: &mut dyn Sink,
) {
    let finding = match batch {
        Some(batch) => {
            batch.count(defect.severity);
            Finding::of(batch, defect)
        }
        None => Finding::outside(defect),
    };
    if !*stopped {
        totals.count(defect.severity);
        sink.finding(finding);
        *stopped = validator.stop_at_first && defect.severity == Severity::Error;
    }
}

/// The last entry wants `needed` bytes and there are `available`.
pub(super) fn torn(needed: u64, available: u64, offset: u64) -> Defect {
    Error::new(ErrorKind::TornTail, Detail::Length { needed, available }, "batch", offset).into()
}
