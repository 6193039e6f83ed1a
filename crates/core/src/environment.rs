//! What a result was measured with: everything a reader needs to judge it. Paths and labels in it may hold names; what
//! identifies a device for good does not stand in it unasked.
//!
//! Every field that is unknown is left out. Serial numbers are there only on request.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The machine, its software and the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Operating system, release and build, e.g. `Linux 6.18.44 x86_64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The processor's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Processors online.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    /// The frequency governor, e.g. `performance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_governor: Option<String>,
    /// Main memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The file system of the target, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<FileSystem>,
    /// The block device of the target, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystem {
    /// Its type as the kernel names it, e.g. `ext4`.
    pub kind: String,
    /// Where it is mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<String>,
    /// What is mounted, e.g. `/dev/sda1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Mount options, of the mount and of the file system, comma separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
    /// Size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Bytes free before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Allocation block in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// How it was made, if it was made for this run: mkfs's command line without the device, mount options, what was done
    /// to the directory that is measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_with: Vec<String>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// The kernel's name, e.g. `mmcblk0p1`.
    pub name: String,
    /// The whole disk of a partition, e.g. `mmcblk0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Vendor and model, where the device tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Capacity in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Whether the kernel takes it for a rotating disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Whether it can be taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removable: Option<bool>,
    /// Logical block in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Physical block in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// The I/O scheduler in use, e.g. `mq-deadline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The block layer's limit of requests under way (`nr_requests`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_requests_max: Option<u64>,
    /// The device's own queue depth, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_queue_depth: Option<u64>,
    /// The largest request the kernel sends, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes_max: Option<u64>,
    /// Read-ahead in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`: whether the device is taken to have a volatile cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// For a loop device: the backing file, and whether it is used directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_backing: Option<LoopBacking>,
    /// For SD and eMMC: what the card's registers say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Its serial number; only on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}

/// What is behind a loop device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopBacking {
    /// The backing file.
    pub file: String,
    /// Whether the loop driver passes the page cache of the backing file by.
    pub direct_io: bool,
    /// The file system that the backing file is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}

/// What an SD card or an eMMC says of itself (CID, CSD, and the host's bus).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// `SD`, `MMC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Product name (PNM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Manufacturer id (MID), e.g. `0x000003`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer_id: Option<String>,
    /// OEM id (OID).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oem_id: Option<String>,
    /// Manufacturing date as the kernel prints it, `MM/YYYY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Hardware and firmware revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The bus clock in use, in hertz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_clock_hz: Option<u64>,
    /// Bus width and timing in use, e.g. `4 bits, sd uhs SDR104`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_mode: Option<String>,
    /// The preferred erase size in bytes (an SD card's allocation unit).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_erase_bytes: Option<u64>,
}
