//! Control records: markers of transactions, and the records that KRaft keeps about itself.

use super::{Record, RecordBatch};
use crate::wire::Reader;
use crate::{Detail, ErrorKind};

/// What a control record says. Of the values of KRaft records the first fields are read, the rest is checked to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlRecord {
    /// The producer's transaction was aborted.
    Abort {
        /// Epoch of the transaction coordinator.
        coordinator_epoch: i32,
    },
    /// The producer's transaction was committed.
    Commit {
        /// Epoch of the transaction coordinator.
        coordinator_epoch: i32,
    },
    /// A leader of a KRaft quorum was elected.
    LeaderChange {
        /// Version of the record.
        version: i16,
        /// The leader's id.
        leader_id: i32,
        /// Number of voters.
        voters: u32,
        /// Number of voters that voted for the leader.
        granting_voters: u32,
    },
    /// First record of a KRaft snapshot.
    SnapshotHeader {
        /// Version of the record.
        version: i16,
        /// Timestamp of the last record that is contained, ms.
        last_contained_log_timestamp: i64,
    },
    /// Last record of a KRaft snapshot.
    SnapshotFooter {
        /// Version of the record.
        version: i16,
    },
    /// The version of the KRaft protocol.
    KRaftVersion {
        /// Version of the record.
        version: i16,
        /// The version that the log is kept by from here.
        kraft_version: i16,
    },
    /// The voters of a KRaft quorum.
    KRaftVoters {
        /// Version of the record.
        version: i16,
        /// Number of voters.
        voters: u32,
    },
    /// A type that is not known; to be passed over.
    Unknown {
        /// The type.
        type_id: i16,
    },
}

/// Why a control record cannot be read: the kind, what it says, and the field.
pub(super) type Invalid = (ErrorKind, Detail, &'static str);

const MIN_KEY: usize = 4;
const MIN_MARKER: usize = 6;

impl ControlRecord {
    /// The types that are known, by their numbers from 0, as Kafka names them.
    pub const TYPES: &'static [&'static str] =
        &["ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS"];

    /// Reads the record of a control batch; see [`RecordBatch::attributes`].
    ///
    /// # Errors
    /// `ControlKeyInvalid`, `EndTxnMarkerInvalid`, `ControlValueInvalid`; with the fields `key` and `value` at offset 0.
    pub fn parse(record: &Record<'_>) -> crate::Result<Self> {
        ControlRecord::of(record.key(), record.value())
    }

    /// The same from the record's key and value.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn of(key: Option<&[u8]>, value: Option<&[u8]>) -> crate::Result<Self> {
        ControlRecord::read(key, value).map_err(|(kind, detail, field)| crate::Error::new(kind, detail, field, 0))
    }

    /// Reads a key and a value.
    pub(super) fn read(key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Self, Invalid> {
        let type_id = type_of(key)?;
        match type_id {
            0 => Ok(ControlRecord::Abort { coordinator_epoch: coordinator_epoch(value)? }),
            1 => Ok(ControlRecord::Commit { coordinator_epoch: coordinator_epoch(value)? }),
            2..=6 => {
                let value = value.ok_or((ErrorKind::ControlValueInvalid, Detail::None, "value"))?;
                let mut fields = Fields(Reader::new(value));
                let short = (ErrorKind::ControlValueInvalid, Detail::Reason("a field is cut off"), "value");
                fields.record(type_id).ok_or(short)
            }
            type_id => Ok(ControlRecord::Unknown { type_id }),
        }
    }

    /// The type, as Kafka names it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        usize::try_from(self.type_id()).ok().and_then(|id| ControlRecord::TYPES.get(id)).unwrap_or(&"UNKNOWN")
    }

    /// The type's number.
    #[must_use]
    pub const fn type_id(&self) -> i16 {
        match self {
            ControlRecord::Abort { .. } => 0,
            ControlRecord::Commit { .. } => 1,
            ControlRecord::LeaderChange { .. } => 2,
            ControlRecord::SnapshotHeader { .. } => 3,
            ControlRecord::SnapshotFooter { .. } => 4,
            ControlRecord::KRaftVersion { .. } => 5,
            ControlRecord::KRaftVoters { .. } => 6,
            ControlRecord::Unknown { type_id } => *type_id,
        }
    }
}

fn type_of(key: Option<&[u8]>) -> Result<i16, Invalid> {
    let key = key.ok_or((ErrorKind::ControlKeyInvalid, Detail::None, "key"))?;
    let Some(key) = key.first_chunk::<MIN_KEY>() else {
        let detail = Detail::Length { needed: MIN_KEY as u64, available: key.len() as u64 };
        return Err((ErrorKind::ControlKeyInvalid, detail, "key"));
    };
    let version = i16::from_be_bytes([key[0], key[1]]);
    if version < 0 {
        let detail = Detail::Value { found: version.into(), rule: "the version must not be negative" };
        return Err((ErrorKind::ControlKeyInvalid, detail, "key"));
    }
    Ok(i16::from_be_bytes([key[2], key[3]]))
}

