//! A record batch, magic 2.

use super::{Attributes, LENGTH_END, Records};
use crate::codec::{Codec, Decoder};
use crate::{Detail, Error, ErrorKind, Result, Within, crc32c};

layout! {
    /// Header of a record batch, magic 2, 61 bytes (the specification's "Record Batch").
    pub struct BatchHeader: 61 bytes, big_endian {
        /// Offset of the first record.
        0 base_offset: i64,
        /// Bytes of the batch behind this field.
        8 batch_length: i32,
        /// Epoch of the leader that appended the batch; -1 from a client.
        12 partition_leader_epoch: i32,
        /// Version of the format: 2.
        16 magic: i8,
        /// CRC-32C of everything behind this field.
        17 crc: u32,
        /// Codec (bits 0-2), timestamp type (3), transactional (4), control (5), delete horizon (6).
        21 attributes: i16,
        /// Offset of the last record, relative to the first.
        23 last_offset_delta: i32,
        /// Timestamp that the records' deltas are relative to, ms.
        27 base_timestamp: i64,
        /// Greatest timestamp of the records, ms.
        35 max_timestamp: i64,
        /// Id of an idempotent producer; -1 for none.
        43 producer_id: i64,
        /// Epoch of that producer.
        51 producer_epoch: i16,
        /// Sequence number of the first record.
        53 base_sequence: i32,
        /// Number of records in the batch.
        57 records_count: i32,
    }
}

/// Where the checksum stands, and where the bytes begin that it covers.
const CRC_AT: usize = 17;
const CRC_FROM: usize = 21;
/// Shortest length field of any entry: that of a message of magic 0.
const MIN_LENGTH: i32 = 14;
/// Shortest length field of a record batch: the header without the fields before it.
const MIN_BATCH_LENGTH: i32 = (BatchHeader::SIZE - LENGTH_END) as i32;

/// Length of the whole entry from its length field and magic.
#[inline]
pub(super) fn length_of(length: i32, magic: i8, offset: u64) -> Result<u64> {
    let wrong =
        |kind, rule| Err(Error::new(kind, Detail::Value { found: length.into(), rule }, "batchLength", offset + 8));
    if length < MIN_LENGTH {
        return wrong(ErrorKind::BatchLengthTooSmall, "must be at least 14");
    }
    if length > i32::MAX - LENGTH_END as i32 {
        return wrong(ErrorKind::BatchLengthOverflow, "must be below 2147483636");
    }
    match magic {
        2 if length < MIN_BATCH_LENGTH => wrong(ErrorKind::BatchLengthBelowHeader, "must be at least 49"),
        0..=2 => Ok(length as u64 + LENGTH_END as u64),
        _ => {
            let detail = Detail::Value { found: magic.into(), rule: "must be 0, 1 or 2" };
            Err(Error::new(ErrorKind::MagicUnknown, detail, "magic", offset + 16))
        }
    }
}

/// A record batch whose framing holds: header and as many bytes as its length field says.
///
/// ```
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/two-records.bin"));
/// use batchwise::kafka::RecordBatch;
/// let batch = RecordBatch::parse(bytes, 0)?;
/// batch.verify_checksum()?;
/// let values: Vec<_> = batch.records()?.map(|r| r.map(|r| r.value())).collect::<Result<_, _>>()?;
/// assert_eq!(values, [Some(&b"hello"[..]), Some(b"world")]);
/// # Ok::<(), batchwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordBatch<'a> {
    bytes: &'a [u8],
    header: BatchHeader<'a>,
    offset: u64,
}

