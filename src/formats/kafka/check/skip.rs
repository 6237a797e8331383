//! Records as the broker's produce path skips through them when a batch is compressed: field by field, without regard
//! to the records' own lengths.

use crate::wire::Reader;

/// What the produce path would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// Skips `count` records, whose offset deltas must be 0, 1, 2 and so on, and expects the end of the bytes behind them.
pub(super) fn check(bytes: &[u8], count: i32) -> Result<(), Refused> {
    let mut reader = Reader::new(bytes);
    for index in 0..count {
        record(&mut reader, index)?;
    }
    if reader.left() > 0 { Err(Refused) } else { Ok(()) }
}

fn record(reader: &mut Reader<'_>, index: i32) -> Result<(), Refused> {
    length(reader)?;
    reader.u8().ok_or(Refused)?;
    reader.varint64().map_err(|_| Refused)?;
    if length(reader)? != index {
        return Err(Refused);
    }
    blob(reader)?;
    blob(reader)?;
    let headers = length(reader)?;
    if headers < 0 {
        return Err(Refused);
    }
    for _ in 0..headers {
        if blob(reader)? < 0 {
            return Err(Refused);
        }
        blob(reader)?;
    }
    Ok(())
}

fn length(reader: &mut Reader<'_>) -> Result<i32, Refused> {
    reader.varint32().map_err(|_| Refused)
}

/// Skips a length and as many bytes; tells the length.
fn blob(reader: &mut Reader<'_>) -> Result<i32, Refused> {
    let len = length(reader)?;
    if let Ok(len) = usize::try_from(len) {
        reader.take(len).ok_or(Refused)?;
    }
    Ok(len)
}
