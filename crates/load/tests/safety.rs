//! What jobs may write to, whatever happens to the paths of their files meanwhile.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::os::unix::fs::symlink;
use std::path::Path;

use flashmark_load::{Finished, How, LoadError, LoadProblem, Status, Suspicion, Watch};
use support::{Place, consent, jobs, run_in, try_run_in};

const DATA: [u8; 8192] = [7; 8192];

/// Does something to the files in the middle of a run: when this file is made.
struct Meddler<F: FnMut()> {
    when: &'static str,
    does: F,
}

impl<F: FnMut()> Watch for Meddler<F> {
    fn making(&mut self, path: &Path, bytes: u64, of_bytes: u64) {
        if path.ends_with(self.when) && bytes == of_bytes {
            (self.does)();
        }
    }
    fn progress(&mut self, _: &Status) {}
    fn stop(&mut self) -> bool {
        false
    }
}

fn run_with(place: &Place, text: &str, when: &'static str, does: impl FnMut()) -> Result<Finished, LoadError> {
    let how = How { consent: &consent(&[]), auxiliary: &place.path(""), read_only: false, bandwidth_log: None };
    flashmark_load::run(&jobs(place, text), &how, &mut Meddler { when, does })
}

fn read_only(place: &Place, text: &str) -> Result<Finished, LoadError> {
    let how = How { consent: &consent(&[]), auxiliary: &place.path(""), read_only: true, bandwidth_log: None };
    flashmark_load::run(&jobs(place, text), &how, &mut Meddler { when: "nothing", does: || {} })
}

fn precious(place: &Place) -> std::path::PathBuf {
    let path = place.path("precious");
    std::fs::write(&path, DATA).unwrap();
    path
}

fn assert_foreign(result: Result<Finished, LoadError>, expected: Suspicion) {
    match result.unwrap_err().problem {
        LoadProblem::Foreign { suspicion, .. } => assert_eq!(suspicion, expected),
        other => panic!("{other}"),
    }
}

#[test]
fn a_job_without_files_gives_no_right_to_those_of_others() {
    let place = Place::new();
    let path = precious(&place);
    let global = "[global]\nfilename=precious\nsize=8k\nbs=4k\n";
    let (null, writes) = ("[n]\nioengine=null\nrw=write\n", "[w]\nstonewall\nioengine=psync\nrw=write\n");
    for text in [format!("{global}{null}{writes}"), format!("{global}{writes}{null}")] {
        assert_foreign(try_run_in(&place, &text, &[]), Suspicion::Unmarked);
        assert_eq!(std::fs::read(&path).unwrap(), DATA, "{text}");
    }
    // Nor does it make anything that another job could read.
    let text = "[global]\nfilename=none\nbs=4k\n[n]\nioengine=null\nrw=write\nsize=8k\n[r]\nstonewall\nrw=read\n";
    assert!(matches!(try_run_in(&place, text, &[]).unwrap_err().problem, LoadProblem::NoSize { .. }));
}

#[test]
fn what_is_put_into_a_files_place_is_not_written() {
    // Of the second batch nothing is there when its rights are found.
    let text = "[global]\nsize=8k\nbs=4k\n[a]\nfilename=first\nrw=read\n[b]\nstonewall\nfilename=second\nrw=write\n";
    for by_link in [true, false] {
        let place = Place::new();
        let path = precious(&place);
        let second = place.path("second");
        let finished = run_with(&place, text, "first", || {
            if by_link {
                symlink(&path, &second).unwrap();
            } else {
                std::fs::copy(&path, &second).unwrap();
            }
        })
        .unwrap();
        assert_eq!(finished.threads[0].report.error, 0, "{:?}", finished.threads[0].report.error_text);
        let error = finished.threads[1].report.error_text.clone().unwrap();
        assert!(error.contains("not the file any more"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), DATA);
        assert_eq!(std::fs::read(&second).unwrap(), DATA);
    }
}

#[test]
fn an_own_file_that_is_replaced_meanwhile_is_not_written() {
    let place = Place::new();
    let path = precious(&place);
    let own = place.path("second");
    run_in(&place, "[w]\nfilename=second\nsize=8k\nbs=4k\nrw=write\n");
    let text = "[global]\nsize=8k\nbs=4k\n[a]\nfilename=first\nrw=read\n[b]\nstonewall\nfilename=second\nrw=write\n";
    let finished = run_with(&place, text, "first", || std::fs::rename(&path, &own).unwrap()).unwrap();
    assert!(finished.threads[1].report.error_text.is_some());
    assert_eq!(std::fs::read(&own).unwrap(), DATA);
}

