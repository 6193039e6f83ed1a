//! `flashmark fio` as a user runs it: command lines, job files, outputs.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Status};
use serde_json::Value;
use support::process::{Ran, flashmark};
use support::{Scratch, names_in, records};

fn fio(dir: &Scratch, words: &str) -> Ran {
    flashmark("fio").words(words).in_dir(dir.path()).end()
}

#[track_caller]
fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn number(job: &Value, path: &str) -> u64 {
    job.pointer(path).unwrap_or_else(|| panic!("no {path}")).as_u64().unwrap_or_else(|| panic!("{path}"))
}

/// The command line that a page about memory cards made known.
const KNOWN: &str = "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=test --bs=4k \
    --iodepth=64 --size=64M --readwrite=randrw --rwmixread=75";

#[test]
fn the_well_known_command_line_works_word_for_word() {
    let dir = Scratch::new();
    let ran = fio(&dir, KNOWN).exited(0);
    for part in
        ["test: (g=0): rw=randrw, bs=(R) 4096B-4096B", "ioengine=libaio, iodepth=64", "read: IOPS=", "write: IOPS="]
    {
        assert!(ran.stdout.contains(part), "nothing of `{part}`: {ran}");
    }
    // Every block once, three quarters of them read: exact in every hundred.
    let issued = ran.stdout.lines().find_map(|line| line.split_once("issued rwts: total=")).unwrap().1;
    let counts: Vec<u64> = issued.split(' ').next().unwrap().split(',').map(|count| count.parse().unwrap()).collect();
    assert_eq!(counts[0] + counts[1], 16384, "{ran}");
    assert!(counts[0].abs_diff(12288) <= 21, "{ran}");
    assert_eq!(std::fs::metadata(dir.join("test")).unwrap().len(), 64 << 20);
    assert_eq!(names_in(dir.path()), ["test"]);
}

#[test]
fn a_job_file_has_all_that_job_files_have() {
    let dir = Scratch::new();
    dir.write("common.fio", "bs=4k\nrandrepeat=1\n");
    let file = "; a comment\n[global]\ninclude common.fio\nsize=${SIZE}\nfilename=data\nioengine=psync\ngroup_reporting\n\
                [fill]\nreadwrite=write\nblocksize=16k\n# another one\n[look]\nstonewall\nrw=randread\nnumjobs=2\n\
                [again]\nrw=read\nbs=8k\n";
    dir.write("job.fio", file);
    let command = format!(
        "cd {} && SIZE=256k {} fio job.fio --output-format=json --output=result.json",
        dir.path().display(),
        env!("CARGO_BIN_EXE_flashmark")
    );
    assert_eq!(support::sh(&command), "");
    let result = json_of(&std::fs::read_to_string(dir.join("result.json")).unwrap());
    assert_eq!(result["global options"]["size"], "256k");
    let jobs = result["jobs"].as_array().unwrap();
    // The two groups that a stonewall makes have a report each.
    let seen: Vec<(u64, u64, u64)> = jobs
        .iter()
        .map(|job| (number(job, "/groupid"), number(job, "/write/total_ios"), number(job, "/read/total_ios")))
        .collect();
    assert_eq!(seen, [(0, 16, 0), (1, 0, 64 + 64 + 32)], "{result}");
    let ran = fio(&dir, "job.fio").exited(2);
    ran.says(&["job.fio:4:6:", "`size`", "found nothing"]);
}

