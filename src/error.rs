//! What is wrong, in which field, at which byte.

use core::fmt;

/// Result of this crate's functions.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// One broken promise of the input: its kind, the field and the byte where it stands.
///
/// It is `Copy` and allocates nothing, so a caller may keep as many as it likes.
///
/// ```
/// let error = batchwise::kafka::RecordBatch::parse(&[0; 20], 4096).unwrap_err();
/// assert_eq!(error.kind(), batchwise::ErrorKind::BatchLengthTooSmall);
/// assert_eq!((error.field(), error.offset()), ("batchLength", 4104));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    detail: Detail,
    field: &'static str,
    offset: u64,
    within: Within,
}

/// What [`Error::offset`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Within {
    /// Bytes of the input.
    #[default]
    Input,
    /// Bytes of the decompressed records of one batch.
    Decompressed,
}

/// The values behind an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Nothing beyond the kind.
    None,
    /// A checksum in the input and the one computed from it.
    Checksum {
        /// As stored.
        stored: u64,
        /// As computed.
        computed: u64,
    },
    /// A checksum in the input and the one computed from it, of the message or batch at an offset of the log.
    ChecksumAt {
        /// As stored.
        stored: u64,
        /// As computed.
        computed: u64,
        /// Offset of the message, or first offset of the batch; `u64::MAX` if it would pass that.
        log_offset: u64,
    },
    /// A field wants more bytes than there are.
    Length {
        /// Bytes wanted.
        needed: u64,
        /// Bytes there.
        available: u64,
    },
    /// A number that breaks a rule.
    Value {
        /// The number.
        found: i64,
        /// The rule, as in "must be at least 49".
        rule: &'static str,
    },
    /// Two numbers that should be equal.
    Mismatch {
        /// As stored.
        stored: i64,
        /// As counted or computed.
        computed: i64,
    },
    /// So many bytes.
    Bytes {
        /// How many.
        count: u64,
    },
    /// Offsets that are missing.
    Offsets {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// Two unsigned numbers that should be equal.
    Expected {
        /// What comes next, or what another place says.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// What another library said.
    Reason(&'static str),
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $meaning:literal,)*) => {
        /// The kinds of broken promises; one list for all formats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind { $($(#[$meta])* #[doc = $meaning] $name,)* }

        impl ErrorKind {
            /// Every kind.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$name),*];

            /// Name of the kind, as in reports: `CrcMismatch`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ErrorKind::$name => stringify!($name)),* }
            }

            /// The kind in words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorKind::$name => $meaning),* }
            }
        }
    };
}

