//! RAM as a function of the parameters, and configurations that make no volume.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ram;

use ram::{Ram, Room, Volume};
use spiffs::{
    Borrowed, CacheSlot, Config, ConfigError, Descriptor, Error, File, Flash, Listing, MOST_CACHE_PAGES, Magic,
    OpenFlags, Spiffs,
};

const CONFIG: Config = Config::esp_idf(64 * 1024);

/// A flash that takes no RAM.
struct Nothing;

impl Flash for Nothing {
    type Error = ();

    fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), ()> {
        Err(())
    }

    fn program(&mut self, _: u32, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn erase(&mut self, _: u32, _: u32) -> Result<(), ()> {
        Err(())
    }
}

/// Descriptors and cache slots hold no pointers: they are the same on 32 bits.
#[test]
fn descriptors_and_cache_slots() {
    assert_eq!(size_of::<Descriptor>(), DESCRIPTOR_BYTES);
    assert_eq!(size_of::<CacheSlot>(), SLOT_BYTES);
    assert_eq!(size_of::<File>(), 4);
    assert_eq!(size_of::<Listing>(), 4);
}

const DESCRIPTOR_BYTES: usize = 32;
const SLOT_BYTES: usize = 16;

/// A volume's own size without its flash: seven slices, one more number of the machine's size, and numbers that are the
/// same on all targets. That is 248 bytes on 64 bits, and at most 188 on 32 bits.
#[test]
fn a_volume() {
    const NUMBERS: usize = 128;
    let bytes = size_of::<Spiffs<Nothing, Borrowed<'static>>>();
    assert!(bytes <= NUMBERS + 15 * size_of::<usize>(), "{bytes}");
    if size_of::<usize>() == 8 {
        assert_eq!(bytes, 248);
    }
}

#[test]
fn buffers() {
    // Two pages, the header up to its table (13 bytes, name and metadata), the copy buffer, the cache.
    assert_eq!(CONFIG.buffer_bytes(0), 2 * 256 + (13 + 32 + 4) + 256);
    assert_eq!(CONFIG.buffer_bytes(4), CONFIG.buffer_bytes(0) + 4 * 256);
    let small =
        Config { page_bytes: 64, block_bytes: 1024, sector_bytes: 1024, name_bytes: 16, copy_bytes: 1, ..CONFIG };
    assert_eq!(small.buffer_bytes(0), 2 * 64 + (13 + 16 + 4) + 1);
    assert_eq!(small.buffer_bytes(32), small.buffer_bytes(0) + 32 * 64);
    // A usual volume with four files open and a cache of four pages.
    let all = CONFIG.buffer_bytes(4) + 4 * (DESCRIPTOR_BYTES + SLOT_BYTES);
    assert_eq!(all, 2033);
}

/// A volume of a configuration works in exactly what [`Config::buffer_bytes`] says; with one byte less there is none.
#[test]
fn exactly_enough() {
    let configs = [
        CONFIG,
        Config { copy_bytes: 1, meta_bytes: 0, ..CONFIG },
        Config { page_bytes: 512, copy_bytes: 700, name_bytes: 2, ..CONFIG },
        Config {
            page_bytes: 64,
            block_bytes: 1024,
            sector_bytes: 1024,
            name_bytes: 8,
            magic: Magic::PageSize,
            ..CONFIG
        },
    ];
    for config in configs {
        for cache_pages in [0, 1, 2, 7, MOST_CACHE_PAGES] {
            let mut flash = Ram::new(&config);
            spiffs::format(&mut flash, &config).unwrap();
            let mut room = Room::new(&config, 1, cache_pages);
            let need = room.bytes.len();
            assert_eq!(need, config.buffer_bytes(cache_pages));
            room.bytes.pop();
            let refused = Volume::mount(flash, config, room.lend()).unwrap_err();
            assert_eq!(refused.error, Error::Memory);
            room.bytes.push(0);

            let mut volume = Volume::mount(refused.flash, config, room.lend()).unwrap();
            assert_eq!(volume.info().cache_pages as usize, cache_pages);
            for round in 0..30_u8 {
                let file = volume.open("f", OpenFlags::CREATE | OpenFlags::READ_WRITE | OpenFlags::TRUNCATE).unwrap();
                let data = vec![round; 5000 + usize::from(round)];
                assert_eq!(volume.write(file, &data), Ok(data.len()));
                volume.seek(file, spiffs::SeekFrom::Start(0)).unwrap();
                let mut back = vec![0; data.len() + 1];
                assert_eq!(volume.read(file, &mut back), Ok(data.len()));
                assert!(back[..data.len()] == data);
                assert_eq!(volume.open("g", OpenFlags::CREATE), Err(Error::TooManyOpenFiles));
                volume.close(file).unwrap();
            }
            volume.check(|_, _| ()).unwrap();
            assert_eq!(volume.flash().breach, None);
        }
    }
}

#[test]
fn more_than_enough() {
    let mut flash = Ram::new(&CONFIG);
    spiffs::format(&mut flash, &CONFIG).unwrap();
    let mut room = Room::new(&CONFIG, 3, 5);
    room.bytes.resize(100_000, 7);
    let volume = Volume::mount(flash, CONFIG, room.lend()).unwrap();
    assert_eq!((volume.info().cache_pages, volume.info().descriptors), (5, 3));
}

