//! A thread for each operation that can be under way, with plain calls (`pread`, `pwrite`): what programs do that want several
//! operations at once and know no queue of the kernel's, and what fio's `io_submit_mode=offload` does.
//!
//! Buffers move to the thread with the request, and come back with its completion.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use super::inline::{Transfer, uninterrupted};
use super::setup::{EngineError, QueueSetup};
use super::sync::Positioned;
use super::{EngineEntry, QueueSide, calls, errno};
use crate::buffer::AlignedBuffer;

/// More threads than this are no sensible load.
const DEPTH_MAX: u32 = 4096;

/// How long a wait goes on before the caller may look whether it is to stop.
const SLICE: Duration = Duration::from_millis(100);

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "threads",
    about: "a thread for each operation under way, with pread and pwrite",
    direct: true,
    queue_depth_max: 1,
    blocking: None,
    queue: Some(QueueSide {
        depth_max: DEPTH_MAX,
        options: &[],
        concurrent: true,
        gathers: false,
        make: Threads::boxed,
    }),
};

/// What a thread is to do.
struct Errand {
    request: Request,
    buffer: AlignedBuffer,
}

/// What it has done.
struct Done {
    slot: u32,
    result: Result<u32, ErrorCode>,
    buffer: AlignedBuffer,
}

struct Slot {
    /// Away while the slot is under way.
    buffer: Option<AlignedBuffer>,
    /// Hung up on to end the thread.
    sender: Option<Sender<Errand>>,
    thread: Option<JoinHandle<()>>,
}

struct Threads {
    slots: Vec<Slot>,
    done: Receiver<Done>,
    files: usize,
    buffer_bytes: usize,
    pushed: Vec<Errand>,
    under_way: u32,
}

impl Threads {
    fn boxed(setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
        let QueueSetup { files, depth, buffer_bytes, buffer_align, .. } = setup;
        let files: Arc<[File]> = files.into();
        let (done_sender, done) = channel();
        let slot = |number: u32| {
            let buffer = AlignedBuffer::aligned_to(buffer_bytes, buffer_align)
                .ok_or(EngineError::Memory { depth, buffer_bytes })?;
            let (sender, errands) = channel();
            let (files, done) = (Arc::clone(&files), done_sender.clone());
            let thread = Builder::new().name(format!("io-{number}")).spawn(move || work(&files, &errands, &done));
            let doing = "cannot start a thread".to_owned();
            let thread = thread.map_err(|source| EngineError::Io { doing, source })?;
            Ok(Slot { buffer: Some(buffer), sender: Some(sender), thread: Some(thread) })
        };
        let slots = (0..depth).map(slot).collect::<Result<Vec<_>, EngineError>>()?;
        let pushed = Vec::with_capacity(depth as usize);
        Ok(Box::new(Self { slots, done, files: files.len(), buffer_bytes, pushed, under_way: 0 }))
    }

    fn take_back(&mut self, done: Done) -> Completion {
        if let Some(slot) = self.slots.get_mut(done.slot as usize) {
            slot.buffer = Some(done.buffer);
        }
        self.under_way = self.under_way.saturating_sub(1);
        Completion { slot: done.slot, result: done.result }
    }
}

/// A thread's life: one errand after the other.
fn work(files: &[File], errands: &Receiver<Errand>, done: &Sender<Done>) {
    for Errand { request, mut buffer } in errands {
        let result = carry_out(files, &request, &mut buffer).map_err(|error| errno::code_of(&error));
        if done.send(Done { slot: request.slot, result, buffer }).is_err() {
            return;
        }
    }
}

fn carry_out(files: &[File], request: &Request, buffer: &mut [u8]) -> io::Result<u32> {
    let file = files.get(request.file as usize).ok_or(io::ErrorKind::InvalidInput)?;
    // Trims and range syncs are about ranges that may be larger than a buffer.
    let bytes = (request.bytes as usize).min(buffer.len());
    let data = &mut buffer[..bytes];
    let moved = match request.kind {
        IoKind::Read => uninterrupted(|| Positioned.read_at(file, request.offset, data))?,
        IoKind::Write => uninterrupted(|| Positioned.write_at(file, request.offset, data))?,
        _ => {
            calls::run(request, file)?;
            0
        }
    };
    // No more than was asked for, which is a `u32`.
    Ok(moved as u32)
}

impl Queue for Threads {
    fn depth(&self) -> u32 {
        self.slots.len() as u32
    }

    /// # Panics
    /// As the trait says.
    #[allow(clippy::panic, reason = "the trait's promise")]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        match &mut self.slots[slot as usize].buffer {
            Some(buffer) => &mut buffer[..self.buffer_bytes],
            None => panic!("slot {slot} is under way: its memory is a thread's"),
        }
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        let slot = self.slots.get_mut(request.slot as usize).ok_or(errno::INVALID)?;
        if slot.buffer.is_none() {
            return Err(errno::BUSY);
        }
        let moves = matches!(request.kind, IoKind::Read | IoKind::Write);
        if request.file as usize >= self.files
            || moves && request.bytes as usize > self.buffer_bytes
            || request.offset > i64::MAX as u64
        {
            return Err(errno::INVALID);
        }
        let buffer = slot.buffer.take().ok_or(errno::BUSY)?;
        self.pushed.push(Errand { request: *request, buffer });
        Ok(None)
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        let mut taken = 0;
        for errand in self.pushed.drain(..) {
            let sender = self.slots.get(errand.request.slot as usize).and_then(|slot| slot.sender.as_ref());
            if sender.is_none_or(|sender| sender.send(errand).is_err()) {
                // A thread ends only when it is told to, or panics.
                return Err(errno::IO);
            }
            taken += 1;
        }
        self.under_way += taken;
        Ok(taken)
    }

    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        let at_least = at_least.min(self.under_way) as usize;
        let start = Instant::now();
        let limit = match patience {
            Patience::None => Duration::ZERO,
            Patience::Forever => SLICE,
            Patience::Nanoseconds(ns) => Duration::from_nanos(ns),
        };
        let first = done.len();
        while done.len() < done.capacity() && self.under_way > 0 {
            let next = if done.len() - first >= at_least {
                self.done.try_recv().map_err(|_| RecvTimeoutError::Timeout)
            } else {
                self.done.recv_timeout(limit.saturating_sub(start.elapsed()))
            };
            match next {
                Ok(next) => {
                    let completion = self.take_back(next);
                    done.push(completion);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(errno::IO),
            }
        }
        Ok(())
    }

    fn under_way(&self) -> u32 {
        self.under_way
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            slot.sender = None;
        }
        for slot in &mut self.slots {
            if let Some(thread) = slot.thread.take() {
                // Waits for its operation; a thread that panicked has no more to say.
                let _ = thread.join();
            }
        }
    }
}
