//! Interleaved measurement: every contender runs once per round, on the data of that round.
//!
//! A round makes fresh data, so that branch predictors cannot learn it, and runs the contenders in an order that rotates.
//! Each runs the same units (calls, records, batches) and returns a digest of what it computed; digests have to agree.
//! What is reported is the median over the rounds, with the quartiles as its spread.

use crate::native::Native;
use crate::output::Printer;
use crate::peers;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

/// SplitMix64: the source of all data here.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// A case before its data exist.
pub(crate) struct Plan {
    /// As in the JSON field `case`.
    pub(crate) name: &'static str,
    /// As in the JSON field `bytes`: the size that the case is about.
    pub(crate) bytes: u64,
    pub(crate) build: Box<dyn Fn() -> Box<dyn Subject>>,
}

impl Plan {
    pub(crate) fn new<D: 'static>(name: &'static str, bytes: u64, build: impl Fn() -> Case<D> + 'static) -> Self {
        Plan { name, bytes, build: Box::new(move || Box::new(build())) }
    }
}

/// Who runs a case.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// The kernel for ours, the crate for a peer.
    pub(crate) name: &'static str,
    /// Runs in the process that was built for the native CPU.
    pub(crate) native: bool,
}

/// A [`Case`] without the type of its data.
pub(crate) trait Subject {
    /// Units of work in one round; reported times are per unit.
    fn units(&self) -> u64;
    /// Ours first.
    fn contenders(&self) -> Vec<Contender>;
    /// Makes the data of the round.
    fn refresh(&mut self, seed: u64);
    /// Runs a contender over the data of the round.
    fn run(&mut self, contender: usize) -> (Duration, u64);
}

type Run<D> = Box<dyn FnMut(&mut D) -> u64>;
type Refresh<D> = Box<dyn FnMut(&mut D, &mut Rng)>;

/// Data, and contenders that work on them.
pub(crate) struct Case<D> {
    data: D,
    units: u64,
    refresh: Refresh<D>,
    contenders: Vec<(Contender, Run<D>)>,
}

impl<D> Case<D> {
    /// A case of `units` units per round; `refresh` makes the data of a round from its random numbers.
    pub(crate) fn new(data: D, units: usize, refresh: impl FnMut(&mut D, &mut Rng) + 'static) -> Self {
        Case { data, units: units as u64, refresh: Box::new(refresh), contenders: Vec::new() }
    }

    /// Ours, under the kernel's name; comes first. Returns a digest of its results.
    pub(crate) fn ours(self, kernel: &'static str, run: impl FnMut(&mut D) -> u64 + 'static) -> Self {
        assert!(self.contenders.is_empty(), "ours comes first");
        self.with(kernel, false, run)
    }

    /// A peer, under its crate's name, as in Cargo.lock.
    pub(crate) fn peer(self, name: &'static str, run: impl FnMut(&mut D) -> u64 + 'static) -> Self {
        self.with(name, false, run)
    }

    /// A peer that is also measured as built for the native CPU.
    pub(crate) fn peer_and_native(self, name: &'static str, run: impl FnMut(&mut D) -> u64 + Clone + 'static) -> Self {
        self.with(name, false, run.clone()).with(name, true, run)
    }

    /// A peer measured only as built for the native CPU.
    pub(crate) fn native_peer(self, name: &'static str, run: impl FnMut(&mut D) -> u64 + 'static) -> Self {
        self.with(name, true, run)
    }

    fn with(mut self, name: &'static str, native: bool, run: impl FnMut(&mut D) -> u64 + 'static) -> Self {
        self.contenders.push((Contender { name, native }, Box::new(run)));
        self
    }
}

impl<D> Subject for Case<D> {
    fn units(&self) -> u64 {
        self.units
    }

    fn contenders(&self) -> Vec<Contender> {
        self.contenders.iter().map(|(c, _)| c.clone()).collect()
    }

    fn refresh(&mut self, seed: u64) {
        (self.refresh)(&mut self.data, &mut Rng::new(seed));
    }

    fn run(&mut self, contender: usize) -> (Duration, u64) {
        let run = &mut self.contenders[contender].1;
        let start = Instant::now();
        let digest = black_box(run(black_box(&mut self.data)));
        (start.elapsed(), digest)
    }
}

/// The fewest rounds of a case, however long they take.
const MIN_ROUNDS: usize = 11;
/// Rounds that are run first and not counted.
const WARM_UP: usize = 2;

/// Runs one case for about `time` and prints its lines.
pub(crate) fn measure(
    op: &'static str,
    index: usize,
    plan: &Plan,
    subject: &mut dyn Subject,
    time: Duration,
    native: &mut Native,
    out: &mut Printer,
) -> io::Result<()> {
    let mut contenders: Vec<(usize, Contender)> = subject.contenders().into_iter().enumerate().collect();
    if contenders.iter().any(|(_, c)| c.native) && !native.select(op, index) {
        contenders.retain(|(_, c)| !c.native);
    }
    let mut nanos: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    // Who comes after the other process finds the caches emptied, so that one is asked first, and a run that does not count
    // brings back the caches for the others.
    let (natives, locals): (Vec<usize>, Vec<usize>) = (0..contenders.len()).partition(|&at| contenders[at].1.native);
    let start = Instant::now();
    let mut round = 0;
    while round < MIN_ROUNDS + WARM_UP || start.elapsed() < time {
        let seed = round as u64 ^ (index as u64) << 32;
        subject.refresh(seed);
        let mut expected = None;
        for (turn, &at) in in_turn(&natives, round).chain(in_turn(&locals, round)).enumerate() {
            let (id, contender) = &contenders[at];
            if turn == natives.len() && turn > 0 {
                subject.run(*id);
            }
            let (elapsed, digest) = if contender.native { native.run(seed, *id)? } else { subject.run(*id) };
            let &mut (first, who) = expected.get_or_insert((digest, contender.name));
            assert_eq!(digest, first, "{op}/{}: {} and {who} computed different things", plan.name, contender.name);
            if round >= WARM_UP {
                nanos[at].push(elapsed.as_nanos() as f64 / subject.units() as f64);
            }
        }
        round += 1;
    }
    let figures: Vec<Figure> = nanos.iter_mut().map(|n| Figure::of(n)).collect();
    for ((_, peer), &peer_figure) in contenders.iter().zip(&figures).skip(1) {
        out.line(Measured {
            op,
            case: plan.name,
            bytes: plan.bytes,
            kernel: contenders[0].1.name,
            ours: figures[0],
            peer: if peer.native { format!("{}-native", peer.name) } else { peer.name.to_owned() },
            peer_version: peers::version(peer.name),
            theirs: peer_figure,
        })?;
    }
    Ok(())
}

/// All of `group`, in each round from another one on.
fn in_turn(group: &[usize], round: usize) -> impl Iterator<Item = &usize> {
    group.iter().cycle().skip(round % group.len().max(1)).take(group.len())
}

/// Nanoseconds per unit over the rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) quarter: f64,
    pub(crate) median: f64,
    pub(crate) three_quarters: f64,
}

impl Figure {
    fn of(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
        Figure { quarter: at(0.25), median: at(0.5), three_quarters: at(0.75) }
    }
}

/// A measured pair: ours and one peer.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) op: &'static str,
    pub(crate) case: &'static str,
    pub(crate) bytes: u64,
    pub(crate) kernel: &'static str,
    pub(crate) ours: Figure,
    pub(crate) peer: String,
    pub(crate) peer_version: String,
    pub(crate) theirs: Figure,
}
