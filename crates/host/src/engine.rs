//! Engines: how the I/O of a real target is issued. One file each; a new one adds its file and a line in [`ENGINES`].
//!
//! An engine has up to two sides: the blocking one ([`Engine`]), an operation at a time on one file; and queues
//! ([`flashmark_core::queue::Queue`]), many at a time on several files, in buffers that the queue owns.

mod calls;
mod errno;
mod inline;
#[cfg(target_os = "linux")]
mod io_uring;
#[cfg(target_os = "linux")]
mod libaio;
#[cfg(target_os = "linux")]
mod mmap;
mod null;
#[cfg(target_os = "linux")]
mod polled;
#[cfg(target_os = "linux")]
mod pvsync;
#[cfg(target_os = "linux")]
mod pvsync2;
mod setup;
mod slots;
mod sync;
mod threads;
mod tokio;
#[cfg(target_os = "linux")]
mod vsync;

pub use setup::{EngineError, QueueOption, QueueOptions, QueueSetup, SubmissionThread};

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use flashmark_core::queue::Queue;

/// Issues I/O on one open file.
pub trait Engine {
    /// Opens `path` as told; whatever was open before is closed.
    ///
    /// # Errors
    /// The system's error.
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()>;

    /// Closes the file; nothing happens if none is open.
    ///
    /// # Errors
    /// An operation that fails only now.
    fn close(&mut self) -> io::Result<()>;

    /// Reads at `offset`, once: a short count is the system's.
    ///
    /// # Errors
    /// The system's error; an interrupted call is repeated.
    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes at `offset`, once: a short count is the system's.
    ///
    /// # Errors
    /// The system's error; an interrupted call is repeated.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize>;

    /// Makes written data durable (`fdatasync`: the data and what is needed to find it again).
    ///
    /// # Errors
    /// The system's error.
    fn sync(&mut self) -> io::Result<()>;

    /// Waits until everything issued is complete.
    ///
    /// # Errors
    /// An operation that fails only now.
    fn drain(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Sets the length of the open file.
    ///
    /// # Errors
    /// The system's error.
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;

    /// Runs `look` on the open file, outside of any measurement.
    ///
    /// # Errors
    /// If no file is open, and what `look` returns.
    fn with_file(&mut self, look: &mut dyn FnMut(&std::fs::File) -> io::Result<()>) -> io::Result<()>;
}

type MakeBlocking = fn() -> io::Result<Box<dyn Engine>>;
type MakeQueue = fn(QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError>;

/// An engine in the registry.
#[derive(Clone, Copy)]
pub struct EngineEntry {
    /// Its name in suites and on the command line; fio's, where fio has the engine.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Whether it can pass the page cache by. One that copies through memory of its own cannot.
    pub direct: bool,
    /// How many operations its blocking side keeps under way. For queues see [`QueueSide::depth_max`].
    pub queue_depth_max: u32,
    blocking: Option<MakeBlocking>,
    queue: Option<QueueSide>,
}

/// What an engine's queues can do.
#[derive(Clone, Copy)]
pub struct QueueSide {
    /// The deepest queue.
    pub depth_max: u32,
    /// What can be asked for in [`QueueSetup::options`].
    pub options: &'static [QueueOption],
    /// Whether operations run beside each other. If not, each is complete when it is pushed or submitted, and a deeper
    /// queue is no faster, but for what is gathered into one call.
    pub concurrent: bool,
    /// Whether neighbours that are submitted together go in one call: a deeper queue makes fewer calls then.
    pub gathers: bool,
    make: MakeQueue,
}

impl EngineEntry {
    /// Whether it has a blocking side, as [`EngineEntry::make`] gives it.
    #[must_use]
    pub const fn has_blocking_side(&self) -> bool {
        self.blocking.is_some()
    }

    /// What its queues can do; `None` if it has none.
    #[must_use]
    pub const fn queue_side(&self) -> Option<&QueueSide> {
        self.queue.as_ref()
    }

    /// A new engine of this kind, blocking.
    ///
    /// # Errors
    /// The system's error when it cannot be set up; `Unsupported` if it has no blocking side.
    pub fn make(&self) -> io::Result<Box<dyn Engine>> {
        match self.blocking {
            Some(make) => make(),
            None => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "the engine `{}` has only queues, and files cannot be laid out or read back with it",
                    self.name
                ),
            )),
        }
    }

    /// A queue of this engine on open files.
    ///
    /// It can be made on one thread and used on another, but stays with the thread of its first operation: the kernel
    /// may refuse others (io_uring).
    ///
    /// # Errors
    /// [`EngineError`] says why it cannot be made and what to ask for instead.
    pub fn queue(&self, setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
        let engine = self.name;
        let Some(side) = &self.queue else { return Err(EngineError::NoQueue { engine }) };
        if setup.depth == 0 || !setup.buffer_align.is_power_of_two() {
            return Err(EngineError::Setup { depth: setup.depth, buffer_align: setup.buffer_align });
        }
        for option in QueueOption::ALL {
            if option.is_set(&setup.options) && !side.options.contains(option) {
                let instead = names(|side| side.options.contains(option), "another system");
                return Err(EngineError::Option { engine, option: option.text(), instead });
            }
        }
        if setup.depth > side.depth_max {
            let (depth, most) = (setup.depth, side.depth_max);
            let shallower = format!("a queue of at most {most}");
            let instead = match names(|side| side.concurrent && side.depth_max >= depth, "") {
                none if none.is_empty() => shallower,
                names => format!("{names}, or {shallower}"),
            };
            return Err(EngineError::Depth { engine, depth, most, instead });
        }
        // An address space has room for what memory has not, and the run would end by the kernel's hand.
        let all_bytes = (setup.buffer_bytes as u64).saturating_mul(u64::from(setup.depth));
        if memory_bytes().is_some_and(|memory| all_bytes > memory / 4 * 3) {
            return Err(EngineError::Memory { depth: setup.depth, buffer_bytes: setup.buffer_bytes });
        }
        (side.make)(setup)
    }
}

