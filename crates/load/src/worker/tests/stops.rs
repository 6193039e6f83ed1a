//! Ends: by time, by order, by being too slow.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flashmark_core::queue::Request;

use super::always;
use super::scripted::{Answer, Machine};
use crate::accesses::Direction;

const MS: u64 = 1_000_000;
const ETIME: i32 = 62;

#[test]
fn a_stop_leaves_nothing_under_way() {
    for depth in [4096, 64, 1] {
        // Asked for in the middle of a submission.
        let machine = Machine::new(&format!("rw=randread\nbs=512\nsize=64m\niodepth={depth}"), always(0));
        let signals = Arc::clone(&machine.signals);
        let mut machine = machine;
        machine.script(move |_: &Request, number| {
            if number == 10_000 {
                signals.stop.store(true, Ordering::Relaxed);
            }
            (1000 + number % 977, Answer::All)
        });
        let ran = machine.run();
        assert!(ran.result.stopped && ran.result.failure.is_none());
        assert_eq!(ran.left, 0);
        // What was under way counts.
        assert_eq!(ran.count(), ran.log.pushed.len() as u64);
        assert!((10_000..10_000 + 2 * u64::from(depth) + 2).contains(&ran.count()), "{}", ran.count());
        assert_eq!(ran.log.most, depth);
    }
}

#[test]
fn a_job_that_waits_hears_that_it_is_to_stop() {
    // An access in a second and a half; the order comes with the first one.
    for inline in [true, false] {
        let mut machine = Machine::new("rw=read\nbs=4k\nsize=1m\nthinktime=1500000", always(0));
        let signals = Arc::clone(&machine.signals);
        machine.script(move |_: &Request, _| {
            signals.stop.store(true, Ordering::Relaxed);
            (1000, Answer::All)
        });
        let ran = if inline { machine.inline() } else { machine }.run();
        assert!(ran.result.stopped);
        assert_eq!(ran.count(), 1);
        assert!(ran.result.end_ns < 100 * MS, "{}", ran.result.end_ns);
    }
}

#[test]
fn time_ends_a_job_and_what_is_under_way_counts() {
    for (depth, inline) in [(1_u32, true), (1, false), (4, false)] {
        let job = format!("rw=read\nbs=4k\nsize=16k\ntime_based\nruntime=10ms\niodepth={depth}");
        let machine = Machine::new(&job, always(MS));
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!((ran.error(), ran.result.stopped, ran.left), (0, false, 0));
        // Those that were under way at 10 ms are as long as the others.
        let last = if inline || depth == 1 { 10 } else { 11 };
        assert!((10 * u64::from(depth)..=last * u64::from(depth)).contains(&ran.count()), "{depth}: {}", ran.count());
        assert_eq!(ran.count(), ran.log.pushed.len() as u64);
        let runtime = ran.result.tally.direction(Direction::Read).runtime_ns;
        assert!((10 * MS..=11 * MS).contains(&runtime), "{runtime}");
    }
}

#[test]
fn a_runtime_without_time_based_is_only_a_limit() {
    let ran = Machine::new("rw=read\nbs=4k\nsize=16k\nruntime=10s", always(MS)).run();
    assert_eq!((ran.count(), ran.result.end_ns), (4, 4 * MS));
    let ran = Machine::new("rw=read\nbs=4k\nsize=16m\nruntime=10ms", always(MS)).run();
    assert_eq!(ran.count(), 10);
}

#[test]
fn a_ramp_does_not_count() {
    for (depth, inline) in [(1, true), (2, false)] {
        let job = format!("rw=read\nbs=4k\nsize=16k\ntime_based\nramp_time=1s\nruntime=1s\niodepth={depth}");
        // Slow at first, and fast once the ramp is over.
        let script = |_: &Request, number| (if number < 100 { 10 * MS } else { MS }, Answer::All);
        let machine = Machine::new(&job, script).at_ns(7 * MS);
        let ran = if inline { machine.inline() } else { machine }.run();
        let read = ran.result.tally.direction(Direction::Read);
        if depth == 1 {
            assert_eq!((ran.result.start_ns, ran.result.end_ns), (1007 * MS, 2007 * MS));
            assert_eq!((read.count, read.runtime_ns), (1000, 1000 * MS));
            assert_eq!(read.completion.max_ns(), MS, "a slow one of the ramp is not in it");
        } else {
            assert!((1998..=2002).contains(&read.count), "{}", read.count);
            assert!((1000 * MS..=1001 * MS).contains(&read.runtime_ns), "{}", read.runtime_ns);
        }
        let depths: u64 = ran.result.tally.depth_levels.iter().sum();
        assert!(depths.abs_diff(read.count) <= 2, "{depths} of {}", read.count);
    }
}

#[test]
fn a_job_that_is_over_before_its_ramp_has_measured_nothing() {
    let ran = Machine::new("rw=read\nbs=4k\nsize=16k\nramp_time=1s", always(MS)).run();
    assert_eq!((ran.count(), ran.error()), (0, 0));
    assert_eq!(ran.result.start_ns, ran.result.end_ns);
}

