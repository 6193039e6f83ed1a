//! Workloads through queues: what the runner measures with several operations under way.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "the helper is part of the tests")]

use clap::Parser as _;
use flashmark_core::record::{OpKind, Outcome, Status};
use flashmark_core::runner::{BUFFER_ALIGN, Meters, Runner, buffer_bytes};
use flashmark_core::workload::{Direct, Order, SyncPolicy, Verify, Workload};
use flashmark_host::buffer::AlignedBuffer;
use flashmark_host::clock::MonotonicClock;
use flashmark_host::consent::ConsentArgs;
use flashmark_host::target::HostTarget;

#[derive(clap::Parser)]
struct Arguments {
    #[command(flatten)]
    consent: ConsentArgs,
}

struct Nobody;

impl flashmark_core::runner::Observer for Nobody {
    fn stop(&self) -> bool {
        false
    }
}

fn run(workload: &Workload) -> Outcome {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let consent = Arguments::parse_from(["flashmark"]).consent;
    let mut target = HostTarget::open(dir.path(), &consent, true, false).unwrap();
    target.begin(workload).unwrap();
    let mut buffer = AlignedBuffer::new(buffer_bytes(workload).max(BUFFER_ALIGN)).unwrap();
    let mut meters = Meters::boxed();
    let outcome = Runner::new(MonotonicClock, &mut buffer, &mut meters).run(workload, &mut target, &mut Nobody);
    target.finish().unwrap();
    outcome
}

fn mix(engine: &str, depth: u32) -> Workload {
    Workload {
        read_percent: 75,
        order: Order::RandomOnce,
        block_bytes: 4096,
        file_bytes: Some(1 << 20),
        engine: engine.into(),
        queue_depth: depth,
        repeats: 2,
        ..Workload::named("mix")
    }
}

#[test]
fn a_mix_runs_through_every_queue() {
    for (engine, depth) in [("io_uring", 1), ("io_uring", 32), ("libaio", 1), ("libaio", 64)] {
        for direct in [Direct::Auto, Direct::Buffered] {
            let outcome = run(&Workload { direct, ..mix(engine, depth) });
            assert_eq!(outcome.status, Status::Done, "{engine} {depth}: {:?}", outcome.faults);
            let count = |op| outcome.op(op).map_or(0, |stats| stats.count);
            assert_eq!(count(OpKind::Read) + count(OpKind::Write), 512, "{engine} {depth}");
            assert_eq!((outcome.bytes, outcome.repeats.len()), (2 << 20, 2));
            assert!(outcome.repeats.iter().all(|repeat| repeat.min_ns > 0 && repeat.max_ns <= repeat.elapsed_ns));
        }
    }
}

#[test]
fn what_is_written_in_any_order_is_verified() {
    for engine in ["io_uring", "libaio"] {
        let workload = Workload { verify: Verify::Full, sync: SyncPolicy::Every { ops: 10 }, ..mix(engine, 16) };
        let outcome = run(&workload);
        assert_eq!(outcome.status, Status::Done, "{engine}: {:?}", outcome.faults);
        assert!(outcome.verified_bytes > 0);
        // After every ten writes, and after the last ones.
        let count = |op| outcome.op(op).map_or(0, |stats| stats.count);
        let (writes, syncs) = (count(OpKind::Write), count(OpKind::Sync));
        assert!(syncs >= writes / 10 && syncs <= writes / 10 + 2, "{syncs} syncs of {writes} writes");
    }
}

#[test]
fn nothing_is_measured_with_the_null_engine() {
    let outcome = run(&Workload { direct: Direct::Buffered, ..mix("null", 8) });
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    assert_eq!(outcome.bytes, 2 << 20);
}

#[test]
fn time_ends_a_queue() {
    let workload = Workload { time_ns: Some(50_000_000), ..mix("io_uring", 8) };
    let outcome = run(&Workload { size_bytes: Some(1 << 40), repeats: 1, ..workload });
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    assert!(outcome.elapsed_ns >= 50_000_000);
}

#[test]
fn an_engine_without_a_queue_says_which_have_one() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let consent = Arguments::parse_from(["flashmark"]).consent;
    let mut target = HostTarget::open(dir.path(), &consent, true, false).unwrap();
    let fault = target.check(&mix("sync", 4)).unwrap_err();
    assert!(fault.message.contains("io_uring") && fault.message.contains("queue-depth = 4"), "{fault}");
    target.finish().unwrap();
}
