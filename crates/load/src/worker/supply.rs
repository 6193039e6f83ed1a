//! Where a pass's accesses come from.

use crate::accesses::{Access, Accesses, Direction};
use crate::verify::VerifyState;

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An access of the job.
    Access(Access),
    /// A read that is checked against the write of this number, or against any.
    Check(Access, Option<u64>),
    /// A sync of a file.
    Sync(u32),
    /// Nothing before so long after the pass's start, in nanoseconds.
    Wait(u64),
    /// Nothing before all that is under way is complete. What follows, until the next one with `false`, is aside from the job's
    /// work, and its time does not count for rates.
    Aside(bool),
    /// The sequence cannot go on: the file that it comes from has changed.
    Broken,
    /// The pass is complete.
    End,
}

/// Gives a pass's accesses one after the other.
pub(crate) trait Supply {
    /// The next one.
    fn next(&mut self) -> Next;

    /// Hands out up to `most` of those that are next, if they are accesses of the job and cheap to draw together. That there
    /// are fewer, or none, tells nothing about what comes next.
    fn draw(&mut self, most: u32, each: impl FnMut(Access))
    where
        Self: Sized,
    {
        let _ = (most, each);
    }

    /// The direction of the next access, if another one may take its place.
    fn direction(&mut self) -> Option<Direction> {
        None
    }

    /// Gives the next access another direction, where there is a choice.
    fn steer(&mut self, direction: Direction) {
        let _ = direction;
    }
}

/// What the job's options say.
impl Supply for Accesses {
    #[inline]
    fn next(&mut self) -> Next {
        match self.next_access() {
            Some(access) => Next::Access(access),
            None => Next::End,
        }
    }

    #[inline]
    fn draw(&mut self, most: u32, each: impl FnMut(Access)) {
        Accesses::draw(self, most, each);
    }

    fn direction(&mut self) -> Option<Direction> {
        self.mixed_direction()
    }

    fn steer(&mut self, direction: Direction) {
        Accesses::steer(self, direction);
    }
}

/// The same, over and over: jobs that end by time, and have nothing to do between two passes.
pub(super) struct Endless<'a>(pub &'a mut Accesses);

impl Supply for Endless<'_> {
    #[inline]
    fn next(&mut self) -> Next {
        match self.0.next_access() {
            Some(access) => Next::Access(access),
            None => self.again(),
        }
    }

    #[inline]
    fn draw(&mut self, most: u32, each: impl FnMut(Access)) {
        self.0.draw(most, each);
    }

    fn direction(&mut self) -> Option<Direction> {
        self.0.mixed_direction()
    }

    fn steer(&mut self, direction: Direction) {
        self.0.steer(direction);
    }
}

impl Endless<'_> {
    #[cold]
    fn again(&mut self) -> Next {
        self.0.go_on();
        self.0.next()
    }
}

/// What a pass wrote, to be read and checked: its sequence once more, from a clone that was taken at its start.
pub(super) struct ReadBack {
    accesses: Accesses,
    /// How many writes are to be read back.
    left: u64,
    number: u64,
    numbered: bool,
}

impl ReadBack {
    /// `first_number` is that of the pass's first write.
    pub(super) fn new(accesses: Accesses, writes: u64, first_number: u64, check_numbers: bool) -> Self {
        // A block that is written twice holds the later number.
        let numbered = check_numbers && !accesses.may_overlap();
        Self { accesses, left: writes, number: first_number, numbered }
    }

    /// Lets more writes be read back.
    pub(super) fn allow(&mut self, writes: u64) {
        self.left += writes;
    }

    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }
}

impl Supply for ReadBack {
    fn next(&mut self) -> Next {
        while self.left > 0 {
            let Some(access) = self.accesses.next_access() else { return Next::End };
            if access.direction == Direction::Write {
                self.left -= 1;
                let number = self.number;
                self.number += 1;
                let read = Access { direction: Direction::Read, ..access };
                return Next::Check(read, self.numbered.then_some(number));
            }
        }
        Next::End
    }
}

/// Writes, and after every so many of them what they wrote is read back (`verify_backlog`).
pub(super) struct Backlog<'a> {
    pub accesses: &'a mut Accesses,
    pub read_back: ReadBack,
    /// After how many writes.
    pub every: u64,
    /// How many are read back then.
    pub batch: u64,
    /// Writes since it read back, or that it left then.
    pub written: u64,
    /// How many were to be read back so far.
    pub given: u64,
    pub state: BacklogState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BacklogState {
    Writing,
    Reading,
}

impl Supply for Backlog<'_> {
    fn next(&mut self) -> Next {
        if self.state == BacklogState::Reading {
            match self.read_back.next() {
                Next::End => {
                    self.state = BacklogState::Writing;
                    return Next::Aside(false);
                }
                next => return next,
            }
        }
        if self.written >= self.every {
            let batch = self.batch.min(self.written);
            self.written -= batch;
            self.given += batch;
            self.read_back.allow(batch);
            self.state = BacklogState::Reading;
            return Next::Aside(true);
        }
        match self.accesses.next() {
            Next::Access(access) => {
                if access.direction == Direction::Write {
                    self.written += 1;
                }
                Next::Access(access)
            }
            next => next,
        }
    }
}

/// As much of a sequence as an earlier run wrote (`verify_state_load`).
pub(super) struct UpTo<S> {
    supply: S,
    state: VerifyState,
    verified: u64,
}

impl<S> UpTo<S> {
    pub(super) const fn new(supply: S, state: VerifyState) -> Self {
        Self { supply, state, verified: 0 }
    }
}

impl<S: Supply> Supply for UpTo<S> {
    fn next(&mut self) -> Next {
        let next = self.supply.next();
        if let Next::Access(access) | Next::Check(access, _) = next {
            if self.state.ends_before(self.verified, u64::from(access.file), access.offset) {
                return Next::End;
            }
            self.verified += 1;
        }
        next
    }
}
