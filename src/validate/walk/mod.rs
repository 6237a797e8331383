//! Hops through an input frame by frame, and finds its way back after damage.

mod damage;

use alloc::vec::Vec;

use super::input::Input;
use super::search::{in_pieces, is_intact};
use super::{Batch, Collector, DETECT_IN, Finding, Report, Sink, Totals, Validator};
use crate::formats::{Defect, Depth, Format, Frame, Options, Order, Scratch, Severity, Summary};
use crate::{Detail, Error, ErrorKind};

/// Longest frame that is held as a whole before its checksum was found to be right.
pub(super) const WHOLE: u64 = 8 << 20;
/// Most frames that are checked together.
pub(super) const RUN: usize = 64;

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
    /// How many frames to check together next; few after damage, which makes the work behind it void.
    run: usize,
    summaries: Vec<Summary>,
    lens: Vec<u64>,
    defects: Vec<(usize, Defect)>,
    scratch: Scratch,
}

/// What stands at the position.
enum Next {
    /// Frames, which were checked.
    Run,
    /// A frame so long that it is not at hand.
    Long(u64),
    /// No frame.
    Bad(Defect),
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
            run: RUN,
            summaries: Vec::new(),
            lens: Vec::new(),
            defects: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Begins anew at `position` amid the input, at a frame of `format`; keeps its memory.
    pub(crate) fn restart(&mut self, position: u64, format: &'static dyn Format) {
        (self.format, self.settled) = (format, true);
        (self.begin, self.position) = (position, position);
        self.totals = Totals::default();
        self.order = Order { base_offset: self.validator.base_offset, ..Order::default() };
        (self.joint, self.amid, self.stopped, self.unverified, self.run) = (None, true, false, None, RUN);
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
        while self.position < until.min(input.len()) && !self.stopped {
            match self.gather(input, until)? {
                Next::Run => self.settle(input, sink)?,
                Next::Long(len) => self.long(len, input, sink)?,
                Next::Bad(defect) => self.hop(defect, input, sink)?,
            }
        }
        self.totals.bytes = self.position - self.begin;
        Ok(())
    }

    /// Checks the frames at the position that are at hand.
    fn gather<I: Input>(&mut self, input: &mut I, until: u64) -> Result<Next, I::Error> {
        let end = input.len();
        self.format = if self.settled {
            self.format_at(self.position, input)?
        } else {
            self.validator.first_format(input.bytes(self.position, DETECT_IN as u64)?)
        };
        self.settled = true;
        let bytes = input.bytes(self.position, self.validator.head_len())?;
        // A file that shrank ends where its bytes end.
        let end = if bytes.len() < self.format.prefix_len() { self.position + bytes.len() as u64 } else { end };
        let mut frames = [Frame { offset: 0, bytes: &[] }; RUN];
        let (mut count, mut at) = (0, 0);
        let next = loop {
            let (rest, offset) = (&bytes[at..], self.position + at as u64);
            let cut_off = count > 0 && rest.len() < self.format.prefix_len();
            if count == self.run || offset >= until || cut_off {
                break Next::Run;
            }
            match frame_at(self.format, rest, end - offset, offset, &self.validator.options) {
                Ok(len) if len <= rest.len() as u64 => {
                    if count > 0 && self.validator.doubts(self.format, rest) {
                        break Next::Run;
                    }
                    frames[count] = Frame { offset, bytes: &rest[..len as usize] };
                    count += 1;
                    at += len as usize;
                }
                Ok(len) => break Next::Long(len),
                Err(defect) => break Next::Bad(defect),
            }
        };
        if count == 0 {
            return Ok(next);
        }
        self.lens.clear();
        self.lens.extend(frames[..count].iter().map(|f| f.bytes.len() as u64));
        self.summaries.clear();
        self.summaries.resize(count, Summary::default());
        let Walk { validator, format, scratch, summaries, defects, .. } = self;
        format.check_many(&frames[..count], &validator.options, scratch, summaries, &mut |i, d| defects.push((i, d)));
        Ok(Next::Run)
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

    /// Reports what was found in the frames that were checked, and goes past them.
    fn settle<I: Input>(&mut self, input: &mut I, sink: &mut dyn Sink) -> Result<(), I::Error> {
        let mut defects = core::mem::take(&mut self.defects);
        let mut told = 0;
        for i in 0..self.summaries.len() {
            let summary = self.summaries[i];
            let mut batch = self.next_batch(self.lens[i], summary);
            self.place(&mut batch, input, sink)?;
            while let Some((_, defect)) = defects.get(told).filter(|(of, _)| *of == i) {
                self.report(Some(&mut batch), *defect, sink);
                told += 1;
            }
            self.finish(&batch, input, sink)?;
            if self.stopped || summary.damaged {
                break;
            }
        }
        self.run = if self.order.after_damage { 1 } else { (self.run * 2).min(RUN) };
        defects.clear();
        self.defects = defects;
        Ok(())
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
            self.go_on_from(&batch.summary);
        } else {
            self.compare(batch, sink);
        }
        Ok(())
    }

