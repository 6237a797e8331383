//! Every check, how bad its failure is at each place, and where Kafka itself refuses: one table.

use crate::formats::{Conformance, Defect, Depth, Options, Origin, Severity};
use crate::{Error, ErrorKind};
use Level::{E, I, O, W, X};
use Refused::{Always, Converting, Never, Reading, Stored};

/// How bad a failure is by strict rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// An error.
    E,
    /// An error that Kafka lets pass because it does not look.
    O,
    /// A warning.
    W,
    /// Information.
    I,
    /// Not applicable at this place.
    X,
}

/// When Kafka refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    /// Never.
    Never,
    /// When it looks at checksums, and of course when it reads records.
    Always,
    /// When it reads the records.
    Reading,
    /// When it reads a file, not when it reads a response.
    Stored,
    /// When it converts messages to record batches.
    Converting,
}

/// A check, and how bad its failure is at each place; see [`rules`].
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    kind: ErrorKind,
    cases: &'static str,
    client: Level,
    stored: Level,
    replica: Level,
    /// When the broker refuses a produce request for it.
    produce: Refused,
    /// When a reader refuses.
    read: Refused,
}

macro_rules! rules {
    ($($kind:ident $ids:literal $client:ident $stored:ident $replica:ident $produce:ident $read:ident;)*) => {
        &[$(Rule {
            kind: ErrorKind::$kind,
            cases: $ids,
            client: $client,
            stored: $stored,
            replica: $replica,
            produce: $produce,
            read: $read,
        }),*]
    };
}

