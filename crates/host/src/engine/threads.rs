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
    for Errand { request, buffer } in errands {
        let mut under_way = UnderWay { slot: request.slot, result: Err(errno::IO), buffer: Some(buffer), done };
        under_way.carry_out(|buffer| carry_out(files, &request, buffer));
    }
}

/// An errand that is told to be done when it is dropped, so that nobody waits for a thread that panicked.
struct UnderWay<'a> {
    slot: u32,
    result: Result<u32, ErrorCode>,
    buffer: Option<AlignedBuffer>,
    done: &'a Sender<Done>,
}

impl UnderWay<'_> {
    fn carry_out(&mut self, how: impl FnOnce(&mut [u8]) -> io::Result<u32>) {
        if let Some(buffer) = &mut self.buffer {
            self.result = how(buffer).map_err(|error| errno::code_of(&error));
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            // Who is not there any more waits for nothing; the sender hangs up on the thread next.
            let _ = self.done.send(Done { slot: self.slot, result: self.result, buffer });
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
                // A thread ends only when it is told to, or panics. What the others were given is under way all the same.
                self.under_way += taken;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_has_done_its_errand_with_an_error() {
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let buffer = AlignedBuffer::aligned_to(512, 512);
            let mut under_way = UnderWay { slot: 7, result: Err(errno::IO), buffer, done: &sender };
            under_way.carry_out(|_| panic!("on purpose"));
        });
        let done = receiver.recv().unwrap();
        assert_eq!((done.slot, done.result), (7, Err(errno::IO)));
        assert_eq!(done.buffer.len(), 512);
        assert!(thread.join().is_err());
    }

    #[test]
    fn what_was_taken_before_an_error_is_under_way() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let (done_sender, done) = channel();
        let slot = |is_there: bool| {
            let (sender, errands) = channel::<Errand>();
            let (files, done): (Arc<[File]>, _) = (Arc::new([file.try_clone().unwrap()]), done_sender.clone());
            let thread = is_there.then(|| std::thread::spawn(move || work(&files, &errands, &done)));
            Slot { buffer: AlignedBuffer::aligned_to(512, 512), sender: Some(sender), thread }
        };
        // The second one's thread is gone.
        let slots = vec![slot(true), slot(false)];
        let mut queue = Threads { slots, done, files: 1, buffer_bytes: 512, pushed: Vec::new(), under_way: 0 };
        for slot in 0..2 {
            let request = Request { slot, kind: IoKind::Read, file: 0, offset: 0, bytes: 512 };
            assert_eq!(queue.push(&request), Ok(None));
        }
        assert_eq!(queue.submit(), Err(errno::IO));
        assert_eq!(queue.under_way(), 1);
        let mut done = Vec::with_capacity(2);
        queue.reap(1, Patience::Nanoseconds(60_000_000_000), &mut done).unwrap();
        assert_eq!(done, [Completion { slot: 0, result: Ok(512) }]);
    }
}
