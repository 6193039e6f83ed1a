//! What a device is made of, down to the bottom: the files and devices where its bytes are.

use std::io;

use super::loops::{self, BackingFile, LoopBacking};
use super::sysfs::{BlockDevice, Driver, Sysfs};

/// Piles of devices are a few high; one this high is a mistake, or a circle.
const HIGHEST: u8 = 16;

/// One thing that a device is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A file, through a loop device.
    File(BackingFile),
    /// A device.
    Device {
        /// Which.
        device: BlockDevice,
        /// What is made of it on the way up to the top.
        above: BlockDevice,
    },
}

/// A device with everything below it.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// From the top down, each once for everything that it is below of.
    pub(crate) layers: Vec<Layer>,
    /// The device, those below it, and the disks of partitions among them.
    members: Vec<BlockDevice>,
}

impl Stack {
    /// # Errors
    /// If the pile is too high, or something below can't be told.
    pub(crate) fn below(sysfs: &Sysfs, top: &BlockDevice) -> io::Result<Self> {
        let mut stack = Self { layers: Vec::new(), members: Vec::new() };
        stack.descend(sysfs, top, HIGHEST)?;
        Ok(stack)
    }

    /// The pile of nothing.
    pub(crate) const fn none() -> Self {
        Self { layers: Vec::new(), members: Vec::new() }
    }

    fn descend(&mut self, sysfs: &Sysfs, device: &BlockDevice, depth: u8) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| {
            io::Error::other(format!("more than {HIGHEST} devices are on top of each other below {}", device.name))
        })?;
        // A partition's bytes are its disk's.
        let whole = device.disk().unwrap_or_else(|| device.clone());
        for member in [device, &whole] {
            if !self.has(&member.name) {
                self.members.push(member.clone());
            }
        }
        let mut devices: Vec<BlockDevice> = Vec::new();
        match loops::backing(sysfs, &whole) {
            Some(LoopBacking::Device(below)) => devices.push(below),
            Some(LoopBacking::File(file)) => self.layers.push(Layer::File(file)),
            Some(LoopBacking::Hidden(path)) => {
                return Err(io::Error::other(format!(
                    "what /dev/{} is made of is out of sight: {}",
                    whole.name,
                    path.display()
                )));
            }
            None => {}
        }
        devices.extend(whole.text("backing_dev").and_then(|node| sysfs.block_of_source(node.as_ref())));
        for name in whole.slave_names() {
            let slave = sysfs.block_named(&name);
            devices.push(slave.ok_or_else(|| io::Error::other(format!("{name} below {} is missing", whole.name)))?);
        }
        for below in devices {
            let layer = Layer::Device { device: below.clone(), above: whole.clone() };
            if !self.layers.contains(&layer) {
                self.layers.push(layer);
                self.descend(sysfs, &below, depth)?;
            }
        }
        Ok(())
    }

    /// Whether the device of this name belongs to the pile.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    /// Whether a device that shares `device` with the pile has bytes of its own there: both are made by the same manager
    /// (LVM, md, bcache, kpartx), which gives each of its devices another part.
    pub(crate) fn shares_out(&self, device: &BlockDevice, other: &BlockDevice) -> bool {
        let Some(manager) = manager(other) else { return false };
        let mut above = self.layers.iter().filter_map(|layer| match layer {
            Layer::Device { device: below, above } if below.number == device.number => Some(above),
            _ => None,
        });
        above.any(|above| self::manager(above).as_ref() == Some(&manager))
    }
}

/// What has made a device of others; `None` for mappings by hand. The device mapper's users start their UUIDs with a
/// name (kernel documentation, `admin-guide/device-mapper`; libdevmapper.h): `LVM-...`, `part2-mpath-...`.
fn manager(device: &BlockDevice) -> Option<String> {
    match device.driver() {
        Driver::Md { .. } => Some("md".into()),
        Driver::Bcache => Some("bcache".into()),
        Driver::Lvm { .. } | Driver::Crypt { .. } | Driver::Multipath { .. } | Driver::DeviceMapper { .. } => {
            let uuid = device.text("dm/uuid")?;
            let (name, _) = uuid.split_once('-')?;
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            (!name.is_empty()).then(|| name.to_owned())
        }
        Driver::Loop | Driver::Zram | Driver::RamDisk | Driver::Other => None,
    }
}
