//! The header of a batch.

use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result};

layout! {
    /// Header of a message batch, 256 bytes, as revision 2 has it.
    ///
    /// In revision 1 everything from `flags` on is reserved and zero.
    pub struct BatchHeader: 256 bytes, little_endian {
        /// Partition; 0 from a producer.
        0 partition_id: u64,
        /// Offset that the messages' deltas are relative to; 0 from a producer.
        8 base_offset: u64,
        /// Time of the append, µs since 1970, the same for every message; 0 from a producer.
        16 base_timestamp: u64,
        /// Time that the messages' deltas are relative to, µs since 1970: that of the earliest one.
        24 origin_timestamp: u64,
        /// Bytes of the batch with this header.
        32 batch_length: u64,
        /// XXH3-64 of the header's numbers and of the checksums of all messages.
        40 batch_checksum: u64,
        /// Number of messages.
        48 message_count: u32,
        /// 1 if there is a producer, else 0.
        52 flags: u8,
        /// Zero.
        53 padding: [u8; 3],
        /// Id of an idempotent producer.
        56 producer_id: u64,
        /// Epoch of that producer.
        64 epoch: u16,
        /// Zero.
        66 padding2: [u8; 2],
        /// Sequence number of the first message.
        68 base_sequence: u32,
        /// Zero.
        72 reserved: [u8; 184],
    }
}

/// Which bytes of the header have a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Revision {
    /// Servers 0.9: bytes 52 to 255 are zero.
    R1,
    /// Servers from 0.10 on: a producer may be named in bytes 52 to 71. Every batch of [`R1`](Self::R1) is one of these.
    #[default]
    R2,
}

/// An idempotent producer, and the sequence number that it gave to the first message of the batch.
///
/// The limits of the three numbers are those of Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Producer {
    /// At most [`MAX_ID`](Self::MAX_ID).
    pub id: u64,
    /// At most [`MAX_EPOCH`](Self::MAX_EPOCH).
    pub epoch: u16,
    /// At most [`MAX_SEQUENCE`](Self::MAX_SEQUENCE); 0 comes behind that.
    pub base_sequence: u32,
}

impl Producer {
    /// Greatest id.
    pub const MAX_ID: u64 = (1 << 63) - 1;
    /// Greatest epoch.
    pub const MAX_EPOCH: u16 = (1 << 15) - 1;
    /// Greatest sequence number.
    pub const MAX_SEQUENCE: u32 = (1 << 31) - 1;

    /// Whether each number is within its limit.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.id <= Self::MAX_ID && self.epoch <= Self::MAX_EPOCH && self.base_sequence <= Self::MAX_SEQUENCE
    }
}

/// The numbers of a batch header, to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// As in [`BatchHeader`].
    pub partition_id: u64,
    /// As in [`BatchHeader`].
    pub base_offset: u64,
    /// As in [`BatchHeader`], µs.
    pub base_timestamp: u64,
    /// As in [`BatchHeader`], µs.
    pub origin_timestamp: u64,
    /// As in [`BatchHeader`], bytes.
    pub batch_length: u64,
    /// As in [`BatchHeader`].
    pub batch_checksum: u64,
    /// As in [`BatchHeader`].
    pub message_count: u32,
    /// The producer; revision 2 only.
    pub producer: Option<Producer>,
}

/// Room for the bytes of the header that the batch checksum covers: six numbers, and the producer with its flag.
pub(super) const CHECKSUM_HEAD: usize = 64;

impl HeaderFields {
    /// The header as it lies in a batch. Reserved bytes are zero.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; BatchHeader::SIZE] {
        let mut out = [0; BatchHeader::SIZE];
        let mut put = |field, bytes: &[u8]| {
            let at = start_of(BatchHeader::FIELDS, field);
            out[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put("partition_id", &self.partition_id.to_le_bytes());
        put("base_offset", &self.base_offset.to_le_bytes());
        put("base_timestamp", &self.base_timestamp.to_le_bytes());
        put("origin_timestamp", &self.origin_timestamp.to_le_bytes());
        put("batch_length", &self.batch_length.to_le_bytes());
        put("batch_checksum", &self.batch_checksum.to_le_bytes());
        put("message_count", &self.message_count.to_le_bytes());
        if let Some(producer) = self.producer {
            put("flags", &[1]);
            put("producer_id", &producer.id.to_le_bytes());
            put("epoch", &producer.epoch.to_le_bytes());
            put("base_sequence", &producer.base_sequence.to_le_bytes());
        }
        out
    }
}

impl<'a> BatchHeader<'a> {
    /// The header that these bytes are.
    #[inline]
    pub(super) const fn of(bytes: &'a [u8; BatchHeader::SIZE]) -> Self {
        BatchHeader(bytes)
    }
}

impl BatchHeader<'_> {
    /// The producer, if one is named.
    #[must_use]
    pub fn producer(self) -> Option<Producer> {
        let producer = Producer { id: self.producer_id(), epoch: self.epoch(), base_sequence: self.base_sequence() };
        (self.flags() == 1).then_some(producer)
    }

