//! Real storage on this machine.
//!
//! * [`target`]: directories, files and block devices as the runner's targets;
//! * [`engine`]: how their I/O is issued;
//! * [`consent`], [`device`]: what may be overwritten, and what must not be;
//! * [`cache`]: what the page cache holds, and dropping it;
//! * [`environment`]: what a result was measured with;
//! * [`make_fs`]: file systems that are made to be measured;
//! * [`test_file`], [`leftovers`]: test files, and what killed runs left of them;
//! * [`signals`]: which of them the process was told to ignore;
//! * [`clock`], [`buffer`]: time, and memory that direct I/O takes;
//! * [`descriptors`], [`usage`]: a thread's own descriptors, and what it used of processors and memory.
//!
//! All that is special to Linux is here and behind `cfg`; elsewhere the crate builds, and says what it cannot do.

pub mod buffer;
pub mod cache;
pub mod clock;
pub mod consent;
pub mod descriptors;
pub mod device;
pub mod engine;
pub mod environment;
pub mod leftovers;
pub mod make_fs;
pub mod signals;
pub mod target;
pub mod test_file;
pub mod usage;