#[test]
fn sections_are_chosen_and_both_kinds_of_jobs_go_together() {
    let dir = Scratch::new();
    dir.write("job.fio", "[global]\nsize=64k\nbs=4k\n[one]\nrw=write\n[two]\nrw=read\n[three]\nrw=write\n");
    let names = |words: &str| -> Vec<String> {
        let ran = fio(&dir, words).exited(0);
        let result = json_of(&ran.stdout);
        result["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("job.fio --output-format=json"), ["one", "two", "three"]);
    assert_eq!(names("job.fio --section=two --output-format=json"), ["two"]);
    assert_eq!(names("--section=one --section=three job.fio --output-format=json"), ["one", "three"]);
}

#[test]
fn every_form_of_output_is_there_on_standard_output_or_in_a_file() {
    let dir = Scratch::new();
    let job = "--name=j --rw=randwrite --bs=4k --size=128k --ioengine=io_uring --iodepth=4";
    let begins = |text: &str, start: &str| assert!(text.starts_with(start), "{text}");
    begins(&fio(&dir, job).exited(0).stdout, "j: (g=0): rw=randwrite");
    for word in ["--output-format=terse", "--minimal"] {
        let terse = fio(&dir, &format!("{job} {word}")).exited(0).stdout;
        let lines: Vec<&str> = terse.lines().collect();
        assert_eq!(lines.len(), 1, "{terse}");
        let fields: Vec<&str> = lines[0].split(';').collect();
        assert_eq!((fields[0], fields[2], fields[4]), ("3", "j", "0"), "{terse}");
        // Write: KiB, and runtime of the read that was not.
        assert_eq!((fields[5], fields[46]), ("0", "128"), "{terse}");
    }
    let json = json_of(&fio(&dir, &format!("{job} --output-format=json")).exited(0).stdout);
    assert_eq!(number(&json["jobs"][0], "/write/io_bytes"), 128 << 10);
    assert!(json["jobs"][0]["write"]["clat_ns"].get("bins").is_none());
    let plus = json_of(&fio(&dir, &format!("{job} --output-format=json+")).exited(0).stdout);
    let bins = plus["jobs"][0]["write"]["clat_ns"]["bins"].as_object().unwrap();
    assert_eq!(bins.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 32);
    // Several at once, into a file: nothing on standard output.
    let ran = fio(&dir, &format!("{job} --output-format=normal,json --output=both")).exited(0).printed_nothing();
    let both = std::fs::read_to_string(dir.join("both")).unwrap();
    begins(&both, "j: (g=0)");
    let start = both.find("\n{").unwrap_or_else(|| panic!("{ran}{both}"));
    let end = both.rfind('}').unwrap();
    assert_eq!(number(&json_of(&both[start..=end])["jobs"][0], "/write/total_ios"), 32);
}

#[test]
fn logs_are_written_while_it_runs() {
    let dir = Scratch::new();
    let line = "--name=j --ioengine=null --size=1m --bs=4k --rw=randrw --numjobs=2 --write_bw_log=l --write_lat_log=l \
                --write_iops_log=l";
    fio(&dir, &format!("{line} --log_offset=1")).exited(0);
    let files = names_in(dir.path());
    let expected: Vec<String> = ["bw", "clat", "iops", "lat", "slat"]
        .iter()
        .flat_map(|kind| [1, 2].map(|thread| format!("l_{kind}.{thread}.log")))
        .filter(|name| !name.contains("slat") || files.contains(name))
        .collect();
    assert_eq!(files, expected);
    for name in ["l_clat.1.log", "l_clat.2.log"] {
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        let lines: Vec<Vec<u64>> = text
            .lines()
            .map(|line| {
                line.split(", ").map(|field| field.trim().parse().unwrap_or_else(|_| panic!("{line}"))).collect()
            })
            .collect();
        assert_eq!(lines.len(), 256, "{name}");
        let mut offsets: Vec<u64> = lines.iter().map(|line| line[4]).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..256).map(|block| block * 4096).collect::<Vec<u64>>(), "{name}");
        assert!(lines.iter().all(|line| line[2] <= 1 && line[3] == 4096), "{text}");
    }
    // Averages, in one file for all.
    let one = Scratch::new();
    let timed = "--time_based --runtime=350ms --log_avg_msec=100 --per_job_logs=0 --rate_iops=500";
    fio(&one, &format!("{line} {timed}")).exited(0);
    assert_eq!(names_in(one.path()).iter().filter(|name| name.contains("iops")).count(), 1);
    let text = std::fs::read_to_string(one.join("l_iops.log")).unwrap();
    // Two threads, two directions, three or four windows each.
    assert!((12..=16).contains(&text.lines().count()), "{text}");
}