fn coordinator_epoch(value: Option<&[u8]>) -> Result<i32, Invalid> {
    let value = value.ok_or((ErrorKind::EndTxnMarkerInvalid, Detail::None, "value"))?;
    let Some(fields) = value.first_chunk::<MIN_MARKER>() else {
        let detail = Detail::Length { needed: MIN_MARKER as u64, available: value.len() as u64 };
        return Err((ErrorKind::EndTxnMarkerInvalid, detail, "value"));
    };
    let version = i16::from_be_bytes([fields[0], fields[1]]);
    if version < 0 {
        let detail = Detail::Value { found: version.into(), rule: "the version must not be negative" };
        return Err((ErrorKind::EndTxnMarkerInvalid, detail, "value"));
    }
    Ok(i32::from_be_bytes([fields[2], fields[3], fields[4], fields[5]]))
}

/// Fields of Kafka's "flexible" messages.
struct Fields<'a>(Reader<'a>);

impl Fields<'_> {
    fn record(&mut self, type_id: i16) -> Option<ControlRecord> {
        let version = self.i16()?;
        let record = match type_id {
            2 => {
                let leader_id = self.i32()?;
                let voters = self.array(|f| f.voter(version))?;
                let granting_voters = self.array(|f| f.voter(version))?;
                ControlRecord::LeaderChange { version, leader_id, voters, granting_voters }
            }
            3 => ControlRecord::SnapshotHeader { version, last_contained_log_timestamp: self.i64()? },
            4 => ControlRecord::SnapshotFooter { version },
            5 => ControlRecord::KRaftVersion { version, kraft_version: self.i16()? },
            _ => ControlRecord::KRaftVoters { version, voters: self.array(Fields::kraft_voter)? },
        };
        self.tagged_fields()?;
        Some(record)
    }

    fn voter(&mut self, version: i16) -> Option<()> {
        self.i32()?;
        if version > 0 {
            self.skip(16)?;
        }
        self.tagged_fields()
    }

    fn kraft_voter(&mut self) -> Option<()> {
        self.i32()?;
        self.skip(16)?;
        self.array(|f| {
            f.blob()?;
            f.blob()?;
            f.i16()?;
            f.tagged_fields()
        })?;
        self.i16()?;
        self.i16()?;
        self.tagged_fields()?;
        self.tagged_fields()
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.0.take(len).map(|_| ())
    }

    fn i16(&mut self) -> Option<i16> {
        self.0.take(2)?.first_chunk().map(|b| i16::from_be_bytes(*b))
    }

    fn i32(&mut self) -> Option<i32> {
        self.0.take(4)?.first_chunk().map(|b| i32::from_be_bytes(*b))
    }

    fn i64(&mut self) -> Option<i64> {
        self.0.take(8)?.first_chunk().map(|b| i64::from_be_bytes(*b))
    }

    fn unsigned(&mut self) -> Option<u32> {
        let (value, len) = crate::varint::decode_u32(self.0.rest()).ok()?;
        self.skip(len)?;
        Some(value)
    }

    /// A compact array; tells how many elements it has.
    fn array(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<u32> {
        let len = self.unsigned()?.checked_sub(1)?;
        for _ in 0..len {
            element(self)?;
        }
        Some(len)
    }

    /// A compact string or bytes.
    fn blob(&mut self) -> Option<()> {
        let len = self.unsigned()?.checked_sub(1)?;
        self.skip(len as usize)
    }

    fn tagged_fields(&mut self) -> Option<()> {
        for _ in 0..self.unsigned()? {
            self.unsigned()?;
            let len = self.unsigned()?;
            self.skip(len as usize)?;
        }
        Some(())
    }
}

/// Reports what is wrong with record number `index` of a control batch.
pub(super) fn check(
    batch: &RecordBatch<'_>,
    record: &Record<'_>,
    index: u64,
    mut report: impl FnMut(ErrorKind, Detail, &'static str),
) {
    match ControlRecord::read(record.key(), record.value()) {
        Ok(ControlRecord::Abort { .. } | ControlRecord::Commit { .. }) => {
            if !batch.attributes().is_transactional() {
                let detail = Detail::Reason("the batch is not transactional");
                report(ErrorKind::EndTxnMarkerInvalid, detail, "attributes");
            } else if index == 0 && batch.header().records_count() != 1 {
                let detail = Detail::Reason("the batch must hold one record");
                report(ErrorKind::EndTxnMarkerInvalid, detail, "recordsCount");
            }
        }
        Ok(ControlRecord::Unknown { type_id }) => {
            let detail = Detail::Value { found: type_id.into(), rule: "must be 0 to 6" };
            report(ErrorKind::ControlTypeUnknown, detail, "key");
        }
        Ok(_) => {}
        Err((kind, detail, field)) => report(kind, detail, field),
    }
}
