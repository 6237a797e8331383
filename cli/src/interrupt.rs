//! Ctrl-C and its like: work ends at its next step and says how far it got.

use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::signal::*;
use signal_hook::flag;

/// Those that ask for an end.
#[cfg(unix)]
const ASKING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const ASKING: [i32; 2] = [SIGINT, SIGTERM];

/// The signal that came; 0 while none has.
static CAME: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on the first signal asks for an end, which [`came`] and [`check`] tell; a second one ends the process.
pub(crate) fn listen() -> io::Result<()> {
    let came = CAME.get_or_init(Arc::default);
    let again = Arc::new(AtomicBool::new(false));
    for signal in ASKING {
        // In this order, so that the first signal is not taken for the second.
        flag::register_conditional_shutdown(signal, status(signal as usize).into(), again.clone())?;
        flag::register(signal, again.clone())?;
        flag::register_usize(signal, came.clone(), signal as usize)?;
    }
    // A file that may not grow any more is then an error of writing, like a full disk, and does not end the process.
    #[cfg(unix)]
    flag::register(SIGXFSZ, Arc::default())?;
    Ok(())
}

/// The exit status that tells of a signal, if one came.
pub(crate) fn came() -> Option<u8> {
    let signal = CAME.get()?.load(Ordering::Relaxed);
    (signal != 0).then(|| status(signal))
}

/// As shells have it.
fn status(signal: usize) -> u8 {
    128 + signal as u8
}

/// An error if a signal came, for work that can fail.
pub(crate) fn check() -> io::Result<()> {
    if came().is_some() { Err(io::Error::other("interrupted")) } else { Ok(()) }
}
