//! The wear of a simulated medium: totals, and a map of it in characters.

use flashmark_core::simulation::Wear;

use crate::attribution::percent;
use crate::figures::{counted, digits, size};
use crate::simulation::{mean_erases_milli, wear};
use crate::targets::Group;

/// What is said where nothing is known.
pub(crate) const UNKNOWN: &str = "the wear of the medium is known of simulated boards only";

/// Parts of the map in a line, at most.
const CELLS_MAX: usize = 64;

/// From nothing to the most: as blocks, and for outputs that have none.
const BLOCKS: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII: [char; 5] = [' ', '.', ':', '*', '#'];

/// The wear of a target's medium after its last record; `None` if no record tells.
pub(crate) fn of<'a>(group: &Group<'a>) -> Option<&'a Wear> {
    group.records.iter().rev().find_map(|record| wear(record))
}

/// The totals, in a line.
pub(crate) fn summary(wear: &Wear) -> String {
    let mean = mean_erases_milli(wear).map_or_else(|| "0".into(), |milli| digits(milli as f64 / 1000.0));
    let share = match wear.endurance {
        0 => String::new(),
        endurance => {
            let used = percent(f64::from(wear.max) / f64::from(endurance));
            format!(": {used} of the {endurance} that the data sheet promises")
        }
    };
    format!(
        "{} of {} of {}; {mean} a sector on average, {} at most{share}",
        counted(wear.erases, "erase", "erases"),
        counted(wear.sectors, "sector", "sectors"),
        size(wear.sector_bytes.into()),
        wear.max,
    )
}

/// The map's lines, no wider than `width`, each with the address of its first byte from the storage's start; below them
/// what the characters mean. None where there is no map.
pub(crate) fn map(wear: &Wear, width: Option<usize>, ascii: bool) -> Vec<String> {
    let most = wear.map.iter().copied().max().unwrap_or(0);
    if wear.map.is_empty() {
        return Vec::new();
    }
    let (shades, wall) = if ascii { (ASCII, '|') } else { (BLOCKS, '│') };
    let cells = wear.map.len() as u64;
    let first_sector = |cell: u64| u128::from(wear.sectors) * u128::from(cell) / u128::from(cells);
    let address = |cell: u64| first_sector(cell) * u128::from(wear.sector_bytes);
    let digits = format!("{:x}", address(cells)).len();
    // `0x`, the address, a space and two walls.
    let room = width.map_or(CELLS_MAX, |width| width.saturating_sub(digits + 5));
    // Lines begin at round addresses as long as there is room for eight parts.
    let columns = [CELLS_MAX, 32, 16].into_iter().find(|columns| *columns <= room).unwrap_or(8);
    let mut lines: Vec<String> = Vec::new();
    for (line, part) in (0_u64..).zip(wear.map.chunks(columns)) {
        let start = address(line * columns as u64);
        let shown: String = part.iter().map(|&erases| shades[shade(erases, most)]).collect();
        let rest = " ".repeat(columns.min(wear.map.len()) - part.len());
        lines.push(format!("0x{start:0digits$x} {wall}{shown}{rest}{wall}"));
    }
    lines.push(legend(wear, most, &shades));
    lines
}

/// How dark a part is: 0 without erases, 1 to 4 by the quarter of the most that it lies in.
fn shade(erases: u32, most: u32) -> usize {
    let quarters = (u64::from(erases) * 4).div_ceil(u64::from(most.max(1)));
    usize::try_from(quarters).unwrap_or(4).min(4)
}

