//! What a thread is told, and what it tells, while it works.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::accesses::Direction;

/// What threads of a run tell each other.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// The thread is to end: Ctrl-C, or a job whose end is that of others too.
    pub stop: AtomicBool,
    /// It is because of another job, and all is well.
    pub ended_by_job: AtomicBool,
}

impl Signals {
    /// Another job's end is this one's.
    pub(crate) fn end(&self) {
        self.ended_by_job.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// How far a thread is, for the one who watches. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Progress {
    /// Bytes read, written and trimmed.
    pub bytes: [AtomicU64; 3],
    /// Accesses completed.
    pub count: AtomicU64,
    /// Whether the thread is done.
    pub done: AtomicBool,
}

impl Progress {
    #[inline]
    pub(super) fn add(&self, direction: Direction, bytes: u64, count: u64) {
        // Only this thread writes: no locked instructions are needed.
        let add =
            |to: &AtomicU64, more: u64| to.store(to.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        add(&self.bytes[direction as usize], bytes);
        add(&self.count, count);
    }
}
