//! FAT12, FAT16 and FAT32 (Microsoft, "FAT: General Overview of On-Disk Format", 1.03).

use super::{Medium, Signature, label};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let width = width(medium)?;
    let at = if width == 32 { 71 } else { 43 };
    let name = medium.bytes::<11>(at).and_then(|bytes| label(&bytes)).filter(|name| name != "NO NAME");
    // Without the extended boot signature there is no label there.
    let name = name.filter(|_| matches!(medium.u8(at - 5), Some(0x28 | 0x29)));
    Some(Signature::new("vfat", format!("FAT{width} file system"), name))
}

/// 12, 16 or 32, by the number of clusters; `None` for a boot sector that is none of a FAT.
pub(super) fn width(medium: &Medium<'_>) -> Option<u8> {
    if !medium.has(510, b"\x55\xaa") {
        return None;
    }
    let sector = u32::from(medium.u16(11)?);
    let cluster_sectors = u32::from(medium.u8(13)?);
    let reserved = u32::from(medium.u16(14)?);
    let fats = u32::from(medium.u8(16)?);
    let root_entries = u32::from(medium.u16(17)?);
    let media = medium.u8(21)?;
    let sane = sector.is_power_of_two()
        && (512..=4096).contains(&sector)
        && cluster_sectors.is_power_of_two()
        && reserved != 0
        && (1..=4).contains(&fats)
        && (media == 0xf0 || media >= 0xf8);
    if !sane {
        return None;
    }
    let sectors = match medium.u16(19)? {
        0 => medium.u32(32)?,
        some => u32::from(some),
    };
    let fat_sectors = match medium.u16(22)? {
        0 => medium.u32(36)?,
        some => u32::from(some),
    };
    let root_sectors = (root_entries * 32).div_ceil(sector);
    let meta = fats.checked_mul(fat_sectors)?.checked_add(reserved)?.checked_add(root_sectors)?;
    let clusters = sectors.checked_sub(meta)? / cluster_sectors;
    if fat_sectors == 0 || clusters == 0 {
        return None;
    }
    Some(match (medium.u16(22)?, clusters) {
        (0, _) => 32,
        (_, ..4085) => 12,
        _ => 16,
    })
}
