//! The system calls, and the ring that the kernel shares (`fs/aio.c`).
#![allow(unsafe_code, reason = "system calls and memory shared with the kernel")]

use std::io;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use flashmark_core::queue::Patience;

/// What a block asks for (`IOCB_CMD_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Command {
    Read = 0,
    Write = 1,
    Fsync = 2,
    Fdsync = 3,
    Nothing = 6,
    Readv = 7,
    Writev = 8,
}

/// A control block (`struct iocb` of linux/aio_abi.h).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Control {
    data: u64,
    /// The key and the flags, in an order that depends on the machine; both are 0.
    key_and_flags: u64,
    command: Command,
    priority: i16,
    descriptor: u32,
    address: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_descriptor: u32,
}

impl Default for Control {
    fn default() -> Self {
        Self::new(0, Command::Nothing, -1, 0, 0, 0)
    }
}

impl Control {
    /// For syncs neither memory nor place are of concern, and must be 0.
    #[inline]
    pub(super) const fn new(
        slot: u32,
        command: Command,
        descriptor: RawFd,
        address: u64,
        length: u64,
        offset: u64,
    ) -> Self {
        Self {
            data: slot as u64,
            key_and_flags: 0,
            command,
            priority: 0,
            descriptor: descriptor.cast_unsigned(),
            address,
            length,
            offset: offset.cast_signed(),
            reserved: 0,
            flags: 0,
            result_descriptor: 0,
        }
    }

    pub(super) const fn command(&self) -> Command {
        self.command
    }

    pub(super) const fn descriptor(&self) -> RawFd {
        self.descriptor.cast_signed()
    }
}

/// What the kernel tells of an operation that is complete (`struct io_event`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Event {
    pub(super) data: u64,
    object: u64,
    /// The count, or an error's number, negative.
    pub(super) result: i64,
    result2: i64,
}

/// The head of the ring of events; they follow it (`struct aio_ring`).
#[repr(C)]
struct SharedRing {
    id: u32,
    /// How many events there is room for.
    capacity: u32,
    /// Ours to move.
    head: AtomicU32,
    /// The kernel's.
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_bytes: u32,
}

/// `AIO_RING_MAGIC`, by which a ring is known to have this form.
const MAGIC: u32 = 0xa10a_10a1;

/// A context: the kernel's side of a queue.
#[derive(Debug)]
pub(super) struct Context {
    /// Where the kernel mapped the shared ring; 0 when destroyed.
    id: libc::c_ulong,
    /// Room for what is taken at once.
    events: Box<[Event]>,
}

impl Context {
    /// For so many operations at once.
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the call writes one number where `id` is.
        number(unsafe { libc::syscall(libc::SYS_io_setup, libc::c_ulong::from(depth), &raw mut id) })?;
        Ok(Self { id, events: vec![Event::default(); depth as usize].into_boxed_slice() })
    }

    /// The events of the last `take_shared` or `wait`.
    #[inline]
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Hands over blocks; gives how many were taken.
    ///
    /// # Safety
    /// `blocks` are `count` addresses of blocks. The memory that these name lives and is left alone until their completions,
    /// or until the context is destroyed.
    #[inline]
    pub(super) unsafe fn submit(&self, blocks: *mut *mut Control, count: usize) -> io::Result<usize> {
        // SAFETY: the caller's promise.
        number(unsafe { libc::syscall(libc::SYS_io_submit, self.id, count as libc::c_long, blocks) })
    }

    /// Takes up to `room` events, when `at_least` are there; gives how many.
    pub(super) fn wait(&mut self, at_least: usize, room: usize, patience: Patience) -> io::Result<usize> {
        let room = room.min(self.events.len());
        let (at_least, timeout_ns) = match patience {
            Patience::None => (0, Some(0)),
            Patience::Forever => (at_least.min(room), (at_least == 0).then_some(0)),
            Patience::Nanoseconds(ns) => (at_least.min(room), Some(if at_least == 0 { 0 } else { ns })),
        };
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as _,
        });
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        let (at_least, room) = (at_least as libc::c_long, room as libc::c_long);
        let events = self.events.as_mut_ptr();
        // SAFETY: there is room for `room` events, and the timeout lives until the call returns.
        number(unsafe { libc::syscall(libc::SYS_io_getevents, self.id, at_least, room, events, timeout) })
    }

    /// Whether the shared ring is of the form that is known here, so that events can be taken from it without a call.
    pub(super) fn is_ring_known(&self) -> bool {
        let ring = self.ring();
        // SAFETY: the kernel mapped the ring at the context's number, until it is destroyed.
        unsafe { (*ring).magic == MAGIC && (*ring).incompatible_features == 0 }
    }

    fn ring(&self) -> *const SharedRing {
        ptr::with_exposed_provenance(self.id as usize)
    }

    /// Takes up to `room` events from the shared ring, without a call; gives how many.
    ///
    /// # Safety
    /// The ring is known ([`Context::is_ring_known`]), and the context not destroyed.
    #[inline]
    pub(super) unsafe fn take_shared(&mut self, room: usize) -> usize {
        let ring = self.ring();
        // SAFETY: the caller's promise; only the two atomic numbers of the head change.
        let ring_head = unsafe { &*ring };
        let capacity = ring_head.capacity;
        let tail = ring_head.tail.load(Ordering::Acquire);
        // Nobody else moves the head: this thread has the queue alone.
        let mut head = ring_head.head.load(Ordering::Relaxed);
        // SAFETY: the events follow the head, in the same mapping.
        let events = unsafe { ring.add(1) }.cast::<Event>();
        let mut taken = 0;
        for event in self.events.iter_mut().take(room) {
            if head == tail {
                break;
            }
            // SAFETY: `head` is less than the capacity, and the kernel wrote this event before it moved the tail.
            *event = unsafe { ptr::read_volatile(events.add(head as usize)) };
            head = if head + 1 == capacity { 0 } else { head + 1 };
            taken += 1;
        }
        if taken > 0 {
            ring_head.head.store(head, Ordering::Release);
        }
        taken
    }

    /// Ends the context: cancels what can be cancelled and waits for the rest. False if the kernel refuses.
    pub(super) fn destroy(&mut self) -> bool {
        let id = std::mem::take(&mut self.id);
        // SAFETY: the number is forgotten, so that nothing uses the mapping any more.
        id == 0 || number(unsafe { libc::syscall(libc::SYS_io_destroy, id) }).is_ok()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.destroy();
    }
}

fn number(answer: libc::c_long) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layouts are the kernel's.
    #[test]
    fn layouts() {
        assert_eq!(size_of::<Control>(), 64);
        assert_eq!(std::mem::offset_of!(Control, command), 16);
        assert_eq!(std::mem::offset_of!(Control, address), 24);
        assert_eq!(std::mem::offset_of!(Control, offset), 40);
        assert_eq!(size_of::<Event>(), 32);
        assert_eq!(size_of::<SharedRing>(), 32);
    }

    #[test]
    fn the_shared_ring_is_where_the_context_says() {
        let mut context = Context::new(4).unwrap();
        assert!(context.is_ring_known());
        // SAFETY: known, and not destroyed yet.
        assert_eq!(unsafe { context.take_shared(4) }, 0);
        assert!(context.destroy());
    }
}
