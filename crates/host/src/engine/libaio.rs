//! Linux's native asynchronous I/O (`io_submit`), by its system calls.
//!
//! Only direct I/O is asynchronous: buffered reads and writes are done inside of `io_submit`. Trims and range syncs are plain
//! calls, and so are syncs where the kernel has no operation for them (before Linux 4.18).
#![allow(unsafe_code, reason = "buffers are handed to the kernel")]

mod blocking;
mod context;
mod refusal;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use self::context::{Command, Context, Control};
use super::setup::{EngineError, QueueOption, QueueSetup};
use super::slots::{Slots, Vectors};
use super::{EngineEntry, QueueSide, calls, errno};

const NAME: &str = "libaio";

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    about: "Linux's native asynchronous I/O; asynchronous for direct I/O only",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(blocking::make),
    queue: Some(QueueSide {
        depth_max: DEPTH_MAX,
        options: &[QueueOption::Vectored, QueueOption::UserspaceReap],
        concurrent: true,
        gathers: false,
        make: |setup| Ok(Box::new(Libaio::new(setup)?)),
    }),
};

/// The default of fs.aio-max-nr, which all queues of a machine share; more than that is refused by most.
const DEPTH_MAX: u32 = 65536;

struct Libaio {
    context: Context,
    slots: Slots,
    vectors: Option<Vectors>,
    files: Vec<File>,
    userspace_reap: bool,
    /// A block for each slot.
    controls: Box<[Control]>,
    /// The slots pushed and not submitted.
    pushed: Vec<u32>,
    /// What `io_submit` takes: where the blocks of `pushed` are.
    batch: Vec<BlockAddress>,
    /// Complete when they were submitted, since the kernel did not take them, with why.
    refused: Vec<Completion>,
    /// How many the kernel has, or has completed without us having looked.
    in_kernel: u32,
}

#[derive(Clone, Copy)]
#[repr(transparent)]
struct BlockAddress(*mut Control);

// SAFETY: an address in `controls`, which the queue owns; only used for the time of a call.
unsafe impl Send for BlockAddress {}

impl Libaio {
    fn new(setup: QueueSetup) -> Result<Self, EngineError> {
        let context = Context::new(setup.depth).map_err(|error| refusal::of(setup.depth, error))?;
        let slots = Slots::new(&setup)?;
        let depth = setup.depth as usize;
        Ok(Self {
            vectors: setup.options.vectored.then(|| Vectors::new(&slots)),
            slots,
            files: setup.files,
            // Where the ring is of a form that is not known, a call does the same.
            userspace_reap: setup.options.userspace_reap && context.is_ring_known(),
            controls: vec![Control::default(); depth].into_boxed_slice(),
            pushed: Vec::with_capacity(depth),
            batch: Vec::with_capacity(depth),
            refused: Vec::with_capacity(depth),
            in_kernel: 0,
            context,
        })
    }

    /// The first of `pushed` was not taken, for a reason of its own.
    #[cold]
    fn refuse(&mut self, index: usize, error: &io::Error) {
        let slot = self.pushed[index];
        let control = &self.controls[slot as usize];
        let sync = match control.command() {
            Command::Fsync => Some(IoKind::Sync),
            Command::Fdsync => Some(IoKind::DataSync),
            _ => None,
        };
        let result = match sync {
            // This kernel has no operation for it.
            Some(kind) if error.raw_os_error() == Some(libc::EINVAL) => {
                let file = self.files.iter().find(|file| file.as_raw_fd() == control.descriptor());
                let request = Request { slot, kind, file: 0, offset: 0, bytes: 0 };
                let done = file.map_or(Ok(()), |file| calls::run(&request, file));
                done.map(|()| 0).map_err(|error| errno::code_of(&error))
            }
            _ => Err(errno::code_of(error)),
        };
        self.refused.push(Completion { slot, result });
    }

    fn take(&mut self, count: usize, done: &mut Vec<Completion>) {
        for event in &self.context.events()[..count] {
            // Blocks carry their slot.
            let slot = event.data as u32;
            // SAFETY: the kernel says that it is done with the operation.
            unsafe { self.slots.release(slot) }
            let result = match u32::try_from(event.result) {
                Ok(bytes) => Ok(bytes),
                Err(_) => Err(ErrorCode::new(-(event.result as i32))),
            };
            done.push(Completion { slot, result });
        }
        self.in_kernel -= count as u32;
    }
}

