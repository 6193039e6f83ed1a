//! The queue of targets that threads take from, not too far ahead of the one whose turn it is.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::run::interrupt::Interrupt;

/// How long a thread that waits for its turn does not look for the user's wish to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Numbers from 0, each given out once.
pub struct Queue {
    count: usize,
    ahead: usize,
    interrupt: Interrupt,
    state: Mutex<State>,
    moved: Condvar,
}

struct State {
    next: usize,
    turn: usize,
    closed: bool,
}

impl Queue {
    /// `count` numbers, the highest one given out less than `ahead` before the one whose turn it is.
    pub const fn new(count: usize, ahead: usize, interrupt: Interrupt) -> Self {
        let state = Mutex::new(State { next: 0, turn: 0, closed: false });
        Self { count, ahead, interrupt, state, moved: Condvar::new() }
    }

    /// The next number, when it may be begun; `None` if there is no more to do.
    pub fn next(&self) -> Option<usize> {
        let mut state = self.state();
        loop {
            if state.closed || state.next >= self.count || self.interrupt.is_set() {
                return None;
            }
            if state.next < state.turn + self.ahead {
                state.next += 1;
                return Some(state.next - 1);
            }
            (state, _) = self.moved.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whose turn it is now: everything before is done.
    pub fn turn(&self, turn: usize) {
        self.state().turn = turn;
        self.moved.notify_all();
    }

    /// Gives out no more.
    pub fn close(&self) {
        self.state().closed = true;
        self.moved.notify_all();
    }

    /// Closes the queue when a thread ends by a panic: nobody would wait for what it was to do in vain.
    pub const fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Queue::guard`].
pub struct Guard<'q>(&'q Queue);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_given_out_once_and_in_time() {
        let queue = Queue::new(5, 2, Interrupt);
        assert_eq!((queue.next(), queue.next()), (Some(0), Some(1)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.next());
            queue.turn(1);
            assert_eq!(waiting.join().unwrap(), Some(2));
        });
        queue.turn(5);
        assert_eq!([queue.next(), queue.next(), queue.next()], [Some(3), Some(4), None]);
    }

    #[test]
    fn nothing_comes_from_a_closed_queue() {
        let queue = Queue::new(5, 1, Interrupt);
        assert_eq!(queue.next(), Some(0));
        queue.close();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn a_thread_that_panics_keeps_nobody_waiting() {
        let queue = Queue::new(5, 1, Interrupt);
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _guard = queue.guard();
                assert_eq!(queue.next(), Some(1), "0 is first");
            });
            thread.join().is_err()
        });
        assert!(panicked);
        assert_eq!(queue.next(), None);
    }
}