impl fmt::Display for ErrorKind {
    /// The [name](Self::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

kinds! {
    // Framing
    TornTail = "the last entry is incomplete",
    TrailingBytes = "bytes are left that are too few for an entry",
    ZeroTail = "the input ends in zeros",
    BatchLengthTooSmall = "the length is below that of any entry",
    BatchLengthBelowHeader = "the length is below that of the header",
    BatchLengthOverflow = "the length is above what an entry can have",
    BatchLengthPastEnd = "the length goes past the end of the input, and more entries follow",
    BatchTooLarge = "the batch is larger than the broker takes",
    BatchExceedsSegment = "the batches are larger than a segment",
    MagicUnknown = "the magic is none of the known ones",
    MagicNotAllowed = "the magic is not allowed here",
    MagicMixed = "the magic differs from that of the first entry",
    NoBatch = "there is no whole batch",
    BatchCountNotOne = "there is more than one batch",
    UnreadableBytes = "bytes that belong to no entry",
    // Checksums and attributes
    CrcMismatch = "the stored checksum is not that of the bytes",
    InnerCrcMismatch = "the stored checksum of a message is not that of its bytes",
    CodecUnknown = "the compression codec is none of the known ones",
    CodecUnsupported = "this build was made without the compression codec",
    CodecLevelInvalid = "the codec has no such compression level",
    CodecNotAllowed = "the compression codec is not allowed here",
    AttributesReservedBits = "attribute bits are set that have no meaning",
    TimestampTypeFromClient = "a producer set the timestamp type that is the broker's to set",
    ControlBatchFromClient = "a producer sent a control batch",
    DeleteHorizonFromClient = "a producer set a delete horizon",
    DeleteHorizonNotAllowed = "a delete horizon cannot be set here",
    TransactionalWithoutProducerId = "a transactional batch has no producer id",
    FormatUnsupported = "the format has no producer ids and no transactions",
    EmptyBatchCompressed = "a batch of no records names a codec",
    // Offsets and counts
    BaseOffsetNotZero = "a producer sent a base offset other than 0",
    OffsetOutOfRange = "the offsets go past the greatest or below 0",
    LastOffsetDeltaNegative = "the last offset delta is negative",
    RecordsCountNegative = "the number of records is negative",
    EmptyBatch = "the batch has no records",
    EmptyBatchWithPayload = "a batch of no records has bytes behind its header",
    RecordsCountMismatch = "the number of records is not that of the offsets",
    RecordsCountExceedsRange = "there are more records than offsets",
    RecordsTruncated = "the records end before all of them were read",
    TrailingRecordBytes = "bytes are left behind the last record",
    OffsetDeltaNotSequential = "the offset deltas are not 0, 1, 2 and so on",
    OffsetDeltaNotIncreasing = "an offset delta is not above the one before",
    OffsetDeltaOutOfRange = "an offset delta is negative or above the last",
    // Records
    RecordLengthMismatch = "the record's fields do not fill its length",
    RecordLengthNegative = "the record's length is negative",
    RecordLengthTooLarge = "the record's length goes past the end",
    VarintTooLong = "a varint is longer than its width allows",
    VarintTruncated = "a varint is cut off",
    VarintNotMinimal = "a varint is longer than its value needs",
    VarintOverflowBits = "a varint has bits beyond its width",
    LengthBelowMinusOne = "a length is below -1, which also reads as null",
    KeyLengthTooLarge = "a key goes past the end",
    ValueLengthTooLarge = "a value goes past the end",
    HeaderLengthTooLarge = "a record header goes past the end",
    HeadersCountNegative = "the number of record headers is negative",
    HeadersCountTooLarge = "more record headers than bytes",
    HeaderKeyNull = "a record header has no key",
    HeaderKeyNotUtf8 = "the key of a record header is not UTF-8",
    RecordAttributesNonZero = "record attributes are set, which have no meaning",
    KeyMissingOnCompactedTopic = "a record of a compacted topic has no key",
    // Producers
    BaseSequenceMissing = "a producer id without a sequence number",
    ProducerIdInvalid = "the producer id is below -1",
    ProducerEpochInvalid = "a producer id with a negative epoch",
    ProducerFieldsInconsistent = "an epoch or a sequence number without a producer id",
    DuplicateSequence = "the batch was appended before",
    SequenceOutOfOrder = "the sequence numbers do not follow those before",
    ProducerFenced = "the producer's epoch is below one seen before",
    TransactionStateInvalid = "the batch does not fit the state of the producer's transaction",
    CoordinatorFenced = "the coordinator's epoch is below one seen before",
    // Timestamps
    TimestampOutOfRange = "a timestamp is outside what the topic allows",
    TimestampNegative = "a timestamp is below -1",
    MaxTimestampMismatch = "the greatest timestamp is not that of the records",
    TimestampOverflow = "a timestamp is beyond 64 bits",
    FirstDeltaNotZero = "the first timestamp is not the base timestamp",
    // Batches of messages with a checksum each
    HeaderReservedNonzero = "reserved bytes of the header are not zero",
    ProducerMalformed = "the producer's fields break their rules",
    FramesNotFilling = "the messages do not fill the batch as it says",
    MessageChecksumMismatch = "the stored checksum is not that of the message",
    BatchChecksumMismatch = "the stored checksum is not that of the batch",
    BatchEmpty = "the batch holds no message",
    BatchLengthMismatch = "the batch is not as long as what holds it",
    OffsetOverflow = "the offsets pass the end of the offset space",
    OffsetsNotContiguous = "the first offset is not the one that comes next",
    BaseOffsetMismatch = "the first offset is not the one in the name",
    LogEmpty = "there is no batch",
    PartitionMismatch = "the batch is of another partition",
    // What nobody checks, and what older servers wrote
    OffsetDeltaUnexpected = "the offset delta is not the message's place in the batch",
    OriginTimestampUnexpected = "the batch's time is not that of its earliest message",
    ServerFieldSet = "a field that the server sets is not zero",
    MessageOversized = "the message is larger than clients make them",
    GenerationOld = "written by an older generation of the server",
    // User headers
    UserHeaderKindZero = "the kind of a user header's key or value is zero",
    UserHeaderLength = "the length of a user header's key or value is not 1 to 255",
    UserHeaderTruncated = "the user headers are cut off",
    UserHeaderUnpaired = "a user header's key has no value",
    UserHeaderKindUnknown = "the kind of a user header's key or value is unknown",
    UserHeaderKeySize = "a user header's key has not the size of its kind",
    UserHeaderValueSize = "a user header's value has not the size of its kind",
    // Requests and replies around batches
    RequestTruncated = "the request is cut off",
    MetadataMalformed = "the metadata do not parse or do not fill their length",
    MessagesCountMismatch = "the request and its batch differ in the number of messages",
    ReplyTruncated = "the reply is cut off",
    TimestampDeltaTooLarge = "the times of the messages lie too far apart",
    // Order of entries
    OffsetOverlap = "the offsets do not come after those of the entry before",
    OffsetGap = "offsets are missing between two entries",
    RelativeOffsetOverflow = "an offset is too far from the segment's first",
    OffsetBelowSegmentBase = "an offset is below the segment's first",
    LeaderEpochRegression = "the leader epoch is below that of the entry before",
    EmptySegment = "the segment is empty",
    ResumableAfterCorruption = "entries follow the damaged bytes",
    SegmentTooLarge = "the segment is larger than can be opened",
    // Control records
    ControlKeyInvalid = "the key of a control record is missing, short or of a negative version",
    ControlRecordMisplaced = "a control record outside a control batch",
    ControlTypeUnknown = "the type of a control record is none of the known ones",
    ControlValueInvalid = "the value of a control record does not have the fields of its type",
    EndTxnMarkerInvalid = "a transaction marker is not as the coordinator writes it",
    OpenTransaction = "a transaction is not ended",
    // Messages
    EntrySizeTooSmall = "the message is shorter than its header",
    EntryTrailingBytes = "bytes are left in the message behind its value",
    WrapperValueNull = "a compressed message has no value",
    InnerSetEmpty = "a compressed message holds no messages",
    InnerCompressed = "a message within a compressed message is compressed itself",
    InnerEntryTruncated = "the last message within a compressed message is cut off",
    InnerMagicMismatch = "the magic of a message differs from that of the message around it",
    WrapperOffsetInvalid = "the offset of a compressed message is below that of its last message",
    WrapperKeyNotNull = "a compressed message has a key",
    // Compression
    CodecHeaderInvalid = "the header of the compressed stream is invalid",
    DecompressFailed = "the compressed stream is corrupt or cut off",
    CodecChecksumMismatch = "a checksum or size within the compressed stream is not that of its content",
    CodecTrailingBytes = "bytes are left behind the compressed stream",
    CompressFailed = "the codec's library could not compress",
    DecompressedTooLarge = "the records decompress to more than the limit",
    // Files beside a segment
    IndexSizeInvalid = "the size is not a multiple of that of an entry",
    IndexNotMonotonic = "the entries do not increase",
    IndexPositionInvalid = "the position is not the start of a batch",
    IndexOffsetMismatch = "the offset is not that of the batch at the position",
    TimeIndexNotMonotonic = "timestamps or offsets decrease",
    TimeIndexMismatch = "the timestamp or offset is not that of the log",
    TxnIndexInvalid = "the entry of an aborted transaction is invalid",
    ProducerSnapshotCorrupt = "the snapshot of producers is corrupt",
    OrphanIndex = "there is no log to the index",
}

impl Error {
    /// An error at `offset`, bytes of the input.
    #[cold]
    #[must_use]
    pub const fn new(kind: ErrorKind, detail: Detail, field: &'static str, offset: u64) -> Self {
        Error { kind, detail, field, offset, within: Within::Input }
    }

