//! The same jobs run by fio and made up here: the same keys with the same types, and the same lines.
//!
//! It is Debian's fio (3.33) that is meant; a later one has keys more, which are known here.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod fio_json;
mod output_results;
mod support;

use std::path::Path;
use std::process::Command;

use fio_json::{can_run, keys_of, may_be_ours_alone};
use flashmark_fio::output::{RenderOptions, before_run, render};
use flashmark_fio::{CommandLine, JobSet, OutputFormat};
use serde_json::Value;
use support::Machine;

/// What fio prints in a form, and the jobs as read here.
fn run(dir: &Path, format: &str, arguments: &[&str]) -> (String, JobSet) {
    let output = Command::new("fio")
        .arg(format!("--output-format={format}"))
        .args(arguments)
        .env("LC_ALL", "C")
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut machine = Machine::default();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        machine = machine.with_file(entry.file_name().to_str().unwrap(), std::fs::read(entry.path()).unwrap());
    }
    let set = CommandLine::parse(arguments).unwrap().resolve(&machine).unwrap();
    (String::from_utf8(output.stdout).unwrap(), set)
}

/// The jobs: arguments of fio; `jobs.fio` is [`JOBS`].
const RUNS: &[&str] = &[
    "--name=one --ioengine=null --rw=randread --size=64k --numjobs=2 --iodepth=4",
    "--size=256k --ioengine=psync --name=a --rw=write --fsync=16 --description=text --name=b --rw=read --stonewall",
    "--name=reduced --ioengine=psync --rw=randrw --size=64k --gtod_reduce=1 --filename=file",
    "--name=queue --ioengine=libaio --iodepth=8 --rw=randrw --size=256k --slat_percentiles=1 --lat_percentiles=1 \
        --percentile_list=50:99:99.9 --unified_rw_reporting=both --continue_on_error=all",
    "--name=mixed --ioengine=null --rw=rw --size=256k --unified_rw_reporting=mixed --clat_percentiles=0",
    "--name=trims --ioengine=null --rw=randtrim --size=64k --unit_base=1 --kb_base=1000 --significant_figures=6",
    "jobs.fio",
];

const JOBS: &str = "[global]\nsize=64k\nioengine=psync\nbs=4k,8k\n[first]\nreadwrite=randrw\ngroup_reporting\nnumjobs=2\n\
    [second]\nrw=read\ngroup_reporting\n[third]\nstonewall\nrw=write\nblocksize=16k\nend_fsync=1\n";

fn each(format: &str, mut check: impl FnMut(String, JobSet)) {
    if !can_run() {
        return;
    }
    for arguments in RUNS {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("jobs.fio"), JOBS).unwrap();
        let no_disks = (format == "terse").then_some("--disk_util=0");
        let arguments: Vec<&str> = no_disks.into_iter().chain(arguments.split_whitespace()).collect();
        let (output, set) = run(dir.path(), format, &arguments);
        check(output, set);
    }
}

#[test]
fn json_has_the_same_keys_with_the_same_types() {
    for (format, ours) in [("json", OutputFormat::Json), ("json+", OutputFormat::JsonPlus)] {
        each(format, |theirs, set| {
            let theirs = keys_of(&theirs[theirs.find('{').unwrap()..]);
            let mut results = output_results::made_up(&set);
            if !theirs.contains_key("/disk_util") {
                results.disks.clear();
            }
            let json = render(&results, ours, &RenderOptions::default());
            let ours = keys_of(&json);
            // Disks that are made of others (dm, md) tell of these too; results do not know of them.
            for (path, kind) in theirs.iter().filter(|(path, _)| !path.contains("/aggr_")) {
                assert_eq!(ours.get(path), Some(kind), "{path}\n{json}");
            }
            for (path, kind) in &ours {
                assert!(theirs.contains_key(path) || may_be_ours_alone(path, kind), "{path} is not fio's\n{json}");
            }
        });
    }
}

