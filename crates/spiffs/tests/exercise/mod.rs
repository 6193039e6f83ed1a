//! What the fuzz target and the corruption tests do with an image that may hold anything.

use spiffs::{Config, Error, Listing, Magic, OpenFlags, SeekFrom};

use crate::ram::{Fault, Ram, Random, Room, Volume};

/// How a volume is mounted.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub config: Config,
    pub files: usize,
    pub cache_pages: usize,
}

/// How many accesses of the flash a call may make on a volume of so many pages, whatever is on it.
///
/// Most calls look something up for each page that they touch, and a lookup may read each page's header: garbage
/// collection does so for each page of a block, and in each of its runs.
fn most_accesses(config: &Config) -> u64 {
    let pages = u64::from(config.size_bytes / config.page_bytes);
    let pages_per_block = u64::from(config.block_bytes / config.page_bytes);
    2_000 + 8 * pages * (pages_per_block + 4) * u64::from(config.gc_runs + 1)
}

/// As [`most_accesses`], for a check: it may begin anew for each page of the volume.
fn most_accesses_of_check(config: &Config) -> u64 {
    let pages = u64::from(config.size_bytes / config.page_bytes);
    8 * pages * pages * pages + most_accesses(config)
}

/// Mounts an image, and calls what `steps` say, one call a byte. No call may panic, access anything outside the volume,
/// or go on for longer than a volume of that size can need.
pub fn exercise(setup: Setup, image: &[u8], steps: &[u8]) {
    let Setup { config, files, cache_pages } = setup;
    let mut flash = Ram::new(&config);
    let start = config.address as usize;
    let bytes = image.len().min(flash.bytes.len() - start);
    flash.bytes[start..start + bytes].copy_from_slice(&image[..bytes]);
    // What is on the volume may lead to programs over anything.
    flash.strict = false;
    let mut room = Room::new(&config, files, cache_pages);
    let mut random = Random(0);
    let mut steps = steps.iter();
    loop {
        flash.accesses = 0;
        flash.most_accesses = most_accesses(&config);
        let mut volume = match Volume::mount(flash, config, room.lend()) {
            Ok(volume) => volume,
            Err(refused) => {
                assert_eq!(refused.flash.breach, None);
                return;
            }
        };
        let mut names = vec![b"new".to_vec()];
        let again = loop {
            let Some(step) = steps.next() else { break false };
            if *step == 255 {
                break true;
            }
            random.0 = random.0.wrapping_add(u64::from(*step));
            volume.flash().accesses = 0;
            volume.flash().most_accesses =
                if *step % 16 == 15 { most_accesses_of_check(&config) } else { most_accesses(&config) };
            call(&mut volume, *step % 16, &mut random, &mut names);
            assert_eq!(volume.flash().breach, None, "step {}", step % 16);
        };
        volume.flash().accesses = 0;
        volume.flash().most_accesses = most_accesses(&config);
        flash = volume.unmount().0;
        assert_eq!(flash.breach, None);
        if !again {
            return;
        }
    }
}

/// One call, on a file that a listing found; errors are what one has to expect.
fn call(volume: &mut Volume<'_, Ram>, step: u8, random: &mut Random, names: &mut Vec<Vec<u8>>) {
    let name = names[random.below(names.len() as u32) as usize].clone();
    let config = *volume.config();
    let _: Result<(), Error<Fault>> = match step {
        0 | 1 => list(volume, names),
        2 => volume.stat(&name).map(|_| ()),
        3 | 4 => read_all(volume, &name, random),
        5 => write(volume, &name, OpenFlags::READ_WRITE, random),
        6 => write(volume, &name, OpenFlags::READ_WRITE | OpenFlags::APPEND | OpenFlags::CREATE, random),
        7 => write(volume, &name, OpenFlags::WRITE | OpenFlags::TRUNCATE | OpenFlags::CREATE, random),
        8 => truncate(volume, &name, random),
        9 => volume.remove(&name),
        10 => volume.rename(&name, b"other"),
        11 => volume.set_meta(&name, &vec![1; config.meta_bytes.into()]),
        12 => volume.create(b"new"),
        13 => volume.collect_garbage(random.below(config.block_bytes)),
        14 => volume.erase_deleted(random.below(20) as u16),
        _ => volume.check(|_, _| ()),
    };
    let _ = volume.info();
}

