//! Many batches at once: the validator against a plain loop over the same batches, and two threads against one.
//!
//! Batches lie one behind the other in one buffer and hold records of random lengths, fresh for each round; times are per
//! batch, in `threads_total` per buffer. All check everything that a stored batch promises. What a contender does for it
//! differs:
//!
//! * the validator also compares each batch with the one before (offsets, epochs) and collects what it finds in a report,
//!   whose memory it uses again; it does not ask for a summary of each batch, and so passes common ones by
//!   [`Format::pass_sound`];
//! * the loop takes the length of each frame and calls [`Format::check`] for it.
//!
//! In `loop` and `threads`, `bytes` is the size of a batch; in `threads_total` it is that of all batches together, each of
//! 4 KiB, to see from where on a second thread pays.

use super::{batches, kernel};
use crate::harness::{Case, Plan, Rng};
use batchwise::kafka::Log;
use batchwise::{Format, Frame, Options, Report, Scratch, Validator};
use rayon::ThreadPoolBuilder;

/// How many batches of how many bytes.
const SIZES: [(usize, usize); 3] = [(10_000, 200), (1000, 16 << 10), (64, 1 << 20)];
/// Bytes of a batch where the size of all matters.
const BATCH: usize = 4 << 10;

pub(super) fn cases() -> Vec<Plan> {
    let one = |(count, len)| Plan::new("loop", len as u64, move || one_thread(count, len));
    let two = |(count, len)| Plan::new("threads", len as u64, move || two_threads(count, len, count));
    let totals = (16..=26).map(|power| {
        let total = 1_usize << power;
        Plan::new("threads_total", total as u64, move || two_threads(total / BATCH, BATCH, 1))
    });
    SIZES.into_iter().map(one).chain(SIZES.into_iter().map(two)).chain(totals).collect()
}

struct Batches {
    count: usize,
    len: usize,
    segment: Vec<u8>,
}

fn refresh(data: &mut Batches, rng: &mut Rng) {
    data.segment.clear();
    let mut offset = 0;
    for _ in 0..data.count {
        offset += batches::append_random(&mut data.segment, offset, data.len, rng);
    }
}

/// Times are shared out over so many `units`.
fn case(count: usize, len: usize, units: usize) -> Case<Batches> {
    Case::new(Batches { count, len, segment: Vec::new() }, units, refresh)
}

fn validate(validator: Validator<'_>, data: &Batches, report: &mut Report) -> u64 {
    validator.validate_into(&data.segment, report);
    assert!(report.totals.is_valid() && report.totals.batches == data.count as u64, "{:?}", report.totals);
    report.totals.records
}

fn one_thread(count: usize, len: usize) -> Case<Batches> {
    let mut report = Report::default();
    let mut scratch = Scratch::default();
    case(count, len, count)
        .ours(kernel("varint::records::survey"), move |data| validate(Validator::new(&Log), data, &mut report))
        .peer("batchwise-loop", move |data| plain_loop(&data.segment, &mut scratch))
}

fn plain_loop(segment: &[u8], scratch: &mut Scratch) -> u64 {
    let options = Options::default();
    let (mut at, mut records) = (0, 0);
    while at < segment.len() {
        let rest = &segment[at..];
        let len = Log.frame_len(rest, at as u64).expect("a sound length") as usize;
        let frame = Frame { offset: at as u64, bytes: &rest[..len] };
        let summary = Log.check(frame, &options, scratch, &mut |defect| panic!("{defect:?}"));
        records += summary.records;
        at += len;
    }
    records
}

fn two_threads(count: usize, len: usize, units: usize) -> Case<Batches> {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
    let (mut one, mut two) = (Report::default(), Report::default());
    case(count, len, units)
        .ours(kernel("varint::records::survey"), move |data| {
            validate(Validator::new(&Log).in_pool(&pool), data, &mut two)
        })
        .peer("batchwise-one-thread", move |data| validate(Validator::new(&Log), data, &mut one))
}
