//! The rings that are shared with the kernel: making them, entering the kernel, and emptying them.
#![allow(unsafe_code, reason = "io_uring is memory shared with the kernel")]

use std::io;
use std::time::{Duration, Instant};

use flashmark_core::queue::Patience;
use io_uring::types::{CancelBuilder, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, squeue};

use super::enter::{self, Place};
use crate::engine::setup::SubmissionThread;

/// What a ring is made for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RingOptions {
    pub(super) poll: bool,
    pub(super) submission_thread: Option<SubmissionThread>,
}

/// Kernel features that only make rings cheaper, by the version they came with. A kernel that does not know one says
/// `EINVAL`, and the next older set is tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kernel {
    /// Before any of them.
    V5_6,
    /// Completions without interrupting the thread, and bad entries do not end a batch.
    V5_19,
    /// One thread only, which completes its operations itself, when it asks for them.
    V6_1,
    /// No indirection of entries.
    V6_6,
}

/// How long a kernel's submission thread looks for work before it sleeps.
const IDLE_MS: u32 = 1000;

/// How long the end of cancelled operations is waited for before they are cancelled again; doubled each time, up to the other.
const CANCEL_AGAIN_NS: u64 = 1_000_000;
const CANCEL_AGAIN_NS_MAX: u64 = 1_000_000_000;

/// A ring. What is under way on it is counted here.
pub(super) struct Ring {
    uring: IoUring,
    /// Entries that a submission thread must not see before `submit`; unused without one.
    held_back: Vec<squeue::Entry>,
    /// Whether entering the kernel is what polls the devices.
    polled: bool,
    /// Made disabled, so that the thread that uses it first is the one that it is bound to.
    enabled: bool,
    submission_thread: bool,
    /// Its place among the rings of the thread that it is bound to, which spares the kernel the way from its descriptor.
    place: Option<Place>,
    under_way: u32,
}

impl Ring {
    /// A ring for so many operations at once.
    pub(super) fn new(depth: u32, options: RingOptions) -> io::Result<Self> {
        let mut tried = Err(io::Error::from_raw_os_error(libc::EINVAL));
        for kernel in [Kernel::V6_6, Kernel::V6_1, Kernel::V5_19, Kernel::V5_6] {
            tried = Self::of(depth, options, kernel);
            if !matches!(&tried, Err(error) if error.raw_os_error() == Some(libc::EINVAL)) {
                break;
            }
        }
        tried
    }

    fn of(depth: u32, options: RingOptions, kernel: Kernel) -> io::Result<Self> {
        let mut builder: Builder = IoUring::builder();
        // No more can be complete than are under way; by itself the kernel makes room for twice as many.
        builder.setup_cqsize(depth);
        if options.poll {
            builder.setup_iopoll();
        }
        if let Some(SubmissionThread { cpu }) = options.submission_thread {
            builder.setup_sqpoll(IDLE_MS);
            if let Some(cpu) = cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        } else if kernel >= Kernel::V5_19 {
            builder.setup_coop_taskrun().setup_taskrun_flag();
            if kernel >= Kernel::V6_1 {
                builder.setup_single_issuer().setup_defer_taskrun().setup_r_disabled();
            }
        }
        if kernel >= Kernel::V5_19 {
            builder.setup_submit_all();
        }
        if kernel >= Kernel::V6_6 {
            builder.setup_no_sqarray();
        }
        let uring = builder.build(depth)?;
        let submission_thread = options.submission_thread.is_some();
        let held_back = Vec::with_capacity(if submission_thread { depth as usize } else { 0 });
        let enabled = submission_thread || kernel < Kernel::V6_1;
        // A submission thread does the polling as well.
        let polled = options.poll && !submission_thread;
        Ok(Self { uring, held_back, enabled, polled, submission_thread, place: None, under_way: 0 })
    }

    /// How many operations the kernel has, or has completed without us having looked.
    #[inline]
    pub(super) const fn under_way(&self) -> u32 {
        self.under_way
    }

    /// The rings themselves, to register things with.
    pub(super) const fn uring(&self) -> &IoUring {
        &self.uring
    }

