//! Jobs from their text to their results.

mod support;

use flashmark_fio::results::Results;
use support::{Place, run_in, run_text};

fn one(results: &Results) -> &flashmark_fio::results::JobReport {
    assert_eq!(results.reports.len(), 1);
    &results.reports[0]
}

#[test]
fn a_job_moves_what_it_says() {
    let finished = run_text("[job]\nrw=randrw\nrwmixread=75\nbs=4k\nsize=1m\n");
    let report = one(&finished.results);
    assert_eq!(report.error, 0, "{:?}", report.error_text);
    assert_eq!(report.directions.read.count + report.directions.write.count, 256);
    // Exact in every hundred: 75 and 75, and of the last 56 so many as their order has.
    let reads = report.directions.read.count;
    assert!((150 + 31..=150 + 56).contains(&reads), "{reads}");
    assert_eq!(report.directions.read.completion.count(), reads);
    assert_eq!(report.directions.write.bytes, (256 - reads) * 4096);
    assert_eq!(report.depth_levels[0], 256);
}

#[test]
fn what_was_written_is_read_back() {
    for engine in ["psync", "io_uring\niodepth=8", "libaio\niodepth=8"] {
        let finished =
            run_text(&format!("[job]\nioengine={engine}\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\ndo_verify=1\n"));
        let report = one(&finished.results);
        assert_eq!(report.error, 0, "{engine}: {:?}", report.error_text);
        assert_eq!(report.directions.write.count, 256);
        assert_eq!(report.directions.read.count, 256, "{engine}");
    }
}

#[test]
fn a_job_file_with_a_stonewall_runs_one_after_the_other() {
    let place = Place::new();
    let text = "[global]\nsize=256k\nbs=4k\nfilename=shared\n[w]\nrw=write\nverify=sha256\ndo_verify=0\n[r]\nstonewall\nrw=read\nverify=sha256\n";
    let finished = run_in(&place, text);
    assert_eq!(finished.results.reports.len(), 2);
    for report in &finished.results.reports {
        assert_eq!(report.error, 0, "{:?}", report.error_text);
    }
    assert_eq!(finished.results.groups.len(), 2);
    assert_eq!(finished.results.reports[1].directions.read.count, 64);
}

#[test]
fn wrong_data_is_told_with_its_place() {
    let place = Place::new();
    let write = "[j]\nsize=64k\nbs=4k\nfilename=data\nrw=write\nverify=crc32c\ndo_verify=0\n";
    assert!(!run_in(&place, write).has_failed());
    place.change("data", 4096 * 3 + 100, b"?");
    let finished = run_in(&place, "[j]\nsize=64k\nbs=4k\nfilename=data\nrw=read\nverify=crc32c\n");
    assert!(finished.has_failed());
    let thread = &finished.threads[0];
    assert_eq!((thread.wrong_blocks, thread.report.error), (1, 84));
    assert_eq!(thread.failed[0].offset, 4096 * 3);
    assert!(
        thread.failed[0].text.contains("12388") || thread.failed[0].text.contains("12288"),
        "{}",
        thread.failed[0].text
    );
    assert!(place.path("data").exists());
}

#[test]
fn time_ends_a_job_and_a_ramp_does_not_count() {
    let text = "[job]\nrw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=300ms\nramp_time=200ms\n";
    let finished = run_text(text);
    let report = one(&finished.results);
    let runtime = report.directions.read.runtime_ns;
    assert!((290_000_000..900_000_000).contains(&runtime), "{runtime}");
    assert!(report.directions.read.count > 256, "it went round");
}

#[test]
fn a_rate_is_kept() {
    let finished = run_text("[job]\nrw=read\nbs=4k\nsize=64m\nrate_iops=500\nruntime=400ms\nioengine=null\n");
    let count = one(&finished.results).directions.read.count;
    // The first one is at the start: 201 in 400 ms, never more.
    assert!((150..=201).contains(&count), "{count}");
    assert_eq!(one(&finished.results).directions.read.from_intended.count(), count);
}

