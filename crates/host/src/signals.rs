//! What the process was told about signals by whoever started it.

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The terminal is gone.
    Hangup,
    /// Ctrl-C.
    Interrupt,
    /// A polite request to end.
    Terminate,
}

/// Whether a signal was ignored when the process started (`nohup` ignores the hangup), and so has to stay ignored.
/// `false` where the system does not tell. To be asked before any handler is set.
#[must_use]
pub fn is_ignored(signal: Signal) -> bool {
    sys::ignored_mask().is_some_and(|mask| mask >> (sys::number(signal) - 1) & 1 == 1)
}

#[cfg(target_os = "linux")]
mod sys {
    use super::Signal;

    pub(super) fn number(signal: Signal) -> u32 {
        let number = match signal {
            Signal::Hangup => libc::SIGHUP,
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
        };
        number.unsigned_abs()
    }

    /// `SigIgn` of proc_pid_status(5).
    pub(super) fn ignored_mask() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::Signal;

    pub(super) fn number(_: Signal) -> u32 {
        1
    }

    pub(super) fn ignored_mask() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_read() {
        // The Rust runtime ignores SIGPIPE, 13.
        assert_eq!(sys::ignored_mask().map(|mask| mask >> 12 & 1), Some(1));
    }
}