/// The checks: how bad for a client's batch, a stored one, a replica's; when the produce path and readers refuse.
#[rustfmt::skip]
static RULES: &[Rule] = rules! {
    // Framing
    TornTail                       "K03 K06 K68" E E I  Never      Stored;
    BatchLengthPastEnd             "K06"         E E E  Never      Stored;
    TrailingBytes                  "K01 K02"     W E I  Never      Stored;
    ZeroTail                       "K69"         E W E  Always     Always;
    BatchLengthTooSmall            "K04 K82"     E E E  Always     Always;
    BatchLengthBelowHeader         "K05"         E E E  Always     Always;
    BatchLengthOverflow            "K07"         E E E  Always     Always;
    BatchTooLarge                  "K08"         E W X  Always     Never;
    BatchExceedsSegment            "K09"         E X X  Always     Never;
    MagicUnknown                   "K10"         E E E  Always     Always;
    MagicNotAllowed                "K11"         E X X  Always     Never;
    NoBatch                        "K11"         E X X  Always     Never;
    BatchCountNotOne               "K11 K12"     E X X  Always     Never;
    MagicMixed                     "K13"         E I I  Always     Never;
    UnreadableBytes                ""            I I I  Never      Never;
    // Checksums and attributes
    CrcMismatch                    "K14 K15"     E E E  Always     Always;
    InnerCrcMismatch               "K16"         E E E  Always     Reading;
    CodecUnknown                   "K17"         E E E  Always     Reading;
    CodecUnsupported               ""            E E E  Always     Reading;
    CodecNotAllowed                "K18 K19"     E E E  Always     Reading;
    AttributesReservedBits         "K20"         W W W  Never      Never;
    TimestampTypeFromClient        "K21"         W X X  Never      Never;
    ControlBatchFromClient         "K22"         E X X  Always     Never;
    DeleteHorizonFromClient        "K23"         O X X  Never      Never;
    TransactionalWithoutProducerId "K24"         W W W  Never      Never;
    FormatUnsupported              "K25"         E X X  Always     Never;
    EmptyBatchCompressed           "K26"         X W W  Never      Never;
    // Offsets and counts
    BaseOffsetNotZero              "K27"         E X X  Always     Never;
    OffsetOutOfRange               "K28"         X E E  Never      Never;
    LastOffsetDeltaNegative        "K29"         E E E  Always     Never;
    RecordsCountNegative           "K30"         E E E  Always     Reading;
    EmptyBatch                     "K31"         E I I  Always     Never;
    EmptyBatchWithPayload          "K32"         E E E  Always     Never;
    RecordsCountMismatch           "K33"         E I I  Always     Never;
    RecordsCountExceedsRange       "K34"         E E E  Always     Never;
    RecordsTruncated               "K35"         E E E  Always     Reading;
    TrailingRecordBytes            "K36"         E E E  Always     Reading;
    OffsetDeltaNotSequential       "K37"         O X X  Never      Never;
    OffsetDeltaNotIncreasing       "K38"         X E E  Never      Never;
    OffsetDeltaOutOfRange          "K38"         X E E  Never      Never;
    // Records
    RecordLengthMismatch           "K39 K47"     E E E  Always     Reading;
    RecordLengthNegative           "K40"         E E E  Always     Reading;
    RecordLengthTooLarge           "K41"         E E E  Always     Reading;
    VarintTooLong                  "K42 K43"     E E E  Always     Reading;
    VarintTruncated                "K43"         E E E  Always     Reading;
    VarintNotMinimal               "K44"         W W W  Never      Never;
    VarintOverflowBits             "K44"         W W W  Never      Never;
    LengthBelowMinusOne            "K45 K77"     W W W  Never      Never;
    KeyLengthTooLarge              "K46"         E E E  Always     Reading;
    ValueLengthTooLarge            "K46"         E E E  Always     Reading;
    HeaderLengthTooLarge           "K46"         E E E  Always     Reading;
    HeadersCountNegative           "K48"         E E E  Always     Reading;
    HeadersCountTooLarge           "K49"         E E E  Always     Reading;
    HeaderKeyNull                  "K50"         E E E  Always     Reading;
    HeaderKeyNotUtf8               "K51"         W W W  Never      Never;
    RecordAttributesNonZero        "K52"         W W W  Never      Never;
    KeyMissingOnCompactedTopic     "K53"         E X X  Always     Never;
    // Producers
    BaseSequenceMissing            "K54"         E I I  Always     Never;
    ProducerIdInvalid              "K55"         W W W  Never      Never;
    ProducerEpochInvalid           "K56"         W W W  Never      Never;
    ProducerFieldsInconsistent     "K57"         W W W  Never      Never;
    DuplicateSequence              ""            I I I  Never      Never;
    SequenceOutOfOrder             ""            E X X  Always     Never;
    ProducerFenced                 ""            E W W  Always     Never;
    TransactionStateInvalid        ""            E E E  Always     Always;
    CoordinatorFenced              ""            E W W  Always     Never;
    // Timestamps
    TimestampOutOfRange            "K58"         E X X  Always     Never;
    TimestampNegative              "K59"         W W W  Converting Never;
    MaxTimestampMismatch           "K60"         I W W  Never      Never;
    TimestampOverflow              "K61"         W I I  Never      Never;
    FirstDeltaNotZero              "K61"         W I I  Never      Never;
    // Segments
    OffsetOverlap                  "K62"         X E E  Never      Never;
    OffsetGap                      "K63"         X I I  Never      Never;
    // Kafka reads such a segment, and splits it when it loads it.
    RelativeOffsetOverflow         "K64"         X W X  Never      Never;
    OffsetBelowSegmentBase         "K65"         X E X  Never      Never;
    LeaderEpochRegression          "K66"         X W X  Never      Never;
    EmptySegment                   "K67"         X I X  Never      Never;
    ResumableAfterCorruption       "K70"         X I X  Never      Never;
    SegmentTooLarge                "K71"         X E X  Never      Stored;
    // Control records
    ControlKeyInvalid              "K72"         X E E  Never      Never;
    ControlTypeUnknown             "K73"         X W W  Never      Never;
    ControlValueInvalid            ""            X W W  Never      Never;
    EndTxnMarkerInvalid            "K74"         X E W  Never      Never;
    OpenTransaction                "K75"         X I X  Never      Never;
    // Messages
    EntrySizeTooSmall              "K76"         O E E  Converting Reading;
    EntryTrailingBytes             "K79"         W W W  Never      Never;
    WrapperValueNull               "K80"         E E E  Always     Reading;
    InnerSetEmpty                  "K80"         E E E  Always     Reading;
    InnerCompressed                "K80"         E E E  Always     Reading;
    InnerEntryTruncated            "K81"         O E E  Never      Never;
    InnerMagicMismatch             "K83"         E W W  Always     Never;
    WrapperOffsetInvalid           "K84"         E E E  Always     Reading;
    WrapperKeyNotNull              "K87"         W W W  Never      Never;
    // Compression
    CodecHeaderInvalid             "K89"         E E E  Always     Reading;
    DecompressFailed               "K90"         E E E  Always     Reading;
    CodecChecksumMismatch          "K91"         E E E  Always     Reading;
    CodecTrailingBytes             "K93"         W W W  Never      Never;
    DecompressedTooLarge           "K94"         E E E  Always     Reading;
    // Files beside a segment
    IndexSizeInvalid               "K95"         X E X  Never      Never;
    IndexNotMonotonic              "K96"         X E X  Never      Never;
    IndexPositionInvalid           "K97"         X E X  Never      Never;
    IndexOffsetMismatch            "K98"         X W X  Never      Never;
    TimeIndexNotMonotonic          "K99"         X E X  Never      Never;
    TimeIndexMismatch              "K100"        X W X  Never      Never;
    TxnIndexInvalid                "K101"        X E X  Never      Never;
    ProducerSnapshotCorrupt        "K102"        X E X  Never      Never;
    OrphanIndex                    "K103"        X W X  Never      Never;
};

