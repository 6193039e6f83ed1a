//! Ctrl-C: ends the measurement by the way of errors, so that every file and loop device is removed.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::linux::failure::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on signals only leave a note.
pub fn install() -> Result<(), Failure> {
    ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::io("handling signals")(io::Error::other(error)))
}

/// # Errors
/// [`Failure::Interrupted`] once a signal came.
pub fn check() -> Result<(), Failure> {
    if STOP.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
