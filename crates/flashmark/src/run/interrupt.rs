//! Ctrl-C, and the other ways of being asked to end.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flashmark_host::{make_fs, test_file};

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
/// The system's refusal to set the handlers.
pub fn install() -> anyhow::Result<Interrupt> {
    sys::install().map_err(|error| anyhow::anyhow!("cannot handle signals: {error}"))?;
    Ok(Interrupt)
}

fn stop(code: i32) {
    if STOP.swap(true, Ordering::Relaxed) {
        end(code);
    }
}

/// How long the removal of test files may hold up the end.
const PATIENCE: Duration = Duration::from_secs(1);

fn end(code: i32) -> ! {
    // In a thread of its own: removing a file waits for a write to it that hangs in the kernel.
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        // First, since test files are on what is mounted.
        make_fs::remove_all_now();
        test_file::remove_all_now();
        // Nobody waits any more after the time is up.
        let _ = done.send(());
    });
    let _ = is_done.recv_timeout(PATIENCE);
    process::exit(code)
}

#[cfg(unix)]
mod sys {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use flashmark_host::signals::{Signal, is_ignored};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;

    pub(super) fn install() -> io::Result<()> {
        let mut handled = vec![SIGINT, SIGTERM, SIGQUIT];
        // `nohup` means it.
        if !is_ignored(Signal::Hangup) {
            handled.push(SIGHUP);
        }
        // With any handler a write over the limit of file sizes (`ulimit -f`) fails, instead of ending the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let mut signals = Signals::new(handled)?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                // What a shell shows for a process that a signal ended.
                let code = 128 + signal;
                if signal == SIGQUIT { super::end(code) } else { super::stop(code) }
            }
        })?;
        Ok(())
    }
}

#[cfg(not(unix))]
mod sys {
    use std::io;

    pub(super) fn install() -> io::Result<()> {
        ctrlc::set_handler(|| super::stop(130)).map_err(io::Error::other)
    }
}
