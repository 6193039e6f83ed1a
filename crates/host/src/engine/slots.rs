//! The memory that a queue moves data through: a buffer for each slot, all in one piece, and which of them are under way.
#![allow(unsafe_code, reason = "an aligned allocation that the kernel and safe code use in turns")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use flashmark_core::queue::{ErrorCode, IoKind, Request};

use super::errno;
use super::setup::{EngineError, QueueSetup};

/// The least page of the systems that flashmark runs on.
const PAGE_BYTES: usize = 4096;

/// The buffers of a queue's slots, zeroed, and which slots are under way.
///
/// The memory of a slot under way cannot be had by safe code. An engine that hands it to the kernel keeps to two rules:
/// [`Slots::release`] only when the kernel is done with the slot, and `Slots` is dropped only when it is done with all of
/// them ([`Slots::leak`] otherwise).
#[derive(Debug)]
pub(super) struct Slots {
    start: NonNull<u8>,
    layout: Layout,
    /// From one slot's buffer to the next one's.
    stride: usize,
    buffer_bytes: usize,
    under_way: Box<[bool]>,
}

// SAFETY: the memory is owned alone, as that of a `Box<[u8]>` is; what the kernel does with it is bound to no thread.
unsafe impl Send for Slots {}

impl Slots {
    pub(super) fn new(setup: &QueueSetup) -> Result<Self, EngineError> {
        let QueueSetup { depth, buffer_bytes, buffer_align, .. } = *setup;
        let no_memory = || EngineError::Memory { depth, buffer_bytes };
        let stride = buffer_bytes.max(1).checked_next_multiple_of(buffer_align).ok_or_else(no_memory)?;
        let all = stride.checked_mul(depth as usize).ok_or_else(no_memory)?;
        // From the start of a page, so that they are on as few pages as can be.
        let layout = Layout::from_size_align(all, buffer_align.max(PAGE_BYTES)).map_err(|_| no_memory())?;
        // SAFETY: the size is not 0, as neither depth nor stride is.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(no_memory)?;
        let under_way = vec![false; depth as usize].into_boxed_slice();
        Ok(Self { start, layout, stride, buffer_bytes, under_way })
    }

    /// How many slots there are.
    #[inline]
    pub(super) fn depth(&self) -> u32 {
        // As many as were asked for as `u32`.
        self.under_way.len() as u32
    }

    /// Checks what the caller could have known; only what passes may be issued.
    #[inline]
    pub(super) fn check(&self, request: &Request, files: usize) -> Result<(), ErrorCode> {
        let Some(under_way) = self.under_way.get(request.slot as usize) else { return Err(errno::INVALID) };
        if *under_way {
            return Err(errno::BUSY);
        }
        let moved = matches!(request.kind, IoKind::Read | IoKind::Write);
        if request.file as usize >= files
            || (moved && request.bytes as usize > self.buffer_bytes)
            // An offset of -1 would mean the file's own position to some calls.
            || request.offset > i64::MAX as u64
        {
            return Err(errno::INVALID);
        }
        Ok(())
    }

    /// The buffer of a slot that is not under way.
    ///
    /// # Panics
    /// If the slot is under way or is not there.
    #[inline]
    pub(super) fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.under_way[slot as usize], "slot {slot} is under way: its memory is the kernel's");
        // SAFETY: inside of the allocation, since there is such a slot; initialised; nobody else has it, since the slot is
        // not under way and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot), self.buffer_bytes) }
    }

    /// Where the buffer of a slot starts. Whoever writes there or reads from there must have the slot under way.
    #[inline]
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for engines of Linux"))]
    pub(super) fn address(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.under_way.len());
        // SAFETY: inside of the allocation, since there is such a slot.
        unsafe { self.start.as_ptr().add(slot as usize * self.stride) }
    }
}

#[cfg(target_os = "linux")]
impl Slots {
    /// Takes a slot's memory away from safe code.
    #[inline]
    pub(super) fn occupy(&mut self, slot: u32) {
        self.under_way[slot as usize] = true;
    }

