//! Who uses a device or file, as `/sys` and `/proc` tell: above it, beside it, and below it.

use std::io;
use std::path::{Path, PathBuf};

use super::identity::Identity;
use super::loops::{self, BackingFile, LoopBacking};
use super::mounts::Mount;
use super::stack::{Layer, Stack};
use super::swaps::Swap;
use super::sysfs::{BlockDevice, Driver, Sysfs};
use super::usage::{Backing, Holder, InUse, Part, Use};

/// How high piles of devices are followed upwards.
const HIGHEST: u8 = 8;

/// What was found of the use of a device or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The uses: its own first, those of what it is made of last.
    pub uses: Vec<InUse>,
    /// What could not be looked at, and what it may hide; a sentence each.
    pub doubts: Vec<String>,
}

/// Everything that `/sys` and `/proc` say of the use of a device: of itself, of its partitions, of its disk, and of what
/// all of that is made of. What is below counts as used where something else than this device uses it: for a loop device
/// another one on the same file, say, or a mounted file system on its backing device.
///
/// # Errors
/// If the mounts or swap areas can't be read, or what the device is made of can't be found out: then nothing can be said.
pub fn uses_of_device(sysfs: &Sysfs, device: &BlockDevice) -> io::Result<Survey> {
    let view = View::of(sysfs)?;
    let stack = Stack::below(sysfs, device)?;
    let mut uses = view.uses_of_family(device, HIGHEST);
    for layer in &stack.layers {
        let below = match layer {
            Layer::File(file) => view.uses_of_backing_file(file, &stack),
            Layer::Device { device, .. } => view.uses_of_backing_device(device, &stack),
        };
        for usage in below {
            // Several devices of a pile can share what is below them.
            if !uses.contains(&usage) {
                uses.push(usage);
            }
        }
    }
    let on_files = stack.layers.iter().any(|layer| matches!(layer, Layer::File(_)));
    Ok(Survey { uses, doubts: if on_files { view.hidden_loops(&stack) } else { Vec::new() } })
}

/// Everything that `/sys` and `/proc` say of the kernel's use of a regular file.
///
/// # Errors
/// If the mounts or swap areas can't be read.
pub fn uses_of_file(sysfs: &Sysfs, identity: &Identity) -> io::Result<Survey> {
    let view = View::of(sysfs)?;
    let file = BackingFile { path: PathBuf::new(), identity: Some(identity.clone()) };
    let uses = view.uses_of_file(&file, |_| true).into_iter().map(|by| InUse { part: Part::Itself, by }).collect();
    Ok(Survey { uses, doubts: view.hidden_loops(&Stack::none()) })
}

/// A device, its partitions and its disk: what shares bytes with it.
pub(crate) fn family(device: &BlockDevice) -> Vec<(Part, BlockDevice)> {
    let mut family = vec![(Part::Itself, device.clone())];
    family.extend(device.partitions().into_iter().map(|member| (Part::Partition(member.name.clone()), member)));
    family.extend(device.disk().map(|member| (Part::Disk(member.name.clone()), member)));
    family
}

/// The family of a device below another, as parts of that.
pub(crate) fn family_below(device: &BlockDevice) -> Vec<(Part, BlockDevice)> {
    let below = |member: BlockDevice| (Part::Backing(Backing::Device(member.name.clone())), member);
    family(device).into_iter().map(|(_, member)| below(member)).collect()
}

/// What is in use on a machine at one time.
struct View<'a> {
    sysfs: &'a Sysfs,
    mounts: Vec<Mount>,
    swaps: Vec<Swap>,
    blocks: Vec<BlockDevice>,
    /// The loop devices among them that have something behind them.
    loops: Vec<(BlockDevice, LoopBacking)>,
}

impl<'a> View<'a> {
    fn of(sysfs: &'a Sysfs) -> io::Result<Self> {
        let blocks = sysfs.blocks();
        let loops = blocks.iter().filter_map(|block| Some((block.clone(), loops::backing(sysfs, block)?))).collect();
        Ok(Self { sysfs, mounts: sysfs.mounts()?, swaps: sysfs.swaps()?, blocks, loops })
    }

    fn is(&self, source: &Path, device: &BlockDevice) -> bool {
        self.sysfs.block_of_source(source).is_some_and(|found| found.number == device.number)
    }

