//! What a job file may ask of the machine it is read on: variables, other files, and three numbers.

use std::io;

/// Answers for `${NAME}`, `include FILE`, and the keywords `$pagesize`, `$mb_memory` and `$ncpus` (fio HOWTO,
/// "Environment variables" and "Reserved keywords").
pub trait Surroundings {
    /// The value of an environment variable; `None` if it is not set or is no text.
    fn variable(&self, name: &str) -> Option<String>;

    /// A whole file.
    ///
    /// # Errors
    ///
    /// As the operating system says.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Whether there is anything at this path.
    fn exists(&self, path: &str) -> bool;

    /// Whether there is something at this path that is no regular file: a device, a directory, a pipe.
    fn is_special(&self, path: &str) -> bool;

    /// The size of a memory page.
    fn page_bytes(&self) -> u64;

    /// The machine's memory in MiB.
    fn memory_mib(&self) -> u64;

    /// How many processors the system is configured for.
    fn processors(&self) -> u64;
}

/// The machine this runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Surroundings for ThisMachine {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == "-" {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes)?;
            return Ok(bytes);
        }
        std::fs::read(path)
    }

    fn exists(&self, path: &str) -> bool {
        std::path::Path::new(path).exists()
    }

    fn is_special(&self, path: &str) -> bool {
        std::fs::metadata(path).is_ok_and(|data| !data.is_file())
    }

    fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn memory_mib(&self) -> u64 {
        let info = rustix::system::sysinfo();
        ((u128::from(info.totalram) * u128::from(info.mem_unit)) >> 20).try_into().unwrap_or(u64::MAX)
    }

    fn processors(&self) -> u64 {
        let configured = std::fs::read_dir("/sys/devices/system/cpu").ok().map(|entries| {
            entries
                .flatten()
                .filter(|entry| {
                    let name = entry.file_name();
                    let digits = name.to_str().and_then(|name| name.strip_prefix("cpu"));
                    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
                })
                .count() as u64
        });
        match configured {
            Some(count @ 1..) => count,
            _ => std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
        }
    }
}
