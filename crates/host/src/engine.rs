//! Engines: how the I/O of a real target is issued. One file each; a new one adds its file and a line in [`ENGINES`].

mod sync;
mod tokio;

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

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

/// An engine in the registry.
#[derive(Clone, Copy)]
pub struct EngineEntry {
    /// Its name in suites and on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Whether it can pass the page cache by. One that copies through memory of its own cannot.
    pub direct: bool,
    /// The deepest queue it can keep.
    pub queue_depth_max: u32,
    make: fn() -> io::Result<Box<dyn Engine>>,
}

impl EngineEntry {
    /// A new engine of this kind.
    ///
    /// # Errors
    /// The system's error when it cannot be set up.
    pub fn make(&self) -> io::Result<Box<dyn Engine>> {
        (self.make)()
    }
}

impl std::fmt::Debug for EngineEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All engines.
pub const ENGINES: &[EngineEntry] = &[sync::ENTRY, tokio::ENTRY];

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
        for entry in ENGINES {
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
}
