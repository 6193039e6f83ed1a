//! The kernel's account of its block devices: `/sys` and `/proc`, below a root.
//!
//! The root is `/`; recorded trees of other machines stand in for it in tests. Attributes are those of the kernel's
//! `Documentation/ABI/stable/sysfs-block` and `Documentation/ABI/testing/sysfs-block*`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mounts::{self, Mount};
use super::number::DeviceNumber;
use super::swaps::{self, Swap};

/// `/sys` and `/proc` below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    /// This machine's.
    fn default() -> Self {
        Self::below("/")
    }
}

impl Sysfs {
    /// Those below `root`.
    #[must_use]
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A path such as `sys/block` below the root.
    #[must_use]
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Whether this is the running machine, whose device nodes and files can be asked too.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The content of a file below the root, without white space and NUL at its ends; `None` if it can't be read or is
    /// empty.
    #[must_use]
    pub fn text(&self, relative: impl AsRef<Path>) -> Option<String> {
        read_text(&self.path(relative))
    }

    /// The names in a directory below the root, sorted; none if it can't be read.
    #[must_use]
    pub fn names(&self, relative: impl AsRef<Path>) -> Vec<String> {
        names_in(&self.path(relative))
    }

    /// The mounts that this process sees.
    ///
    /// # Errors
    /// If `/proc/self/mountinfo` can't be read.
    pub fn mounts(&self) -> io::Result<Vec<Mount>> {
        Ok(mounts::parse(&fs::read(self.path("proc/self/mountinfo"))?))
    }