    /// Gives a slot's memory back to safe code; nothing if there is no such slot.
    ///
    /// # Safety
    /// Nobody else reads or writes it any more.
    #[inline]
    pub(super) unsafe fn release(&mut self, slot: u32) {
        if let Some(under_way) = self.under_way.get_mut(slot as usize) {
            *under_way = false;
        }
    }

    /// From one slot's buffer to the next one's, in bytes.
    pub(super) const fn stride(&self) -> usize {
        self.stride
    }

    /// All memory: where it starts, and how many bytes it has.
    pub(super) const fn memory(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.layout.size())
    }

    /// Never frees the memory: for what the kernel cannot be made to let go of.
    #[cold]
    pub(super) fn leak(&mut self) {
        self.start = NonNull::dangling();
        self.under_way = Box::default();
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Without slots it is leaked.
        if !self.under_way.is_empty() {
            // SAFETY: allocated in `new` with this layout, and nobody uses it any more (the rule above).
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}

/// A vector of one buffer for each slot, at an address that stays: for calls that take vectors.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Vectors(Box<[libc::iovec]>);

// SAFETY: the addresses are those of `Slots`, which may be sent as well; they are only used by the kernel and, for slots under
// way, by the engine that owns both.
#[cfg(target_os = "linux")]
unsafe impl Send for Vectors {}

#[cfg(target_os = "linux")]
impl Vectors {
    pub(super) fn new(slots: &Slots) -> Self {
        let vector = |slot| libc::iovec { iov_base: slots.address(slot).cast(), iov_len: slots.buffer_bytes };
        Self((0..slots.depth()).map(vector).collect())
    }

    /// The vector of a slot, for so many bytes.
    #[inline]
    pub(super) fn of(&mut self, slot: u32, bytes: u32) -> *mut libc::iovec {
        let vector = &mut self.0[slot as usize];
        vector.iov_len = bytes as usize;
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::QueueOptions;

    fn setup(depth: u32, buffer_bytes: usize, buffer_align: usize) -> QueueSetup {
        QueueSetup { files: Vec::new(), depth, buffer_bytes, buffer_align, options: QueueOptions::default() }
    }

    #[test]
    fn buffers_are_aligned_zeroed_and_apart() {
        let mut slots = Slots::new(&setup(3, 1000, 4096)).unwrap();
        for slot in 0..3 {
            let buffer = slots.buffer(slot);
            assert_eq!(buffer.as_ptr() as usize % 4096, 0);
            assert_eq!(buffer.len(), 1000);
            assert!(buffer.iter().all(|b| *b == 0));
            buffer.fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert!(slots.buffer(slot).iter().all(|b| *b == slot as u8 + 1));
        }
        assert!(matches!(Slots::new(&setup(u32::MAX, usize::MAX, 512)), Err(EngineError::Memory { .. })));
    }

    #[test]
    fn what_the_caller_could_have_known_is_checked() {
        let slots = Slots::new(&setup(2, 512, 512)).unwrap();
        let good = Request { slot: 1, kind: IoKind::Read, file: 0, offset: 0, bytes: 512 };
        assert_eq!(slots.check(&good, 1), Ok(()));
        assert_eq!(slots.check(&Request { slot: 2, ..good }, 1), Err(errno::INVALID));
        assert_eq!(slots.check(&Request { file: 1, ..good }, 1), Err(errno::INVALID));
        assert_eq!(slots.check(&Request { bytes: 513, ..good }, 1), Err(errno::INVALID));
        assert_eq!(slots.check(&Request { offset: u64::MAX, ..good }, 1), Err(errno::INVALID));
        assert_eq!(slots.check(&Request { bytes: 513, kind: IoKind::Trim, ..good }, 1), Ok(()));
    }

    #[test]
    #[should_panic(expected = "under way")]
    #[cfg(target_os = "linux")]
    fn the_memory_of_a_slot_under_way_is_out_of_reach() {
        let mut slots = Slots::new(&setup(1, 512, 512)).unwrap();
        slots.occupy(0);
        assert_eq!(
            slots.check(&Request { slot: 0, kind: IoKind::Sync, file: 0, offset: 0, bytes: 0 }, 1),
            Err(errno::BUSY)
        );
        slots.buffer(0);
    }
}
