//! Ctrl-C, SIGTERM and SIGHUP.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use flashmark_host::leftovers;

static STOP: AtomicBool = AtomicBool::new(false);

/// The user's wish to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt;

impl Interrupt {
    /// Whether the run is to end after the operation under way.
    #[inline]
    pub fn is_set(self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

/// From now on the first signal lets the operation under way finish, and then ends the run with what was measured. A
/// second one, for an operation that does not come back, removes the test files and ends the process.
///
/// # Errors
/// The system's refusal to set the handler.
pub fn install() -> anyhow::Result<Interrupt> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            leftovers::remove_all_now();
            process::exit(130);
        }
    })
    .context("cannot handle signals")?;
    Ok(Interrupt)
}
