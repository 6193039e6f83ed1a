//! Sections, includes and what follows from them.

mod support;

use flashmark_fio::options::Engine;
use flashmark_fio::value::quantity::Amount;
use flashmark_fio::{Job, JobFile, JobSet, Rules, Unsupported};
use support::{Machine, job, jobs, options};

fn names(set: &JobSet) -> Vec<&str> {
    set.jobs.iter().map(|job| job.name.as_str()).collect()
}

#[test]
fn defaults_hold_for_the_sections_below_them() {
    let set = jobs(
        "[early]\n[global]\nbs=8k\nrw=randread\n[a]\nbs=16k\n[global of writes]\nrw=randwrite\n[b]\n[b]\nrw=read\n",
    )
    .unwrap();
    assert_eq!(names(&set), ["early", "a", "b", "b"]);
    let seen: Vec<(u64, String)> =
        set.jobs.iter().map(|job| (job.options.access.bs.read, job.options.access.rw.to_string())).collect();
    let expected = [(4096, "read"), (16384, "randread"), (8192, "randwrite"), (8192, "read")];
    assert_eq!(seen, expected.map(|(bytes, rw)| (bytes, rw.to_owned())));
    let Job { given, settings, global_settings, .. } = &set.jobs[1];
    assert_eq!(given["bs"].to_string(), "test.fio:6:1");
    assert_eq!(given["rw"].to_string(), "test.fio:4:1");
    assert_eq!(settings.iter().map(ToString::to_string).collect::<Vec<_>>(), ["bs=16k"]);
    assert_eq!(global_settings.iter().map(ToString::to_string).collect::<Vec<_>>(), ["bs=8k", "rw=randread"]);
}

#[test]
fn files_are_included_beside_the_including_one_and_nested() {
    let machine = Machine::default()
        .with_file("jobs/main.fio", "[global]\ninclude common.fio\n[a]\ninclude deep/more.fio\nbs=1k\n")
        .with_file("jobs/common.fio", "rw=randread # c\n")
        .with_file("jobs/deep/more.fio", "bs=2k\ninclude least.fio")
        .with_file("jobs/deep/least.fio", "iodepth=8\nioengine=libaio\n");
    let set =
        JobSet::from_file(&JobFile::load("jobs/main.fio", &machine).unwrap(), &machine, Rules::default()).unwrap();
    let job = &set.jobs[0];
    assert_eq!(job.options.access.rw.to_string(), "randread");
    assert_eq!((job.options.access.bs.read, job.options.engine.iodepth), (1024, 8));
    assert_eq!(job.given["iodepth"].to_string(), "jobs/deep/least.fio:1:1");
}

#[test]
fn a_file_at_the_path_as_it_stands_goes_first() {
    let machine = Machine::default()
        .with_file("jobs/main.fio", "[a]\ninclude common.fio\n")
        .with_file("common.fio", "bs=1k")
        .with_file("jobs/common.fio", "bs=2k");
    let set =
        JobSet::from_file(&JobFile::load("jobs/main.fio", &machine).unwrap(), &machine, Rules::default()).unwrap();
    assert_eq!(set.jobs[0].options.access.bs.read, 1024);
}

#[test]
fn variables_and_keywords_are_replaced_and_calculated() {
    let machine = Machine::default().with_variable("SIZE", "64m").with_variable("N", "3");
    for (value, meant) in [
        ("4k", "4k"),
        ("${SIZE}", "64m"),
        ("a${SIZE}b${N}c${NOT}d", "a64mb3cd"),
        ("${SIZE", "${SIZE"),
        ("$pagesize", "4096"),
        ("8*$mb_memory", "64000"),
        ("($ncpus+2)*-3/2^2%4", "0"),
        ("$ncpus*${N}", "12"),
        ("10-$ncpus", "6"),
        ("/tmp/x.$ncpus-y", "/tmp/x.4-y"),
        ("-7/$ncpus", "-1"),
    ] {
        let set = machine.jobs(&format!("[a]\ndescription={value}\n")).unwrap();
        assert_eq!(set.jobs[0].settings[0].value.as_deref(), Some(meant), "{value}");
        assert_eq!(set.jobs[0].options.run.description.as_deref(), Some(meant), "{value}");
    }
    for value in ["$ncpus/0", "$ncpus+", "($ncpus*2", "$ncpus^999", "$ncpus 2*3"] {
        assert!(machine.jobs(&format!("[a]\nsize={value}\n")).is_err(), "{value}");
    }
}

#[test]
fn groups_begin_at_walls() {
    let set = jobs("[a]\nstonewall\n[b]\n[c]\nwait_for_previous\n[d]\nnew_group\n[e]\nstonewall=0\n").unwrap();
    assert_eq!(set.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 0, 1, 2, 2]);
}