    fn uses_of_family(&self, device: &BlockDevice, height: u8) -> Vec<InUse> {
        let used = |(part, member): (Part, BlockDevice)| {
            self.uses(&member, height).into_iter().map(move |by| InUse { part: part.clone(), by })
        };
        family(device).into_iter().flat_map(used).collect()
    }

    /// The uses of a device that `stack` is made of, but for those that make the stack.
    fn uses_of_backing_device(&self, device: &BlockDevice, stack: &Stack) -> Vec<InUse> {
        let mut found = Vec::new();
        for (part, member) in family_below(device) {
            let foreign = |by: &Use| match by {
                Use::Held { holder } => {
                    let other = self.sysfs.block_named(&holder.device);
                    !stack.has(&holder.device) && !other.is_some_and(|other| stack.shares_out(&member, &other))
                }
                Use::LoopBacking { device, .. } | Use::ZramBacking { device } => !stack.has(device),
                _ => true,
            };
            let uses = self.uses(&member, HIGHEST).into_iter().filter(foreign);
            found.extend(uses.map(|by| InUse { part: part.clone(), by }));
        }
        found
    }

    fn uses_of_backing_file(&self, file: &BackingFile, stack: &Stack) -> Vec<InUse> {
        let part = Part::Backing(Backing::File(file.path.clone()));
        let uses = self.uses_of_file(file, |name| !stack.has(name)).into_iter();
        uses.map(|by| InUse { part: part.clone(), by }).collect()
    }

    /// The uses of a file, of loop devices those that are `wanted` by their names.
    fn uses_of_file(&self, file: &BackingFile, wanted: impl Fn(&str) -> bool) -> Vec<Use> {
        let mut found = Vec::new();
        for swap in &self.swaps {
            let identity = Identity::of_path(&swap.path).ok().flatten();
            if file.is(&BackingFile { path: swap.path.clone(), identity }) {
                found.push(Use::Swap { area: swap.path.clone() });
            }
        }
        for (other, backing) in &self.loops {
            if wanted(&other.name) && matches!(backing, LoopBacking::File(behind) if behind.is(file)) {
                found.push(self.loop_use(other, HIGHEST));
            }
        }
        found
    }

    fn loop_use(&self, device: &BlockDevice, height: u8) -> Use {
        let uses = height.checked_sub(1).map(|height| self.uses_of_family(device, height));
        let used = uses.into_iter().flatten().next();
        Use::LoopBacking { device: device.name.clone(), used: used.map(Box::new) }
    }

    /// Loop devices that may be on any file, for all that can be seen.
    fn hidden_loops(&self, stack: &Stack) -> Vec<String> {
        let hidden = self.loops.iter().filter_map(|(device, backing)| match backing {
            LoopBacking::Hidden(path) if !stack.has(&device.name) => Some(format!(
                "/dev/{} is made of {}, which is out of sight; whether that is the same file is unknown",
                device.name,
                path.display()
            )),
            _ => None,
        });
        hidden.collect()
    }

    fn uses(&self, device: &BlockDevice, height: u8) -> Vec<Use> {
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
            let mounted_at = holder.and_then(|holder| self.mounted_above(&holder, HIGHEST));
            found.push(Use::Held { holder: Holder { device: name.replace('!', "/"), driver, mounted_at } });
        }
        for (other, backing) in &self.loops {
            if matches!(backing, LoopBacking::Device(below) if below.number == device.number) {
                found.push(self.loop_use(other, height));
            }
        }
        for other in &self.blocks {
            if other.text("backing_dev").is_some_and(|node| self.is(Path::new(&node), device)) {
                found.push(Use::ZramBacking { device: other.name.clone() });
            }
        }
        found
    }

    /// The first mount of a device. A btrfs hides the number, but names a device as its source.
    fn mount(&self, device: &BlockDevice) -> Option<&Mount> {
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

    /// Where a device, or what is made of it, is mounted; `height` bounds that of the pile.
    fn mounted_above(&self, device: &BlockDevice, height: u8) -> Option<PathBuf> {
        if let Some(mount) = self.mount(device) {
            return Some(mount.point.clone());
        }
        if let Some(Use::BtrfsMember { at: Some(at), .. }) = self.btrfs(device) {
            return Some(at);
        }
        let height = height.checked_sub(1)?;
        let above = device.holder_names().into_iter().chain(device.partitions().into_iter().map(|p| p.name));
        above.filter_map(|name| self.sysfs.block_named(&name)).find_map(|holder| self.mounted_above(&holder, height))
    }
}