fn legend(wear: &Wear, most: u32, shades: &[char; 5]) -> String {
    let most = u64::from(most);
    let mut parts = vec!["blank 0".to_owned()];
    for (level, shade) in (1..).zip(shades.iter().skip(1)) {
        let (low, high) = (most * (level - 1) / 4 + 1, most * level / 4);
        match high.cmp(&low) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => parts.push(format!("{shade} {low}")),
            std::cmp::Ordering::Greater => parts.push(format!("{shade} {low} to {high}")),
        }
    }
    let cells = wear.map.len().max(1) as u64;
    let up_to = if wear.sectors.is_multiple_of(cells) { "" } else { "up to " };
    let each = match wear.sectors.div_ceil(cells) {
        0 | 1 => "a character is a sector".to_owned(),
        many => format!("a character is {up_to}{many} sectors, and shows the one erased most"),
    };
    format!("erases: {}; {each}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples;

    fn sample() -> Wear {
        wear(&samples::simulated::on_fatfs()[0]).unwrap().clone()
    }

    #[test]
    fn the_map_is_darkest_where_most_was_erased() {
        insta::assert_snapshot!(
            summary(&sample()),
            @"2116 erases of 512 sectors of 4 KiB; 4.13 a sector on average, 40 at most: <0.1 % of the 100000 that the data sheet promises"
        );
        insta::assert_snapshot!(map(&sample(), None, false).join("\n"), @r"
        0x000000 │██▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░░░░░░░░│
        0x080000 │░░░░░░░░░░░░░░░░░▓▓▓▓▓▓▓▓▓▓                                     │
        0x100000 │                                                                │
        0x180000 │                                                          ░░░░░░│
        erases: blank 0, ░ 1 to 10, ▒ 11 to 20, ▓ 21 to 30, █ 31 to 40; a character is 2 sectors, and shows the one erased most
        ");
        insta::assert_snapshot!(map(&sample(), Some(44), true).join("\n"), @r"
        0x000000 |##::::::::::::::::::::::::::::::|
        0x040000 |:::::::::.......................|
        0x080000 |.................**********     |
        0x0c0000 |                                |
        0x100000 |                                |
        0x140000 |                                |
        0x180000 |                                |
        0x1c0000 |                          ......|
        erases: blank 0, . 1 to 10, : 11 to 20, * 21 to 30, # 31 to 40; a character is 2 sectors, and shows the one erased most
        ");
    }

    #[test]
    fn the_legend_has_no_empty_ranges() {
        let wear = |max| Wear { max, map: vec![0, max], sectors: 2, sector_bytes: 4096, ..Wear::default() };
        let legend = |max| map(&wear(max), None, true).pop().unwrap();
        assert_eq!(legend(0), "erases: blank 0; a character is a sector");
        assert_eq!(legend(1), "erases: blank 0, # 1; a character is a sector");
        assert_eq!(legend(2), "erases: blank 0, : 1, # 2; a character is a sector");
        assert_eq!(legend(9), "erases: blank 0, . 1 to 2, : 3 to 4, * 5 to 6, # 7 to 9; a character is a sector");
    }

    #[test]
    fn no_wear_at_all_is_no_trouble() {
        assert_eq!(map(&Wear::default(), None, false), [""; 0]);
        assert_eq!(summary(&Wear::default()), "0 erases of 0 sectors of 0 B; 0 a sector on average, 0 at most");
    }

    proptest! {
        /// The legend's ranges are the shades of the map, whatever the maximum.
        #[test]
        fn every_count_is_in_the_range_of_its_shade(most in 1_u32.., part in 0_u32..) {
            let erases = part % most.saturating_add(1).max(1);
            let level = shade(erases, most) as u64;
            if erases == 0 {
                prop_assert_eq!(level, 0);
            } else {
                let (low, high) = (u64::from(most) * (level - 1) / 4 + 1, u64::from(most) * level / 4);
                prop_assert!((low..=high).contains(&u64::from(erases)), "{erases} of {most}: {level}");
            }
        }

        #[test]
        fn no_map_is_wider_than_the_terminal(
            map_of in proptest::collection::vec(any::<u32>(), 1..256), sectors: u64, sector_bytes: u32, width in 45_usize..200,
        ) {
            let wear = Wear { map: map_of, sectors, sector_bytes, ..Wear::default() };
            let lines = map(&wear, Some(width), false);
            for line in &lines[..lines.len() - 1] {
                prop_assert!(line.chars().count() <= width, "{line}");
            }
        }
    }
}
