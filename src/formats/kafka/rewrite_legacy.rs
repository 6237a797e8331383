//! Compaction of messages of magic 0 and 1: a subset of those within a compressed one, under the same offsets.

use super::build_legacy::MessageSetBuilder;
use super::{InnerMessage, Message, Rewriter, Rewritten, TimestampType};
use crate::codec::{Codec, Compressor, Decoder};
use crate::{Detail, Error, ErrorKind, Result, Within};
use alloc::vec::Vec;

impl Rewriter {
    /// Appends to `out` what is left of a message of magic 0 or 1 when only those stay for which `keep` is true. It is
    /// called once for a message without a codec, and once for each that a compressed one holds, in order.
    ///
    /// A message without a codec is copied as it is, and so is a compressed one that keeps everything. Otherwise a new
    /// compressed message is made of the kept ones, with the codec's own level: its offset is that of the last, in magic 1
    /// those within count from the first; its timestamp is the greatest, or the time of the append, which those within then
    /// get too. Messages within that are of another magic become ones of the compressed message's.
    ///
    /// ```
    /// use batchwise::kafka::{Message, MessageSetBuilder, Rewriter, Rewritten};
    /// # use batchwise::codec::{Codec, Decoder};
    /// # if !Codec::Gzip.is_available() { return Ok(()) }
    /// let mut builder = MessageSetBuilder::new(1)?.base_offset(10).compression(Codec::Gzip, None)?;
    /// for value in ["old", "new", "newest"] {
    ///     builder.append(1_714_000_000_000, Some(b"k"), Some(value.as_bytes()))?;
    /// }
    /// let set = builder.finish()?;
    /// let mut compacted = Vec::new();
    /// let message = Message::parse(&set, 0)?;
    /// let kept = Rewriter::new().rewrite_message(&message, |inner| inner.offset > 10, &mut compacted)?;
    /// assert_eq!(kept, Rewritten::Changed);
    /// let (left, mut decoder) = (Message::parse(&compacted, 0)?, Decoder::default());
    /// let offsets: Vec<_> = left.inner(&mut decoder)?.map(|inner| inner.offset).collect();
    /// assert_eq!(offsets, [11, 12]);
    /// # Ok::<(), batchwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// `CrcMismatch` and `InnerCrcMismatch`: a message that is damaged is not made to look sound. Those of
    /// [`Message::inner`], and `InnerCompressed`. Where messages are written anew, those of [`Message::content`], and what
    /// Kafka's cleaner refuses: `OffsetDeltaNotIncreasing`, `OffsetOutOfRange`, `TimestampNegative`; and `CompressFailed`,
    /// `BatchTooLarge`. `out` is then as it was.
    pub fn rewrite_message(
        &mut self,
        message: &Message<'_>,
        mut keep: impl FnMut(&InnerMessage<'_>) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<Rewritten> {
        message.verify_checksum()?;
        if message.codec() == 0 {
            let (offset, timestamp) = (message.header().offset(), message.timestamp());
            if !keep(&InnerMessage { offset, timestamp, message: *message }) {
                return Ok(Rewritten::Dropped);
            }
            out.extend_from_slice(message.bytes());
            return Ok(Rewritten::Unchanged);
        }
        let Rewriter { decoder, kept, compressors, .. } = self;
        let (any, all) = ask(message, decoder, kept, &mut keep)?;
        if !any {
            return Ok(Rewritten::Dropped);
        }
        if all {
            out.extend_from_slice(message.bytes());
            return Ok(Rewritten::Unchanged);
        }
        let codec = message.wrapper_codec()?;
        let slot = &mut compressors[usize::from(codec.number()) - 1];
        let mut builder = builder(message, codec, slot.take())?;
        let written = write(message, decoder, kept, &mut builder);
        let set = written.and_then(|()| builder.finish());
        *slot = builder.into_compressor();
        out.extend_from_slice(&set?);
        Ok(Rewritten::Changed)
    }
}

/// Asks of each message within whether it is kept; tells whether any is, and whether all are that stay as they are.
fn ask(
    wrapper: &Message<'_>,
    decoder: &mut Decoder,
    kept: &mut Vec<bool>,
    keep: &mut impl FnMut(&InnerMessage<'_>) -> bool,
) -> Result<(bool, bool)> {
    kept.clear();
    let mut stays = true;
    for inner in wrapper.inner(decoder)? {
        let message = &inner.message;
        if message.codec() != 0 {
            let detail = Detail::Value { found: message.codec().into(), rule: "must be 0 within a compressed message" };
            let error = Error::new(ErrorKind::InnerCompressed, detail, "attributes", message.offset() + 17);
            return Err(error.within(Within::Decompressed));
        }
        let checked = message.verify_checksum();
        checked.map_err(|e| e.of_kind(ErrorKind::InnerCrcMismatch).within(Within::Decompressed))?;
        let is_kept = keep(&inner);
        kept.push(is_kept);
        // Old versions of the cleaner left messages of magic 0 in those of magic 1.
        stays &= is_kept && message.header().magic() == wrapper.header().magic();
    }
    Ok((kept.contains(&true), stays))
}

fn builder(wrapper: &Message<'_>, codec: Codec, compressor: Option<Compressor>) -> Result<MessageSetBuilder> {
    let compressor = match compressor {
        Some(compressor) => compressor,
        None => Compressor::new(codec, None)?,
    };
    let builder = MessageSetBuilder::new(wrapper.header().magic())?.compressor(compressor);
    match (wrapper.timestamp_type(), wrapper.timestamp()) {
        (Some(TimestampType::LogAppendTime), Some(ms)) => builder.log_append_time(ms),
        _ => Ok(builder),
    }
}

/// Appends the kept messages.
fn write(wrapper: &Message<'_>, decoder: &mut Decoder, kept: &[bool], builder: &mut MessageSetBuilder) -> Result<()> {
    for (inner, _) in wrapper.inner(decoder)?.zip(kept).filter(|(_, is_kept)| **is_kept) {
        let content = inner.message.content().map_err(|e| e.within(Within::Decompressed))?;
        if builder.is_empty() {
            builder.set_base_offset(inner.offset);
        }
        builder.append_at(inner.offset, inner.timestamp.unwrap_or(-1), content.key, content.value)?;
    }
    Ok(())
}
