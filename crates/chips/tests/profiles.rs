//! Chips as files.
#![allow(clippy::unwrap_used, clippy::panic)]

use flashmark_chips::nor::profiles::{ProfileFileError, built_in, load, load_with_facts, parse, parse_with_facts};
use flashmark_chips::nor::{Chip, Profile, ReadKind, SfdpSource};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn text(name: &str) -> &'static str {
    built_in().iter().find(|chip| chip.name == name).unwrap().text
}

#[test]
fn all_built_in_chips_are_whole() {
    assert!(built_in().len() >= 8);
    assert!(built_in().is_sorted_by_key(|chip| chip.name));
    for chip in built_in() {
        let file = parse_with_facts(chip.text, chip.name).unwrap();
        assert_eq!(file.profile.name.to_lowercase(), chip.name);
        assert_eq!(load(&chip.name.to_uppercase()).unwrap(), file.profile);
        let made = Chip::new(file.profile.clone(), 0).unwrap();
        // A chip without SFDP aside, what a driver discovers is the chip.
        if let Some(table) = made.profile().sfdp_table() {
            let told = Profile::from_sfdp("", &table).unwrap();
            assert_eq!(told.capacity_bytes, file.profile.capacity_bytes, "{}", chip.name);
            let sizes = |profile: &Profile| profile.erase_types.iter().map(|e| (e.opcode, e.bytes)).collect::<Vec<_>>();
            assert_eq!(sizes(&told), sizes(&file.profile), "{}", chip.name);
            let dummies =
                |profile: &Profile| profile.reads.iter().map(|r| (r.opcode, r.dummy_clocks)).collect::<Vec<_>>();
            assert_eq!(dummies(&told), dummies(&file.profile), "{}", chip.name);
        }
        assert!(
            file.facts.len() > 15 && file.facts.iter().all(|fact| !fact.source.is_empty() && !fact.value.is_empty())
        );
        let mut keys: Vec<_> = file.facts.iter().map(|fact| &fact.key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), file.facts.len(), "{}: a key twice", chip.name);
    }
    // Every file of the folder is in the registry.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../chips");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, built_in().len());
}

#[test]
fn chips_are_as_their_data_sheets_say() {
    let chip = load("w25q32jv").unwrap();
    assert_eq!((chip.jedec_id, chip.capacity_bytes, chip.page_bytes), ([0xef, 0x40, 0x16], 4 << 20, 256));
    let erases =
        |chip: &Profile| chip.erase_types.iter().map(|e| (e.typical_ns / MS, e.max_ns / MS)).collect::<Vec<_>>();
    assert_eq!(erases(&chip), [(45, 400), (120, 1600), (150, 2000)]);
    assert_eq!((chip.program.page_typical_ns, chip.program.page_max_ns), (400_000, 3 * MS));
    assert_eq!((chip.program.first_byte_ns, chip.program.next_byte_ns), (30_000, 2_500));
    assert_eq!(chip.read_mode(ReadKind::QuadIo).unwrap().clock_max_hz, 133_000_000);

    let old = load("mx25l8005").unwrap();
    assert_eq!(erases(&old), [(60, 120), (1000, 2000)]);
    assert_eq!(old.sfdp, SfdpSource::Absent);
    assert!(old.suspend.is_none() && old.quad_program.is_none() && old.reads.len() == 2);

    let big = load("w25q01jv").unwrap();
    assert_eq!((big.capacity_bytes, big.four_byte_address), (128 << 20, true));
    assert_eq!(erases(&big), [(64, 896), (128, 1792), (160, 2240)]);
    let opcodes: Vec<_> = big.erase_types.iter().map(|erase| erase.address4_opcode).collect();
    assert_eq!(opcodes, [Some(0x21), None, Some(0xdc)]);
    assert!(big.reads.iter().all(|read| read.address4_opcode == Some(read.kind.usual_opcodes().1)));
    assert_eq!(big.chip_erase_typical_ns, 192_000 * MS);

    let low = load("mx25r6435f").unwrap();
    assert_eq!(erases(&low), [(48, 384), (240, 1920), (480, 3840)]);
    assert_eq!((low.latencies.release_ns, low.clock_max_hz), (35_000, 80_000_000));
}

