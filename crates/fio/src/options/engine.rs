//! How I/O is issued (fio HOWTO, "I/O engine", "I/O engine specific parameters" and "I/O depth").

use super::effects;
use super::table::options;
use crate::value::choice::{choice, choice_but, words};
use crate::value::quantity::count32;
use crate::value::{Misfit, Part, Scope, boolean, some, switch};

words! {
    /// What issues I/O.
    Engine:
    /// `lseek` with `read` and `write`.
    Sync = "sync",
    /// `pread` and `pwrite`.
    Psync = "psync",
    /// Neighbouring requests together, `readv` and `writev`.
    Vsync = "vsync",
    /// `preadv` and `pwritev`.
    Pvsync = "pvsync",
    /// `preadv2` and `pwritev2`.
    Pvsync2 = "pvsync2",
    /// Linux's old asynchronous calls.
    Libaio = "libaio",
    /// Linux's rings.
    IoUring = "io_uring",
    /// Memory that is mapped to a file.
    Mmap = "mmap",
    /// Nothing is done, which shows what all the rest costs.
    Null = "null",
}

impl Engine {
    /// Whether one request at a time is in flight, whatever `iodepth` says.
    #[must_use]
    pub const fn is_synchronous(self) -> bool {
        !matches!(self, Self::Libaio | Self::IoUring | Self::Null)
    }
}

const NOT_STORAGE: &str = "it is about something other than storage";
const NETWORK: &str =
    "it reaches storage over the network by a protocol of its own; mount it and use io_uring or libaio";
const PASS_THROUGH: &str = "commands are not passed through to devices; use io_uring with direct=1 on the block device";
const META: &str = "operations on whole files are measured by flashmark's own suites";

const OTHER_ENGINES: &[(&str, &str)] = &[
    ("posixaio", "use libaio or io_uring"),
    ("solarisaio", "use libaio or io_uring"),
    ("windowsaio", "use libaio or io_uring"),
    ("splice", "use psync"),
    ("netsplice", NETWORK),
    ("net", NETWORK),
    ("rdma", NETWORK),
    ("rbd", NETWORK),
    ("rados", NETWORK),
    ("gfapi", NETWORK),
    ("gfapi_async", NETWORK),
    ("libhdfs", NETWORK),
    ("ime_psync", NETWORK),
    ("ime_psyncv", NETWORK),
    ("ime_aio", NETWORK),
    ("http", NETWORK),
    ("nbd", NETWORK),
    ("dfs", NETWORK),
    ("nfs", NETWORK),
    ("libiscsi", NETWORK),
    ("sg", PASS_THROUGH),
    ("io_uring_cmd", PASS_THROUGH),
    ("xnvme", PASS_THROUGH),
    ("libblkio", PASS_THROUGH),
    ("libzbc", PASS_THROUGH),
    ("mtd", "raw flash is measured by flashmark's boards"),
    ("cpuio", NOT_STORAGE),
    ("exec", NOT_STORAGE),
    ("page_fault", NOT_STORAGE),
    ("cpp_null", "use null"),
    ("e4defrag", META),
    ("falloc", META),
    ("ftruncate", META),
    ("filecreate", META),
    ("filestat", META),
    ("filedelete", META),
    ("dircreate", META),
    ("dirstat", META),
    ("dirdelete", META),
    ("libpmem", "use mmap on a file system with DAX"),
    ("dev-dax", "use mmap on a file system with DAX"),
    ("libcufile", "use io_uring"),
    ("libhipfile", "use io_uring"),
    ("external", "engines cannot be loaded from files; use io_uring, libaio or psync"),
];

words! {
    /// Who issues and who waits.
    SubmitMode:
    /// The job itself.
    Inline = "inline",
    /// Threads of their own.
    Offload = "offload",
}

words! {
    /// Whether each write reaches the medium before it is done.
    SyncMode:
    /// It need not.
    None = "none" | "0",
    /// `O_SYNC`.
    Sync = "sync" | "1",
    /// `O_DSYNC`.
    Dsync = "dsync",
}

/// When `sync_file_range` is called and with what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// `SYNC_FILE_RANGE_WAIT_BEFORE`.
    pub wait_before: bool,
    /// `SYNC_FILE_RANGE_WRITE`.
    pub write: bool,
    /// `SYNC_FILE_RANGE_WAIT_AFTER`.
    pub wait_after: bool,
    /// After how many writes.
    pub every: u32,
}

#[derive(Clone, Copy)]
enum SyncFlag {
    WaitBefore,
    Write,
    WaitAfter,
}

