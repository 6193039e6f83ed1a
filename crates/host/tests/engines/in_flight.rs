//! What is under way when patience ends, when a signal arrives, and when a queue is dropped.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

use flashmark_core::queue::{IoKind, Patience, Queue, Request};
use flashmark_host::engine::{QueueOptions, find};

use crate::common::{Case, cases, new_file, request, run};

/// Rings, with the options that make a difference to how operations end.
fn rings() -> Vec<Case> {
    cases().into_iter().filter(|case| case.entry.name == "io_uring").collect()
}

/// A pipe that nothing is written to: a read of it is under way until it is cancelled.
fn silent_pipe() -> (File, File) {
    let (reader, writer) = std::io::pipe().unwrap();
    (File::from(std::os::fd::OwnedFd::from(reader)), File::from(std::os::fd::OwnedFd::from(writer)))
}

fn push_all(queue: &mut dyn Queue, kind: IoKind, count: u32) {
    for slot in 0..count {
        assert_eq!(queue.push(&request(slot, kind, 0, 4096)), Ok(None));
    }
    let mut taken = 0;
    while taken < count {
        taken += queue.submit().unwrap();
    }
    assert_eq!(queue.under_way(), count);
}

#[test]
fn patience_ends() {
    for case in rings() {
        let (reader, mut writer) = silent_pipe();
        let mut queue = case.queue(vec![reader], 4);
        push_all(&mut *queue, IoKind::Read, 3);
        let mut done = Vec::with_capacity(4);
        queue.reap(1, Patience::None, &mut done).unwrap();
        queue.reap(0, Patience::Forever, &mut done).unwrap();
        assert!(done.is_empty());
        let before = Instant::now();
        queue.reap(1, Patience::Nanoseconds(20_000_000), &mut done).unwrap();
        assert!(before.elapsed() >= Duration::from_millis(20), "{case:?}");
        assert_eq!(queue.push(&request(3, IoKind::Read, 0, 4096)), Ok(None));
        let before = Instant::now();
        assert_eq!(queue.submit_and_reap(1, Patience::Nanoseconds(20_000_000), &mut done), Ok(1));
        assert!(before.elapsed() >= Duration::from_millis(20), "{case:?}");
        assert!(done.is_empty());
        writer.write_all(b"now").unwrap();
        queue.reap(1, Patience::Nanoseconds(u64::MAX), &mut done).unwrap();
        assert_eq!(done.len(), 1);
        assert_eq!(done[0].result, Ok(3));
        assert_eq!(&queue.buffer(done[0].slot)[..3], b"now");
        assert_eq!(queue.under_way(), 3);
    }
}

#[test]
#[allow(unsafe_code, reason = "a signal for one thread")]
fn a_signal_ends_a_wait_and_nothing_else() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: a handler that does nothing; without SA_RESTART, so that calls are interrupted.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
    for case in rings() {
        for both in [false, true] {
            let (reader, mut writer) = silent_pipe();
            let mut queue = case.queue(vec![reader], 2);
            push_all(&mut *queue, IoKind::Read, 1);
            if both {
                assert_eq!(queue.push(&request(1, IoKind::Read, 0, 4096)), Ok(None));
            }
            // SAFETY: the number of this thread, which outlives the other one.
            let waiting = unsafe { libc::pthread_self() };
            let stop = std::sync::atomic::AtomicBool::new(false);
            let mut done = Vec::with_capacity(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // Again and again, since the first one can come before the wait.
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        // SAFETY: the thread lives.
                        unsafe { libc::pthread_kill(waiting, libc::SIGUSR1) };
                        std::thread::sleep(Duration::from_millis(5));
                    }
                });
                if both {
                    queue.submit_and_reap(2, Patience::Forever, &mut done).unwrap();
                } else {
                    queue.reap(1, Patience::Forever, &mut done).unwrap();
                }
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            assert!(done.is_empty(), "{case:?}");
            // What was under way still is.
            writer.write_all(b"x").unwrap();
            queue.reap(1, Patience::Forever, &mut done).unwrap();
            assert_eq!(done.len(), 1, "{case:?}");
        }
    }
}