    /// Puts an operation behind those pushed before; false if there is no room, which there is for as many as the ring's
    /// depth that are not complete.
    ///
    /// # Safety
    /// The memory that the entry names lives and is left alone until its completion is taken, or the ring is dropped
    /// without it having been submitted.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        if self.submission_thread {
            let room = self.held_back.len() < self.held_back.capacity();
            if room {
                self.held_back.push(entry.clone());
            }
            return room;
        }
        // SAFETY: the caller's promise.
        unsafe { self.uring.submission().push(entry) }.is_ok()
    }

    /// Hands over what is pushed. Gives how many entries were taken; nothing taken is no error if it may be later.
    #[inline(always)]
    pub(super) fn submit(&mut self) -> io::Result<u32> {
        if self.submission_thread {
            return self.wake();
        }
        let mut taken = 0;
        loop {
            let pushed = self.uring.submission().len() as u32;
            if pushed == 0 {
                return Ok(taken);
            }
            match self.enter(pushed, 0, EnterFlags::empty(), None) {
                // An entry that the kernel cannot read ends a batch on older kernels; it is complete with an error then.
                Ok(now) if now > 0 => taken += now,
                Ok(_) => return Ok(taken),
                Err(error) if taken > 0 || is_passing(&error) => return Ok(taken),
                Err(error) => return Err(error),
            }
        }
    }

    /// Publishes what was held back, for the kernel's thread.
    #[inline(never)]
    fn wake(&mut self) -> io::Result<u32> {
        let mut queue = self.uring.submission();
        let mut published = 0;
        for entry in &self.held_back {
            // SAFETY: promised to `Ring::push`.
            if unsafe { queue.push(entry) }.is_err() {
                break;
            }
            published += 1;
        }
        queue.sync();
        let asleep = queue.need_wakeup();
        drop(queue);
        self.held_back.drain(..published);
        let published = published as u32;
        self.under_way += published;
        if asleep {
            match self.call(0, 0, EnterFlags::SQ_WAKEUP, None) {
                Err(error) if !is_passing(&error) && published == 0 => return Err(error),
                // What is published is taken as soon as the thread is awake: the next call wakes it.
                _ => {}
            }
        }
        Ok(published)
    }

    /// Hands over what is pushed and waits, in one call, until `at_least` operations are complete. Gives how many were
    /// taken, and whether there was a wait, however it ended; if not, it is still to come.
    pub(super) fn submit_and_wait(&mut self, at_least: u32, patience: Patience) -> io::Result<(u32, bool)> {
        let pushed = self.uring.submission().len() as u32;
        let timeout = match patience {
            Patience::Nanoseconds(ns) => Some(Duration::from_nanos(ns)),
            _ => None,
        };
        // Polling is left to `wait`, since the kernel knows no timeout then; older ones never do.
        let untimed = timeout.is_some() && !self.uring.params().is_feature_ext_arg();
        if self.submission_thread || self.polled || pushed == 0 || untimed {
            return Ok((self.submit()?, false));
        }
        let at_least = if patience == Patience::None { 0 } else { at_least };
        // What is in the ring already counts for the kernel too.
        let flags = if at_least > 0 { EnterFlags::GETEVENTS } else { EnterFlags::empty() };
        let timeout = timeout.filter(|_| at_least > 0);
        match self.enter(pushed, at_least.min(self.under_way + pushed), flags, timeout) {
            Ok(taken) if taken == pushed => Ok((taken, at_least > 0)),
            Ok(taken) => {
                // The kernel does not wait when it could not take everything.
                let rest = self.submit().unwrap_or(0);
                Ok((taken + rest, false))
            }
            Err(error) if is_passing(&error) => Ok((0, false)),
            Err(error) => Err(error),
        }
    }

    /// Completions that can be taken without a call.
    #[inline]
    pub(super) fn ready(&mut self) -> u32 {
        self.uring.completion().len() as u32
    }

    /// Whether the kernel has completions that it only shows when asked.
    #[inline]
    pub(super) fn must_ask(&mut self) -> bool {
        if self.polled {
            return true;
        }
        let queue = self.uring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    /// Waits until `at_least` completions can be taken; for 0 it only asks. Returns early when patience ends or on a signal.
    pub(super) fn wait(&mut self, at_least: u32, patience: Patience) -> io::Result<()> {
        let at_least = at_least.min(self.under_way);
        let until = match patience {
            Patience::Nanoseconds(ns) => Instant::now().checked_add(Duration::from_nanos(ns)),
            _ => None,
        };
        let blocks = at_least > 0 && patience != Patience::None;
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timed = left.is_some();
            // The kernel knows no timeout while it polls, and older ones know none at all.
            let by_kernel = blocks && !(timed && (self.polled || !self.uring.params().is_feature_ext_arg()));
            let min_complete = if by_kernel { at_least } else { 0 };
            let mut flags = EnterFlags::GETEVENTS;
            if self.submission_thread && self.uring.submission().need_wakeup() {
                flags |= EnterFlags::SQ_WAKEUP;
            }
            match self.enter(0, min_complete, flags, left.filter(|_| by_kernel)) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME)) => return Ok(()),
                Err(error) if is_passing(&error) => std::thread::yield_now(),
                Err(error) => return Err(error),
                // Fewer than asked for are a signal or the end of patience.
                Ok(_) if by_kernel && !self.polled => return Ok(()),
                Ok(_) => {}
            }
            if !blocks || self.ready() >= at_least || left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
        }
    }

    /// Takes up to `room` completions, each with the user data of its entry and its result.
    #[inline]
    pub(super) fn take(&mut self, room: usize, mut take: impl FnMut(u64, i32)) {
        let mut taken = 0;
        for entry in self.uring.completion().take(room) {
            take(entry.user_data(), entry.result());
            taken += 1;
        }
        self.under_way -= taken;
    }

    /// Ends everything under way: cancels what has not been started and waits for the rest, with the completions thrown
    /// away. What is pushed only is not submitted. False if the kernel does not let us wait (the thread is not the one that
    /// the ring is bound to), so that memory under way must not be freed.
    pub(super) fn end(&mut self) -> bool {
        let mut round_ns = CANCEL_AGAIN_NS;
        while self.under_way > 0 {
            // Since Linux 6.0; before, everything is waited for. It says whether there was something to cancel, which is of
            // no use here: what a submission thread or a worker has just taken is there for the next round only.
            let all = CancelBuilder::any().all();
            let _ = self.uring.submitter().register_sync_cancel(Some(Timespec::new()), all);
            // A signal does not end this: the memory is the kernel's.
            if self.wait(self.under_way, Patience::Nanoseconds(round_ns)).is_err() {
                return false;
            }
            self.take(usize::MAX, |_, _| {});
            round_ns = (round_ns * 2).min(CANCEL_AGAIN_NS_MAX);
        }
        true
    }

    /// Enters the kernel; of a ring that is bound to a thread, binds it to this one at first.
    #[inline(always)]
    fn enter(
        &mut self,
        to_submit: u32,
        min_complete: u32,
        flags: EnterFlags,
        timeout: Option<Duration>,
    ) -> io::Result<u32> {
        if !self.enabled {
            self.enable()?;
        }
        let taken = self.call(to_submit, min_complete, flags, timeout)?;
        self.under_way += taken;
        Ok(taken)
    }

    #[cold]
    fn enable(&mut self) -> io::Result<()> {
        self.uring.submitter().register_enable_rings()?;
        self.enabled = true;
        // It only makes calls cheaper: a thread has 16 places.
        self.place = Place::take(&self.uring);
        Ok(())
    }

    #[inline(always)]
    fn call(&self, to_submit: u32, min_complete: u32, flags: EnterFlags, timeout: Option<Duration>) -> io::Result<u32> {
        // SAFETY: entries were pushed under the promise of `Ring::push`.
        unsafe { enter::enter(&self.uring, self.place.as_ref(), to_submit, min_complete, flags, timeout) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.leave(&self.uring);
        }
    }
}

/// Whether the kernel only cannot do it now.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY | libc::EINTR))
}