#[test]
fn facts_tell_value_and_source() {
    let facts = load_with_facts("w25q32jv").unwrap().facts;
    let fact = |key: &str| facts.iter().find(|fact| fact.key == key).unwrap();
    assert_eq!(fact("program.next_byte").value, "2.5 us");
    assert_eq!(fact("erase[0].time").value, "45 ms, at most 400 ms");
    assert!(fact("erase[0].time").source.contains("W25Q32JV data sheet"));
    assert_eq!(fact("chip.quad_enable").value, "status2-bit1");
    let facts = load_with_facts("w25q64jv").unwrap().facts;
    let fact = facts.iter().find(|fact| fact.key == "erase.4096").unwrap();
    assert_eq!(fact.value, "64000000 ns, at most 896000000 ns");
    assert!(fact.source.starts_with("SFDP: "));
}

/// The W25Q32JV with one text replaced by another; gives what is said of it.
fn refused(old: &str, new: &str) -> String {
    let original = text("w25q32jv");
    assert!(original.contains(old), "{old}");
    match parse(&original.replacen(old, new, 1), "my.toml").unwrap_err() {
        ProfileFileError::Content { file, line, column, reason } => {
            assert_eq!(file, "my.toml");
            assert!(line > 0 && column > 0);
            format!("{line}:{column}: {reason}")
        }
        other => panic!("{other}"),
    }
}

/// Line and column of a text in the W25Q32JV's file.
fn place(of: &str) -> String {
    let original = text("w25q32jv");
    let before = &original[..original.find(of).unwrap()];
    format!("{}:{}: ", before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap().len() + 1)
}

#[test]
fn faults_are_told_with_their_place() {
    let said = refused("endurance =", "endurence =");
    assert!(said.starts_with(&place("endurance =")) && said.contains("unknown field `endurence`"), "{said}");
    let said = refused("typical = 45,", "typically = 45,");
    assert!(said.contains("unknown field `typically`"), "{said}");
    let said = refused("[erase_model]", "[erase_modell]");
    assert!(said.contains("unknown field `erase_modell`"), "{said}");
    let said = refused("value = 256, unit = \"B\"", "value = 300, unit = \"B\"");
    assert!(said.contains("chip.page is 300: must be a power of two"), "{said}");
    assert!(said.starts_with(&place("256, unit")), "{said}");
    let said = refused("value = 4, unit = \"MiB\"", "value = 5, unit = \"MiB\"");
    assert!(said.contains("chip.capacity is 5242880"), "{said}");
    let said = refused("value = 64, unit = \"KiB\"", "value = 8, unit = \"MiB\"");
    assert!(said.contains("erase.size is 8388608: must be a power of two from 256 to 4194304"), "{said}");
    assert!(said.starts_with(&place("64, unit = \"KiB\"")), "{said}");
    let said = refused("typical = 45, max = 400", "typical = 450, max = 400");
    assert!(said.starts_with(&place("45, max = 400")) && said.contains("under the typical"), "{said}");
    let said = refused("unit = \"ms\"", "unit = \"msec\"");
    assert!(said.contains("'msec' is no unit of time: use ns, us, ms, s"), "{said}");
    let said = refused("value = 100000", "value = -1");
    assert!(said.contains("a count cannot be -1"), "{said}");
    let said = refused("value = \"ef 40 16\"", "value = \"ef 40\"");
    assert!(said.contains("a JEDEC id has 3 bytes, not 2"), "{said}");
    let said = refused("value = \"ef 40 16\"", "value = \"ef 40 1g\"");
    assert!(said.contains("'g' is no hexadecimal digit"), "{said}");
    let said = refused("opcode = 0x0b", "opcode = 0x02");
    assert!(said.contains("opcode 0x02 means two commands"), "{said}");
    let said = refused("kind = \"fast\"", "kind = \"read\"");
    assert!(said.contains("'read' is there already"), "{said}");
    let said = refused("opcode = 0x20", "opcode = 0x120");
    assert!(said.contains("288"), "{said}");
    let source = "source = \"model: half of a program is set-up and verify; no data sheet tells\"";
    let said = refused(source, "source = \" \"");
    assert!(said.contains("the source is empty"), "{said}");
    let said = refused(&format!(", {source}"), "");
    assert!(said.contains("missing field `source`"), "{said}");
    let said = refused("[chip]", "[chip");
    assert!(said.starts_with("3:"), "{said}");
}