/// Where lines were asked for, there is one about files that are made as well.
#[test]
fn files_that_are_made_are_told_of() {
    let dir = Scratch::new();
    let ran = fio(&dir, "--name=j --rw=read --size=64m --bs=1m --eta=always --eta-newline=1ms --minimal");
    ran.says(&["%, making j.0.0 of 64MiB\n"]);
}

#[test]
fn the_bandwidth_of_all_jobs_together_is_logged() {
    let dir = Scratch::new();
    let jobs =
        "--runtime=1500ms --time_based --size=4m --rate=4m --name=w --rw=write --name=r --rw=read --name=s --rw=read";
    fio(&dir, &format!("--bandwidth-log --minimal {jobs}"));
    let log = |name: &str| -> Vec<Vec<u64>> {
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        text.lines().map(|line| line.split(", ").map(|word| word.parse().unwrap()).collect()).collect()
    };
    for (name, number, is_moved) in [("read", 0, true), ("write", 1, true), ("trim", 2, false)] {
        let lines = log(&format!("agg-{name}_bw.log"));
        assert!(!lines.is_empty() && lines.len() <= 3, "{name}: {lines:?}");
        for line in &lines {
            assert_eq!((line.len(), line[2..].to_vec()), (5, vec![number, 0, 0]), "{name}: {lines:?}");
        }
        assert_eq!(lines.iter().any(|line| line[1] > 0), is_moved, "{name}: {lines:?}");
    }
    fio(&dir, "--bandwidth-log=mine --minimal --name=w --rw=write --size=64k");
    assert_eq!(log("mine-write_bw.log"), Vec::<Vec<u64>>::new(), "shorter than a window");
    let output = "fio --bandwidth-log --name=w --rw=write --size=64k --output=agg-read_bw.log";
    flashmark(output).in_dir(dir.path()).exits(2).says(&["agg-read_bw.log", "name another file"]);
    let nowhere = "fio --bandwidth-log=no/such/place --name=w --rw=write --size=64k";
    flashmark(nowhere).in_dir(dir.path()).exits(2).says(&["no/such/place-read_bw.log", "No such file"]);
}

#[test]
fn records_are_kept_and_shown() {
    let dir = Scratch::new();
    dir.write(
        "job.fio",
        "[global]\nsize=256k\nbs=4k\n[w]\nrw=write\nend_fsync=1\n[r]\nstonewall\nrw=randread\nnumjobs=2\n",
    );
    fio(&dir, "job.fio --records r.jsonl --output-format=json").exited(0);
    let kept = records::of_file(&dir.join("r.jsonl"));
    let seen: Vec<_> = kept.iter().map(|record| (record.workload.name.as_str(), record.outcome.status)).collect();
    assert_eq!(seen, [("w", Status::Done), ("r", Status::Done), ("r", Status::Done)]);
    for record in &kept {
        let op = if record.workload.name == "w" { OpKind::Write } else { OpKind::Read };
        let stats = record.outcome.op(op).unwrap();
        assert_eq!((stats.count, stats.bytes, record.outcome.bytes), (64, 256 << 10, 256 << 10), "{record:?}");
        let job = record.job.as_ref().unwrap();
        assert!(job.settings.iter().any(|setting| setting == "size=256k"), "{job:?}");
    }
    assert_eq!(kept[2].job.as_ref().unwrap().copy, 1);
    let shown = flashmark("show").arg(dir.join("r.jsonl")).exits(0);
    for part in ["suite fio", "w.0.0", "r.1.0", "256 KiB in 4 KiB", "sync"] {
        assert!(shown.stdout.contains(part), "nothing of {part}: {shown}");
    }
    // What holds records is never overwritten.
    fio(&dir, "job.fio --records r.jsonl").exited(2).printed_nothing().says(&["r.jsonl"]);
    assert_eq!(records::of_file(&dir.join("r.jsonl")), kept);
}

