//! The power goes at every program and erase, in every way; then again at every one while that is mended.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use esp_wl::{Config, Error, Recovery, SmallSectorMode, SmallSectors, State, WearLevelling};
use support::{EFFECTS, Effect, Fault, Nor, Random, SECTOR, pattern};

type Volume = WearLevelling<Nor>;

/// Moves at every second erase, in few pieces, so that whole rounds are few operations.
fn config(flash: &Nor) -> Config {
    Config { update_rate: 2, copy_bytes: 512, ..Config::esp_idf(flash.bytes.len() as u32) }
}

fn config_of_original(flash: &Nor) -> Config {
    Config { recovery: Recovery::EspIdf, ..config(flash) }
}

/// A volume with data in each sector, and what its sectors hold. `None` is unknown.
type Content = Vec<Option<Vec<u8>>>;

fn filled(sectors: usize) -> (Nor, Content) {
    let flash = Nor::blank(sectors);
    let settings = config(&flash);
    let mut volume = Volume::mount(flash, settings, ()).unwrap();
    let content: Content =
        (0..volume.layout().data_sectors).map(|sector| Some(pattern(sector + 100, SECTOR))).collect();
    for (sector, bytes) in content.iter().enumerate() {
        volume.write((sector * SECTOR) as u32, bytes.as_ref().unwrap()).unwrap();
    }
    (volume.into_inner(), content)
}

fn check(volume: &mut Volume, content: &Content, context: &dyn std::fmt::Debug) {
    let mut bytes = vec![0; SECTOR];
    for (sector, expected) in content.iter().enumerate() {
        if let Some(expected) = expected {
            volume.read((sector * SECTOR) as u32, &mut bytes).unwrap();
            assert!(bytes == *expected, "sector {sector} at {context:?}");
        }
    }
}

/// Rewrites sectors one after the other and keeps the books.
fn rewrite(volume: &mut Volume, content: &mut Content, writes: u32) -> Result<(), Error<Fault>> {
    for write in 0..writes {
        let sector = (write * 3 + 1) % volume.layout().data_sectors;
        // Without an erase, a move may be under way: the sector keeps its old content until it is erased.
        let bytes = pattern(write, SECTOR);
        let old = content[sector as usize].take();
        let moves = volume.stats().erases;
        let result = volume.erase_sector(sector);
        if result.is_err() && volume.stats().erases == moves {
            content[sector as usize] = old;
        }
        result?;
        volume.write(sector * SECTOR as u32, &bytes)?;
        content[sector as usize] = Some(bytes);
    }
    Ok(())
}

/// All that must hold after a cut: data that was not being written is there, stays there over a reset that comes at
/// once, for the original too, and over further rounds.
fn check_all(flash: &Nor, content: &Content, context: &dyn std::fmt::Debug) {
    let settings = config(flash);
    let mut volume = Volume::open(flash.restarted(), settings, ()).unwrap();
    check(&mut volume, content, context);
    let mended = volume.into_inner();
    for settings in [settings, config_of_original(flash)] {
        let mut volume = Volume::open(mended.restarted(), settings, ()).unwrap();
        assert_eq!(volume.flash().changes, 0, "mended twice: {context:?}");
        check(&mut volume, content, context);
    }
    let mut volume = Volume::open(mended, settings, ()).unwrap();
    let mut content = content.clone();
    rewrite(&mut volume, &mut content, 10).unwrap();
    check(&mut volume, &content, context);
}