fn list(volume: &mut Volume<'_, Ram>, names: &mut Vec<Vec<u8>>) -> Result<(), Error<Fault>> {
    let pages = volume.config().size_bytes / volume.config().page_bytes;
    let mut listing = Listing::default();
    names.truncate(1);
    while let Some(info) = volume.next_file(&mut listing)? {
        names.push(info.name.to_vec());
        assert!(names.len() <= pages as usize, "more files than pages");
    }
    Ok(())
}

/// Reads a file to its end, but no more than the volume can hold, starting over for each piece that fails.
fn read_all(volume: &mut Volume<'_, Ram>, name: &[u8], random: &mut Random) -> Result<(), Error<Fault>> {
    let file = volume.open(name, OpenFlags::READ)?;
    let mut buffer = vec![0; 1 + random.below(3000) as usize];
    let mut left = volume.config().size_bytes as usize;
    let mut read = Ok(1);
    while left > 0 && read != Ok(0) {
        volume.flash().accesses = 0;
        read = volume.read(file, &mut buffer);
        left = left.saturating_sub(buffer.len());
        if read.is_err() && volume.seek(file, SeekFrom::Current(buffer.len() as i32)).is_err() {
            break;
        }
    }
    volume.close(file)
}

fn write(volume: &mut Volume<'_, Ram>, name: &[u8], flags: OpenFlags, random: &mut Random) -> Result<(), Error<Fault>> {
    let file = volume.open(name, flags)?;
    for _ in 0..3 {
        volume.flash().accesses = 0;
        let most = [10, 300, 3000][random.below(3) as usize];
        let data = vec![random.byte(); random.below(most) as usize];
        let _ = volume.seek(file, SeekFrom::Start(random.below(5000)));
        let _ = volume.write(file, &data);
        let _ = volume.read(file, &mut [0; 20]);
    }
    volume.flash().accesses = 0;
    // The second time what could not be stored is given up.
    volume.close(file).or_else(|_| volume.close(file))
}

fn truncate(volume: &mut Volume<'_, Ram>, name: &[u8], random: &mut Random) -> Result<(), Error<Fault>> {
    let file = volume.open(name, OpenFlags::READ_WRITE)?;
    let truncated = volume.truncate(file, random.below(4000));
    let _ = volume.stat_open(file).map(|info| info.size_bytes);
    truncated.and(volume.close(file))
}

/// Gives the image of a volume back that files were written to and removed from, with the programs of the library itself.
pub fn filled(setup: Setup, random: &mut Random) -> Vec<u8> {
    let Setup { config, files, cache_pages } = setup;
    let mut flash = Ram::new(&config);
    let formatted = spiffs::format(&mut flash, &config);
    assert!(formatted.is_ok());
    // A write without room left may lead to one over another.
    flash.strict = false;
    let mut room = Room::new(&config, files, cache_pages);
    let Ok(mut volume) = Volume::mount(flash, config, room.lend()) else { unreachable!("it was formatted") };
    for _ in 0..random.below(40) {
        let name = [b'a' + random.byte() % 6];
        match random.below(4) {
            0 => _ = volume.remove(name),
            1 => _ = write(&mut volume, &name, OpenFlags::READ_WRITE, random),
            _ => _ = write(&mut volume, &name, OpenFlags::READ_WRITE | OpenFlags::APPEND | OpenFlags::CREATE, random),
        }
    }
    let flash = volume.unmount().0;
    assert_eq!(flash.breach, None);
    flash.bytes[config.address as usize..].to_vec()
}

/// A setup for each number: sizes of page and block, and options.
pub fn setup(number: u8) -> Setup {
    let (page_bytes, block_bytes) = [(64, 1024), (128, 1024), (256, 4096), (64, 4096)][usize::from(number % 4)];
    let magic = [Magic::Length, Magic::Off, Magic::PageSize][usize::from(number / 4 % 3)];
    let config = Config {
        address: if number & 64 == 0 { 0 } else { 0x2000 },
        size_bytes: block_bytes * (4 + u32::from(number / 8 % 5)),
        sector_bytes: if number & 32 == 0 { block_bytes } else { block_bytes / 2 },
        block_bytes,
        page_bytes,
        name_bytes: 16,
        meta_bytes: 4,
        magic,
        page_check: number & 16 == 0,
        write_cache: number & 8 == 0,
        open_hints: number & 128 == 0,
        gc_runs: 3,
        copy_bytes: if number & 1 == 0 { 64 } else { 23 },
    };
    let cache_pages = [0, 1, 2, 4, 8][usize::from(number % 5)];
    Setup { config, files: 1 + usize::from(number % 3), cache_pages }
}
