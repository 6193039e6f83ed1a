//! Summing up the wear of a part of a chip.

use std::ops::Range;

use flashmark_chips::nor;
use flashmark_core::simulation::{WEAR_CELLS, Wear};

use crate::storage::SECTOR_BYTES;

/// The wear of the sectors in a range of addresses.
pub(super) fn of(chip: &nor::Chip, range: &Range<u64>) -> Wear {
    let sector = u64::from(SECTOR_BYTES);
    let (first, end) = (range.start / sector, range.end / sector);
    let sectors = end - first;
    let per_cell = sectors.div_ceil(WEAR_CELLS as u64).max(1);
    let mut map = vec![0; usize::try_from(sectors.div_ceil(per_cell)).unwrap_or(0)];
    let (mut erases, mut max) = (0, 0);
    let wear = chip.wear();
    for sector in first..end {
        let count = u32::try_from(sector).map_or(0, |sector| wear.get(sector));
        erases += u64::from(count);
        max = max.max(count);
        if let Some(cell) = usize::try_from((sector - first) / per_cell).ok().and_then(|cell| map.get_mut(cell)) {
            *cell = count.max(*cell);
        }
    }
    Wear { sector_bytes: SECTOR_BYTES, sectors, erases, max, endurance: chip.profile().endurance_cycles, map }
}
