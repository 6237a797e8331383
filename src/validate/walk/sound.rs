//! The part of a walk that sound frames take, quickly.

use super::{DETECT_IN, Input, Walk, torn};
use crate::formats::{Defect, Depth, Format, Frame, Options, Summary};
use crate::kernels::prefetch;

/// How far ahead of the hops bytes are brought near, where frames are shorter than that: about as many bytes as the
/// hops pass while a line comes from the third-level cache.
const AHEAD: usize = 2048;

/// What stands at the position.
pub(super) enum Next {
    /// Nothing that is at hand, behind frames that were passed.
    Passed,
    /// A frame of this length, which was checked.
    Frame(u64, Summary),
    /// A frame so long that it is not at hand.
    Long(u64),
    /// No frame.
    Bad(Defect),
}

impl Walk<'_> {
    /// Checks frames that are at hand, and goes past those of which nothing is to be told, if it may.
    ///
    /// One after the other. What lost, ns for a batch of 200 B on a Zen 4, where the quick look takes 36 to 40, [`check`] with
    /// what is around it 60, and a plain loop over [`check`] 49: the quick look with the checksums of 16 batches computed
    /// together before their records are read, 44; runs of 64 frames found first and checked then, 70; of these the
    /// checksums of 32 batches together and then their records, 75. For batches of 4 KiB from the third-level cache, with
    /// two record walks in step: 710, where this took 460. The core is busy with one batch, and while its records are
    /// computed the checksum of the next one waits for memory: to group is to take the two apart.
    ///
    /// Batches of 16 KiB with values of 1 KiB, from memory, are checked as fast as their bytes are read by plain loads, to
    /// within a tenth. To prefetch the first 1 to 8 KiB of the next batch before the records of this one takes 1.15 to 1.5
    /// times as long.
    ///
    /// [`check`]: Format::check
    pub(super) fn check_at_hand<I: Input>(
        &mut self,
        input: &mut I,
        until: u64,
        may_pass: bool,
    ) -> Result<Next, I::Error> {
        let end = input.len();
        self.format = if self.settled {
            self.format_at(self.position, input)?
        } else {
            self.validator.first_format(input.bytes(self.position, DETECT_IN as u64)?)
        };
        self.settled = true;
        let format = self.format;
        let bytes = input.bytes(self.position, self.validator.head_len())?;
        let prefix = format.prefix_len();
        // A file that shrank ends where its bytes end.
        let end = if bytes.len() < prefix { self.position + bytes.len() as u64 } else { end };
        let mut rest = bytes;
        loop {
            if may_pass {
                let passed = self.skim(rest, until);
                rest = &rest[passed..];
                if passed > 0 && self.is_over(rest, until) {
                    return Ok(Next::Passed);
                }
            }
            let offset = self.position;
            let len = match frame_at(format, prefix, rest, end - offset, offset, &self.validator.options) {
                Ok(len) if len <= rest.len() as u64 => len,
                Ok(len) => return Ok(Next::Long(len)),
                Err(defect) => return Ok(Next::Bad(defect)),
            };
            let (frame, behind) = rest.split_at(len as usize);
            if frame.len() <= AHEAD {
                prefetch(behind.get(AHEAD..AHEAD + frame.len()).unwrap_or_default());
            }
            let Walk { validator, scratch, defects, .. } = self;
            let frame = Frame { offset, bytes: frame };
            let summary = format.check(frame, &validator.options, scratch, &mut |defect| defects.push(defect));
            if !may_pass || !self.defects.is_empty() || !self.pass(len, &summary) {
                return Ok(Next::Frame(len, summary));
            }
            rest = behind;
            if self.is_over(rest, until) {
                return Ok(Next::Passed);
            }
        }
    }

    /// Whether the walk has reached `until` or, with `rest` still at hand, is not sure what to look at: it is asked anew.
    #[inline]
    fn is_over(&self, rest: &[u8], until: u64) -> bool {
        self.position >= until || rest.len() < self.format.prefix_len() || self.validator.doubts(self.format, rest)
    }

    /// Goes past frames at the start of `rest` by the format's quick look, as far as it gets; tells how many bytes.
    #[inline]
    fn skim(&mut self, rest: &[u8], until: u64) -> usize {
        // The first batch has none before it, and is not passed.
        if self.totals.batches == 0 {
            return 0;
        }
        let until = usize::try_from(until - self.position).unwrap_or(usize::MAX);
        let Walk { order, validator, format, .. } = self;
        let passed = format.pass_sound(rest, until, order, &validator.options);
        self.totals.batches += passed.frames;
        self.totals.records += passed.records;
        self.position += passed.bytes as u64;
        passed.bytes
    }

    /// Goes past a sound batch if it is in order, so that there is nothing to tell; else tells so.
    #[inline]
    fn pass(&mut self, len: u64, summary: &Summary) -> bool {
        let Walk { order, format, validator, position, .. } = self;
        let lowest = summary.lowest_offset();
        // The first batch has none before it, and is not passed.
        let joins = lowest.is_some() && lowest == order.next_offset && !order.after_damage && !summary.damaged;
        if !joins {
            return false;
        }
        order.is_first = false;
        let mut quiet = true;
        format.check_order(order, summary, *position, &validator.options, &mut |_| quiet = false);
        if !quiet {
            return false;
        }
        order.go_on_from(summary);
        self.totals.batches += 1;
        self.totals.records += summary.records;
        self.unverified = (validator.options.depth == Depth::Frames).then_some((*position, len));
        *position += len;
        true
    }
}

/// Length of the frame at the start of `rest`, or the defect that stands there. `left` bytes of the input are left.
#[inline]
fn frame_at(
    format: &dyn Format,
    prefix: usize,
    rest: &[u8],
    left: u64,
    offset: u64,
    options: &Options,
) -> Result<u64, Defect> {
    if left < prefix as u64 {
        return Err(format.tail(rest, offset, options).into());
    }
    match format.frame_len(rest, offset) {
        Ok(len) if len <= left => Ok(len),
        Ok(len) => Err(torn(len, left, offset)),
        Err(_) if left == prefix as u64 => Err(format.tail(rest, offset, options).into()),
        Err(error) => Err(error.into()),
    }
}
