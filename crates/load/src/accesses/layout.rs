//! What each file is to a pass when it begins: its map, its law, its zones.

use std::sync::Arc;

use flashmark_core::order::Ranking;
use flashmark_fio::options::AccessOptions;
use flashmark_fio::value::decimal::Billionths;
use flashmark_fio::value::distribution::{Distribution, Zone, ZoneOfBytes};

use super::FilePart;
use super::deck::Deck;
use super::error::AccessError;
use super::file::File;
use super::map::BlockMap;
use super::offsets::{Grid, Law, Mapped, Normal, Popular, Random, Span};
use super::permutation::OnceEach;
use super::plan::{Coverage, Plan, used};
use super::seeds::{Question, Seeds};

/// The most memory that the maps of all files may take: as many blocks as 8 TiB have of 4 KiB each.
const MAP_BYTES_MAX: u64 = 256 << 20;

/// Makes the files.
pub(super) fn files(
    options: &AccessOptions,
    plan: &mut Plan,
    parts: &[FilePart],
    seeds: Seeds,
) -> Result<Vec<File>, AccessError> {
    if let Coverage::Mapped { unit } = plan.coverage {
        let blocks = parts.iter().map(|part| part.bytes / unit).fold(0, u64::saturating_add);
        let map_bytes = parts.iter().map(|part| BlockMap::bytes(part.bytes / unit)).fold(0, u64::saturating_add);
        if map_bytes > MAP_BYTES_MAX {
            if !options.softrandommap {
                return Err(AccessError::MapTooLarge { blocks, map_bytes, most_bytes: MAP_BYTES_MAX });
            }
            plan.coverage = Coverage::Repeating;
        }
    }
    let mut rankings = Rankings::default();
    let one = |(index, part): (usize, &FilePart)| {
        let random = random(options, plan, index, part.bytes, seeds, &mut rankings)?;
        Ok(File::new(part.start, part.bytes, random))
    };
    parts.iter().enumerate().map(one).collect()
}

/// Tables for numbers of blocks that several files have.
#[derive(Default)]
struct Rankings {
    made: std::collections::BTreeMap<u64, Arc<Ranking>>,
}

impl Rankings {
    fn get(&mut self, blocks: u64, make: impl FnOnce(u64) -> Ranking) -> Law {
        Law::Ranked(Arc::clone(self.made.entry(blocks).or_insert_with(|| Arc::new(make(blocks)))))
    }
}

fn number(value: Billionths) -> f64 {
    value.0 as f64 / 1e9
}

fn random(
    options: &AccessOptions,
    plan: &Plan,
    file: usize,
    bytes: u64,
    seeds: Seeds,
    rankings: &mut Rankings,
) -> Result<Random, AccessError> {
    let (used, grid) = (used(options.rw.access), &plan.grid);
    let (unit_direction, unit) = plan.unit(used);
    let units = grid.blocks(unit_direction, bytes);
    let blocks = std::array::from_fn(|direction| grid.blocks(direction, bytes));
    let popular = |law, center: Option<Billionths>| {
        let seed = seeds.seed(Question::Spread, file as u64);
        Random::Popular(Box::new(Popular::new(law, units, unit, center.map(number), seed)))
    };
    Ok(match (plan.coverage, &options.random_distribution) {
        (Coverage::Sequential, _) => Random::None,
        // Sequential accesses of a file without room come to nothing as well.
        _ if units == 0 => Random::None,
        (Coverage::Once, _) => {
            let seed = seeds.seed(Question::Offset, file as u64 + 1);
            Random::Once { order: OnceEach::new(units, seed), align: unit }
        }
        (Coverage::Mapped { unit }, _) => Random::Mapped(Box::new(Mapped::new(grid, used, unit, bytes))),
        (Coverage::Repeating, Distribution::Random) => Random::Uniform { blocks },
        (Coverage::Repeating, Distribution::Zipf { theta, center }) => {
            popular(rankings.get(units, |units| Ranking::zipf(units, number(*theta))), *center)
        }
        (Coverage::Repeating, Distribution::Pareto { power, center }) => {
            popular(rankings.get(units, |units| Ranking::pareto(units, number(*power))), *center)
        }
        (Coverage::Repeating, Distribution::Normal { deviation, center }) => {
            popular(Law::Normal(Normal::new(units, number(*deviation))), *center)
        }
        (Coverage::Repeating, Distribution::Zoned(zones)) => {
            let spans = |direction: usize| zones_of_percent(zones.each()[direction], blocks[direction]);
            Random::Zoned { zones: Arc::new(std::array::from_fn(spans)), blocks }
        }
        (Coverage::Repeating, Distribution::ZonedAbs(zones)) => {
            for (zones, _) in zones.each().iter().zip(used).filter(|(_, used)| *used) {
                let end = zones.iter().fold(0_u64, |sum, zone| sum.saturating_add(zone.bytes));
                if end > bytes {
                    let file = file as u32;
                    return Err(AccessError::ZonesBeyondFile { file, zones_bytes: end, part_bytes: bytes });
                }
            }
            let spans = |direction: usize| zones_of_bytes(zones.each()[direction], grid, direction, bytes);
            Random::Zoned { zones: Arc::new(std::array::from_fn(spans)), blocks }
        }
        (Coverage::Repeating, Distribution::Sequence(sequence)) => {
            for (direction, _) in used.iter().enumerate().filter(|(_, used)| **used) {
                let blocks = blocks[direction];
                if let Some(block) = sequence.iter().copied().find(|block| u64::from(*block) >= blocks) {
                    return Err(AccessError::SequenceBeyondFile { file: file as u32, block, blocks });
                }
            }
            let sequence = sequence.as_slice().into();
            Random::Sequence { sequence, stride: options.random_sequence_stride, blocks }
        }
    })
}

/// For each direction that has zones, how often each is met.
pub(super) fn zone_decks(distribution: &Distribution) -> Vec<Deck> {
    match distribution {
        Distribution::Zoned(zones) => {
            zones.each().map(|zones| Deck::new(zones.iter().map(|zone| zone.access_percent))).into()
        }
        Distribution::ZonedAbs(zones) => {
            zones.each().map(|zones| Deck::new(zones.iter().map(|zone| zone.access_percent))).into()
        }
        _ => Vec::new(),
    }
}

fn zones_of_percent(zones: &[Zone], blocks: u64) -> Vec<Span> {
    let share = |percent: u32| (u128::from(blocks) * u128::from(percent) / 100) as u64;
    let mut before = 0;
    let span = |zone: &Zone| {
        let span = Span { first: share(before), count: share(zone.size_percent) };
        before += zone.size_percent;
        span
    };
    zones.iter().map(span).collect()
}

fn zones_of_bytes(zones: &[ZoneOfBytes], grid: &Grid, direction: usize, bytes: u64) -> Vec<Span> {
    let align = grid.aligns[direction];
    let mut before = 0;
    let span = |zone: &ZoneOfBytes| {
        let end = if zone.bytes == 0 { bytes } else { zone.bytes.saturating_add(before) };
        let (first, last) = (before / align, (end / align).min(grid.blocks(direction, bytes)));
        before = end;
        Span { first, count: last.saturating_sub(first) }
    };
    zones.iter().map(span).collect()
}
