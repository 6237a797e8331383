//! Decoding within a limit.

#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lz4")]
mod lz4_block;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd")]
mod zstd_frame;

use super::Codec;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::{vec, vec::Vec};
use core::fmt;

/// How a codec is decoded: what it appends to, from what.
type Decode = fn(&mut States, &[u8], &Container, &mut Output<'_>) -> Result<Notes, Stop>;

/// A row of the list of codecs.
struct Row {
    codec: Codec,
    /// `None` if the build was made without it.
    decode: Option<Decode>,
    /// About how many bytes come out, if the stream tells; never more than it can produce.
    hint: fn(&[u8]) -> usize,
}

macro_rules! codecs {
    ($($codec:ident, $name:literal, $module:ident;)*) => {
        static ROWS: &[Row] = &[$(Row {
            codec: Codec::$codec,
            #[cfg(feature = $name)]
            decode: Some($module::decode),
            #[cfg(not(feature = $name))]
            decode: None,
            #[cfg(feature = $name)]
            hint: $module::hint,
            #[cfg(not(feature = $name))]
            hint: <[u8]>::len,
        }),*];

        /// What codecs keep from one stream to the next.
        #[derive(Default)]
        #[allow(dead_code, reason = "not every codec keeps something")]
        struct States {
            $(#[cfg(feature = $name)] $module: $module::State,)*
        }
    };
}

codecs! {
    Gzip, "gzip", gzip;
    Snappy, "snappy", snappy;
    Lz4, "lz4", lz4;
    Zstd, "zstd", zstd;
}

/// What a container may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Whether the checksum of an LZ4 frame's descriptor has to be right. Old writers computed it over too many bytes.
    pub(crate) lz4_descriptor_checksum: bool,
    /// Whether LZ4 blocks may refer to the blocks before them.
    pub(crate) lz4_linked_blocks: bool,
}

/// What is odd about a stream that could be decoded all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notes {
    /// A checksum or size in the stream that is wrong and that the Java readers do not look at.
    pub checksum: Option<Error>,
    /// Bytes behind the stream that the Java readers ignore.
    pub trailing: Option<Error>,
    /// A block of no bytes in the middle of a stream, at which the Java reader fails unless it skips values.
    pub empty_block: Option<Error>,
}

impl Notes {
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Error> {
        [self.checksum, self.trailing, self.empty_block].into_iter().flatten()
    }
}

/// A decoded stream.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// What was odd.
    pub notes: Notes,
}

/// Why decoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What, in which field of the container, at which byte.
    pub error: Error,
    /// Whether a reader fails before it asks for the first byte of the content.
    pub on_open: bool,
}

/// Why a codec stopped.
#[allow(dead_code, reason = "in a build without codecs")]
enum Stop {
    /// The output is full and more is to come.
    Full,
    /// The stream is bad.
    Bad(Failure),
}

#[allow(dead_code, reason = "in a build without codecs")]
impl Stop {
    fn bad(kind: ErrorKind, detail: Detail, field: &'static str, at: usize) -> Stop {
        Stop::Bad(Failure { error: Error::new(kind, detail, field, at as u64), on_open: false })
    }

    /// A failure that shows before the first byte is asked for.
    fn on_open(self) -> Stop {
        match self {
            Stop::Bad(failure) => Stop::Bad(Failure { on_open: true, ..failure }),
            full => full,
        }
    }

    fn header(reason: &'static str, field: &'static str, at: usize) -> Stop {
        Stop::bad(ErrorKind::CodecHeaderInvalid, Detail::Reason(reason), field, at).on_open()
    }

    fn corrupt(reason: &'static str, field: &'static str, at: usize) -> Stop {
        Stop::bad(ErrorKind::DecompressFailed, Detail::Reason(reason), field, at)
    }
}

/// Where a codec writes to.
struct Output<'a> {
    room: &'a mut [u8],
    len: usize,
}

#[allow(dead_code, reason = "not every codec uses everything")]
impl Output<'_> {
    /// The part that is not written yet.
    fn rest(&mut self) -> &mut [u8] {
        &mut self.room[self.len..]
    }

    /// The next `len` bytes, to be written by the caller.
    fn take(&mut self, len: usize) -> Result<&mut [u8], Stop> {
        let taken = self.room[self.len..].get_mut(..len).ok_or(Stop::Full)?;
        self.len += len;
        Ok(taken)
    }
}