#[test]
fn options_of_jobs_have_the_values_that_fio_tells() {
    each("json", |theirs, set| {
        let theirs: Value = serde_json::from_str(&theirs[theirs.find('{').unwrap()..]).unwrap();
        let ours = render(&output_results::made_up(&set), OutputFormat::Json, &RenderOptions::default());
        let ours: Value = serde_json::from_str(&ours).unwrap();
        assert_eq!(ours.get("global options"), theirs.get("global options"));
        for (ours, theirs) in ours["jobs"].as_array().unwrap().iter().zip(theirs["jobs"].as_array().unwrap()) {
            assert_eq!(ours["jobname"], theirs["jobname"]);
            assert_eq!(ours["groupid"], theirs["groupid"]);
            for (name, value) in theirs["job options"].as_object().unwrap() {
                assert_eq!(&ours["job options"][name], value, "{name}");
            }
        }
    });
}

#[test]
fn terse_lines_have_as_many_fields_of_the_same_kinds() {
    let kinds = |line: &str| -> Vec<String> {
        line.split(';').map(|field| field.replace(|c: char| c.is_ascii_digit(), "")).collect()
    };
    each("terse", |theirs, set| {
        let how = RenderOptions { version: "fio-3.33".into(), ..RenderOptions::default() };
        let mut results = output_results::made_up(&set);
        // The runs are without disks, since which ones there are depends on the machine.
        results.disks.clear();
        let ours = render(&results, OutputFormat::Terse, &how);
        let theirs: Vec<&str> = theirs.lines().filter(|line| line.starts_with("3;")).collect();
        assert_eq!(ours.lines().count(), theirs.len());
        for (ours, theirs) in ours.lines().zip(theirs) {
            assert_eq!(kinds(ours), kinds(theirs), "\n{ours}\n{theirs}");
        }
    });
}

/// The lines of a text that every run has, without figures and units.
fn shapes(text: &str) -> Vec<String> {
    // What depends on how fast or long a run was: classes of latencies, rows of percentiles, and samples over time.
    const DEPENDS: [&str; 4] = ["  lat (", "     |", "   bw (", "   iops  "];
    let mut shapes = Vec::new();
    for line in text.lines().filter(|line| !line.contains("Laying out") && !line.trim().is_empty()) {
        if DEPENDS.iter().any(|start| line.starts_with(start))
            || line.starts_with("Disk stats")
            || line.contains("util=")
        {
            continue;
        }
        let line = match line.split_once(": pid=") {
            Some((before, _)) => format!("{before}: pid"),
            None => line.to_owned(),
        };
        let line = line.split_once("/<").map_or(line.as_str(), |(before, _)| before);
        let line = line.replace("processes", "threads").replace("process", "thread");
        let mut shape = String::new();
        for word in line.split_inclusive([' ', '=', ',', '/', '(', ')', '-', '+', ':']) {
            let (word, end) =
                word.split_at(word.len() - usize::from(word.ends_with([' ', '=', ',', '/', '(', ')', '-', '+', ':'])));
            let is_figure = word.starts_with(|c: char| c.is_ascii_digit());
            let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let unit = unit.trim_start_matches(['k', 'K', 'M', 'G']).trim_start_matches('i');
            shape += match () {
                () if is_figure => unit,
                () if ["nsec", "usec", "msec"].contains(&word) => "sec",
                () => word,
            };
            shape += end;
        }
        shapes.push(shape.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    shapes
}

#[test]
fn text_has_the_same_lines() {
    each("normal", |theirs, set| {
        let how = RenderOptions { version: "fio-3.33".into(), ..RenderOptions::default() };
        let results = output_results::made_up(&set);
        let ours = before_run(&set.jobs, &how) + &render(&results, OutputFormat::Normal, &how);
        let fix = |shapes: Vec<String>| -> Vec<String> {
            // The recorded results tell what fio 3.33 forgets about mixed directions.
            shapes.into_iter().filter(|shape| !shape.starts_with("mixed: IOPS")).collect()
        };
        assert_eq!(fix(shapes(&ours)), fix(shapes(&theirs)), "\n{ours}\n{theirs}");
    });
}
