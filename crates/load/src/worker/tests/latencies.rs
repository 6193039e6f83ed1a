//! Latencies, to the nanosecond.

use super::scripted::{Answer, Files, Machine, Ran};
use super::{always, is_sync};
use crate::accesses::Direction;
use flashmark_core::histogram::Histogram;
use flashmark_core::queue::IoKind;

/// Count, minimum, maximum and sum, which are exact.
fn exact(histogram: &Histogram) -> (u64, u64, u64, u128) {
    (histogram.count(), histogram.min_ns(), histogram.max_ns(), histogram.sum_ns())
}

fn reads(ran: &Ran) -> &crate::tally::DirectionTally {
    ran.result.tally.direction(Direction::Read)
}

#[test]
fn submission_completion_and_total_are_told_apart() {
    let ran = Machine::new("rw=read\nbs=4k\nsize=40k", |_, number| (5000 + number, Answer::All)).submits_in(300).run();
    let read = reads(&ran);
    assert_eq!(exact(&read.submission), (10, 300, 300, 3000));
    assert_eq!(exact(&read.completion), (10, 5000, 5009, 50_045));
    assert_eq!(exact(&read.total), (10, 5300, 5309, 53_045));
    assert_eq!(exact(&read.from_intended), (0, 0, 0, 0));
    assert_eq!((read.runtime_ns, ran.result.end_ns), (53_045, 53_045));
}

#[test]
fn an_engine_that_completes_what_it_is_given_has_no_submission() {
    let ran = Machine::new("rw=read\nbs=4k\nsize=16k", |_, number| (100 << number, Answer::All)).inline().run();
    assert_eq!(exact(&reads(&ran).completion), (4, 100, 800, 1500));
    assert_eq!(reads(&ran).submission.count(), 0);
}

#[test]
fn operations_that_overtake_each_other_have_their_own_latencies() {
    let times = [400, 300, 200, 100];
    let job = "rw=read\nbs=4k\nsize=16k\niodepth=4\niodepth_batch=4";
    let ran = Machine::new(job, move |_, number| (times[number as usize], Answer::All)).submits_in(50).run();
    assert_eq!(exact(&reads(&ran).completion), (4, 100, 400, 1000));
    assert_eq!(exact(&reads(&ran).total), (4, 150, 450, 1200));
    // Whoever waits for all of them sees all of them when the last one is complete.
    let ran = Machine::new(&format!("{job}\niodepth_batch_complete_min=4"), move |_, number| {
        (times[number as usize], Answer::All)
    });
    assert_eq!(exact(&reads(&ran.run()).completion), (4, 400, 400, 1600));
}

#[test]
fn one_by_one_each_waits_for_those_before_it_to_be_submitted() {
    // Pushed one at a time: the second one begins when the first one's submission is over.
    let ran = Machine::new("rw=read\nbs=4k\nsize=8k\niodepth=2", always(1000)).submits_in(100).run();
    assert_eq!(ran.starts_ns(), [0, 100]);
    assert_eq!(exact(&reads(&ran).total), (2, 1100, 1100, 2200));
}

#[test]
fn a_rate_counts_from_the_intended_start() {
    let script = |_: &_, number| (if number == 0 { 5_000_000 } else { 10_000 }, Answer::All);
    let ran = Machine::new("rw=read\nbs=4k\nsize=40k\nrate_iops=1000", script).inline().run();
    // The first one takes five milliseconds. Those meant for 1 to 4 ms wait for it and then follow each other, and so
    // does the one meant for 5 ms; the others are on time.
    let starts: Vec<u64> = [0, 5000, 5010, 5020, 5030, 5040, 6000, 7000, 8000, 9000].map(|us: u64| us * 1000).into();
    assert_eq!(ran.starts_ns(), starts);
    let from_intended = [5000_u64, 4010, 3020, 2030, 1040, 50, 10, 10, 10, 10].map(|us| us * 1000);
    let sum = from_intended.iter().map(|ns| u128::from(*ns)).sum();
    assert_eq!(exact(&reads(&ran).from_intended), (10, 10_000, 5_000_000, sum));
    assert_eq!(exact(&reads(&ran).completion), (10, 10_000, 5_000_000, 5_090_000));
}

#[test]
fn a_rate_with_a_queue_is_kept_while_others_are_under_way() {
    let script = |_: &_, number| (if number == 0 { 50_000_000 } else { 10_000 }, Answer::All);
    let ran = Machine::new("rw=read\nbs=4k\nsize=40k\nrate_iops=1000\niodepth=4", script).run();
    let starts: Vec<u64> = (0..10).map(|ms| ms * 1_000_000).collect();
    assert_eq!(ran.starts_ns(), starts);
    assert_eq!(exact(&reads(&ran).from_intended), (10, 10_000, 50_000_000, 50_090_000));
}

#[test]
fn each_direction_of_a_mix_has_its_rate() {
    // Twice as many reads as writes, and a mix of 50 each does not hold either of them up.
    for (rw, inline) in [("rw", true), ("randrw", true), ("randrw", false)] {
        let job = format!("rw={rw}\nbs=1000\nsize=40000\nio_size=60000\nnorandommap\nrate=1000000,500000\niodepth=2");
        let machine = Machine::new(&job, always(1));
        let ran = if inline { machine.inline() } else { machine }.run();
        for (kind, count, gap) in [(IoKind::Read, 40, 1_000_000), (IoKind::Write, 20, 2_000_000)] {
            let starts: Vec<u64> =
                ran.log.pushed.iter().filter(|(request, ..)| request.kind == kind).map(|(_, now, _)| *now).collect();
            assert_eq!(starts.len(), count, "{kind:?} of {rw}");
            for (index, start) in starts.iter().enumerate() {
                let intended = index as u64 * gap;
                assert!((intended..intended + 10_000).contains(start), "{kind:?} {index} of {rw} at {start}");
            }
        }
    }
}

