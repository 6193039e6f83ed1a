//! The options of FatFs.

use crate::device::Geometry;
use crate::options::{Key, OptionError, Options, Reader};

/// The options; the defaults are ESP-IDF's on SPI flash with wear levelling
/// (`components/fatfs/Kconfig`, `components/fatfs/vfs/vfs_fat_spiflash.c`).
pub const KEYS: &[Key] = &[
    Key { name: "sector", about: "sector size", values: "512, 1k, 2k, 4k", default: "4096" },
    Key {
        name: "cluster",
        about: "cluster size; ESP-IDF's allocation_unit_size; `auto` leaves it to f_mkfs",
        values: "sector, auto, or a power of two from the sector's size to 128 sectors (exFAT: 16 MiB)",
        default: "sector",
    },
    Key { name: "fats", about: "copies of the allocation table", values: "1, 2", default: "2" },
    Key {
        name: "type",
        about: "FAT type; with auto f_mkfs takes FAT12, FAT16 or FAT32 by the number of clusters",
        values: "auto, fat12, fat16, fat32, exfat",
        default: "auto",
    },
    Key {
        name: "root-entries",
        about: "entries of the root directory (FAT12, FAT16); auto: 512, or on up to 128 sectors 128 (16 with 512-byte \
                sectors), as ESP-IDF",
        values: "auto, or a multiple of sector/32 up to 32768",
        default: "auto",
    },
    Key { name: "lfn", about: "long file names, in UTF-8", values: "off, on", default: "off" },
    Key {
        name: "per-file-buffers",
        about: "a sector buffer in each open file, instead of one for the volume (FF_FS_TINY)",
        values: "true, false",
        default: "true",
    },
    Key {
        name: "fast-seek",
        about: "a link map of the clusters for files opened for reading only",
        values: "true, false",
        default: "false",
    },
    Key { name: "fast-seek-buffer", about: "entries of a link map", values: "4 to 65536", default: "64" },
    Key {
        name: "format-buffer",
        about: "buffer of f_mkfs: the largest write while formatting",
        values: "a size from the sector's to 64 MiB",
        default: "4096",
    },
    Key {
        name: "align",
        about: "alignment of the data area; 0: none, as on wear levelling",
        values: "0, or a power of two of sectors, up to 32768 of them",
        default: "0",
    },
    Key {
        name: "partition-table",
        about: "formats with a partition table, as for a card, instead of a volume alone",
        values: "true, false",
        default: "false",
    },
    Key {
        name: "trim",
        about: "tells the device what is no longer needed; ESP-IDF's wear levelling does not take it",
        values: "true, false",
        default: "false",
    },
];

/// FAT types that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FatType {
    Auto,
    Fat12,
    Fat16,
    Fat32,
    ExFat,
}

/// The options by their meaning.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // options that have nothing to do with each other
pub struct Settings {
    pub sector_bytes: u32,
    pub sectors: u32,
    /// 0: up to `f_mkfs`.
    pub cluster_bytes: u32,
    pub fats: u32,
    pub fat_type: FatType,
    /// 0: up to `f_mkfs`.
    pub root_entries: u32,
    pub long_names: bool,
    pub per_file_buffers: bool,
    /// Entries of a link map; 0: none.
    pub link_map_entries: u32,
    pub format_buffer_bytes: u32,
    pub align_sectors: u32,
    pub partition_table: bool,
    pub trim: bool,
}

/// The least that `f_mkfs` formats.
const LEAST_SECTORS: u64 = 128;
const LEAST_EXFAT_SECTORS: u64 = 4096;

