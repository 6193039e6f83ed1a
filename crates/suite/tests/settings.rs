//! How the command line, a workload's own keys and defaults lie over each other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use flashmark_core::record::Form;
use flashmark_core::workload::{Access, Data, Erase, FileMode, Medium, Order, Reopen, SyncPolicy, Verify, Workload};
use flashmark_suite::{Applies, Settings, Source, Suite, keys};

fn set(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    pairs.iter().for_each(|pair| settings.push_pair(pair).unwrap());
    settings
}

fn ad_hoc(pairs: &[&str]) -> Workload {
    let suite = Suite::ad_hoc(&set(pairs)).unwrap_or_else(|error| panic!("{error}"));
    let mut workloads = suite.expand(Form::Corrected, &set(pairs)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(workloads.len(), 1);
    workloads.remove(0)
}

fn parse(text: &str) -> Suite {
    Suite::parse(text, "s.toml").unwrap_or_else(|error| panic!("{error}"))
}

const MIXED_BAG: &str = r#"
name = "bag"
[defaults]
sync = "end"
read-percent = 75
preallocate = true
data-end = "\n"
file-size = "8m"
[[workload]]
name = "r"
op = "read"
[[workload]]
name = "w"
op = "write"
size = "4m"
data = "text:ab"
[[workload]]
name = "m"
op = "mixed"
[compat.defaults]
sync = "never"
[[compat.workload]]
name = "w"
op = "write"
"#;

#[test]
fn a_workload_from_the_command_line_alone() {
    let w = ad_hoc(&["op=write", "block=4k", "size=64m", "order=random"]);
    let expected = Workload {
        read_percent: 0,
        order: Order::Random,
        block_bytes: 4096,
        size_bytes: Some(64 << 20),
        file_bytes: Some(64 << 20),
        file: FileMode::New,
        ..Workload::named("random write 4KiB")
    };
    assert_eq!(w, expected);
    assert_eq!(ad_hoc(&[]), Workload::named("sequential read 1MiB"));
    assert_eq!(ad_hoc(&["name=mine"]).name, "mine");
    assert_eq!(ad_hoc(&["read-percent=75", "order=zipf:0.9"]).name, "zipf 0.9 mixed 75% read 1MiB");
    assert_eq!(ad_hoc(&["op=write", "size=1m", "sync=4"]).name, "sequential write 1MiB + sync");
    assert_eq!(Suite::ad_hoc(&set(&[])).unwrap().source, Source::CommandLine);
}

#[test]
fn its_text_is_a_suite_that_expands_to_the_same() {
    for pairs in [
        &["op=write", "block=4k", "size=64m", "order=random", "preallocate=true", "sync=every:8", "repeats=3"][..],
        &[
            "op=write",
            "block=4k",
            "size=1MB",
            "data=text:it's \"a\" \\ $text",
            "data-end=\r\n",
            "verify=true",
            "drain=false",
        ],
        &["name=all \"quoted\"", "time=1.5s", "file-size=all", "max-errors=7", "seed=18446744073709551615"],
        &["read-percent=75", "order=zipf:0.9", "pause=10ms", "engine=tokio", "direct=required", "warm-up=1"],
        &["op=write", "size=1m", "erase=never", "access=raw", "medium=nor"],
    ] {
        let suite = Suite::ad_hoc(&set(pairs)).unwrap();
        let again = parse(&suite.text);
        let expand = |suite: &Suite| suite.expand(Form::Corrected, &Settings::new()).unwrap();
        assert_eq!(expand(&again), expand(&suite), "{}", suite.text);
    }
}

#[test]
fn every_key_can_be_set_from_the_command_line() {
    let value = |name: &str| match name {
        "name" => "n",
        "op" => "mixed",
        "read-percent" => "10",
        "order" => "random-once",
        "block" => "1k",
        "size" => "2k",
        "file-size" => "3k",
        "time" => "4s",
        "file" => "existing",
        "reopen" => "once",
        "sync" => "5",
        "data" => "text:x",
        "data-end" => "y",
        "verify" => "last-byte",
        "repeats" => "6",
        "warm-up" => "7",
        "pause" => "8ms",
        "queue-depth" => "9",
        "seed" => "11",
        "engine" => "tokio",
        "direct" => "buffered",
        "max-errors" => "12",
        "erase" => "outside",
        "access" => "raw",
        "medium" => "not-nor",
        "drain" => "false",
        "fill" => "60%",
        "preallocate" | "time-open-close" | "time-repeats" | "accept-short" => "true",
        other => panic!("a new key needs a value here: {other}"),
    };
    let mut settings = Settings::new();
    let takes = |applies| !matches!(applies, Applies::NewFile | Applies::OnlyWriting);
    keys().iter().filter(|key| takes(key.applies)).for_each(|key| settings.push(key.name, value(key.name)));
    let expected = Workload {
        name: "n".into(),
        read_percent: 10,
        order: Order::RandomOnce,
        block_bytes: 1024,
        file_bytes: Some(3072),
        size_bytes: Some(2048),
        time_ns: Some(4_000_000_000),
        file: FileMode::Existing,
        reopen: Reopen::Once,
        preallocate: false,
        sync: SyncPolicy::Every { ops: 5 },
        drain: false,
        data: Data::Text { text: "x".into(), end: "y".into() },
        verify: Verify::LastByte,
        repeats: 6,
        warm_up: 7,
        pause_ns: 8_000_000,
        queue_depth: 9,
        seed: 11,
        engine: "tokio".into(),
        direct: flashmark_core::workload::Direct::Buffered,
        time_open_close: true,
        time_repeats: true,
        max_errors: 12,
        accept_short: true,
        erase: Erase::Outside,
        fill_percent: Some(60),
        access: Access::Raw,
        medium: Medium::NotNor,
    };
    let suite = Suite::ad_hoc(&settings).unwrap();
    assert_eq!(suite.expand(Form::Corrected, &Settings::new()).unwrap(), std::slice::from_ref(&expected));
    // Over a suite they come to the same.
    let suite = parse("name = \"s\"\n[[workload]]\nname = \"w\"\n");
    assert_eq!(suite.expand(Form::Corrected, &settings).unwrap(), [expected]);
    assert!(ad_hoc(&["op=write", "size=1m", "preallocate=true"]).preallocate);
}

#[test]
fn defaults_pass_over_what_they_are_not_for() {
    let suite = parse(MIXED_BAG);
    let workloads = suite.expand(Form::Corrected, &Settings::new()).unwrap();
    let [r, w, m] = &workloads[..] else { panic!("three") };
    assert_eq!((r.read_percent, w.read_percent, m.read_percent), (100, 0, 75));
    assert_eq!((r.sync, w.sync, m.sync), (SyncPolicy::Never, SyncPolicy::End, SyncPolicy::End));
    assert_eq!((r.preallocate, w.preallocate, m.preallocate), (false, true, false));
    assert_eq!(w.data, Data::Text { text: "ab".into(), end: "\n".into() });
    assert_eq!((w.size_bytes, w.file_bytes), (Some(4 << 20), Some(8 << 20)));
    let compat = suite.expand(Form::Compat, &Settings::new()).unwrap();
    assert_eq!(compat[0].sync, SyncPolicy::Never, "the form's defaults lie over the suite's");
}

#[test]
fn settings_win_over_everything_where_they_apply() {
    let suite = parse(MIXED_BAG);
    let workloads =
        suite.expand(Form::Corrected, &set(&["sync=2", "file=existing", "data=zeros", "block=8k"])).unwrap();
    let [r, w, m] = &workloads[..] else { panic!("three") };
    assert_eq!((r.sync, w.sync), (SyncPolicy::Never, SyncPolicy::Every { ops: 2 }));
    assert_eq!((w.file, w.preallocate), (FileMode::Existing, false));
    assert_eq!(w.data, Data::Zeros, "the default data-end is for texts only");
    assert!([r, w, m].iter().all(|w| w.block_bytes == 8192));
}

#[test]
fn a_setting_voids_what_a_workload_says_for_the_value_it_replaces() {
    let text = "name = \"s\"\n[[workload]]\nname = \"w\"\nop = \"write\"\nsize = \"1m\"\n\
                data = \"text:a\"\ndata-end = \"b\"\npreallocate = true\n";
    let workloads = parse(text).expand(Form::Corrected, &set(&["data=random", "file=overwrite"])).unwrap();
    assert_eq!((&workloads[0].data, workloads[0].preallocate), (&Data::Random, false));
}

#[test]
fn the_part_of_the_file_follows_from_the_size() {
    for (pairs, size, part) in [
        (&["size=4m"][..], Some(4 << 20), Some(4 << 20)),
        (&["size=4m", "file-size=2m"], Some(4 << 20), Some(2 << 20)),
        (&["file-size=2m"], None, Some(2 << 20)),
        (&["size=4m", "file-size=all"], Some(4 << 20), None),
        (&["op=write", "size=4m"], Some(4 << 20), Some(4 << 20)),
        (&["op=write", "file=append", "size=4m"], Some(4 << 20), None),
        (&["op=write", "file-size=all"], None, None),
        (&["op=write", "time=1s"], None, None),
        (&["time=1s"], None, None),
    ] {
        let w = ad_hoc(pairs);
        assert_eq!((w.size_bytes, w.file_bytes), (size, part), "{pairs:?}");
    }
}

#[test]
fn a_suite_is_loaded_from_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, MIXED_BAG).unwrap();
    let suite = Suite::load(path.to_str().unwrap()).unwrap();
    assert_eq!(suite.name(), "bag");
    assert_eq!(suite.source, Source::Path(path.to_str().unwrap().to_owned()));
    assert_eq!(suite.text, MIXED_BAG);
}
