//! Bus errors in mappings, made harmless.
//!
//! Touching a mapped page that the file does not have any more, or that the medium cannot read, is a SIGBUS. For the ranges
//! that are guarded, the handler puts an empty page of memory in the place and notes it; the copy goes on, and whoever made it
//! looks whether there was a note. Every other bus error goes where it went before there was a handler.
//!
//! The list of ranges is only ever added to, and entries are used again, so that a handler can read it at any time.
#![allow(unsafe_code, reason = "a signal handler")]

use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};

/// An entry of the list. An end of 0 guards nothing.
#[derive(Debug)]
struct Range {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    hit: AtomicBool,
    next: Option<&'static Range>,
}

static RANGES: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());
static BEFORE: OnceLock<Result<Before, i32>> = OnceLock::new();

struct Before {
    action: libc::sigaction,
    page_bytes: usize,
}

/// A range of memory in which bus errors are noted.
#[derive(Debug)]
pub(super) struct Guard(&'static Range);

impl Guard {
    /// Guards a mapping, from `start` on. Sets the handler up when it is the first one.
    ///
    /// # Errors
    /// The system's error if there can be no handler.
    pub(super) fn new(start: usize, bytes: usize) -> io::Result<Self> {
        if let Err(errno) = BEFORE.get_or_init(install) {
            return Err(io::Error::from_raw_os_error(*errno));
        }
        let range = free_range();
        range.hit.store(false, Ordering::Relaxed);
        range.start.store(start, Ordering::Relaxed);
        range.end.store(start + bytes, Ordering::Release);
        Ok(Self(range))
    }

    /// Whether there was a bus error in the range since it was last reset.
    #[inline]
    pub(super) fn was_hit(&self) -> bool {
        // The handler runs on this thread, in the middle of the copy before.
        compiler_fence(Ordering::SeqCst);
        self.0.hit.load(Ordering::Relaxed)
    }

    /// Forgets bus errors.
    pub(super) fn reset(&self) {
        self.0.hit.store(false, Ordering::Relaxed);
    }

    /// Ends guarding, before the range is unmapped.
    pub(super) fn release(&self) {
        self.0.end.store(0, Ordering::Release);
        self.0.taken.store(false, Ordering::Release);
    }
}

/// An entry that nobody has: one of the list, or a new one.
fn free_range() -> &'static Range {
    let mut entry = first();
    while let Some(range) = entry {
        if range.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return range;
        }
        entry = range.next;
    }
    let mut new = Box::new(Range {
        taken: AtomicBool::new(true),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        hit: AtomicBool::new(false),
        next: None,
    });
    let mut head = RANGES.load(Ordering::Acquire);
    loop {
        // SAFETY: what is in the list is never freed.
        new.next = unsafe { head.as_ref() };
        let raw = Box::into_raw(new);
        match RANGES.compare_exchange_weak(head, raw, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it is in the list now, and never freed.
            Ok(_) => return unsafe { &*raw },
            Err(now) => {
                head = now;
                // SAFETY: it did not get into the list, so that it is ours alone.
                new = unsafe { Box::from_raw(raw) };
            }
        }
    }
}

fn first() -> Option<&'static Range> {
    // SAFETY: what is in the list is never freed.
    unsafe { RANGES.load(Ordering::Acquire).as_ref() }
}

/// Sets the handler up; the result is what was there before.
fn install() -> Result<Before, i32> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // The handler needs what was there before it can run, so that it is asked for first.
    // SAFETY: all zeros is a valid value, and the call writes one.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no new action, only asking.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut action) } != 0 {
        return Err(errno());
    }
    let before = Before { action, page_bytes: rustix::param::page_size() };
    // SAFETY: as above.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
    new.sa_sigaction = handler as usize;
    // On the thread's other stack, where it has one: what was there before may have to find that the stack is full.
    new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler is one of three arguments, as the flags say, and makes only calls that are safe in one.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const new, ptr::null_mut()) } != 0 {
        return Err(errno());
    }
    Ok(before)
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(Ok(before)) = BEFORE.get() else { return };
    // SAFETY: the kernel gives the handler a valid value, which for SIGBUS has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let mut entry = first();
    while let Some(range) = entry {
        let end = range.end.load(Ordering::Acquire);
        if (range.start.load(Ordering::Relaxed)..end).contains(&address) {
            let page = ptr::without_provenance_mut::<libc::c_void>(address & !(before.page_bytes - 1));
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: replaces a page of a mapping of this engine, to which there are no borrows.
            if unsafe { libc::mmap(page, before.page_bytes, protection, flags, -1, 0) } != libc::MAP_FAILED {
                range.hit.store(true, Ordering::Relaxed);
                return;
            }
        }
        entry = range.next;
    }
    pass_on(before, signal, info, context);
}

/// Does what was done before there was a handler.
fn pass_on(before: &Before, signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let handler = before.action.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The access is repeated when the handler returns, and then ends the process.
        // SAFETY: puts back what was there.
        unsafe { libc::sigaction(signal, &raw const before.action, ptr::null_mut()) };
    } else if before.action.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: a handler of three arguments, as its flags say; the standard library's is one.
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: a handler of one argument, as its flags say.
        let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}
