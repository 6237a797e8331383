//! The formats, and the trait that joins them to the validator.

use crate::{Detail, Error, ErrorKind, Result};
use alloc::boxed::Box;
use core::fmt;

pub mod iggy;
pub mod kafka;

/// Every format: one line each, in the order in which detection asks them.
pub static ALL: &[&dyn Format] =
    &[&iggy::Batches::R2, &iggy::Messages64, &iggy::Messages56, &iggy::Messages24, &kafka::Log];

/// A self-delimiting piece of a log, and where it starts.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Start of the frame in the input, bytes.
    pub offset: u64,
    /// The whole frame.
    pub bytes: &'a [u8],
}

/// What the validator knows of a format.
pub trait Format: Sync {
    /// Name, as on the command line.
    fn name(&self) -> &'static str;

    /// How many bytes [`frame_len`](Self::frame_len) looks at; no frame is shorter.
    fn prefix_len(&self) -> usize;

    /// Length of the whole frame that starts with `prefix`, from its length field alone.
    ///
    /// `prefix` has at least [`prefix_len`](Self::prefix_len) bytes and stands at `offset` of the input. The frame may
    /// be longer than what is left of the input; the caller knows.
    ///
    /// # Errors
    /// If the field holds a length that no frame can have, or `prefix` cannot start a frame.
    fn frame_len(&self, prefix: &[u8], offset: u64) -> Result<u64>;

    /// How many bytes [`peek`](Self::peek) wants to see.
    fn head_len(&self) -> usize {
        self.prefix_len()
    }

    /// What a frame that starts with `head` claims to hold, or `None` if no intact frame starts so.
    ///
    /// A quick look at the header, taken at every byte after damage; `head` may be cut off by the end of the input.
    fn peek(&self, head: &[u8]) -> Option<Summary> {
        self.frame_len(head, 0).is_ok().then(Summary::default)
    }

    /// Whether `frame` is a whole frame whose checksums hold: how a search finds its way back after damage.
    fn is_intact(&self, frame: &[u8]) -> bool;

    /// Reports each broken promise of `frame`, in the order of its bytes, and tells what the frame holds.
    ///
    /// `frame.bytes` is as long as [`frame_len`](Self::frame_len) said.
    fn check(
        &self,
        frame: Frame<'_>,
        options: &Options,
        scratch: &mut Scratch,
        defect: &mut dyn FnMut(Defect),
    ) -> Summary;

    /// Does what [`check`](Self::check) does for each of `frames`, which may lie anywhere, and puts what they hold into
    /// `summaries`; each defect comes with the index of its frame, in the order of the frames.
    ///
    /// A format that is faster with several frames in hand than with one after the other does so here.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn check_many(
        &self,
        frames: &[Frame<'_>],
        options: &Options,
        scratch: &mut Scratch,
        summaries: &mut [Summary],
        defect: &mut dyn FnMut(usize, Defect),
    ) {
        assert_eq!(frames.len(), summaries.len(), "a summary for each frame");
        for (i, (frame, summary)) in frames.iter().zip(summaries).enumerate() {
            *summary = self.check(*frame, options, scratch, &mut |d| defect(i, d));
        }
    }

    /// Goes past frames at the start of `bytes` that stand in order and of which there is nothing to tell, and brings `order`
    /// up to date; those that start before `until`.
    ///
    /// Only as far as that is certain by a look quicker than [`check`](Self::check), which is for what is left.
    fn pass_sound(&self, bytes: &[u8], until: usize, order: &mut Order, options: &Options) -> Passed {
        let _ = (bytes, until, order, options);
        Passed::default()
    }

    /// Reports what is wrong with `next` standing where `order` says; `offset` is where it starts.
    ///
    /// Offsets that are missing because of damage are told by the caller, not here.
    fn check_order(
        &self,
        order: &Order,
        next: &Summary,
        offset: u64,
        options: &Options,
        defect: &mut dyn FnMut(Defect),
    );

