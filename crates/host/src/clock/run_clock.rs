//! The clock of the I/O loop: the processor's time stamp counter where the kernel trusts it.

use flashmark_core::clock::Clock;

use super::MonotonicClock;

/// A monotonic clock that costs less than half of `CLOCK_MONOTONIC` to read where the kernel itself keeps time by the
/// processor's time stamp counter (x86-64, clock source `tsc`), and is `CLOCK_MONOTONIC` elsewhere. Its nanoseconds are those
/// of `CLOCK_MONOTONIC` at the time it was made; its rate was measured against that clock for 20 ms, so that it is off by
/// a few parts in a million.
///
/// A reading is not ordered against the instructions around it, which can move it by a few nanoseconds; system calls are.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    #[cfg(target_arch = "x86_64")]
    tsc: Option<tsc::Rate>,
}

impl RunClock {
    /// Measures the counter's rate, once a process: the first call takes 20 ms.
    #[must_use]
    pub fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            tsc: tsc::rate(),
        }
    }

    /// What it reads, in a word: `tsc` or `clock_gettime`.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        #[cfg(target_arch = "x86_64")]
        if self.tsc.is_some() {
            return "tsc";
        }
        "clock_gettime"
    }
}

impl Default for RunClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RunClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(rate) = &self.tsc {
            return rate.now_ns();
        }
        MonotonicClock.now_ns()
    }

    fn sleep_ns(&self, ns: u64) {
        MonotonicClock.sleep_ns(ns);
    }
}

#[cfg(target_arch = "x86_64")]
mod tsc {
    #![allow(unsafe_code, reason = "reading the counter is an intrinsic")]

    use std::sync::OnceLock;
    use std::time::Duration;

    use super::{Clock as _, MonotonicClock};

    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const MEASURE: Duration = Duration::from_millis(20);

    /// How ticks become nanoseconds.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Rate {
        base_ticks: u64,
        base_ns: u64,
        /// Nanoseconds a tick, in 2^-32.
        ns_q32: u64,
    }

    impl Rate {
        #[inline]
        pub(super) fn now_ns(&self) -> u64 {
            let ticks = ticks().wrapping_sub(self.base_ticks);
            let ns = (u128::from(ticks) * u128::from(self.ns_q32)) >> 32;
            self.base_ns.wrapping_add(ns as u64)
        }
    }

    #[inline]
    fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and the kernel that uses it as its clock source lets
        // processes read it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    /// Both clocks at one moment: the pair of readings with the least time between its two looks at the counter.
    fn both() -> (u64, u64) {
        let look = || {
            let before = ticks();
            let ns = MonotonicClock.now_ns();
            let after = ticks();
            (after.wrapping_sub(before), before.wrapping_add(after.wrapping_sub(before) / 2), ns)
        };
        let (_, ticks, ns) = (0..16).map(|_| look()).min_by_key(|(width, ..)| *width).unwrap_or_else(look);
        (ticks, ns)
    }

    fn measure() -> Option<Rate> {
        // The kernel takes the counter for its clock only if it runs evenly and alike on all processors.
        if std::fs::read_to_string(SOURCE).ok()?.trim() != "tsc" {
            return None;
        }
        let (start_ticks, start_ns) = both();
        std::thread::sleep(MEASURE);
        let (base_ticks, base_ns) = both();
        let ticks = base_ticks.checked_sub(start_ticks).filter(|ticks| *ticks > 0)?;
        let ns = base_ns.checked_sub(start_ns)?;
        let ns_q32 = u64::try_from((u128::from(ns) << 32) / u128::from(ticks)).ok()?;
        Some(Rate { base_ticks, base_ns, ns_q32 })
    }

    pub(super) fn rate() -> Option<Rate> {
        static RATE: OnceLock<Option<Rate>> = OnceLock::new();
        *RATE.get_or_init(measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_with_the_systems_clock() {
        let clock = RunClock::new();
        let mut last = clock.now_ns();
        for _ in 0..100_000 {
            let now = clock.now_ns();
            assert!(now >= last);
            last = now;
        }
        let offset = |clock: &RunClock| clock.now_ns() as i128 - i128::from(MonotonicClock.now_ns());
        // Preemption between the two readings only ever makes the difference larger.
        let least = |clock: &RunClock| (0..100).map(|_| offset(clock).abs()).min().unwrap();
        clock.sleep_ns(50_000_000);
        // A ten-thousandth of the 50 ms: the rate is right.
        assert!(least(&clock) < 5_000, "{} ns off after 50 ms", least(&clock));
    }
}
