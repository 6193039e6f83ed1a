//! Linux's io_uring: operations go through a ring that is shared with the kernel, many with one call.
//!
//! All kinds of operations are asynchronous where the kernel has an operation for it; discards of block devices are plain
//! calls before Linux 6.12, and syncs and trims are while completions are polled for, which they cannot be.
//!
//! A queue is bound to the thread of its first `submit` or `reap` (this is what makes the ring cheap): on another one they
//! fail with `EEXIST`, and dropped there with operations under way it leaks its buffers instead of freeing them.
#![allow(unsafe_code, reason = "buffers are handed to the kernel")]

mod blocking;
mod enter;
mod prepare;
mod refusal;
mod ring;

use std::fs::File;
use std::io;

use flashmark_core::queue::{Completion, ErrorCode, Patience, Pushed, Queue, Request};
use io_uring::squeue::Flags;
use io_uring::{Probe, opcode};

use self::blocking::Alone;
use self::prepare::Prepare;
use self::refusal::Step;
use self::ring::{Ring, RingOptions};
use super::setup::{EngineError, QueueOption, QueueSetup};
use super::slots::Slots;
use super::{EngineEntry, QueueSide, calls, errno, polled};

const NAME: &str = "io_uring";

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    about: "Linux's rings shared with the kernel, many operations with one call",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(blocking::make),
    queue: Some(QueueSide {
        depth_max: DEPTH_MAX,
        options: &[
            QueueOption::FixedBuffers,
            QueueOption::RegisteredFiles,
            QueueOption::Poll,
            QueueOption::SubmissionThread,
            QueueOption::Vectored,
            QueueOption::ForceAsync,
        ],
        concurrent: true,
        gathers: false,
        make: |setup| Ok(Box::new(Uring::new(setup)?)),
    }),
};

/// `IORING_MAX_ENTRIES`.
const DEPTH_MAX: u32 = 32768;

struct Uring {
    ring: Ring,
    slots: Slots,
    prepare: Prepare,
    files: Vec<File>,
    /// Each so many operations go to the kernel's workers; 0 is never.
    force_async: u32,
    until_forced: u32,
}

impl Uring {
    fn new(setup: QueueSetup) -> Result<Self, EngineError> {
        let options = setup.options;
        if options.fixed_buffers && options.vectored {
            let (first, second) = (QueueOption::FixedBuffers.text(), QueueOption::Vectored.text());
            return Err(EngineError::Exclusive { engine: NAME, first, second });
        }
        let ring_options = RingOptions { poll: options.poll, submission_thread: options.submission_thread };
        let ring = new_ring(setup.depth, ring_options)?;
        if options.poll {
            let remedy = "leave polling out, or use a device whose driver polls (NVMe with nvme.poll_queues set)";
            let mut trial = Alone::new(RingOptions { poll: true, submission_thread: None });
            polled::check(NAME, &setup, remedy, &mut |file, buf| trial.read_at(file, 0, buf).map(drop))?;
        }
        let slots = Slots::new(&setup)?;
        let prepare = Prepare::new(&ring, &slots, &setup)?;
        let force_async = options.force_async;
        Ok(Self { ring, slots, prepare, files: setup.files, force_async, until_forced: force_async })
    }

    /// Takes a request. In both its callers it is the work of a loop.
    #[inline(always)]
    fn take(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        let flags = if self.force_async == 0 { Flags::empty() } else { self.async_flags() };
        let file = &self.files[request.file as usize];
        let Some(entry) = self.prepare.transfer(request, file, &self.slots, flags) else {
            return self.take_other(request, flags);
        };
        // SAFETY: the entry names the buffer and the vector of this slot, which is under way from here to its completion, or
        // until both ring and memory are dropped.
        if !unsafe { self.ring.push(&entry) } {
            return Err(errno::BUSY);
        }
        self.slots.occupy(request.slot);
        Ok(None)
    }

