//! Makes batches as the client's encoder makes them.

use super::{BatchHeader, FrameList, HeaderFields, MessageHeader, Producer};
use crate::wire::start_of;
use crate::{Detail, Error, ErrorKind, Result, xxh3};
use alloc::vec::Vec;

/// A message to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewMessage<'a> {
    /// Id. 0 is written as 0; client libraries put a random one in its place.
    pub id: u128,
    /// Time of the message, µs since 1970.
    pub timestamp: u64,
    /// Payload.
    pub payload: &'a [u8],
    /// User headers as [`write_user_headers`](super::write_user_headers) writes them; empty for none.
    pub user_headers: &'a [u8],
}

/// Greatest length of a batch that the reference's encoder makes, bytes.
pub const MAX_BATCH_LENGTH: u64 = u32::MAX as u64;

/// Appends a batch of `messages` to `out`, ready to be sent, and leaves its frames in `frames`.
///
/// Its origin timestamp is the earliest time of the messages, its offset deltas are their places. What only the server
/// knows is 0. After an error `out` is as it was.
///
/// # Errors
/// `BatchEmpty`; `TimestampDeltaTooLarge` if times lie more than 2^32 - 1 µs (71.6 minutes) apart; `BatchLengthOverflow`
/// past [`MAX_BATCH_LENGTH`]; `ProducerMalformed`. Offsets count from the start of the batch.
///
/// ```
/// use batchwise::iggy::{Batch, FrameList, NewMessage, Revision, encode};
/// let (mut out, mut frames) = (Vec::new(), FrameList::default());
/// let messages = [NewMessage { id: 1, timestamp: 1_790_000_000_000_000, payload: b"hello", user_headers: b"" }];
/// encode(&messages, None, &mut out, &mut frames)?;
/// Batch::parse(&out, 0, Revision::R1)?.verify(&mut frames)?;
/// # Ok::<(), batchwise::Error>(())
/// ```
pub fn encode(
    messages: &[NewMessage<'_>],
    producer: Option<Producer>,
    out: &mut Vec<u8>,
    frames: &mut FrameList,
) -> Result<()> {
    let wrong = |kind, detail, field| {
        let at = start_of(BatchHeader::FIELDS, field) as u64;
        Err(Error::new(kind, detail, field, at))
    };
    let Some(origin_timestamp) = messages.iter().map(|m| m.timestamp).min() else {
        return wrong(ErrorKind::BatchEmpty, Detail::None, "message_count");
    };
    if let Some(producer) = producer.filter(|p| !p.is_valid()) {
        return wrong(ErrorKind::ProducerMalformed, Detail::Value { found: producer.id as i64, rule: LIMITS }, "flags");
    }
    let lengths = messages.iter().map(|m| (MessageHeader::SIZE + m.payload.len() + m.user_headers.len()) as u64);
    let batch_length = lengths.fold(BatchHeader::SIZE as u64, u64::saturating_add);
    if batch_length > MAX_BATCH_LENGTH {
        let detail = Detail::Value { found: batch_length as i64, rule: "must be at most 4294967295" };
        return wrong(ErrorKind::BatchLengthOverflow, detail, "batch_length");
    }
    let start = out.len();
    out.reserve(batch_length as usize);
    out.resize(start + BatchHeader::SIZE, 0);
    frames.clear();
    for (index, message) in messages.iter().enumerate() {
        let at = out.len();
        let Ok(timestamp_delta) = u32::try_from(message.timestamp - origin_timestamp) else {
            out.truncate(start);
            let found = (message.timestamp - origin_timestamp) as i64;
            let detail = Detail::Value { found, rule: "must be at most 4294967295" };
            let field = start_of(MessageHeader::FIELDS, "timestamp_delta");
            let offset = (at - start + field) as u64;
            return Err(Error::new(ErrorKind::TimestampDeltaTooLarge, detail, "timestamp_delta", offset));
        };
        // Every length is below that of the batch, which fits.
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&message.id.to_le_bytes());
        out.extend_from_slice(&(index as u32).to_le_bytes());
        out.extend_from_slice(&timestamp_delta.to_le_bytes());
        out.extend_from_slice(&(message.user_headers.len() as u32).to_le_bytes());
        out.extend_from_slice(&(message.payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(message.payload);
        out.extend_from_slice(message.user_headers);
        let checksum = xxh3::hash64(&out[at + 8..]);
        out[at..at + 8].copy_from_slice(&checksum.to_le_bytes());
        let blob = start + BatchHeader::SIZE;
        frames.push(at - blob, out.len() - blob, checksum);
    }
    let message_count = messages.len() as u32;
    let mut fields =
        HeaderFields { origin_timestamp, batch_length, message_count, producer, ..HeaderFields::default() };
    fields.batch_checksum = frames.batch_checksum(BatchHeader::of(&fields.to_bytes()));
    out[start..start + BatchHeader::SIZE].copy_from_slice(&fields.to_bytes());
    Ok(())
}

const LIMITS: &str = "must have an id of at most 2^63 - 1, an epoch of at most 32767, a sequence of at most 2147483647";
