//! Random use against an array of bytes; even wear; refusals; what the observer and the statistics are told.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use embedded_storage::nor_flash::{NorFlash, NorFlashError as _, NorFlashErrorKind, ReadNorFlash};
use esp_wl::{Config, Error, Observer, Recovery, SmallSectorMode, SmallSectors, State, WearLevelling};
use proptest::prelude::*;
use support::{Fault, Nor, SECTOR, pattern};

#[derive(Clone, Debug)]
enum Step {
    Erase { first: u32, count: u32 },
    Write { address: u32, length: u32, seed: u32 },
    Read { address: u32, length: u32 },
    Unmount,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<u32>(), 1..4_u32).prop_map(|(first, count)| Step::Erase { first, count }),
        6 => (any::<u32>(), 0..12_000_u32, any::<u32>())
            .prop_map(|(address, length, seed)| Step::Write { address, length, seed }),
        4 => (any::<u32>(), 0..20_000_u32).prop_map(|(address, length)| Step::Read { address, length }),
        2 => Just(Step::Unmount),
        1 => Just(Step::Reset),
    ]
}

/// The levelled volume, whole or in small sectors.
enum Volume {
    Whole(WearLevelling<Nor>),
    Small(SmallSectors<Nor, Vec<u8>>),
}

macro_rules! each {
    ($volume:expr, $inner:ident => $result:expr) => {
        match $volume {
            Volume::Whole($inner) => $result,
            Volume::Small($inner) => $result,
        }
    };
}

