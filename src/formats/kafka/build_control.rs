//! Building control records: the inverse of `control`.

use super::control::ControlRecord;
use super::{NewRecord, RecordBatchBuilder};
use crate::varint::{MAX_LEN_32, encode_u32};
use crate::{Error, Result};
use alloc::vec::Vec;

/// A control record to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewControlRecord<'a> {
    /// Aborts the producer's transaction.
    Abort {
        /// Epoch of the transaction coordinator.
        coordinator_epoch: i32,
    },
    /// Commits the producer's transaction.
    Commit {
        /// Epoch of the transaction coordinator.
        coordinator_epoch: i32,
    },
    /// A leader of a KRaft quorum was elected.
    LeaderChange {
        /// Version of the record: 0 leaves the directories of the voters out, 1 has them.
        version: i16,
        /// The leader's id.
        leader_id: i32,
        /// The voters.
        voters: &'a [Voter],
        /// The voters that voted for the leader.
        granting_voters: &'a [Voter],
    },
    /// First record of a KRaft snapshot.
    SnapshotHeader {
        /// Timestamp of the last record that is contained, ms.
        last_contained_log_timestamp: i64,
    },
    /// Last record of a KRaft snapshot.
    SnapshotFooter,
    /// The version of the KRaft protocol.
    KRaftVersion {
        /// The version that the log is kept by from here.
        kraft_version: i16,
    },
    /// The voters of a KRaft quorum.
    KRaftVoters {
        /// The voters.
        voters: &'a [KRaftVoter<'a>],
    },
}

/// A voter of a KRaft quorum, by its ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Voter {
    /// Id of the node.
    pub id: i32,
    /// Id of its metadata log directory.
    pub directory_id: [u8; 16],
}

/// A voter of a KRaft quorum, and how to reach it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KRaftVoter<'a> {
    /// The voter.
    pub voter: Voter,
    /// Its listeners.
    pub endpoints: &'a [Endpoint<'a>],
    /// The lowest version of the KRaft protocol that it knows.
    pub min_kraft_version: i16,
    /// The highest.
    pub max_kraft_version: i16,
}

/// A listener of a KRaft voter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// Name of the listener.
    pub name: &'a str,
    /// Host name or address.
    pub host: &'a str,
    /// Port.
    pub port: u16,
}

impl RecordBatchBuilder {
    /// Appends a control record, of the time `timestamp` in ms, to a batch for which [`control`](Self::control) was set.
    ///
    /// A transaction's marker stands alone in its batch, which is transactional and has the producer's id and epoch, but
    /// no sequence number.
    ///
    /// ```
    /// use batchwise::kafka::{NewControlRecord, RecordBatchBuilder};
    /// let mut marker = RecordBatchBuilder::new().producer(9, 1, -1).transactional(true).control(true);
    /// marker.append_control(1_714_000_000_000, &NewControlRecord::Commit { coordinator_epoch: 7 })?;
    /// assert_eq!(marker.finish()?.len(), 78);
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`append`](Self::append), `ControlRecordMisplaced`.
    pub fn append_control(&mut self, timestamp: i64, record: &NewControlRecord<'_>) -> Result<()> {
        if !self.is_control() {
            return Err(self.misplaced());
        }
        let type_id = record.type_id().to_be_bytes();
        let key = [0, 0, type_id[0], type_id[1]];
        let value = record.value();
        self.append(&NewRecord { timestamp, key: Some(&key), value: Some(&value), headers: &[] })
    }

    /// Checks that a record of a control batch is a control record.
    pub(super) fn check_control(record: &NewRecord<'_>, offset: u64) -> Result<()> {
        let checked = ControlRecord::read(record.key, record.value);
        checked.map(|_| ()).map_err(|(kind, detail, field)| Error::new(kind, detail, field, offset))
    }
}

impl NewControlRecord<'_> {
    const fn type_id(&self) -> i16 {
        match self {
            NewControlRecord::Abort { .. } => 0,
            NewControlRecord::Commit { .. } => 1,
            NewControlRecord::LeaderChange { .. } => 2,
            NewControlRecord::SnapshotHeader { .. } => 3,
            NewControlRecord::SnapshotFooter => 4,
            NewControlRecord::KRaftVersion { .. } => 5,
            NewControlRecord::KRaftVoters { .. } => 6,
        }
    }

    fn value(&self) -> Vec<u8> {
        let mut fields = Fields(Vec::new());
        match *self {
            NewControlRecord::Abort { coordinator_epoch } | NewControlRecord::Commit { coordinator_epoch } => {
                fields.put(&[0, 0]);
                fields.put(&coordinator_epoch.to_be_bytes());
                return fields.0; // a message of the older kind, which has no tagged fields
            }
            NewControlRecord::LeaderChange { version, leader_id, voters, granting_voters } => {
                fields.put(&version.to_be_bytes());
                fields.put(&leader_id.to_be_bytes());
                for voters in [voters, granting_voters] {
                    fields.array(voters, |fields, voter| {
                        fields.put(&voter.id.to_be_bytes());
                        if version > 0 {
                            fields.put(&voter.directory_id);
                        }
                        fields.no_tagged_fields();
                    });
                }
            }
            NewControlRecord::SnapshotHeader { last_contained_log_timestamp } => {
                fields.put(&[0, 0]);
                fields.put(&last_contained_log_timestamp.to_be_bytes());
            }
            NewControlRecord::SnapshotFooter => fields.put(&[0, 0]),
            NewControlRecord::KRaftVersion { kraft_version } => {
                fields.put(&[0, 0]);
                fields.put(&kraft_version.to_be_bytes());
            }
            NewControlRecord::KRaftVoters { voters } => {
                fields.put(&[0, 0]);
                fields.array(voters, Fields::kraft_voter);
            }
        }
        fields.no_tagged_fields();
        fields.0
    }
}

/// Fields of Kafka's "flexible" messages.
struct Fields(Vec<u8>);

impl Fields {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A compact length: one more than the length, as 0 stands for null. One past 32 bits belongs to no record that could
    /// be appended.
    fn len(&mut self, len: usize) {
        let mut out = [0; MAX_LEN_32];
        let len = encode_u32(u32::try_from(len).unwrap_or(u32::MAX).saturating_add(1), &mut out);
        self.put(&out[..len]);
    }

    fn array<T>(&mut self, elements: &[T], mut put: impl FnMut(&mut Self, &T)) {
        self.len(elements.len());
        for element in elements {
            put(self, element);
        }
    }

    fn string(&mut self, text: &str) {
        self.len(text.len());
        self.put(text.as_bytes());
    }

    fn no_tagged_fields(&mut self) {
        self.put(&[0]);
    }

    fn kraft_voter(&mut self, voter: &KRaftVoter<'_>) {
        self.put(&voter.voter.id.to_be_bytes());
        self.put(&voter.voter.directory_id);
        self.array(voter.endpoints, |fields, endpoint| {
            fields.string(endpoint.name);
            fields.string(endpoint.host);
            fields.put(&endpoint.port.to_be_bytes());
            fields.no_tagged_fields();
        });
        self.put(&voter.min_kraft_version.to_be_bytes());
        self.put(&voter.max_kraft_version.to_be_bytes());
        self.no_tagged_fields(); // of the range of versions
        self.no_tagged_fields();
    }
}
