//! Eight records at a time: a scalar hop from length to length, and everything else in vector lanes.
//!
//! The hop is the serial part: each record's length says where the next one begins, some ten cycles later. On its way it
//! leaves behind, for each record, where it begins and a *head*: the sixteen bytes from the one before the record,
//! shuffled so that the fields behind the length lie in places of their own. The control of that shuffle comes out of
//! a table indexed by the continuation bits of ten bytes.
//!
//! Blocks of eight records then pass through three stages, one block each per turn of the loop:
//!
//! 1. *heads*, two blocks behind the hop, when its stores have left the store buffer (loads of several pending stores
//!    at once would stall): the 7-bit groups of all four fields of eight heads are joined by two multiply-adds, put
//!    into columns by permutations, unzigzagged; the popcount of the continuation bits tells how long the head is, and
//!    so where the key begins and the value's length lies;
//! 2. *fetch*, one block later, scalar: four bytes from there;
//! 3. *values*, one block later: the value's length, and the check that the value ends one byte before the record,
//!    where the count of headers is zero.
//!
//! The source interleaves the stages with the hops, because the window of the CPU is too short to do it: a turn is
//! some 300 instructions. Any record that is not of the common form (a longer varint, a form that is not the shortest,
//! attributes, headers, anything wrong) ends the pass: the scalar walk takes over from the first record that has not
//! passed all stages, and hands back later.

//!
//! What lost, ns a record on a Zen 4 (uniform records of 100 B / random ones of 10 to 150 B with optional keys; the scalar
//! walk takes 6.2 / 13.5, this one 4.4 / 4.5, two batches in step 3.8 / 3.9):
//! a scalar walk with one wide load for each head 7.2 / 14.7; hops of 64 records, then their lanes, 7.1 / 7.1 (the stages
//! add up instead of overlapping); fields taken apart in the lanes by variable shifts instead of by the table of shuffles,
//! 4.3 in step instead of 3.6; the values' lengths by a gather in the same pipeline 5.1 / 5.2, by loads 4.0 / 4.0;
//! all hops of a turn before its stages, 5.0 / 4.9; three batches in step 3.7 / 3.6, no better than two. The hop alone
//! takes 3.4, two of them in step 2.0. Guessing that a record is as long as the last, so that the next hop waits for no
//! load, gains nothing, in long batches 4.0 / 3.9 against 3.8 / 3.9: the instructions of the stages are the limit, not the
//! hop. A batch costs some 115 beside its records.

mod chain;
mod out;
mod shuffle;

use super::alike::{one_by_one, survey_by};
use super::portable::{self, Place, check_input, steps};
use super::{Columns, Error, Job, Survey, Walked};
use chain::{Chain, MIN_INPUT};
use out::Sums;

/// A turn of which every stage has a block, the same for each chain in turn. False if the hops of one come too near
/// the end: then it may be made again, for each chain by itself.
macro_rules! full_turn {
    ($turn:expr, $($chain:ident $at:ident $tails:ident $odd:ident $heads:ident $joined:ident $values:ident),+) => {'turn: {
        let (heads, fetched, valued) = ($turn - 2, $turn - 3, $turn - 4);
        macro_rules! hop { ($j:literal) => { $(
            match $chain.hop($at, $turn, $j) {
                Some(next) => $at = next,
                None => break 'turn false,
            }
            $chain.fetch(fetched, $j);
        )+ }; }
        hop!(0);
        $( let $heads = $chain.heads_split(heads); )+
        hop!(1);
        $( let $joined = $heads.join(); )+
        hop!(2);
        $( let $values = $chain.heads_columns(heads, $joined.0); )+
        hop!(3);
        $(
            $odd |= $tails | $heads.odd | $chain.heads_places(heads, $joined.1, $values);
            $tails = $heads.tails;
        )+
        hop!(4);
        $( let $values = $chain.values_split(valued); )+
        hop!(5);
        $( $odd |= $values.2 | $chain.values_columns(valued, $values.0, $values.1); )+
        hop!(6);
        hop!(7);
        true $( && $chain.hopped($at, $turn) )+
    }};
}

