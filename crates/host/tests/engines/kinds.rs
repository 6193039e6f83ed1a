//! What each kind of operation does, and what errors become.

use std::fs::OpenOptions;

use flashmark_core::queue::{IoKind, RangeSync, Request};
use flashmark_host::engine::{QueueOptions, QueueSetup, find};

use crate::common::{BUFFER_BYTES, cases, new_file, open, reap_some, request, run};

#[test]
fn data_goes_where_it_is_told_in_several_files() {
    for case in cases() {
        let depth = case.depth(24);
        let mut queue = case.queue(vec![new_file(0), new_file(0), new_file(0)], depth);
        // The mapping of an empty file stays empty.
        if case.entry.name == "mmap" {
            queue = case.queue((0..3).map(|_| new_file(1 << 20)).collect(), depth);
        }
        assert_eq!(queue.depth(), depth);
        for turn in 0..48_u32 / depth {
            let at = |slot: u32| Request {
                file: slot % 3,
                ..request(slot, IoKind::Write, u64::from(turn * depth + slot) * 4096, 4096)
            };
            let writes: Vec<Request> = (0..depth).map(at).collect();
            for write in &writes {
                queue.buffer(write.slot).fill((turn * depth + write.slot) as u8 + 1);
            }
            assert!(run(&mut *queue, &writes).iter().all(|r| *r == Ok(4096)), "{case:?}");
            queue.drain().unwrap();
            // Other slots than those that wrote.
            let reads: Vec<Request> =
                writes.iter().map(|w| Request { slot: depth - 1 - w.slot, kind: IoKind::Read, ..*w }).collect();
            for slot in 0..depth {
                queue.buffer(slot).fill(0xff);
            }
            assert!(run(&mut *queue, &reads).iter().all(|r| *r == Ok(4096)), "{case:?}");
            for read in &reads {
                let expected = (turn * depth + depth - 1 - read.slot) as u8 + 1;
                assert!(queue.buffer(read.slot).iter().all(|b| *b == expected), "{case:?} {read:?}");
            }
        }
    }
}

#[test]
fn syncs_move_nothing_and_succeed() {
    for case in cases() {
        let mut queue = case.queue(vec![new_file(1 << 16)], case.depth(4));
        let steps = RangeSync { wait_before: true, write: true, wait_after: true };
        let mut kinds = vec![IoKind::Sync, IoKind::DataSync];
        if cfg!(target_os = "linux") {
            kinds
                .extend([IoKind::RangeSync(steps), IoKind::RangeSync(RangeSync { write: true, ..Default::default() })]);
        }
        for kind in kinds {
            queue.buffer(0).fill(3);
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Write, 8192, 4096)]), [Ok(4096)], "{case:?}");
            assert_eq!(run(&mut *queue, &[request(0, kind, 8192, 4096)]), [Ok(0)], "{case:?} {kind:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn trims_of_files_leave_zeros() {
    for case in cases() {
        let mut queue = case.queue(vec![new_file(1 << 16)], case.depth(4));
        for offset in [0, 4096, 8192] {
            queue.buffer(0).fill(9);
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Write, offset, 4096)]), [Ok(4096)]);
        }
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Trim, 4096, 4096)]), [Ok(0)], "{case:?}");
        for (offset, expected) in [(0, 9), (4096, 0), (8192, 9)] {
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, offset, 4096)]), [Ok(4096)]);
            assert!(queue.buffer(0).iter().all(|b| *b == expected), "{case:?} at {offset}");
        }
    }
}

/// `BLKDISCARD`, or the ring's command for it, on a loop device.
#[test]
#[cfg(target_os = "linux")]
fn trims_of_block_devices_leave_zeros() {
    use crate::support::{can_run, devices::Image};
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(4);
    let device = image.attach();
    for case in cases() {
        let file = open(&device.node, OpenOptions::new().read(true).write(true));
        let mut queue = case.queue(vec![file], case.depth(4));
        queue.buffer(0).fill(9);
        for offset in [0, 4096, 8192] {
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Write, offset, 4096)]), [Ok(4096)]);
        }
        queue.drain().unwrap();
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Sync, 0, 0)]), [Ok(0)]);
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Trim, 4096, 4096)]), [Ok(0)], "{case:?}");
        for (offset, expected) in [(0, 9), (4096, 0), (8192, 9)] {
            assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, offset, 4096)]), [Ok(4096)]);
            assert!(queue.buffer(0).iter().all(|b| *b == expected), "{case:?} at {offset}");
        }
    }
}

#[test]
fn a_read_at_the_end_of_the_file_is_short() {
    for case in cases() {
        let depth = case.depth(8);
        let mut queue = case.queue(vec![new_file(10_000)], depth);
        if depth == 8 {
            // Neighbours, so that those who gather them have to deal out what there is.
            let reads: Vec<Request> =
                (0..8).map(|slot| request(slot, IoKind::Read, u64::from(slot) * 1500, 1500)).collect();
            let expected = [1500, 1500, 1500, 1500, 1500, 1500, 1000, 0].map(Ok);
            assert_eq!(run(&mut *queue, &reads), expected, "{case:?}");
        }
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, 9_000, 4096)]), [Ok(1000)], "{case:?}");
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, 10_000, 4096)]), [Ok(0)], "{case:?}");
        assert_eq!(run(&mut *queue, &[request(0, IoKind::Read, 0, 0)]), [Ok(0)], "{case:?}");
    }
}