impl Settings {
    /// Reads options and holds them against each other and the device.
    pub fn new(options: &Options, geometry: Geometry) -> Result<Self, OptionError> {
        let reader = Reader::new("fatfs", KEYS, options)?;
        let sector_bytes = reader.bytes("sector")?;
        check_sector(&reader, sector_bytes, geometry)?;
        let long_names = reader.flag("lfn")?;
        let types = [
            ("auto", FatType::Auto),
            ("fat12", FatType::Fat12),
            ("fat16", FatType::Fat16),
            ("fat32", FatType::Fat32),
            ("exfat", FatType::ExFat),
        ];
        let fat_type = reader.choice("type", &types)?;
        let is_exfat = fat_type == FatType::ExFat;
        if is_exfat && !long_names {
            return Err(reader.bad("type", "exFAT needs lfn=on"));
        }
        let sectors = geometry.size_bytes / u64::from(sector_bytes);
        let least = if is_exfat { LEAST_EXFAT_SECTORS } else { LEAST_SECTORS };
        if sectors < least {
            let why = format!(
                "the device of {} bytes has {sectors} sectors of this size; the least that can be formatted is {least}",
                geometry.size_bytes
            );
            return Err(reader.bad(if is_exfat { "type" } else { "sector" }, why));
        }
        let sectors = u32::try_from(sectors).map_err(|_| {
            reader.bad("sector", "the device has more than 2^32 sectors of this size, which FatFs cannot count")
        })?;
        let settings = Self {
            sector_bytes,
            sectors,
            cluster_bytes: cluster(&reader, sector_bytes, is_exfat, geometry)?,
            fats: reader.number_in("fats", 1, 2)?,
            fat_type,
            root_entries: root_entries(&reader, sector_bytes, sectors)?,
            long_names,
            per_file_buffers: reader.flag("per-file-buffers")?,
            link_map_entries: {
                let entries = reader.number_in("fast-seek-buffer", 4, 65536)?;
                if reader.flag("fast-seek")? { entries } else { 0 }
            },
            format_buffer_bytes: reader.bytes("format-buffer")?,
            align_sectors: align(&reader, sector_bytes)?,
            partition_table: reader.flag("partition-table")?,
            trim: reader.flag("trim")?,
        };
        if !(sector_bytes..=64 << 20).contains(&settings.format_buffer_bytes) {
            return Err(reader.bad("format-buffer", format!("it has to be from {sector_bytes} (a sector) to 64 MiB")));
        }
        Ok(settings)
    }
}

fn check_sector(reader: &Reader<'_>, sector_bytes: u32, geometry: Geometry) -> Result<(), OptionError> {
    if !sector_bytes.is_power_of_two() || !(512..=4096).contains(&sector_bytes) {
        return Err(reader.bad("sector", "it has to be 512, 1024, 2048 or 4096"));
    }
    let units = [("erase", geometry.erase_bytes), ("program", geometry.program_bytes), ("read", geometry.read_bytes)];
    for (what, unit) in units {
        if unit == 0 || !sector_bytes.is_multiple_of(unit) {
            let why = format!("it has to be a multiple of what the device can {what} at least, {unit} bytes");
            return Err(reader.bad("sector", why));
        }
    }
    Ok(())
}

fn cluster(reader: &Reader<'_>, sector_bytes: u32, is_exfat: bool, geometry: Geometry) -> Result<u32, OptionError> {
    match reader.text("cluster") {
        "sector" => return Ok(sector_bytes),
        "auto" => return Ok(0),
        _ => {}
    }
    let bytes = reader.bytes("cluster")?;
    if !bytes.is_power_of_two() {
        return Err(reader.bad("cluster", "it has to be a power of two"));
    }
    if bytes < sector_bytes {
        return Err(reader.bad("cluster", format!("it has to be a multiple of the sector, {sector_bytes} bytes")));
    }
    let most = if is_exfat { 16 << 20 } else { 128 * sector_bytes };
    if bytes > most {
        return Err(reader.bad("cluster", format!("it has to be at most {most} bytes with these sectors")));
    }
    if u64::from(bytes) > geometry.size_bytes {
        return Err(reader.bad("cluster", format!("it is larger than the device, {} bytes", geometry.size_bytes)));
    }
    Ok(bytes)
}

fn root_entries(reader: &Reader<'_>, sector_bytes: u32, sectors: u32) -> Result<u32, OptionError> {
    if reader.text("root-entries") == "auto" {
        let few = if sector_bytes == 512 { 16 } else { 128 };
        return Ok(if sectors <= 128 { few } else { 0 });
    }
    let entries = reader.number_in("root-entries", 1, 32768)?;
    let in_sector = sector_bytes / 32;
    if !entries.is_multiple_of(in_sector) {
        return Err(reader.bad("root-entries", format!("it has to be a multiple of {in_sector}, what a sector holds")));
    }
    Ok(entries)
}

fn align(reader: &Reader<'_>, sector_bytes: u32) -> Result<u32, OptionError> {
    let bytes = reader.bytes("align")?;
    let sectors = bytes / sector_bytes;
    let whole = bytes.is_multiple_of(sector_bytes) && (sectors == 0 || sectors.is_power_of_two());
    if whole && sectors <= 32768 {
        Ok(sectors)
    } else {
        Err(reader.bad("align", "it has to be 0 or a power of two of sectors, at most 32768 of them"))
    }
}
