//! Many files on several threads, with the results of one.
//!
//! Files are taken in order, large ones in regions. A region is walked through from the first intact batch in it on; the
//! caller's thread then takes over what the regions found, in order, as far as its own walk stands where they began. Where
//! it does not, because of damage or because a batch within a record was taken for one of the log, it goes itself.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::side::Probe;
use super::window::{ReadAt, Window};
use crate::validate::{Batch, Finding, Report, Sink, Validator, Walk};

/// Bytes of a region: much longer than a batch, so that the search for the first one costs little.
const REGION: u64 = 64 << 20;
/// How many files may be open or waiting to be told about, and how many regions of one may wait to be taken over.
const AHEAD: usize = 128;

/// A file to verify.
#[derive(Debug)]
pub struct Job<S> {
    /// Its bytes.
    pub source: S,
    /// How to check them. Threads of the validator are not used.
    pub validator: Validator<'static>,
    /// What lies beside it and is to be compared with it.
    pub sides: Vec<super::SideFile>,
}

/// What was found in a file and in what lies beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// The file itself.
    pub log: Report,
    /// The files beside it, in the order of [`Job::sides`].
    pub sides: Vec<Report>,
}

/// Verifies `count` files on `threads` threads.
///
/// `open` is called once for each number below `count`, by the threads; `done` is called in the order of the numbers, by the
/// caller's thread, and can stop everything. Results are the same for any number of threads. With one thread everything
/// happens on that of the caller.
///
/// Memory: 256 KiB for each thread, or as much as the largest batch, as for [`verify`](super::verify), and what was found in
/// the 64 MiB pieces that are ahead of what is told: at most 128 of a file.
pub fn verify_all<S, E>(
    count: usize,
    threads: usize,
    open: &(dyn Fn(usize) -> Result<Job<S>, E> + Sync),
    done: &mut dyn FnMut(usize, Result<Verified, E>) -> ControlFlow<()>,
) where
    S: ReadAt + Send + Sync,
    E: From<io::Error> + Send,
{
    verify_in_regions(count, threads, REGION, open, done);
}

fn verify_in_regions<S, E>(
    count: usize,
    threads: usize,
    region: u64,
    open: &(dyn Fn(usize) -> Result<Job<S>, E> + Sync),
    done: &mut dyn FnMut(usize, Result<Verified, E>) -> ControlFlow<()>,
) where
    S: ReadAt + Send + Sync,
    E: From<io::Error> + Send,
{
    if threads <= 1 {
        for i in 0..count {
            let verified = open(i).and_then(|job| Ok(Merge::new(&Opened::new(job, u64::MAX)?).finish()?));
            if done(i, verified).is_break() {
                return;
            }
        }
        return;
    }
    let queue = Queue { count, region, state: Mutex::default(), changed: Condvar::new() };
    let (to, from) = channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (queue, to) = (&queue, to.clone());
            scope.spawn(move || queue.work(open, &to));
        }
        drop(to);
        // Threads that wait for room or for work go home.
        let _stop = StopOnDrop(&queue);
        Merger { from, waiting: BTreeMap::new() }.run(&queue, done);
    });
}

/// An open file.
struct Opened<S> {
    job: Job<S>,
    len: u64,
    region: u64,
    probe: Probe,
}

impl<S: ReadAt> Opened<S> {
    fn new(job: Job<S>, region: u64) -> io::Result<Self> {
        let len = job.source.size()?;
        let probe = Probe::new(&job.sides);
        // Without a format a region's first batch cannot be told.
        let region = if job.validator.format().is_some() { region } else { u64::MAX };
        Ok(Opened { job, len, region, probe })
    }

    fn regions(&self) -> u64 {
        self.len.div_ceil(self.region).max(1)
    }

    fn end_of(&self, region: u64) -> u64 {
        (region + 1).saturating_mul(self.region)
    }

