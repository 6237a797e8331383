//! The way back after damage: where a header can stand, and whether a long batch is sound, seen piece by piece.

use super::header::CHECKSUM_HEAD;
use super::message::UNHASHED;
use super::{BatchHeader, MessageHeader, Revision};
use crate::formats::Pieces;
use crate::wire::start_of;
use crate::xxh3::Xxh3;
use crate::{Detail, Error, ErrorKind, Result};
use alloc::boxed::Box;

/// Bytes of a header that are zero, whatever the revision: from here to its end.
const ZEROS: usize = 72;

/// The first place in `bytes` where `passes` holds, looked at only where the reserved bytes of a header are zero.
///
/// A byte that is not zero rules out every header whose reserved bytes it would be in, so the search goes through data in
/// leaps of up to 184 bytes.
pub(super) fn find(bytes: &[u8], passes: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BatchHeader::SIZE) {
        match last_nonzero(&header[ZEROS..]) {
            Some(within) => at += within + 1,
            None if passes(&bytes[at..]) => return Some(at),
            None => at += 1,
        }
    }
    None
}

/// Where the last byte stands that is not zero.
fn last_nonzero(bytes: &[u8]) -> Option<usize> {
    let (head, words) = bytes.as_rchunks::<8>();
    let word = words.iter().rposition(|w| *w != [0; 8]);
    match word {
        Some(word) => words[word].iter().rposition(|&b| b != 0).map(|within| head.len() + 8 * word + within),
        None => head.iter().rposition(|&b| b != 0),
    }
}

/// The verification of a batch that comes in pieces, in the memory of two hashers.
pub(super) struct InPieces {
    revision: Revision,
    offset: u64,
    header: [u8; BatchHeader::SIZE],
    /// Bytes seen so far.
    seen: u64,
    /// The header of the message that is being read.
    message: [u8; MessageHeader::SIZE],
    /// Where that message starts, counted from the start of the batch, and where it ends.
    start: u64,
    end: u64,
    hasher: Xxh3,
    sums: Xxh3,
    messages: u64,
    error: Option<Error>,
}

impl InPieces {
    pub(super) fn new(revision: Revision, offset: u64) -> Self {
        InPieces {
            revision,
            offset,
            header: [0; BatchHeader::SIZE],
            seen: 0,
            message: [0; MessageHeader::SIZE],
            start: BatchHeader::SIZE as u64,
            end: BatchHeader::SIZE as u64,
            hasher: Xxh3::new(),
            sums: Xxh3::new(),
            messages: 0,
            error: None,
        }
    }

    /// The next bytes; they do not go past what is read as one: the header, a message's header, the rest of a message.
    fn step(&mut self, piece: &[u8]) -> Result<usize> {
        if let Some(rest) = self.header.get_mut(self.seen as usize..).filter(|rest| !rest.is_empty()) {
            let len = copy(rest, piece);
            self.seen += len as u64;
            if self.seen == BatchHeader::SIZE as u64 {
                let header = BatchHeader::of(&self.header);
                header.check(self.revision, self.offset)?;
                let mut head = [0; CHECKSUM_HEAD];
                let from = header.put_checksum_head(&mut head);
                self.sums.update(&head[from..]);
            }
            return Ok(len);
        }
        let within = self.seen - self.start;
        let header_len = MessageHeader::SIZE as u64;
        let len = if within < header_len {
            let len = copy(&mut self.message[within as usize..], piece);
            if within + len as u64 == header_len {
                self.begin()?;
            }
            len
        } else {
            let left = usize::try_from(self.end - self.seen).unwrap_or(usize::MAX);
            let body = &piece[..piece.len().min(left)];
            self.hasher.update(body);
            body.len()
        };
        self.seen += len as u64;
        if self.seen - self.start >= header_len && self.seen == self.end {
            self.compare()?;
        }
        Ok(len)
    }

    /// The header of a message is there.
    fn begin(&mut self) -> Result<()> {
        let Some(header) = MessageHeader::new(&self.message) else { return Ok(()) };
        let body = u64::from(header.payload_length()) + u64::from(header.user_headers_length());
        let (needed, length) = (MessageHeader::SIZE as u64 + body, BatchHeader::of(&self.header).batch_length());
        if header.reserved() != 0 || needed > length - self.start {
            let detail = Detail::Length { needed, available: length - self.start };
            return Err(Error::new(ErrorKind::FramesNotFilling, detail, "message", self.offset + self.start));
        }
        self.end = self.start + needed;
        self.hasher = Xxh3::new();
        self.hasher.update(&self.message[UNHASHED..]);
        Ok(())
    }

    /// The message is there.
    fn compare(&mut self) -> Result<()> {
        let Some(header) = MessageHeader::new(&self.message) else { return Ok(()) };
        let (stored, computed) = (header.checksum(), self.hasher.digest());
        if stored != computed {
            let base = BatchHeader::of(&self.header).base_offset();
            let log_offset = base.saturating_add(header.offset_delta().into());
            let detail = Detail::ChecksumAt { stored, computed, log_offset };
            let at = self.offset + self.start;
            return Err(Error::new(ErrorKind::MessageChecksumMismatch, detail, "checksum", at));
        }
        self.sums.update(&self.message[..UNHASHED]);
        self.messages += 1;
        self.start = self.end;
        Ok(())
    }
}

fn copy(to: &mut [u8], from: &[u8]) -> usize {
    let len = to.len().min(from.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

impl Pieces for InPieces {
    fn feed(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() && self.error.is_none() {
            match self.step(piece) {
                Ok(len) => piece = &piece[len..],
                Err(error) => self.error = Some(error),
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let header = BatchHeader::of(&self.header);
        let (needed, found) = (header.batch_length(), u64::from(header.message_count()));
        let filled = self.seen == needed && self.start == self.seen && self.messages == found;
        if self.seen < BatchHeader::SIZE as u64 || !filled {
            let at = self.offset + start_of(BatchHeader::FIELDS, "message_count") as u64;
            let detail = Detail::Expected { expected: found, found: self.messages };
            return Err(Error::new(ErrorKind::FramesNotFilling, detail, "message_count", at));
        }
        let (stored, computed) = (header.batch_checksum(), self.sums.digest());
        if stored == computed {
            return Ok(());
        }
        let detail = Detail::ChecksumAt { stored, computed, log_offset: header.base_offset() };
        Err(header.error(ErrorKind::BatchChecksumMismatch, detail, "batch_checksum", self.offset))
    }
}
