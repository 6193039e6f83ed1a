//! fio's command lines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use flashmark_fio::options::{Engine, VerifyKind};
use flashmark_fio::value::quantity::Amount;
use flashmark_fio::{CommandLine, EtaWhen, FioError, JobSet, OutputFormat, Request};
use support::Machine;

fn words(line: &str) -> CommandLine {
    CommandLine::parse(line.split_whitespace()).unwrap_or_else(|error| panic!("{error}"))
}

fn jobs(line: &str) -> JobSet {
    words(line).resolve(&Machine::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(line: &str) -> FioError {
    match CommandLine::parse(line.split_whitespace()).and_then(|words| words.resolve(&Machine::default())) {
        Ok(set) => panic!("`{line}` is taken: {set:?}"),
        Err(error) => error,
    }
}

#[test]
fn the_published_command_line_is_taken_word_for_word() {
    let set = jobs(
        "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=test --bs=4k --iodepth=64 \
         --size=64M --readwrite=randrw --rwmixread=75",
    );
    assert_eq!(set.warnings, []);
    let [job] = set.jobs.as_slice() else { panic!() };
    let options = &job.options;
    assert_eq!((job.name.as_str(), options.files.filename.as_slice()), ("test", &["test".to_owned()][..]));
    assert_eq!((options.engine.ioengine, options.engine.direct, options.engine.iodepth), (Engine::Libaio, true, 64));
    assert_eq!((options.access.size, options.access.bs.read), (Some(Amount::Bytes(64 << 20)), 4096));
    assert_eq!((options.access.rw.to_string().as_str(), options.access.rwmixread), ("randrw", 75));
    assert!(options.access.randrepeat && options.report.gtod_reduce && options.report.disable_clat);
    assert_eq!(job.given["gtod_reduce"].to_string(), "argument 4:3");
}

#[test]
fn values_stand_behind_an_equals_sign_or_are_the_next_word() {
    let set = jobs("--bs 8k --name a -rw=write --direct 1 --time_based --runtime 5 --name=b --verify crc32c --rw read");
    let [a, b] = set.jobs.as_slice() else { panic!() };
    assert_eq!((a.options.access.bs.read, b.options.access.bs.read), (8192, 8192));
    assert!(a.options.engine.direct && a.options.run.time_based && a.options.run.runtime_us == 5_000_000);
    assert_eq!((b.options.verify.verify, b.options.engine.direct), (VerifyKind::Crc32c, false));
    assert_eq!(b.place.to_string(), "argument 11:8");
}

#[test]
fn global_can_be_named() {
    let set = jobs("--name=global --rw=randread --size=128m --name=job1 --name=global --bs=8k --name=job2");
    let seen: Vec<(&str, u64)> = set.jobs.iter().map(|job| (job.name.as_str(), job.options.access.bs.read)).collect();
    assert_eq!(seen, [("job1", 4096), ("job2", 8192)]);
    assert!(set.jobs.iter().all(|job| job.options.access.size == Some(Amount::Bytes(128 << 20))));
}

#[test]
fn job_files_come_after_the_jobs_of_the_command_line() {
    let machine = Machine::default()
        .with_file("one.fio", "[global]\nrw=randread\n[x]\n[y]\nbs=1k\n")
        .with_file("two.fio", "[z]\n[w]\n");
    let line = words("one.fio --bs=8k --output=o.json two.fio --name=a --rw=write");
    let set = line.resolve(&machine).unwrap();
    let seen: Vec<(&str, u64, u32)> =
        set.jobs.iter().map(|job| (job.name.as_str(), job.options.access.bs.read, job.group)).collect();
    // The second file has no defaults of the command line any more, and begins behind a wall; so it is in fio.
    assert_eq!(seen, [("a", 8192, 0), ("x", 8192, 0), ("y", 1024, 0), ("z", 4096, 1), ("w", 4096, 1)]);
    let only = words("one.fio two.fio --section=y --section w").resolve(&machine).unwrap();
    assert_eq!(only.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["y", "w"]);
    let error = words("one.fio --section=z").resolve(&machine).unwrap_err();
    assert!(error.to_string().starts_with("argument 2:11: there is no section `z`"), "{error}");
    assert_eq!(
        words("missing.fio").resolve(&machine).unwrap_err().to_string(),
        "argument 1:1: `missing.fio` cannot be read: not found"
    );
}

#[test]
fn the_standard_input_and_words_behind_two_dashes_are_files() {
    let files = |line: &str| words(line).files.into_iter().map(|(file, _)| file).collect::<Vec<_>>();
    assert_eq!(files("- --eta=never a --time_based 1 -- --name=x"), ["-", "a", "1", "--name=x"]);
}

#[test]
fn the_programs_own_options() {
    let program = words(
        "--output=o --output-format=json+,normal,normal --terse-version=5 --append-terse --eta=always --eta-interval=500ms \
         --eta-newline=2 --status-interval=10s --parse-only --showcmd --readonly --bandwidth-log --alloc-size=65536 \
         --max-jobs=10 --warnings-fatal --aux-path=/tmp --ignore-unsupported x.fio",
    )
    .program;
    assert_eq!(program.output.as_deref(), Some("o"));
    assert_eq!(program.formats, [OutputFormat::JsonPlus, OutputFormat::Normal, OutputFormat::Terse]);
    assert_eq!((program.terse_version, program.eta, program.eta_interval_ms), (5, EtaWhen::Always, 500));
    assert_eq!((program.eta_newline_ms, program.status_interval_ms), (Some(2000), Some(10_000)));
    assert!(program.parse_only && program.show_command && program.read_only && program.warnings_fatal);
    assert!(program.ignore_unsupported);
    assert_eq!((program.bandwidth_log.as_deref(), program.auxiliary_path.as_deref()), (Some("agg"), Some("/tmp")));
    let program = words("-o o -m -b -h --cmdhelp=rw").program;
    assert_eq!((program.output.as_deref(), program.formats), (Some("o"), vec![OutputFormat::Terse]));
    assert_eq!(program.request, Some(Request::Help));
    assert_eq!(words("--enghelp").program.request, Some(Request::EngineHelp(None)));
}

#[test]
fn what_is_left_out_takes_no_other_option_for_its_value() {
    let set = jobs("--ignore-unsupported --name=a --listen --bs=8k --nice 5 --iodepth=1");
    assert_eq!(set.dropped.iter().map(|dropped| dropped.setting.as_str()).collect::<Vec<_>>(), ["listen", "nice=5"]);
    assert_eq!(set.jobs[0].options.access.bs.read, 8192);
}

#[test]
fn variables_are_left_to_the_shell() {
    let set = jobs("--name=a --filename=${X}.$ncpus");
    assert_eq!(set.jobs[0].options.files.filename, ["${X}.$ncpus"]);
}

#[test]
fn what_is_wrong_is_told_with_its_word() {
    let mut texts = String::new();
    for line in [
        "",
        "--bs=4k",
        "--name=a --bs=4q",
        "--name=a --bs 4k,8q",
        "--name=a --iodpeth=4",
        "--name=a --ouput=x",
        "--name",
        "--name=a --rw",
        "--name=a --direct",
        "--name=a --write_bw_log",
        "--minimal=1 --name=a",
        "--output-format=xml --name=a",
        "--eta-interval=1ms --name=a",
        "--terse-version=6 --name=a",
        "--client=host --name=a",
        "--section=global --name=a",
        "--name=a --cpuload=50",
        "--name=a --threads=4",
        "--name=a --readonly --rw=write",
        "-name=a -z",
    ] {
        texts += &format!("{line:<36} {}\n", refused(line));
    }
    insta::assert_snapshot!(texts);
}
