//! The same operations on flash as ESP-IDF's own code: `data/*.trace`, see `data/README.txt`.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use esp_wl::{Config, Error, Recovery, SmallSectorMode, SmallSectors, WearLevelling};
use support::{FNV, Fault, Nor, SECTOR, fnv, pattern, render};

/// A mounted volume of any kind.
enum Volume {
    Whole(Box<WearLevelling<Nor>>),
    Small(Box<SmallSectors<Nor, Vec<u8>>>),
}

macro_rules! of_volume {
    ($volume:expr, $inner:ident => $result:expr) => {
        match $volume {
            Volume::Whole($inner) => $result,
            Volume::Small($inner) => $result,
        }
    };
}

impl Volume {
    fn mount(flash: Nor, mode: &str, recovery: Recovery) -> Result<Self, Error<Fault>> {
        let config = Config { recovery, ..Config::esp_idf(flash.bytes.len() as u32) };
        let small = match mode {
            "4096" => return Ok(Self::Whole(Box::new(WearLevelling::mount(flash, config, ())?))),
            "perf" => SmallSectorMode::Performance,
            "safe" => SmallSectorMode::Safety,
            other => panic!("{other}"),
        };
        let buffer = vec![0; SECTOR];
        Ok(Self::Small(Box::new(SmallSectors::mount(flash, config, 512, small, buffer, ())?)))
    }

    fn flash(&mut self) -> &mut Nor {
        match self {
            Self::Whole(volume) => volume.flash_mut(),
            Self::Small(volume) => volume.inner_mut().flash_mut(),
        }
    }
}

/// Does the commands of a recording anew and returns what came of them, as a recording, and the flash.
fn replay(recording: &str, recovery: Recovery) -> (String, Nor) {
    let header = |name: &str| {
        let line = recording.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().to_owned()
    };
    let (mode, sectors) = (header("mode"), header("sectors").parse().unwrap());
    let mut text = format!("mode {mode}\nsectors {sectors}\n");
    let mut flash = Some(Nor::blank(sectors));
    let mut volume: Option<Volume> = None;
    for command in recording.lines().filter_map(|line| line.strip_prefix("> ")) {
        writeln!(text, "> {command}").unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        let number = |index: usize| u32::from_str_radix(words[index], 16).unwrap();
        let mut note = None;
        match &mut volume {
            Some(volume) => volume.flash().trace = Some(vec![]),
            None => flash.as_mut().unwrap().trace = Some(vec![]),
        }
        match words[0] {
            "mount" => {
                let mounted = Volume::mount(flash.take().unwrap(), &mode, recovery).unwrap();
                note = Some(format!("size {:x}", of_volume!(&mounted, volume => volume.size_bytes())));
                volume = Some(mounted);
            }
            "unmount" => of_volume!(volume.as_mut().unwrap(), volume => volume.flush()).unwrap(),
            "reset" => (),
            "put" => {
                let bytes: Vec<u8> = (0..words[2].len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(&words[2][at..at + 2], 16).unwrap())
                    .collect();
                flash.as_mut().unwrap().bytes[number(1) as usize..][..bytes.len()].copy_from_slice(&bytes);
            }
            "wipe" => flash.as_mut().unwrap().bytes[number(1) as usize..][..number(2) as usize].fill(0xFF),
            "erase" => {
                of_volume!(volume.as_mut().unwrap(), volume => volume.erase_range(number(1), number(2))).unwrap();
            }
            "write" => {
                let bytes = pattern(number(3), number(2) as usize);
                of_volume!(volume.as_mut().unwrap(), volume => volume.write(number(1), &bytes)).unwrap();
            }
            "read" => {
                let mut bytes = vec![0; number(2) as usize];
                of_volume!(volume.as_mut().unwrap(), volume => volume.read(number(1), &mut bytes)).unwrap();
                note = Some(format!("data {:08x}", fnv(FNV, &bytes)));
            }
            other => panic!("{other}"),
        }
        if let Some(volume) = &mut volume {
            text += &render(&volume.flash().trace.take().unwrap());
        }
        if let Some(note) = note {
            writeln!(text, "  {note}").unwrap();
        }
        if ["unmount", "reset"].contains(&words[0]) {
            flash = volume.take().map(|volume| of_volume!(volume, volume => volume.into_inner()));
        }
    }
    let flash = flash.unwrap_or_else(|| of_volume!(volume.unwrap(), volume => volume.into_inner()));
    writeln!(text, "image {:08x}", fnv(FNV, &flash.bytes)).unwrap();
    (text, flash)
}

