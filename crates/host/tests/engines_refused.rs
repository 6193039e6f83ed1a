//! Queues that cannot be made, and what is said about it. In a program of its own: one of the tests takes all contexts of
//! libaio that the machine has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/mod.rs"]
mod support;

use std::fs::File;

use flashmark_host::engine::{EngineError, QueueOptions, QueueSetup, SubmissionThread, find};

const NONE: QueueOptions = QueueOptions {
    fixed_buffers: false,
    registered_files: false,
    poll: false,
    submission_thread: None,
    vectored: false,
    force_async: 0,
    userspace_reap: false,
};

fn setup(depth: u32, options: QueueOptions) -> QueueSetup {
    let files = vec![tempfile::tempfile().unwrap()];
    QueueSetup { files, depth, buffer_bytes: 512, buffer_align: 512, options }
}

fn refusal(engine: &str, setup: QueueSetup) -> EngineError {
    match find(engine).unwrap().queue(setup) {
        Ok(_) => panic!("{engine} made a queue"),
        Err(error) => error,
    }
}

#[test]
fn what_an_engine_does_not_have_is_refused_with_one_that_has_it() {
    let error = refusal("sync", setup(4, QueueOptions { fixed_buffers: true, ..NONE }));
    assert!(matches!(error, EngineError::Option { .. }));
    if cfg!(target_os = "linux") {
        assert_eq!(error.to_string(), "the engine `sync` has no fixed buffers: leave it out, or use io_uring");
    }
    let error = refusal("tokio", setup(2, NONE));
    assert!(matches!(error, EngineError::Depth { depth: 2, most: 1, .. }), "{error}");
    assert!(error.to_string().contains("threads"), "{error}");
    for (depth, buffer_align) in [(0, 512), (1, 0), (1, 513)] {
        let error = refusal("sync", QueueSetup { buffer_align, ..setup(depth, NONE) });
        assert!(matches!(error, EngineError::Setup { .. }), "{error}");
    }
    let huge = QueueSetup { buffer_bytes: usize::MAX / 2, ..setup(4, NONE) };
    assert!(matches!(refusal("null", huge), EngineError::Memory { .. }));
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use crate::support::{can_run, not_in_this_kernel};

    fn refused(engine: &str, setup: QueueSetup) -> String {
        let error = refusal(engine, setup);
        assert!(matches!(error, EngineError::Refused { .. }), "{error}");
        error.to_string()
    }

    #[test]
    fn options_of_the_ring_that_exclude_each_other() {
        let error = refusal("io_uring", setup(4, QueueOptions { fixed_buffers: true, vectored: true, ..NONE }));
        assert!(matches!(error, EngineError::Exclusive { .. }), "{error}");
        let deep = setup(1 << 20, NONE);
        assert!(matches!(refusal("io_uring", deep), EngineError::Depth { .. }));
    }

    #[test]
    fn only_direct_io_is_polled_for() {
        for engine in ["io_uring", "pvsync2"] {
            let text = refused(engine, setup(4, QueueOptions { poll: true, ..NONE }));
            assert!(text.contains("direct I/O") && text.contains("leave polling out"), "{text}");
        }
    }

    #[test]
    fn a_submission_thread_needs_a_processor_that_is_there() {
        let thread = Some(SubmissionThread { cpu: Some(1 << 20) });
        let text = refused("io_uring", setup(4, QueueOptions { submission_thread: thread, ..NONE }));
        assert!(text.contains("processor"), "{text}");
    }

    #[test]
    fn files_that_are_only_written_are_not_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("file")).unwrap();
        file.set_len(4096).unwrap();
        let text = refused("mmap", QueueSetup { files: vec![file], ..setup(1, NONE) });
        assert!(text.contains("for writing only") && text.contains("`sync`"), "{text}");
    }

    #[test]
    fn contexts_run_out() {
        let most: u32 = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap().trim().parse().unwrap();
        let deepest = find("libaio").unwrap().queue_side().unwrap().depth_max;
        if most > 4 * deepest {
            return not_in_this_kernel("a low fs.aio-max-nr");
        }
        let mut queues = Vec::new();
        let text = loop {
            match find("libaio").unwrap().queue(setup(deepest, NONE)) {
                Ok(queue) => queues.push(queue),
                Err(error) => break error.to_string(),
            }
            assert!(queues.len() <= 8);
        };
        for part in ["fs.aio-max-nr = ", "fs.aio-nr = ", "65536 operations", "`io_uring`"] {
            assert!(text.contains(part), "{text}");
        }
    }

    /// A thread of its own under a seccomp filter that has these calls fail.
    #[allow(unsafe_code, reason = "a filter for one thread")]
    fn without_calls<R: Send>(errno: i32, calls: &[libc::c_long], then: impl FnOnce() -> R + Send) -> R {
        let run = || {
            let statement = |code: u32, k: u32, jt: u8| libc::sock_filter { code: code as u16, jt, jf: 0, k };
            let (load, equal, answer) =
                (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ, libc::BPF_RET);
            let mut filter = vec![statement(load, 0, 0)];
            for (index, call) in calls.iter().enumerate() {
                filter.push(statement(equal, *call as u32, (calls.len() - index) as u8));
            }
            filter.push(statement(answer, libc::SECCOMP_RET_ALLOW, 0));
            filter.push(statement(answer, libc::SECCOMP_RET_ERRNO | errno as u32, 0));
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            // SAFETY: the program lives until both calls return; they concern this thread only.
            unsafe {
                assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
                assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
            }
            then()
        };
        std::thread::scope(|scope| scope.spawn(run).join().unwrap())
    }

    #[test]
    fn a_filter_forbids_the_calls() {
        let setup_call = [libc::SYS_io_uring_setup];
        let text = without_calls(libc::EPERM, &setup_call, || refused("io_uring", setup(4, NONE)));
        assert!(text.contains("seccomp") || text.contains("kernel.io_uring_disabled"), "{text}");
        assert!(text.contains("`libaio`"), "{text}");
        let text = without_calls(libc::ENOSYS, &setup_call, || refused("io_uring", setup(4, NONE)));
        assert!(text.contains("no io_uring"), "{text}");
        // The blocking side says the same.
        let error = without_calls(libc::ENOSYS, &setup_call, || find("io_uring").unwrap().make().err().unwrap());
        assert!(error.to_string().contains("no io_uring"), "{error}");
        let text = without_calls(libc::EPERM, &[libc::SYS_io_setup], || refused("libaio", setup(4, NONE)));
        assert!(text.contains("seccomp"), "{text}");
    }

    /// Memory that is registered is locked, which is limited without CAP_IPC_LOCK.
    #[test]
    #[allow(unsafe_code, reason = "a thread gives its capabilities away")]
    fn the_limit_of_locked_memory_is_named() {
        if !can_run(true, &[]) {
            return;
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
        let Some(limit) = limit.filter(|limit| *limit < 1 << 28) else {
            return not_in_this_kernel("a limit of locked memory");
        };
        let text = std::thread::spawn(move || {
            let header = [0x2008_0522_u32, 0];
            let none = [0_u32; 6];
            // SAFETY: version 3 of the header, for this thread, and two sets of three numbers.
            assert_eq!(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }, 0);
            let setup = QueueSetup {
                buffer_bytes: limit as usize,
                ..super::setup(2, QueueOptions { fixed_buffers: true, ..NONE })
            };
            refused("io_uring", setup)
        })
        .join()
        .unwrap();
        assert!(text.contains(&format!("RLIMIT_MEMLOCK is {limit} bytes")), "{text}");
        assert!(text.contains("`ulimit -l`") && text.contains("leave fixed buffers out"), "{text}");
    }
}
