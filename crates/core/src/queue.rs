//! Queues: several operations under way at once.
//!
//! A [`Queue`] is one thread's way to files that are already open. It owns the memory that data is moved through, a
//! buffer for each operation that can be under way (a *slot*), so that engines can register it with the kernel once, and
//! so that nothing outside of an engine needs to be unsafe.
//!
//! An operation goes [`Queue::push`], [`Queue::submit`], [`Queue::reap`]. An engine that does one thing after the other
//! completes it inside `push`; the two other calls then have nothing to do. Its slot is under way from `push` until its
//! [`Completion`] is handed out.
//!
//! Dropping a queue ends what is under way (cancelled where the engine can, else waited for) before its memory goes; with a
//! device that never answers that may take forever.

use alloc::vec::Vec;
use core::num::NonZeroI32;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IoKind {
    /// Reads into the slot's buffer.
    Read,
    /// Writes from the slot's buffer.
    Write,
    /// Gives a range back (`BLKDISCARD`, `FALLOC_FL_PUNCH_HOLE`).
    Trim,
    /// Makes everything written durable (`fsync`).
    Sync,
    /// Makes data and what is needed to find it durable (`fdatasync`).
    DataSync,
    /// Starts or awaits writing out a range (`sync_file_range`), which makes nothing durable.
    RangeSync(RangeSync),
}

impl IoKind {
    /// Whether it moves or gives back bytes of a range, as syncs do not.
    #[must_use]
    pub const fn has_bytes(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// The steps of `sync_file_range(2)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RangeSync {
    /// Waits for pages that are being written out already.
    pub wait_before: bool,
    /// Starts writing out dirty pages.
    pub write: bool,
    /// Waits for all of them.
    pub wait_after: bool,
}

/// An operation to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The slot that it occupies until it is complete: 0 to [`Queue::depth`] - 1.
    pub slot: u32,
    /// What it does.
    pub kind: IoKind,
    /// The file, by its place among those that the queue was made for.
    pub file: u32,
    /// Where, in bytes from the file's start.
    pub offset: u64,
    /// How many bytes, from the start of the slot's buffer; of a range for trims and range syncs.
    pub bytes: u32,
}

/// The system's number of an error (errno); never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(NonZeroI32);

impl ErrorCode {
    /// The code of a number; a 0, which tells nothing, becomes `EIO` (5).
    #[must_use]
    pub const fn new(number: i32) -> Self {
        match NonZeroI32::new(number) {
            Some(number) => Self(number),
            None => match NonZeroI32::new(5) {
                Some(eio) => Self(eio),
                None => unreachable!(),
            },
        }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0.get()
    }
}

/// An operation that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot it occupied, which is free again.
    pub slot: u32,
    /// The bytes moved, or what went wrong. Fewer than asked for is a short transfer; syncs and trims move 0.
    pub result: Result<u32, ErrorCode>,
}

/// How long [`Queue::reap`] waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Takes what is there.
    None,
    /// Until as many operations as asked for are complete, or a signal arrives.
    Forever,
    /// As `Forever`, but for so long at most.
    Nanoseconds(u64),
}

/// What became of several operations that were pushed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// How many were taken, from the first on, and are to be submitted.
    pub taken: usize,
    /// Of the one behind them, if there is one: that it is complete already, or why it was not taken. What comes after it was
    /// not looked at.
    pub then: Option<Result<Completion, ErrorCode>>,
}

impl Pushed {
    /// Of what `push` makes of the requests, one after the other, as [`Queue::push_all`] is to do it.
    #[inline]
    pub fn each(requests: &[Request], mut push: impl FnMut(&Request) -> Result<Option<Completion>, ErrorCode>) -> Self {
        for (taken, request) in requests.iter().enumerate() {
            match push(request) {
                Ok(None) => {}
                Ok(Some(completion)) => return Self { taken, then: Some(Ok(completion)) },
                Err(code) => return Self { taken, then: Some(Err(code)) },
            }
        }
        Self { taken: requests.len(), then: None }
    }
}

/// One thread's queue of operations on open files.
pub trait Queue {
    /// How many operations can be under way; at least 1.
    fn depth(&self) -> u32;

    /// The memory of a slot that is not under way. All slots' buffers are of one size and zeroed at first.
    ///
    /// # Panics
    /// If the slot is under way or is not there: its memory is the kernel's then.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Takes an operation. `Some` says that it is complete already.
    ///
    /// # Errors
    /// Only for what the caller could have known (`EBUSY`: the slot is under way; `EINVAL`: no such slot or file, or more
    /// bytes than a buffer has; `EOPNOTSUPP`: a kind of operation that the engine does not know). What happens to
    /// the operation is in its [`Completion`].
    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode>;

    /// Takes several operations, as [`Queue::push`] does one after the other, up to the first one that is complete at once or
    /// that is not taken: one call for a whole batch, of which an engine can make its own.
    fn push_all(&mut self, requests: &[Request]) -> Pushed {
        Pushed::each(requests, |request| self.push(request))
    }

    /// Hands everything pushed to the kernel, as far as it takes it now. What it did not take (`EAGAIN`) stays pushed and goes
    /// with the next `submit`. Gives how many it took.
    ///
    /// # Errors
    /// The system's error, when nothing more can be submitted at all.
    fn submit(&mut self) -> Result<u32, ErrorCode>;

    /// How many operations are known to be complete without asking anybody: a [`Queue::reap`] of as many costs no call of the
    /// kernel. An engine that cannot look says 0.
    fn ready(&mut self) -> u32 {
        0
    }

    /// Waits until `at_least` of the submitted operations are complete (never for more than are under way) and appends
    /// all that are, up to what `done` has room for without growing; so its capacity is the most that a call takes.
    /// Returns early with what there is when patience ends or a signal arrives; the kernel may also interrupt a wait for
    /// reasons of its own, so that a caller who has patience left calls again.
    ///
    /// # Errors
    /// The system's error, when nothing more can be reaped at all.
    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode>;

    /// [`Queue::submit`] and [`Queue::reap`] in one, which is one call of the kernel where the engine can. Gives how many
    /// operations were taken; those count for `at_least`, and those that were not do not.
    ///
    /// # Errors
    /// As both. What was taken is under way also if reaping fails.
    fn submit_and_reap(
        &mut self,
        at_least: u32,
        patience: Patience,
        done: &mut Vec<Completion>,
    ) -> Result<u32, ErrorCode> {
        let taken = self.submit()?;
        self.reap(at_least, patience, done)?;
        Ok(taken)
    }

    /// How many operations have been handed over and are not reaped. What is pushed and not submitted does not count.
    fn under_way(&self) -> u32;

    /// Waits for what an engine still does for operations that it called complete (tokio's buffered writes).
    ///
    /// # Errors
    /// An operation that fails only now.
    fn drain(&mut self) -> Result<(), ErrorCode> {
        Ok(())
    }
}
