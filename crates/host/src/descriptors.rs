//! A thread's own table of descriptors.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "descriptors of other threads are not seen any more")]

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Gives the calling thread a table of descriptors of its own: a copy, which it shares with nobody.
///
/// In a process with threads every system call on a file takes and drops a reference to it, since another thread might close it
/// meanwhile; where the table is the thread's own it need not. That is a fortieth of a microsecond a call.
///
/// From then on the thread must open the files that it uses itself, and keep them to itself: what others open is not in its
/// table, and what it opens is not in theirs. Where the kernel refuses, all stays as it was.
pub fn own() {
    // SAFETY: the caller's promise; what is open already is in both tables, under the same numbers, until each closes it.
    let _ = unsafe { unshare_unsafe(UnshareFlags::FILES) };
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn what_was_open_stays_open_and_what_is_opened_is_the_threads_own() {
        let mut before = File::open("/dev/zero").unwrap();
        let number = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                super::own();
                let mut byte = [1];
                before.read_exact(&mut byte).unwrap();
                let own = File::open("/dev/null").unwrap();
                let numbers = || std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
                assert!(numbers() > 0);
                own.as_raw_fd()
            });
            thread.join().unwrap()
        });
        assert!(number > before.as_raw_fd());
    }
}