    /// The swap areas in use; none for a kernel without swap.
    ///
    /// # Errors
    /// If `/proc/swaps` is there and can't be read.
    pub fn swaps(&self) -> io::Result<Vec<Swap>> {
        match fs::read(self.path("proc/swaps")) {
            Ok(text) => Ok(swaps::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The block device of a number; `None` if the kernel has none.
    #[must_use]
    pub fn block(&self, number: DeviceNumber) -> Option<BlockDevice> {
        self.block_in(&self.path(format!("sys/dev/block/{number}")))
    }

    /// The block device that the kernel calls `name`, e.g. `mmcblk0p1`.
    #[must_use]
    pub fn block_named(&self, name: &str) -> Option<BlockDevice> {
        // The kernel writes `cciss/c0d0` as `cciss!c0d0` here.
        let name = name.replace('/', "!");
        if name.is_empty() || name.starts_with('.') {
            return None;
        }
        self.block_in(&self.path("sys/class/block").join(name))
    }

    /// All block devices, partitions too, by name.
    #[must_use]
    pub fn blocks(&self) -> Vec<BlockDevice> {
        self.names("sys/class/block").iter().filter_map(|name| self.block_named(name)).collect()
    }

    /// The block device behind the source of a mount or swap area: by its node, if it has one here, else by the name.
    #[must_use]
    pub fn block_of_source(&self, source: &Path) -> Option<BlockDevice> {
        // Other sources are names, or hosts of network file systems.
        if !source.has_root() {
            return None;
        }
        if self.is_live()
            && let Some(number) = node_number(source)
        {
            return self.block(number);
        }
        let name = source.strip_prefix("/dev").ok()?;
        if let Ok(mapped) = name.strip_prefix("mapper") {
            let mapped = mapped.to_str()?;
            return self.blocks().into_iter().find(|device| device.text("dm/name").as_deref() == Some(mapped));
        }
        self.block_named(name.to_str()?)
    }

    fn block_in(&self, link: &Path) -> Option<BlockDevice> {
        let dir = fs::canonicalize(link).ok()?;
        let number = read_text(&dir.join("dev"))?.parse().ok()?;
        let name = dir.file_name()?.to_str()?.replace('!', "/");
        Some(BlockDevice { number, name, dir })
    }
}

/// The number of the block device whose node a path is; `None` if it is none.
#[must_use]
pub fn node_number(path: &Path) -> Option<DeviceNumber> {
    match super::identity::Identity::of_path(path) {
        #[cfg(target_os = "linux")]
        Ok(Some(super::identity::Identity::Device(number))) => Some(number),
        _ => None,
    }
}

/// A block device as the kernel shows it: a disk, a partition, or one made of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its number.
    pub number: DeviceNumber,
    /// The kernel's name, e.g. `mmcblk0p1`.
    pub name: String,
    dir: PathBuf,
}

impl BlockDevice {
    /// An attribute such as `queue/scheduler`, without white space at its ends; `None` if the device has none.
    #[must_use]
    pub fn text(&self, attribute: &str) -> Option<String> {
        read_text(&self.dir.join(attribute))
    }

    /// An attribute that is a decimal number.
    #[must_use]
    pub fn number_of(&self, attribute: &str) -> Option<u64> {
        self.text(attribute)?.parse().ok()
    }

    /// An attribute that is 0 or 1.
    #[must_use]
    pub fn flag(&self, attribute: &str) -> Option<bool> {
        match self.number_of(attribute)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Its directory in `/sys/devices`.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The usual path of its node.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Its size; the kernel counts it in 512-byte sectors whatever the device's own are.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.number_of("size")?.checked_mul(512)
    }

    /// Whether it is a partition.
    #[must_use]
    pub fn is_partition(&self) -> bool {
        self.dir.join("partition").exists()
    }

    /// The whole disk of a partition; `None` for a device that is none.
    #[must_use]
    pub fn disk(&self) -> Option<Self> {
        if !self.is_partition() {
            return None;
        }
        let dir = self.dir.parent()?.to_path_buf();
        let number = read_text(&dir.join("dev"))?.parse().ok()?;
        let name = dir.file_name()?.to_str()?.replace('!', "/");
        Some(Self { number, name, dir })
    }

    /// The partitions of a disk, in the order of their numbers.
    #[must_use]
    pub fn partitions(&self) -> Vec<Self> {
        let mut found: Vec<(u64, Self)> = names_in(&self.dir)
            .into_iter()
            .filter_map(|name| {
                let dir = self.dir.join(&name);
                let index = read_text(&dir.join("partition"))?.parse().ok()?;
                let number = read_text(&dir.join("dev"))?.parse().ok()?;
                Some((index, Self { number, name: name.replace('!', "/"), dir }))
            })
            .collect();
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().map(|(_, partition)| partition).collect()
    }

    /// The names of the devices that are made of this one (`holders`).
    #[must_use]
    pub fn holder_names(&self) -> Vec<String> {
        names_in(&self.dir.join("holders"))
    }

    /// The names of the devices that this one is made of (`slaves`).
    #[must_use]
    pub fn slave_names(&self) -> Vec<String> {
        names_in(&self.dir.join("slaves"))
    }

    /// What the driver is, as far as the device shows it.
    #[must_use]
    pub fn driver(&self) -> Driver {
        if self.dir.join("dm").is_dir() {
            let name = self.text("dm/name").unwrap_or_else(|| self.name.clone());
            return match self.text("dm/uuid").unwrap_or_default() {
                uuid if uuid.starts_with("LVM-") => Driver::Lvm { name },
                uuid if uuid.starts_with("CRYPT-") => Driver::Crypt { name },
                uuid if uuid.starts_with("mpath-") => Driver::Multipath { name },
                _ => Driver::DeviceMapper { name },
            };
        }
        if self.dir.join("md").is_dir() {
            return Driver::Md { level: self.text("md/level").unwrap_or_else(|| "inactive".into()) };
        }
        if self.dir.join("loop").is_dir() {
            return Driver::Loop;
        }
        let numbered = |prefix: &str| {
            let rest = self.name.strip_prefix(prefix);
            rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        // loop devices without a backing file have no `loop` directory.
        match () {
            () if numbered("loop") => Driver::Loop,
            () if numbered("zram") => Driver::Zram,
            () if numbered("ram") => Driver::RamDisk,
            () if numbered("bcache") => Driver::Bcache,
            () => Driver::Other,
        }
    }
}

/// What makes a block device, where that matters for using it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// A logical volume.
    Lvm {
        /// Its name in `/dev/mapper`.
        name: String,
    },
    /// dm-crypt.
    Crypt {
        /// Its name in `/dev/mapper`.
        name: String,
    },
    /// dm-multipath.
    Multipath {
        /// Its name in `/dev/mapper`.
        name: String,
    },
    /// Another kind of device mapper.
    DeviceMapper {
        /// Its name in `/dev/mapper`.
        name: String,
    },
    /// An md array.
    Md {
        /// `raid1`, `linear`, ...
        level: String,
    },
    /// A file as a device.
    Loop,
    /// Compressed memory.
    Zram,
    /// Memory (`brd`).
    RamDisk,
    /// bcache.
    Bcache,
    /// Anything else: a disk or card by itself, a network device.
    Other,
}

fn read_text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str().map(str::to_owned)).collect();
    names.sort();
    names
}