/// What the caller could have known is an error of `push`, and the slot stays free.
#[test]
#[cfg(target_os = "linux")]
fn nonsense_is_refused_at_once() {
    let mut all = cases();
    all.push(crate::common::Case { entry: find("null").unwrap(), options: QueueOptions::default() });
    for case in all {
        let depth = case.depth(2);
        let mut queue = case.queue(vec![new_file(4096)], depth);
        let good = request(0, IoKind::Read, 0, 4096);
        let errno =
            |queue: &mut dyn flashmark_core::queue::Queue, request: Request| queue.push(&request).unwrap_err().number();
        assert_eq!(errno(&mut *queue, Request { slot: depth, ..good }), libc::EINVAL, "{case:?}");
        assert_eq!(errno(&mut *queue, Request { file: 1, ..good }), libc::EINVAL);
        assert_eq!(errno(&mut *queue, Request { bytes: BUFFER_BYTES as u32 + 1, ..good }), libc::EINVAL);
        assert_eq!(errno(&mut *queue, Request { offset: u64::MAX, ..good }), libc::EINVAL);
        assert_eq!((queue.submit().unwrap(), queue.under_way()), (0, 0));
        if case.entry.queue_side().unwrap().concurrent {
            assert_eq!(queue.push(&good), Ok(None), "{case:?}");
            assert_eq!(errno(&mut *queue, good), libc::EBUSY, "{case:?}");
            let reached = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.buffer(0).len()));
            assert!(reached.is_err(), "{case:?}: the memory is the kernel's");
            assert_eq!(queue.under_way(), 0, "{case:?}: pushed only");
            assert_eq!(queue.submit(), Ok(1));
            assert_eq!(queue.under_way(), 1);
            let mut done = Vec::with_capacity(2);
            reap_some(&mut *queue, 9, &mut done);
            assert_eq!(done.len(), 1);
            assert_eq!(queue.under_way(), 0);
        }
        assert_eq!(run(&mut *queue, &[good]), [Ok(4096)]);
    }
}

/// Reads of a file that is open for writing only, in the middle of a deep queue of good writes.
#[test]
#[cfg(target_os = "linux")]
fn errors_in_the_middle_of_a_deep_queue_are_those_of_their_operations() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    open(&path, OpenOptions::new().write(true).create_new(true)).set_len(1 << 20).unwrap();
    for case in cases().into_iter().filter(|case| case.entry.name != "mmap") {
        let depth = case.depth(128);
        let mut queue = case.queue(vec![open(&path, OpenOptions::new().write(true))], depth);
        let kind = |slot| if slot % 5 == 2 { IoKind::Read } else { IoKind::Write };
        for turn in 0..128 / depth {
            let all: Vec<Request> =
                (0..depth).map(|slot| request(slot, kind(turn * depth + slot), u64::from(slot) * 4096, 4096)).collect();
            for (request, result) in all.iter().zip(run(&mut *queue, &all)) {
                let expected = if request.kind == IoKind::Read { Err(libc::EBADF) } else { Ok(4096) };
                assert_eq!(result, expected, "{case:?} {request:?}");
            }
        }
    }
}

/// A device that fails where its backing file ends.
#[test]
#[cfg(target_os = "linux")]
fn a_device_error_in_the_middle_of_a_deep_queue_is_that_of_its_operations() {
    use crate::support::{can_run, devices::Image};
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(2);
    let device = image.attach();
    open(&image.path, OpenOptions::new().write(true)).set_len(1 << 20).unwrap();
    for case in cases() {
        let depth = case.depth(64);
        let mut queue = case.queue(vec![open(&device.node, OpenOptions::new().read(true))], depth);
        for turn in 0..64 / depth {
            // Every other one is behind the end of what there is, far enough that reading ahead does not mix them.
            let offset = |n: u32| u64::from(n / 2) * 4096 + if n % 2 == 1 { (1 << 20) + (1 << 19) } else { 0 };
            let reads: Vec<Request> =
                (0..depth).map(|slot| request(slot, IoKind::Read, offset(turn * depth + slot), 4096)).collect();
            for (request, result) in reads.iter().zip(run(&mut *queue, &reads)) {
                let good = request.offset < 1 << 20;
                assert_eq!(result, if good { Ok(4096) } else { Err(libc::EIO) }, "{case:?} {request:?}");
            }
        }
    }
}

#[test]
fn buffers_are_aligned_as_asked_for() {
    for case in cases() {
        for buffer_align in [1, 512, 4096, 1 << 16] {
            let depth = case.depth(5);
            let files = vec![new_file(4096)];
            let setup = QueueSetup { files, depth, buffer_bytes: 1000, buffer_align, options: case.options };
            let mut queue = case.entry.queue(setup).unwrap();
            for slot in 0..depth {
                let buffer = queue.buffer(slot);
                assert_eq!((buffer.as_ptr() as usize % buffer_align, buffer.len()), (0, 1000), "{case:?}");
                assert!(buffer.iter().all(|b| *b == 0));
            }
        }
    }
}

#[test]
fn null_does_nothing_at_once() {
    let case = crate::common::Case { entry: find("null").unwrap(), options: QueueOptions::default() };
    let file = new_file(0);
    let mut queue = case.queue(vec![file.try_clone().unwrap()], 1000);
    let writes: Vec<Request> = (0..1000).map(|slot| request(slot, IoKind::Write, 1 << 40, 4096)).collect();
    assert!(run(&mut *queue, &writes).iter().all(|r| *r == Ok(4096)));
    assert_eq!(run(&mut *queue, &[request(0, IoKind::Sync, 0, 0)]), [Ok(0)]);
    assert_eq!(file.metadata().unwrap().len(), 0);
}
