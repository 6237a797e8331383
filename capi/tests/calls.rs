//! The functions as C calls them, compared with the library, and called wrongly.

use batchwise::{crc32c, iggy, xxh3};
use batchwise_capi::*;
use std::ffi::{CString, c_char, c_void};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

fn data(path: &str) -> (PathBuf, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(path);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn kafka() -> (PathBuf, Vec<u8>) {
    data("kafka/v2-none-counts/00000000000000000000.log")
}

fn ptr(bytes: &[u8]) -> *const c_void {
    bytes.as_ptr().cast()
}

fn text(chars: &[c_char]) -> String {
    assert!(chars.contains(&0), "not terminated");
    String::from_utf8(chars.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect()).unwrap()
}

#[test]
fn checksums() {
    let (_, bytes) = kafka();
    // SAFETY: pointers and lengths are of slices.
    let update = |crc, d: &[u8]| unsafe { batchwise_crc32c(crc, ptr(d), d.len()) };
    let (a, b) = bytes.split_at(1234);
    assert_eq!(update(0, &bytes), crc32c::crc32c(&bytes));
    assert_eq!(update(update(0, a), b), crc32c::crc32c(&bytes));
    assert_eq!(batchwise_crc32c_combine(update(0, a), update(0, b), b.len() as u64), crc32c::crc32c(&bytes));

    let mut changed = bytes.clone();
    changed[100..104].copy_from_slice(b"abcd");
    let tail = (bytes.len() - 104) as u64;
    // SAFETY: four bytes each.
    let patched = unsafe { batchwise_crc32c_patch(update(0, &bytes), ptr(&bytes[100..]), ptr(b"abcd"), 4, tail) };
    assert_eq!(patched, crc32c::crc32c(&changed));

    let mut copy = vec![0; bytes.len()];
    // SAFETY: as many bytes in both.
    let crc = unsafe { batchwise_crc32c_copy(copy.as_mut_ptr().cast(), ptr(&bytes), bytes.len()) };
    assert_eq!((crc, &copy), (crc32c::crc32c(&bytes), &bytes));
}

#[test]
fn many() {
    let (_, bytes) = kafka();
    // More than fit on the stack at a time, of all lengths, some of them null.
    let frames: Vec<&[u8]> = (0..150).map(|i| &bytes[i..i + i * 7]).collect();
    let mut slices: Vec<Slice> = frames.iter().map(|f| Slice { data: ptr(f), len: f.len() }).collect();
    slices.push(Slice { data: null(), len: 77 });
    let (mut crcs, mut hashes) = (vec![1; slices.len()], vec![1; slices.len()]);
    // SAFETY: as many slices as places.
    unsafe { batchwise_crc32c_many(slices.as_ptr(), slices.len(), crcs.as_mut_ptr()) };
    for seed in [0, 3] {
        // SAFETY: as before.
        unsafe { batchwise_xxh3_64_many(slices.as_ptr(), slices.len(), seed, hashes.as_mut_ptr()) };
        for (i, frame) in frames.iter().copied().chain([&[][..]]).enumerate() {
            assert_eq!(crcs[i], crc32c::crc32c(frame), "{i}");
            assert_eq!(hashes[i], xxh3::hash64_with_seed(frame, seed), "{i} {seed}");
        }
    }
    // Places that nobody has written before, as a caller's array has them, and what lies behind them.
    for count in [0, 1, 63, 64, 65, slices.len()] {
        let mut fresh = Vec::<u64>::with_capacity(count + 1);
        fresh.spare_capacity_mut()[count].write(7);
        // SAFETY: as many slices as places.
        unsafe { batchwise_xxh3_64_many(slices.as_ptr(), count, 3, fresh.as_mut_ptr()) };
        // SAFETY: written, one by this test.
        unsafe { fresh.set_len(count + 1) };
        assert_eq!(fresh[..count], hashes[..count]);
        assert_eq!(fresh[count], 7);
    }
    // SAFETY: null is allowed, and then nothing is touched.
    unsafe { batchwise_crc32c_many(null(), 5, crcs.as_mut_ptr()) };
    // SAFETY: as before.
    unsafe { batchwise_crc32c_many(slices.as_ptr(), 5, null_mut()) };
}

#[test]
fn hashes() {
    let (_, bytes) = kafka();
    for seed in [0, 99] {
        let hash = batchwise_xxh3_new(seed);
        for piece in bytes.chunks(333) {
            // SAFETY: a live handle, and a slice.
            unsafe { batchwise_xxh3_update(hash, ptr(piece), piece.len()) };
        }
        // SAFETY: a live handle.
        assert_eq!(unsafe { batchwise_xxh3_digest(hash) }, xxh3::hash64_with_seed(&bytes, seed));
        // SAFETY: a live handle.
        unsafe { batchwise_xxh3_reset(hash, seed + 1) };
        // SAFETY: a live handle.
        assert_eq!(unsafe { batchwise_xxh3_digest(hash) }, xxh3::hash64_with_seed(b"", seed + 1));
        // SAFETY: a live handle, not used again.
        unsafe { batchwise_xxh3_free(hash) };
        // SAFETY: a slice.
        assert_eq!(unsafe { batchwise_xxh3_64(ptr(&bytes), bytes.len(), seed) }, xxh3::hash64_with_seed(&bytes, seed));
    }
    let secret: Vec<u8> = (0..136).collect();
    let mut hash = 0;
    // SAFETY: slices and a place.
    let mut call = |secret: &[u8]| unsafe {
        batchwise_xxh3_64_with_secret(ptr(&bytes), bytes.len(), ptr(secret), secret.len(), &mut hash)
    };
    assert_eq!(call(&secret[1..]), BATCHWISE_INVALID_ARGUMENT);
    assert_eq!(call(&secret), BATCHWISE_OK);
    assert_eq!(Ok(hash), xxh3::hash64_with_secret(&bytes, &secret));
}

fn check(input: &[u8], options: *const Options) -> (i32, Summary, Error) {
    let mut summary = Summary { length: 9, records: 9, first_offset: 9, next_offset: 9 };
    let mut error = Error::NONE;
    // SAFETY: a slice, options or null, and places.
    let code = unsafe { batchwise_kafka_check(ptr(input), input.len(), options, null_mut(), &mut summary, &mut error) };
    (code, summary, error)
}

#[test]
fn one_batch() {
    let (_, bytes) = kafka();
    let mut at = 0;
    let mut records = 0;
    let scratch = batchwise_scratch_new();
    while at < bytes.len() {
        let (code, summary, error) = check(&bytes[at..], null());
        assert_eq!((code, error.kind), (BATCHWISE_OK, 0), "{error:?}");
        at += summary.length as usize;
        records += summary.records;
        // SAFETY: a slice, a live handle; the rest may be null.
        let again = unsafe {
            batchwise_kafka_check(ptr(&bytes[at..]), bytes.len() - at, null(), scratch, null_mut(), null_mut())
        };
        assert_eq!(again, if at < bytes.len() { BATCHWISE_OK } else { BATCHWISE_DEFECT });
    }
    // SAFETY: a live handle, not used again.
    unsafe { batchwise_scratch_free(scratch) };
    assert_eq!(records, 620);

    let (_, first, _) = check(&bytes, null());
    for cut in [0, 16, 17, 60, first.length as usize - 1] {
        let (code, summary, error) = check(&bytes[..cut], null());
        assert_eq!((code, error.kind), (BATCHWISE_DEFECT, kind_number(batchwise::ErrorKind::TornTail)), "{cut}");
        assert_eq!((error.detail, error.second), (BATCHWISE_DETAIL_LENGTH, cut as u64));
        assert_eq!(summary.length, if cut < 17 { 0 } else { first.length });
    }

    let mut damaged = bytes.clone();
    damaged[30] ^= 4;
    let (code, summary, error) = check(&damaged, null());
    assert_eq!((code, error.severity, error.offset), (BATCHWISE_DEFECT, BATCHWISE_ERROR, 17));
    assert_eq!((error.detail, text(&error.field).as_str()), (BATCHWISE_DETAIL_CHECKSUM, "crc"));
    let stored = u64::from(u32::from_be_bytes(bytes[17..21].try_into().unwrap()));
    assert_eq!((error.first, summary.length), (stored, first.length));
    assert!(text(&error.message).starts_with("crc at byte 17: stored 0x"), "{error:?}");
    let frames_only = Options { depth: BATCHWISE_DEPTH_FRAMES, ..Options::default() };
    assert_eq!(check(&damaged, &frames_only).0, BATCHWISE_OK);

    for wrong in [
        Options { depth: 3, ..Options::default() },
        Options { origin: -1, ..Options::default() },
        Options { conformance: 2, ..Options::default() },
        Options { reserved: 1, ..Options::default() },
    ] {
        assert_eq!(check(&bytes, &wrong).0, BATCHWISE_INVALID_ARGUMENT);
    }
    // SAFETY: null is allowed.
    let code = unsafe { batchwise_kafka_check(null(), 100, null(), null_mut(), null_mut(), null_mut()) };
    assert_eq!(code, BATCHWISE_DEFECT);
}

/// What a walk told, which stops at the `stop_at`th finding or batch.
#[derive(Default)]
struct Seen {
    findings: Vec<Finding>,
    batches: Vec<Batch>,
    stop_at: usize,
}

impl Seen {
    fn stop(&self) -> i32 {
        (self.findings.len() + self.batches.len() == self.stop_at).into()
    }
}

unsafe extern "C" fn on_finding(context: *mut c_void, finding: *const Finding) -> i32 {
    // SAFETY: the context that this file passes.
    let seen = unsafe { &mut *context.cast::<Seen>() };
    // SAFETY: valid during the call.
    seen.findings.push(unsafe { *finding });
    seen.stop()
}

unsafe extern "C" fn on_batch(context: *mut c_void, batch: *const Batch) -> i32 {
    // SAFETY: the context that this file passes.
    let seen = unsafe { &mut *context.cast::<Seen>() };
    // SAFETY: valid during the call.
    seen.batches.push(unsafe { *batch });
    seen.stop()
}

fn walk(path: &Path, format: Option<&str>, stop_at: usize) -> (i32, Totals, Error, Seen) {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let format = format.map(|f| CString::new(f).unwrap());
    let format = format.as_ref().map_or(null(), |f| f.as_ptr());
    let mut seen = Seen { stop_at, ..Seen::default() };
    let (mut totals, mut error) = (Totals::default(), Error::NONE);
    let sink = Sink { on_finding: Some(on_finding), on_batch: Some(on_batch), context: (&raw mut seen).cast() };
    // SAFETY: strings, places, and callbacks with their context.
    let code = unsafe { batchwise_segment_walk(path.as_ptr(), format, null(), &sink, &mut totals, &mut error) };
    (code, totals, error, seen)
}

#[test]
fn segments() {
    let (path, bytes) = kafka();
    for format in [None, Some("kafka")] {
        let (code, totals, error, seen) = walk(&path, format, 0);
        assert_eq!((code, error.kind, seen.findings.len()), (BATCHWISE_OK, 0, 0), "{error:?}");
        let mut at = 0;
        for (i, batch) in seen.batches.iter().enumerate() {
            assert_eq!((batch.number, batch.offset, batch.errors), (i as u64, at, 0));
            at += batch.length;
        }
        assert_eq!((seen.batches.len(), at), (8, bytes.len() as u64));
        assert_eq!(seen.batches.iter().map(|b| b.records).sum::<u64>(), totals.records);
        assert_eq!((totals.bytes, totals.batches, totals.records), (bytes.len() as u64, 8, 620));
    }
    assert_eq!(walk(&path, Some("xml"), 0).0, BATCHWISE_INVALID_ARGUMENT);

    let (code, _, error, _) = walk(Path::new("no/such/file.log"), None, 0);
    assert_eq!((code, error.kind), (BATCHWISE_IO, 0));
    assert!(error.first != 0 && !text(&error.message).is_empty(), "{error:?}");

    let directory = std::env::temp_dir().join(format!("batchwise-capi-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("00000000000000000000.log");
    std::fs::write(&file, b"").unwrap();
    assert_eq!(walk(&file, None, 0).0, BATCHWISE_OK);
    std::fs::write(&file, b"something else entirely, of no format that is known here, to be sure").unwrap();
    assert_eq!(walk(&file, None, 0).0, BATCHWISE_INVALID_ARGUMENT);

    let mut damaged = bytes;
    let at = |i: usize, len: usize| i * len / 4 + 100;
    for i in 0..4 {
        let at = at(i, damaged.len());
        damaged[at] ^= 0x55;
    }
    std::fs::write(&file, &damaged).unwrap();
    let (code, totals, error, Seen { findings, batches, .. }) = walk(&file, None, 0);
    assert_eq!(code, BATCHWISE_DEFECT);
    assert!(batches.iter().any(|b| b.errors > 0) && batches.iter().any(|b| b.errors == 0), "{batches:?}");
    let first = findings.iter().find(|f| f.error.severity == BATCHWISE_ERROR).unwrap();
    assert_eq!((error.kind, error.offset), (first.error.kind, first.error.offset));
    let errors = findings.iter().filter(|f| f.error.severity == BATCHWISE_ERROR).count();
    assert!(errors > 1 && errors as u64 == totals.errors, "{findings:?}");
    for stop_at in [1, 2, 3] {
        let (code, _, _, seen) = walk(&file, None, stop_at);
        assert_eq!((code, seen.findings.len() + seen.batches.len()), (BATCHWISE_STOPPED, stop_at));
    }

    let mut seen = Seen::default();
    let sink = Sink { on_finding: Some(on_finding), on_batch: None, context: (&raw mut seen).cast() };
    for sink in [null(), &raw const sink] {
        let mut totals = Totals::default();
        let (input, len) = (ptr(&damaged), damaged.len());
        // SAFETY: a slice, a place, callbacks with their context; the rest may be null.
        let code = unsafe { batchwise_memory_walk(input, len, null(), null(), sink, &mut totals, null_mut()) };
        assert_eq!((code, totals.errors), (BATCHWISE_DEFECT, errors as u64));
    }
    assert_eq!(seen.findings.len(), findings.len());
    std::fs::remove_dir_all(directory).unwrap();
    // SAFETY: all of them may be null.
    let code = unsafe { batchwise_segment_walk(null(), null(), null(), null(), null_mut(), null_mut()) };
    assert_eq!(code, BATCHWISE_INVALID_ARGUMENT);
}

#[test]
fn kafka_stamp() {
    let (_, bytes) = kafka();
    let len = check(&bytes, null()).1.length as usize;
    let mut batch = bytes[..len].to_vec();
    let patch = KafkaPatch {
        fields: BATCHWISE_KAFKA_BASE_OFFSET | BATCHWISE_KAFKA_LEADER_EPOCH | BATCHWISE_KAFKA_LOG_APPEND_TIME,
        base_offset: 77,
        partition_leader_epoch: 5,
        max_timestamp: 1_764_000_000_000,
        ..KafkaPatch::default()
    };
    let stamp = |batch: &mut [u8], patch: &KafkaPatch| {
        let (mut next, mut error) = (0, Error::NONE);
        // SAFETY: a slice of ours, a patch and places.
        let code =
            unsafe { batchwise_kafka_stamp(batch.as_mut_ptr().cast(), batch.len(), patch, &mut next, &mut error) };
        (code, next, error)
    };
    let (code, next, _) = stamp(&mut batch, &patch);
    assert_eq!((code, next), (BATCHWISE_OK, 78));
    let mut expected = bytes[..len].to_vec();
    let change = batchwise::kafka::HeaderPatch::new().base_offset(77).partition_leader_epoch(5);
    change.log_append_time(1_764_000_000_000).apply(&mut expected).unwrap();
    assert_eq!(batch, expected);
    assert_eq!(check(&batch, null()).0, BATCHWISE_OK);

    let before = batch.clone();
    let negative = KafkaPatch { fields: BATCHWISE_KAFKA_BASE_OFFSET, base_offset: -1, ..patch };
    let (code, _, error) = stamp(&mut batch, &negative);
    assert_eq!((code, text(&error.field).as_str()), (BATCHWISE_DEFECT, "baseOffset"));
    for fields in [BATCHWISE_KAFKA_LOG_APPEND_TIME | BATCHWISE_KAFKA_CREATE_TIME, 64, u32::MAX] {
        assert_eq!(stamp(&mut batch, &KafkaPatch { fields, ..patch }).0, BATCHWISE_INVALID_ARGUMENT);
    }
    assert_eq!(stamp(&mut batch, &KafkaPatch { reserved: 1, ..patch }).0, BATCHWISE_INVALID_ARGUMENT);
    assert_eq!(batch, before);
    // SAFETY: null is allowed.
    let code = unsafe { batchwise_kafka_stamp(null_mut(), 100, &patch, null_mut(), null_mut()) };
    assert_eq!(code, BATCHWISE_DEFECT);
}

#[test]
fn iggy_stamp() {
    let (_, bytes) = data("iggy/batches/mixed10.bin");
    let (_, expected) = data("iggy/batches/mixed10.stamped_p7_o1000.bin");
    let mut batch = bytes.clone();
    let frames = batchwise_iggy_frames_new();
    let stamped_header = iggy::BatchHeader::new(&expected).unwrap();
    let patch = IggyPatch {
        fields: BATCHWISE_IGGY_PARTITION_ID | BATCHWISE_IGGY_BASE_OFFSET | BATCHWISE_IGGY_BASE_TIMESTAMP,
        reserved: 0,
        partition_id: stamped_header.partition_id(),
        base_offset: stamped_header.base_offset(),
        base_timestamp: stamped_header.base_timestamp(),
    };
    // SAFETY: a slice of ours, a patch, and a live handle.
    let stamp = |batch: &mut [u8], patch: &IggyPatch| unsafe {
        batchwise_iggy_stamp(batch.as_mut_ptr().cast(), batch.len(), patch, frames)
    };
    assert_eq!(stamp(&mut batch, &patch), BATCHWISE_INVALID_ARGUMENT, "nothing was verified yet");
    // SAFETY: a slice and a live handle.
    let verify = |batch: &[u8]| unsafe { batchwise_iggy_verify(ptr(batch), batch.len(), frames, null_mut()) };
    assert_eq!(verify(&batch), BATCHWISE_OK);
    assert_eq!(stamp(&mut batch, &IggyPatch { fields: 16, ..patch }), BATCHWISE_INVALID_ARGUMENT);
    assert_eq!(stamp(&mut batch[..bytes.len() - 1], &patch), BATCHWISE_INVALID_ARGUMENT);
    assert_eq!(stamp(&mut batch, &patch), BATCHWISE_OK);
    assert_eq!(batch, expected);
    assert_eq!(verify(&batch), BATCHWISE_OK);
    batch[310] ^= 1;
    assert_eq!(verify(&batch), BATCHWISE_DEFECT);
    let mut error = Error::NONE;
    // SAFETY: a slice, a live handle and a place.
    let code = unsafe { batchwise_iggy_verify(ptr(&batch), batch.len(), frames, &mut error) };
    let stored = u64::from_le_bytes(batch[256..264].try_into().unwrap());
    assert_eq!((code, error.detail, error.first), (BATCHWISE_DEFECT, BATCHWISE_DETAIL_CHECKSUM, stored), "{error:?}");
    // SAFETY: a slice, a live handle and a place.
    unsafe { batchwise_iggy_verify(ptr(&expected), expected.len() - 1, frames, &mut error) };
    let lens = [expected.len() as u64 - 1, expected.len() as u64];
    assert_eq!((error.detail, [error.first, error.second]), (BATCHWISE_DETAIL_EXPECTED, lens), "{error:?}");
    assert_eq!(stamp(&mut batch, &patch), BATCHWISE_INVALID_ARGUMENT, "damage is never stamped over");
    let mut summary = Summary { length: 0, records: 0, first_offset: 0, next_offset: 0 };
    // SAFETY: a slice and a place; the rest may be null.
    let code =
        unsafe { batchwise_iggy_check(ptr(&expected), expected.len(), null(), null_mut(), &mut summary, null_mut()) };
    assert_eq!((code, summary.length, summary.records), (BATCHWISE_OK, expected.len() as u64, 10));
    // SAFETY: a live handle, not used again.
    unsafe { batchwise_iggy_frames_free(frames) };
}

#[test]
fn null_handles_are_harmless() {
    // SAFETY: null is allowed in each.
    unsafe { batchwise_xxh3_update(null_mut(), ptr(b"x"), 1) };
    // SAFETY: as before.
    unsafe { batchwise_xxh3_reset(null_mut(), 0) };
    // SAFETY: as before.
    assert_eq!(unsafe { batchwise_xxh3_digest(null()) }, 0);
    // SAFETY: as before.
    unsafe { batchwise_xxh3_free(null_mut()) };
    // SAFETY: as before.
    unsafe { batchwise_scratch_free(null_mut()) };
    // SAFETY: as before.
    unsafe { batchwise_iggy_frames_free(null_mut()) };
    // SAFETY: as before.
    assert_eq!(unsafe { batchwise_iggy_verify(null(), 0, null_mut(), null_mut()) }, BATCHWISE_INVALID_ARGUMENT);
}

/// Programs in other languages count on these.
#[test]
fn layout() {
    assert_eq!((offset_of!(Error, field), offset_of!(Error, message), size_of::<Error>()), (40, 88, 296));
    assert_eq!((offset_of!(Options, max_decompressed), size_of::<Options>()), (16, 24));
    assert_eq!((offset_of!(KafkaPatch, base_sequence), size_of::<KafkaPatch>()), (44, 48));
    assert_eq!((size_of::<Summary>(), size_of::<Totals>(), size_of::<IggyPatch>()), (32, 40, 32));
}