/// Checks that are judged otherwise in messages than in record batches.
#[rustfmt::skip]
static MESSAGE_RULES: &[Rule] = rules! {
    KeyLengthTooLarge              "K78"         O E E  Converting Reading;
    ValueLengthTooLarge            "K78"         O E E  Converting Reading;
    OffsetDeltaNotSequential       "K85"         I I I  Never      Never;
};

/// Checks whose failure is odd and no more: what the codecs note about a stream that every reader reads.
#[rustfmt::skip]
static NOTE_RULES: &[Rule] = rules! {
    CodecChecksumMismatch          "K92"         W W W  Never      Never;
    DecompressFailed               "K90"         O E E  Never      Reading;
};

fn find(rules: &'static [Rule], kind: ErrorKind) -> Option<&'static Rule> {
    rules.iter().find(|r| r.kind == kind)
}

/// How bad a failure of the check `kind` is; `None` where it does not apply.
pub(super) fn severity(kind: ErrorKind, options: &Options) -> Option<Severity> {
    find(RULES, kind).map_or(Some(Severity::Error), |rule| rule.severity(options))
}

/// How bad, if Kafka refuses or not.
fn judge(rule: &Rule, options: &Options, refused: bool) -> Option<Severity> {
    let level = match options.origin {
        Origin::Client => rule.client,
        Origin::Stored => rule.stored,
        Origin::Replica => rule.replica,
    };
    match (options.conformance, level) {
        (_, X) => None,
        (Conformance::Strict, E | O) => Some(Severity::Error),
        // What the topic's settings make Kafka refuse is not merely odd.
        (Conformance::Strict, _) if refused && options.origin == Origin::Client => Some(Severity::Error),
        (Conformance::Reference, _) if refused => Some(Severity::Error),
        (Conformance::Reference, E | O) | (_, W) => Some(Severity::Warning),
        (_, I) => Some(Severity::Info),
    }
}

/// Every check: those of record batches and of what is around them, then those that are judged otherwise in messages, then
/// those of compressed streams that every reader reads.
///
/// ```
/// use batchwise::{ErrorKind, Options, Origin, Severity, kafka};
/// let rule = kafka::rules().find(|r| r.kind() == ErrorKind::BaseOffsetNotZero).unwrap();
/// let mut options = Options::default();
/// assert_eq!(rule.severity(&options), None, "in a segment any base offset is fine");
/// options.origin = Origin::Client;
/// assert_eq!(rule.severity(&options), Some(Severity::Error));
/// ```
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(MESSAGE_RULES).chain(NOTE_RULES)
}

