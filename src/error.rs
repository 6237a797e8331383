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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

kinds! {
    // Framing
    TornTail = "the last entry is incomplete",
    TrailingBytes = "bytes are left that are too few for an entry",
    ZeroTail = "the input ends in zeros",
    BatchLengthTooSmall = "the length is below that of any entry",
    BatchLengthBelowHeader = "the length is below that of the header",
    BatchLengthOverflow = "the length is above what an entry can have",
    MagicUnknown = "the magic is none of the known ones",
    UnreadableBytes = "bytes that belong to no entry",
    // Checksums and attributes
    CrcMismatch = "the stored checksum is not that of the bytes",
    CodecUnknown = "the compression codec is none of the known ones",
    CodecUnsupported = "this build was made without the compression codec",
    // Offsets and counts
    LastOffsetDeltaNegative = "the last offset delta is negative",
    RecordsCountNegative = "the number of records is negative",
    EmptyBatchWithPayload = "a batch of no records has bytes behind its header",
    RecordsTruncated = "the records end before all of them were read",
    TrailingRecordBytes = "bytes are left behind the last record",
    // Records
    RecordLengthMismatch = "the record's fields do not fill its length",
    RecordLengthNegative = "the record's length is negative",
    RecordLengthTooLarge = "the record's length goes past the end",
    VarintTooLong = "a varint is longer than its width allows",
    VarintTruncated = "a varint is cut off",
    KeyLengthTooLarge = "a key goes past the end",
    ValueLengthTooLarge = "a value goes past the end",
    HeaderLengthTooLarge = "a record header goes past the end",
    HeadersCountNegative = "the number of record headers is negative",
    HeadersCountTooLarge = "more record headers than bytes",
    HeaderKeyNull = "a record header has no key",
    // Order of entries
    OffsetOverlap = "the offsets do not come after those of the entry before",
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
            Detail::Checksum { stored, computed } => write!(f, "stored {stored:#010x}, computed {computed:#010x}"),
            Detail::Length { needed, available } => {
                write!(f, "{}: needs {needed} bytes, {available} there", self.kind.meaning())
            }
            Detail::Value { found, rule } => write!(f, "{found}, {rule}"),
            Detail::Mismatch { stored, computed } => {
                write!(f, "{}: stored {stored}, found {computed}", self.kind.meaning())
            }
            Detail::Reason(reason) => write!(f, "{}: {reason}", self.kind.meaning()),
        }
    }
}

impl core::error::Error for Error {}

const _: () = assert!(size_of::<Error>() <= 64, "errors are passed by value");