#[test]
fn a_job_below_its_least_rate_ends() {
    // 1000 accesses of 4 KiB a second, and from the third second on 100.
    let script = |_: &Request, number| (if number < 3000 { MS } else { 10 * MS }, Answer::All);
    for rw in ["read", "write"] {
        for (least, met) in [
            ("rate_min=4000000", false),
            ("rate_min=400k", true),
            ("rate_iops_min=900", false),
            ("rate_iops_min=90", true),
            ("rate_iops_min=90,90,90", true),
        ] {
            for inline in [true, false] {
                let job = format!("rw={rw}\nbs=4k\nsize=4m\ntime_based\nruntime=6s\n{least}");
                let machine = Machine::new(&job, script);
                let ran = if inline { machine.inline() } else { machine }.run();
                let what = format!("{rw} {least} {inline}: {:?}", ran.result.failure);
                if met {
                    assert_eq!(ran.error(), 0, "{what}");
                    assert_eq!(ran.count(), 3300, "{what}");
                } else {
                    assert_ne!(ran.error(), 0, "{what}");
                    // Within two windows of a second.
                    assert!((3000..=3200).contains(&ran.count()), "{what}: {}", ran.count());
                    let text = &ran.result.failure.as_ref().unwrap().1;
                    assert!(text.contains(least.split_once('=').unwrap().0), "{text}");
                }
            }
        }
    }
}

#[test]
fn what_is_read_back_has_no_least_rate_for_writes() {
    // Two seconds of writing, and two of reading back.
    let job = "rw=write\nbs=4k\nsize=8m\nverify=crc32c\nrate_min=1m";
    let ran = Machine::new(job, always(MS)).storing(&Default::default()).inline().run();
    assert_eq!(ran.error(), 0, "{:?}", ran.result.failure);
    assert_eq!(ran.count(), 4096);
}

#[test]
fn a_latency_over_the_limit_ends_a_job_with_its_place() {
    for (depth, inline) in [(1, true), (16, false)] {
        let run = |limit: &str| {
            let script = |request: &Request, _| (if request.offset == 80 << 10 { 5 * MS } else { MS }, Answer::All);
            let machine =
                Machine::new(&format!("rw=read\nbs=4k\nsize=4m\niodepth={depth}\nmax_latency={limit}"), script);
            if inline { machine.inline() } else { machine }.run()
        };
        let ran = run("4ms");
        assert_eq!((ran.error(), ran.left), (ETIME, 0));
        assert_eq!(ran.failed(), [("latency", 80 << 10, ETIME)]);
        assert!(ran.count() < 200);
        let text = &ran.result.tally.failed[0].text;
        assert!(text.contains("5000 usec") && text.contains("4000 usec"), "{text}");
        let ran = run("5ms");
        assert_eq!((ran.error(), ran.count()), (0, 1024));
    }
}

#[test]
fn an_engine_that_completes_what_is_pushed_hears_a_stop_and_the_time() {
    let job = "rw=randread\nbs=4k\nsize=64m\niodepth=64\niodepth_batch=64";
    let mut machine = Machine::new(job, always(0)).at_once(|_| true);
    let signals = Arc::clone(&machine.signals);
    machine.script(move |_: &Request, number| {
        if number == 1000 {
            signals.stop.store(true, Ordering::Relaxed);
        }
        (1000, Answer::All)
    });
    let ran = machine.run();
    assert!(ran.result.stopped);
    assert_eq!(ran.count(), 1001);
    let ran = Machine::new(&format!("{job}\nruntime=1ms"), always(1000)).at_once(|_| true).run();
    assert_eq!((ran.error(), ran.count()), (0, 1000));
}

#[test]
fn a_job_that_thinks_at_work_hears_a_stop_and_the_time() {
    let job = "rw=read\nbs=4k\nsize=1m\nthinktime=100s\nthinktime_spin=100s";
    for inline in [true, false] {
        let mut machine = Machine::new(job, always(0));
        let signals = Arc::clone(&machine.signals);
        machine.script(move |_: &Request, _| {
            signals.stop.store(true, Ordering::Relaxed);
            (1000, Answer::All)
        });
        let ran = if inline { machine.inline() } else { machine }.run();
        assert!(ran.result.stopped && ran.count() == 1);
        assert!(ran.result.end_ns < MS, "{}", ran.result.end_ns);
        let machine = Machine::new(&format!("{job}\nruntime=10ms"), always(MS));
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!((ran.count(), ran.error()), (1, 0));
        assert!((10 * MS..11 * MS).contains(&ran.result.end_ns), "{}", ran.result.end_ns);
    }
}

#[test]
fn every_kind_of_access_has_to_keep_to_the_limit() {
    let slow = |request: &Request, _: u64| (if request.offset == 20 << 10 { 5 * MS } else { MS }, Answer::All);
    let pieces = |request: &Request, _: u64| (2 * MS, Answer::Bytes(request.bytes.min(2048)));
    for inline in [true, false] {
        let check = |job: &str, machine: Machine| {
            let ran = if inline { machine.inline() } else { machine }.run();
            assert_eq!(ran.error(), ETIME, "{job} {inline}: {:?}", ran.failed());
            ran
        };
        let of = |job: &str| format!("bs=4k\nsize=40k\nmax_latency=3ms\n{job}");
        let ran = check("trim", Machine::new(&of("rw=trim"), slow));
        assert_eq!(ran.failed(), [("latency", 20 << 10, ETIME)]);
        // Twice 2 ms.
        let ran = check("pieces", Machine::new(&of("rw=read"), pieces));
        assert_eq!(ran.failed(), [("latency", 0, ETIME)]);
        // A read that checks what was written.
        let reads = |request: &Request, _: u64| {
            let is_slow = request.kind == flashmark_core::queue::IoKind::Read && request.offset == 20 << 10;
            (if is_slow { 5 * MS } else { MS }, Answer::All)
        };
        let ran = check("verify", Machine::new(&of("rw=write\nverify=crc32c"), reads).storing(&Default::default()));
        assert_eq!(ran.failed(), [("latency", 20 << 10, ETIME)]);
    }
}
