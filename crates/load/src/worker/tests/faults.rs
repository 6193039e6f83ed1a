//! Errors and half-done work, also in the middle of a deep queue.

use flashmark_core::queue::{IoKind, Request};

use super::scripted::{Answer, Machine, Ran};
use crate::accesses::Direction;

const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;

/// Everything that was handed over came back.
#[track_caller]
fn assert_nothing_left(ran: &Ran) {
    assert_eq!(ran.left, 0);
    let submitted: u32 = ran.log.submitted.iter().sum();
    assert_eq!(ran.log.reaped.iter().sum::<u32>(), submitted);
}

/// Accesses to these offsets fail.
fn failing(offsets: &'static [u64], code: i32) -> impl FnMut(&Request, u64) -> (u64, Answer) + Send + 'static {
    move |request, number| {
        let answer = if offsets.contains(&request.offset) { Answer::Error(code) } else { Answer::All };
        (1000 + number * 37 % 500, answer)
    }
}

#[test]
fn an_error_in_a_deep_queue_ends_the_job_when_all_are_reaped() {
    let bad: &[u64] = &[40 << 12, 42 << 12, 50 << 12];
    let ran = Machine::new("rw=read\nbs=4k\nsize=4m\niodepth=64", failing(bad, EIO)).run();
    assert_eq!(ran.error(), EIO);
    assert_nothing_left(&ran);
    // All three were under way together: each is told.
    let mut failed = ran.failed();
    failed.sort_unstable();
    assert_eq!(failed, bad.iter().map(|offset| ("read", *offset, EIO)).collect::<Vec<_>>());
    assert_eq!(ran.count(), ran.log.pushed.len() as u64 - 3);
    assert!(ran.count() < 1024);
}

#[test]
fn errors_are_passed_over_where_the_job_says_so() {
    let bad: &[u64] = &[0, 4096, 8192];
    for (rw, on, over) in [
        ("read", "continue_on_error=all", true),
        ("read", "continue_on_error=read", true),
        ("read", "continue_on_error=io", true),
        ("read", "continue_on_error=write", false),
        ("read", "continue_on_error=verify", false),
        ("write", "continue_on_error=write", true),
        ("write", "continue_on_error=read", false),
        // What is no read counts as a write, as in fio.
        ("trim", "continue_on_error=write", true),
        ("trim", "continue_on_error=io", true),
        ("read", "ignore_error=EIO", true),
        ("read", "ignore_error=ENOSPC:EIO", true),
        ("read", "ignore_error=ENOSPC", false),
        ("read", "ignore_error=,EIO", false),
        ("write", "ignore_error=,EIO", true),
        ("trim", "ignore_error=,EIO", true),
    ] {
        for (depth, inline) in [(1, true), (16, false)] {
            let machine = Machine::new(&format!("rw={rw}\nbs=4k\nsize=400k\niodepth={depth}\n{on}"), failing(bad, EIO));
            let ran = if inline { machine.inline() } else { machine }.run();
            let what = format!("{rw} {on} at depth {depth}");
            assert_nothing_or_inline(&ran, inline);
            if over {
                assert_eq!((ran.error(), ran.count()), (0, 97), "{what}");
                assert_eq!((ran.result.passed_over, ran.result.first_passed_over), (3, EIO), "{what}");
            } else {
                assert_eq!(ran.error(), EIO, "{what}");
                assert_eq!(ran.result.passed_over, 0, "{what}");
            }
            assert_eq!(ran.failed()[0], (if rw == "trim" { "trim" } else { rw }, 0, EIO), "{what}");
        }
    }
}

fn assert_nothing_or_inline(ran: &Ran, inline: bool) {
    if !inline {
        assert_nothing_left(ran);
    }
}

#[test]
fn a_sync_that_fails_is_told_and_is_a_write() {
    let script =
        |request: &Request, _| (10, if request.kind == IoKind::Sync { Answer::Error(EIO) } else { Answer::All });
    for (depth, inline) in [(1_u32, true), (8, false)] {
        let run = |more: &str| {
            let machine = Machine::new(&format!("rw=write\nbs=4k\nsize=64k\nfsync=8\niodepth={depth}\n{more}"), script);
            if inline { machine.inline() } else { machine }.run()
        };
        let ran = run("");
        assert_eq!(ran.error(), EIO);
        // Those that were under way beside it count too.
        assert!((8..8 + u64::from(depth)).contains(&ran.count()), "{}", ran.count());
        assert_eq!(ran.failed(), [("sync", 0, EIO)]);
        let ran = run("continue_on_error=write");
        assert_eq!((ran.error(), ran.count(), ran.result.passed_over), (0, 16, 2));
    }
}

#[test]
fn what_the_system_cannot_take_now_is_tried_again() {
    for (depth, inline) in [(1, true), (1, false), (4, false)] {
        // Every other one at first, and the last ones as well.
        let script = |_: &Request, number| {
            let again = number % 2 == 0 && number < 40 || (48..52).contains(&number);
            (100, if again { Answer::Error(EAGAIN) } else { Answer::All })
        };
        let machine = Machine::new(&format!("rw=randwrite\nbs=4k\nsize=128k\niodepth={depth}"), script);
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!((ran.error(), ran.count(), ran.bytes()), (0, 32, 128 << 10), "{depth} {inline}");
        assert!(ran.failed().is_empty());
        assert_nothing_or_inline(&ran, inline);
    }
}

#[test]
fn the_system_never_taking_one_is_an_error() {
    for (depth, inline) in [(1, true), (2, false)] {
        let script = |request: &Request, _| (1, if request.offset == 0 { Answer::Error(EAGAIN) } else { Answer::All });
        let machine = Machine::new(&format!("rw=write\nbs=4k\nsize=64k\niodepth={depth}"), script);
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!((ran.error(), ran.failed()), (EAGAIN, vec![("write", 0, EAGAIN)]));
        // It is given time, and does not keep the processor busy meanwhile.
        assert!((10_000_000_000..10_100_000_000).contains(&ran.result.end_ns), "{}", ran.result.end_ns);
        assert!(ran.log.pushed.len() < 10_200, "{}", ran.log.pushed.len());
    }
}

#[test]
fn what_a_submission_leaves_goes_with_the_next_one() {
    // Never more than 3, and sometimes none, also at the end.
    for batch in [1, 8] {
        let mut calls = 0;
        let takes = move |pushed: u32| {
            calls += 1;
            Some(if calls % 5 == 4 { 0 } else { pushed.min(3) })
        };
        let job = format!("rw=read\nbs=4k\nsize=400k\niodepth=8\niodepth_batch={batch}");
        let ran = Machine::new(&job, |_, number| (100 + number % 3, Answer::All)).takes(takes).run();
        assert_eq!((ran.error(), ran.count()), (0, 100), "batch {batch}");
        assert_nothing_left(&ran);
    }
}

#[test]
fn an_access_that_was_not_taken_was_not_submitted_yet() {
    // The first call takes one of two; the other one goes when the first one is complete.
    let mut calls = 0;
    let takes = move |pushed: u32| {
        calls += 1;
        Some(if calls == 1 { 1 } else { pushed })
    };
    let job = "rw=read\nbs=4k\nsize=8k\niodepth=2\niodepth_batch=2";
    let ran = Machine::new(job, |_, _| (1000, Answer::All)).takes(takes).run();
    let read = ran.result.tally.direction(Direction::Read);
    assert_eq!((read.completion.min_ns(), read.completion.max_ns()), (1000, 1000));
    assert_eq!((read.submission.min_ns(), read.submission.max_ns()), (0, 1000));
}

#[test]
fn an_engine_that_gives_up_ends_the_job() {
    let job = "rw=read\nbs=4k\nsize=4m\niodepth=32";
    let ran = Machine::new(job, |_, _| (1000, Answer::All)).reaps(10).run();
    assert_eq!(ran.error(), EINVAL);
    assert!(ran.left > 0, "nobody can get at them: the engine waits for them when it is dropped");
    assert_eq!(ran.count(), u64::from(ran.log.reaped.iter().sum::<u32>()));
    let mut calls = 0;
    let takes = move |pushed| {
        calls += 1;
        (calls < 40).then_some(pushed)
    };
    let ran = Machine::new(job, |_, _| (1000, Answer::All)).takes(takes).run();
    assert_eq!(ran.error(), 1);
}

#[test]
fn short_transfers_go_on_where_they_stopped() {
    for (depth, inline) in [(1, true), (1, false), (4, false)] {
        for rw in ["randread", "randwrite"] {
            // In steps of a kibibyte.
            let script = |request: &Request, _| (100, Answer::Bytes(request.bytes.min(1024)));
            let machine = Machine::new(&format!("rw={rw}\nbs=4k\nsize=64k\niodepth={depth}"), script);
            let ran = if inline { machine.inline() } else { machine }.run();
            assert_eq!((ran.error(), ran.count(), ran.bytes()), (0, 16, 64 << 10), "{rw} {depth} {inline}");
            assert_eq!(ran.log.pushed.len(), 64);
            let mut pieces: Vec<u64> = ran.log.pushed.iter().map(|(request, ..)| request.offset).collect();
            pieces.sort_unstable();
            assert_eq!(pieces, (0..64).map(|piece| piece * 1024).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn the_end_of_a_file_is_an_error_with_its_place() {
    for (depth, inline) in [(1, true), (4, false)] {
        let script = |request: &Request, _| {
            let room = 10_000_u64.saturating_sub(request.offset);
            (100, Answer::Bytes(request.bytes.min(room as u32)))
        };
        let machine = Machine::new(&format!("rw=read\nbs=4k\nsize=64k\niodepth={depth}"), script);
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!((ran.error(), ran.count()), (EIO, 2));
        assert_eq!(ran.failed()[0].1, if depth == 1 { 8192 } else { ran.failed()[0].1 });
        assert!(
            ran.failed().iter().all(|(action, offset, code)| { *action == "read" && *offset >= 8192 && *code == EIO })
        );
        let first = ran.result.tally.failed.iter().find(|failed| failed.offset == 8192);
        assert!(first.is_none_or(|failed| failed.text.contains("at offset 10000")), "{first:?}");
    }
}

#[test]
fn a_full_device_is_the_end_of_a_job_that_fills_it() {
    let script = |request: &Request, number| {
        let full = request.kind == IoKind::Write && request.offset >= 40 << 10;
        (100 + number % 3, if full { Answer::Error(ENOSPC) } else { Answer::All })
    };
    for (depth, inline) in [(1, true), (8, false)] {
        let run = |more: &str| {
            let machine = Machine::new(&format!("rw=write\nbs=4k\nsize=400k\niodepth={depth}\n{more}"), script);
            if inline { machine.inline() } else { machine }.run()
        };
        let ran = run("fill_device=1");
        assert_eq!((ran.error(), ran.result.stopped), (0, false));
        assert_eq!((ran.count(), ran.failed(), ran.result.tally.failed_count), (10, Vec::new(), 0));
        assert_nothing_or_inline(&ran, inline);
        assert_eq!(run("").error(), ENOSPC);
        // Another error does not hide behind it.
        if depth == 8 {
            let script = |request: &Request, number: u64| match request.offset >> 12 {
                10 => (100, Answer::Error(ENOSPC)),
                12 => (900, Answer::Error(EIO)),
                _ => (200 + number % 3, Answer::All),
            };
            let ran = Machine::new("rw=write\nbs=4k\nsize=400k\niodepth=8\nfill_device=1", script).run();
            assert_eq!(ran.error(), EIO);
        }
    }
}

#[test]
fn only_what_was_written_to_a_full_device_is_verified() {
    for (depth, inline) in [(1, true), (8, false)] {
        for backlog in ["", "\nverify_backlog=4"] {
            let script = |request: &Request, number| {
                let full = request.kind == IoKind::Write && request.offset >= 40 << 10;
                (100 + number % 3, if full { Answer::Error(ENOSPC) } else { Answer::All })
            };
            let job = format!("rw=write\nbs=4k\nsize=400k\niodepth={depth}\nfill_device=1\nverify=crc32c{backlog}");
            let machine = Machine::new(&job, script).storing(&Default::default());
            let ran = if inline { machine.inline() } else { machine }.run();
            assert_eq!((ran.error(), ran.result.wrong_count), (0, 0), "{job}: {:?}", ran.result.failure);
            assert_eq!(ran.result.tally.direction(Direction::Read).count, 10, "{job}");
        }
    }
}

#[test]
fn others_are_seen_to_while_the_system_cannot_take_one() {
    // One is refused for 50 ms; the others take 100 us each, and their latencies are not longer for it.
    let script =
        |request: &Request, _| (100_000, if request.offset == 0 { Answer::Error(EAGAIN) } else { Answer::All });
    let ran = Machine::new("rw=read\nbs=4k\nsize=400m\niodepth=4\nruntime=50ms", script).run();
    let read = ran.result.tally.direction(Direction::Read);
    assert!(read.count > 1000, "{}", read.count);
    assert!(read.completion.max_ns() <= 200_000, "{}", read.completion.max_ns());
}

#[test]
fn a_low_mark_is_reached_also_where_one_is_to_go_again() {
    let mut refused = 0;
    let script = move |request: &Request, _| {
        let again = request.offset == 8192 && refused < 3;
        refused += u32::from(again);
        (1000, if again { Answer::Error(EAGAIN) } else { Answer::All })
    };
    let job = "rw=read\nbs=4k\nsize=64k\niodepth=4\niodepth_low=1";
    let ran = Machine::new(job, script).run();
    assert_eq!((ran.error(), ran.count()), (0, 16));
}