    /// The same error with its offset counted in `within`.
    #[must_use]
    pub const fn within(self, within: Within) -> Self {
        Error { within, ..self }
    }

    /// The same error `base` bytes further on.
    #[must_use]
    pub(crate) const fn moved_by(self, base: u64) -> Self {
        Error { offset: base.wrapping_add(self.offset), ..self }
    }

    /// The same error under another kind.
    #[must_use]
    pub(crate) const fn of_kind(self, kind: ErrorKind) -> Self {
        Error { kind, ..self }
    }

    /// The same error of a field that goes by another name here.
    #[must_use]
    pub(crate) const fn renamed(self, field: &'static str) -> Self {
        Error { field, ..self }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The values behind it.
    #[must_use]
    pub const fn detail(&self) -> Detail {
        self.detail
    }

    /// The field, spelt as the format's specification spells it.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// Where the field stands, in bytes from the start of what [`counted_in`](Self::counted_in) tells.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// What [`offset`](Self::offset) counts.
    #[must_use]
    pub const fn counted_in(&self) -> Within {
        self.within
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.field, self.offset)?;
        if self.within == Within::Decompressed {
            f.write_str(" of the decompressed records")?;
        }
        f.write_str(": ")?;
        match self.detail {
            Detail::None => f.write_str(self.kind.meaning()),
            Detail::Checksum { stored, computed } if stored.max(computed) > u64::from(u32::MAX) => {
                write!(f, "stored {stored:#018x}, computed {computed:#018x}")
            }
            Detail::ChecksumAt { stored, computed, log_offset } => {
                write!(f, "stored {stored:#018x}, computed {computed:#018x} (log offset {log_offset})")
            }
            Detail::Checksum { stored, computed } => write!(f, "stored {stored:#010x}, computed {computed:#010x}"),
            Detail::Length { needed, available } => {
                write!(f, "{}: needs {needed} bytes, {available} there", self.kind.meaning())
            }
            Detail::Value { found, rule } => write!(f, "{found}, {rule}"),
            Detail::Mismatch { stored, computed } => {
                write!(f, "{}: stored {stored}, found {computed}", self.kind.meaning())
            }
            Detail::Bytes { count } => write!(f, "{}: {count} bytes", self.kind.meaning()),
            Detail::Offsets { first, last } => {
                write!(f, "offsets {first} to {last} ({}) are missing", last.saturating_sub(first).saturating_add(1))
            }
            Detail::Expected { expected, found } => {
                write!(f, "{}: expected {expected}, found {found}", self.kind.meaning())
            }
            Detail::Reason(reason) => write!(f, "{}: {reason}", self.kind.meaning()),
        }
    }
}

impl core::error::Error for Error {}

const _: () = assert!(size_of::<Error>() <= 64, "errors are passed by value");
