//! Images of PyPI's `fatfs-ng`, whose `fatfs.esp32_wl` follows ESP-IDF's image generator.
//!
//! They agree byte for byte with ours up to 252 sectors but for the three checksums: fatfs-ng uses the usual CRC-32, the
//! original one that starts from zeros (`crc32_le(UINT32_MAX, …)`, see `data/README.txt`). So the original, and ours,
//! take such an image for unformatted and format it, which keeps its data. Beyond 252 sectors fatfs-ng puts the states
//! elsewhere, as it always gives them one sector each.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use esp_wl::{Config, Error, WearLevelling, crc32_le};
use support::{Nor, SECTOR, pattern};

/// Python with `fatfs-ng`, named by `FLASHMARK_PYTHON` or else `python3`; if there is none, says so, and panics if
/// `FLASHMARK_REQUIRE_ALL=1`.
fn python() -> Option<String> {
    let python = std::env::var("FLASHMARK_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import fatfs.esp32_wl"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(
        std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none_or(|value| value != "1"),
        "FLASHMARK_REQUIRE_ALL=1, but missing: {python} with fatfs-ng"
    );
    // The test harness would swallow what print macros write.
    let line = format!("SKIPPED: {python} with fatfs-ng\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    None
}

/// Runs a script with the module as `wl`, `device_id` in place of chance, and files `in` and `out`.
fn run(python: &str, dir: &Path, device_id: u32, body: &str, input: &[u8]) -> Vec<u8> {
    std::fs::write(dir.join("in"), input).unwrap();
    let mut script = String::from("import fatfs.esp32_wl as wl\n");
    writeln!(script, "wl.random.randint = lambda low, high: {device_id}").unwrap();
    writeln!(script, "data = open('in', 'rb').read()\n{body}\nopen('out', 'wb').write(result)").unwrap();
    let output = Command::new(python).args(["-c", &script]).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(dir.join("out")).unwrap()
}

fn ours(config: Config) -> (Vec<u8>, Vec<u8>) {
    let sectors = config.size_bytes as usize / SECTOR;
    let mut volume = WearLevelling::mount(Nor::blank(sectors), config, ()).unwrap();
    let data = pattern(sectors as u32, volume.size_bytes() as usize);
    volume.write(0, &data).unwrap();
    (volume.into_inner().bytes, data)
}

fn theirs(python: &str, dir: &Path, config: Config, data: &[u8]) -> Vec<u8> {
    let body = format!("result = wl.create_esp32_wl_image(data, {})", config.size_bytes);
    run(python, dir, config.device_id, &body, data)
}

#[test]
fn images_agree_but_for_the_checksums() {
    let Some(python) = python() else { return };
    let scratch = tempfile::tempdir().unwrap();
    for sectors in [5, 6, 64, 251, 252] {
        let config = Config { device_id: 0xC0DE_0000 + sectors, ..Config::esp_idf(sectors * SECTOR as u32) };
        let (ours, data) = ours(config);
        let theirs = theirs(&python, scratch.path(), config, &data);

        let end = ours.len();
        let records = [(end - 3 * SECTOR, 60), (end - 2 * SECTOR, 60), (end - SECTOR, 32)];
        let mut mended = theirs.clone();
        for (start, checked) in records {
            let checksum = |start_value| crc32_le(start_value, &theirs[start..start + checked]).to_le_bytes();
            assert_eq!(theirs[start + checked..][..4], checksum(0));
            mended[start + checked..][..4].copy_from_slice(&checksum(u32::MAX));
        }
        assert_eq!(mended.iter().zip(&ours).position(|(theirs, ours)| theirs != ours), None, "{sectors}");

        // Theirs in ours.
        let refused = WearLevelling::open(Nor::with(theirs.clone()), config, ());
        assert_eq!(refused.err(), Some(Error::Corrupt));
        let read = |mut volume: WearLevelling<Nor>| {
            let mut bytes = vec![0; data.len()];
            volume.read(0, &mut bytes).unwrap();
            bytes
        };
        assert!(read(WearLevelling::mount(Nor::with(theirs), config, ()).unwrap()) == data);
        assert!(read(WearLevelling::open(Nor::with(mended), config, ()).unwrap()) == data);

        // Ours in theirs.
        let extracted = run(&python, scratch.path(), 0, "result = wl.extract_fat_from_esp32_wl(data)", &ours);
        assert!(extracted == data, "{sectors}");
    }
}

#[test]
fn larger_images_have_larger_states() {
    let Some(python) = python() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let config = Config::esp_idf(253 * SECTOR as u32);
    let (ours, data) = ours(config);
    let theirs = theirs(&python, scratch.path(), config, &data);
    assert!(ours[..250 * SECTOR - 2 * SECTOR] == theirs[..250 * SECTOR - 2 * SECTOR]);
    let version = |image: &[u8], sector: usize| image[sector * SECTOR + 24..][..4] == [2, 0, 0, 0];
    assert!(version(&ours, 248) && version(&theirs, 250));
}