impl<'a> RecordBatch<'a> {
    /// The batch at the start of `bytes`, which stand at `offset` of the input; more may follow it.
    ///
    /// O(1): looks at the header only.
    ///
    /// # Errors
    /// `TornTail` if bytes are missing, and the length and magic errors of [`ErrorKind`]. Magic 0 and 1 are
    /// `MagicUnknown` here: they are not record batches.
    #[inline]
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let torn = |needed: u64| {
            let detail = Detail::Length { needed, available: bytes.len() as u64 };
            Error::new(ErrorKind::TornTail, detail, "batchLength", offset + 8)
        };
        let (length, magic) = super::prefix_of(bytes).ok_or_else(|| torn(super::PREFIX as u64))?;
        let total = length_of(length, magic, offset)?;
        if magic != 2 {
            let detail = Detail::Value { found: magic.into(), rule: "must be 2" };
            return Err(Error::new(ErrorKind::MagicUnknown, detail, "magic", offset + 16));
        }
        let bytes = usize::try_from(total).ok().and_then(|n| bytes.get(..n)).ok_or_else(|| torn(total))?;
        let header = BatchHeader::new(bytes).ok_or_else(|| torn(BatchHeader::SIZE as u64))?;
        Ok(RecordBatch { bytes, header, offset })
    }

    /// The header.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> BatchHeader<'a> {
        self.header
    }

    /// The whole batch.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the batch starts in the input, bytes.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes behind the header: records, or one compressed stream of them.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[BatchHeader::SIZE..]
    }

    /// Offset of the last record: `baseOffset + lastOffsetDelta`, wrapping.
    #[inline]
    #[must_use]
    pub fn last_offset(&self) -> i64 {
        self.header.base_offset().wrapping_add(self.header.last_offset_delta().into())
    }

    /// The attributes, bit by bit.
    #[inline]
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        Attributes(self.header.attributes())
    }

    /// Number of the compression codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    #[inline]
    #[must_use]
    pub fn codec(&self) -> u8 {
        self.attributes().codec()
    }

    /// Compares the stored CRC-32C with that of the bytes behind it. Runs at the speed of [`crc32c::update()`].
    ///
    /// # Errors
    /// `CrcMismatch` with both values.
    pub fn verify_checksum(&self) -> Result<()> {
        let (stored, computed) = (self.header.crc(), crc32c::crc32c(&self.bytes[CRC_FROM..]));
        if stored == computed {
            return Ok(());
        }
        let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
        Err(Error::new(ErrorKind::CrcMismatch, detail, "crc", self.offset + CRC_AT as u64))
    }

    /// The records of an uncompressed batch.
    ///
    /// # Errors
    /// `CodecUnsupported` or `CodecUnknown` if the batch is compressed, `RecordsCountNegative`.
    pub fn records(&self) -> Result<Records<'a>> {
        let codec = self.codec();
        if codec != 0 {
            let kind = if codec > 4 { ErrorKind::CodecUnknown } else { ErrorKind::CodecUnsupported };
            let detail = Detail::Value { found: codec.into(), rule: "must be 0 to be read without a decoder" };
            return Err(Error::new(kind, detail, "attributes", self.offset + 21));
        }
        Records::new(self)
    }

    /// The records of the batch, decompressed if need be.
    ///
    /// ```
    /// use batchwise::{codec::Decoder, kafka::RecordBatch};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kafka/v2-zstd-counts/00000000000000000000.log"));
    /// # if !batchwise::codec::Codec::Zstd.is_available() { return Ok(()) }
    /// let batch = RecordBatch::parse(bytes, 0)?;
    /// let mut decoder = Decoder::default();
    /// assert_eq!(batch.decoded_records(&mut decoder)?.count(), 1);
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// `CodecUnknown`, those of [`Decoder::decode`], `RecordsCountNegative`.
    pub fn decoded_records<'r>(&self, decoder: &'r mut Decoder) -> Result<Records<'r>>
    where
        'a: 'r,
    {
        let (bytes, within) = self.decoded_payload(decoder)?;
        Records::over(self, bytes, within)
    }

    /// The bytes of the records, decompressed if need be, and which of the two they are.
    pub(super) fn decoded_payload<'r>(&self, decoder: &'r mut Decoder) -> Result<(&'r [u8], Within)>
    where
        'a: 'r,
    {
        let number = self.codec();
        if number == 0 {
            return Ok((self.payload(), Within::Input));
        }
        let Some(codec) = Codec::from_number(number) else {
            let detail = Detail::Value { found: number.into(), rule: "must be 0 to 4" };
            return Err(Error::new(ErrorKind::CodecUnknown, detail, "attributes", self.offset + 21));
        };
        if self.header.records_count() == 0 {
            return Ok((&[], Within::Decompressed));
        }
        let start = self.offset + BatchHeader::SIZE as u64;
        let decoded = decoder.decode(codec, self.payload()).map_err(|f| f.error.moved_by(start))?;
        Ok((decoded.bytes, Within::Decompressed))
    }
}
