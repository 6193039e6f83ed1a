//! Memory that direct I/O takes.
#![allow(unsafe_code, reason = "an aligned allocation, in this one place")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use flashmark_core::runner::BUFFER_ALIGN;

/// Zeroed bytes that start at a multiple of [`BUFFER_ALIGN`], or of what was asked for.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory alone, as a `Box<[u8]>` does.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// A buffer of `len` bytes, at least one; `None` if there is no memory for it.
    #[must_use]
    pub fn new(len: usize) -> Option<Self> {
        Self::aligned_to(len, BUFFER_ALIGN)
    }

    /// The same at a multiple of `align`, a power of two.
    #[must_use]
    pub fn aligned_to(len: usize, align: usize) -> Option<Self> {
        let layout = Layout::from_size_align(len.max(1), align).ok()?;
        // SAFETY: the size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Self { start: NonNull::new(start)?, layout })
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `size` initialised bytes that live and are borrowed as long as `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_zeroed_and_writable() {
        let mut buffer = AlignedBuffer::new(10_000).unwrap();
        assert_eq!(buffer.as_ptr() as usize % BUFFER_ALIGN, 0);
        assert!(buffer.iter().all(|b| *b == 0));
        buffer[9_999] = 1;
        assert_eq!(buffer.len(), 10_000);
        assert!(AlignedBuffer::new(usize::MAX).is_none());
    }
}
