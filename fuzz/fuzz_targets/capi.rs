//! The C interface on memory of exactly the sizes that it is told: what it says is what the library says, and null is
//! taken everywhere.
#![no_main]

use arbitrary::Arbitrary;
use batchwise::{crc32c, xxh3};
use batchwise_capi::*;
use batchwise_fuzz::cut;
use core::ffi::{c_char, c_void};
use core::ptr::{null, null_mut};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    choice: u8,
    options: [u8; 4],
    number: u64,
    data: &'a [u8],
}

fn memory(data: &[u8]) -> (*const c_void, usize) {
    (data.as_ptr().cast(), data.len())
}

/// Texts end within their arrays.
fn is_text(text: &[c_char]) {
    assert!(text.contains(&0));
}

unsafe extern "C" fn on_finding(context: *mut c_void, finding: *const Finding) -> i32 {
    // SAFETY: called with the context that `walk` gave, a counter, and with a finding.
    let (left, finding) = unsafe { (&mut *context.cast::<u32>(), &*finding) };
    is_text(&finding.error.field);
    is_text(&finding.error.message);
    *left = left.wrapping_sub(1);
    i32::from(*left == 0)
}

unsafe extern "C" fn on_batch(context: *mut c_void, batch: *const Batch) -> i32 {
    // SAFETY: as above, with a batch.
    let (left, batch) = unsafe { (&mut *context.cast::<u32>(), &*batch) };
    assert!(batch.length > 0);
    *left = left.wrapping_sub(1);
    i32::from(*left == 0)
}

fn checksums(input: &Input<'_>, data: &[u8]) {
    let (at, len) = memory(data);
    let seed = input.number as u32;
    let (bytes, ranges) = cut(data, usize::from(input.choice & 15));
    let slices: Box<[Slice]> = ranges
        .iter()
        .map(|r| bytes[r.clone()].as_ptr_range())
        .map(|r| Slice { data: r.start.cast(), len: r.end as usize - r.start as usize })
        .collect();
    let (mut crcs, mut hashes) = (vec![0; slices.len()].into_boxed_slice(), vec![0; slices.len()].into_boxed_slice());
    let mut copied = vec![0u8; len].into_boxed_slice();
    let (half, rest) = data.split_at(len / 2);
    let mut hash = 0;
    // SAFETY: every pointer comes from a slice or a place of the size that goes with it; handles are freed once.
    unsafe {
        assert_eq!(batchwise_crc32c(seed, at, len), crc32c::update(seed, data));
        assert_eq!(batchwise_crc32c_copy(copied.as_mut_ptr().cast(), at, len), crc32c::crc32c(data));
        assert_eq!(*copied, *data);
        let changed: Box<[u8]> = half.iter().map(|b| b ^ seed as u8).collect();
        let patched = batchwise_crc32c_patch(
            crc32c::crc32c(data),
            memory(half).0,
            memory(&changed).0,
            half.len(),
            rest.len() as u64,
        );
        assert_eq!(patched, crc32c::update(crc32c::crc32c(&changed), rest));
        batchwise_crc32c_many(slices.as_ptr(), slices.len(), crcs.as_mut_ptr());
        batchwise_xxh3_64_many(slices.as_ptr(), slices.len(), input.number, hashes.as_mut_ptr());
        assert_eq!(batchwise_xxh3_64(at, len, input.number), xxh3::hash64_with_seed(data, input.number));
        let code = batchwise_xxh3_64_with_secret(at, len, memory(half).0, half.len(), &mut hash);
        assert_eq!(code, if half.len() < xxh3::SECRET_MIN_LEN { BATCHWISE_INVALID_ARGUMENT } else { BATCHWISE_OK });
        let state = batchwise_xxh3_new(input.number);
        batchwise_xxh3_update(state, memory(half).0, half.len());
        batchwise_xxh3_update(state, memory(rest).0, rest.len());
        assert_eq!(batchwise_xxh3_digest(state), xxh3::hash64_with_seed(data, input.number));
        batchwise_xxh3_free(state);
        // Null is no bytes, whatever the length.
        assert_eq!(batchwise_crc32c(seed, null(), len), seed);
        batchwise_crc32c_many(null(), slices.len(), crcs.as_mut_ptr());
    }
    for ((range, crc), hash) in ranges.iter().zip(&crcs).zip(&hashes) {
        assert_eq!(*crc, crc32c::crc32c(&bytes[range.clone()]));
        assert_eq!(*hash, xxh3::hash64_with_seed(&bytes[range.clone()], input.number));
    }
}

