//! Control records, by the names that Kafka gives them.

use super::put::Put;
use batchwise::kafka::ControlRecord;
use batchwise::{Error, Result, varint};

/// Appends what kafka-dump-log prints of a control record.
///
/// # Errors
/// Those of [`ControlRecord::of`]; then as much is printed as the key tells.
pub(super) fn text(out: &mut Vec<u8>, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<()> {
    let (record, type_id) = match read(key, value) {
        Ok(known) => known,
        Err((error, type_id)) => {
            if let Some(type_id) = type_id {
                control_type(out, type_id);
            }
            return Err(error);
        }
    };
    match record {
        ControlRecord::Abort { coordinator_epoch } | ControlRecord::Commit { coordinator_epoch } => {
            out.text(" endTxnMarker: ").text(record.name()).text(" coordinatorEpoch: ").number(coordinator_epoch);
        }
        ControlRecord::LeaderChange { .. } => data(out.text(" LeaderChange: "), type_id, value),
        ControlRecord::SnapshotHeader { .. } => data(out.text(" SnapshotHeader "), type_id, value),
        ControlRecord::SnapshotFooter { .. } => data(out.text(" SnapshotFooter "), type_id, value),
        ControlRecord::KRaftVersion { .. } => data(out.text(" KRaftVersion "), type_id, value),
        ControlRecord::KRaftVoters { .. } => data(out.text(" KRaftVoters "), type_id, value),
        _ => control_type(out, type_id),
    }
    Ok(())
}

/// Appends a control record as a JSON object.
///
/// # Errors
/// As [`text`].
pub(super) fn json(out: &mut Vec<u8>, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<()> {
    let (record, type_id) = match read(key, value) {
        Ok((record, type_id)) => (Ok(record), Some(type_id)),
        Err((error, type_id)) => (Err(error), type_id),
    };
    let Some(type_id) = type_id else {
        out.text("null");
        return record.map(drop);
    };
    out.text("{").key("type").string(name(type_id)).key("type_id").number(type_id);
    match &record {
        Ok(ControlRecord::Abort { coordinator_epoch } | ControlRecord::Commit { coordinator_epoch }) => {
            out.key("coordinator_epoch").number(*coordinator_epoch);
        }
        Ok(ControlRecord::Unknown { .. }) | Err(_) => {}
        Ok(_) => data(out.key("data"), type_id, value),
    }
    out.push(b'}');
    record.map(drop)
}

fn name(type_id: i16) -> &'static str {
    usize::try_from(type_id).ok().and_then(|id| ControlRecord::TYPES.get(id)).unwrap_or(&"UNKNOWN")
}

fn control_type(out: &mut Vec<u8>, type_id: i16) {
    out.text(" controlType: ").text(name(type_id)).text("(").number(type_id).text(")");
}

/// The record and its type; of one that cannot be read its type, if that can.
fn read(key: Option<&[u8]>, value: Option<&[u8]>) -> std::result::Result<(ControlRecord, i16), (Error, Option<i16>)> {
    let type_id = key.and_then(|key| key.first_chunk::<4>()).map(|key| i16::from_be_bytes([key[2], key[3]]));
    match ControlRecord::of(key, value) {
        Ok(record) => Ok((record, record.type_id())),
        Err(error) => Err((error, type_id)),
    }
}

/// Appends the value of one of KRaft's records as Kafka's own converters write it. Its fields are known to be there.
fn data(out: &mut Vec<u8>, type_id: i16, value: Option<&[u8]>) {
    let start = out.len();
    if Fields(value.unwrap_or_default()).record(type_id, out).is_none() {
        out.truncate(start);
        out.text("null");
    }
}

/// Fields of Kafka's "flexible" messages.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn record(&mut self, type_id: i16, out: &mut Vec<u8>) -> Option<()> {
        let version = self.i16()?;
        out.text("{").key("version").number(version);
        match type_id {
            2 => {
                out.key("leaderId").number(self.i32()?);
                for name in ["voters", "grantingVoters"] {
                    self.array(out.key(name), |fields, out| {
                        out.key("voterId").number(fields.i32()?);
                        if version > 0 {
                            uuid(out.key("voterDirectoryId"), fields.take(16)?);
                        }
                        fields.tagged_fields()
                    })?;
                }
            }
            3 => {
                let timestamp = i64::from_be_bytes(*self.take(8)?.first_chunk()?);
                out.key("lastContainedLogTimestamp").number(timestamp);
            }
            5 => {
                out.key("kRaftVersion").number(self.i16()?);
            }
            6 => self.array(out.key("voters"), Fields::voter)?,
            _ => {}
        }
        out.push(b'}');
        Some(())
    }

    fn voter(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.key("voterId").number(self.i32()?);
        uuid(out.key("voterDirectoryId"), self.take(16)?);
        self.array(out.key("endpoints"), |fields, out| {
            for name in ["name", "host"] {
                let len = fields.unsigned()?.checked_sub(1)?;
                out.key(name).string(&String::from_utf8_lossy(fields.take(len as usize)?));
            }
            out.key("port").number(fields.i16()? as u16);
            fields.tagged_fields()
        })?;
        out.key("kRaftVersionFeature").text("{");
        out.key("minSupportedVersion").number(self.i16()?).key("maxSupportedVersion").number(self.i16()?).text("}");
        self.tagged_fields()?;
        self.tagged_fields()
    }

    fn array(
        &mut self,
        out: &mut Vec<u8>,
        mut element: impl FnMut(&mut Self, &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        let len = self.unsigned()?.checked_sub(1)?;
        out.push(b'[');
        for _ in 0..len {
            out.comma().push(b'{');
            element(self, out)?;
            out.push(b'}');
        }
        out.push(b']');
        Some(())
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn i16(&mut self) -> Option<i16> {
        self.take(2)?.first_chunk().map(|b| i16::from_be_bytes(*b))
    }

    fn i32(&mut self) -> Option<i32> {
        self.take(4)?.first_chunk().map(|b| i32::from_be_bytes(*b))
    }

    fn unsigned(&mut self) -> Option<u32> {
        let (value, len) = varint::decode_u32(self.0).ok()?;
        self.take(len)?;
        Some(value)
    }

    fn tagged_fields(&mut self) -> Option<()> {
        for _ in 0..self.unsigned()? {
            self.unsigned()?;
            let len = self.unsigned()?;
            self.take(len as usize)?;
        }
        Some(())
    }
}

/// Kafka writes ids of directories in base64 for URLs.
fn uuid(out: &mut Vec<u8>, id: &[u8]) {
    use base64::Engine;
    let mut text = [0; 24];
    let len = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode_slice(id, &mut text).unwrap_or(0);
    out.push(b'"');
    out.extend_from_slice(&text[..len]);
    out.push(b'"');
}
