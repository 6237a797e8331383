//! What a broker writes into a batch when it appends it.

use crate::types::*;
use crate::{bytes, bytes_mut, guarded, put};
use batchwise::iggy::{self, ChecksumMode, FrameList, Revision};
use batchwise::kafka::HeaderPatch;
use core::ffi::c_void;

/// `fields`: write `base_offset`.
pub const BATCHWISE_KAFKA_BASE_OFFSET: u32 = 1;
/// `fields`: write `partition_leader_epoch`.
pub const BATCHWISE_KAFKA_LEADER_EPOCH: u32 = 2;
/// `fields`: for a topic of LogAppendTime, write that type and `max_timestamp`.
pub const BATCHWISE_KAFKA_LOG_APPEND_TIME: u32 = 4;
/// `fields`: for a topic of CreateTime, write that type and `max_timestamp`.
pub const BATCHWISE_KAFKA_CREATE_TIME: u32 = 8;
/// `fields`: write `producer_id`, `producer_epoch` and `base_sequence`.
pub const BATCHWISE_KAFKA_PRODUCER: u32 = 16;
/// `fields`: write `delete_horizon`.
pub const BATCHWISE_KAFKA_DELETE_HORIZON: u32 = 32;

/// Changes to the header of a record batch, magic 2.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct KafkaPatch {
    /// Which of the following to write: `BATCHWISE_KAFKA_...`, added up.
    pub fields: u32,
    /// Epoch of the leader that appends.
    pub partition_leader_epoch: i32,
    /// Offset of the first record.
    pub base_offset: i64,
    /// Greatest timestamp of the records, or time of the append, ms.
    pub max_timestamp: i64,
    /// Time from which tombstones in the batch may be dropped, ms.
    pub delete_horizon: i64,
    /// Id of the producer; -1 for none.
    pub producer_id: i64,
    /// Epoch of the producer; -1 for none.
    pub producer_epoch: i16,
    /// 0.
    pub reserved: i16,
    /// Sequence number of the first record; -1 for none.
    pub base_sequence: i32,
}

impl KafkaPatch {
    fn patch(&self) -> Option<HeaderPatch> {
        let mut left = self.fields;
        let mut take = |bit: u32| {
            let set = left & bit != 0;
            left &= !bit;
            set
        };
        let mut patch = HeaderPatch::new();
        if take(BATCHWISE_KAFKA_BASE_OFFSET) {
            patch = patch.base_offset(self.base_offset);
        }
        if take(BATCHWISE_KAFKA_LEADER_EPOCH) {
            patch = patch.partition_leader_epoch(self.partition_leader_epoch);
        }
        match (take(BATCHWISE_KAFKA_LOG_APPEND_TIME), take(BATCHWISE_KAFKA_CREATE_TIME)) {
            (true, false) => patch = patch.log_append_time(self.max_timestamp),
            (false, true) => patch = patch.create_time(self.max_timestamp),
            (false, false) => {}
            (true, true) => return None,
        }
        if take(BATCHWISE_KAFKA_PRODUCER) {
            patch = patch.producer(self.producer_id, self.producer_epoch, self.base_sequence);
        }
        if take(BATCHWISE_KAFKA_DELETE_HORIZON) {
            patch = patch.delete_horizon(self.delete_horizon);
        }
        (left == 0 && self.reserved == 0).then_some(patch)
    }
}