#[test]
fn a_mix_that_is_read_back_keeps_its_order() {
    let job = "rw=randrw\nbs=1000\nsize=40000\nverify=crc32c\nrate=1000000,500000";
    let ran = Machine::new(job, always(1)).storing(&Files::default()).inline().run();
    assert_eq!((ran.error(), ran.result.wrong_count), (0, 0));
}

#[test]
fn a_sync_has_a_latency_of_its_own() {
    let script = |request: &_, _| (if is_sync(request) { 70_000 } else { 1000 }, Answer::All);
    for (depth, inline) in [(1, true), (4, false)] {
        let machine = Machine::new(&format!("rw=write\nbs=4k\nsize=64k\nfsync=8\niodepth={depth}"), script);
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!(exact(&ran.result.tally.syncs), (2, 70_000, 70_000, 140_000));
        assert_eq!(ran.result.tally.direction(Direction::Write).completion.count(), 16);
    }
}

#[test]
fn a_transfer_in_pieces_is_one_access() {
    // 4096 bytes as 1000, 1000 and the rest; the second access is whole.
    let script = |request: &flashmark_core::queue::Request, number| {
        (1000, if number < 2 { Answer::Bytes(1000) } else { Answer::Bytes(request.bytes) })
    };
    for (depth, inline) in [(1, true), (1, false), (2, false)] {
        let machine = Machine::new(&format!("rw=read\nbs=4k\nsize=8k\niodepth={depth}"), script);
        let ran = if inline { machine.inline() } else { machine }.run();
        let read = reads(&ran);
        assert_eq!((read.count, read.bytes, read.short), (2, 8192, 2), "depth {depth}");
        assert_eq!(read.completion.max_ns(), if depth == 1 { 3000 } else { 2000 }, "{depth} {inline}");
    }
}

#[test]
fn what_is_complete_when_it_is_pushed_has_its_own_latency() {
    // All of them, and every other one between those that are queued.
    for job in ["rw=trim", "rw=read", "rw=randtrim\niodepth_batch=1", "rw=read\niodepth_batch=3"] {
        let machine = Machine::new(&format!("bs=4k\nsize=400k\niodepth=16\n{job}"), always(1000)).at_once(|_| true);
        let ran = machine.run();
        let direction = if job.contains("trim") { Direction::Trim } else { Direction::Read };
        assert_eq!(exact(&ran.result.tally.direction(direction).completion), (100, 1000, 1000, 100_000), "{job}");
        assert_eq!(ran.result.end_ns, 100_000);
    }
    let job = "rw=read\nbs=4k\nsize=64k\niodepth=16\niodepth_batch=16";
    let script = |request: &flashmark_core::queue::Request, _| {
        (if (request.offset >> 12).is_multiple_of(2) { 1000 } else { 50_000 }, Answer::All)
    };
    let ran = Machine::new(job, script).at_once(|request| (request.offset >> 12).is_multiple_of(2)).run();
    // Those that are queued begin where their batch goes on; they are seen when the others are done.
    let completion = &reads(&ran).total;
    assert_eq!((completion.count(), completion.min_ns()), (16, 1000));
    assert!(completion.max_ns() <= 58_000, "{}", completion.max_ns());
    assert!(completion.sum_ns() <= 8 * 1000 + 8 * 58_000, "{}", completion.sum_ns());
}

#[test]
fn making_data_is_no_part_of_a_latency() {
    for data in ["refill_buffers=1", "verify=crc32c\ndo_verify=0"] {
        for (depth, batch, inline) in [(1, 1, true), (1, 1, false), (8, 1, false), (8, 8, false)] {
            let job = format!("rw=write\nbs=4k\nsize=64k\niodepth={depth}\niodepth_batch={batch}\n{data}");
            let machine = Machine::new(&job, always(1000)).submits_in(10).fills_in(700);
            let ran = if inline { machine.inline() } else { machine }.run();
            let write = ran.result.tally.direction(Direction::Write);
            if inline {
                assert_eq!(exact(&write.completion), (16, 1000, 1000, 16_000), "{data}");
                continue;
            }
            assert_eq!(exact(&write.submission), (16, 10, 10, 160), "{data} {depth} {batch}");
            assert_eq!(write.total.min_ns(), 1010);
            if depth == 1 {
                assert_eq!(exact(&write.completion), (16, 1000, 1000, 16_000), "{data} {depth} {batch}");
            }
        }
    }
}

#[test]
fn a_rate_does_not_make_up_for_the_time_in_which_a_job_read_back() {
    // Ten writes in 10 ms, and then ten reads of 2 ms each.
    let script = |request: &flashmark_core::queue::Request, _| {
        (if request.kind == IoKind::Read { 2_000_000 } else { 1000 }, Answer::All)
    };
    for (more, inline) in
        [("verify_backlog=10", true), ("verify_backlog=10", false), ("loops=5", true), ("loops=5", false)]
    {
        let size = if more.starts_with("loops") { 40 } else { 200 };
        let job = format!("rw=write\nbs=4k\nsize={size}k\nverify=crc32c\nrate_iops=1000\n{more}");
        let machine = Machine::new(&job, script).storing(&Default::default());
        let ran = if inline { machine.inline() } else { machine }.run();
        assert_eq!(ran.error(), 0);
        let writes: Vec<u64> =
            ran.log.pushed.iter().filter(|(request, ..)| request.kind == IoKind::Write).map(|(_, ns, _)| *ns).collect();
        assert_eq!(writes.len(), 50);
        for pair in writes.windows(2) {
            assert!(pair[1] - pair[0] >= 900_000, "{more} {inline}: {pair:?}");
        }
    }
}