#[test]
fn jobs_are_told_instead_of_run() {
    let dir = Scratch::new();
    dir.write(
        "job.fio",
        "[global]\nsize=1m\nbs=4k\n[a]\nrw=randwrite\nthread\n[b b]\nrw=read\ndescription=two words\n",
    );
    fio(&dir, "job.fio --parse-only").exited(0).printed_nothing();
    let shown = fio(&dir, "job.fio --showcmd").exited(0);
    let line = shown.stdout.trim().strip_prefix("fio ").unwrap_or_else(|| panic!("{shown}")).to_owned();
    assert!(line.contains("--name=a") && line.contains("--rw=randwrite") && line.contains("'"), "{line}");
    assert_eq!(names_in(dir.path()), ["job.fio"], "nothing ran");
    // Said again by a shell, it is the same.
    let command = format!("cd {} && {} fio {line} --showcmd", dir.path().display(), env!("CARGO_BIN_EXE_flashmark"));
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split(" --").map(|word| word.trim().to_owned()).collect();
        words.sort();
        words.dedup();
        words
    };
    assert_eq!(sorted(&support::sh(&command)), sorted(shown.stdout.trim()));
}

#[test]
fn help_is_there_for_options_and_engines() {
    let dir = Scratch::new();
    let all = fio(&dir, "--cmdhelp").exited(0).stdout;
    for option in ["rw (readwrite): supported", "zonemode: not supported: ", "thread: "] {
        assert!(all.lines().any(|line| line.starts_with(option)), "{option}");
    }
    assert!(all.lines().count() > 200);
    let one = fio(&dir, "--cmdhelp=blocksize").exited(0).stdout;
    assert!(one.starts_with("bs (blocksize)") && one.lines().count() == 1, "{one}");
    fio(&dir, "--cmdhelp=blocksise").exited(2).says(&["blocksise"]);
    let engines = fio(&dir, "--enghelp").exited(0).stdout;
    assert!(["libaio", "io_uring", "psync", "null"].iter().all(|name| engines.lines().any(|line| line == *name)));
    assert!(fio(&dir, "--enghelp=io_uring").exited(0).stdout.starts_with("io_uring: "));
    fio(&dir, "--enghelp=rbd").exited(2).says(&["rbd", "io_uring"]);
    assert!(fio(&dir, "--version").exited(0).stdout.starts_with("fio-3"));
    assert!(fio(&dir, "--help").exited(0).stdout.contains("--destroy DEVICE|FILE"));
    fio(&dir, "").exited(2).says(&["no job"]);
}

#[test]
fn copies_run_where_they_are_told_to() {
    let dir = Scratch::new();
    let line = "--name=j --ioengine=null --size=1g --bs=4k --rw=read --time_based --runtime=2s --numjobs=2 --thread";
    let allowed = |running: &support::process::Running| -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", running.id())).into_iter().flatten().flatten();
        let mut found: Vec<String> = tasks
            .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("j.")))
            .filter_map(|task| {
                let status = std::fs::read_to_string(task.path().join("status")).ok()?;
                Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
            })
            .collect();
        found.sort();
        found
    };
    let processors = std::thread::available_parallelism().unwrap().get();
    for (words, expected, needed) in
        [("--cpus_allowed=0", ["0", "0"], 1), ("--cpus_allowed=0,1 --cpus_allowed_policy=split", ["0", "1"], 2)]
    {
        if processors < needed {
            continue;
        }
        let running = flashmark("fio").words(line).words(words).in_dir(dir.path()).start();
        support::process::until(words, || allowed(&running) == expected);
        running.end().exited(0);
    }
    fio(&dir, &format!("{line} --cpus_allowed=4000")).exited(2).says(&["cpus_allowed", "4000"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let program = env!("CARGO_BIN_EXE_flashmark");
    for words in ["--cmdhelp", "--help", "--name=j --ioengine=null --size=64k --rw=read --output-format=json+"] {
        let output = support::try_sh(&format!("{program} fio {words} | head -c 1; exit 0"));
        assert_eq!(output.stdout.len(), 1, "{words}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("panicked"), "{words}: {said}");
    }
}
