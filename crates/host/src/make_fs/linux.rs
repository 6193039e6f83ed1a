//! Making file systems on Linux.

mod available;
mod directory;
mod image;
mod live;
mod loop_device;
mod made;
mod mount;
mod namespace;
mod program;
mod syscalls;

pub use available::{availability, check};
pub use live::remove_all_now;
pub use made::{MadeFs, make};
pub use namespace::PrivateMounts;
