//! The machine's monotonic clock.

mod run_clock;

use std::thread;
use std::time::Duration;

use flashmark_core::clock::Clock;

pub use run_clock::RunClock;

/// `CLOCK_MONOTONIC`. It does not run while the machine sleeps and does not jump
/// when the date is set; [`SleepWatch`] tells whether the machine slept.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        now::now_ns()
    }

    fn sleep_ns(&self, ns: u64) {
        thread::sleep(Duration::from_nanos(ns));
    }
}

/// Asked without the detour over `Instant`, whose arithmetic on seconds and nanoseconds costs 10 ns an operation.
#[cfg(unix)]
mod now {
    use rustix::time::{ClockId, clock_gettime};

    #[inline]
    pub(super) fn now_ns() -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        // The count starts at boot, so that neither part is negative, and 584 years of nanoseconds fit.
        time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec.cast_unsigned())
    }
}

#[cfg(not(unix))]
mod now {
    use std::sync::OnceLock;
    use std::time::Instant;

    static ORIGIN: OnceLock<Instant> = OnceLock::new();

    pub(super) fn now_ns() -> u64 {
        let elapsed = ORIGIN.get_or_init(Instant::now).elapsed();
        elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
    }
}

/// Notices that the machine slept: measurements across a suspend are worth nothing.
#[derive(Clone, Copy, Debug)]
pub struct SleepWatch {
    slept_ns: Option<i128>,
}

impl SleepWatch {
    /// Watches from now on.
    #[must_use]
    pub fn start() -> Self {
        Self { slept_ns: slept_ns() }
    }

    /// How long the machine slept since the start, where the system tells; shorter than 10 ms is not told from none.
    #[must_use]
    pub fn slept(&self) -> Option<Duration> {
        let ns = slept_ns()?.checked_sub(self.slept_ns?)?;
        (ns >= 10_000_000).then(|| Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }
}

/// The time that the machine has slept since boot: what `CLOCK_BOOTTIME` is ahead of `CLOCK_MONOTONIC`.
#[cfg(target_os = "linux")]
fn slept_ns() -> Option<i128> {
    use rustix::time::{ClockId, clock_gettime};
    let ns = |id| {
        let time = clock_gettime(id);
        i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
    };
    let monotonic = ns(ClockId::Monotonic);
    Some(ns(ClockId::Boottime) - monotonic)
}

#[cfg(not(target_os = "linux"))]
fn slept_ns() -> Option<i128> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back_and_sleeps_as_told() {
        let clock = MonotonicClock;
        let mut last = clock.now_ns();
        for _ in 0..10_000 {
            let now = clock.now_ns();
            assert!(now >= last);
            last = now;
        }
        clock.sleep_ns(2_000_000);
        assert!(clock.now_ns() - last >= 2_000_000);
    }

    #[test]
    fn a_machine_that_is_awake_did_not_sleep() {
        assert_eq!(SleepWatch::start().slept(), None);
    }
}