#[test]
fn what_somebody_wrote_over_an_own_file_is_theirs() {
    let place = Place::new();
    let text = "[w]\nfilename=own\nsize=8k\nbs=4k\nrw=write\n";
    run_in(&place, text);
    run_in(&place, text);
    let own = place.path("own");
    std::fs::write(&own, DATA).unwrap();
    assert_foreign(try_run_in(&place, text, &[]), Suspicion::Changed);
    assert_eq!(std::fs::read(&own).unwrap(), DATA);
    // In the middle of a run too.
    std::fs::remove_file(&own).unwrap();
    run_in(&place, text);
    let later = format!("[a]\nfilename=first\nsize=8k\nbs=4k\nrw=read\n{}", text.replace("[w]", "[w]\nstonewall"));
    let finished = run_with(&place, &later, "first", || std::fs::write(&own, DATA).unwrap()).unwrap();
    assert!(finished.threads[1].report.error_text.as_ref().is_some_and(|text| text.contains("size or time")));
    assert_eq!(std::fs::read(&own).unwrap(), DATA);
}

#[test]
fn several_threads_and_batches_share_an_own_file() {
    let place = Place::new();
    let text = "[global]\nfilename=own\nsize=64k\nbs=4k\nrw=randwrite\nnumjobs=3\n[a]\n[b]\n[c]\nstonewall\nioengine=mmap\n\
                [d]\nstonewall\ncreate_on_open=1\n";
    for _ in 0..2 {
        let finished = run_in(&place, text);
        assert!(!finished.has_failed(), "{:?}", finished.threads.iter().map(|thread| &thread.report.error_text));
    }
}

#[test]
fn copies_that_make_their_file_themselves_find_that_of_each_other() {
    for _ in 0..5 {
        let place = Place::new();
        let finished =
            run_in(&place, "[j]\nfilename=own\nsize=64k\nbs=4k\nrw=write\nnumjobs=4\ncreate_on_open=1\nthread\n");
        assert_eq!(finished.threads.len(), 4);
        assert!(!finished.has_failed());
    }
}

#[test]
fn read_only_makes_changes_and_removes_nothing() {
    let place = Place::new();
    let path = precious(&place);
    let trace = place.path("t.log");
    let name = path.display();
    let text = format!(
        "fio version 2 iolog\n{name} add\n{name} open\n{name} read 0 4096\n{name} write 0 4096\n{name} trim 4096 4096\n{name} close\n"
    );
    std::fs::write(&trace, text).unwrap();
    let finished = read_only(&place, &format!("[r]\nread_iolog={}\n", trace.display())).unwrap();
    let report = &finished.results.reports[0];
    assert_eq!((report.directions.read.count, report.directions.write.count), (1, 0));
    assert_eq!((report.error, std::fs::read(&path).unwrap()), (0, DATA.to_vec()));
    let problem = |text: &str| read_only(&place, text).unwrap_err().problem;
    assert!(matches!(problem("[r]\nfilename=new\nsize=8k\nrw=read\n"), LoadProblem::ReadOnly { .. }));
    assert!(!place.path("new").exists());
    run_in(&place, "[w]\nfilename=own\nsize=8k\nbs=4k\nrw=write\n");
    assert!(matches!(problem("[r]\nfilename=own\nsize=64k\nrw=read\n"), LoadProblem::ReadOnly { .. }));
    assert_eq!(place.path("own").metadata().unwrap().len(), 8192);
    assert!(!read_only(&place, "[r]\nfilename=own\nrw=read\nunlink=1\n").unwrap().has_failed());
    assert!(place.path("own").exists());
}

#[test]
fn unlink_removes_what_the_job_opened_and_nothing_else() {
    let place = Place::new();
    let path = precious(&place);
    let own = place.path("own");
    let text =
        "[global]\nsize=8k\nbs=4k\n[a]\nfilename=own\nrw=write\nunlink=1\n[b]\nstonewall\nfilename=last\nrw=read\n";
    run_with(&place, text, "last", || std::fs::rename(&path, &own).unwrap()).unwrap();
    assert_eq!(std::fs::read(&own).unwrap(), DATA);
    std::fs::remove_file(&own).unwrap();
    run_in(&place, text);
    assert!(!own.exists());
    // Of a job that never began, its file stays.
    run_in(&place, "[w]\nfilename=kept\nsize=8k\nbs=4k\nrw=write\n");
    let text = "[global]\nsize=8k\nbs=4k\n[a]\nfilename=own\nrw=write\n[b]\nstonewall\nfilename=kept\nrw=write\nunlink=1\nhipri\nioengine=pvsync2\n";
    assert!(run_in(&place, text).has_failed());
    assert!(place.path("kept").exists());
}