/// Writes `patch` into the header of the record batch (magic 2) at the start of `batch`, and the checksum that follows from
/// it; takes the same time for a batch of any size.
///
/// A batch whose checksum did not match before does not match after. Returns `BATCHWISE_OK` with the offset after the last
/// record in `next_offset`; `BATCHWISE_DEFECT`, the batch left as it was; or `BATCHWISE_INVALID_ARGUMENT`.
/// `next_offset` and `error` may be null.
///
/// # Safety
/// `batch` points to `len` writable bytes that nobody else uses, or is null; the others are null or point to what their types
/// say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_kafka_stamp(
    batch: *mut c_void,
    len: usize,
    patch: *const KafkaPatch,
    next_offset: *mut i64,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes_mut`.
    let batch = unsafe { bytes_mut(batch, len) };
    // SAFETY: null or a patch, by the caller's obligation.
    let patch = unsafe { patch.as_ref() }.and_then(KafkaPatch::patch);
    let Some(patch) = patch else { return BATCHWISE_INVALID_ARGUMENT };
    let mut result = Ok(0);
    let code = guarded(|| {
        result = patch.apply(batch);
        if result.is_ok() { BATCHWISE_OK } else { BATCHWISE_DEFECT }
    });
    if let Ok(next) = result
        && code == BATCHWISE_OK
    {
        // SAFETY: null or a place, by the caller's obligation.
        unsafe { put(next_offset, next) };
    }
    // SAFETY: as before.
    unsafe { put(error, result.err().map_or(Error::NONE, |e| Error::from(batchwise::Defect::from(e)))) };
    code
}

/// `fields`: write `partition_id`.
pub const BATCHWISE_IGGY_PARTITION_ID: u32 = 1;
/// `fields`: write `base_offset`.
pub const BATCHWISE_IGGY_BASE_OFFSET: u32 = 2;
/// `fields`: write `base_timestamp`.
pub const BATCHWISE_IGGY_BASE_TIMESTAMP: u32 = 4;
/// `fields`: write 0 for the batch checksum: the batch is stamped again before anybody reads it.
pub const BATCHWISE_IGGY_SKIP_CHECKSUM: u32 = 8;

/// Changes to the header of an Iggy batch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct IggyPatch {
    /// Which of the following to write: `BATCHWISE_IGGY_...`, added up.
    pub fields: u32,
    /// 0.
    pub reserved: u32,
    /// Partition, written at admission.
    pub partition_id: u64,
    /// The next offset of the partition, written at append.
    pub base_offset: u64,
    /// Time of the append, µs, written at append.
    pub base_timestamp: u64,
}

impl IggyPatch {
    fn stamp(&self) -> Option<(iggy::Stamp, ChecksumMode)> {
        let known = BATCHWISE_IGGY_PARTITION_ID
            | BATCHWISE_IGGY_BASE_OFFSET
            | BATCHWISE_IGGY_BASE_TIMESTAMP
            | BATCHWISE_IGGY_SKIP_CHECKSUM;
        let has = |bit| self.fields & bit != 0;
        let stamp = iggy::Stamp {
            partition_id: has(BATCHWISE_IGGY_PARTITION_ID).then_some(self.partition_id),
            base_offset: has(BATCHWISE_IGGY_BASE_OFFSET).then_some(self.base_offset),
            base_timestamp: has(BATCHWISE_IGGY_BASE_TIMESTAMP).then_some(self.base_timestamp),
        };
        let mode = if has(BATCHWISE_IGGY_SKIP_CHECKSUM) { ChecksumMode::Skip } else { ChecksumMode::Compute };
        (self.fields & !known == 0 && self.reserved == 0).then_some((stamp, mode))
    }
}

/// Where the messages of an Iggy batch lie and what their checksums are: found by `batchwise_iggy_verify`, used by
/// `batchwise_iggy_stamp`.
#[derive(Default)]
pub struct IggyFrames {
    frames: FrameList,
    /// Length of the batch that was verified; 0 for none.
    length: usize,
}

/// An empty list. Freed by `batchwise_iggy_frames_free`.
#[unsafe(no_mangle)]
pub extern "C" fn batchwise_iggy_frames_new() -> *mut IggyFrames {
    Box::into_raw(Box::default())
}

/// Frees a handle; null is ignored.
///
/// # Safety
/// `frames` came from `batchwise_iggy_frames_new` and is not used again, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_iggy_frames_free(frames: *mut IggyFrames) {
    // SAFETY: null, or what `batchwise_iggy_frames_new` made out of a box, by the caller's obligation.
    unsafe { crate::free(frames) }
}

/// Verifies the Iggy batch that `input` is, every message and the batch checksum, as a server does with a batch of a peer,
/// and keeps in `frames` what stamping needs.
///
/// Returns `BATCHWISE_OK`, `BATCHWISE_DEFECT` or, if `frames` is null, `BATCHWISE_INVALID_ARGUMENT`. `error` may be null.
///
/// # Safety
/// `input` points to `len` readable bytes, or is null; the others are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_iggy_verify(
    input: *const c_void,
    len: usize,
    frames: *mut IggyFrames,
    error: *mut Error,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes`.
    let input = unsafe { bytes(input, len) };
    // SAFETY: null or a handle of ours, by the caller's obligation.
    let Some(frames) = (unsafe { frames.as_mut() }) else { return BATCHWISE_INVALID_ARGUMENT };
    frames.length = 0;
    let mut result = Ok(());
    let code = guarded(|| {
        result = iggy::decode_exact(input, 0, Revision::R2, &mut frames.frames).map(|_| ());
        if result.is_ok() { BATCHWISE_OK } else { BATCHWISE_DEFECT }
    });
    if code == BATCHWISE_OK {
        frames.length = input.len();
    }
    // SAFETY: null or a place, by the caller's obligation.
    unsafe { put(error, result.err().map_or(Error::NONE, |e| Error::from(batchwise::Defect::from(e)))) };
    code
}

/// Writes `patch` into the header of the Iggy batch that `batch` is, and the batch checksum that follows from it and from
/// `frames`, the list that `batchwise_iggy_verify` made of this batch: no message is looked at again.
///
/// Returns `BATCHWISE_OK`, or `BATCHWISE_INVALID_ARGUMENT`: an argument is null, or the list is not of a batch of this
/// length and number of messages.
///
/// # Safety
/// `batch` points to `len` writable bytes that nobody else uses, or is null; the others are null or point to what their types
/// say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn batchwise_iggy_stamp(
    batch: *mut c_void,
    len: usize,
    patch: *const IggyPatch,
    frames: *mut IggyFrames,
) -> i32 {
    // SAFETY: the caller's obligation is that of `bytes_mut`.
    let batch = unsafe { bytes_mut(batch, len) };
    // SAFETY: null or a patch, by the caller's obligation.
    let stamp = unsafe { patch.as_ref() }.and_then(IggyPatch::stamp);
    // SAFETY: null or a handle of ours, by the caller's obligation.
    let frames = unsafe { frames.as_mut() };
    let (Some((stamp, mode)), Some(frames)) = (stamp, frames) else { return BATCHWISE_INVALID_ARGUMENT };
    guarded(|| {
        let fits = iggy::Batch::parse_exact(batch, 0, Revision::R2)
            .is_ok_and(|b| frames.length == len && b.header().message_count() as usize == frames.frames.len());
        match batch.first_chunk_mut() {
            Some(header) if fits => {
                iggy::stamp(header, stamp, &mut frames.frames, mode);
                BATCHWISE_OK
            }
            _ => BATCHWISE_INVALID_ARGUMENT,
        }
    })
}