    /// Reports how the batch stands to its neighbours.
    fn compare(&mut self, batch: &mut Batch, sink: &mut dyn Sink) {
        let Walk { order, format, .. } = *self;
        let misplaced = order.is_misplaced(&batch.summary);
        if let (Some(first), Some(before)) = (batch.summary.first_offset, order.next_offset)
            && order.after_damage
            && first > before
            && !misplaced
        {
            let lost = Detail::Offsets { first: before, last: first - 1 };
            let error = Error::new(ErrorKind::OffsetGap, lost, "batch", batch.offset);
            self.report(Some(batch), Defect { error, severity: Severity::Info }, sink);
        }
        let options = self.validator.options;
        let (summary, offset) = (batch.summary, batch.offset);
        format.check_order(&order, &summary, offset, &options, &mut |defect| self.report(Some(batch), defect, sink));
        (self.order.ahead, self.order.resumes) = (None, false);
        if misplaced {
            // It leaves a hole where it should have been.
            self.order.after_damage = true;
        } else {
            self.go_on_from(&batch.summary);
        }
    }

    fn go_on_from(&mut self, summary: &Summary) {
        self.order.next_offset = summary.next_offset.or(self.order.next_offset);
        self.order.epoch = summary.epoch.or(self.order.epoch);
        (self.order.version, self.order.compressed) = (summary.version, summary.compressed);
        (self.order.after_damage, self.order.ahead) = (false, None);
    }

    fn report(&mut self, batch: Option<&mut Batch>, defect: Defect, sink: &mut dyn Sink) {
        let finding = match batch {
            Some(batch) => {
                batch.count(defect.severity);
                Finding::of(batch, defect)
            }
            None => Finding::outside(defect),
        };
        if !self.stopped {
            self.totals.count(defect.severity);
            sink.finding(finding);
            self.stopped = self.validator.stop_at_first && defect.severity == Severity::Error;
        }
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
    pub(crate) fn absorb(&mut self, part: &Walk<'_>, found: &mut Report, report: &mut Report) -> bool {
        let Some((mut batch, ahead)) = part.joint else { return false };
        let mut order = Order { ahead, ..self.order };
        order.is_first = false;
        let mut would_stop = part.totals.errors > 0;
        let Validator { options, stop_at_first, max_findings: max, .. } = self.validator;
        if stop_at_first {
            part.format.check_order(&order, &batch.summary, batch.offset, &options, &mut |defect| {
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
        self.format = part.format;
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
        (self.position, self.format, self.unverified, self.run) =
            (part.position, part.format, part.unverified, part.run);
        true
    }
}

/// Length of the frame at the start of `rest`, or the defect that stands there. `left` bytes of the input are left.
fn frame_at(format: &dyn Format, rest: &[u8], left: u64, offset: u64, options: &Options) -> Result<u64, Defect> {
    let prefix = format.prefix_len() as u64;
    if left < prefix {
        return Err(format.tail(rest, offset, options).into());
    }
    match format.frame_len(rest, offset) {
        Ok(len) if len <= left => Ok(len),
        Ok(len) => Err(torn(len, left, offset)),
        Err(_) if left == prefix => Err(format.tail(rest, offset, options).into()),
        Err(error) => Err(error.into()),
    }
}

/// The last entry wants `needed` bytes and there are `available`.
pub(super) fn torn(needed: u64, available: u64, offset: u64) -> Defect {
    Error::new(ErrorKind::TornTail, Detail::Length { needed, available }, "batch", offset).into()
}