#[test]
fn copies_are_threads_and_one_report_with_group_reporting() {
    let text = "[job]\nrw=write\nbs=4k\nsize=128k\nnumjobs=3\ngroup_reporting\n";
    let finished = run_text(text);
    assert_eq!(finished.threads.len(), 3);
    let report = one(&finished.results);
    assert_eq!(report.members, 3);
    assert_eq!(report.directions.write.count, 96);
}

#[test]
fn somebody_elses_file_is_not_written() {
    let place = Place::new();
    std::fs::write(place.path("precious"), vec![7; 8192]).unwrap();
    let text = "[j]\nfilename=precious\nsize=8k\nbs=4k\nrw=write\n";
    let error = support::try_run_in(&place, text, &[]).unwrap_err();
    assert!(error.to_string().contains("--destroy"), "{error}");
    assert_eq!(std::fs::read(place.path("precious")).unwrap(), vec![7; 8192]);
    // Reading it is nobody's concern.
    assert!(!run_in(&place, "[j]\nfilename=precious\nsize=8k\nbs=4k\nrw=read\n").has_failed());
    let precious = place.path("precious");
    let consent = ["--destroy", precious.to_str().unwrap()];
    assert!(!support::try_run_in(&place, text, &consent).unwrap().has_failed());
    assert_ne!(std::fs::read(&precious).unwrap(), vec![7; 8192]);
}

#[test]
fn a_file_of_an_earlier_job_is_written_again() {
    let place = Place::new();
    let text = "[j]\nfilename=own\nsize=8k\nbs=4k\nrw=write\n";
    for _ in 0..2 {
        assert!(!run_in(&place, text).has_failed());
    }
}

#[test]
fn a_run_is_recorded_and_replayed() {
    let place = Place::new();
    let trace = place.path("trace.log");
    let record = format!(
        "[j]\nfilename=data\nsize=256k\nbsrange=4k-16k\nrw=randrw\nfdatasync=8\nwrite_iolog={}\n",
        trace.display()
    );
    let recorded = run_in(&place, &record);
    assert!(!recorded.has_failed());
    let of = |finished: &flashmark_load::Finished| {
        let report = one(&finished.results);
        let moved = &report.directions;
        [moved.read.count, moved.read.bytes, moved.write.count, moved.write.bytes, report.syncs.count()]
    };
    assert!(of(&recorded).iter().all(|count| *count > 0), "{:?}", of(&recorded));
    for engine in ["psync", "io_uring\niodepth=4"] {
        let replay = format!("[j]\nioengine={engine}\nread_iolog={}\nreplay_no_stall=1\n", trace.display());
        let replayed = run_in(&place, &replay);
        assert!(!replayed.has_failed(), "{:?}", replayed.threads[0].report.error_text);
        assert_eq!(of(&replayed), of(&recorded), "{engine}");
    }
}

#[test]
fn a_trace_keeps_its_time() {
    let place = Place::new();
    let trace = place.path("timed.log");
    let text = "fio version 3 iolog\n0 f add\n0 f open\n1000 f read 0 4096\n150000 f read 4096 4096\n200000 f close\n";
    std::fs::write(&trace, text).unwrap();
    let replay = |more: &str| {
        let finished = run_in(&place, &format!("[j]\nread_iolog={}\n{more}\n", trace.display()));
        assert_eq!(one(&finished.results).directions.read.count, 2);
        one(&finished.results).directions.read.runtime_ns
    };
    assert!(replay("") >= 150_000_000);
    assert!((70_000_000..150_000_000).contains(&replay("replay_time_scale=200")));
    assert!(replay("replay_no_stall=1") < 150_000_000);
}

#[test]
fn a_stopped_job_leaves_how_far_it_came() {
    let place = Place::new();
    let text =
        "[j]\nfilename=data\nsize=64m\nbs=4k\nrw=write\nverify=crc32c\nrate_iops=1000\nruntime=200ms\ndo_verify=0\n";
    assert!(!run_in(&place, text).has_failed());
    let state = place.path("local-j-0-verify.state");
    assert!(state.exists());
    // Only what was written is checked; the rest of the file would be wrong.
    let check = "[j]\nfilename=data\nsize=64m\nbs=4k\nrw=write\nverify=crc32c\nverify_only\nverify_state_load=1\n";
    let finished = run_in(&place, check);
    assert!(!finished.has_failed(), "{:?}", finished.threads[0].report.error_text);
    let read = one(&finished.results).directions.read.count;
    assert!((100..=201).contains(&read), "{read}");
    let all = check.replace("verify_state_load=1\n", "");
    assert!(run_in(&place, &all).has_failed());
}

