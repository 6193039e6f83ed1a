//! What has to go together, and what follows from what.

mod support;

use flashmark_fio::value::quantity::Amount;
use flashmark_fio::{JobFile, JobSet, Rules};
use support::{Machine, jobs, options, refusal, warnings};

#[test]
fn what_does_not_go_together_is_refused() {
    let mut texts = String::new();
    for options in [
        "size=1k",
        "rate=1m\nrate_iops=100",
        "rate_min=1m\nrate_iops_min=100",
        "rate=1m\nrate_min=2m",
        "rate_iops=10,20\nrate_iops_min=10,30",
        "verify=crc32c\nbs=32",
        "verify=crc32c\nverify_offset=4090",
        "verify=pattern",
        "verify_only",
        "ioengine=psync\nregisterfiles",
    ] {
        texts += &format!("{}\n", refusal(options));
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn what_has_no_effect_is_told() {
    let mut texts = String::new();
    for options in [
        "time_based",
        "rwmixread=75",
        "iodepth=8",
        "ioengine=libaio\niodepth=4\niodepth_batch=16",
        "rw=randwrite\nba=512",
        "bs_unaligned\ndirect=1",
        "verify=crc32c\nrw=write\nnumjobs=2\nfilename=x",
        "verify=crc32c\nrw=write\ntime_based\nruntime=10",
        "verify=crc32c\nrw=randwrite\nnorandommap\nbsrange=1k-4k",
        "write_iolog=a\nread_iolog=b",
        "random_distribution=zipf",
        "bssplit=4k/20:8k/20",
        "verifysort=1",
        "filename_format=$jobnam.$jobnum",
    ] {
        let warnings = warnings(options);
        assert_eq!(warnings.len(), 1, "{options}: {warnings:?}");
        texts += &format!("{}\n", warnings[0]);
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn some_options_follow_from_others() {
    assert!(!options("time_based").run.time_based);
    let engine = options("ioengine=libaio\niodepth=16\niodepth_batch=0\niodepth_batch_complete_min=4").engine;
    assert_eq!((engine.iodepth_batch, engine.iodepth_low, engine.iodepth_batch_complete_max), (16, 16, 4));
    assert!(!options("serialize_overlap=1\nrw=read\nioengine=libaio\niodepth=4").engine.serialize_overlap);
    assert!(options("serialize_overlap=1\nrw=write\nioengine=libaio\niodepth=4").engine.serialize_overlap);
    assert!(options("rw=randread\nrandom_distribution=zipf").access.norandommap);
    assert!(!options("randseed=5").access.randrepeat);
    assert!(options("rw=read").files.overwrite);
    assert!(!options("rw=write").files.overwrite);
    assert_eq!(options("rw=write\nfill_device=1").access.size, Some(Amount::Percent(100)));
    assert!(!options("pre_read=1").files.invalidate);

    let report = options("gtod_reduce=1\ndisable_lat=0\nlat_percentiles=1").report;
    assert!(report.disable_clat && report.disable_slat && report.disable_bw && !report.disable_lat);
    assert!(report.lat_percentiles && !report.clat_percentiles);

    let buffers = |text: &str| options(text).buffers;
    assert!(buffers("rw=write\nbuffer_compress_percentage=50").refill_buffers);
    assert!(!buffers("rw=write\nbuffer_compress_percentage=50\nrefill_buffers=0").refill_buffers);
    assert!(buffers("rw=write\nbuffer_compress_percentage=100").zero_buffers);
    assert!(buffers("rw=write\ndedupe_percentage=10").refill_buffers);
    assert!(!buffers("rw=write\nbuffer_pattern=1").scramble_buffers);
    assert!(!buffers("rw=write\nbuffer_pattern=1").refill_buffers);
    assert!(buffers("rw=rw\nbuffer_pattern=1").refill_buffers);
    assert!(buffers("rw=write\nverify=crc32c").refill_buffers);
}

#[test]
fn verification_checks_in_pieces_that_fit() {
    let interval = |text: &str| options(&format!("rw=write\nverify=crc32c\n{text}")).verify.verify_interval;
    assert_eq!(interval("bs=4k"), 4096);
    assert_eq!(interval("bs=4k\nverify_interval=8k"), 4096);
    assert_eq!(interval("bs=4k\nverify_interval=1k"), 1024);
    assert_eq!(interval("bs=4k\nverify_interval=1000"), 4096);
    assert_eq!(interval("bsrange=1k-4k"), 1024);
    assert_eq!(interval("bssplit=6k/50:4k/50"), 2048);
    let verify = options("rw=randwrite\nverify=crc32c\nnorandommap\nioengine=libaio\niodepth=4").verify;
    assert!(!verify.verify_write_sequence && !verify.verify_header_seed);
    let verify = options("rw=randwrite\nverify=crc32c\nnorandommap\nverify_header_seed=1\niodepth=1").verify;
    assert!(verify.verify_write_sequence && verify.verify_header_seed);
}

#[test]
fn a_group_that_is_reported_as_one_has_the_same_percentiles() {
    let text = "[global]\ngroup_reporting\n[a]\n[b]\nlat_percentiles=1\n";
    let error = jobs(text).unwrap_err().to_string();
    assert!(error.starts_with("test.fio:5:1: job `b`: the group is reported as one"), "{error}");
    assert!(jobs(&text.replace("[b]\n", "[b]\nstonewall\n")).is_ok());
    assert!(jobs(&text.replace("group_reporting", "")).is_ok());
}

#[test]
fn rules_of_the_program_make_errors() {
    let machine = Machine::default();
    let with = |text: &str, rules| JobSet::from_file(&JobFile::parse("f", text, &machine).unwrap(), &machine, rules);
    let read_only = Rules { read_only: true, ..Rules::default() };
    for rw in ["write", "randrw", "trim", "trimwrite"] {
        let error = with(&format!("[a]\nrw={rw}\n"), read_only).unwrap_err().to_string();
        assert!(error.starts_with("f:2:1: job `a`: ") && error.contains("--readonly"), "{error}");
    }
    assert!(with("[a]\nrw=randread\n", read_only).is_ok());
    let fatal = Rules { warnings_fatal: true, ..Rules::default() };
    assert!(with("[a]\ntime_based\n", fatal).unwrap_err().to_string().contains("--warnings-fatal"));
}
