//! What a walk does at damage: it tells where the damage ends, and hops over it.

use super::super::input::Input;
use super::super::search::{Accept, Behind, is_intact, search};
use super::super::{Batch, Sink};
use super::Walk;
use crate::formats::{Defect, Origin, Severity, Summary};
use crate::{Detail, Error, ErrorKind};

impl Walk<'_> {
    /// Goes past a batch whose checksum is wrong, so that its length may be wrong as well.
    pub(super) fn past_damaged<I: Input>(
        &mut self,
        batch: &Batch,
        input: &mut I,
        sink: &mut dyn Sink,
    ) -> Result<(), I::Error> {
        let (start, end) = (batch.offset, batch.offset + batch.len);
        (self.order.after_damage, self.order.resumes) = (true, true);
        self.unverified = None;
        let claims = batch.summary;
        let follower = self.claims_at(end, input)?;
        let lines_up =
            end >= input.len() || follower.is_some_and(|f| follows(&claims, &f)) || self.is_frame(end, input)?;
        if !lines_up {
            let found = self.search(start + 1, input.len(), &|_, _| true, input)?;
            self.report_unreadable(start, found.unwrap_or(input.len()), sink);
            self.position = found.unwrap_or(input.len());
            return Ok(());
        }
        // The length seems to be right. But a wrong one may have led to the start of some later batch: then what was
        // swallowed has offsets between those of this batch and that one. Batches within records have others.
        let before = self.order.next_offset.unwrap_or(0);
        let trusted = claims.lowest_offset().is_some_and(|first| first >= before);
        let floor = if trusted { claims.next_offset.unwrap_or(before) } else { before };
        let ceiling = follower.and_then(|f| f.lowest_offset()).unwrap_or(u64::MAX);
        if floor < ceiling {
            let fits = |s: &Summary, to: u64| {
                to <= end
                    && s.lowest_offset().is_some_and(|o| o >= floor)
                    && s.next_offset.is_some_and(|o| o <= ceiling)
            };
            if let Some(found) = self.search(start + 1, end, &fits, input)? {
                self.report_unreadable(start, found, sink);
                self.position = found;
                return Ok(());
            }
        }
        self.position = end;
        Ok(())
    }

    /// Goes past bytes that are no frame, as `defect` says.
    pub(super) fn hop<I: Input>(
        &mut self,
        mut defect: Defect,
        input: &mut I,
        sink: &mut dyn Sink,
    ) -> Result<(), I::Error> {
        let start = self.position;
        let nonzero = skip_zeros(start, input)?;
        let end = input.len();
        let is_torn = matches!(defect.error.kind(), ErrorKind::TornTail | ErrorKind::TrailingBytes);
        if nonzero >= end && !is_torn {
            let detail = Detail::Bytes { count: end - start };
            let error = Error::new(ErrorKind::ZeroTail, detail, "batch", start);
            let told = self.format.severity(ErrorKind::ZeroTail, &self.validator.options);
            let severity = if self.validator.growing { Severity::Info } else { told };
            self.report(None, Defect { error, severity }, sink);
            self.position = end;
            return Ok(());
        }
        // A frame can begin with zeros, though not with more than its length field lies behind.
        let mut from = (start + 1).max(nonzero.saturating_sub(self.format.prefix_len() as u64));
        let mut lost = start;
        if let Some((at, len)) = self.unverified.take()
            && !is_intact(self.format, input, at, len)?
        {
            // It was the length of the frame before that led here.
            (from, lost) = (at + 1, at);
        }
        // What a producer sends ends with an entry that is cut off, whatever may be behind it.
        let is_end = is_torn && self.validator.options.origin == Origin::Client;
        let found = if is_end { None } else { self.search(from, end, &|_, _| true, input)? };
        if is_torn && found.is_some() {
            let (detail, at) = (defect.error.detail(), defect.error.offset());
            defect.error = Error::new(ErrorKind::BatchLengthPastEnd, detail, defect.error.field(), at);
        }
        (self.order.after_damage, self.order.resumes) = (true, true);
        defect.severity = self.format.severity(defect.error.kind(), &self.validator.options);
        if is_torn && found.is_none() && self.validator.growing {
            defect.severity = Severity::Info;
        }
        self.report(None, defect, sink);
        if found.is_some() || !is_torn {
            self.report_unreadable(lost, found.unwrap_or(end), sink);
        }
        self.position = found.unwrap_or(end);
        Ok(())
    }

    /// Begins at the first batch in `from..to`, if there is one.
    ///
    /// A batch within a record has no other one right behind it, so most of them are passed over.
    #[cfg(feature = "std")]
    pub(crate) fn begin_within<I: Input>(&mut self, input: &mut I, from: u64, to: u64) -> Result<bool, I::Error> {
        // The first frame of a part is not far, and bytes of records that look like a header may claim any length.
        let near = from.saturating_add(2 * super::WHOLE);
        let near = |_: &Summary, end| end <= near;
        let Some((at, format)) = search(self.format, self.validator.formats(), input, from, to, Behind::Header, &near)?
        else {
            return Ok(false);
        };
        self.restart(at, format);
        Ok(true)
    }

    fn report_unreadable(&mut self, from: u64, to: u64, sink: &mut dyn Sink) {
        let detail = Detail::Bytes { count: to - from };
        let error = Error::new(ErrorKind::UnreadableBytes, detail, "batch", from);
        self.report(None, Defect { error, severity: Severity::Info }, sink);
    }

    /// Whether an intact frame starts at `at`.
    fn is_frame<I: Input>(&mut self, at: u64, input: &mut I) -> Result<bool, I::Error> {
        let format = self.format_at(at, input)?;
        let head = input.bytes(at, self.validator.head_len())?;
        match format.frame_len(head, at) {
            Ok(len) if head.len() >= format.prefix_len() => is_intact(format, input, at, len),
            _ => Ok(false),
        }
    }

    fn search<I: Input>(
        &mut self,
        from: u64,
        to: u64,
        accept: Accept<'_>,
        input: &mut I,
    ) -> Result<Option<u64>, I::Error> {
        let found = search(self.format, self.validator.formats(), input, from, to, Behind::Whatever, accept)?;
        Ok(found.map(|(at, format)| {
            self.format = format;
            at
        }))
    }
}

/// Whether `next` seems to be the frame behind one that claims `before`: its offsets go on there, give or take a gap.
fn follows(before: &Summary, next: &Summary) -> bool {
    match (before.next_offset, next.lowest_offset()) {
        (Some(end), Some(first)) => first >= end && first - end < 1 << 31,
        _ => false,
    }
}

/// Where the zeros end that start at `at`.
fn skip_zeros<I: Input>(mut at: u64, input: &mut I) -> Result<u64, I::Error> {
    loop {
        let bytes = input.bytes(at, 1)?;
        let zeros = bytes.iter().position(|&b| b != 0);
        at += zeros.unwrap_or(bytes.len()) as u64;
        if zeros.is_some() || bytes.is_empty() {
            return Ok(at);
        }
    }
}
