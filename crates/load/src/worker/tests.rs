//! The loops in virtual time, with an engine that does what a script says.

mod checks;
mod depth;
mod faults;
mod latencies;
mod scripted;
mod stops;

use flashmark_core::queue::{IoKind, Request};
use scripted::{Answer, Machine};

/// Every operation takes this long, in nanoseconds.
fn always(ns: u64) -> impl FnMut(&Request, u64) -> (u64, Answer) + Send + 'static {
    move |_, _| (ns, Answer::All)
}

/// Whether an operation is a sync of any kind.
fn is_sync(request: &Request) -> bool {
    matches!(request.kind, IoKind::Sync | IoKind::DataSync | IoKind::RangeSync(_))
}

#[test]
fn an_engine_that_has_to_be_told_does_all_of_the_work_too() {
    let ran = Machine::new("rw=randrw\nbs=4k\nsize=400k", always(1000)).gathering().run();
    assert_eq!((ran.count(), ran.bytes(), ran.left), (100, 400 << 10, 0));
    let read = ran.result.tally.direction(crate::accesses::Direction::Read);
    assert_eq!((read.completion.min_ns(), read.completion.max_ns(), read.submission.count()), (1000, 1000, 0));
}

#[test]
fn every_loop_does_all_of_the_work() {
    for (depth, inline) in [(1, true), (1, false), (7, false), (64, false)] {
        for rw in ["read", "randwrite", "randrw", "trim"] {
            let machine = Machine::new(&format!("rw={rw}\nbs=4k\nsize=400k\niodepth={depth}"), always(1000));
            let ran = if inline { machine.inline() } else { machine }.run();
            assert!(ran.result.failure.is_none() && !ran.result.stopped);
            assert_eq!((ran.count(), ran.bytes()), (100, 400 << 10), "{rw} at depth {depth}");
            assert_eq!(ran.log.pushed.len(), 100);
        }
    }
}
