//! How far it is, for people who watch.

use crate::interrupt;
use batchwise::segment::ReadAt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{self, IsTerminal};

/// A bar on the standard error stream, if that and the standard output are a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar that is full at `bytes`.
    pub(crate) fn new(bytes: u64) -> Self {
        let watched = io::stderr().is_terminal() && io::stdout().is_terminal();
        let target = if watched { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        let template = "{bar:30} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar }
    }

    /// Prints without the bar in the way.
    pub(crate) fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// A file whose reading moves the bar, and ends when the user asks for it.
    pub(crate) fn watch(&self, file: File) -> Watched {
        let bar = if self.bar.is_hidden() { None } else { Some(self.bar.clone()) };
        Watched { file, bar }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A file whose reading moves a bar and can be interrupted.
pub(crate) struct Watched {
    file: File,
    bar: Option<ProgressBar>,
}

impl ReadAt for Watched {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        interrupt::check()?;
        let len = ReadAt::read_at(&self.file, buffer, offset)?;
        if let Some(bar) = &self.bar {
            bar.inc(len as u64);
        }
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}
