//! SD cards and eMMC: registers (kernel documentation, "SD and MMC block device attributes") and the bus (debugfs).

use flashmark_core::environment::Card;
use flashmark_core::record::Warning;

use super::unknown;
use crate::device::{BlockDevice, Sysfs};

/// What a card's registers say; `None` for a disk that is no card.
pub(super) fn describe(sysfs: &Sysfs, disk: &BlockDevice, warnings: &mut Vec<Warning>) -> Option<Card> {
    let kind = disk.text("device/type").filter(|kind| matches!(kind.as_str(), "SD" | "MMC" | "SDcombo"))?;
    disk.text("device/cid")?;
    let revision = match (disk.text("device/hwrev"), disk.text("device/fwrev")) {
        (Some(hardware), Some(firmware)) => Some(format!("hardware {hardware}, firmware {firmware}")),
        // eMMC since 4.41 has no hardware revision in the kernel's eyes, and a product revision.
        (None, Some(firmware)) => Some(format!("firmware {firmware}")),
        (Some(hardware), None) => Some(format!("hardware {hardware}")),
        (None, None) => disk.text("device/prv").map(|product| format!("product {product}")),
    };
    let bus = Bus::of(sysfs, disk);
    if bus == Bus::default() {
        warnings.push(unknown(format!(
            "the bus clock and mode of {} are unknown: they are in debugfs, for root only (mount -t debugfs debugfs /sys/kernel/debug)",
            disk.name
        )));
    }
    Some(Card {
        kind: Some(kind),
        name: disk.text("device/name"),
        manufacturer_id: disk.text("device/manfid"),
        oem_id: disk.text("device/oemid"),
        date: disk.text("device/date"),
        revision,
        bus_clock_hz: bus.clock_hz,
        bus_mode: bus.mode,
        preferred_erase_bytes: disk.number_of("device/preferred_erase_size").filter(|&bytes| bytes > 0),
    })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Bus {
    clock_hz: Option<u64>,
    mode: Option<String>,
}

impl Bus {
    /// From `/sys/kernel/debug/mmcN/ios` (`drivers/mmc/core/debugfs.c`). The host's name is in the path of the card:
    /// `.../mmc_host/mmc0/mmc0:aaaa/block/mmcblk0`.
    fn of(sysfs: &Sysfs, disk: &BlockDevice) -> Self {
        let host = disk.dir().ancestors().find_map(|dir| {
            let (parent, name) = (dir.parent()?.file_name()?, dir.file_name()?.to_str()?);
            (parent == "mmc_host").then(|| name.to_owned())
        });
        let ios = host.and_then(|host| sysfs.text(format!("sys/kernel/debug/{host}/ios")));
        ios.map(|ios| Self::parse(&ios)).unwrap_or_default()
    }

    fn parse(ios: &str) -> Self {
        let value = |name: &str| {
            ios.lines()
                .find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))
                .map(|(_, v)| v.trim())
        };
        // `clock` is what was asked for; `actual clock` what the divider gave, where the host tells.
        let hertz = |name| value(name)?.strip_suffix("Hz")?.trim().parse::<u64>().ok().filter(|&hz| hz > 0);
        // `2 (4 bits)`: the words are in parentheses.
        let words = |name| Some(value(name)?.split_once('(')?.1.strip_suffix(')')?.to_owned());
        let mode: Vec<String> = [words("bus width"), words("timing spec")].into_iter().flatten().collect();
        Self {
            clock_hz: hertz("actual clock").or_else(|| hertz("clock")),
            mode: (!mode.is_empty()).then(|| mode.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_clock_asked_for_counts_where_the_actual_is_unknown() {
        let bus = Bus::parse("clock:\t\t50000000 Hz\nactual clock:\t0 Hz\nbus width:\t2 (4 bits)\n");
        assert_eq!(bus, Bus { clock_hz: Some(50_000_000), mode: Some("4 bits".into()) });
        assert_eq!(Bus::parse("clock:\t\t0 Hz\npower mode:\t0 (off)\n"), Bus::default());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text: String) {
            let _ = Bus::parse(&text);
        }
    }
}