/// Decodes streams into memory that it uses again and again.
///
/// Memory: never more than the limit, and a few hundred KiB of state that the codecs keep. Lengths in a stream are
/// compared with what the stream can produce at most before they size anything.
///
/// ```
/// # #[cfg(feature = "snappy")] {
/// use batchwise::codec::{Codec, Decoder};
/// let mut decoder = Decoder::new(1024);
/// let raw = [5, 16, b'h', b'e', b'l', b'l', b'o'];
/// assert_eq!(decoder.decode(Codec::Snappy, &raw).unwrap().bytes, b"hello");
/// # }
/// ```
pub struct Decoder {
    limit: usize,
    linked_blocks: bool,
    buffer: Vec<u8>,
    states: States,
}

impl Default for Decoder {
    /// With a limit of 64 MiB.
    fn default() -> Self {
        Decoder::new(64 << 20)
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("limit", &self.limit)
            .field("buffer", &self.buffer.len())
            .finish_non_exhaustive()
    }
}

/// The least memory that is worth asking for.
const MIN_ROOM: usize = 16 << 10;

impl Decoder {
    /// A decoder of streams that make at most `limit` bytes each.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Decoder { limit, linked_blocks: false, buffer: Vec::new(), states: States::default() }
    }

    /// Whether LZ4 blocks may refer to the blocks before them. Kafka's Java reader refuses that, and so does a new
    /// decoder; but some clients write it.
    #[must_use]
    pub fn linked_blocks(self, allowed: bool) -> Self {
        Decoder { linked_blocks: allowed, ..self }
    }

    /// The most bytes that a stream may make.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Decodes `stream` as a whole. Offsets of notes and errors count bytes of `stream`.
    ///
    /// # Errors
    /// `CodecHeaderInvalid`, `DecompressFailed`, `CodecChecksumMismatch`, `DecompressedTooLarge`, or `CodecUnsupported`
    /// if the build was made without the codec.
    pub fn decode(&mut self, codec: Codec, stream: &[u8]) -> Result<Decoded<'_>, Failure> {
        self.decode_checking(codec, stream, true, self.limit)
    }

    /// [`decode`](Self::decode) with another limit, and perhaps without a look at an LZ4 descriptor's checksum.
    pub(crate) fn decode_checking(
        &mut self,
        codec: Codec,
        stream: &[u8],
        lz4_descriptor_checksum: bool,
        limit: usize,
    ) -> Result<Decoded<'_>, Failure> {
        let container = Container { lz4_descriptor_checksum, lz4_linked_blocks: self.linked_blocks };
        let row = &ROWS[codec as usize];
        debug_assert!(row.codec == codec);
        let Some(decode) = row.decode else {
            let error = Error::new(ErrorKind::CodecUnsupported, Detail::Reason(codec.name()), "attributes", 0);
            return Err(Failure { error, on_open: true });
        };
        let mut wanted = (row.hint)(stream).max(MIN_ROOM).min(limit);
        loop {
            if self.buffer.len() < wanted {
                // Freed first, so that never both are there; a stream that outgrows its room is decoded again.
                drop(core::mem::take(&mut self.buffer));
                self.buffer = vec![0; wanted];
            }
            let room = self.buffer.len().min(limit);
            let mut output = Output { room: &mut self.buffer[..room], len: 0 };
            match decode(&mut self.states, stream, &container, &mut output) {
                Ok(notes) => {
                    let len = output.len;
                    return Ok(Decoded { bytes: &self.buffer[..len], notes });
                }
                Err(Stop::Full) if room < limit => wanted = room.saturating_mul(4).min(limit),
                Err(Stop::Full) => {
                    let detail = Detail::Length { needed: limit as u64 + 1, available: limit as u64 };
                    let error = Error::new(ErrorKind::DecompressedTooLarge, detail, "records", 0);
                    return Err(Failure { error, on_open: false });
                }
                Err(Stop::Bad(failure)) => return Err(failure),
            }
        }
    }
}