#[test]
fn a_file_by_two_names_is_one_file() {
    let place = Place::new();
    let path = precious(&place);
    symlink(&path, place.path("link")).unwrap();
    let text =
        "[global]\nsize=8k\nbs=4k\nrw=write\n[a]\nfilename=precious\n[b]\nfilename=./precious\n[c]\nfilename=link\n";
    assert_foreign(try_run_in(&place, text, &[]), Suspicion::Unmarked);
    let finished = try_run_in(&place, text, &["--destroy", path.to_str().unwrap()]).unwrap();
    assert!(!finished.has_failed());
    assert_ne!(std::fs::read(&path).unwrap(), DATA);
}

#[test]
fn room_is_summed_up_before_anything_is_made() {
    let place = Place::new();
    let stat = rustix::fs::statvfs(place.path("")).unwrap();
    let free = stat.f_bavail * stat.f_frsize;
    // Each has room alone.
    let size = free / 4 * 3;
    let text = format!("[global]\nsize={size}\nbs=4k\nrw=read\n[a]\nfilename=a\n[b]\nstonewall\nfilename=b\n");
    match try_run_in(&place, &text, &[]).unwrap_err().problem {
        LoadProblem::NoRoomTogether { needed, .. } => assert_eq!(needed, size * 2),
        other => panic!("{other}"),
    }
    assert!(!place.path("a").exists());
}

#[test]
fn a_mapping_is_written_whatever_is_reserved() {
    for how in ["none", "keep", "native", "truncate"] {
        let text = format!("[j]\nioengine=mmap\nfallocate={how}\nsize=64k\nbs=4k\nrw=write\n");
        let finished = support::run_text(&text);
        assert!(!finished.has_failed(), "{how}: {:?}", finished.threads[0].report.error_text);
    }
}

#[test]
fn two_jobs_record_into_two_traces() {
    let place = Place::new();
    let trace = place.path("t.log");
    let text = format!(
        "[global]\nioengine=null\nsize=64k\nbs=4k\nrw=read\nwrite_iolog={}\n[a]\n[b]\nstonewall\n",
        trace.display()
    );
    let error = try_run_in(&place, &text, &[]).unwrap_err();
    assert!(error.to_string().contains("another job records"), "{error}");
    assert!(!trace.exists());
    // Copies have names of their own.
    assert!(!run_in(&place, &text.replace("[b]\nstonewall\n", "numjobs=2\n")).has_failed());
    // Through a link nothing is recorded.
    let path = precious(&place);
    symlink(&path, place.path("link")).unwrap();
    let text = text.replace("t.log", "link").replace("[b]\nstonewall\n", "");
    assert!(try_run_in(&place, &text, &[]).unwrap_err().to_string().contains("no trace"));
    assert_eq!(std::fs::read(&path).unwrap(), DATA);
}

#[test]
fn dumps_and_states_are_in_their_folder_and_go_through_no_link() {
    let place = Place::new();
    for folder in ["one", "two"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let text = "[j]\nfilename=one/data:two/data\nfilesize=16k\nbs=4k\nrw=write\nverify=crc32c\ndo_verify=0\n";
    assert!(!run_in(&place, text).has_failed());
    for name in ["one/data", "two/data"] {
        place.change(name, 4096 + 100, b"?");
    }
    let read = "[j]\nfilename=one/data:two/data\nfilesize=16k\nbs=4k\nrw=read\nverify=crc32c\nverify_dump=1\ncontinue_on_error=all\n";
    assert!(run_in(&place, read).has_failed());
    for name in ["data.4096.received", "data.4096.expected", "data.4096.received.2"] {
        assert!(place.path(name).exists(), "{name}");
    }
    let path = precious(&place);
    std::fs::remove_file(place.path("data.4096.received")).unwrap();
    symlink(&path, place.path("data.4096.received")).unwrap();
    assert!(run_in(&place, read).has_failed());
    assert_eq!(std::fs::read(&path).unwrap(), DATA);
}
