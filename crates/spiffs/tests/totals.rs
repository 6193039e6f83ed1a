//! Whole workloads: how much is read, programmed and erased by the C code (`data/*.totals`, see `data/README.txt`) and by
//! this crate, and the table of it in `docs/spiffs.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use support::crc::{Crc, crc32};
use support::nor::Nor;
use support::run::Runner;
use support::script::Script;
use support::workloads::{WORKLOADS, Workload, phases};

/// How far each total may be from the C code's, in percent.
const MOST_PERCENT: f64 = 3.0;
const COUNTS: [&str; 5] = ["reads", "bytes read", "programs", "bytes programmed", "erases"];

/// What a phase of a workload, or all of them, did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Totals {
    phase: String,
    calls: u64,
    /// As [`COUNTS`].
    counts: [u64; 5],
    /// Over the lines that a recording has of the calls.
    crc: u32,
}

/// A workload, phase by phase.
struct Run {
    workload: &'static Workload,
    ours: Vec<Totals>,
    recorded: Vec<Totals>,
}

fn recording(workload: &Workload) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(workload.name).with_extension("totals")
}

/// `PHASE CALLS READS/BYTES PROGRAMS/BYTES ERASES CRC`, after a line with the CRC of the script.
fn recorded(workload: &Workload, script: &str) -> Vec<Totals> {
    let path = recording(workload);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    let of_script = format!("script {:08x}", crc32(script.as_bytes()));
    assert_eq!(lines.next(), Some(&of_script[..]), "{}: it was recorded with another script", path.display());
    lines
        .map(|line| {
            let words: Vec<_> = line.split([' ', '/']).collect();
            let [phase, calls, counts @ .., crc] = &words[..] else { panic!("{}: {line}", path.display()) };
            let number = |word: &&str| word.parse().unwrap_or_else(|_| panic!("{}: {line}", path.display()));
            let counts: Vec<_> = counts.iter().map(number).collect();
            Totals {
                phase: (*phase).to_owned(),
                calls: number(calls),
                counts: counts.try_into().unwrap_or_else(|_| panic!("{}: {line}", path.display())),
                crc: u32::from_str_radix(crc, 16).unwrap(),
            }
        })
        .collect()
}

fn ours(text: &str) -> Vec<Totals> {
    let script = Script::parse(text).unwrap();
    let phases = phases(text);
    let mut runner = Runner::new(&script);
    assert!(runner.run(&mut Nor::<true>::new(vec![0xff; script.settings.flash_bytes()])));
    let mut totals: Vec<(Totals, Crc)> = Vec::new();
    for outcome in runner.outcomes.unwrap() {
        let phase = phases[outcome.line.number - 1];
        if totals.last().is_none_or(|(last, _)| last.phase != phase) {
            totals.push((Totals { phase: phase.to_owned(), ..Totals::default() }, Crc::default()));
        }
        let (last, crc) = totals.last_mut().unwrap();
        let counts = &outcome.counts;
        let counts = [counts.reads, counts.read_bytes, counts.programs, counts.programmed_bytes, counts.erases];
        last.calls += 1;
        last.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        crc.add(outcome.brief().as_bytes());
        crc.add(b"\n");
    }
    totals.into_iter().map(|(totals, crc)| Totals { crc: crc.value(), ..totals }).collect()
}

/// All workloads, each run once for all tests.
fn runs() -> Vec<Run> {
    let runs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for workload in WORKLOADS {
            let runs = &runs;
            scope.spawn(move || {
                let script = workload.script();
                let run = Run { workload, ours: ours(&script), recorded: recorded(workload, &script) };
                runs.lock().unwrap().push(run);
            });
        }
    });
    let mut runs = runs.into_inner().unwrap();
    runs.sort_by_key(|run| WORKLOADS.iter().position(|workload| workload.name == run.workload.name));
    runs
}

