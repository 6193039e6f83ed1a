//! Time: a monotonic count of nanoseconds, real or virtual.

use core::cell::Cell;

/// A source of monotonic time, the only one that the measuring path knows.
///
/// The origin is arbitrary; only differences mean anything. A reading that is smaller than an earlier one is a fault of
/// the clock, which the runner survives and reports ([`crate::record::WarningCode::ClockStepped`]).
pub trait Clock {
    /// Nanoseconds since the clock's origin.
    fn now_ns(&self) -> u64;

    /// Lets `ns` nanoseconds pass without work (the pause between repeats).
    fn sleep_ns(&self, ns: u64);
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }

    fn sleep_ns(&self, ns: u64) {
        (**self).sleep_ns(ns);
    }
}

/// A clock that moves only when told: tests and the simulated boards.
#[derive(Debug, Default)]
pub struct VirtualClock {
    now_ns: Cell<u64>,
}

impl VirtualClock {
    /// A clock that stands at 0.
    #[must_use]
    pub const fn new() -> Self {
        Self { now_ns: Cell::new(0) }
    }

    /// Moves the clock on by `ns`; it stops at the end of its range (584 years).
    pub fn advance_ns(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get().saturating_add(ns));
    }

    /// Sets the clock, also backwards: for tests of what a stepping clock does.
    pub fn set_ns(&self, ns: u64) {
        self.now_ns.set(ns);
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_ns(&self, ns: u64) {
        self.advance_ns(ns);
    }
}