impl Queue for Libaio {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        let Request { slot, bytes, .. } = *request;
        let file = &self.files[request.file as usize];
        let (command, address, length) = match (request.kind, &mut self.vectors) {
            (IoKind::Read, None) => (Command::Read, self.slots.address(slot).expose_provenance(), u64::from(bytes)),
            (IoKind::Write, None) => (Command::Write, self.slots.address(slot).expose_provenance(), u64::from(bytes)),
            (IoKind::Read, Some(vectors)) => (Command::Readv, vectors.of(slot, bytes).expose_provenance(), 1),
            (IoKind::Write, Some(vectors)) => (Command::Writev, vectors.of(slot, bytes).expose_provenance(), 1),
            (IoKind::Sync, _) => (Command::Fsync, 0, 0),
            (IoKind::DataSync, _) => (Command::Fdsync, 0, 0),
            (IoKind::Trim | IoKind::RangeSync(_), _) => {
                let result = calls::run(request, file).map(|()| 0).map_err(|error| errno::code_of(&error));
                return Ok(Some(Completion { slot, result }));
            }
        };
        // Syncs take no place.
        let offset = if request.kind.has_bytes() { request.offset } else { 0 };
        self.controls[slot as usize] = Control::new(slot, command, file.as_raw_fd(), address as u64, length, offset);
        self.slots.occupy(slot);
        self.pushed.push(slot);
        Ok(None)
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        self.batch.clear();
        let controls = self.controls.as_mut_ptr();
        for slot in &self.pushed {
            // SAFETY: `push` checked that there is such a slot, and so a block.
            self.batch.push(BlockAddress(unsafe { controls.add(*slot as usize) }));
        }
        let mut taken = 0;
        let mut failed = Ok(());
        while taken < self.batch.len() {
            // SAFETY: the blocks name the buffers and vectors of slots that are under way, until their completions, or until
            // the context is gone.
            match unsafe { self.context.submit(self.batch[taken..].as_mut_ptr().cast(), self.batch.len() - taken) } {
                Ok(0) => break,
                Ok(now) => {
                    taken += now;
                    self.in_kernel += now as u32;
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EINTR) => break,
                    // An invalid context, not an operation.
                    Some(libc::ENOSYS | libc::EPERM) => {
                        failed = Err(errno::code_of(&error));
                        break;
                    }
                    // What is told is of the first one that was not taken.
                    _ => {
                        self.refuse(taken, &error);
                        taken += 1;
                    }
                },
            }
        }
        self.pushed.drain(..taken);
        match failed {
            Err(code) if taken == 0 => Err(code),
            _ => Ok(taken as u32),
        }
    }

    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        let room = done.capacity() - done.len();
        let at_least = (at_least.min(self.under_way()) as usize).min(room);
        let from = done.len();
        if !self.refused.is_empty() {
            let count = self.refused.len().min(room);
            for completion in self.refused.drain(..count) {
                // SAFETY: the kernel did not get it, or its call has returned.
                unsafe { self.slots.release(completion.slot) }
                done.push(completion);
            }
        }
        if self.userspace_reap && self.in_kernel > 0 {
            let room = done.capacity() - done.len();
            // SAFETY: the ring is known, or the option would be off; only `drop` destroys the context.
            let count = unsafe { self.context.take_shared(room) };
            self.take(count, done);
            if patience == Patience::None {
                return Ok(());
            }
        }
        let room = done.capacity() - done.len();
        let missing = at_least.saturating_sub(done.len() - from);
        let looked = self.userspace_reap && missing == 0;
        if room == 0 || self.in_kernel == 0 || looked {
            return Ok(());
        }
        match self.context.wait(missing, room, patience) {
            Ok(count) => self.take(count, done),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(errno::code_of(&error)),
        }
        Ok(())
    }

    #[inline]
    fn under_way(&self) -> u32 {
        self.in_kernel + self.refused.len() as u32
    }
}

impl Drop for Libaio {
    fn drop(&mut self) {
        // Waits for what is under way.
        if !self.context.destroy() && self.in_kernel > 0 {
            self.slots.leak();
        }
    }
}