    /// A sync or a trim.
    #[cold]
    fn take_other(&mut self, request: &Request, flags: Flags) -> Result<Option<Completion>, ErrorCode> {
        let file = &self.files[request.file as usize];
        let Some(entry) = self.prepare.other(request, file) else {
            let result = calls::run(request, file).map(|()| 0).map_err(|error| errno::code_of(&error));
            return Ok(Some(Completion { slot: request.slot, result }));
        };
        // SAFETY: no memory is named.
        if !unsafe { self.ring.push(&entry.flags(flags)) } {
            return Err(errno::BUSY);
        }
        self.slots.occupy(request.slot);
        Ok(None)
    }

    /// Each so many operations go to the kernel's workers.
    #[cold]
    fn async_flags(&mut self) -> Flags {
        self.until_forced -= 1;
        if self.until_forced > 0 {
            return Flags::empty();
        }
        self.until_forced = self.force_async;
        Flags::ASYNC
    }

    /// Takes what is complete, as far as there is room.
    #[inline]
    fn collect(&mut self, done: &mut Vec<Completion>) {
        let room = done.capacity() - done.len();
        let slots = &mut self.slots;
        self.ring.take(room, |user_data, result| {
            // Only slots were given as user data.
            let slot = user_data as u32;
            // SAFETY: the kernel says that it is done with the operation.
            unsafe { slots.release(slot) }
            done.push(Completion { slot, result: outcome(result) });
        });
    }
}

fn new_ring(depth: u32, options: RingOptions) -> Result<Ring, EngineError> {
    let step = Step::Rings { submission_thread: options.submission_thread.is_some() };
    let ring = Ring::new(depth, options).map_err(|error| refusal::of(step, error))?;
    let mut probe = Probe::new();
    // Linux 5.6 came with the probe, and with reads and writes of single buffers.
    match ring.uring().submitter().register_probe(&mut probe) {
        Ok(()) if probe.is_supported(opcode::Read::CODE) => Ok(ring),
        _ => Err(refusal::of(step, io::Error::from_raw_os_error(libc::ENOSYS))),
    }
}

/// The result of a completion: a count, or an error's number, negative.
#[inline]
fn outcome(result: i32) -> Result<u32, ErrorCode> {
    if result < 0 { Err(ErrorCode::new(-result)) } else { Ok(result.unsigned_abs()) }
}

impl Queue for Uring {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.take(request)
    }

    fn push_all(&mut self, requests: &[Request]) -> Pushed {
        Pushed::each(requests, |request| self.take(request))
    }

    #[inline]
    fn submit(&mut self) -> Result<u32, ErrorCode> {
        self.ring.submit().map_err(|error| errno::code_of(&error))
    }

    #[inline]
    fn ready(&mut self) -> u32 {
        self.ring.ready()
    }

    #[inline]
    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        let room = done.capacity() - done.len();
        let at_least = at_least.min(self.ring.under_way()).min(room as u32);
        let ready = self.ring.ready();
        if (ready < at_least || (ready == 0 && room > 0)) && self.ring.under_way() > 0 {
            // Without patience a call is only worth it if the kernel has something.
            let waits = ready < at_least && patience != Patience::None;
            if waits || self.ring.must_ask() {
                self.ring.wait(at_least, patience).map_err(|error| errno::code_of(&error))?;
            }
        }
        self.collect(done);
        Ok(())
    }

    #[inline]
    fn submit_and_reap(
        &mut self,
        at_least: u32,
        patience: Patience,
        done: &mut Vec<Completion>,
    ) -> Result<u32, ErrorCode> {
        let room = (done.capacity() - done.len()) as u32;
        let (taken, waited) =
            self.ring.submit_and_wait(at_least.min(room), patience).map_err(|error| errno::code_of(&error))?;
        if waited {
            self.collect(done);
        } else {
            self.reap(at_least, patience, done)?;
        }
        Ok(taken)
    }

    #[inline]
    fn under_way(&self) -> u32 {
        self.ring.under_way()
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.ring.end() {
            self.prepare.unregister(&self.ring);
        } else {
            self.slots.leak();
            self.prepare.leak();
        }
    }
}
