//! Kafka's `.snapshot`: what the broker knew of each producer before the offset in the file's name.

use super::{SideFile, Told};
use crate::{Detail, ErrorKind, crc32c};

layout! {
    /// The start of Kafka's `.snapshot`.
    pub struct SnapshotHeader: 10 bytes, big_endian {
        /// Version of the file: 1.
        0 version: i16,
        /// CRC-32C of everything behind this field.
        2 crc: u32,
        /// Number of entries.
        6 count: i32,
    }
}

layout! {
    /// A producer in Kafka's `.snapshot`.
    pub struct ProducerEntry: 46 bytes, big_endian {
        /// Its id.
        0 producer_id: i64,
        /// Its epoch.
        8 epoch: i16,
        /// Last sequence number of its newest batch; -1 for none.
        10 last_sequence: i32,
        /// Last offset of that batch; -1 for none.
        14 last_offset: i64,
        /// Last sequence number less the first.
        22 offset_delta: i32,
        /// Time of that batch, ms.
        26 timestamp: i64,
        /// Epoch of the coordinator of its last transaction.
        34 coordinator_epoch: i32,
        /// First offset of the transaction that is open; -1 for none.
        38 current_txn_first_offset: i64,
    }
}

pub(super) fn entries(side: &SideFile) -> impl Iterator<Item = ProducerEntry<'_>> {
    let entries = side.bytes.get(SnapshotHeader::SIZE..).unwrap_or_default();
    entries.as_chunks().0.iter().map(ProducerEntry)
}

pub(super) fn check(side: &SideFile, told: &mut Told<'_>) {
    let mut wrong = |detail, field, at| told.error(ErrorKind::ProducerSnapshotCorrupt, detail, field, at);
    let Some(header) = SnapshotHeader::new(&side.bytes) else {
        let detail = Detail::Length { needed: SnapshotHeader::SIZE as u64, available: side.bytes.len() as u64 };
        return wrong(detail, "version", 0);
    };
    if header.version() != 1 {
        return wrong(Detail::Value { found: header.version().into(), rule: "must be 1" }, "version", 0);
    }
    let computed = crc32c::crc32c(&side.bytes[6..]);
    if header.crc() != computed {
        return wrong(Detail::Checksum { stored: header.crc().into(), computed: computed.into() }, "crc", 2);
    }
    let rest = side.bytes.len() - SnapshotHeader::SIZE;
    let counted = i64::from(header.count()).checked_mul(ProducerEntry::SIZE as i64);
    if counted != i64::try_from(rest).ok() {
        let stored = header.count().into();
        let detail = Detail::Mismatch { stored, computed: (rest / ProducerEntry::SIZE) as i64 };
        wrong(detail, "count", 6);
    }
}