/// Operations that never end by themselves: dropping the queue cancels them all.
#[test]
fn a_full_queue_is_dropped_at_once() {
    for case in rings() {
        for depth in [1, 4096] {
            let (reader, mut writer) = silent_pipe();
            let mut queue = case.queue(vec![reader.try_clone().unwrap()], depth);
            push_all(&mut *queue, IoKind::Read, depth);
            drop(queue);
            // Nobody waits for the data any more, so that it is there for others.
            writer.write_all(b"left").unwrap();
            let mut left = [0; 4];
            (&reader).read_exact(&mut left).unwrap();
            assert_eq!(&left, b"left", "{case:?}");
        }
    }
}

/// Direct reads on a real file system, which a device has when the queue goes.
#[test]
fn a_full_queue_of_direct_reads_is_dropped() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, vec![5; 1 << 20]).unwrap();
    let how = &mut OpenOptions::new();
    how.read(true).write(true).custom_flags(libc::O_DIRECT);
    let Ok(file) = how.open(&path) else {
        crate::support::not_in_this_kernel("direct I/O on the file system of the project");
        return;
    };
    for case in cases().into_iter().filter(|case| case.entry.queue_side().unwrap().concurrent) {
        let mut queue = case.queue(vec![file.try_clone().unwrap()], 4096);
        push_all(&mut *queue, IoKind::Read, 4096);
        drop(queue);
    }
    assert!(std::fs::read(&path).unwrap().iter().all(|b| *b == 5));
}

/// The deepest queue of an engine, to its end. (That of libaio depends on what else the machine has.)
#[test]
fn the_deepest_ring_works() {
    let case = Case { entry: find("io_uring").unwrap(), options: QueueOptions::default() };
    let depth = case.entry.queue_side().unwrap().depth_max;
    let mut queue = case.queue(vec![new_file(1 << 20)], depth);
    let reads: Vec<Request> =
        (0..depth).map(|slot| request(slot, IoKind::Read, u64::from(slot % 256) * 4096, 4096)).collect();
    assert!(run(&mut *queue, &reads).iter().all(|r| *r == Ok(4096)));
}

/// What was pushed and not submitted is not done because the queue goes.
#[test]
fn what_is_only_pushed_does_not_happen() {
    for case in cases().into_iter().filter(|case| case.entry.queue_side().unwrap().concurrent) {
        let file = new_file(1 << 16);
        let mut queue = case.queue(vec![file.try_clone().unwrap()], 8);
        queue.buffer(0).fill(1);
        queue.buffer(1).fill(1);
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, 0, 4096)]), [Ok(0).map(|_: u32| 4096)]);
        queue.buffer(0).fill(1);
        assert_eq!(queue.push(&request(0, IoKind::Write, 0, 4096)), Ok(None));
        assert_eq!(queue.push(&request(1, IoKind::Write, 8192, 4096)), Ok(None));
        queue.reap(2, Patience::Nanoseconds(1_000_000), &mut Vec::with_capacity(8)).unwrap();
        drop(queue);
        let mut all = Vec::new();
        (&file).read_to_end(&mut all).unwrap();
        assert!(all.iter().all(|b| *b == 0), "{case:?}");
    }
}

/// Made on one thread, used on another, dropped on a third with operations under way: nothing is freed that the kernel has.
#[test]
fn queues_can_be_sent() {
    for case in cases() {
        let mut queue = case.queue(vec![new_file(1 << 16)], case.depth(8));
        std::thread::spawn(move || {
            queue.buffer(0).fill(4);
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Write, 0, 4096)]), [Ok(4096)]);
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, 0, 4096)]), [Ok(4096)]);
        })
        .join()
        .unwrap();
    }
    for case in rings() {
        let (reader, writer) = silent_pipe();
        let mut queue = case.queue(vec![reader], 8);
        push_all(&mut *queue, IoKind::Read, 8);
        std::thread::spawn(move || drop(queue)).join().unwrap();
        drop(writer);
    }
}