    /// Starts to verify the checksum of a frame that is too long to be held as a whole and stands at `offset`.
    ///
    /// `None` if the format has no such long frames: then they are held after all.
    fn pieces(&self, offset: u64) -> Option<Box<dyn Pieces>> {
        let _ = offset;
        None
    }

    /// The first place in `bytes` where [`peek`](Self::peek) finds a header, how a search looks for one.
    ///
    /// Places so close to the end that less than `head` bytes are left are not looked at. A format can be much faster
    /// here than by asking everywhere.
    fn find(&self, bytes: &[u8], head: usize) -> Option<usize> {
        let places = (bytes.len() + 1).checked_sub(head.max(1))?;
        (0..places).find(|&at| self.peek(&bytes[at..]).is_some())
    }

    /// How bad a defect of `kind` is that somebody else found in an input of this format.
    fn severity(&self, kind: ErrorKind, options: &Options) -> Severity {
        let _ = (kind, options);
        Severity::Error
    }

    /// What is wrong with `tail`, the last bytes of an input, which are too few for a frame and stand at `offset`.
    fn tail(&self, tail: &[u8], offset: u64, options: &Options) -> Error {
        let _ = options;
        let detail = Detail::Length { needed: self.prefix_len() as u64 + 1, available: tail.len() as u64 };
        Error::new(ErrorKind::TornTail, detail, "batch", offset)
    }

    /// Reports what is wrong with an input as a whole, which has `batches` frames and ends at `offset`.
    fn check_end(&self, batches: u64, offset: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
        let _ = (batches, offset, options, defect);
    }

    /// Whether an input that starts with `head` looks like this format.
    fn detect(&self, head: &[u8]) -> bool;
}

/// The verification of one frame that comes in pieces.
pub trait Pieces {
    /// The next bytes of the frame, from its first on.
    fn feed(&mut self, piece: &[u8]);

    /// Whether the checksum is that of the bytes.
    ///
    /// # Errors
    /// The broken promise, if the checksum is wrong or the frame is no frame.
    fn finish(self: Box<Self>) -> Result<()>;
}

impl PartialEq for dyn Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for dyn Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The format that `head`, the first bytes of an input, looks like.
///
/// A frame whose checksums hold settles it, wherever it starts; a header alone is believed only without one.
#[must_use]
pub fn detect(head: &[u8]) -> Option<&'static dyn Format> {
    let intact_at = |at| ALL.iter().copied().find(|f| starts_intact(*f, &head[at..]));
    intact_at(0)
        .or_else(|| ALL.iter().copied().find(|f| f.detect(head)))
        .or_else(|| (1..head.len()).find_map(intact_at))
}

/// Whether a whole frame stands at the start of `bytes` and its checksums hold.
pub(crate) fn starts_intact(format: &dyn Format, bytes: &[u8]) -> bool {
    bytes.len() >= format.prefix_len()
        && format.frame_len(bytes, 0).is_ok_and(|len| {
            usize::try_from(len).is_ok_and(|len| bytes.get(..len).is_some_and(|frame| format.is_intact(frame)))
        })
}

/// How far to look; each depth includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// Lengths and the order of frames.
    Frames,
    /// And checksums.
    Checksums,
    /// And every record.
    #[default]
    Records,
}

/// Where the input comes from: what a broker promises differs from place to place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A producer sent it.
    Client,
    /// A broker sent it: to a follower, or to a consumer.
    Replica,
    /// It lies in a segment file.
    #[default]
    Stored,
}

/// Whose rules decide what is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Conformance {
    /// Errors are also what the reference implementation lets pass only because it does not look.
    #[default]
    Strict,
    /// Errors are exactly what the reference implementation refuses at that [`Origin`].
    Reference,
}

/// What to check, by whose rules, with how much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How far to look.
    pub depth: Depth,
    /// Where the input comes from.
    pub origin: Origin,
    /// Whose rules decide.
    pub conformance: Conformance,
    /// The most bytes that the records of one batch may decompress to.
    pub max_decompressed: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            depth: Depth::default(),
            origin: Origin::default(),
            conformance: Conformance::default(),
            max_decompressed: 64 << 20,
        }
    }
}

