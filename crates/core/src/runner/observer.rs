//! Watching a run: where it is, and the user's wish to stop it.

use crate::queue::IoKind;

/// What the runner is doing, told to an [`Observer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Writing the file that will be read or overwritten.
    Layout,
    /// A repeat that does not count.
    WarmUp,
    /// A measured repeat.
    Measure,
    /// Between repeats.
    Pause,
    /// Reading back what was written.
    Verify,
}

/// One phase of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub phase: Phase,
    /// Of which repeat of this phase, from 0.
    pub repeat: u32,
    /// How many bytes it will move, if that is known.
    pub bytes: Option<u64>,
    /// How long it will take at most, if that is known.
    pub time_ns: Option<u64>,
}

/// Watches a run and can stop it. Called from the measuring path: [`Observer::moved`] has to cost next to nothing.
pub trait Observer {
    /// A phase begins.
    fn step(&mut self, step: Step) {
        let _ = step;
    }

    /// `bytes` more were moved.
    #[inline]
    fn moved(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// An operation of a repeat was issued at this time: what is written down to be replayed. Syncs have no place and no
    /// bytes. Called outside of latencies, but inside the time.
    #[inline]
    fn issued(&mut self, kind: IoKind, offset: u64, bytes: u32, at_ns: u64) {
        let _ = (kind, offset, bytes, at_ns);
    }

    /// Whether the user wants to stop; asked after every operation.
    #[inline]
    fn stop(&self) -> bool {
        false
    }
}

/// Watches nothing.
impl Observer for () {}
