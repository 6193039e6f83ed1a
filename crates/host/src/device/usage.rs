//! Who uses a block device or file now: the reasons to leave it alone whatever the user consents to.

use std::fmt;
use std::path::{Path, PathBuf};

use super::shell::quoted;
use super::sysfs::Driver;

/// One use of a target, and which part of the target is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} {by}")]
pub struct InUse {
    /// Which part.
    pub part: Part,
    /// What for.
    pub by: Use,
}

/// The part of a target that is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The target itself.
    Itself,
    /// A partition of the target, by its name.
    Partition(String),
    /// The disk that the target is a partition of, by its name.
    Disk(String),
    /// What the target is made of: its bytes are there.
    Backing(Backing),
}

/// Something that a device is made of, at any depth below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// A file, through a loop device; as the kernel prints its path.
    File(PathBuf),
    /// A block device, a partition of it, or its disk, by its name: below a loop device, a volume, an array.
    Device(String),
}

/// A use that excludes overwriting. The message says the use, and how to end it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Use {
    /// A file system on it is mounted.
    #[error("is mounted at {at} ({kind}){remedy}", at = .at.display(), remedy = unmount(.at))]
    Mounted {
        /// Where.
        at: PathBuf,
        /// The file system's type.
        kind: String,
    },
    /// A file system on it is mounted where this process can't see it, in the namespace of another.
    #[error("is mounted at {at} in the mount namespace of process {process}; unmount it there, or stop the container", at = .at.display())]
    MountedElsewhere {
        /// Where, as that process sees it.
        at: PathBuf,
        /// A process that sees it.
        process: Process,
    },
    /// It belongs to a btrfs that is mounted, as one of several devices perhaps.
    #[error("belongs to the mounted btrfs {uuid}{}; unmount that first", mounted_at(.at.as_deref()))]
    BtrfsMember {
        /// The file system's UUID.
        uuid: String,
        /// Where it is mounted, if this process sees it.
        at: Option<PathBuf>,
    },
    /// It is a swap area in use.
    #[error("is in use as swap; switch it off first: swapoff {}", quoted(.area))]
    Swap {
        /// The area, as the kernel lists it.
        area: PathBuf,
    },
    /// Another device is made of it.
    #[error("{holder}")]
    Held {
        /// That device.
        holder: Holder,
    },
    /// It is the backing file of a loop device.
    #[error("is the backing file of /dev/{device}{}", loop_remedy(.device, .used.as_deref()))]
    LoopBacking {
        /// The loop device's name.
        device: String,
        /// How that is used itself, if it is.
        used: Option<Box<InUse>>,
    },
    /// It is where a compressed memory disk writes to.
    #[error("is the backing device of /dev/{device}; reset that first: zramctl --reset /dev/{device}")]
    ZramBacking {
        /// The zram device's name.
        device: String,
    },
    /// Other processes have it open for writing.
    #[error("is open for writing {}", writers(.processes))]
    OpenForWriting {
        /// Which. None if the kernel itself writes to it, or the right to look is missing.
        processes: Vec<Process>,
    },
    /// Somebody claimed it exclusively (`O_EXCL`), and nothing else tells who.
    #[error("is claimed exclusively by {}", exclusive(.processes))]
    Exclusive {
        /// Processes that have it open; one of them may be it. None if the kernel holds it, or the right to look is
        /// missing.
        processes: Vec<Process>,
    },
}

/// Another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command's name, at most 15 bytes.
    pub name: String,
}

/// A device that is made of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The kernel's name, e.g. `dm-0`.
    pub device: String,
    /// What it is.
    pub driver: Driver,
    /// Where the file system on it, or on what is made of it, is mounted.
    pub mounted_at: Option<PathBuf>,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Itself => f.write_str("it"),
            Self::Partition(name) => write!(f, "its partition /dev/{name}"),
            Self::Disk(name) => write!(f, "its disk /dev/{name}"),
            Self::Backing(Backing::File(path)) => write!(f, "the file {} below it", path.display()),
            Self::Backing(Backing::Device(name)) => write!(f, "the device /dev/{name} below it"),
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.pid, self.name)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = mounted_at(self.mounted_at.as_deref());
        let device = &self.device;
        match &self.driver {
            Driver::Lvm { name } => {
                write!(
                    f,
                    "is part of the LVM volume {name}{at}; deactivate that first: lvchange -an /dev/mapper/{name}"
                )
            }
            Driver::Crypt { name } => {
                write!(
                    f,
                    "is opened as the encrypted volume {name}{at}; close that first: cryptsetup close {}",
                    quoted(name)
                )
            }
            Driver::Multipath { name } => {
                write!(
                    f,
                    "is a path of the multipath device {name}{at}; flush that first: multipath -f {}",
                    quoted(name)
                )
            }
            Driver::DeviceMapper { name } => {
                write!(
                    f,
                    "is used by the device-mapper device {name}{at}; remove that first: dmsetup remove {}",
                    quoted(name)
                )
            }
            Driver::Md { level } => {
                write!(
                    f,
                    "is a member of the md array {device} ({level}){at}; stop that first: mdadm --stop /dev/{device}"
                )
            }
            Driver::Bcache => {
                write!(f, "is used by {device}{at}; stop that first: echo 1 > /sys/block/{device}/bcache/stop")
            }
            Driver::Loop | Driver::Zram | Driver::RamDisk | Driver::Other => {
                write!(f, "is used by the block device {device}{at}; stop that first")
            }
        }
    }
}

fn unmount(at: &Path) -> String {
    if at == Path::new("/") {
        return ": this system runs from it; boot from another medium to overwrite it".into();
    }
    format!("; unmount it first: umount {}", quoted(at))
}

fn mounted_at(at: Option<&Path>) -> String {
    at.map(|at| format!(" (mounted at {})", at.display())).unwrap_or_default()
}

/// How to free a file or device of a loop device on it, which may be in use itself.
fn loop_remedy(device: &str, used: Option<&InUse>) -> String {
    match used {
        None => format!("; detach that first: losetup -d /dev/{device}"),
        Some(InUse { part: Part::Itself, by }) => format!(", and /dev/{device} {by}"),
        Some(InUse { part, by }) => format!(", and {part} {by}"),
    }
}

fn writers(processes: &[Process]) -> String {
    if processes.is_empty() {
        "in a process that this user may not see, or in the kernel (as a USB gadget or an exported disk); stop that \
         first"
            .into()
    } else {
        format!("in {}; stop that first", list(processes))
    }
}

fn list(processes: &[Process]) -> String {
    let names: Vec<String> = processes.iter().map(|process| format!("process {process}")).collect();
    names.join(", ")
}

fn exclusive(processes: &[Process]) -> String {
    if processes.is_empty() {
        "the kernel, or a process that has just ended or that this user may not see; try again, as root if need be"
            .into()
    } else {
        format!("another program, probably {}; stop that first", list(processes))
    }
}