const SYNC_FLAGS: &[(&str, SyncFlag)] =
    &[("wait_before", SyncFlag::WaitBefore), ("write", SyncFlag::Write), ("wait_after", SyncFlag::WaitAfter)];

fn sync_file_range(part: Part<'_>, scope: &mut Scope) -> Result<SyncFileRange, Misfit> {
    let mut range = SyncFileRange { every: 1, ..SyncFileRange::default() };
    for piece in part.trimmed().split(',') {
        let (word, every) = piece.split_once(':').map_or((piece, None), |(word, every)| (word, Some(every)));
        match crate::value::choice::pick(word.trimmed(), SYNC_FLAGS)? {
            SyncFlag::WaitBefore => range.wait_before = true,
            SyncFlag::Write => range.write = true,
            SyncFlag::WaitAfter => range.wait_after = true,
        }
        if let Some(every) = every {
            range.every = count32(1, u32::MAX)(every, scope)?;
        }
    }
    Ok(range)
}

options! {
    /// How I/O is issued.
    EngineOptions in engine;
    fields {
        /// What issues it.
        ioengine: Engine = Engine::Psync, "ioengine" [] => choice_but(Engine::ALL, OTHER_ENGINES);
        /// How many requests are in flight.
        iodepth: u32 = 1, "iodepth" [] => count32(1, u32::MAX);
        /// How many are submitted together; 0 is as many as `iodepth`.
        iodepth_batch: u32 = 1, "iodepth_batch" ["iodepth_batch_submit"] => count32(0, u32::MAX);
        /// How many are waited for together, at least.
        iodepth_batch_complete_min: u32 = 1, "iodepth_batch_complete_min" ["iodepth_batch_complete"]
            => count32(0, u32::MAX);
        /// How many completions are taken together, at most; 0 is `iodepth_batch_complete_min`.
        iodepth_batch_complete_max: u32 = 0, "iodepth_batch_complete_max" [] => count32(0, u32::MAX);
        /// Down to how many the queue runs before it is filled again; 0 is `iodepth`.
        iodepth_low: u32 = 0, "iodepth_low" [] => count32(0, u32::MAX);
        /// Whether requests that overlap wait for each other.
        serialize_overlap: bool = false, "serialize_overlap" [] => boolean;
        /// Who issues.
        io_submit_mode: SubmitMode = SubmitMode::Inline, "io_submit_mode" [] => choice(SubmitMode::ALL);
        /// Whether the page cache is left out.
        direct: bool = false, "direct" [] => boolean;
        /// Whether writes wait for the medium.
        sync: SyncMode = SyncMode::None, "sync" [] => choice(SyncMode::ALL);
        /// After how many writes the file is synced; 0 is never.
        fsync: u32 = 0, "fsync" [] => count32(0, u32::MAX);
        /// As `fsync`, data only.
        fdatasync: u32 = 0, "fdatasync" [] => count32(0, u32::MAX);
        /// When a range is synced.
        sync_file_range: Option<SyncFileRange> = None, "sync_file_range" [] => some(sync_file_range);
        /// Whether completions are polled for.
        hipri: bool = false, "hipri" [] => switch, bare, of "io_uring" "pvsync2";
        /// Whether buffers are registered.
        fixedbufs: bool = false, "fixedbufs" [] => switch, bare, of "io_uring";
        /// Whether files are registered.
        registerfiles: bool = false, "registerfiles" [] => switch, bare, of "io_uring";
        /// Whether a thread of the kernel takes submissions.
        sqthread_poll: bool = false, "sqthread_poll" [] => switch, bare, of "io_uring";
        /// On which processor that thread runs.
        sqthread_poll_cpu: Option<u32> = None, "sqthread_poll_cpu" [] => some(count32(0, 8191)), of "io_uring";
        /// Whether reads and writes have one buffer each instead of a vector; nothing is what the kernel can.
        nonvectored: Option<bool> = None, "nonvectored" [] => some(switch), of "io_uring";
        /// How often a request is handed to the kernel's threads at once: each so many; 0 is never.
        force_async: u32 = 0, "force_async" [] => count32(0, u32::MAX), of "io_uring";
        /// Whether completions are read from the ring without a call.
        userspace_reap: bool = false, "userspace_reap" [] => switch, bare, of "libaio";
        /// Whether vectors are used.
        libaio_vectored: bool = false, "libaio_vectored" [] => boolean, of "libaio";
    }
    triples {}
    also {
        "buffered" [] => effects::buffered;
    }
}
