//! Every form of results, of results made up.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod output_results;
mod support;

use flashmark_fio::JobSet;
use flashmark_fio::OutputFormat::{self, Json, JsonPlus, Normal, Terse};
use flashmark_fio::output::{
    Direction, FORMS, LogKind, LogLine, RenderOptions, aggregate_log_name, before_run, job_header, log_files, render,
    render_all,
};
use flashmark_fio::results::{DiskUse, JobReport, Results, Samples};
use output_results::made_up;
use proptest::prelude::*;
use serde_json::Value;
use support::{job, jobs};

const JOBS: &str = "[global]\nbs=4k\nioengine=libaio\niodepth=64\n\
    [mixed load]\ndescription=reads and \"writes\"\nrw=randrw\nrate_iops=1000\nfsync=8\ngroup_reporting\nnumjobs=2\n\
    continue_on_error=all\n\
    [one after]\nstonewall\nreadwrite=read\nblocksize=64k\nioengine=psync\niodepth=1\npercentile_list=50:99.9:99.999\n";

fn set() -> JobSet {
    jobs(JOBS).unwrap()
}

fn how() -> RenderOptions {
    RenderOptions {
        version: "flashmark-0.0.0".into(),
        ahead_of_utc_s: 3600,
        warnings: vec!["the cache was not dropped".into()],
        ..RenderOptions::default()
    }
}

#[test]
fn every_word_has_its_form() {
    for (word, format) in OutputFormat::ALL {
        assert_eq!(FORMS.iter().filter(|form| form.format == *format).count(), 1, "{word}");
    }
}

#[test]
fn normal() {
    insta::assert_snapshot!(before_run(&set().jobs, &how()) + &render(&made_up(&set()), Normal, &how()));
}

#[test]
fn normal_in_bits_and_of_all_directions_together() {
    let set = jobs(
        "[all]\nrw=randrw\nunified_rw_reporting=mixed\nunit_base=1\nkb_base=1000\nsignificant_figures=6\n\
         lat_percentiles=1\nclat_percentiles=0\n[both]\nstonewall\nrw=rw\nunified_rw_reporting=both\ngtod_reduce=1\n",
    );
    insta::assert_snapshot!(render(&made_up(&set.unwrap()), Normal, &how()));
}

#[test]
fn normal_of_a_job_that_failed() {
    let mut results = made_up(&jobs("[job]\nrw=trim\nioengine=null\n").unwrap());
    results.reports[0].error = 28;
    let text = render(&results, Normal, &how());
    let line = text.lines().find(|line| line.starts_with("job: ")).unwrap();
    assert_eq!(line, "job: (groupid=0, jobs=1): err=28 (No space left on device): pid=4711: Mon Nov 30 22:53:37 2026");
    results.reports[0].error_text = Some("write of 4096 bytes".into());
    assert!(render(&results, Normal, &how()).contains("err=28 (write of 4096 bytes): pid=4711"));
}

#[test]
fn terse() {
    let versions = [2, 3, 4, 5].map(|terse_version| {
        let text = render(&made_up(&set()), Terse, &RenderOptions { terse_version, ..how() });
        assert!(text.lines().filter(|line| line.starts_with(&format!("{terse_version};"))).count() == 2, "{text}");
        text
    });
    insta::assert_snapshot!(versions.concat());
    let third = render(&made_up(&set()), Terse, &RenderOptions { terse_version: 9, ..how() });
    assert_eq!(third, versions[1]);
}

