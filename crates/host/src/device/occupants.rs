//! Processes in the way of overwriting: those that write to a target, and those that hold it.

use std::path::Path;
use std::time::Duration;

use super::identity::Identity;
use super::openers::{self, Opener, Openers};
use super::refusal::Refusal;
use super::stack::{Layer, Stack};
use super::survey::{family, family_below, uses_of_device};
use super::sysfs::{BlockDevice, Sysfs};
use super::usage::{Backing, InUse, Part, Process, Use};

/// Which writers there are, and who could not be asked.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    pub(crate) uses: Vec<InUse>,
    /// A phrase for each kind of process that could not be looked into.
    pub(crate) unseen: Vec<String>,
}

/// Everything where a device's bytes can be written, and what it is to the device.
pub(crate) fn places_of_device(device: &BlockDevice, stack: &Stack) -> Vec<(Part, Identity)> {
    let mut places: Vec<(Part, Identity)> = Vec::new();
    let mut add = |part: Part, identity: Identity| {
        if !places.iter().any(|(_, place)| *place == identity) {
            places.push((part, identity));
        }
    };
    for (part, member) in family(device) {
        add(part, Identity::Device(member.number));
    }
    for layer in &stack.layers {
        match layer {
            Layer::Device { device, .. } => {
                for (part, member) in family_below(device) {
                    add(part, Identity::Device(member.number));
                }
            }
            Layer::File(file) => {
                if let Some(identity) = &file.identity {
                    add(Part::Backing(Backing::File(file.path.clone())), identity.clone());
                }
            }
        }
    }
    places
}

/// Programs that write to one of `places` without claiming it, such as a virtual machine: the kernel would let both. Only
/// those count that are still there after a while: programs that look for a free loop device, or have just made a file
/// system, have a device open for writing for a moment.
pub(crate) fn writers(places: &[(Part, Identity)]) -> Writers {
    const PAUSE: Duration = Duration::from_millis(50);
    // A second, as for the disk's lock: on a busy machine a moment can be that long.
    for _ in 0..20 {
        let found = writers_now(places);
        if found.uses.is_empty() {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
    writers_now(places)
}

fn writers_now(places: &[(Part, Identity)]) -> Writers {
    let identities: Vec<Identity> = places.iter().map(|(_, identity)| identity.clone()).collect();
    let Openers { found, unseen } = openers::openers_of(&identities);
    let writing = |(part, place): &(Part, Identity)| {
        let processes = processes_of(&found, place, |opener| opener.writes);
        (!processes.is_empty()).then(|| InUse { part: part.clone(), by: Use::OpenForWriting { processes } })
    };
    Writers { uses: places.iter().filter_map(writing).collect(), unseen }
}

/// Who holds a device or one of its family, where nothing in `/sys` and `/proc/self` shows it in use.
pub(crate) fn explain_busy(path: &Path, device: &BlockDevice, family: &[(Part, BlockDevice)]) -> Refusal {
    let in_use = |usage| Refusal::InUse { path: path.into(), usage: Box::new(usage) };
    for (part, member) in family {
        if let Some((process, at)) = openers::mounted_elsewhere(member.number) {
            return in_use(InUse { part: part.clone(), by: Use::MountedElsewhere { at, process } });
        }
    }
    // It may have been mounted since the first look.
    if let Ok(found) = uses_of_device(&Sysfs::default(), device)
        && let Some(usage) = found.uses.into_iter().next()
    {
        return in_use(usage);
    }
    let identities: Vec<Identity> = family.iter().map(|(_, member)| Identity::Device(member.number)).collect();
    let openers = openers::openers_of(&identities).found;
    for ((part, _), identity) in family.iter().zip(&identities) {
        let processes = processes_of(&openers, identity, |_| true);
        if !processes.is_empty() {
            return in_use(InUse { part: part.clone(), by: Use::Exclusive { processes } });
        }
    }
    let part = family.first().map_or(Part::Itself, |(part, _)| part.clone());
    in_use(InUse { part, by: Use::Exclusive { processes: Vec::new() } })
}

fn processes_of(openers: &[Opener], target: &Identity, which: impl Fn(&Opener) -> bool) -> Vec<Process> {
    let wanted = openers.iter().filter(|opener| opener.target == *target && which(opener));
    wanted.map(|opener| opener.process.clone()).collect()
}