#[test]
fn at_every_change_and_again_while_mending() {
    let (start, content) = filled(7);
    let settings = config(&start);
    let mut mended = 0;
    for change in 0.. {
        let mut cut = false;
        for effect in EFFECTS {
            let mut content = content.clone();
            let mut volume = Volume::open(start.cut_at(change, effect), settings, ()).unwrap();
            let result = rewrite(&mut volume, &mut content, 18);
            let flash = volume.into_inner();
            cut = flash.is_cut();
            assert_eq!(result.is_err(), cut);
            if !cut {
                break;
            }
            check_all(&flash, &content, &(change, effect));
            for again in 0.. {
                let changes = Volume::open(flash.restarted(), settings, ()).unwrap().flash().changes;
                if again >= changes {
                    break;
                }
                for second in EFFECTS {
                    let mut twice = flash.cut_at(again, second);
                    assert!(WearLevelling::open(&mut twice, settings, ()).is_err());
                    check_all(&twice, &content, &(change, effect, again, second));
                    mended += 1;
                }
            }
        }
        if !cut {
            assert!(change > 18 + 18 + 9 * 11, "{change} changes are too few for several rounds");
            break;
        }
    }
    assert!(mended > 100, "{mended}");
}

/// States of two sectors, of which a cut can take one.
#[test]
fn states_of_several_sectors() {
    let settings = Config { update_rate: 1, copy_bytes: 512, ..Config::esp_idf(253 * SECTOR as u32) };
    let mut volume = Volume::mount(Nor::blank(253), settings, ()).unwrap();
    let positions = volume.layout().positions();
    let content: Content = (0..positions - 1).map(|sector| Some(pattern(sector, SECTOR))).collect();
    for (sector, bytes) in content.iter().enumerate() {
        volume.write((sector * SECTOR) as u32, bytes.as_ref().unwrap()).unwrap();
    }
    (0..positions - 1).for_each(|_| volume.flush().unwrap());
    let last_move = volume.into_inner();
    for change in 0.. {
        let mut cut = false;
        for effect in EFFECTS {
            let mut volume = Volume::open(last_move.cut_at(change, effect), settings, ()).unwrap();
            let result = volume.flush();
            let flash = volume.into_inner();
            cut = flash.is_cut();
            assert_eq!(result.is_err(), cut);
            let mut volume = Volume::open(flash.restarted(), settings, ()).unwrap();
            check(&mut volume, &content, &(change, effect));
            let mut volume = Volume::open(volume.into_inner(), settings, ()).unwrap();
            check(&mut volume, &content, &(change, effect));
        }
        if !cut {
            assert_eq!(change, 1 + 8 + 2 + 4);
            break;
        }
    }
}

/// A cut between the two copies of a move record leaves the second state without it for the rest of the round; another cut
/// at the round's end then makes that state the one to recover from.
#[test]
fn after_a_move_recorded_once() {
    for gap in 0..3 {
        let (flash, mut content) = filled(7);
        let settings = config(&flash);
        let mut volume = Volume::open(flash, settings, ()).unwrap();
        rewrite(&mut volume, &mut content, 2 * (gap + 1)).unwrap();
        assert_eq!(volume.state().dummy_sector, gap + 1);
        let second = volume.layout().states[1] as usize;
        let mut start = volume.into_inner();
        start.bytes[second + 64 + 16 * gap as usize..][..16].fill(0xFF);
        for change in 0.. {
            let mut cut = false;
            for effect in EFFECTS {
                let mut content = content.clone();
                let mut volume = Volume::open(start.cut_at(change, effect), settings, ()).unwrap();
                let result = rewrite(&mut volume, &mut content, 9);
                let flash = volume.into_inner();
                cut = flash.is_cut();
                assert_eq!(result.is_err(), cut);
                check_all(&flash, &content, &(gap, change, effect));
            }
            if !cut {
                break;
            }
        }
    }
}

/// One state is destroyed, at any position of the dummy, not by a cut. (The original takes the first state's loss for a cut
/// at the end of a round, and the second's for one at its begin.)
#[test]
fn either_state_destroyed_at_any_time() {
    let (flash, mut content) = filled(7);
    let settings = config(&flash);
    let mut volume = Volume::open(flash, settings, ()).unwrap();
    let mut positions = std::collections::BTreeSet::new();
    for _ in 0..20 {
        rewrite(&mut volume, &mut content, 2).unwrap();
        positions.insert(volume.state().dummy_sector);
        let flash = volume.into_inner();
        for start in [4 * SECTOR, 5 * SECTOR] {
            for (bytes, filling) in [(64, 0), (SECTOR, 0xFF)] {
                let mut broken = flash.restarted();
                broken.bytes[start..start + bytes].fill(filling);
                check_all(&broken, &content, &(&positions, start, filling));
            }
        }
        volume = Volume::open(flash, settings, ()).unwrap();
    }
    assert!(positions.into_iter().eq(0..4));
}

