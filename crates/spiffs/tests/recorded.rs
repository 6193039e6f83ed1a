//! The C implementation's own accesses of the flash, and its own images: `data`, see `data/README.txt`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use spiffs::{Borrowed, CacheSlot, Config, Descriptor, FileInfo, Finding, Listing, OpenFlags, SeekFrom, Spiffs};
use support::crc::crc32;
use support::nor::Nor;
use support::outcome::Outcome;
use support::run::Runner;
use support::script::{Call, Script, generate};

/// The files of a kind, by name.
fn data(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "no {extension} files");
    files
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a script.
fn run(script: &Script, flash: Vec<u8>) -> Vec<Outcome<'_>> {
    let mut runner = Runner::new(script);
    runner.run(&mut Nor::<true>::new(flash));
    runner.outcomes.unwrap()
}

/// What two accounts of a call have to have in common: everything, but for the reads of a check. Its second pass looks
/// for the headers of all parts of indexes, where the C code's passes over those that look sound.
fn comparable(call: &Call, brief: &str) -> String {
    if !matches!(call, Call::Check) {
        return brief.to_owned();
    }
    let words = brief.split(' ').enumerate().filter(|(at, _)| ![2, 5].contains(at));
    words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// The first calls that differ from a recording.
fn differences(outcomes: &[Outcome<'_>], recorded: &str) -> Vec<String> {
    let mut recorded = recorded.lines();
    let mut differences: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| {
            let (ours, theirs) = (outcome.brief(), recorded.next().unwrap_or("nothing"));
            let same = comparable(outcome.call(), &ours) == comparable(outcome.call(), theirs);
            (!same).then(|| format!("  {}\n    ours: {ours}\n    C:    {theirs}", outcome.text()))
        })
        .collect();
    differences.extend(recorded.next().map(|line| format!("  not run: {line}")));
    differences.truncate(3);
    differences
}

#[test]
fn the_same_calls_make_the_same_accesses_as_in_c() {
    let mut failed = String::new();
    for path in data("script") {
        let script = Script::parse(&text(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let outcomes = run(&script, vec![0xff; script.settings.flash_bytes()]);
        let differences = differences(&outcomes, &text(&path.with_extension("c")));
        if !differences.is_empty() {
            writeln!(failed, "{}:\n{}", path.display(), differences.join("\n")).unwrap();
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// The test above compares what it should: other data make other operations, though no fewer and no more.
#[test]
fn a_comparison_notices_other_data() {
    let script = |seed: u32| {
        Script::parse(&format!("config size=16384\nmount\nformat\nmount\nopen 0 a rdwr+creat\nwrite 0 {seed} 300\n"))
            .unwrap()
    };
    let (one, other) = (script(1), script(3));
    let one = run(&one, vec![0xff; 16384]);
    let other = run(&other, vec![0xff; 16384]);
    let recorded = one.iter().map(|outcome| outcome.brief() + "\n").collect::<String>();
    assert_eq!(differences(&one, &recorded), [""; 0]);
    assert_eq!(differences(&other, &recorded).len(), 1);
    let shorter = recorded.lines().take(4).collect::<Vec<_>>().join("\n");
    assert_eq!(differences(&one, &shorter).len(), 1);
    assert_eq!(differences(&one, &(recorded + "7 0 0/0 0/0 0 00000000\n")).len(), 1);
}

/// A file of an image: its size, and in hexadecimal the CRC-32 of its content and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    size: u32,
    crc: String,
    meta: String,
}

/// The names in the listing of an image, and the configuration to mount it with.
fn listing(text: &str) -> (Config, BTreeMap<String, Expected>) {
    let (config, files) = text.split_once('\n').unwrap();
    let config = Script::parse(config).unwrap().settings.config;
    let files = files.lines().map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let [name, size, crc, meta] = words[..] else { panic!("not name, size, CRC and metadata: {line}") };
        (name.to_owned(), Expected { size: size.parse().unwrap(), crc: crc.to_owned(), meta: meta.to_owned() })
    });
    (config, files.collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Does something with a mounted volume, and unmounts it.
fn mounted<T>(
    flash: &mut Nor<true>,
    config: Config,
    what: impl FnOnce(&mut Spiffs<&mut Nor<true>, Borrowed<'_>>) -> T,
) -> T {
    let mut bytes = vec![0; config.buffer_bytes(4)];
    let (mut descriptors, mut slots) = ([Descriptor::CLOSED; 4], [CacheSlot::FREE; 4]);
    let memory = Borrowed { bytes: &mut bytes, descriptors: &mut descriptors, slots: &mut slots };
    let mut volume = Spiffs::mount(flash, config, memory).unwrap();
    let result = what(&mut volume);
    volume.unmount().1.unwrap();
    result
}

/// All files of a volume; what the listing and what opening says agrees.
fn files(volume: &mut Spiffs<&mut Nor<true>, Borrowed<'_>>) -> BTreeMap<String, Expected> {
    let mut files = BTreeMap::new();
    let mut listing = Listing::default();
    while let Some(FileInfo { name, size_bytes, meta, .. }) = volume.next_file(&mut listing).unwrap() {
        let (name, size, meta) = (name.to_vec(), size_bytes, hex(meta));
        let file = volume.open(&name, OpenFlags::READ).unwrap();
        let mut content = vec![0; size as usize + 1];
        let read = volume.read(file, &mut content).unwrap();
        assert_eq!(read, size as usize);
        let crc = format!("{:08x}", crc32(&content[..read]));
        volume.close(file).unwrap();
        let name = String::from_utf8(name).unwrap();
        assert!(files.insert(name, Expected { size, crc, meta }).is_none(), "a file is listed twice");
    }
    files
}

/// What a check finds, but for its progress.
fn check(volume: &mut Spiffs<&mut Nor<true>, Borrowed<'_>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    volume
        .check(|_, finding| {
            if !matches!(finding, Finding::Progress(_)) {
                findings.push(finding);
            }
        })
        .unwrap();
    findings
}

#[test]
fn images_of_c_hold_what_was_written() {
    for path in data("img") {
        println!("{}", path.display());
        let (config, expected) = listing(&text(&path.with_extension("txt")));
        let image = std::fs::read(&path).unwrap();
        let mut flash = Nor::<true>::new(image.clone());
        mounted(&mut flash, config, |volume| {
            assert_eq!(files(volume), expected);
            assert_eq!(check(volume), []);
        });
        assert!(flash.bytes == image, "reading and checking changed it");
    }
}

#[test]
fn images_of_c_can_be_written() {
    for path in data("img") {
        println!("{}", path.display());
        let (config, mut expected) = listing(&text(&path.with_extension("txt")));
        let mut flash = Nor::<true>::new(std::fs::read(&path).unwrap());
        // The largest makes room, as some are full.
        let largest = expected.iter().max_by_key(|(_, file)| file.size).unwrap().0.clone();
        expected.remove(&largest);
        let changed = expected.iter().max_by_key(|(_, file)| file.size).unwrap().0.clone();
        let mut content = Vec::new();
        mounted(&mut flash, config, |volume| {
            volume.remove(&largest).unwrap();
            let file = volume.open(&changed, OpenFlags::READ_WRITE).unwrap();
            content.resize(expected[&changed].size as usize, 0);
            assert_eq!(volume.read(file, &mut content).unwrap(), content.len());
            // Over the last byte, and behind it.
            let from = content.len() - 1;
            volume.seek(file, SeekFrom::End(-1)).unwrap();
            content.truncate(from);
            content.extend(generate(5, 400));
            volume.write(file, &content[from..]).unwrap();
            volume.close(file).unwrap();
            let file = volume.open("new", OpenFlags::CREATE | OpenFlags::WRITE).unwrap();
            volume.write(file, &generate(7, 1000)).unwrap();
            volume.close(file).unwrap();
        });
        let meta = expected[&changed].meta.clone();
        let of = |content: &[u8], meta| Expected {
            size: content.len() as u32,
            crc: format!("{:08x}", crc32(content)),
            meta,
        };
        expected.insert(changed, of(&content, meta));
        expected.insert("new".into(), of(&generate(7, 1000), "ff".repeat(config.meta_bytes.into())));
        mounted(&mut flash, config, |volume| {
            assert_eq!(files(volume), expected);
            assert_eq!(check(volume), []);
        });
    }
}