fn sum(phases: &[Totals]) -> [u64; 5] {
    std::array::from_fn(|count| phases.iter().map(|totals| totals.counts[count]).sum())
}

/// How much more than the C code, in percent.
fn difference(ours: u64, theirs: u64) -> f64 {
    match (ours, theirs) {
        (0, 0) => 0.0,
        (_, 0) => f64::INFINITY,
        _ => (ours as f64 / theirs as f64 - 1.0) * 100.0,
    }
}

/// With a space between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// The table of `docs/spiffs.md`.
fn table(runs: &[Run]) -> String {
    let mut table = format!("| workload | | {} |\n|---|---|{}\n", COUNTS.join(" | "), "--:|".repeat(COUNTS.len()));
    for Run { workload, ours, recorded } in runs {
        let (ours, theirs) = (sum(ours), sum(recorded));
        let mut row = |name: &str, of: &str, cells: [String; 5]| {
            writeln!(table, "| {name} | {of} | {} |", cells.join(" | ")).unwrap();
        };
        row(&format!("`{}`", workload.name), "C code", theirs.map(grouped));
        row("", "`spiffs`", ours.map(grouped));
        let percent = |count: usize| match (ours[count], theirs[count]) {
            (ours, theirs) if ours == theirs => "0 %".to_owned(),
            (ours, theirs) => format!("{:+.2} %", difference(ours, theirs)),
        };
        row("", "difference", std::array::from_fn(percent));
    }
    table
}

/// The list of workloads of `docs/spiffs.md`.
fn list() -> String {
    WORKLOADS.iter().fold(String::new(), |list, Workload { name, about, size_kib, .. }| {
        list + &format!("* `{name}` ({size_kib} KiB): {about}\n")
    })
}

/// Holds a part of `docs/spiffs.md`, between two comments, against what it should be.
fn assert_documented(part: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spiffs.md");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let begin = format!("<!-- {part}: begin -->\n");
    let end = format!("<!-- {part}: end -->");
    let found = text.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end));
    let (found, _) = found.unwrap_or_else(|| panic!("{} has no {begin}", path.display()));
    assert!(found.trim() == expected.trim(), "docs/spiffs.md, {part}, has to be:\n\n{expected}");
}

#[test]
fn totals_are_those_of_the_c_code() {
    let runs = runs();
    let mut failed = String::new();
    for Run { workload, ours, recorded } in &runs {
        let names = |totals: &[Totals]| totals.iter().map(|of| (of.phase.clone(), of.calls)).collect::<Vec<_>>();
        assert_eq!(names(ours), names(recorded), "{}: phases and their calls", workload.name);
        for (ours, theirs) in ours.iter().zip(recorded) {
            let what = format!("{}, {}", workload.name, ours.phase);
            for (count, name) in COUNTS.iter().enumerate() {
                let (ours, theirs) = (ours.counts[count], theirs.counts[count]);
                let percent = difference(ours, theirs);
                if percent.abs() > MOST_PERCENT {
                    writeln!(failed, "{what}: {name}: C {theirs}, ours {ours}, {percent:+.2} %").unwrap();
                }
            }
            // Results, details and each access in its order are in the CRC.
            if ours.crc != theirs.crc {
                writeln!(failed, "{what}: not every call is the same").unwrap();
            }
        }
    }
    assert!(failed.is_empty(), "not as the C code:\n{failed}");
    assert_documented("totals", &table(&runs));
}

#[test]
fn the_workloads_are_documented() {
    assert_documented("workloads", &list());
}

/// Each recording belongs to a workload.
#[test]
fn there_are_no_other_recordings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "totals") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(Workload::named(name).is_some(), "{}: of no workload", path.display());
        }
    }
}

#[test]
fn numbers_are_grouped() {
    assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    assert_eq!(difference(103, 100), (1.03 - 1.0) * 100.0);
    assert_eq!((difference(0, 0), difference(1, 0)), (0.0, f64::INFINITY));
}
