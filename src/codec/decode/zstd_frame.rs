//! Frames and blocks of zstd, read for their lengths only (RFC 8878, section 3.1).

/// What the lengths in a stream tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The most bytes that the frames make.
    pub(super) most: usize,
    /// Where a window is declared that the library's streaming decoder refuses.
    pub(super) window_too_large: Option<usize>,
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

/// Walks the frames as far as their lengths hold.
pub(super) fn scan(stream: &[u8]) -> Scan {
    let mut scan = Scan::default();
    let mut at = 0;
    while let Some(magic) = stream.get(at..at + 4) {
        let magic = little_endian(magic) as u32;
        if magic & 0xFFFF_FFF0 == 0x184D_2A50 {
            let Some(len) = stream.get(at + 4..at + 8) else { break };
            at = at.saturating_add(8 + little_endian(len) as usize);
            continue;
        }
        if magic != MAGIC {
            break;
        }
        let Some(header) = header(&stream[at..]) else { break };
        let is_small = header.content_size.is_some_and(|size| size <= SMALL_CONTENT);
        if header.window > MAX_WINDOW && !is_small && scan.window_too_large.is_none() {
            scan.window_too_large = Some(at + 5);
        }
        let max_block = usize::try_from(header.window).map_or(MAX_BLOCK, |w| w.min(MAX_BLOCK));
        at += header.len;
        loop {
            let Some(block) = stream.get(at..at + 3) else { return scan };
            let block = little_endian(block) as usize;
            let (is_last, kind, len) = (block & 1 != 0, block >> 1 & 3, block >> 3);
            let (makes, takes) = match kind {
                0 => (len, len),
                1 => (len, 1),
                _ => (max_block, len),
            };
            scan.most = scan.most.saturating_add(makes.min(MAX_BLOCK));
            at += 3 + takes;
            if is_last {
                break;
            }
        }
        at += if header.has_checksum { 4 } else { 0 };
    }
    scan
}
