//! What disks do meanwhile (`/proc/diskstats`; kernel documentation, `admin-guide/iostats.rst`).

use std::collections::BTreeMap;
use std::path::Path;

use flashmark_fio::results::DiskUse;
use flashmark_host::device::block_device_of;

/// The counters of some disks at one moment.
#[derive(Debug, Default)]
pub(crate) struct Disks {
    counters: BTreeMap<String, [u64; 11]>,
}

/// The disk that a file is on, or that a device is a part of.
pub(crate) fn disk_of(path: &Path) -> Option<String> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let device = block_device_of(path).or_else(|| block_device_of(dir))?;
    Some(device.disk().map_or_else(|| device.name.clone(), |disk| disk.name))
}

impl Disks {
    /// The counters now.
    pub(crate) fn now(names: &[String]) -> Self {
        let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
        Self::parse(&text, names)
    }

    fn parse(text: &str, names: &[String]) -> Self {
        let mut counters = BTreeMap::new();
        for line in text.lines() {
            let mut fields = line.split_whitespace().skip(2);
            let Some(name) = fields.next().filter(|name| names.iter().any(|wanted| wanted == name)) else { continue };
            let mut values = [0; 11];
            for (value, field) in values.iter_mut().zip(fields) {
                *value = field.parse().unwrap_or(0);
            }
            counters.insert(name.to_owned(), values);
        }
        Self { counters }
    }

    /// What was done since `earlier`, which was so long ago.
    pub(crate) fn since(&self, earlier: &Self, watched_ms: u64) -> Vec<DiskUse> {
        let used = |(name, now): (&String, &[u64; 11])| {
            let before = earlier.counters.get(name)?;
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
            })
        };
        self.counters.iter().filter_map(used).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_apart() {
        let names = ["sda".to_owned()];
        let before =
            Disks::parse("   8 0 sda 1 2 3 4 5 6 7 8 9 10 11 0 0\n   8 1 sda1 1 1 1 1 1 1 1 1 1 1 1\n", &names);
        let after = Disks::parse("   8 0 sda 11 22 33 44 55 66 77 88 0 100 110 9 9\n", &names);
        let used = after.since(&before, 1000);
        assert_eq!(used.len(), 1);
        assert_eq!((used[0].ios, used[0].merges, used[0].sectors), ([10, 50], [20, 60], [30, 70]));
        assert_eq!((used[0].ticks_ms, used[0].busy_ms, used[0].in_queue_ms), ([40, 80], 90, 99));
    }
}
