//! A segment of Iggy's and its index: the walk, the recovery of a server that starts, and the comparison of both.
#![no_main]

use batchwise::iggy::{FrameList, IndexCheck, Revision, check_log, decode_all, index_entries, recover_log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, u8, &[u8])| {
    let (start_offset, cut, choice, data) = input;
    let (index, log) = data.split_at(usize::from(cut).min(data.len()));
    let (index, log): (Box<[u8]>, Box<[u8]>) = (index.into(), log.into());
    let start_offset = u64::from(start_offset);
    let revision = if choice & 1 == 0 { Revision::R1 } else { Revision::R2 };
    let mut frames = FrameList::default();
    let summary = check_log(&log, start_offset, revision, &mut frames);
    for index in [&*index, &[]] {
        if let Ok(Some(recovered)) = recover_log(&log, index, start_offset, revision, &mut frames) {
            let last = index_entries(index).next_back().map_or(0, |entry| entry.position());
            assert!(recovered.readable_bytes <= (log.len() as u64).max(last));
        }
    }
    let recovered = recover_log(&log, &[], start_offset, revision, &mut frames).expect("there is no index to be wrong");
    match summary {
        // What is sound as a whole is read as a whole.
        Ok(summary) => assert_eq!(
            recovered.map(|r| (r.readable_bytes, r.end_offset)),
            Some((log.len() as u64, summary.end_offset))
        ),
        Err(e) => assert!(e.position <= log.len() as u64 && e.error.offset() <= log.len() as u64, "{e}"),
    }
    let mut check = IndexCheck::new(&index);
    let mut told = |e: batchwise::Error| assert!(e.offset() <= index.len() as u64, "{e}");
    let _ =
        decode_all(&log, 0, revision, &mut frames, |batch, _| check.batch(batch.offset(), batch.header(), &mut told));
    check.finish(&mut told);
});
