//! Why a file system could not be made.

use std::io;
use std::path::PathBuf;

use flashmark_core::units::format_bytes;

/// Why a file system could not be made, or not be removed; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// Another operating system.
    #[error("file systems are made on Linux only")]
    NotLinux,
    /// Missing rights.
    #[error("making and mounting file systems needs the rights of root (CAP_SYS_ADMIN): run it with sudo")]
    NotRoot,
    /// There are threads already, whose view would not change.
    #[error("a private mount namespace has to be entered before there are threads")]
    Threads,
    /// The system's refusal of a namespace.
    #[error("no private mount namespace: {0}")]
    Namespace(#[source] io::Error),
    /// The kernel or a program lacks.
    #[error("{file_system} cannot be made here: {}", reasons.join("; "))]
    Unavailable {
        /// As asked for.
        file_system: String,
        /// Each with what to do, where something can be done.
        reasons: Vec<String>,
    },
    /// An image that is too small.
    #[error(
        "{file_system} needs an image of at least {}, and --image-size is {}: make it larger",
        format_bytes(*least_bytes),
        format_bytes(*given_bytes)
    )]
    TooSmall {
        /// As asked for.
        file_system: String,
        /// What it needs.
        least_bytes: u64,
        /// What it would get.
        given_bytes: u64,
    },
    /// A directory without room for the image.
    #[error(
        "{} has {} free, and the image needs {}: make --image-size smaller, or free some space",
        dir.display(),
        format_bytes(*free_bytes),
        format_bytes(*needed_bytes)
    )]
    NoRoom {
        /// The directory.
        dir: PathBuf,
        /// What is free.
        free_bytes: u64,
        /// What it takes.
        needed_bytes: u64,
    },
    /// The image could not be made.
    #[error("an image in {}: {source}", dir.display())]
    Image {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No loop device.
    #[error("no loop device: {source}{}", loop_remedy(source))]
    Loop {
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("{program}: {source}")]
    Program {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program failed.
    #[error("`{command}` failed ({status}): {said}")]
    Mkfs {
        /// As one would type it.
        command: String,
        /// How it ended.
        status: String,
        /// What it wrote on standard error.
        said: String,
    },
    /// The mount failed.
    #[error("mounting {file_system} with the options `{options}`: {source}{}", also(said))]
    Mount {
        /// The file system, as the kernel names it.
        file_system: String,
        /// Comma separated.
        options: String,
        /// What the system said.
        source: io::Error,
        /// What the file system said.
        said: Vec<String>,
    },
    /// The directory that is measured could not be made as it should be.
    #[error("{what} failed: {source}")]
    Directory {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// Something stays.
    #[error("{} could not be removed: {source}; flashmark clean {} tries again", path.display(), dir.display())]
    Remove {
        /// What stays.
        path: PathBuf,
        /// Where it is.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn loop_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            " (/dev/loop-control is not there: load the module `loop`, or give the container the device)"
        }
        io::ErrorKind::PermissionDenied => " (run it with sudo; a container needs the right to loop devices)",
        _ => "",
    }
}

fn also(said: &[String]) -> String {
    if said.is_empty() { " (dmesg may tell more)".to_owned() } else { format!(" ({})", said.join("; ")) }
}