    /// Walks through one region, from its first intact batch on.
    fn walk(&self, region: u64, buffer: &mut Vec<u8>) -> io::Result<Option<Box<Part>>> {
        let mut window = Window::new(&self.job.source, self.len, std::mem::take(buffer));
        let mut walk = Walk::new(self.job.validator);
        let mut found = Found::new(&self.job.validator, self.probe.clone(), region > 0);
        let mut begun = Ok(true);
        if region > 0 {
            begun = walk.begin_within(&mut window, region * self.region, self.end_of(region));
        }
        let walked = begun.and_then(|begun| {
            if begun {
                walk.advance(&mut window, self.end_of(region), &mut found)?;
            }
            Ok(begun)
        });
        *buffer = window.into_buffer();
        Ok(walked?.then(|| Box::new(Part { walk, found })))
    }
}

/// What a walk finds.
struct Found {
    report: Report,
    max: usize,
    list: bool,
    probe: Probe,
    /// Whether the walk began amid the file.
    amid: bool,
}

impl Found {
    fn new(validator: &Validator<'_>, probe: Probe, amid: bool) -> Self {
        let (max, list) = validator.keeps();
        Found { report: Report::default(), max, list, probe, amid }
    }
}

impl Sink for Found {
    fn finding(&mut self, finding: Finding) {
        self.report.keep(finding, self.max);
    }

    fn batch(&mut self, batch: &Batch, _: &[u8]) {
        self.probe.batch(batch, self.amid);
        if self.list {
            self.report.batches.push(*batch);
        }
    }

    fn wants_batches(&self) -> bool {
        self.list || self.probe.wants_batches()
    }
}

/// A region that was walked through.
struct Part {
    walk: Walk<'static>,
    found: Found,
}

/// One file's walk, which takes over those of its regions.
struct Merge<'o, S> {
    opened: &'o Opened<S>,
    walk: Walk<'static>,
    window: Window<&'o S>,
    found: Found,
}

impl<'o, S: ReadAt> Merge<'o, S> {
    fn new(opened: &'o Opened<S>) -> Self {
        let found = Found::new(&opened.job.validator, opened.probe.clone(), false);
        let window = Window::new(&opened.job.source, opened.len, Vec::new());
        Merge { opened, walk: Walk::new(opened.job.validator), window, found }
    }

    /// Takes over what was found in a region, or walks through it.
    fn region(&mut self, region: u64, part: Option<Box<Part>>) -> io::Result<()> {
        if let Some(mut part) = part {
            if region == 0 {
                (self.walk, self.found) = (part.walk, part.found);
                return Ok(());
            }
            if self.walk.absorb(&part.walk, &mut part.found.report, &mut self.found.report) {
                self.found.probe.join(part.found.probe);
                return Ok(());
            }
        }
        self.walk.advance(&mut self.window, self.opened.end_of(region), &mut self.found)
    }

    /// Walks to the end and looks at the files beside.
    fn finish(mut self) -> io::Result<Verified> {
        self.walk.advance(&mut self.window, u64::MAX, &mut self.found)?;
        self.walk.end(&mut self.found);
        self.found.report.totals = self.walk.totals();
        let Found { report, probe, max, .. } = self.found;
        let sides = if self.walk.stopped() { Vec::new() } else { probe.finish(&self.opened.job.sides, &report, max) };
        Ok(Verified { log: report, sides })
    }
}

/// What the threads tell.
enum Told<S, E> {
    Opened(Result<Arc<Opened<S>>, E>),
    Region(u64, io::Result<Option<Box<Part>>>),
}

/// What is to be done.
struct Queue<S> {
    count: usize,
    region: u64,
    state: Mutex<State<S>>,
    changed: Condvar,
}

struct State<S> {
    next: usize,
    /// Files told about.
    done: usize,
    /// Regions taken over, of the file that is told about next.
    merged: u64,
    /// Threads that are opening a file, which may have regions for others.
    opening: usize,
    /// The next region of each open file that has one left, by file: those that are told of first are walked through first,
    /// whichever was open first.
    regions: BTreeMap<usize, (Arc<Opened<S>>, u64)>,
    stopped: bool,
}

impl<S> Default for State<S> {
    fn default() -> Self {
        State { next: 0, done: 0, merged: 0, opening: 0, regions: BTreeMap::new(), stopped: false }
    }
}

enum Task<S> {
    Open(usize),
    Region(usize, Arc<Opened<S>>, u64),
}

