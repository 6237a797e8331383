//! A batch header as values, for those who write one.

use super::BatchHeader;
use super::attributes::Attributes;

/// The fields of a [`BatchHeader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderFields {
    pub(super) base_offset: i64,
    pub(super) batch_length: i32,
    pub(super) partition_leader_epoch: i32,
    pub(super) magic: i8,
    pub(super) crc: u32,
    pub(super) attributes: Attributes,
    pub(super) last_offset_delta: i32,
    pub(super) base_timestamp: i64,
    pub(super) max_timestamp: i64,
    pub(super) producer_id: i64,
    pub(super) producer_epoch: i16,
    pub(super) base_sequence: i32,
    pub(super) records_count: i32,
}

impl HeaderFields {
    /// First byte under the checksum.
    pub(super) const CRC_FROM: usize = 21;

    #[inline]
    pub(super) fn read(header: BatchHeader<'_>) -> Self {
        HeaderFields {
            base_offset: header.base_offset(),
            batch_length: header.batch_length(),
            partition_leader_epoch: header.partition_leader_epoch(),
            magic: header.magic(),
            crc: header.crc(),
            attributes: Attributes(header.attributes()),
            last_offset_delta: header.last_offset_delta(),
            base_timestamp: header.base_timestamp(),
            max_timestamp: header.max_timestamp(),
            producer_id: header.producer_id(),
            producer_epoch: header.producer_epoch(),
            base_sequence: header.base_sequence(),
            records_count: header.records_count(),
        }
    }

    #[inline]
    pub(super) fn to_bytes(self) -> [u8; BatchHeader::SIZE] {
        let mut out = [0; BatchHeader::SIZE];
        let mut rest = &mut out[..];
        let mut put = |field: &[u8]| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(field.len());
            head.copy_from_slice(field);
            rest = tail;
        };
        put(&self.base_offset.to_be_bytes());
        put(&self.batch_length.to_be_bytes());
        put(&self.partition_leader_epoch.to_be_bytes());
        put(&self.magic.to_be_bytes());
        put(&self.crc.to_be_bytes());
        put(&self.attributes.0.to_be_bytes());
        put(&self.last_offset_delta.to_be_bytes());
        put(&self.base_timestamp.to_be_bytes());
        put(&self.max_timestamp.to_be_bytes());
        put(&self.producer_id.to_be_bytes());
        put(&self.producer_epoch.to_be_bytes());
        put(&self.base_sequence.to_be_bytes());
        put(&self.records_count.to_be_bytes());
        out
    }
}