#[test]
fn json() {
    let text = render(&made_up(&set()), Json, &how());
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// As fio's `show_disk_util` tells a disk that is made of others: their means, and the busiest one's share.
#[test]
fn disks_that_are_made_of_others_have_their_figures_too() {
    let mut results = made_up(&set());
    let disk = |name: &str, by: u64, members: &[&str]| DiskUse {
        name: name.into(),
        ios: [10 * by, 20 * by],
        merges: [by, 2 * by],
        sectors: [100 * by, 200 * by],
        ticks_ms: [3 * by, 4 * by],
        in_queue_ms: 7 * by,
        busy_ms: 100 * by,
        watched_ms: 1000,
        members: members.iter().map(|member| (*member).to_owned()).collect(),
    };
    results.disks = vec![disk("md0", 3, &["sda", "sdb"]), disk("sda", 1, &[]), disk("sdb", 4, &[])];
    let normal = render(&results, Normal, &how());
    let (_, told) = normal.split_once("Disk stats (read/write):\n").unwrap();
    assert_eq!(
        told,
        "    md0: ios=30/60, merge=3/6, ticks=9/12, in_queue=21, util=30.00%, aggrios=25/50, aggrmerge=2/5, \
         aggrticks=7/10, aggrin_queue=17, aggrutil=40.00%\n\
         \u{20} sda: ios=10/20, merge=1/2, ticks=3/4, in_queue=7, util=10.00%\n\
         \u{20} sdb: ios=40/80, merge=4/8, ticks=12/16, in_queue=28, util=40.00%\n"
    );
    let terse = render(&results, Terse, &how());
    let told = ";md0;30;60;3;6;9;12;21;30.00%;slaves;25;50;2;5;7;10;17;40.00%;sda;10;20;1;2;3;4;7;10.00%;sdb;";
    assert!(terse.contains(told), "{terse}");
    let json: Value = serde_json::from_str(&render(&results, Json, &how())).unwrap();
    let keys = |index: usize| -> Vec<(String, f64)> {
        let object = json["disk_util"][index].as_object().unwrap();
        let aggregates = object.iter().filter(|(key, _)| key.starts_with("aggr_"));
        aggregates.map(|(key, value)| (key.clone(), value.as_f64().unwrap())).collect()
    };
    let expected = [
        ("aggr_in_queue", 17.0),
        ("aggr_read_ios", 25.0),
        ("aggr_read_merges", 2.0),
        ("aggr_read_sectors", 250.0),
        ("aggr_read_ticks", 7.0),
        ("aggr_util", 40.0),
        ("aggr_write_ios", 50.0),
        ("aggr_write_merge", 5.0),
        ("aggr_write_sectors", 500.0),
        ("aggr_write_ticks", 10.0),
    ];
    let mut told = keys(0);
    told.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(told, expected.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!(keys(1), []);
}

#[test]
fn json_with_bins_is_json_and_bins() {
    let results = made_up(&set());
    let parse = |format| -> Value { serde_json::from_str(&render(&results, format, &how())).unwrap() };
    let (without, mut with) = (parse(Json), parse(JsonPlus));
    let clat = &with["jobs"][0]["read"]["clat_ns"];
    let counted: u64 = clat["bins"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(Some(counted), clat["N"].as_u64());
    take_out_bins(&mut with);
    assert_eq!(with, without);
}

fn take_out_bins(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("bins");
            map.values_mut().for_each(take_out_bins);
        }
        Value::Array(list) => list.iter_mut().for_each(take_out_bins),
        _ => {}
    }
}

#[test]
fn several_forms_come_in_fios_order() {
    let results = made_up(&set());
    let of = |formats: &[OutputFormat]| render_all(&results, formats, &how());
    assert_eq!(of(&[Normal, Json, Terse]), of(&[Terse]) + &of(&[Json]) + &of(&[Normal]));
    assert_eq!(of(&[Json, JsonPlus]), of(&[JsonPlus]));
    assert_eq!(of(&[]), "");
}

#[test]
fn nothing_is_told_of_nothing() {
    let results = Results {
        ended_at_unix_ms: 0,
        global_settings: Vec::new(),
        reports: Vec::new(),
        groups: Vec::new(),
        disks: Vec::new(),
    };
    assert_eq!(render(&results, Normal, &how()), "\n");
    assert_eq!(render(&results, Terse, &how()), "");
    let json: Value = serde_json::from_str(&render(&results, Json, &how())).unwrap();
    assert_eq!(json["jobs"], Value::Array(Vec::new()));
    assert_eq!(json.get("disk_util"), None);
}

#[test]
fn a_job_on_the_command_line_has_its_name_among_its_options() {
    let line = ["--bs=4k", "--name=x", "--rw=read", "--rw=write", "--group_reporting"];
    let set = flashmark_fio::CommandLine::parse(line).unwrap().resolve(&support::Machine::default()).unwrap();
    let json: Value = serde_json::from_str(&render(&made_up(&set), Json, &how())).unwrap();
    assert_eq!(json["global options"], serde_json::json!({"bs": "4k"}));
    assert_eq!(json["jobs"][0]["job options"], serde_json::json!({"name": "x", "rw": "write", "group_reporting": ""}));
}

#[test]
fn what_other_programs_look_for_is_there() {
    let results = made_up(&set());
    let text = render(&results, Normal, &how());
    // Phoronix's profile takes the word behind `bw=` of a line with `: bw=`, and the one behind `IOPS=` without comma.
    let after = |hint: &str, word: &str| {
        let line = text.lines().find(|line| line.contains(hint)).unwrap();
        line.split(word).nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(after(": bw=", "bw="), "8000KiB/s");
    assert_eq!(after("IOPS=", "IOPS="), "2000,");
    let json: Value = serde_json::from_str(&render(&results, Json, &how())).unwrap();
    let read = &json["jobs"][0]["read"];
    // kbench cuts means at the point; KDiskMark takes `bw` for an int; PerfKit asks for all default percentiles.
    assert!(read["iops_mean"].is_f64() && read["bw_mean"].is_f64() && read["lat_ns"]["mean"].is_f64());
    assert!(read["bw"].is_u64() && json["jobs"][0]["error"].is_u64());
    for key in ["1.000000", "50.000000", "99.000000", "99.500000", "99.990000"] {
        assert!(read["clat_ns"]["percentile"][key].is_u64(), "{key}");
    }
}

#[test]
fn headers_tell_the_job() {
    let header = |options: &str, copies| job_header(&job(options), copies);
    assert_eq!(
        header("rw=randread\nioengine=libaio\niodepth=64", 1),
        "job: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64\n"
    );
    assert_eq!(
        header("rw=rw\nbssplit=4k/50:64k/50\nbs_is_seq_rand=1\nioengine=psync\nname=other", 3),
        "other: (g=0): rw=rw, bs=(R) 4096B-64.0KiB, (W) 4096B-64.0KiB, bs_is_seq_rand, ioengine=psync, iodepth=1\n...\n"
    );
    assert!(
        header("bsrange=1k-3k,8k-8k\nkb_base=1000\nioengine=null", 1).contains("bs=(R) 1000B-3000B, (W) 8000B-8000B")
    );
    let set = jobs("[a]\nioengine=null\n").unwrap();
    assert!(before_run(&set.jobs, &how()).ends_with("\nflashmark-0.0.0\nStarting 1 thread\n"));
}

#[test]
fn logs_have_fios_names() {
    let names = |options: &str| -> Vec<(LogKind, String)> {
        log_files(&job(options), 3).into_iter().map(|file| (file.kind, file.name)).collect()
    };
    assert_eq!(names("rw=read"), []);
    let all = names("write_bw_log\nwrite_lat_log=dir/x\nwrite_iops_log=y\nname=shown");
    let expected = [
        (LogKind::Total, "dir/x_lat.3.log"),
        (LogKind::Submission, "dir/x_slat.3.log"),
        (LogKind::Completion, "dir/x_clat.3.log"),
        (LogKind::Bandwidth, "shown_bw.3.log"),
        (LogKind::Iops, "y_iops.3.log"),
    ];
    assert_eq!(all, expected.map(|(kind, name)| (kind, name.to_owned())));
    assert_eq!(
        names("write_lat_log=x\nper_job_logs=0\ndisable_slat=1\ndisable_lat=1"),
        [(LogKind::Completion, "x_clat.log".to_owned())]
    );
    assert_eq!(names("write_lat_log=x\ngtod_reduce=1"), []);
    assert_eq!(
        Direction::ALL.map(|direction| aggregate_log_name("agg", direction)),
        ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"]
    );
}

#[test]
fn lines_of_logs_are_fios() {
    let plain = LogLine {
        time_ms: 1,
        value: 907_657,
        maximum: None,
        direction: Direction::Write,
        block_bytes: 65_536,
        offset_bytes: None,
    };
    assert_eq!(plain.to_string(), "1, 907657, 1, 65536, 0");
    assert_eq!(LogLine { offset_bytes: Some(4096), ..plain }.to_string(), "1, 907657, 1, 65536, 4096, 0");
    let averaged = LogLine { maximum: Some(908_000), block_bytes: 0, direction: Direction::Trim, ..plain };
    assert_eq!(averaged.to_string(), "1, 907657, 908000, 2, 0, 0");
}

/// Figures of any size, into a report that has every direction.
fn disturb(report: &mut JobReport, numbers: &[u64], float: f64) {
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = || numbers.next().unwrap_or(0);
    for direction in [&mut report.directions.read, &mut report.directions.write, &mut report.directions.trim] {
        (direction.bytes, direction.count, direction.runtime_ns) = (next(), next(), next());
        (direction.short, direction.dropped) = (next(), next());
        for histogram in [&mut direction.submission, &mut direction.completion, &mut direction.total] {
            (0..next() % 5).for_each(|_| histogram.record(next()));
        }
        direction.bandwidth_samples =
            Samples { count: next() % 3, min: next(), max: next(), mean: float, squares: -float };
        direction.iops_samples = Samples { count: next(), min: next(), max: next(), mean: float, squares: float };
    }
    (0..next() % 3).for_each(|_| report.syncs.record(next()));
    (report.job_runtime_ns, report.elapsed_ns, report.usage.user_ns) = (next(), next(), next());
    report.depth_levels[3] = next();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_measured_every_form_is_well_formed(
        numbers in proptest::collection::vec((0u32..50, any::<u64>()).prop_map(|(shift, number)| (number >> 14) >> shift), 1..40),
        float in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), any::<f64>()],
        name in any::<String>(),
        unified in prop_oneof![Just("none"), Just("mixed"), Just("both")],
        error in any::<i32>(),
    ) {
        let set = jobs(&format!("[a]\nrw=randrw\nunified_rw_reporting={unified}\nlat_percentiles=1\n")).unwrap();
        let plain = made_up(&set);
        let mut results = plain.clone();
        let report = &mut results.reports[0];
        disturb(report, &numbers, float);
        report.error = error;
        report.description = Some(name.clone());
        report.name = name;
        let json: Value = serde_json::from_str(&render(&results, JsonPlus, &how())).unwrap();
        prop_assert_eq!(json["jobs"][0]["jobname"].as_str(), Some(&*results.reports[0].name));
        let usual: Value = serde_json::from_str(&render(&plain, JsonPlus, &how())).unwrap();
        assert_same_types(&json, &usual, "");
        // A name may have anything in it; what is numbers must be numbers.
        results.reports[0].name = "name".into();
        results.reports[0].description = None;
        for terse_version in 2..=5 {
            let how = RenderOptions { terse_version, ..how() };
            let fields = |results: &Results| render(results, Terse, &how).split(';').count();
            prop_assert_eq!(fields(&results), fields(&plain));
        }
        for format in [Normal, Terse] {
            let text = render(&results, format, &how());
            let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphabetic()).collect();
            prop_assert!(!words.contains(&"NaN") && !words.contains(&"inf"), "{}", text);
        }
    }
}

/// Asks for the same types behind keys that both have.
fn assert_same_types(value: &Value, usual: &Value, path: &str) {
    match (value, usual) {
        (Value::Object(map), Value::Object(usual)) => {
            for (key, value) in map {
                match usual.get(key) {
                    Some(usual) => assert_same_types(value, usual, &format!("{path}/{key}")),
                    None => assert!(path.contains("/bins") || path.ends_with("_ns") || key == "desc", "{path}/{key}"),
                }
            }
        }
        (Value::Array(list), Value::Array(usual)) => {
            list.iter().zip(usual).for_each(|(value, usual)| assert_same_types(value, usual, path));
        }
        (Value::Number(number), Value::Number(usual)) => {
            assert_eq!(number.is_f64(), usual.is_f64(), "{path}: {number}")
        }
        (Value::String(_), Value::String(_)) => {}
        _ => panic!("{path}: {value} for {usual}"),
    }
}