impl<S: ReadAt> State<S> {
    /// The first region that is not too far ahead of what was taken over.
    fn take_region(&mut self) -> Option<Task<S>> {
        let (done, merged) = (self.done, self.merged);
        let near = |file: usize, next: u64| next < AHEAD as u64 + if file == done { merged } else { 0 };
        let (&file, (opened, next)) = self.regions.iter_mut().find(|(file, (_, next))| near(**file, *next))?;
        let (opened, region) = (opened.clone(), *next);
        *next += 1;
        if *next == opened.regions() {
            self.regions.remove(&file);
        }
        Some(Task::Region(file, opened, region))
    }
}

impl<S: ReadAt> Queue<S> {
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State<S>)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn take(&self) -> Option<Task<S>> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(task) = state.take_region() {
                return Some(task);
            }
            if state.next < self.count && state.next < state.done + AHEAD {
                state.next += 1;
                state.opening += 1;
                return Some(Task::Open(state.next - 1));
            }
            if state.next == self.count && state.opening == 0 && state.regions.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work<E: From<io::Error>>(
        &self,
        open: &(dyn Fn(usize) -> Result<Job<S>, E> + Sync),
        to: &Sender<(usize, Told<S, E>)>,
    ) {
        let _stop = StopOnPanic(self);
        let mut buffer = Vec::new();
        while let Some(task) = self.take() {
            let sent = match task {
                Task::Open(file) => {
                    let opened = open(file).and_then(|job| Ok(Arc::new(Opened::new(job, self.region)?)));
                    self.change(|state| {
                        state.opening -= 1;
                        if let Ok(opened) = &opened {
                            state.regions.insert(file, (opened.clone(), 0));
                        }
                    });
                    to.send((file, Told::Opened(opened)))
                }
                Task::Region(file, opened, region) => {
                    let part = opened.walk(region, &mut buffer);
                    to.send((file, Told::Region(region, part)))
                }
            };
            // Nobody listens any more.
            if sent.is_err() {
                return;
            }
        }
    }
}

struct StopOnDrop<'q, S: ReadAt>(&'q Queue<S>);

impl<S: ReadAt> Drop for StopOnDrop<'_, S> {
    fn drop(&mut self) {
        self.0.change(|state| state.stopped = true);
    }
}

/// The others do not wait for a thread that is gone.
struct StopOnPanic<'q, S: ReadAt>(&'q Queue<S>);

impl<S: ReadAt> Drop for StopOnPanic<'_, S> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.change(|state| state.stopped = true);
        }
    }
}

/// Brings what the threads tell into order.
struct Merger<S, E> {
    from: Receiver<(usize, Told<S, E>)>,
    waiting: BTreeMap<(usize, u64), Told<S, E>>,
}

impl<S: ReadAt, E: From<io::Error>> Merger<S, E> {
    fn run(mut self, queue: &Queue<S>, done: &mut dyn FnMut(usize, Result<Verified, E>) -> ControlFlow<()>) {
        for file in 0..queue.count {
            let verified = match self.next(file, 0) {
                Some(Told::Opened(Ok(opened))) => self.merge(file, &opened, queue).map_err(E::from),
                Some(Told::Opened(Err(error))) => Err(error),
                // A thread panicked; the scope passes that on.
                Some(Told::Region(..)) | None => return,
            };
            queue.change(|state| {
                // Regions are left if the file could not be read.
                state.regions.remove(&file);
                (state.done, state.merged) = (file + 1, 0);
            });
            if done(file, verified).is_break() {
                return;
            }
        }
    }

    fn merge(&mut self, file: usize, opened: &Opened<S>, queue: &Queue<S>) -> io::Result<Verified> {
        let mut merge = Merge::new(opened);
        for region in 0..opened.regions() {
            if let Some(Told::Region(_, part)) = self.next(file, region + 1) {
                merge.region(region, part?)?;
                queue.change(|state| state.merged = region + 1);
            }
        }
        merge.finish()
    }

    /// What is told of a file in the given place: its opening, then its regions.
    fn next(&mut self, file: usize, place: u64) -> Option<Told<S, E>> {
        loop {
            if let Some(told) = self.waiting.remove(&(file, place)) {
                return Some(told);
            }
            let (of, told) = self.from.recv().ok()?;
            let place = if let Told::Region(region, _) = told { region + 1 } else { 0 };
            self.waiting.insert((of, place), told);
        }
    }
}

#[cfg(test)]
mod tests;