#[test]
fn jobs_of_a_flow_keep_step() {
    // The second goes on until the first is done, and may do a third of what that does, however fast it could.
    let text = "[global]\nioengine=null\nsize=1g\nbs=4k\nrw=read\n\
                [a]\nflow=3\nrate_iops=50000\nnumber_ios=30000\nexitall\n[b]\nflow=1\nrate_iops=50000\ntime_based\nruntime=60\n";
    let finished = run_text(text);
    let [a, b] = [0, 1].map(|job| finished.results.reports[job].directions.read.count);
    assert_eq!(a, 30_000);
    // Alone, as the two do not begin and end at one moment, it may do more; with nobody to wait for it would do as much.
    assert!((5_000..=20_000).contains(&b), "{b}");
}

#[test]
fn offloaded_accesses_are_under_way_at_once() {
    let text = "[j]\nioengine=psync\nio_submit_mode=offload\niodepth=4\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\n";
    let finished = run_text(text);
    assert!(!finished.has_failed(), "{:?}", finished.threads[0].report.error_text);
    assert_eq!(finished.threads[0].engine, "threads");
    let levels = one(&finished.results).depth_levels;
    assert!(levels[1] + levels[2] > 0, "{levels:?}");
}

#[test]
fn a_job_that_cannot_begin_does_not_take_the_results_of_others_along() {
    let place = Place::new();
    let text =
        "[one]\nrw=write\nbs=4k\nsize=64k\n[two]\nstonewall\nrw=write\nbs=4k\nsize=64k\nhipri\nioengine=pvsync2\n";
    let finished = run_in(&place, text);
    assert!(finished.has_failed());
    let [one, two] = [0, 1].map(|job| &finished.threads[job].report);
    assert_eq!((one.error, one.directions.write.count), (0, 16));
    assert_ne!(two.error, 0);
    assert!(two.error_text.as_ref().is_some_and(|text| text.contains("poll")), "{:?}", two.error_text);
}

#[test]
fn a_job_reads_what_an_earlier_one_makes() {
    let text = "[a]\nfilename=f\nsize=1m\nbs=4k\nrw=write\n[b]\nstonewall\nfilename=f\nbs=4k\nrw=read\n";
    let finished = run_text(text);
    assert!(!finished.has_failed());
    assert_eq!(finished.results.reports[1].directions.read.count, 256);
}

#[test]
fn a_jobs_end_is_that_of_those_beside_it_only() {
    let text = "[global]\nioengine=null\nsize=1m\nbs=4k\nrw=read\n[a]\nexitall\nexit_what=stonewall\n[slow]\nrate_iops=10\n[b]\nstonewall\n";
    let finished = run_text(text);
    assert!(!finished.has_failed() && !finished.interrupted);
    let counts = [0, 1, 2].map(|job| finished.results.reports[job].directions.read.count);
    assert_eq!((counts[0], counts[2]), (256, 256));
    assert!(counts[1] < 256, "{counts:?}");
    assert!(finished.threads.iter().all(|thread| !thread.stopped));
}

#[test]
fn a_name_among_the_defaults_is_nobodys() {
    let text = "[global]\nname=all\nioengine=null\nsize=64k\nbs=4k\nrw=read\n[one]\n[two]\nname=other\n";
    let finished = run_text(text);
    let names: Vec<&str> = finished.results.reports.iter().map(|report| report.name.as_str()).collect();
    assert_eq!(names, ["one", "other"]);
}

#[test]
fn a_device_is_filled_to_the_end() {
    // More than there can be: the file ends where its limit is.
    let text = "[j]\nfill_device=1\nsize=64m\nbs=1m\nrw=write\nioengine=null\nnumber_ios=100\n";
    assert!(!run_text(text).has_failed());
}