fn recordings() -> Vec<(PathBuf, String)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut found: Vec<_> = std::fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "trace"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 15);
    found
}

#[test]
fn same_operations_and_images() {
    for (path, recording) in recordings() {
        let (text, flash) = replay(&recording, Recovery::EspIdf);
        for (line, (ours, theirs)) in (1..).zip(text.lines().zip(recording.lines())) {
            assert_eq!(ours, theirs, "{}:{line}", path.display());
        }
        assert_eq!(text, recording, "{}", path.display());
        let image = path.with_extension("bin");
        if image.exists() {
            assert!(flash.bytes == std::fs::read(&image).unwrap(), "{}", image.display());
        }
    }
}

/// Complete recovery reads one record more at the mount of a sound partition, and differs nowhere else.
#[test]
fn complete_recovery_costs_one_read() {
    let sound = |path: &Path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        !["recover", "version"].iter().any(|start| name.starts_with(start))
    };
    for (path, recording) in recordings().into_iter().filter(|(path, _)| sound(path)) {
        let (text, _) = replay(&recording, Recovery::Complete);
        let mut theirs = recording.lines().peekable();
        let mut mounting = false;
        let mut extra = 0;
        for ours in text.lines() {
            if let Some(command) = ours.strip_prefix("> ") {
                mounting = command == "mount";
                extra = 0;
            }
            if theirs.next_if_eq(&ours).is_none() {
                extra += 1;
                assert!(mounting && ours.ends_with(" 10") && extra == 1, "{}: {ours}", path.display());
            }
        }
        assert_eq!(theirs.next(), None, "{}", path.display());
    }
}

/// The other way round: images that the original made are mounted and hold what it wrote.
#[test]
fn images_of_the_original_mount() {
    for (name, content) in [("least", vec![(0, pattern(7, SECTOR))]), ("rounds", vec![(0, pattern(1, 2 * SECTOR))])] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).with_extension("bin");
        let flash = Nor::with(std::fs::read(path).unwrap());
        let config = Config::esp_idf(flash.bytes.len() as u32);
        let mut volume = WearLevelling::open(flash, config, ()).unwrap();
        assert!(volume.state().rotation > 0 || name == "least");
        for (address, expected) in content {
            let mut bytes = vec![0; expected.len()];
            volume.read(address, &mut bytes).unwrap();
            assert!(bytes == expected, "{name}");
        }
        assert_eq!(volume.flash().changes, 0);
    }
}

/// What the original reads last in a recording of a case in which it loses data, and what we read after the same.
fn last_reads(name: &str, recovery: Recovery) -> (String, String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/defects").join(name).with_extension("trace");
    let recording = std::fs::read_to_string(path).unwrap();
    let (ours, _) = replay(&recording, recovery);
    let datas = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("  data")).map(str::to_owned).collect()
    };
    let (ours, theirs) = (datas(&ours), datas(&recording));
    (theirs[0].clone(), theirs.last().unwrap().clone(), ours.last().unwrap().clone())
}

/// The power goes while the first state is erased at the end of a round; the mount after that copies the second state
/// without its move records; a reset before the next move shifts all sectors.
#[test]
fn original_forgets_the_position() {
    let (before, theirs, ours) = last_reads("erased-first", Recovery::Complete);
    assert_ne!(theirs, before);
    assert_eq!(ours, before);
    assert_eq!(last_reads("erased-first", Recovery::EspIdf).2, theirs);
}

/// The power goes while the first state is erased at the end of a round, and of its contents only the header stays.
#[test]
fn original_trusts_a_torn_state() {
    let (before, theirs, ours) = last_reads("torn-erase", Recovery::Complete);
    assert_ne!(theirs, before);
    assert_eq!(ours, before);
    assert_eq!(last_reads("torn-erase", Recovery::EspIdf).2, theirs);
}

/// A transfer that starts within a sector and crosses the dummy: the original writes into the dummy. Ours divides it,
/// whatever the recovery.
#[test]
fn original_writes_into_the_dummy() {
    for recovery in [Recovery::Complete, Recovery::EspIdf] {
        let (_, theirs, ours) = last_reads("crossing", recovery);
        let written = format!("  data {:08x}", fnv(FNV, &pattern(9, SECTOR)));
        assert_ne!(theirs, written);
        assert_eq!(ours, written);
    }
}
