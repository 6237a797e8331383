//! The checksum of an entry that is too long to be held as a whole, piece by piece.

use alloc::boxed::Box;

use super::BatchHeader;
use crate::formats::Pieces;
use crate::{Detail, Error, ErrorKind, Result, crc32c};

/// Bytes before those that the checksum covers, by magic: up to and with the CRC.
const FROM: usize = 21;
const FROM_LEGACY: usize = 16;

/// As much of the entry as tells its magic and checksum, and the checksum of what came so far.
pub(super) struct InPieces {
    offset: u64,
    head: [u8; FROM],
    filled: usize,
    new: crc32c::Hasher,
    legacy: crc32fast::Hasher,
}

impl InPieces {
    pub(super) fn new(offset: u64) -> Self {
        let (new, legacy) = (crc32c::Hasher::new(), crc32fast::Hasher::new());
        InPieces { offset, head: [0; FROM], filled: 0, new, legacy }
    }

    fn is_new(&self) -> bool {
        self.head[16] == 2
    }
}

impl Pieces for InPieces {
    fn feed(&mut self, piece: &[u8]) {
        let taken = piece.len().min(FROM - self.filled);
        self.head[self.filled..self.filled + taken].copy_from_slice(&piece[..taken]);
        let complete = self.filled < FROM && self.filled + taken == FROM;
        self.filled += taken;
        if complete && !self.is_new() {
            self.legacy.update(&self.head[FROM_LEGACY..]);
        }
        if self.is_new() { self.new.update(&piece[taken..]) } else { self.legacy.update(&piece[taken..]) }
    }

    fn finish(self: Box<Self>) -> Result<()> {
        if self.filled < FROM {
            let detail = Detail::Length { needed: BatchHeader::SIZE as u64, available: self.filled as u64 };
            return Err(Error::new(ErrorKind::TornTail, detail, "batchLength", self.offset + 8));
        }
        let at = if self.is_new() { 17 } else { 12 };
        let stored = u32::from_be_bytes(core::array::from_fn(|i| self.head[at + i]));
        let computed = if self.is_new() { self.new.finalize() } else { self.legacy.finalize() };
        if stored == computed {
            return Ok(());
        }
        let detail = Detail::Checksum { stored: stored.into(), computed: computed.into() };
        Err(Error::new(ErrorKind::CrcMismatch, detail, "crc", self.offset + at as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use alloc::vec::Vec;

    fn in_pieces(entry: &[u8], step: usize) -> Result<()> {
        let mut pieces: Box<dyn Pieces> = crate::kafka::Log.pieces(1000).expect("entries can be long");
        entry.chunks(step).for_each(|piece| pieces.feed(piece));
        pieces.finish()
    }

    #[test]
    fn pieces_tell_what_the_whole_tells() {
        let batch = include_bytes!("../../../tests/data/kafka/two-records.bin");
        // The message of section 10.4: v1, offset 10, key "k", value "hello".
        let text = "000000000000000a0000001c2954666d01000000018f125c7400000000016b0000000568656c6c6f";
        let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
        let message: Vec<u8> = (0..text.len()).step_by(2).map(byte).collect();
        for (entry, crc_at) in [(&batch[..], 17), (&message[..], 12)] {
            for step in 1..=entry.len() {
                assert_eq!(in_pieces(entry, step), Ok(()), "pieces of {step}");
                let mut damaged = entry.to_vec();
                damaged[entry.len() - 2] ^= 1;
                let error = in_pieces(&damaged, step).expect_err("a wrong checksum");
                assert_eq!((error.kind(), error.offset()), (ErrorKind::CrcMismatch, 1000 + crc_at));
            }
            assert_eq!(in_pieces(&entry[..20], 7).expect_err("cut off").kind(), ErrorKind::TornTail);
        }
    }
}