fn check(input: &Input<'_>, data: &[u8]) {
    let (at, len) = memory(data);
    let [depth, origin, conformance, limit] = input.options.map(|o| i32::from(o & 3));
    let options = Options { depth, origin, conformance, reserved: 0, max_decompressed: 1 << (8 + limit * 4) };
    let known = depth < 3 && origin < 3 && conformance < 2;
    let scratch = if input.choice & 16 != 0 { batchwise_scratch_new() } else { null_mut() };
    let mut error = Error::NONE;
    let mut summary = Summary { length: 0, records: 0, first_offset: 0, next_offset: 0 };
    let mut totals = Totals::default();
    let mut left = u32::from(input.options[3] >> 2);
    let is_told = input.choice & 32 != 0;
    let sink = Sink {
        on_finding: is_told.then_some(on_finding),
        on_batch: is_told.then_some(on_batch),
        context: (&raw mut left).cast(),
    };
    let format = [null(), c"kafka".as_ptr(), c"iggy".as_ptr(), c"?".as_ptr()][usize::from(input.choice >> 6)];
    // SAFETY: as above; the callbacks get the counter that outlives the call.
    unsafe {
        for function in [batchwise_kafka_check, batchwise_iggy_check] {
            let code = function(at, len, &options, scratch, &mut summary, &mut error);
            assert_eq!(code == BATCHWISE_INVALID_ARGUMENT, !known);
            assert_ne!(code, BATCHWISE_INTERNAL);
            is_text(&error.message);
            assert_eq!(function(at, len, &options, null_mut(), null_mut(), null_mut()), code);
        }
        let code = batchwise_memory_walk(at, len, format, &options, &sink, &mut totals, &mut error);
        assert_ne!(code, BATCHWISE_INTERNAL);
        if code == BATCHWISE_OK || code == BATCHWISE_DEFECT {
            assert_eq!(totals.bytes, len as u64);
            assert_eq!(batchwise_memory_walk(at, len, format, &options, null(), null_mut(), null_mut()), code);
        }
        batchwise_scratch_free(scratch);
    }
}

fn stamps(input: &Input<'_>, data: &[u8]) {
    let (at, len) = memory(data);
    let mut own: Box<[u8]> = data.into();
    let n = input.number as i64;
    let kafka = KafkaPatch {
        fields: u32::from(input.options[0]),
        partition_leader_epoch: n as i32,
        base_offset: n,
        max_timestamp: n,
        delete_horizon: n,
        producer_id: n,
        producer_epoch: n as i16,
        reserved: 0,
        base_sequence: n as i32,
    };
    let patch = IggyPatch {
        fields: u32::from(input.options[1] & 31),
        reserved: 0,
        partition_id: input.number,
        base_offset: input.number,
        base_timestamp: input.number,
    };
    let (mut next, mut error) = (0, Error::NONE);
    let frames = batchwise_iggy_frames_new();
    // SAFETY: as above.
    unsafe {
        let code = batchwise_kafka_stamp(own.as_mut_ptr().cast(), len, &kafka, &mut next, &mut error);
        assert_ne!(code, BATCHWISE_INTERNAL);
        if code != BATCHWISE_OK {
            assert_eq!(*own, *data);
        }
        let sound = batchwise_iggy_verify(at, len, frames, &mut error);
        own.copy_from_slice(data);
        let code = batchwise_iggy_stamp(own.as_mut_ptr().cast(), len, &patch, frames);
        if sound == BATCHWISE_OK && code == BATCHWISE_OK && patch.fields & BATCHWISE_IGGY_SKIP_CHECKSUM == 0 {
            assert_eq!(batchwise_iggy_verify(own.as_ptr().cast(), len, frames, null_mut()), BATCHWISE_OK);
        }
        batchwise_iggy_frames_free(frames);
    }
}

fuzz_target!(|input: Input<'_>| {
    let data: Box<[u8]> = input.data.into();
    if input.options[0] & 0xC0 == 0 {
        checksums(&input, &data);
    }
    check(&input, &data);
    stamps(&input, &data);
});
