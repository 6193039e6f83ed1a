//! Boards: the built-in ones are sound, and what is wrong with one is said with its place.

mod support;

use flashmark_lab::{Board, LabTarget, built_in_boards};
use support::board;

fn complaint(text: &str) -> String {
    match Board::parse(text, "my.toml") {
        Ok(board) => board.check().map_or_else(|error| error.to_string(), |()| "nothing".to_owned()),
        Err(error) => error.to_string(),
    }
}

/// How many parameters of a board may be fitted, by what they are of. Nothing else may be fitted.
const ALLOWANCES: &[(&str, usize)] = &[("chip ", 3), ("esp-flash.", 1), ("code.", 1), ("littlefs.", 1), ("spiffs.", 2)];

/// The fitted parameters of a board that no allowance is left for.
fn beyond_allowances(board: &Board) -> Vec<String> {
    let mut left: Vec<(&str, usize)> = ALLOWANCES.to_vec();
    let mut beyond = Vec::new();
    for (parameter, _) in board.fitted_parameters() {
        match left.iter_mut().find(|(of, left)| parameter.starts_with(of) && *left > 0) {
            Some((_, left)) => *left -= 1,
            None => beyond.push(parameter),
        }
    }
    beyond
}

#[test]
fn built_in_boards_are_sound() {
    for built_in in built_in_boards() {
        let board = Board::load(built_in.name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(board.name(), built_in.name);
        board.check().unwrap_or_else(|error| panic!("{error}"));
        for storage in board.storages() {
            LabTarget::open(&board, storage, None).unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
        }
        for setting in board.settings() {
            assert!(setting.source.len() > 5, "{}: {} has no source", built_in.name, setting.key);
        }
        assert_eq!(beyond_allowances(&board), [""; 0], "{}", built_in.name);
        assert!(board.fitted_rows().iter().all(|row| row.starts_with("esp_idf_perf_benchmark")));
    }
}

#[test]
fn a_parameter_without_an_allowance_is_found() {
    let fit = "{ value = 1, unit = \"cycles\", source = \"fit: esp_idf_perf_benchmark raw/raw/read/65536\" }";
    let more = format!("[fatfs]\ncode-call = {fit}\n[code]\ncopy-byte = {fit}\n[spiffs]\ncode-call = {fit}\n");
    let board = Board::parse(&format!("name = \"mine\"\nbase = \"esp32\"\n{more}"), "my.toml").unwrap();
    // The second of [code], and one of a file system that has none; SPIFFS's second is allowed.
    assert_eq!(beyond_allowances(&board), ["code.vfs-call", "fatfs.code-call"]);
}

#[test]
fn every_option_of_the_file_systems_can_be_set() {
    let esp32 = board(
        "esp32",
        &[
            ("fatfs.cluster", "16k"),
            ("fatfs.lfn", "on"),
            ("littlefs.cache", "1k"),
            ("spiffs.files", "9"),
            ("spiffs.left-over", "0"),
            ("app.open", "write-only"),
            ("app.replace", "truncate"),
            ("bus.mode", "dio"),
            ("bus.clock", "40MHz"),
            ("chip", "w25q128jv"),
        ],
    );
    for storage in esp32.storages() {
        LabTarget::open(&esp32, storage, None).unwrap_or_else(|error| panic!("{error}"));
    }
    let keys = esp32.keys();
    for key in [
        "fatfs.cluster",
        "littlefs.block",
        "spiffs.gc-runs",
        "spiffs.left-over",
        "esp-flash.poll",
        "raw.wear-levelling",
        "wl.sector",
        "chip",
    ] {
        assert!(keys.iter().any(|known| known.name == key), "{key}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let base = "name = \"mine\"\nbase = \"esp32\"\n";
    for (more, expected) in [
        ("clock = 5\n", "my.toml:3:1: clock is no setting of a board"),
        (
            "[fatfs]\nclusterr = \"4k\"\n",
            "my.toml:4:1: fatfs.clusterr is no setting of a board (did you mean fatfs.cluster?)",
        ),
        ("[cpu]\nclock = 160\n", "my.toml:4:9: cpu.clock is a number: write cpu.clock = { value = 160, unit"),
        ("[cpu]\nclock = { value = 160, unit = \"MHz\" }\n", "my.toml:4:9: cpu.clock has no source"),
        (
            "[cpu]\nclock = { value = 160, unit = \"Mhzz\", source = \"x\" }\n",
            "my.toml:4:9: cpu.clock = 160Mhzz: mhzz is no unit",
        ),
        ("[cpu]\nclock = { value = 160, units = \"MHz\", source = \"x\" }\n", "my.toml:4:24: units in cpu.clock"),
        ("storages = [\"raw\", \"fatsf\"]\n", "my.toml:3:20: there is no storage fatsf: known are raw, fatfs"),
        ("storages = []\n", "my.toml:3:12: storages = "),
        ("driver = \"esp\"\n", "my.toml:3:10: there is no driver esp: known are esp-flash"),
        ("chip = \"w25q32jw\"\n", "my.toml:3:8: chip = w25q32jw: "),
        (
            "[partition]\nsize = { value = 4, unit = \"MiB\", source = \"x\" }\n",
            "my.toml:4:8: partition.size = 4MiB: the partition would end at 5308416 bytes, but the chip esp32-devkit-4mb",
        ),
        (
            "[partition]\nsize = { value = 1000, unit = \"kB\", source = \"x\" }\n",
            "my.toml:4:8: partition.size = 1000kB: it is not a multiple of the flash's sector",
        ),
        (
            "[bus]\nclock = { value = 200, unit = \"MHz\", source = \"x\" }\n",
            "my.toml:4:9: bus.clock = 200MHz: the chip ",
        ),
        ("[bus]\nmode = \"opi\"\n", "my.toml:4:8: bus.mode = opi: one of qio, qout, dio, dout, fast, slow is expected"),
        ("name = \"again\"\n", "my.toml:3:1: duplicate key"),
    ] {
        let found = complaint(&format!("{base}{more}"));
        assert!(found.starts_with(expected), "{more}gives: {found}");
    }
    assert!(complaint("base = \"esp32\"\n").starts_with("my.toml:1:1: name = "));
    assert!(complaint("name = \"x\"\n").starts_with("my.toml:1:1: driver = … is missing"));
}

/// What only shows when a storage is put together still names the setting.
#[test]
fn options_that_do_not_fit_are_told() {
    let opened = |settings: &[(&str, &str)], storage: &str| {
        LabTarget::open(&board("esp32", settings), storage, None).map(|_| ()).unwrap_err().to_string()
    };
    let error = opened(&[("fatfs.cluster", "5000")], "fatfs");
    assert!(error.contains("fatfs.cluster = 5000"), "{error}");
    let error = opened(&[("littlefs.cache", "100")], "littlefs");
    assert!(error.contains("littlefs.cache = 100"), "{error}");
    let error = opened(&[("partition.size", "16k")], "fatfs");
    assert!(error.contains("partition.size = 16k") || error.contains("fatfs."), "{error}");
    let error = opened(&[("partition.size", "1M")], "fatfs");
    assert!(error.starts_with("setting: partition.size = 1M: fatfs cannot be made"), "{error}");
    let error = opened(&[("spiffs.page", "48")], "spiffs");
    assert!(error.contains("spiffs.page = 48: it has to be from 64"), "{error}");
    let error = opened(&[("spiffs.left-over", "5000")], "spiffs");
    assert!(error.contains("spiffs.left-over = 5000: it has to be whole sectors"), "{error}");
    let error = opened(&[("littlefs.block", "4M")], "littlefs");
    assert!(error.contains("littlefs.block = 4M"), "{error}");
}

#[test]
fn unknown_names_are_told_with_what_was_meant() {
    let error = Board::load("esp33").unwrap_err().to_string();
    assert!(error.contains("did you mean esp32"), "{error}");
    let error = board("esp32", &[]).storage("fatf").unwrap_err().to_string();
    assert!(error.contains("did you mean fatfs") && error.contains("raw, fatfs, littlefs"), "{error}");
    let mut esp32 = board("esp32", &[]);
    let error = esp32.set("fatfs.clustr", "4k").unwrap_err().to_string();
    assert!(error.starts_with("setting: fatfs.clustr") && error.contains("fatfs.cluster"), "{error}");
    let error = Board::load("/nowhere/x.toml").unwrap_err().to_string();
    assert!(error.contains("/nowhere/x.toml"), "{error}");
}

#[test]
fn profiles_build_on_each_other_but_not_in_circles() {
    let directory = std::env::temp_dir().join(format!("flashmark-boards-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    write("a.toml", "name = \"a\"\nbase = \"b.toml\"\n");
    write("b.toml", "name = \"b\"\nbase = \"a.toml\"\n");
    write("c.toml", "name = \"c\"\nbase = \"esp32\"\n[fatfs]\ncluster = \"4k\"\n");
    write("d.toml", "name = \"d\"\nbase = \"c.toml\"\n");
    let chip = flashmark_chips::nor::profiles::built_in().iter().find(|chip| chip.name == "w25q32jv").unwrap();
    write("chip.toml", &chip.text.replace("\"W25Q32JV\"", "\"mine\""));
    write("e.toml", "name = \"e\"\nbase = \"d.toml\"\nchip = \"./chip.toml\"\n");
    let path = |name: &str| directory.join(name).display().to_string();
    let circle = Board::load(&path("a.toml")).unwrap_err().to_string();
    let derived = Board::load(&path("d.toml")).map(|board| board.settings());
    // A chip's path is relative to the profile that names it.
    let own_chip = Board::load(&path("e.toml")).and_then(|board| board.check());
    std::fs::remove_dir_all(&directory).unwrap();
    own_chip.unwrap();
    assert!(circle.contains("circle"), "{circle}");
    let derived = derived.unwrap();
    let cluster = derived.iter().find(|setting| setting.key == "fatfs.cluster").unwrap();
    assert_eq!(cluster.value, "4k");
}

/// Old data at the partition's start makes those sectors slower to erase, and an image takes their place.
#[test]
fn what_is_left_over_is_erased_when_formatting() {
    let format_ns = |settings: &[(&str, &str)]| {
        let mut target = LabTarget::open(&board("esp32", settings), "spiffs", None).unwrap();
        let phases = target.simulation().phases;
        phases.iter().find(|phase| phase.name == "format").unwrap().elapsed_ns
    };
    let of = |left_over| format_ns(&[("spiffs.left-over", left_over)]);
    let (none, some, all) = (of("0"), of("1M"), of("2M"));
    assert!(none < some && some < all, "{none} {some} {all}");
    assert!((none + all).abs_diff(2 * some) < all / 100, "{none} {some} {all}");
    assert_eq!(all, format_ns(&[("spiffs.left-over", "0"), ("spiffs.start", "used")]));
    let esp32 = board("esp32", &[]);
    let image = LabTarget::open(&esp32, "spiffs", None).unwrap().image().unwrap();
    assert!(LabTarget::open(&esp32, "spiffs", Some(&image)).unwrap().image().unwrap() == image);
}

/// What the published run's program repeats less often holds in its suite, and in no other.
#[test]
fn tries_are_of_the_boards_own_suite() {
    let tries = |board: &Board, storage: &str, suite: &str, original: Option<&str>| {
        board.tries(storage, suite, original).unwrap().map(std::num::NonZeroU32::get)
    };
    for built_in in built_in_boards() {
        let built_in = Board::load(built_in.name).unwrap();
        assert_eq!(tries(&built_in, "spiffs", "esp-idf", Some("esp-idf")), Some(1), "{}", built_in.name());
        for storage in ["raw", "fatfs", "littlefs"] {
            assert_eq!(tries(&built_in, storage, "esp-idf", Some("esp-idf")), None, "{}", built_in.name());
        }
    }
    let esp32 = board("esp32", &[]);
    assert_eq!(tries(&esp32, "spiffs", "./mine.toml", Some("esp-idf")), Some(1));
    assert_eq!(tries(&esp32, "spiffs", "fill", None), None);
    assert_eq!(tries(&esp32, "spiffs", "sdfat", Some("sdfat")), None);
    let set = board("esp32", &[("spiffs.tries", "0"), ("fatfs.tries", "7")]);
    assert_eq!(tries(&set, "spiffs", "esp-idf", None), None);
    assert_eq!(tries(&set, "fatfs", "esp-idf", None), Some(7));
    let other = Board::parse("name = \"mine\"\nbase = \"esp32\"\nsuite = \"./mine.toml\"\n", "my.toml").unwrap();
    assert_eq!(tries(&other, "spiffs", "./mine.toml", None), Some(1));
    assert_eq!(tries(&other, "spiffs", "esp-idf", Some("esp-idf")), None);
    assert_eq!(
        complaint("name = \"x\"\nbase = \"esp32\"\n[raw]\ntries = 3\n").split(": ").nth(1),
        Some("raw.tries is a number")
    );
}
