//! A block device's attributes (kernel documentation, `ABI/stable/sysfs-block`; `device/` is the driver's).

use std::path::Path;

use flashmark_core::environment::{Device, LoopBacking};
use flashmark_core::record::Warning;

use super::{Collect, card, mount_of};
use crate::device::{BlockDevice, Driver, Sysfs};

/// Everything that is known of a device; of a partition, the size is its own and the rest its disk's.
#[must_use]
pub fn describe_device(sysfs: &Sysfs, device: &BlockDevice, options: Collect, warnings: &mut Vec<Warning>) -> Device {
    let parent = device.disk();
    let disk = parent.as_ref().unwrap_or(device);
    let kib = |attribute: &str| disk.number_of(attribute).and_then(|kib| kib.checked_mul(1024));
    Device {
        name: device.name.clone(),
        disk: parent.as_ref().map(|disk| disk.name.clone()),
        model: model_of(disk),
        firmware: first(disk, &["device/firmware_rev", "device/rev", "firmware_rev"]),
        size_bytes: device.size_bytes(),
        rotational: disk.flag("queue/rotational"),
        removable: disk.flag("removable"),
        logical_block_bytes: disk.number_of("queue/logical_block_size"),
        physical_block_bytes: disk.number_of("queue/physical_block_size"),
        scheduler: disk.text("queue/scheduler").and_then(|list| active_scheduler(&list)),
        queue_requests_max: disk.number_of("queue/nr_requests"),
        device_queue_depth: disk.number_of("device/queue_depth"),
        request_bytes_max: kib("queue/max_sectors_kb"),
        read_ahead_bytes: kib("queue/read_ahead_kb"),
        write_cache: disk.text("queue/write_cache"),
        loop_backing: loop_backing(disk),
        card: card::describe(sysfs, disk, warnings),
        serial: options.serials.then(|| serial(disk)).flatten(),
    }
}

/// What a disk calls itself: vendor and model, an SD card's or eMMC's name, the kind of a device made of others.
#[must_use]
pub fn model_of(disk: &BlockDevice) -> Option<String> {
    match disk.driver() {
        Driver::Lvm { .. } => return Some("LVM volume".into()),
        Driver::Crypt { .. } => return Some("dm-crypt volume".into()),
        Driver::Multipath { .. } => return Some("multipath device".into()),
        Driver::DeviceMapper { .. } => return Some("device-mapper device".into()),
        Driver::Md { level } => return Some(format!("md {level}")),
        Driver::Loop => return Some("loop device".into()),
        Driver::Zram => return Some("zram".into()),
        Driver::RamDisk => return Some("RAM disk".into()),
        Driver::Bcache => return Some("bcache".into()),
        Driver::Other => {}
    }
    // PCI drivers have their vendor's number there.
    let vendor = disk.text("device/vendor").filter(|vendor| !vendor.starts_with("0x"));
    let model = first(disk, &["device/model", "device/name"]).map(|model| single_spaced(&model));
    match (vendor.map(|vendor| single_spaced(&vendor)), model) {
        // libata puts itself in the vendor's place.
        (Some(vendor), Some(model)) if vendor != "ATA" && !model.starts_with(&vendor) => {
            Some(format!("{vendor} {model}"))
        }
        (vendor, model) => model.or(vendor),
    }
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first(disk: &BlockDevice, attributes: &[&str]) -> Option<String> {
    attributes.iter().find_map(|attribute| disk.text(attribute))
}

/// The one in brackets; a device without a choice has a lone `none`.
fn active_scheduler(list: &str) -> Option<String> {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    bracketed.or_else(|| (!list.contains(' ')).then_some(list)).map(str::to_owned)
}

fn loop_backing(disk: &BlockDevice) -> Option<LoopBacking> {
    let file = disk.text("loop/backing_file")?;
    let file_system = mount_of(Path::new(&file)).map(|mount| mount.kind);
    Some(LoopBacking { direct_io: disk.flag("loop/dio").unwrap_or(false), file, file_system })
}

fn serial(disk: &BlockDevice) -> Option<String> {
    // SCSI: vital product data page 0x80 has the number behind 4 bytes of header.
    let page = || {
        let page = std::fs::read(disk.dir().join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    first(disk, &["serial", "device/serial"]).or_else(page).or_else(|| first(disk, &["wwid", "device/wwid"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use() {
        assert_eq!(active_scheduler("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(active_scheduler("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(active_scheduler("none").as_deref(), Some("none"));
        assert_eq!(active_scheduler("a b"), None);
    }
}
