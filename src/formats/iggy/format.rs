//! Batches of today, joined to the validator.

use super::message::frame_end;
use super::search::{self, InPieces};
use super::{Batch, BatchHeader, FrameList, MAX_BATCH_LENGTH, MessageHeader, Revision, check, decode};
use crate::formats::{Defect, Format, Frame, Options, Order, Pieces, Scratch, Summary};
use crate::{Detail, Error, ErrorKind, Result, xxh3};
use alloc::boxed::Box;

/// Batches of Iggy servers from 0.9 on, back to back, as in a segment.
///
/// ```
/// # let log = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iggy/segments/small/00000000000000000000.log"));
/// use batchwise::{Validator, iggy};
/// let report = Validator::new(&iggy::Batches::R2).validate(log);
/// assert!(report.totals.is_valid());
/// assert_eq!((report.totals.batches, report.totals.records), (60, 599));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Batches {
    revision: Revision,
}

impl Batches {
    /// By the rules of servers from 0.10 on, which accept all that 0.9 wrote.
    pub const R2: Batches = Batches { revision: Revision::R2 };
    /// By the rules of servers 0.9, which refuse a header that names a producer.
    pub const R1: Batches = Batches { revision: Revision::R1 };

    /// Whose rules these are.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }
}

impl Format for Batches {
    fn name(&self) -> &'static str {
        match self.revision {
            Revision::R1 => "iggy-r1",
            Revision::R2 => "iggy",
        }
    }

    fn prefix_len(&self) -> usize {
        BatchHeader::SIZE
    }

    fn frame_len(&self, prefix: &[u8], offset: u64) -> Result<u64> {
        let Some(header) = BatchHeader::new(prefix) else {
            let detail = Detail::Length { needed: BatchHeader::SIZE as u64, available: prefix.len() as u64 };
            return Err(Error::new(ErrorKind::TrailingBytes, detail, "batch", offset));
        };
        header.check(self.revision, offset)?;
        Ok(header.batch_length())
    }

    fn peek(&self, head: &[u8]) -> Option<Summary> {
        let header = BatchHeader::new(head).filter(|h| h.check(self.revision, 0).is_ok())?;
        let least = u64::from(header.message_count()) * MessageHeader::SIZE as u64;
        (header.batch_length() - BatchHeader::SIZE as u64 >= least).then(|| check::summary_of(header))
    }

    fn is_intact(&self, frame: &[u8]) -> bool {
        // A length and 184 zeros make a header, so the layout is asked before any hash, and the hash has the last word.
        let batch = Batch::parse_exact(frame, 0, self.revision).ok();
        batch.is_some_and(|b| b.check_layout().is_ok() && b.verify(&mut FrameList::default()).is_ok())
    }

    fn check(
        &self,
        frame: Frame<'_>,
        options: &Options,
        scratch: &mut Scratch,
        defect: &mut dyn FnMut(Defect),
    ) -> Summary {
        check::check(frame, self.revision, options, &mut scratch.frames, defect)
    }

    fn check_order(
        &self,
        order: &Order,
        next: &Summary,
        offset: u64,
        options: &Options,
        defect: &mut dyn FnMut(Defect),
    ) {
        check::check_order(order, next, offset, options, defect);
    }

    fn pieces(&self, offset: u64) -> Option<Box<dyn Pieces>> {
        Some(Box::new(InPieces::new(self.revision, offset)))
    }

    fn find(&self, bytes: &[u8], _: usize) -> Option<usize> {
        search::find(bytes, |head| self.peek(head).is_some())
    }

    /// The checksum of a message or of the first batch has to hold. Where none is there as a whole, the lengths have to fit.
    fn detect(&self, head: &[u8]) -> bool {
        let Some(header) = BatchHeader::new(head).filter(|h| h.check(self.revision, 0).is_ok()) else { return false };
        let whole = usize::try_from(header.batch_length()).is_ok_and(|len| len <= head.len());
        if whole && decode(head, 0, self.revision, &mut FrameList::default()).is_ok() {
            return true;
        }
        // What is there of the blob.
        let end = usize::try_from(header.batch_length()).map_or(head.len(), |len| len.min(head.len()));
        let blob = &head[BatchHeader::SIZE..end];
        let mut at = 0;
        while let Some(end) = frame_end(blob, at) {
            if MessageHeader::new(&blob[at..]).is_some_and(|h| h.checksum() == xxh3::hash64(&blob[at + 8..end])) {
                return true;
            }
            at = end;
        }
        // A first message longer than what is there.
        let plausible = header.message_count() > 0 && header.batch_length() <= MAX_BATCH_LENGTH;
        let fits = |h: MessageHeader<'_>| {
            let body = u64::from(h.payload_length()) + u64::from(h.user_headers_length());
            h.reserved() == 0 && body + MessageHeader::SIZE as u64 <= header.batch_length() - BatchHeader::SIZE as u64
        };
        at == 0 && !whole && plausible && MessageHeader::new(blob).is_some_and(fits)
    }
}
