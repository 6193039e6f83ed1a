//! Neighbours in one call: requests that follow each other in the same file go with one `preadv` or `pwritev`.
//!
//! Nothing runs beside anything else: what is pushed is done in `submit`, in order. What a call moved is dealt out to its
//! requests from the first one on, so that a short call leaves the last ones short; an error is that of each of them.
#![allow(unsafe_code, reason = "vectors of the buffers of slots under way")]

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use super::inline::{Blocking, uninterrupted};
use super::pvsync::Vectored;
use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;
use super::{EngineEntry, QueueSide, calls, errno};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "vsync",
    about: "neighbouring requests gathered into one preadv or pwritev",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(|| Ok(Blocking::boxed(Vectored))),
    queue: Some(QueueSide {
        depth_max: u32::MAX,
        options: &[],
        concurrent: false,
        gathers: true,
        make: Gathering::boxed,
    }),
};

/// The most buffers in a call (`UIO_MAXIOV`).
const VECTORS_MAX: usize = 1024;
/// The most bytes that a call moves, whatever it is asked for (`MAX_RW_COUNT`, for pages of up to 64 KiB).
const BYTES_MAX: u64 = (1 << 31) - (1 << 16);

struct Gathering {
    slots: Slots,
    files: Vec<File>,
    pushed: Vec<Request>,
    /// Complete, from `reaped` on.
    ready: Vec<Completion>,
    reaped: usize,
    vectors: Box<[Vector]>,
}

#[derive(Clone, Copy)]
struct Vector(libc::iovec);

// SAFETY: an address in `Slots`, which may be sent; it is used inside of `submit` only.
unsafe impl Send for Vector {}

impl Gathering {
    fn boxed(setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
        let slots = Slots::new(&setup)?;
        let depth = setup.depth as usize;
        let empty = Vector(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 });
        Ok(Box::new(Self {
            slots,
            files: setup.files,
            pushed: Vec::with_capacity(depth),
            ready: Vec::with_capacity(depth),
            reaped: 0,
            vectors: vec![empty; depth.min(VECTORS_MAX)].into_boxed_slice(),
        }))
    }

    /// How many of the pushed requests from `first` on go with one call; at least one.
    fn neighbours(&self, first: usize) -> usize {
        let Request { kind, file, offset, bytes, .. } = self.pushed[first];
        if !matches!(kind, IoKind::Read | IoKind::Write) {
            return 1;
        }
        let mut end = offset + u64::from(bytes);
        let mut count = 1;
        for next in self.pushed[first + 1..].iter().take(self.vectors.len() - 1) {
            let all = end - offset + u64::from(next.bytes);
            if next.kind != kind || next.file != file || next.offset != end || all > BYTES_MAX {
                break;
            }
            end += u64::from(next.bytes);
            count += 1;
        }
        count
    }

    /// Moves the data of `count` neighbours with one call. Gives how many bytes were moved.
    fn transfer(&mut self, first: usize, count: usize) -> io::Result<usize> {
        let requests = &self.pushed[first..first + count];
        for (vector, request) in self.vectors.iter_mut().zip(requests) {
            vector.0.iov_base = self.slots.address(request.slot).cast();
            vector.0.iov_len = request.bytes as usize;
        }
        let start = self.vectors.as_mut_ptr();
        let Request { kind, offset, .. } = requests[0];
        let file = &self.files[requests[0].file as usize];
        if kind == IoKind::Read {
            // SAFETY: `IoSliceMut` has the layout of `iovec` on Unix, and `Vector` is one. The buffers are inside of the
            // slots' memory (`Slots::check`), are initialised, and are those of different slots under way, so that nobody
            // else has them.
            let slices = unsafe { std::slice::from_raw_parts_mut(start.cast::<IoSliceMut<'_>>(), count) };
            uninterrupted(|| Ok(rustix::io::preadv(file, slices, offset)?))
        } else {
            // SAFETY: as above; `IoSlice` has that layout too.
            let slices = unsafe { std::slice::from_raw_parts(start.cast::<IoSlice<'_>>(), count) };
            uninterrupted(|| Ok(rustix::io::pwritev(file, slices, offset)?))
        }
    }

    fn run(&mut self, first: usize, count: usize) {
        let request = self.pushed[first];
        let mut moved = match request.kind {
            IoKind::Read | IoKind::Write => self.transfer(first, count),
            _ => calls::run(&request, &self.files[request.file as usize]).map(|()| 0),
        }
        .map_err(|error| errno::code_of(&error));
        for index in first..first + count {
            let Request { slot, kind, bytes, .. } = self.pushed[index];
            let result = match &mut moved {
                Ok(left) if matches!(kind, IoKind::Read | IoKind::Write) => {
                    let its = (*left).min(bytes as usize);
                    *left -= its;
                    Ok(its as u32)
                }
                Ok(_) => Ok(0),
                Err(code) => Err(*code),
            };
            self.ready.push(Completion { slot, result });
        }
    }
}

impl Queue for Gathering {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        self.slots.occupy(request.slot);
        self.pushed.push(*request);
        Ok(None)
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        // What is reaped goes, also where some is left each time: no more than the slots are ever there.
        self.ready.drain(..self.reaped);
        self.reaped = 0;
        let mut first = 0;
        while first < self.pushed.len() {
            let count = self.neighbours(first);
            self.run(first, count);
            first += count;
        }
        self.pushed.clear();
        Ok(first as u32)
    }

    fn reap(&mut self, _at_least: u32, _patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        let room = done.capacity() - done.len();
        let count = room.min(self.ready.len() - self.reaped);
        for completion in &self.ready[self.reaped..self.reaped + count] {
            // SAFETY: its call has returned.
            unsafe { self.slots.release(completion.slot) }
            done.push(*completion);
        }
        self.reaped += count;
        Ok(())
    }

    fn under_way(&self) -> u32 {
        (self.ready.len() - self.reaped) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::QueueOptions;

    #[test]
    fn what_is_reaped_is_not_kept() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let setup = QueueSetup {
            files: vec![file],
            depth: 4,
            buffer_bytes: 512,
            buffer_align: 512,
            options: QueueOptions::default(),
        };
        let vectors = vec![Vector(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }); 4].into_boxed_slice();
        let slots = Slots::new(&setup).unwrap();
        let (pushed, ready) = (Vec::new(), Vec::new());
        let mut queue = Gathering { slots, files: setup.files, pushed, ready, reaped: 0, vectors };
        let mut free = vec![0, 1, 2, 3];
        for round in 0..1000 {
            // One is always left.
            while let Some(slot) = free.pop() {
                let request = Request { slot, kind: IoKind::Read, file: 0, offset: 0, bytes: 512 };
                assert_eq!(queue.push(&request), Ok(None));
            }
            queue.submit().unwrap();
            let mut done = Vec::with_capacity(3);
            queue.reap(1, Patience::Forever, &mut done).unwrap();
            assert_eq!((done.len(), queue.under_way()), (3, 1));
            assert!(queue.ready.len() <= 4, "{} after {round}", queue.ready.len());
            free.extend(done.iter().map(|completion| completion.slot));
        }
    }
}
