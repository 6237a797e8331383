//! Frames and blocks of zstd, read for their lengths only (RFC 8878, section 3.1).

use alloc::vec::Vec;

/// What the lengths in a stream tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The most bytes that the frames make.
    pub(super) most: usize,
    /// Where a window is declared that the library's streaming decoder refuses.
    pub(super) window_too_large: Option<usize>,
    /// Where a block starts that is longer than its frame's window, which only that decoder refuses.
    pub(super) block_too_large: Option<usize>,
    /// Whether there is a compressed block of no bytes, which only that decoder passes over.
    pub(super) has_empty_block: bool,
}

const MAGIC: u32 = 0xFD2F_B528;
/// The most bytes that a block makes.
const MAX_BLOCK: usize = 128 << 10;
/// The streaming decoder's limit.
const MAX_WINDOW: u64 = (1 << 27) + 1;
/// A frame that declares so much content at most is decoded without regard to its window, by the library and the
/// buffer of this size that the Java reader gives it.
const SMALL_CONTENT: u64 = 16 << 10;

/// A frame's header.
struct Header {
    window: u64,
    content_size: Option<u64>,
    has_checksum: bool,
    len: usize,
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b))
}

fn header(frame: &[u8]) -> Option<Header> {
    let descriptor = *frame.get(4)?;
    let is_single_segment = descriptor & 1 << 5 != 0;
    let mut at = 5;
    let mut window = 0;
    if !is_single_segment {
        let byte = *frame.get(at)?;
        let base = 1u64 << (10 + (byte >> 3));
        window = base + (base >> 3) * u64::from(byte & 7);
        at += 1;
    }
    at += [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_len = match descriptor >> 6 {
        0 if is_single_segment => 1,
        0 => 0,
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let mut content_size = None;
    if size_len > 0 {
        let size = little_endian(frame.get(at..at + size_len)?);
        content_size = Some(if size_len == 2 { size + 256 } else { size });
        at += size_len;
    }
    if is_single_segment {
        window = content_size?;
    }
    Some(Header { window, content_size, has_checksum: descriptor & 1 << 2 != 0, len: at })
}

/// A block's header.
struct Block {
    at: usize,
    kind: usize,
    /// Bytes it takes, or makes if they are all the same.
    len: usize,
    /// The most that a block of its frame may take or make.
    max: usize,
    /// Whether the Java reader's buffer holds the frame's whole content, so that the library decodes it in one go.
    in_one_go: bool,
}

const SAME: usize = 1;
const COMPRESSED: usize = 2;

impl Block {
    fn is_passed_over(&self) -> bool {
        self.kind == COMPRESSED && self.len == 0 && !self.in_one_go
    }
}

/// Walks the frames as far as their lengths hold. Where a window is declared that the streaming decoder refuses.
fn walk(stream: &[u8], mut block: impl FnMut(&Block)) -> Option<usize> {
    let mut window_too_large = None;
    let mut at = 0;
    while let Some(magic) = stream.get(at..at + 4) {
        let magic = little_endian(magic) as u32;
        if magic & 0xFFFF_FFF0 == 0x184D_2A50 {
            let Some(len) = stream.get(at + 4..at + 8) else { break };
            // In 64 bits: where `usize` has 32, the sum of these lengths could come round to where the walk stands.
            let end = at as u64 + 8 + little_endian(len);
            let Some(end) = usize::try_from(end).ok().filter(|&end| end <= stream.len()) else { break };
            at = end;
            continue;
        }
        if magic != MAGIC {
            break;
        }
        let Some(header) = header(&stream[at..]) else { break };
        let in_one_go = header.content_size.is_some_and(|size| size <= SMALL_CONTENT);
        if header.window > MAX_WINDOW && !in_one_go && window_too_large.is_none() {
            window_too_large = Some(at + 5);
        }
        let max = usize::try_from(header.window).map_or(MAX_BLOCK, |w| w.min(MAX_BLOCK));
        at += header.len;
        loop {
            let Some(bits) = stream.get(at..at + 3) else { return window_too_large };
            let bits = little_endian(bits) as usize;
            let (is_last, kind, len) = (bits & 1 != 0, bits >> 1 & 3, bits >> 3);
            block(&Block { at, kind, len, max, in_one_go });
            at += 3 + if kind == SAME { 1 } else { len };
            if is_last {
                break;
            }
        }
        at += if header.has_checksum { 4 } else { 0 };
    }
    window_too_large
}

/// What the lengths in `stream` tell.
pub(super) fn scan(stream: &[u8]) -> Scan {
    let mut scan = Scan::default();
    scan.window_too_large = walk(stream, |block| {
        let makes = if block.kind < COMPRESSED { block.len } else { block.max };
        scan.most = scan.most.saturating_add(makes.min(MAX_BLOCK));
        if block.len > block.max && !block.in_one_go && scan.block_too_large.is_none() {
            scan.block_too_large = Some(block.at);
        }
        scan.has_empty_block |= block.is_passed_over();
    });
    scan
}

/// The stream with each empty compressed block made one of no plain bytes, which decodes in one go as well.
#[cold]
pub(super) fn without_empty_blocks(stream: &[u8]) -> Vec<u8> {
    let mut out = stream.to_vec();
    walk(stream, |block| {
        if block.is_passed_over() {
            out[block.at] &= !(3 << 1);
        }
    });
    out
}
