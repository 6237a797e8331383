//! What the broker's produce path looks at: settings of broker and topic, and the request as a whole.

use super::rules::{Judge, Of};
use super::{Attributes, Log, PREFIX, TimestampType, check, order};
use crate::codec::Codec;
use crate::formats::{Defect, Format, Frame, Options, Order, Origin, Scratch, Summary};
use crate::{Detail, Error, ErrorKind};

/// Settings of broker, topic and request that decide what a producer's batches may be.
///
/// The default is a current broker, and no limits.
///
/// ```
/// use batchwise::{Options, Scratch, kafka::Produce};
/// # let request = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// let (mut scratch, mut found) = (Scratch::default(), Vec::new());
/// let mut produce = Produce::default();
/// (produce.version, produce.max_message_bytes) = (Some(9), 1_048_588);
/// let produced = produce.check(request, &Options::default(), &mut scratch, &mut |defect| found.push(defect));
/// assert_eq!((produced.batches, produced.records, found.len()), (1, 2, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Produce {
    /// Version of the Produce request: from 3 on it holds exactly one batch of magic 2, below 7 no zstd.
    pub version: Option<i16>,
    /// The topic's `max.message.bytes`.
    pub max_message_bytes: u32,
    /// The topic's `segment.bytes`.
    pub segment_bytes: u32,
    /// The magic of the topic's `message.format.version`; 2 since version 3.0. Messages of other magic are converted.
    pub message_format: i8,
    /// Whether the topic's `cleanup.policy` has `compact`: then each record needs a key.
    pub compacted: bool,
    /// The topic's `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// The least and the greatest timestamp that the topic takes, ms.
    pub timestamps: Option<(i64, i64)>,
}

impl Default for Produce {
    fn default() -> Self {
        Produce {
            version: None,
            max_message_bytes: i32::MAX as u32,
            segment_bytes: i32::MAX as u32,
            message_format: 2,
            compacted: false,
            timestamp_type: TimestampType::CreateTime,
            timestamps: None,
        }
    }
}

/// What a request holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Produced {
    /// Whole batches.
    pub batches: u64,
    /// Records read.
    pub records: u64,
    /// Bytes of whole batches; a broker ignores what is behind them.
    pub bytes: u64,
}

impl Produce {
    /// Checks the records of a produce request for one partition. The origin of `options` is taken to be a client.
    pub fn check(
        &self,
        records: &[u8],
        options: &Options,
        scratch: &mut Scratch,
        defect: &mut dyn FnMut(Defect),
    ) -> Produced {
        let options = Options { origin: Origin::Client, ..*options };
        let mut produced = Produced::default();
        let mut before = Order::default();
        let mut at = 0;
        while at < records.len() {
            let (rest, offset) = (&records[at..], at as u64);
            let len = match Log.frame_len(rest, offset) {
                Ok(len) => usize::try_from(len).unwrap_or(usize::MAX),
                Err(_) if rest.len() <= PREFIX => {
                    self.judge(&options, defect).report(order::tail(rest, offset, &options));
                    break;
                }
                Err(error) => {
                    self.judge(&options, defect).report(error);
                    break;
                }
            };
            let Some(bytes) = rest.get(..len) else {
                let detail = Detail::Length { needed: len as u64, available: rest.len() as u64 };
                self.judge(&options, defect).report(Error::new(ErrorKind::TornTail, detail, "batch", offset));
                break;
            };
            let frame = Frame { offset, bytes };
            self.entry(frame, produced.batches, &options, defect);
            let summary = check::check(frame, &options, self, scratch, defect);
            if self.version.is_none_or(|version| version < 3) {
                order::check(&before, &summary, offset, &options, defect);
            }
            before = after(&summary);
            produced.batches += 1;
            produced.records += summary.records;
            at += len;
        }
        produced.bytes = at as u64;
        if produced.batches == 0 {
            self.judge(&options, defect).report(Error::new(ErrorKind::NoBatch, Detail::None, "records", 0));
        }
        if produced.bytes > u64::from(self.segment_bytes) {
            let detail = Detail::Length { needed: produced.bytes, available: self.segment_bytes.into() };
            self.judge(&options, defect).report(Error::new(ErrorKind::BatchExceedsSegment, detail, "records", 0));
        }
        produced
    }

    /// Whether messages of another magic than the topic's are converted.
    pub(super) const fn converts(&self, magic: i8) -> bool {
        magic != self.message_format
    }

    fn judge<'a>(&self, options: &'a Options, defect: &'a mut dyn FnMut(Defect)) -> Judge<'a> {
        Judge::new(options, Of::Batch, defect)
    }

    /// Checks an entry against the settings, as far as its first bytes tell.
    fn entry(&self, frame: Frame<'_>, number: u64, options: &Options, defect: &mut dyn FnMut(Defect)) {
        let mut judge = self.judge(options, defect);
        let Frame { offset, bytes } = frame;
        let magic = bytes.get(PREFIX - 1).map_or(0, |&magic| magic as i8);
        if bytes.len() as u64 > u64::from(self.max_message_bytes) {
            let detail = Detail::Length { needed: bytes.len() as u64, available: self.max_message_bytes.into() };
            judge.report(Error::new(ErrorKind::BatchTooLarge, detail, "batchLength", offset + 8));
        }
        if self.version.is_some_and(|version| version >= 3) {
            if magic != 2 {
                let detail = Detail::Value { found: magic.into(), rule: "must be 2 from version 3 of the request on" };
                judge.report(Error::new(ErrorKind::MagicNotAllowed, detail, "magic", offset + 16));
            } else if number > 0 {
                judge.report(Error::new(ErrorKind::BatchCountNotOne, Detail::None, "batch", offset));
            }
        }
        let Some(header) = super::BatchHeader::new(bytes).filter(|_| magic == 2) else { return };
        let attributes = Attributes(header.attributes());
        let is_zstd = attributes.codec() == Codec::Zstd.number();
        if is_zstd && self.version.is_some_and(|version| version < 7) {
            let detail = Detail::Value { found: attributes.codec().into(), rule: "must not be zstd below version 7" };
            judge.report(Error::new(ErrorKind::CodecNotAllowed, detail, "attributes", offset + 21));
        }
        if self.message_format < 2 && (attributes.is_transactional() || header.producer_id() >= 0) {
            let detail = Detail::Value { found: self.message_format.into(), rule: "must be 2" };
            judge.report(Error::new(ErrorKind::FormatUnsupported, detail, "producerId", offset + 43));
        }
    }
}

/// What matters of an entry for the next one of the request.
fn after(summary: &Summary) -> Order {
    Order { version: summary.version, compressed: summary.compressed, ..Order::default() }
}