/// One of the first turns, in which not every stage has a block. False as above.
macro_rules! early_turn {
    ($turn:expr, $($chain:ident $at:ident $tails:ident $odd:ident),+) => {'turn: {
        for j in 0..8 { $(
            match $chain.hop($at, $turn, j) {
                Some(next) => $at = next,
                None => break 'turn false,
            }
        )+ }
        $( $chain.early_stages($turn, &mut $tails, &mut $odd); )+
        true $( && $chain.hopped($at, $turn) )+
    }};
}

/// What ended a pass.
#[derive(Clone, Copy, PartialEq)]
enum Ended {
    /// Too few records or bytes are left.
    Short,
    /// A record that is not of the common form.
    Odd,
}

/// Turns after which it is known that nothing in a block is odd.
const LATENCY: usize = 5;

/// Turns from `turn` on until the pass of `chain` ends; tells how many of its blocks have passed all stages.
///
/// `tails` and `odd` are those of the turns before. `passed` is told of each of those blocks, if the pass began here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
fn finish<const STORE: bool>(
    chain: &mut Chain<'_, STORE>,
    mut turn: usize,
    mut tails: u32,
    mut odd: u32,
    mut passed: impl FnMut(&Chain<'_, STORE>, usize),
) -> (Ended, usize) {
    let room = chain.room();
    let mut at = chain.start(turn);
    let mut hopped = true;
    while hopped && odd == 0 && turn < room {
        hopped = if turn >= 4 {
            full_turn!(turn, chain at tails odd heads joined values)
        } else {
            early_turn!(turn, chain at tails odd)
        };
        if hopped && turn >= LATENCY {
            passed(chain, turn - LATENCY);
        }
        turn += usize::from(hopped);
    }
    // If the hops came too near the end, their block is left to the scalar walk.
    if odd | tails | chain.drain(turn) != 0 {
        return (Ended::Odd, turn.saturating_sub(LATENCY));
    }
    (turn.saturating_sub(LATENCY)..turn).for_each(|block| passed(chain, block));
    (Ended::Short, turn)
}

/// One walk, between passes.
struct State {
    place: Place,
    plain: bool,
    /// How many records the scalar walk takes next.
    scalar: usize,
}

impl State {
    const START: Self = State { place: Place { record: 0, at: 0 }, plain: true, scalar: 8 };

    /// Whether there is enough left for a pass.
    fn is_worth_a_pass(&self, bytes: &[u8], columns: &Columns<'_>) -> bool {
        columns.len() - self.place.record >= MIN_RECORDS && bytes.len() - self.place.at >= MIN_INPUT
    }

    /// Takes over the place that a pass has come to.
    fn after(&mut self, chain: &Chain<'_, true>, (ended, blocks): (Ended, usize)) -> Ended {
        self.place = Place { record: self.place.record + 8 * blocks, at: chain.start(blocks) };
        // Where odd records are frequent, passes become rare.
        self.scalar = if 8 * blocks > 8 * self.scalar { 8 } else { 2 * self.scalar };
        ended
    }

    /// Walks to the end, after a pass that ended for the reason given.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
    fn rest(mut self, bytes: &[u8], columns: &mut Columns<'_>, mut ended: Ended) -> Result<Walked, Error> {
        while ended == Ended::Odd {
            self.plain &= steps(bytes, columns, &mut self.place, self.scalar)?;
            ended = if self.is_worth_a_pass(bytes, columns) {
                // SAFETY: `finish` makes its turns, from 0.
                let mut chain = unsafe { Chain::new(bytes, columns, self.place) };
                let end = finish(&mut chain, 0, 0, 0, |_, _| ());
                self.after(&chain, end)
            } else {
                Ended::Short
            };
        }
        self.plain &= steps(bytes, columns, &mut self.place, usize::MAX)?;
        Ok(Walked { end: self.place.at, plain: self.plain })
    }
}

/// Records below which a pass is not worth its beginning and end.
const MIN_RECORDS: usize = 24;
/// The same where no columns are filled: 20 records of random sizes take 10.8 ns each instead of 15.5.
const MIN_SURVEYED: usize = 16;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
pub(super) fn walk(bytes: &[u8], columns: &mut Columns<'_>) -> Result<Walked, Error> {
    if columns.len() < MIN_RECORDS {
        return portable::walk(bytes, columns);
    }
    check_input(bytes)?;
    let mut state = State::START;
    let mut ended = Ended::Short;
    if state.is_worth_a_pass(bytes, columns) {
        // SAFETY: `finish` makes its turns, from 0.
        let mut chain = unsafe { Chain::new(bytes, columns, state.place) };
        let end = finish(&mut chain, 0, 0, 0, |_, _| ());
        ended = state.after(&chain, end);
    }
    state.rest(bytes, columns, ended)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
pub(super) fn survey(bytes: &[u8], until: usize, survey: &mut Survey) {
    survey_by(bytes, until, survey, |bytes, until, survey, patience| {
        if until - survey.records < MIN_SURVEYED || bytes.len() - survey.end < MIN_INPUT {
            return one_by_one(bytes, until, survey, *patience);
        }
        // SAFETY: `finish` makes its turns, from 0, and tells of no block that has not passed.
        let mut chain = unsafe { Chain::summing(bytes, survey.end, until - survey.records) };
        let mut sums = Sums::new(survey.last_offset_delta);
        let (ended, blocks) = finish(&mut chain, 0, 0, 0, |chain, block| chain.sum(block, &mut sums));
        if blocks > 0 {
            sums.tell(survey, 8 * blocks, chain.start(blocks));
        }
        // Where odd records are frequent, passes become rare.
        if blocks > *patience {
            *patience = 8;
        }
        if ended == Ended::Odd {
            one_by_one(bytes, until, survey, *patience);
        }
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
pub(super) fn walk_many(jobs: &mut [Job<'_>]) {
    let mut pairs = jobs.chunks_exact_mut(2);
    for pair in &mut pairs {
        let [a, b] = pair else { unreachable!("chunks of two") };
        walk_two(a, b);
    }
    for job in pairs.into_remainder() {
        job.walked = walk(job.bytes, &mut job.columns);
    }
}

/// Two walks in step, as far as both go without a pause.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,bmi1,bmi2")]
fn walk_two<'a>(a: &mut Job<'a>, b: &mut Job<'a>) {
    let (mut state_a, mut state_b) = (State::START, State::START);
    if [&*a, &*b]
        .iter()
        .any(|job| check_input(job.bytes).is_err() || !State::START.is_worth_a_pass(job.bytes, &job.columns))
    {
        a.walked = walk(a.bytes, &mut a.columns);
        b.walked = walk(b.bytes, &mut b.columns);
        return;
    }
    // SAFETY: the loop makes its turns from 0, and `finish` those from the one on that it has not made or not counted.
    let mut chain_a = unsafe { Chain::new(a.bytes, &mut a.columns, state_a.place) };
    // SAFETY: as before.
    let mut chain_b = unsafe { Chain::new(b.bytes, &mut b.columns, state_b.place) };
    let both = chain_a.room().min(chain_b.room());
    let [mut at_a, mut at_b] = [state_a.place.at, state_b.place.at];
    let [mut tails_a, mut tails_b, mut odd_a, mut odd_b] = [0; 4];
    let mut turn = 0;
    while turn < both {
        let hopped = if turn >= 4 {
            full_turn!(
                turn,
                chain_a at_a tails_a odd_a heads_a joined_a values_a,
                chain_b at_b tails_b odd_b heads_b joined_b values_b
            )
        } else {
            early_turn!(turn, chain_a at_a tails_a odd_a, chain_b at_b tails_b odd_b)
        };
        if !hopped || odd_a | odd_b != 0 {
            break;
        }
        turn += 1;
    }
    // Each goes on by itself from the turn that was not made or not made to the end; making one twice does no harm.
    let end_a = finish(&mut chain_a, turn, tails_a, odd_a, |_, _| ());
    let end_b = finish(&mut chain_b, turn, tails_b, odd_b, |_, _| ());
    let (ended_a, ended_b) = (state_a.after(&chain_a, end_a), state_b.after(&chain_b, end_b));
    a.walked = state_a.rest(a.bytes, &mut a.columns, ended_a);
    b.walked = state_b.rest(b.bytes, &mut b.columns, ended_b);
}
