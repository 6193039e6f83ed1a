//! Writing, and reading back what was written.

use flashmark_core::queue::{IoKind, Request};

use super::always;
use super::scripted::{Answer, Files, Machine, Ran};
use crate::accesses::Direction;

const WRONG: i32 = 84;

/// For each loop: depth, and whether the engine completes what it is given.
const LOOPS: [(u32, bool); 3] = [(1, true), (1, false), (16, false)];

#[track_caller]
fn run(
    options: &str,
    (depth, inline): (u32, bool),
    files: &Files,
    script: impl FnMut(&Request, u64) -> (u64, Answer) + Send + 'static,
) -> Ran {
    let machine = Machine::new(&format!("bs=4k\nsize=256k\niodepth={depth}\n{options}"), script).storing(files);
    let ran = if inline { machine.inline() } else { machine }.run();
    assert_eq!(ran.left, 0);
    ran
}

fn counts(ran: &Ran) -> (u64, u64) {
    (ran.result.tally.direction(Direction::Write).count, ran.result.tally.direction(Direction::Read).count)
}

#[test]
fn what_was_written_is_read_back_as_a_whole() {
    for how in LOOPS {
        for rw in ["write", "randwrite", "randwrite\nnorandommap", "randwrite\nbsrange=512-8k", "randwrite\nloops=3"] {
            for verify in ["crc32c", "sha256", "md5\nverify_interval=512", "pattern\nverify_pattern=0xdeadbeef%o"] {
                let files = Files::default();
                let script = |_: &Request, number: u64| (100 + number * 31 % 70, Answer::All);
                let ran = run(&format!("rw={rw}\nverify={verify}"), how, &files, script);
                assert_eq!((ran.error(), ran.result.wrong_count), (0, 0), "{how:?} {rw} {verify}: {:?}", ran.failed());
                let (writes, reads) = counts(&ran);
                assert!(writes >= 60 && reads == writes, "{how:?} {rw} {verify}: {writes} {reads}");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    for how in LOOPS {
        let files = Files::default();
        let ran = run("rw=randwrite\nverify=crc32c\ndo_verify=0", how, &files, always(100));
        assert_eq!(counts(&ran), (64, 0));
        let check = |verify: &str| run(&format!("rw=randread\nverify=crc32c\n{verify}"), how, &files, always(100));
        assert_eq!((check("").error(), counts(&check(""))), (0, (0, 64)));
        for byte in [5 * 4096 + 7, 9 * 4096 + 4095, 9 * 4096 + 4094] {
            files.lock().unwrap().get_mut(&0).unwrap()[byte] ^= 1;
        }
        let ran = check("");
        assert_eq!((ran.error(), ran.result.wrong_count, counts(&ran)), (WRONG, 2, (0, 64)));
        let mut failed = ran.failed();
        failed.sort_unstable();
        assert_eq!(failed, [("verify", 5 * 4096, WRONG), ("verify", 9 * 4096, WRONG)]);
        // The first one is the last one if it is fatal.
        let ran = check("verify_fatal=1");
        assert_eq!(ran.error(), WRONG);
        assert!(counts(&ran).1 < 64 && ran.result.wrong_count >= 1);
    }
}

#[test]
fn a_lost_write_is_found_by_what_reads_back() {
    for how in LOOPS {
        for backlog in ["", "\nverify_backlog=8", "\nverify_backlog=8\nverify_backlog_batch=4"] {
            let files = Files::default();
            // The device says that it wrote, and did nothing from the third access on for one.
            let script = |request: &Request, number| {
                let lost = request.kind == IoKind::Write && request.offset == 12 << 12;
                (100 + number % 7, if lost { Answer::Bytes(0) } else { Answer::All })
            };
            // A write of nothing is an error of its own: it is passed over here.
            let options = format!("rw=write\nverify=crc32c\ncontinue_on_error=write{backlog}");
            let ran = run(&options, how, &files, script);
            assert_eq!(ran.result.wrong_count, 0, "{how:?} {backlog}: what was not written is not read back");
            assert_eq!(counts(&ran), (63, 63), "{how:?} {backlog}");
            assert_eq!((ran.error(), ran.result.passed_over), (0, 1));
        }
    }
}

#[test]
fn a_backlog_is_read_back_while_writing_goes_on() {
    for how in LOOPS {
        for (options, every, batch) in
            [("verify_backlog=10", 10, 10), ("verify_backlog=10\nverify_backlog_batch=5", 10, 5)]
        {
            let files = Files::default();
            let ran = run(&format!("rw=randwrite\nverify=sha256\n{options}"), how, &files, always(100));
            assert_eq!((ran.error(), counts(&ran)), (0, (64, 64)), "{how:?} {options}: {:?}", ran.failed());
            let kinds: Vec<bool> = ran.log.pushed.iter().map(|(request, ..)| request.kind == IoKind::Write).collect();
            assert!(kinds[..every].iter().all(|write| *write), "{how:?}");
            assert!(kinds[every..every + batch].iter().all(|write| !*write), "{how:?}");
            assert!(kinds[every + batch], "{how:?}: then it writes again");
            // Nothing is read while its write is under way.
            let first = ran.log.pushed.iter().find(|(request, ..)| request.kind == IoKind::Read).unwrap();
            assert_eq!(first.2, 0);
        }
    }
}

#[test]
fn time_that_is_over_in_a_backlog_leaves_nothing_unchecked_or_unwritten() {
    for how in LOOPS {
        for ms in 1..40 {
            let files = Files::default();
            let options =
                format!("rw=randwrite\nverify=crc32c\nverify_backlog=4\nrate_iops=1000\ntime_based\nruntime={ms}ms");
            let ran = run(&options, how, &files, always(300_000));
            assert_eq!((ran.error(), ran.result.wrong_count), (0, 0), "{how:?} {ms}: {:?}", ran.failed());
            let (writes, reads) = counts(&ran);
            assert_eq!(writes, reads, "{how:?} {ms}");
        }
    }
}

#[test]
fn time_that_is_over_is_over_for_writing_only() {
    for how in LOOPS {
        let files = Files::default();
        let options = "rw=randwrite\nverify=crc32c\nruntime=10ms\nrate_iops=1000";
        let ran = run(options, how, &files, always(1000));
        assert_eq!((ran.error(), counts(&ran)), (0, (10, 10)), "{how:?}");
    }
}

#[test]
fn what_is_read_in_pieces_is_compared_as_a_whole() {
    for how in LOOPS {
        let files = Files::default();
        assert_eq!(run("rw=write\nverify=crc32c\ndo_verify=0", how, &files, always(100)).error(), 0);
        // Every third read is short.
        let script = |request: &Request, number: u64| {
            (100, if number.is_multiple_of(3) { Answer::Bytes(request.bytes.min(1000)) } else { Answer::All })
        };
        for rw in ["read", "randread"] {
            let ran = run(&format!("rw={rw}\nverify=crc32c"), how, &files, script);
            assert_eq!((ran.error(), ran.result.wrong_count), (0, 0), "{how:?} {rw}: {:?}", ran.result.tally.failed);
            assert_eq!(counts(&ran), (0, 64));
        }
        let ran = run("rw=write\nverify=crc32c\nverify_only", how, &files, script);
        assert_eq!((ran.error(), counts(&ran)), (0, (0, 64)), "{how:?}");
    }
}

#[test]
fn what_is_written_in_pieces_is_written_as_a_whole() {
    for how in LOOPS {
        let files = Files::default();
        let script = |request: &Request, number: u64| match request.kind {
            IoKind::Write if !number.is_multiple_of(3) => (100, Answer::Bytes(request.bytes.min(1000))),
            _ => (100, Answer::All),
        };
        let ran = run("rw=randwrite\nverify=sha256", how, &files, script);
        assert_eq!((ran.error(), counts(&ran)), (0, (64, 64)), "{how:?}: {:?}", ran.failed());
    }
}

#[test]
fn a_job_that_was_stopped_tells_how_far_it_came() {
    for how in LOOPS {
        let files = Files::default();
        let options = "rw=write\nverify=crc32c\nruntime=10ms\nrate_iops=1000\ndo_verify=0";
        let ran = run(options, how, &files, always(1000));
        let (writes, last) = ran.result.state.unwrap();
        assert_eq!(writes, 10);
        assert_eq!((last[0].file, last[0].offset), (0, 9 * 4096));
        // Who wrote everything has nothing to tell.
        assert!(run("rw=write\nverify=crc32c", how, &Files::default(), always(1000)).result.state.is_none());
    }
}

#[test]
fn a_job_whose_time_is_over_and_that_verified_everything_leaves_nothing_to_verify() {
    for how in LOOPS {
        for backlog in ["", "\nverify_backlog=4"] {
            let options = format!("rw=write\nverify=crc32c\nruntime=10ms\nrate_iops=1000{backlog}");
            let ran = run(&options, how, &Files::default(), always(1000));
            assert_eq!((ran.error(), counts(&ran).0), (0, counts(&ran).1), "{how:?}");
            assert!(ran.result.state.is_none(), "{how:?} {backlog}");
        }
    }
}

#[test]
fn a_write_that_is_given_up_at_the_end_is_no_wrong_data() {
    // From some write on the system takes no more writes, or only part of them, until the time is over.
    for how in LOOPS {
        for part in [false, true] {
            let files = Files::default();
            let script = move |request: &Request, number: u64| match request.kind {
                IoKind::Write if request.offset >= 40 << 12 && part && request.bytes == 4096 => {
                    (1000, Answer::Bytes(1000))
                }
                IoKind::Write if request.offset >= 40 << 12 => (1000, Answer::Error(11)),
                _ => (1000 + number % 3, Answer::All),
            };
            let ran = run("rw=write\nverify=crc32c\nruntime=1s", how, &files, script);
            assert_eq!((ran.error(), ran.result.wrong_count), (0, 0), "{how:?} {part}: {:?}", ran.failed());
            assert_eq!(counts(&ran), (40, 40), "{how:?} {part}");
            if part {
                assert!(!ran.failed().is_empty());
                assert!(ran.failed().iter().all(|(action, offset, _)| *action == "write" && *offset >= 40 << 12));
            } else {
                assert_eq!(ran.failed(), []);
            }
        }
    }
}

#[test]
fn what_the_system_cannot_take_does_not_count_as_read_in_pieces() {
    for how in LOOPS {
        let files = Files::default();
        assert_eq!(run("rw=write\nverify=crc32c\ndo_verify=0", how, &files, always(100)).error(), 0);
        // Twenty times it has no room, then the block comes in pieces twice.
        let mut times = std::collections::BTreeMap::<u64, u32>::new();
        let script = move |request: &Request, _| {
            let times = times.entry(request.offset).or_default();
            *times += 1;
            let answer = match *times {
                1..=20 => Answer::Error(11),
                21 | 22 => Answer::Bytes(1000),
                _ => Answer::All,
            };
            (100, answer)
        };
        let ran = run("rw=read\nverify=crc32c", how, &files, script);
        assert_eq!((ran.error(), counts(&ran)), (0, (0, 64)), "{how:?}: {:?}", ran.failed());
    }
}