impl Rule {
    /// What a failure is called.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Numbers of the cases that the check covers, as in `K03`, where there are several ways to fail it.
    pub fn cases(&self) -> impl Iterator<Item = &'static str> {
        self.cases.split_whitespace()
    }

    /// How bad a failure is; `None` where the check does not apply.
    ///
    /// What Kafka itself does may depend on more than the options, as on the topic's settings: a finding may then be of
    /// another severity under [`Conformance::Reference`].
    #[must_use]
    pub fn severity(&self, options: &Options) -> Option<Severity> {
        judge(self, options, self.is_refused(options, true))
    }

    fn is_refused(&self, options: &Options, converts: bool) -> bool {
        let refused = if options.origin == Origin::Client { self.produce } else { self.read };
        match refused {
            Never => false,
            Always => true,
            Reading => options.depth >= Depth::Records,
            Stored => options.origin == Origin::Stored,
            Converting => converts,
        }
    }
}

/// Whose rules a [`Judge`] goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Those of record batches.
    Batch,
    /// Those of messages, which the broker converts to record batches or keeps.
    Message {
        /// Whether it converts.
        converts: bool,
    },
}

/// Turns errors into defects by the table.
pub(super) struct Judge<'a> {
    pub(super) options: &'a Options,
    of: Of,
    defect: &'a mut dyn FnMut(Defect),
    /// A bit for each kind that was reported.
    seen: [u64; SEEN_WORDS],
}

const SEEN_WORDS: usize = ErrorKind::ALL.len().div_ceil(64);

impl<'a> Judge<'a> {
    pub(super) fn new(options: &'a Options, of: Of, defect: &'a mut dyn FnMut(Defect)) -> Self {
        Judge { options, of, defect, seen: [0; SEEN_WORDS] }
    }

    /// Whether the batch comes from a producer.
    pub(super) fn is_client(&self) -> bool {
        self.options.origin == Origin::Client
    }

    /// Whether the broker would convert.
    pub(super) fn converts(&self) -> bool {
        matches!(self.of, Of::Message { converts: true })
    }

    /// Notes that the broker writes the messages anew.
    pub(super) fn set_converts(&mut self) {
        self.of = Of::Message { converts: true };
    }

    /// Reports a failed check; tells whether it is an error.
    #[cold]
    pub(super) fn report(&mut self, error: Error) -> bool {
        let special = if self.of == Of::Batch { None } else { find(MESSAGE_RULES, error.kind()) };
        self.judge(special.or_else(|| find(RULES, error.kind())), error, None)
    }

    /// Reports a failed check of which the caller knows whether Kafka refuses it.
    #[cold]
    pub(super) fn report_as(&mut self, error: Error, refused: bool) {
        self.judge(find(RULES, error.kind()), error, Some(refused));
    }

    /// Reports a failed check, unless one of its kind was reported: for what every record may have.
    #[cold]
    pub(super) fn report_once(&mut self, error: Error) {
        if !self.has_seen(error.kind()) {
            self.report(error);
        }
    }

    /// [`report_as`](Self::report_as), unless one of its kind was reported.
    #[cold]
    pub(super) fn report_as_once(&mut self, error: Error, refused: bool) {
        if !self.has_seen(error.kind()) {
            self.report_as(error, refused);
        }
    }

    /// Reports what is odd about a stream that was decoded.
    #[cold]
    pub(super) fn note(&mut self, error: Error) {
        self.judge(find(NOTE_RULES, error.kind()).or_else(|| find(RULES, error.kind())), error, None);
    }

    fn has_seen(&self, kind: ErrorKind) -> bool {
        let bit = kind as usize;
        self.seen[bit / 64] >> (bit % 64) & 1 != 0
    }

    fn judge(&mut self, rule: Option<&Rule>, error: Error, refused: Option<bool>) -> bool {
        let bit = error.kind() as usize;
        self.seen[bit / 64] |= 1 << (bit % 64);
        let severity = match rule {
            Some(rule) => {
                let refused = refused.unwrap_or_else(|| rule.is_refused(self.options, self.converts()));
                judge(rule, self.options, refused)
            }
            None => Some(Severity::Error),
        };
        if let Some(severity) = severity {
            (self.defect)(Defect { error, severity });
        }
        severity == Some(Severity::Error)
    }
}