#[test]
fn file_names_are_made_as_fio_makes_them() {
    let machine = Machine::default().with_device("/dev/x");
    let of = |options: &str, copy| job(options).file_names(copy, &machine).collect::<Vec<_>>();
    assert_eq!(of("", 0), ["job.0.0"]);
    assert_eq!(of("nrfiles=2\nnumjobs=2", 1), ["job.1.0", "job.1.1"]);
    assert_eq!(of("directory=/a:/b\nnumjobs=2", 1), ["/b/job.1.0"]);
    assert_eq!(of("filename=x:y\ndirectory=/a:/b", 1), ["/a/x", "/a/y"]);
    assert_eq!(
        of("filename_format=f.$FileNum.$jobnum.$jobname-$jobname\nnrfiles=2", 3),
        ["f.0.3.job-job", "f.1.3.job-job"]
    );
    let device = jobs("[/dev/x]\n").unwrap();
    assert_eq!(device.jobs[0].file_names(0, &machine).collect::<Vec<_>>(), ["/dev/x"]);
    assert_eq!(options("filename=x:y\nnrfiles=9").files.nrfiles, 2);
    // They add up: a job also uses the files of its defaults.
    let both = jobs("[global]\nfilename=x\n[a]\nfilename=y\n").unwrap();
    assert_eq!(both.jobs[0].options.files.filename, ["x", "y"]);
    assert!(both.warnings[0].text.contains("`x:y`"));
}

#[test]
fn what_is_not_supported_stops_or_is_listed() {
    let machine = Machine::default();
    let file = JobFile::parse("f", "[global]\nnice=5\n[a]\nbs=8k\ncpuload=5\nzonemode=zbd\n", &machine).unwrap();
    let stopped = JobSet::from_file(&file, &machine, Rules::default()).unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "f:2:1: the option `nice` is known but not supported: start the whole program with `nice` or `ionice`"
    );
    let rules = Rules { unsupported: Unsupported::LeaveOut, ..Rules::default() };
    let set = JobSet::from_file(&file, &machine, rules).unwrap();
    let dropped: Vec<String> =
        set.dropped.iter().map(|dropped| format!("{} {}", dropped.place, dropped.setting)).collect();
    assert_eq!(dropped, ["f:2:1 nice=5", "f:5:1 cpuload=5", "f:6:1 zonemode=zbd"]);
    assert_eq!(set.jobs[0].options.access.bs.read, 8192);
    // An engine is never replaced by another one.
    let file = JobFile::parse("f", "[a]\nioengine=rbd\n", &machine).unwrap();
    assert!(JobSet::from_file(&file, &machine, rules).is_err());
}

#[test]
fn options_of_engines_need_the_engine_of_their_section() {
    assert!(options("fixedbufs\nioengine=io_uring\nhipri=1").engine.fixedbufs);
    assert!(jobs("[a]\nioengine=libaio\nfixedbufs\n").is_err());
    let set = jobs("[global]\nioengine=io_uring\nfixedbufs\n[a]\nioengine=psync\n").unwrap();
    assert_eq!(set.jobs[0].options.engine.ioengine, Engine::Psync);
}

#[test]
fn a_printed_file_means_the_same() {
    let machine = Machine::default().with_file("c", "bs=8k");
    let file =
        JobFile::parse("f", "; c\n[global] # d\nrw = read\n\n[a b]\ninclude c\nsize=${S}\nstonewall\n", &machine)
            .unwrap();
    assert_eq!(file.to_string(), "[global]\nrw= read\n\n[a b]\nbs=8k\nsize=${S}\nstonewall\n");
    assert_eq!(
        file.arguments(),
        ["--name=global", "--rw= read", "--name=a b", "--bs=8k", "--size=${S}", "--stonewall"]
    );
}

#[test]
fn job_files_as_people_write_them_are_read() {
    let machine = Machine::default().with_variable("TARGET", "/dev/x");
    for (name, text, expected) in [
        ("mixed.fio", include_str!("data/mixed.fio"), vec!["warm-up", "random mix", "stream"]),
        ("verify.fio", include_str!("data/verify.fio"), vec!["write-and-check"]),
        ("paced.fio", include_str!("data/paced.fio"), vec!["reader", "writer"]),
    ] {
        let set = machine.jobs(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(names(&set), expected, "{name}");
        assert_eq!(set.warnings, [], "{name}");
    }
    let set = machine.jobs(include_str!("data/mixed.fio")).unwrap();
    assert_eq!(set.jobs[1].options.files.filename, ["/dev/x"]);
    assert_eq!(set.jobs[1].options.access.size, Some(Amount::Percent(25)));
    assert_eq!(set.jobs[2].group, 2);
}
