//! Who uses a block device or file now: the reasons to leave it alone whatever the user consents to.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::identity::Identity;
use super::shell::quoted;
use super::sysfs::{BlockDevice, Driver, Sysfs};

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
    #[error("is the backing file of /dev/{device}; detach that first: losetup -d /dev/{device}")]
    LoopBacking {
        /// The loop device's name.
        device: String,
    },
    /// It is where a compressed memory disk writes to.
    #[error("is the backing device of /dev/{device}; reset that first: zramctl --reset /dev/{device}")]
    ZramBacking {
        /// The zram device's name.
        device: String,
    },
    /// Other processes have it open for writing.
    #[error("is open for writing in {}; stop that first", list(.processes))]
    OpenForWriting {
        /// Which.
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

/// Everything that `/sys` and `/proc` say of the use of a device: of itself, of its partitions, of its disk.
///
/// # Errors
/// If the mounts or swap areas can't be read: then nothing can be said.
pub fn uses_of_device(sysfs: &Sysfs, device: &BlockDevice) -> io::Result<Vec<InUse>> {
    let view = View::of(sysfs)?;
    let mut found: Vec<InUse> = view.uses(device).into_iter().map(|by| InUse { part: Part::Itself, by }).collect();
    for partition in device.partitions() {
        let part = Part::Partition(partition.name.clone());
        found.extend(view.uses(&partition).into_iter().map(|by| InUse { part: part.clone(), by }));
    }
    if let Some(disk) = device.disk() {
        let part = Part::Disk(disk.name.clone());
        found.extend(view.uses(&disk).into_iter().map(|by| InUse { part: part.clone(), by }));
    }
    Ok(found)
}

/// Everything that `/sys` and `/proc` say of the kernel's use of a regular file.
///
/// # Errors
/// If the swap areas can't be read.
pub fn uses_of_file(sysfs: &Sysfs, identity: &Identity) -> io::Result<Vec<InUse>> {
    let same = |path: &Path| matches!(Identity::of_path(path), Ok(Some(other)) if other == *identity);
    let mut found = Vec::new();
    for swap in sysfs.swaps()? {
        if same(&swap.path) {
            found.push(Use::Swap { area: swap.path });
        }
    }
    for device in sysfs.blocks() {
        if loop_backing(&device).is_some_and(|file| same(&file)) {
            found.push(Use::LoopBacking { device: device.name });
        }
    }
    Ok(found.into_iter().map(|by| InUse { part: Part::Itself, by }).collect())
}

/// The backing file of a loop device in use, as the kernel prints it.
#[must_use]
pub fn loop_backing(device: &BlockDevice) -> Option<PathBuf> {
    device.text("loop/backing_file").map(PathBuf::from)
}

/// What is in use on a machine at one time.
struct View<'a> {
    sysfs: &'a Sysfs,
    mounts: Vec<super::mounts::Mount>,
    swaps: Vec<super::swaps::Swap>,
    blocks: Vec<BlockDevice>,
}

impl<'a> View<'a> {
    fn of(sysfs: &'a Sysfs) -> io::Result<Self> {
        Ok(Self { sysfs, mounts: sysfs.mounts()?, swaps: sysfs.swaps()?, blocks: sysfs.blocks() })
    }

    fn is(&self, source: &Path, device: &BlockDevice) -> bool {
        self.sysfs.block_of_source(source).is_some_and(|found| found.number == device.number)
    }

    fn uses(&self, device: &BlockDevice) -> Vec<Use> {
        let mut found = Vec::new();
        found
            .extend(self.mount(device).map(|mount| Use::Mounted { at: mount.point.clone(), kind: mount.kind.clone() }));
        found.extend(self.btrfs(device));
        found.extend(
            self.swaps
                .iter()
                .filter(|swap| self.is(&swap.path, device))
                .map(|swap| Use::Swap { area: swap.path.clone() }),
        );
        for name in device.holder_names() {
            let holder = self.sysfs.block_named(&name);
            let driver = holder.as_ref().map_or(Driver::Other, BlockDevice::driver);
            let mounted_at = holder.and_then(|holder| self.mounted_above(&holder, 8));
            found.push(Use::Held { holder: Holder { device: name.replace('!', "/"), driver, mounted_at } });
        }
        for other in &self.blocks {
            if loop_backing(other).is_some_and(|file| self.is(&file, device)) {
                found.push(Use::LoopBacking { device: other.name.clone() });
            }
            if other.text("backing_dev").is_some_and(|node| self.is(Path::new(&node), device)) {
                found.push(Use::ZramBacking { device: other.name.clone() });
            }
        }
        found
    }

    /// The first mount of a device. A btrfs hides the number, but names a device as its source.
    fn mount(&self, device: &BlockDevice) -> Option<&super::mounts::Mount> {
        self.mounts.iter().find(|mount| {
            mount.number == device.number || (mount.number.is_anonymous() && self.is(Path::new(&mount.source), device))
        })
    }

    /// The devices of each mounted btrfs are in `/sys/fs/btrfs/UUID/devices`.
    fn btrfs(&self, device: &BlockDevice) -> Option<Use> {
        let sysfs_name = device.name.replace('/', "!");
        let uuid = self.sysfs.names("sys/fs/btrfs").into_iter().find(|uuid| {
            self.sysfs.path("sys/fs/btrfs").join(uuid).join("devices").join(&sysfs_name).symlink_metadata().is_ok()
        })?;
        let members = self.sysfs.names(format!("sys/fs/btrfs/{uuid}/devices"));
        let member = |source: &Path| {
            let found = self.sysfs.block_of_source(source);
            found.is_some_and(|found| members.contains(&found.name.replace('/', "!")))
        };
        let mount = self.mounts.iter().find(|mount| mount.kind == "btrfs" && member(Path::new(&mount.source)));
        Some(Use::BtrfsMember { uuid, at: mount.map(|mount| mount.point.clone()) })
    }

    /// Where a device, or what is made of it, is mounted; `depth` bounds the height of the pile.
    fn mounted_above(&self, device: &BlockDevice, depth: u8) -> Option<PathBuf> {
        if let Some(mount) = self.mount(device) {
            return Some(mount.point.clone());
        }
        if let Some(Use::BtrfsMember { at: Some(at), .. }) = self.btrfs(device) {
            return Some(at);
        }
        let depth = depth.checked_sub(1)?;
        let above = device.holder_names().into_iter().chain(device.partitions().into_iter().map(|p| p.name));
        above.filter_map(|name| self.sysfs.block_named(&name)).find_map(|holder| self.mounted_above(&holder, depth))
    }
}
