//! What disks do meanwhile (`/proc/diskstats`; kernel documentation, `admin-guide/iostats.rst`), and those that they are made
//! of.

use std::collections::BTreeMap;
use std::path::Path;

use flashmark_fio::results::DiskUse;
use flashmark_host::device::{BlockDevice, Sysfs, block_device_of};

/// A disk that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    name: String,
    /// The disks that it is made of, which are watched too.
    members: Vec<String>,
}

/// The counters of some disks at one moment.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    counters: BTreeMap<String, [u64; 11]>,
}

/// The disk that a file is on, or that a device is a part of.
pub(crate) fn disk_of(path: &Path) -> Option<String> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let device = block_device_of(path).or_else(|| block_device_of(dir))?;
    Some(whole(device).name)
}

/// A disk, or the one that a partition is a part of.
fn whole(device: BlockDevice) -> BlockDevice {
    device.disk().unwrap_or(device)
}

/// The disks of these names, each with those that it is made of behind it (device mapper, md), and so on down.
pub(crate) fn watched(sysfs: &Sysfs, names: &[String]) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    let mut left: Vec<String> = names.iter().rev().cloned().collect();
    while let Some(name) = left.pop() {
        if disks.iter().any(|disk| disk.name == name) {
            continue;
        }
        let below = sysfs.block_named(&name).map(|device| device.slave_names()).unwrap_or_default();
        let mut members: Vec<String> =
            below.iter().filter_map(|member| Some(whole(sysfs.block_named(member)?).name)).collect();
        // Two partitions of one disk are one disk.
        members.sort();
        members.dedup();
        left.extend(members.iter().rev().cloned());
        disks.push(Disk { name, members });
    }
    disks
}

impl Disks {
    /// The counters now.
    pub(crate) fn now(disks: &[Disk]) -> Self {
        let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
        Self::parse(&text, disks)
    }

    fn parse(text: &str, disks: &[Disk]) -> Self {
        let mut counters = BTreeMap::new();
        for line in text.lines() {
            let mut fields = line.split_whitespace().skip(2);
            let Some(name) = fields.next().filter(|name| disks.iter().any(|disk| disk.name == *name)) else { continue };
            let mut values = [0; 11];
            for (value, field) in values.iter_mut().zip(fields) {
                *value = field.parse().unwrap_or(0);
            }
            counters.insert(name.to_owned(), values);
        }
        Self { counters }
    }

    /// What these did since `earlier`, which was so long ago.
    pub(crate) fn since(&self, earlier: &Self, disks: &[Disk], watched_ms: u64) -> Vec<DiskUse> {
        let used = |Disk { name, members }: &Disk| {
            let (before, now) = (earlier.counters.get(name)?, self.counters.get(name)?);
            let [
                reads,
                read_merges,
                read_sectors,
                read_ms,
                writes,
                write_merges,
                write_sectors,
                write_ms,
                _,
                busy,
                queue,
            ] = std::array::from_fn(|index| now[index].saturating_sub(before[index]));
            Some(DiskUse {
                name: name.clone(),
                ios: [reads, writes],
                merges: [read_merges, write_merges],
                sectors: [read_sectors, write_sectors],
                ticks_ms: [read_ms, write_ms],
                in_queue_ms: queue,
                busy_ms: busy,
                watched_ms,
                members: members.clone(),
            })
        };
        disks.iter().filter_map(used).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_apart() {
        let disks = [Disk { name: "sda".to_owned(), members: Vec::new() }];
        let before =
            Disks::parse("   8 0 sda 1 2 3 4 5 6 7 8 9 10 11 0 0\n   8 1 sda1 1 1 1 1 1 1 1 1 1 1 1\n", &disks);
        let after = Disks::parse("   8 0 sda 11 22 33 44 55 66 77 88 0 100 110 9 9\n", &disks);
        let used = after.since(&before, &disks, 1000);
        assert_eq!(used.len(), 1);
        assert_eq!((used[0].ios, used[0].merges, used[0].sectors), ([10, 50], [20, 60], [30, 70]));
        assert_eq!((used[0].ticks_ms, used[0].busy_ms, used[0].in_queue_ms), ([40, 80], 90, 99));
    }

    /// A tree as the kernel has it: `sys/class/block` leads to `sys/devices`, and `slaves` from device to device.
    fn tree(devices: &[(&str, &[&str])]) -> tempfile::TempDir {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let class = root.path().join("sys/class/block");
        std::fs::create_dir_all(&class).unwrap();
        for (number, (path, slaves)) in devices.iter().enumerate() {
            let dir = root.path().join("sys/devices").join(path);
            std::fs::create_dir_all(dir.join("slaves")).unwrap();
            std::fs::write(dir.join("dev"), format!("8:{number}\n")).unwrap();
            if path.contains('/') {
                std::fs::write(dir.join("partition"), "1\n").unwrap();
            }
            symlink(&dir, class.join(dir.file_name().unwrap())).unwrap();
            for slave in *slaves {
                symlink(class.join(slave), dir.join("slaves").join(slave)).unwrap();
            }
        }
        root
    }

    #[test]
    fn what_disks_are_made_of_is_watched_too() {
        let root = tree(&[
            ("sda", &[]),
            ("sda/sda1", &[]),
            ("sda/sda2", &[]),
            ("sdb", &[]),
            ("md0", &["sda1", "sda2", "sdb"]),
            ("dm-0", &["md0"]),
        ]);
        let sysfs = Sysfs::below(root.path());
        let disk = |name: &str, members: &[&str]| Disk {
            name: name.to_owned(),
            members: members.iter().map(|member| (*member).to_owned()).collect(),
        };
        let of = |names: &[&str]| watched(&sysfs, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["sdb"]), [disk("sdb", &[])]);
        let all = [disk("dm-0", &["md0"]), disk("md0", &["sda", "sdb"]), disk("sda", &[]), disk("sdb", &[])];
        assert_eq!(of(&["dm-0"]), all);
        assert_eq!(of(&["dm-0", "sdb"]), all, "each once");
        // A disk that sysfs does not show is watched by its name.
        assert_eq!(of(&["gone"]), [disk("gone", &[])]);
    }
}