/// How much memory the machine has, where it tells.
fn memory_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        // Words of another width on other machines.
        #[allow(clippy::useless_conversion)]
        Some(u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit)))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The engines whose queues can do something, for messages.
fn names(can: impl Fn(&QueueSide) -> bool, otherwise: &str) -> String {
    let all: Vec<&str> = ENGINES.iter().filter(|e| e.queue.as_ref().is_some_and(&can)).map(|e| e.name).collect();
    if all.is_empty() { otherwise.into() } else { all.join(" or ") }
}

impl std::fmt::Debug for EngineEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All engines.
pub const ENGINES: &[EngineEntry] = &[
    sync::ENTRY,
    #[cfg(target_os = "linux")]
    pvsync::ENTRY,
    #[cfg(target_os = "linux")]
    pvsync2::ENTRY,
    #[cfg(target_os = "linux")]
    vsync::ENTRY,
    #[cfg(target_os = "linux")]
    io_uring::ENTRY,
    #[cfg(target_os = "linux")]
    libaio::ENTRY,
    #[cfg(target_os = "linux")]
    mmap::ENTRY,
    tokio::ENTRY,
    threads::ENTRY,
    null::ENTRY,
];

/// The engine of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static EngineEntry> {
    ENGINES.iter().find(|entry| entry.name == name)
}

fn not_open() -> io::Error {
    io::Error::other("no file is open")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every engine reads what it wrote, at any offset and in any order.
    #[test]
    fn all_engines_move_data() {
        let dir = tempfile::tempdir().unwrap();
        for entry in ENGINES.iter().filter(|entry| entry.has_blocking_side()) {
            let path = dir.path().join(entry.name);
            let mut engine = entry.make().unwrap();
            assert!(engine.read_at(0, &mut [0; 4]).is_err(), "{} is not open yet", entry.name);
            engine.open(&path, OpenOptions::new().read(true).write(true).create_new(true)).unwrap();
            for offset in [8_u64, 0, 4] {
                assert_eq!(engine.write_at(offset, &(offset as u32).to_le_bytes()).unwrap(), 4);
            }
            engine.drain().unwrap();
            engine.sync().unwrap();
            for offset in [4_u64, 8, 0] {
                let mut buf = [0; 4];
                assert_eq!(engine.read_at(offset, &mut buf).unwrap(), 4);
                assert_eq!(u32::from_le_bytes(buf), offset as u32, "{}", entry.name);
            }
            assert_eq!(engine.read_at(100, &mut [0; 4]).unwrap(), 0, "{}: the end of the file", entry.name);
            engine.set_len(6).unwrap();
            let mut len = 0;
            engine
                .with_file(&mut |file| {
                    len = file.metadata()?.len();
                    Ok(())
                })
                .unwrap();
            assert_eq!(len, 6);
            engine.close().unwrap();
            engine.close().unwrap();
            assert!(engine.open(&dir.path().join("missing"), OpenOptions::new().read(true)).is_err());
        }
    }

    #[test]
    fn names_are_unique() {
        for entry in ENGINES {
            assert_eq!(find(entry.name).map(|e| e.about), Some(entry.about));
        }
        assert!(find("warp").is_none());
    }

    #[test]
    fn an_engine_of_queues_alone_says_so() {
        let error = find("null").unwrap().make().err().unwrap();
        assert!(error.to_string().contains("`null` has only queues"), "{error}");
    }
}