/// Formatting keeps what the data sectors hold, and a cut formatting is finished by the next mount.
#[test]
fn formatting() {
    let mut raw = Nor::blank(6);
    raw.bytes[SECTOR..3 * SECTOR].copy_from_slice(&pattern(5, 2 * SECTOR));
    raw.bytes[3 * SECTOR..].copy_from_slice(&pattern(6, 3 * SECTOR));
    let content = vec![Some(pattern(5, SECTOR)), Some(raw.bytes[2 * SECTOR..3 * SECTOR].to_vec())];
    let settings = config(&raw);
    for change in 0..6 {
        for effect in EFFECTS {
            let mut flash = raw.cut_at(change, effect);
            assert_eq!(WearLevelling::mount(&mut flash, settings, ()).err(), Some(Error::Flash(Fault::OutOfPower)));
            match Volume::open(flash.restarted(), settings, ()) {
                Ok(_) => assert!(change > 0),
                Err(error) => assert!([Error::Corrupt, Error::Blank].contains(&error), "{error}"),
            }
            let mut volume = Volume::mount(flash.restarted(), settings, ()).unwrap();
            check(&mut volume, &content, &(change, effect));
            check_all(&volume.into_inner(), &content, &(change, effect));
        }
    }
}

/// Makes the states of a volume those of version 1, whose records are single bytes and one fewer.
fn as_version_1(flash: &mut Nor) {
    let settings = config(flash);
    let volume = Volume::open(flash.clone(), settings, ()).unwrap();
    let (layout, mut state) = (*volume.layout(), *volume.state());
    let moved = state.dummy_sector;
    state = State { dummy_sector: 0, version: 1, erases: 0, ..state };
    state.device_id = esp_wl::crc32_le(u32::MAX, &state.encode()[..28]);
    for start in layout.states.map(|start| start as usize) {
        flash.bytes[start..start + SECTOR].fill(0xFF);
        flash.bytes[start..start + 64].copy_from_slice(&state.encode());
        (0..moved as usize - 1).for_each(|index| flash.bytes[start + 64 + 16 * index] = 0);
    }
}

#[test]
fn updating_version_1() {
    let (start, mut content) = filled(8);
    let settings = config(&start);
    let mut volume = Volume::open(start, settings, ()).unwrap();
    rewrite(&mut volume, &mut content, 18).unwrap();
    assert_eq!((volume.state().dummy_sector, volume.state().rotation), (4, 1));
    let mut old = volume.into_inner();
    as_version_1(&mut old);
    let whole = Volume::open(old.restarted(), settings, ()).unwrap();
    let changes = whole.flash().changes;
    assert_eq!(changes, 2 * (1 + 4 + 1));
    check_all(whole.flash(), &content, &"whole");
    for change in 0..changes {
        for effect in EFFECTS {
            let mut flash = old.cut_at(change, effect);
            assert!(WearLevelling::open(&mut flash, settings, ()).is_err());
            check_all(&flash, &content, &(change, effect));
        }
    }
}

const SMALL: usize = 512;

fn small(flash: Nor, mode: SmallSectorMode) -> Result<SmallSectors<Nor, Vec<u8>>, Error<Fault>> {
    let settings = config(&flash);
    SmallSectors::new(Volume::open(flash, settings, ())?, SMALL as u32, mode, vec![0; SECTOR])
}