/// How bad a defect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal, and worth knowing.
    Info,
    /// Odd, and readable all the same.
    Warning,
    /// The input is invalid.
    Error,
}

impl Severity {
    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    /// The [name](Self::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A broken promise and how bad it is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// What, in which field, at which byte.
    pub error: Error,
    /// How bad.
    pub severity: Severity,
}

impl fmt::Display for Defect {
    /// Severity, kind, and the error in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity, self.error.kind(), self.error)
    }
}

impl From<Error> for Defect {
    fn from(error: Error) -> Self {
        Defect { error, severity: Severity::Error }
    }
}

/// What a frame holds, as far as its header and the depth tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Records read; below [`Depth::Records`] the number that the header claims.
    pub records: u64,
    /// First offset of the frame.
    pub first_offset: Option<u64>,
    /// The offset after the frame's last.
    pub next_offset: Option<u64>,
    /// Leader epoch, where the format has one.
    pub epoch: Option<i32>,
    /// Time of the frame, in the unit of the format: the greatest of its records', or that of its append.
    pub timestamp: Option<i64>,
    /// Version of the format, where it has several.
    pub version: Option<u8>,
    /// Whether the content is compressed.
    pub compressed: bool,
    /// Nothing that the frame says can be relied on, its length included: a checksum over it is wrong.
    pub damaged: bool,
}

/// Frames of which there was nothing to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// How many bytes they have together.
    pub bytes: usize,
    /// How many there are.
    pub frames: u64,
    /// Records in them.
    pub records: u64,
}

/// Where a frame stands: what came before it and what seems to come after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Order {
    /// The offset after the last one before.
    pub next_offset: Option<u64>,
    /// Leader epoch of the last frame before that has one.
    pub epoch: Option<i32>,
    /// Version of the frame before.
    pub version: Option<u8>,
    /// Whether the content of the frame before is compressed.
    pub compressed: bool,
    /// The bytes before were damaged, so that offsets may be missing.
    pub after_damage: bool,
    /// It is the first frame behind damaged bytes.
    pub resumes: bool,
    /// The first offset that the input may hold, where its name tells.
    pub base_offset: Option<u64>,
    /// Whether it is the first frame of the input.
    pub is_first: bool,
    /// The first offset of the frame behind, as its header claims.
    pub ahead: Option<u64>,
}

impl Order {
    /// What stands behind `summary`.
    #[inline]
    pub(crate) fn go_on_from(&mut self, summary: &Summary) {
        self.next_offset = summary.next_offset.or(self.next_offset);
        self.epoch = summary.epoch.or(self.epoch);
        (self.version, self.compressed) = (summary.version, summary.compressed);
        (self.after_damage, self.ahead) = (false, None);
    }

    /// Whether it is `next` that is out of order, as its neighbours are in order without it, or it is far from both.
    #[must_use]
    pub fn is_misplaced(&self, next: &Summary) -> bool {
        let (Some(before), Some(ahead)) = (self.next_offset, self.ahead) else { return false };
        let (Some(first), Some(end)) = (next.lowest_offset(), next.next_offset) else { return false };
        let closes = ahead >= before && (first < before || (first > before && ahead < end));
        closes || (is_far(before, first) && is_far(end, ahead))
    }
}

/// Whether offsets that go on with `next` after `before` cannot do so within one segment.
pub(crate) fn is_far(before: u64, next: u64) -> bool {
    next.abs_diff(before) > 1 << 31
}

impl Summary {
    /// The first offset, or where only the last one is known, that.
    #[must_use]
    pub fn lowest_offset(&self) -> Option<u64> {
        self.first_offset.or_else(|| self.next_offset?.checked_sub(1))
    }
}

/// Memory that checks use again and again, so that in the steady state they allocate nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) frames: iggy::FrameList,
    pub(crate) decoder: crate::codec::Decoder,
}
