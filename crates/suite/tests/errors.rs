//! What wrong suites and settings are told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::fmt::Write as _;

use flashmark_core::record::Form;
use flashmark_suite::{Problem, Settings, Suite};

fn settings_of(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    pairs.iter().for_each(|pair| settings.push_pair(pair).unwrap());
    settings
}

/// A suite of one workload with these lines.
fn workload(lines: &str) -> String {
    format!("name = \"s\"\n[[workload]]\nname = \"w\"\n{lines}\n")
}

#[test]
fn wrong_suites() {
    let w = |lines: &str| workload(lines);
    let cases = [
        ("a key that does not exist", w("blok = \"4k\"")),
        ("another tool's key", w("bs = \"4k\"")),
        ("a key in the wrong table", "name = \"s\"\nblock = 1\n[[workload]]\nname = \"w\"".into()),
        ("a table that does not exist", "name = \"s\"\n[[workloads]]\nname = \"w\"".into()),
        ("name in defaults", "name = \"s\"\n[defaults]\nname = \"x\"\n[[workload]]\nname = \"w\"".into()),
        ("a key unknown in compat", w("[compat]\nworkloads = []")),
        ("a unit that does not exist", w("  block = \"4q\"")),
        ("a negative size", w("block = -1")),
        ("a size with a fraction", w("block = 1.5")),
        ("a size of a wrong type", w("size = true")),
        ("a block too large", w("block = \"4GiB\"")),
        ("a time without unit", w("time = 10")),
        ("a workload key outside of a workload", "name = \"s\"\nsync = \"end\"\n[[workload]]\nname = \"w\"".into()),
        ("a time as text without unit", w("time = \"10\"")),
        ("a parameter as time", w("pause = \"$x\"")),
        ("a count as text", w("repeats = \"ten\"")),
        ("a count with a unit", w("repeats = \"4k\"")),
        ("a count too large", w("repeats = 4294967296")),
        ("a boolean as text", w("drain = \"true\"")),
        ("an order that does not exist", w("order = \"sequental\"")),
        ("an order of a wrong type", w("order = [\"random\"]")),
        ("a theta out of range", w("order = \"zipf:0\"")),
        ("an operation that does not exist", w("op = \"wirte\"")),
        ("a sync policy that does not exist", w("op = \"write\"\nsize = \"1m\"\nsync = \"always\"")),
        ("a share over 100", w("data = \"compressible:101\"")),
        ("a percentage over 100", w("read-percent = 101")),
        ("data that does not exist", w("data = \"zeroes\"")),
        ("an empty text", w("data = \"text:\"")),
        ("an unknown parameter", w("block = \"$target-sze\"\n[params.target-size]\ndefault = \"64k\"")),
        ("a parameter where there is none", w("block = \"$size\"")),
        ("a parameter named like a key", w("[params.block]\ndefault = 1")),
        ("a parameter without default", w("[params.tries]\nmin = 1")),
        ("a parameter below its minimum", w("[params.tries]\ndefault = 0\nmin = 1")),
        ("a parameter of a later one", w("[params.a]\ndefault = \"$b\"\n[params.b]\ndefault = \"4k\"")),
        ("a parameter that is no table", "name = \"s\"\nparams = 3\n[[workload]]\nname = \"w\"".into()),
        ("size 0", w("size = 0")),
        ("repeats 0", w("repeats = 0")),
        ("a block larger than the size", w("size = \"4k\"\nblock = \"8k\"")),
        ("the default block larger than the size", w("size = \"4k\"")),
        ("reading a new file", w("file = \"new\"")),
        ("sync without writes", w("sync = \"end\"")),
        ("appending at random", w("op = \"write\"\nsize = \"4m\"\nfile = \"append\"\norder = \"random\"")),
        ("a new file without size", w("op = \"write\"")),
        ("a percentage that is not mixed", w("op = \"read\"\nread-percent = 50")),
        ("preallocation of an existing file", w("preallocate = true")),
        ("an end without text", w("data-end = \"x\"")),
        ("an erase without writes", w("erase = \"never\"")),
        ("an erase that does not exist", w("op = \"write\"\nsize = \"1m\"\nerase = \"before\"")),
        ("an access that does not exist", w("access = \"file\"")),
        ("a medium that does not exist", w("medium = \"nand\"")),
        ("a level of all there is", w("  fill = \"100%\"")),
        ("a negative level", w("fill = \"-5%\"")),
        ("a level that is none", w("fill = \"abc\"")),
        ("a level without its unit", w("fill = 60")),
        ("an end longer than the block", w("block = 2\ndata = \"text:a\"\ndata-end = \"abc\"")),
        ("two workloads of one name", w("[[workload]]\nname = \"w\"")),
        ("a workload without name", "name = \"s\"\n[[workload]]\nop = \"read\"".into()),
        ("an empty name", "name = \"s\"\n[[workload]]\nname = \" \"".into()),
        ("a suite without name", "[[workload]]\nname = \"w\"".into()),
        ("a suite without workloads", "name = \"s\"".into()),
        ("a compatibility form without workloads", w("[compat.defaults]\nblock = 1")),
        ("a workload that is no table", "name = \"s\"\nworkload = \"w\"".into()),
        ("a workload that is one table", "name = \"s\"\n[workload]\nname = \"w\"".into()),
        ("an original that does not exist", "name = \"s\"\noriginal = \"sdfats\"\n[[workload]]\nname = \"w\"".into()),
        (
            "a default that nothing takes",
            "name = \"s\"\n[defaults]\nsync = \"evry:1\"\n[[workload]]\nname = \"w\"".into(),
        ),
        ("a key given twice", w("block = 1\nblock = 2")),
        ("a string that does not end", w("order = \"random")),
        ("nothing after =", w("block =")),
        ("an empty file", String::new()),
    ];
    let mut out = String::new();
    for (what, text) in cases {
        let error = match Suite::parse(&text, "my.toml") {
            Ok(_) => panic!("{what} was taken:\n{text}"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with("my.toml"), "{error}");
        assert!(!error.contains('\n'), "{error}");
        writeln!(out, "{what}\n    {error}").unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn wrong_settings() {
    let mut out = String::new();
    for (suite, pairs) in [
        ("quick", &["block=0"][..]),
        ("quick", &["blok=4k"]),
        ("quick", &["iodepth=4"]),
        ("quick", &["block=128m"]),
        ("quick", &["file-size=2k"]),
        ("quick", &["size=4kk"]),
        ("quick", &["size="]),
        ("quick", &["time=10"]),
        ("quick", &["op=read"]),
        ("fill", &["fill=50%"]),
        ("fill", &["fill=none"]),
        ("quick", &["name=x"]),
        ("quick", &["read-percent=50"]),
        ("quick", &["drain=yes"]),
        ("quick", &["order=rand"]),
        ("quick", &["repeats=0"]),
        ("quick", &["verify=last byte"]),
        ("quick", &["repeats=100001"]),
        ("quick", &["verify=last-byte"]),
        ("sdfat", &["data=random"]),
        ("raw-read", &["sync=end"]),
        ("raw-read", &["erase=never"]),
        ("quick", &["medium=nor-flash"]),
        ("raw-read", &["file=new"]),
        ("esp-idf", &["target-size=306"]),
        ("esp-idf", &["target-sise=64k"]),
        ("esp-idf", &["tries=0"]),
        ("esp-idf", &["tries=ten"]),
        ("esp-idf", &["target-size=$tries"]),
        ("esp-idf", &["target-size=8g"]),
        ("sd-bench", &["buffer-size=8k", "size=4k"]),
        ("sd-bench", &["writes=99999999999999999"]),
        ("esp-idf", &["banana=1"]),
        ("sdfat", &["block=1"]),
    ] {
        let error = Suite::load(suite).unwrap().expand(Form::Corrected, &settings_of(pairs));
        let error = error.err().unwrap_or_else(|| panic!("{suite} takes {pairs:?}"));
        writeln!(out, "{suite}: {}\n    {error}", pairs.join(" ")).unwrap();
    }
    for pairs in [
        &["op=write"][..],
        &["op=write", "size=4k"],
        &["op=read", "sync=end"],
        &["op=read", "preallocate=true"],
        &["op=read", "read-percent=5"],
        &["op=write", "size=1m", "data-end=x"],
        &["op=write", "size=1m", "file=apend"],
        &["foo=1"],
        &["tries=4"],
    ] {
        let error = Suite::ad_hoc(&settings_of(pairs)).err().unwrap_or_else(|| panic!("{pairs:?} is taken"));
        writeln!(out, "alone: {}\n    {error}", pairs.join(" ")).unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn wrong_names_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("latin1.toml"), b"name = \"s\"\nabout = \"gr\xfc\xdfe\"\n").unwrap();
    std::fs::write(path("long.toml"), vec![b'#'; (1 << 20) + 1]).unwrap();
    let mut out = String::new();
    for name in ["quik", "banana", "", "no/such.toml", &path("latin1.toml"), &path("long.toml"), &path(".")] {
        let error = Suite::load(name).err().unwrap_or_else(|| panic!("{name:?} is taken"));
        let error = error.to_string().replace(folder.path().to_str().unwrap(), "FOLDER");
        // What the operating system says is its own affair.
        let (ours, theirs) = error.split_once("cannot be read: ").map_or((error.as_str(), ""), |(ours, _)| (ours, "…"));
        let own_words = ["UTF-8", "no suite has"].iter().any(|words| error.contains(words));
        writeln!(out, "{}", if own_words { error.clone() } else { format!("{ours}{theirs}") }).unwrap();
    }
    let quick = Suite::load("quick").unwrap();
    writeln!(out, "{}", quick.expand(Form::Compat, &Settings::new()).unwrap_err()).unwrap();
    writeln!(out, "{}", Settings::new().push_pair("block").unwrap_err()).unwrap();
    insta::assert_snapshot!(out);
}

#[test]
fn problems_can_be_told_apart_by_programs() {
    let error = Suite::load("quik").unwrap_err();
    assert!(matches!(*error.problem, Problem::UnknownSuite { nearest: Some(ref name), .. } if name == "quick"));
}
