//! One core for each thread.

/// A core that this process may run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core(usize);

impl std::fmt::Display for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The cores that this process may run on.
#[cfg(target_os = "linux")]
pub(crate) fn all() -> Vec<Core> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(Core).collect(),
        Err(_) => numbered(),
    }
}

/// Numbers for as many cores as there are; threads cannot be bound to them here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn all() -> Vec<Core> {
    numbered()
}

fn numbered() -> Vec<Core> {
    (0..std::thread::available_parallelism().map_or(1, usize::from)).map(Core).collect()
}

impl Core {
    /// Binds the calling thread to this core, where the system can do that.
    pub(crate) fn bind(self) {
        #[cfg(target_os = "linux")]
        {
            use rustix::thread::{CpuSet, sched_setaffinity};
            let mut set = CpuSet::new();
            set.set(self.0);
            // A thread that may not be bound runs where it likes.
            let _ = sched_setaffinity(None, &set);
        }
    }
}
