//! LZ4 blocks that refer to the blocks before them: a plain decoder for what is read on request only.

/// Why a block was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Error {
    /// It makes more bytes than there is room for.
    OutputFull,
    /// It is cut off, or refers to bytes before the first.
    Corrupt,
}

/// Decodes `block` behind the first `from` bytes of `out`, which it may refer to; tells where its content ends.
pub(super) fn decode(block: &[u8], out: &mut [u8], from: usize) -> Result<usize, Error> {
    let (mut at, mut end) = (0, from);
    let next = |at: &mut usize| {
        let byte = block.get(*at).copied().ok_or(Error::Corrupt);
        *at += 1;
        byte
    };
    let length = |at: &mut usize, nibble: u8| {
        let mut length = usize::from(nibble);
        if nibble == 15 {
            loop {
                let more = next(at)?;
                length += usize::from(more);
                if more != 255 {
                    break;
                }
            }
        }
        Ok(length)
    };
    loop {
        let token = next(&mut at)?;
        let literals = length(&mut at, token >> 4)?;
        let bytes = block[at..].get(..literals).ok_or(Error::Corrupt)?;
        out[end..].get_mut(..literals).ok_or(Error::OutputFull)?.copy_from_slice(bytes);
        at += literals;
        end += literals;
        if at == block.len() {
            return Ok(end);
        }
        let distance = usize::from(u16::from_le_bytes([next(&mut at)?, next(&mut at)?]));
        let mut left = length(&mut at, token & 15)? + 4;
        if distance == 0 || distance > end {
            return Err(Error::Corrupt);
        }
        if left > out.len() - end {
            return Err(Error::OutputFull);
        }
        while left > 0 {
            let step = left.min(distance);
            out.copy_within(end - distance..end - distance + step, end);
            end += step;
            left -= step;
        }
    }
}
