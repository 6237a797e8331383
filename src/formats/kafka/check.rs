//! Every promise of one entry.

use super::RecordBatch;
use crate::formats::{Defect, Depth, Frame, Options, Summary};
use crate::{Detail, Error, ErrorKind};

pub(super) fn check(frame: Frame<'_>, options: &Options, defect: &mut dyn FnMut(Defect)) -> Summary {
    let batch = match RecordBatch::parse(frame.bytes, frame.offset) {
        Ok(batch) => batch,
        Err(e) => {
            defect(e.into());
            return Summary { damaged: true, ..Summary::default() };
        }
    };
    let header = batch.header();
    let count = header.records_count();
    let mut summary = Summary {
        records: u64::try_from(count).unwrap_or(0),
        first_offset: u64::try_from(header.base_offset()).ok(),
        next_offset: u64::try_from(batch.last_offset()).ok().map(|last| last + 1),
        epoch: Some(header.partition_leader_epoch()),
        damaged: false,
    };
    if header.last_offset_delta() < 0 {
        let detail = Detail::Value { found: header.last_offset_delta().into(), rule: "must not be negative" };
        defect(Error::new(ErrorKind::LastOffsetDeltaNegative, detail, "lastOffsetDelta", frame.offset + 23).into());
    }
    if options.depth >= Depth::Checksums
        && let Err(e) = batch.verify_checksum()
    {
        // Nothing under a wrong checksum is worth a second finding.
        defect(e.into());
        return Summary { damaged: true, ..summary };
    }
    if options.depth >= Depth::Records {
        summary.records = 0;
        match batch.records() {
            Ok(records) => {
                for record in records {
                    match record {
                        Ok(_) => summary.records += 1,
                        Err(e) => defect(e.into()),
                    }
                }
            }
            Err(e) => defect(e.into()),
        }
    }
    summary
}
