//! The operations beside `update`, made of it.

/// Bytes of a block; at 8 KiB the ends of the CRC's loops cost more than the nearer cache gains.
const BLOCK: usize = 64 << 10;

/// Copies `src` to `dst` and returns its CRC by `update`, block by block, so that the second reading comes from a near
/// cache.
#[inline(always)]
pub(super) fn copy(dst: &mut [u8], src: &[u8], update: impl Fn(u32, &[u8]) -> u32) -> u32 {
    assert_eq!(dst.len(), src.len(), "a copy has one length");
    dst.chunks_mut(BLOCK).zip(src.chunks(BLOCK)).fold(0, |crc, (dst, src)| {
        dst.copy_from_slice(src);
        update(crc, src)
    })
}

/// The CRC of each frame by `crc32c`.
#[inline(always)]
pub(super) fn many(frames: &[&[u8]], crcs: &mut [u32], crc32c: impl Fn(&[u8]) -> u32) {
    assert_eq!(frames.len(), crcs.len(), "one CRC for each frame");
    for (frame, crc) in frames.iter().zip(crcs) {
        *crc = crc32c(frame);
    }
}