#[test]
fn what_is_missing_is_named() {
    for (section, missing) in [
        ("[program]", "missing: program"),
        ("[chip_erase]", "missing: chip_erase"),
        ("[erase_model]", "missing: erase_model"),
        ("[latency]", "missing: latency"),
        ("[[erase]]", "missing: [[erase]]"),
        ("[[read]]", "missing: [[read]]"),
    ] {
        // Takes out all sections of that name, each up to the next one.
        let mut kept = String::new();
        let mut keep = true;
        for line in text("w25q32jv").lines() {
            keep = if line.starts_with('[') { line != section } else { keep };
            kept.push_str(if keep { line } else { "" });
            kept.push('\n');
        }
        let said = parse(&kept, "my.toml").unwrap_err().to_string();
        assert!(said.starts_with("my.toml:") && said.ends_with(missing), "{said}");
    }
    let without = |key: &str| {
        let kept: String =
            text("w25q32jv").lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
        parse(&kept, "my.toml").unwrap_err().to_string()
    };
    assert!(without("capacity").ends_with("missing: chip.capacity"));
    assert!(without("jedec_id").ends_with("missing: chip.jedec_id"));
    assert!(without("first_byte").ends_with("missing: program.first_byte"));
    assert!(without("write_status").ends_with("missing: latency.write_status"));
    assert!(without("name").contains("missing field `name`"));
}

#[test]
fn names_and_files() {
    let said = load("w25q33").unwrap_err().to_string();
    assert!(said.contains("no chip is named 'w25q33'") && said.contains("w25q32jv"), "{said}");
    let said = load("no/such.toml").unwrap_err().to_string();
    assert!(said.starts_with("no/such.toml: "), "{said}");

    let folder = std::env::temp_dir().join(format!("flashmark-chips-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let dump = load("mx25r6435f").unwrap().sfdp_table().unwrap();
    let chip = load_with_facts(&file("part.sfdp", &dump)).unwrap();
    assert_eq!((chip.profile.name.as_str(), chip.profile.jedec_id), ("part", [0xc2, 0, 23]));
    assert!(chip.facts.iter().any(|fact| fact.key == "erase.65536"));
    Chip::new(chip.profile, 0).unwrap();
    assert_eq!(load(&file("part.bin", &dump)).unwrap().capacity_bytes, 8 << 20);
    let said = load(&file("short.bin", &dump[..60])).unwrap_err().to_string();
    assert!(said.contains("short.bin: the dump has 60 bytes"), "{said}");
    let chip = load(&file("own.toml", text("gd25q32c").as_bytes())).unwrap();
    assert_eq!(chip.jedec_id, [0xc8, 0x40, 0x16]);
    let said = load(&file("bad.toml", b"[chip]\nname = 1\n")).unwrap_err().to_string();
    assert!(said.contains("bad.toml:2:8: "), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_dump_in_a_file_is_checked() {
    let broken = text("w25q64jv").replacen("53 46 44 50", "53 46 44 51", 1);
    let said = parse(&broken, "my.toml").unwrap_err().to_string();
    assert!(said.contains("no SFDP signature"), "{said}");
    let both = text("w25q64jv").replacen("[sfdp]", "[sfdp]\nabsent = true", 1);
    assert!(parse(&both, "my.toml").unwrap_err().to_string().contains("either a dump or absent"));
}

proptest! {
    #[test]
    fn no_text_is_too_odd(at in 0..6000_usize, length in 0..30_usize, put in "[ -~\\n\u{e9}]{0,12}", which in 0..8_usize) {
        let text = built_in()[which].text;
        let start = text.floor_char_boundary(at);
        let end = text.floor_char_boundary(at + length).max(start);
        let changed = [&text[..start], &put, &text[end..]].concat();
        match parse(&changed, "odd.toml") {
            Ok(profile) => profile.check().unwrap(),
            Err(error) => prop_assert!(error.to_string().starts_with("odd.toml:")),
        }
    }
}