#[test]
fn memory_that_makes_no_volume() {
    let refuse = |files: usize, cache_pages: usize| {
        let mut flash = Ram::new(&CONFIG);
        spiffs::format(&mut flash, &CONFIG).unwrap();
        Volume::mount(flash, CONFIG, Room::new(&CONFIG, files, cache_pages).lend()).unwrap_err().error
    };
    assert_eq!(refuse(0, 4), Error::Memory);
    assert_eq!(refuse(1, MOST_CACHE_PAGES + 1), Error::Memory);
    assert_eq!(refuse(1 << 16, 0), Error::Memory);
}

fn wrong(config: Config, error: ConfigError) {
    assert_eq!(config.check(), Err(error), "{config:?}");
    // Neither formatting nor mounting touches the flash.
    assert_eq!(spiffs::format(&mut Nothing, &config), Err(Error::Config(error)));
    let mut room = Room::new(&CONFIG, 1, 0);
    assert_eq!(Spiffs::mount(Nothing, config, room.lend()).unwrap_err().error, Error::Config(error));
}

#[test]
fn configurations_that_make_no_volume() {
    assert_eq!(CONFIG.check(), Ok(()));
    for page_bytes in [0, 1, 63, 32769, 1 << 16, u32::MAX] {
        wrong(Config { page_bytes, ..CONFIG }, ConfigError::Page);
    }
    for block_bytes in [0, 1, 255, 256, 3 * 256, 4096 + 128, 192 * 256 + 1, u32::MAX] {
        wrong(Config { block_bytes, ..CONFIG }, ConfigError::Block);
    }
    // A lookup of one and a half pages.
    wrong(Config { block_bytes: 192 * 256, ..CONFIG }, ConfigError::Block);
    for sector_bytes in [0, 3000, 8192, u32::MAX] {
        wrong(Config { sector_bytes, ..CONFIG }, ConfigError::Sector);
    }
    for size_bytes in [0, 4096, 8192, 4095, 64 * 1024 + 1, u32::MAX] {
        wrong(Config { size_bytes, ..CONFIG }, ConfigError::Size);
    }
    wrong(Config { address: 0xffff_0000, ..CONFIG }, ConfigError::Size);
    assert_eq!(Config { address: 0xfffe_f000, ..CONFIG }.check(), Ok(()));
    wrong(Config { size_bytes: 16 << 20, ..CONFIG }, ConfigError::TooManyPages);
    assert_eq!(Config { size_bytes: (16 << 20) - 4096, ..CONFIG }.check(), Ok(()));
    for (name_bytes, meta_bytes) in [(0, 4), (1, 4), (228, 0), (224, 4), (32, 196), (u16::MAX, u16::MAX)] {
        wrong(Config { name_bytes, meta_bytes, ..CONFIG }, ConfigError::Name);
    }
    assert_eq!(Config { name_bytes: 223, ..CONFIG }.check(), Ok(()));
    assert_eq!(Config { name_bytes: 2, meta_bytes: 0, ..CONFIG }.check(), Ok(()));
    for config in [Config { gc_runs: 0, ..CONFIG }, Config { copy_bytes: 0, ..CONFIG }] {
        wrong(config, ConfigError::Buffers);
    }
    // 128 pages of 256 bytes: 127 entries in a lookup page of 128.
    let crowded = Config { block_bytes: 128 * 256, sector_bytes: 4096, size_bytes: 3 * 128 * 256, ..CONFIG };
    wrong(crowded, ConfigError::Magic);
    wrong(Config { magic: Magic::PageSize, ..crowded }, ConfigError::Magic);
    assert_eq!(Config { magic: Magic::Off, ..crowded }.check(), Ok(()));
}

/// A volume of another configuration is refused, if the magic tells.
#[test]
fn another_volume() {
    let mut flash = Ram::new(&CONFIG);
    spiffs::format(&mut flash, &CONFIG).unwrap();
    let mut room = Room::new(&CONFIG, 1, 0);
    let mut error = |config: Config| {
        let mut flash = flash.clone();
        flash.bytes.resize(1 << 20, 0xff);
        flash.rules = ram::Rules::of(&config);
        Volume::mount(flash, config, room.lend()).err().map(|refused| refused.error)
    };
    assert_eq!(error(CONFIG), None);
    assert_eq!(error(Config { size_bytes: 60 * 1024, ..CONFIG }), Some(Error::NotAVolume));
    assert_eq!(error(Config { size_bytes: 128 * 1024, ..CONFIG }), Some(Error::NotAVolume));
    assert_eq!(error(Config { page_bytes: 128, ..CONFIG }), Some(Error::NotAVolume));
    assert_eq!(error(Config { magic: Magic::PageSize, ..CONFIG }), Some(Error::NotAVolume));
    assert_eq!(spiffs::probe(&mut flash, &Config { size_bytes: 0, ..CONFIG }), Ok(64 * 1024));
    assert_eq!(spiffs::probe(&mut Ram::new(&CONFIG), &CONFIG), Err(Error::NotAVolume));
}
