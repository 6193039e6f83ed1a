//! Entering the kernel, which is `io_uring_enter(2)`.
//!
//! The call is made in place and not through libc: coming back from the kernel, processors have forgotten where functions
//! return to, so that each level between the loop and the call costs.
#![allow(unsafe_code, reason = "system calls whose arguments are memory and numbers")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring};
use rustix::io_uring::{
    IoringEnterFlags, IoringRegisterOp, io_uring_enter, io_uring_ptr, io_uring_register, io_uring_rsrc_update,
};

/// A ring's place among those that a thread has registered (since Linux 5.18), which spares the kernel the way from the ring's
/// descriptor with each call.
#[derive(Debug)]
pub(super) struct Place(RawFd);

impl Place {
    /// Registers a ring with the calling thread, on which alone the place is good. Nothing if the kernel has none to give.
    pub(super) fn take(uring: &IoUring) -> Option<Self> {
        let mut update = io_uring_rsrc_update::default();
        update.offset = u32::MAX;
        update.data = io_uring_ptr::new(uring.as_raw_fd() as usize as *mut _);
        let registered = Self::call(uring, IoringRegisterOp::RegisterRingFds, &mut update);
        // The kernel tells how many were registered, and where.
        let place = RawFd::try_from(update.offset).ok()?;
        (registered == Ok(1)).then_some(Self(place))
    }

    /// Gives the place back. On another thread than its own, which then keeps it to its end, that fails.
    pub(super) fn leave(self, uring: &IoUring) {
        let mut update = io_uring_rsrc_update::default();
        update.offset = self.0.cast_unsigned();
        let _ = Self::call(uring, IoringRegisterOp::UnregisterRingFds, &mut update);
    }

    fn call(
        uring: &IoUring,
        operation: IoringRegisterOp,
        update: &mut io_uring_rsrc_update,
    ) -> rustix::io::Result<u32> {
        // SAFETY: the descriptor is open as long as the ring is there; the argument is one structure of the type that both
        // operations read and write.
        unsafe {
            let ring = BorrowedFd::borrow_raw(uring.as_raw_fd());
            io_uring_register(ring, operation, std::ptr::from_mut(update).cast(), 1)
        }
    }
}

/// Enters the kernel with a ring. `place` is the ring's, on this thread. Gives how many entries were taken, at most `to_submit`.
///
/// # Safety
/// What the entries that are pushed name lives and is left alone until they are complete.
#[inline(always)]
pub(super) unsafe fn enter(
    uring: &IoUring,
    place: Option<&Place>,
    to_submit: u32,
    min_complete: u32,
    flags: EnterFlags,
    timeout: Option<Duration>,
) -> io::Result<u32> {
    if let Some(timeout) = timeout {
        // SAFETY: the caller's promise.
        return unsafe { enter_timed(uring, to_submit, min_complete, flags, timeout) };
    }
    let flags = IoringEnterFlags::from_bits_retain(flags.bits());
    // SAFETY: the caller's promise. With its flag, the number is no descriptor but a place, which the kernel looks up; without, it
    // is the descriptor of the ring, which is open as long as the ring is there.
    let taken = unsafe {
        match place {
            Some(place) => {
                let flags = flags | IoringEnterFlags::REGISTERED_RING;
                io_uring_enter(BorrowedFd::borrow_raw(place.0), to_submit, min_complete, flags)
            }
            None => io_uring_enter(BorrowedFd::borrow_raw(uring.as_raw_fd()).as_fd(), to_submit, min_complete, flags),
        }
    };
    Ok(taken?)
}

/// As [`enter`], waiting for so long at most.
#[inline(never)]
unsafe fn enter_timed(
    uring: &IoUring,
    to_submit: u32,
    min_complete: u32,
    flags: EnterFlags,
    timeout: Duration,
) -> io::Result<u32> {
    let timespec = Timespec::from(timeout);
    let arguments = SubmitArgs::new().timespec(&timespec);
    let flags = (flags | EnterFlags::EXT_ARG).bits();
    // SAFETY: the caller's promise; the argument is of the type that this flag tells of, and lives until the call returns.
    let taken = unsafe { uring.submitter().enter(to_submit, min_complete, flags, Some(&arguments)) }?;
    Ok(taken as u32)
}