fn mount(flash: Nor, config: Config, small: Option<SmallSectorMode>) -> Volume {
    let inner = WearLevelling::mount(flash, config, ()).unwrap();
    match small {
        None => Volume::Whole(inner),
        Some(mode) => Volume::Small(SmallSectors::new(inner, 512, mode, vec![0; SECTOR]).unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn behaves_like_an_array(
        sectors in 7..14_usize,
        update_rate in 0..6_u32,
        copy_bytes in prop::sample::select(vec![16, 32, 256, 512]),
        device_id: u32,
        recovery in prop::sample::select(vec![Recovery::Complete, Recovery::EspIdf]),
        small in prop::sample::select(vec![None, Some(SmallSectorMode::Performance), Some(SmallSectorMode::Safety)]),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let size_bytes = (sectors * SECTOR) as u32;
        let config = Config { update_rate, copy_bytes, device_id, recovery, ..Config::esp_idf(size_bytes) };
        let mut volume = mount(Nor::blank(sectors), config, small);
        let size = each!(&volume, volume => volume.size_bytes());
        let unit = each!(&volume, volume => volume.sector_bytes());
        let mut model = vec![0xFF; size as usize];
        for step in steps {
            match step {
                Step::Erase { first, count } => {
                    let first = first % (size / unit);
                    let (address, length) = (first * unit, count.min(size / unit - first) * unit);
                    each!(&mut volume, volume => volume.erase_range(address, length)).unwrap();
                    model[address as usize..][..length as usize].fill(0xFF);
                }
                Step::Write { address, length, seed } => {
                    let address = address % size;
                    let bytes = pattern(seed, length.min(size - address) as usize);
                    each!(&mut volume, volume => volume.write(address, &bytes)).unwrap();
                    for (old, new) in model[address as usize..].iter_mut().zip(bytes) {
                        *old &= new;
                    }
                }
                Step::Read { address, length } => {
                    let address = address % size;
                    let mut bytes = vec![0; length.min(size - address) as usize];
                    each!(&mut volume, volume => volume.read(address, &mut bytes)).unwrap();
                    prop_assert!(bytes == model[address as usize..][..bytes.len()]);
                }
                Step::Unmount => {
                    each!(&mut volume, volume => volume.flush()).unwrap();
                    volume = mount(each!(volume, volume => volume.into_inner()), config, small);
                }
                Step::Reset => volume = mount(each!(volume, volume => volume.into_inner()), config, small),
            }
        }
        let mut bytes = vec![0; size as usize];
        each!(&mut volume, volume => volume.read(0, &mut bytes)).unwrap();
        prop_assert!(bytes == model);
    }

    #[test]
    fn states_decode_as_encoded(bytes: [[u8; 32]; 2]) {
        let bytes: [u8; 64] = bytes.concat().try_into().unwrap();
        prop_assert_eq!(State::decode(&bytes).encode(), bytes);
    }

    #[test]
    fn any_flash_content_is_mounted_or_refused(
        seed: u32,
        version in 0..4_u32,
        positions in 0..8_u32,
        rotation in 0..8_u32,
        right_checksums: [bool; 2],
    ) {
        let mut flash = Nor::with(pattern(seed, 8 * SECTOR));
        let sector_bytes = SECTOR as u32;
        for (start, right) in [5 * SECTOR, 6 * SECTOR].into_iter().zip(right_checksums) {
            let bytes = flash.bytes[start..start + 64].try_into().unwrap();
            let mut state = State { version, positions, rotation, sector_bytes, ..State::decode(&bytes) };
            state.checksum = state.right_checksum() ^ u32::from(!right);
            flash.bytes[start..start + 64].copy_from_slice(&state.encode());
        }
        for recovery in [Recovery::Complete, Recovery::EspIdf] {
            let config = Config { recovery, ..Config::esp_idf(8 * sector_bytes) };
            let opened = WearLevelling::open(flash.clone(), config, ()).is_ok();
            prop_assert!(!opened || version == 2 && positions == 5 && rotation < 4);
            if let Ok(mut volume) = WearLevelling::mount(flash.clone(), config, ()) {
                volume.read(0, &mut vec![0; 4 * SECTOR]).unwrap();
                volume.flush().unwrap();
            } else {
                prop_assert!(right_checksums != [false; 2] && !opened);
            }
        }
    }
}

/// One sector alone is erased: every sector takes its turn under it. A sector stays where it is for one round, so that
/// counts differ by at most what one round and the two around it bring.
#[test]
fn wear_is_even() {
    let (sectors, positions, update_rate) = (16, 13, 16);
    let config = Config::esp_idf((sectors * SECTOR) as u32);
    let mut volume = WearLevelling::mount(Nor::blank(sectors), config, ()).unwrap();
    let erases = 12 * 6 * positions * update_rate;
    (0..erases).for_each(|_| volume.erase_sector(3).unwrap());
    let stats = volume.stats();
    assert_eq!(stats.erases, u64::from(erases));
    assert_eq!(stats.moves, u64::from(erases / update_rate));
    assert_eq!(stats.rounds, stats.moves / u64::from(positions));
    assert_eq!(volume.state().rotation, 0);
    let flash = volume.into_inner();
    let (data, states) = flash.erases.split_at(positions as usize);
    let (least, most) = (data.iter().min().unwrap(), data.iter().max().unwrap());
    assert!(most - least <= positions * update_rate + 6, "{data:?}");
    assert!(*least > 4 * positions * update_rate, "{data:?}");
    assert_eq!(data.iter().sum::<u32>(), erases + erases / update_rate);
    assert_eq!(states, [1 + 72, 1 + 72, 1]);
}

#[test]
fn refusals() {
    let mount = |flash: Nor, config: Config| WearLevelling::mount(flash, config, ()).err();
    let config = Config::esp_idf(8 * 4096);
    assert_eq!(
        mount(Nor::blank(8), Config::esp_idf(4 * 4096)),
        Some(Error::TooSmall { size_bytes: 16384, least_bytes: 20480 })
    );
    assert_eq!(mount(Nor::blank(8), Config::esp_idf(0)), Some(Error::TooSmall { size_bytes: 0, least_bytes: 20480 }));
    assert_eq!(mount(Nor::blank(7), config), Some(Error::BeyondFlash { size_bytes: 32768, capacity_bytes: 28672 }));
    for wrong in [
        Config { size_bytes: 8 * 4096 + 1, ..config },
        Config { sector_bytes: 0, ..config },
        Config { sector_bytes: 2048, ..config },
        Config { copy_bytes: 0, ..config },
        Config { copy_bytes: 48, ..config },
        Config { copy_bytes: 1024, ..config },
    ] {
        assert!(matches!(mount(Nor::blank(8), wrong), Some(Error::Config(_))), "{wrong:?}");
    }

    let mut volume = WearLevelling::mount(Nor::blank(8), config, ()).unwrap();
    assert_eq!((volume.size_bytes(), volume.sector_bytes()), (4 * 4096, 4096));
    let beyond = |address, length| Err(Error::OutOfRange { address, length, size_bytes: 4 * 4096 });
    assert_eq!(volume.read(4 * 4096 - 1, &mut [0; 2]), beyond(4 * 4096 - 1, 2));
    assert_eq!(volume.write(u32::MAX, &[0; 2]), beyond(u32::MAX, 2));
    assert_eq!(volume.erase_sector(4), beyond(4 * 4096, 4096));
    assert_eq!(volume.erase_range(4096, 4 * 4096), beyond(4096, 4 * 4096));
    assert_eq!(volume.physical_address(4 * 4096), Err(beyond(4 * 4096, 1).unwrap_err()));
    for (address, length) in [(1, 4096), (0, 100)] {
        let refused = volume.erase_range(address, length).unwrap_err();
        assert_eq!(refused, Error::Unaligned { address, length, sector_bytes: 4096 });
        assert_eq!(refused.kind(), NorFlashErrorKind::NotAligned);
    }
    assert_eq!(volume.read(4 * 4096, &mut []), Ok(()));
    assert_eq!(volume.flash().changes, 6, "refusals change nothing");

    let flash = volume.into_inner();
    let open = |flash: Nor, config: Config| WearLevelling::open(flash, config, ()).err();
    assert_eq!(open(flash.clone(), config), None);
    assert_eq!(open(Nor::blank(8), config), Some(Error::Blank));
    let mut corrupt = flash.clone();
    (corrupt.bytes[5 * SECTOR], corrupt.bytes[6 * SECTOR]) = (9, 9);
    assert_eq!(open(corrupt, config), Some(Error::Corrupt));
    let mut resized = flash;
    resized.bytes.splice(0..0, vec![0xFF; SECTOR]);
    let error = mount(resized, Config::esp_idf(9 * 4096)).unwrap();
    assert!(matches!(error, Error::OtherGeometry { found: 5, expected: 6, .. }), "{error}");
}

#[test]
fn small_sector_refusals() {
    let inner = |sectors: usize| {
        WearLevelling::mount(Nor::blank(sectors), Config::esp_idf((sectors * SECTOR) as u32), ()).unwrap()
    };
    let small = |sectors, bytes, mode, buffer: usize| SmallSectors::new(inner(sectors), bytes, mode, vec![0; buffer]);
    for (sectors, bytes, buffer) in [(8, 0, SECTOR), (8, 500, SECTOR), (8, 512, 512), (6, 512, SECTOR)] {
        let refused = small(sectors, bytes, SmallSectorMode::Safety, buffer);
        assert!(matches!(refused.err(), Some(Error::Config(_))), "{sectors} {bytes} {buffer}");
    }
    let mut volume = small(8, 512, SmallSectorMode::Safety, SECTOR).unwrap();
    assert_eq!((volume.size_bytes(), volume.sector_bytes()), (2 * 4096, 512));
    assert!(matches!(volume.erase_range(100, 512), Err(Error::Unaligned { sector_bytes: 512, .. })));
    assert!(matches!(volume.read(2 * 4096, &mut [0]), Err(Error::OutOfRange { size_bytes: 8192, .. })));
}

/// Notes the flash's changes at each call.
#[derive(Default)]
struct Notes(Vec<bool>);

impl Observer for Notes {
    fn housekeeping(&mut self, begins: bool) {
        self.0.push(begins);
    }
}

#[test]
fn own_work_is_told() {
    let mut notes = Notes::default();
    let config = Config::esp_idf(8 * 4096);
    let mut volume = WearLevelling::mount(Nor::blank(8), config, &mut notes).unwrap();
    (0..16).for_each(|_| volume.erase_sector(0).unwrap());
    volume.write(0, &[0; 4096]).unwrap();
    volume.flush().unwrap();
    // A move that fails ends its work too.
    let changes = volume.flash().changes;
    volume.flash_mut().cut = Some((changes + 3, support::Effect::Nothing));
    assert_eq!(volume.flush(), Err(Error::Flash(Fault::OutOfPower)));
    assert_eq!(notes.0, [true, false].repeat(4));

    // Around the erase of a small sector: neighbours saved, and restored.
    let mut notes = Notes::default();
    let volume = WearLevelling::mount(Nor::blank(9), Config::esp_idf(9 * 4096), &mut notes).unwrap();
    let mut volume = SmallSectors::new(volume, 512, SmallSectorMode::Safety, [0; SECTOR]).unwrap();
    volume.erase_range(512, 512).unwrap();
    assert_eq!(notes.0, [true, false].repeat(4));
}

fn fill_as_flash<F: NorFlash>(mut flash: F) -> usize {
    let sectors = flash.capacity() / F::ERASE_SIZE;
    for round in 0..40_u8 {
        flash.erase(0, flash.capacity() as u32).unwrap();
        for sector in 0..sectors {
            flash.write((sector * F::ERASE_SIZE) as u32, &[sector as u8 ^ round; 4096]).unwrap();
        }
        for sector in 0..sectors {
            let mut bytes = [0; 4096];
            ReadNorFlash::read(&mut flash, (sector * F::ERASE_SIZE) as u32, &mut bytes).unwrap();
            assert_eq!(bytes, [sector as u8 ^ round; 4096]);
        }
    }
    assert_eq!(flash.erase(4096, 0).unwrap_err().kind(), NorFlashErrorKind::OutOfBounds);
    sectors
}

/// A levelled volume is a flash, even for wear levelling.
#[test]
fn a_volume_is_a_flash() {
    let outer = WearLevelling::mount(Nor::blank(12), Config::esp_idf(12 * 4096), ()).unwrap();
    assert_eq!(fill_as_flash(WearLevelling::mount(outer, Config::esp_idf(8 * 4096), ()).unwrap()), 4);
}