    /// The numbers, to be changed and written again.
    #[must_use]
    pub fn fields(self) -> HeaderFields {
        HeaderFields {
            partition_id: self.partition_id(),
            base_offset: self.base_offset(),
            base_timestamp: self.base_timestamp(),
            origin_timestamp: self.origin_timestamp(),
            batch_length: self.batch_length(),
            batch_checksum: self.batch_checksum(),
            message_count: self.message_count(),
            producer: self.producer(),
        }
    }

    /// Last offset as the server counts it: `base_offset + message_count - 1`; `None` for no message or past 64 bits.
    #[must_use]
    pub fn last_offset(self) -> Option<u64> {
        u64::from(self.message_count()).checked_sub(1).and_then(|last| self.base_offset().checked_add(last))
    }

    /// What the header says, as the reference checks it before it looks at anything behind it.
    ///
    /// `offset` is where the header starts in the input.
    ///
    /// # Errors
    /// In this order: `BatchLengthBelowHeader`, `HeaderReservedNonzero`, `ProducerMalformed` (revision 2).
    pub fn check(self, revision: Revision, offset: u64) -> Result<()> {
        let length = self.batch_length();
        if length < Self::SIZE as u64 {
            let detail = Detail::Value { found: length as i64, rule: "must be at least 256" };
            return Err(self.error(ErrorKind::BatchLengthBelowHeader, detail, "batch_length", offset));
        }
        let (from, field) = match revision {
            Revision::R1 => (start_of(Self::FIELDS, "flags"), "reserved"),
            Revision::R2 => (start_of(Self::FIELDS, "reserved"), "reserved"),
        };
        // The last word first: where bytes are no header at all, one comparison settles it most of the time.
        let bytes = self.as_bytes();
        let (words, _) = bytes[from & !7..].as_chunks::<8>();
        let rest_zero = || words[1..].iter().fold(0, |all, w| all | u64::from_le_bytes(*w)) == 0;
        let first = u64::from_le_bytes(words[0]) >> (8 * (from % 8));
        if bytes[Self::SIZE - 8..] != [0; 8] || first != 0 || !rest_zero() {
            let at = bytes[from..].iter().position(|&b| b != 0).unwrap_or_default() + from;
            let detail = Detail::Value { found: bytes[at].into(), rule: "must be 0" };
            return Err(Error::new(ErrorKind::HeaderReservedNonzero, detail, field, offset + at as u64));
        }
        match revision {
            Revision::R1 => Ok(()),
            Revision::R2 => self.check_producer(offset),
        }
    }

    fn check_producer(self, offset: u64) -> Result<()> {
        let wrong = |found: u64, rule, field| {
            let detail = Detail::Value { found: found as i64, rule };
            Err(self.error(ErrorKind::ProducerMalformed, detail, field, offset))
        };
        let Producer { id, epoch, base_sequence } =
            Producer { id: self.producer_id(), epoch: self.epoch(), base_sequence: self.base_sequence() };
        let paddings = [self.padding() == [0; 3], self.padding2() == [0; 2]];
        match self.flags() {
            0 | 1 if !paddings[0] => wrong(u64::from(self.padding().into_iter().max().unwrap_or(0)), ZERO, "padding"),
            0 | 1 if !paddings[1] => wrong(u64::from(self.padding2().into_iter().max().unwrap_or(0)), ZERO, "padding2"),
            0 if id != 0 => wrong(id, ABSENT, "producer_id"),
            0 if epoch != 0 => wrong(epoch.into(), ABSENT, "epoch"),
            0 if base_sequence != 0 => wrong(base_sequence.into(), ABSENT, "base_sequence"),
            1 if id > Producer::MAX_ID => wrong(id, "must be at most 2^63 - 1", "producer_id"),
            1 if epoch > Producer::MAX_EPOCH => wrong(epoch.into(), "must be at most 32767", "epoch"),
            1 if base_sequence > Producer::MAX_SEQUENCE => {
                wrong(base_sequence.into(), "must be at most 2147483647", "base_sequence")
            }
            0 | 1 => Ok(()),
            flags => wrong(flags.into(), "must be 0 or 1", "flags"),
        }
    }

    /// Puts the bytes that the batch checksum covers before those of the messages at the end of `head`, and tells where
    /// they start.
    #[inline]
    pub(super) fn put_checksum_head(self, head: &mut [u8; CHECKSUM_HEAD]) -> usize {
        let from = self.as_bytes();
        if self.flags() != 1 {
            head[20..60].copy_from_slice(&from[..40]);
            head[60..].copy_from_slice(&from[48..52]);
            return 20;
        }
        head[5..45].copy_from_slice(&from[..40]);
        head[45..49].copy_from_slice(&from[48..52]);
        head[49] = 1;
        head[50..58].copy_from_slice(&from[56..64]);
        head[58..60].copy_from_slice(&from[64..66]);
        head[60..].copy_from_slice(&from[68..72]);
        5
    }

    #[cold]
    pub(super) fn error(self, kind: ErrorKind, detail: Detail, field: &'static str, offset: u64) -> Error {
        Error::new(kind, detail, field, offset + start_of(Self::FIELDS, field) as u64)
    }
}

const ZERO: &str = "must be 0";
const ABSENT: &str = "must be 0 where the flags name no producer";