fn rewrite_small(
    volume: &mut SmallSectors<Nor, Vec<u8>>,
    content: &mut Content,
    writes: u32,
) -> Result<(), Error<Fault>> {
    let mut random = Random(9);
    for write in 0..writes {
        let first = random.below(content.len() as u32) as usize;
        let count = (1 + random.below(11) as usize).min(content.len() - first);
        content[first..first + count].fill(None);
        volume.erase_range((first * SMALL) as u32, (count * SMALL) as u32)?;
        let bytes = pattern(write, count * SMALL);
        volume.write((first * SMALL) as u32, &bytes)?;
        for (content, bytes) in content[first..].iter_mut().zip(bytes.chunks(SMALL)) {
            *content = Some(bytes.to_vec());
        }
    }
    Ok(())
}

/// How many small sectors lost data that they should hold.
fn lost(volume: &mut SmallSectors<Nor, Vec<u8>>, content: &Content) -> usize {
    let mut bytes = vec![0; SMALL];
    let mut is_lost = |(index, expected): (usize, &Option<Vec<u8>>)| {
        volume.read((index * SMALL) as u32, &mut bytes).unwrap();
        expected.as_ref().is_some_and(|expected| *expected != bytes)
    };
    content.iter().enumerate().filter(|&item| is_lost(item)).count()
}

/// For each cut, what was lost of the data that was not being written.
fn cut_small(mode: SmallSectorMode) -> Vec<(usize, Effect, usize)> {
    let (start, _) = filled(9);
    let mut volume = small(start, mode).unwrap();
    let size = volume.size_bytes() as usize;
    let mut content = vec![None; size / SMALL];
    volume.erase_range(0, size as u32).unwrap();
    rewrite_small(&mut volume, &mut content, 30).unwrap();
    let start = volume.into_inner();
    let mut losses = vec![];
    for change in 0.. {
        let mut cut = false;
        for effect in EFFECTS {
            let mut content = content.clone();
            let mut volume = small(start.cut_at(change, effect), mode).unwrap();
            let result = rewrite_small(&mut volume, &mut content, 4);
            let flash = volume.into_inner();
            cut = flash.is_cut();
            assert_eq!(result.is_err(), cut);
            let mut volume = small(flash.restarted(), mode).unwrap();
            let mut count = lost(&mut volume, &content);
            // A cut while that is mended, and a reset after it.
            let nested = [Effect::Start(2), Effect::Bits(1)].contains(&effect);
            let again = if nested { volume.inner().flash().changes } else { 0 };
            for again in 0..again {
                let mut twice = flash.cut_at(again, effect);
                let settings = config(&flash);
                if let Ok(inner) = WearLevelling::open(&mut twice, settings, ()) {
                    assert!(SmallSectors::new(inner, SMALL as u32, mode, vec![0; SECTOR]).is_err());
                }
                count += lost(&mut small(twice.restarted(), mode).unwrap(), &content);
            }
            let mut volume = small(volume.into_inner().restarted(), mode).unwrap();
            count += lost(&mut volume, &content);
            rewrite_small(&mut volume, &mut content, 2).unwrap();
            losses.push((change, effect, count));
        }
        if !cut {
            return losses;
        }
    }
    unreachable!()
}

#[test]
fn small_sectors_in_safety_mode() {
    let losses = cut_small(SmallSectorMode::Safety);
    assert!(losses.len() > 300, "{}", losses.len());
    for (change, effect, count) in losses {
        assert_eq!(count, 0, "{change}, {effect:?}");
    }
}

/// As ESP-IDF's Kconfig says of it: the rest of the flash sector is lost.
#[test]
fn small_sectors_in_performance_mode_lose_their_neighbours() {
    let losses = cut_small(SmallSectorMode::Performance);
    let (most, cuts) = (losses.iter().map(|loss| loss.2).max().unwrap(), losses.len());
    let harmful = losses.iter().filter(|loss| loss.2 > 0).count();
    assert!(most > 0 && harmful > 10 && harmful < cuts, "{most} {harmful} {cuts}");
}
