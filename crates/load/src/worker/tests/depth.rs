//! How full the queue is kept, what is moved together, and what has to wait for what.

use flashmark_core::queue::{IoKind, Request};

use super::scripted::{Answer, Machine};
use super::{always, is_sync};

#[test]
fn the_queue_is_full_and_its_levels_are_counted() {
    let ran =
        Machine::new("rw=read\nbs=4k\nsize=64k\niodepth=4\niodepth_batch=4\niodepth_batch_complete=4", always(100));
    let ran = ran.run();
    let tally = &ran.result.tally;
    assert_eq!(ran.log.most, 4);
    // Four times 1, 2, 3, 4.
    assert_eq!(tally.depth_levels, [4, 8, 4, 0, 0, 0, 0]);
    assert_eq!((ran.log.submitted.as_slice(), tally.submit_batches), ([4; 4].as_slice(), [0, 4, 0, 0, 0, 0, 0]));
    assert_eq!((ran.log.reaped.as_slice(), tally.complete_batches), ([4; 4].as_slice(), [0, 4, 0, 0, 0, 0, 0]));
}

#[test]
fn batches_are_as_large_as_the_job_says() {
    let ran = Machine::new(
        "rw=read\nbs=4k\nsize=4m\niodepth=32\niodepth_batch_submit=16\niodepth_batch_complete_min=8\n\
         iodepth_batch_complete_max=12",
        |_, number| (100 + number % 7, Answer::All),
    );
    let ran = ran.run();
    assert_eq!(ran.count(), 1024);
    assert_eq!(ran.log.most, 32);
    assert!(ran.log.submitted.iter().all(|taken| (1..=16).contains(taken)), "{:?}", ran.log.submitted);
    assert_eq!(ran.log.submitted[..2], [16, 16]);
    let last = ran.log.reaped.len() - 4;
    assert!(ran.log.reaped[..last].iter().all(|reaped| (8..=12).contains(reaped)), "{:?}", ran.log.reaped);
}

#[test]
fn a_low_mark_is_reached_before_the_queue_is_filled_again() {
    let ran = Machine::new("rw=read\nbs=4k\nsize=400k\niodepth=8\niodepth_low=2", |_, number| {
        (100 + 10 * (number % 5), Answer::All)
    });
    let ran = ran.run();
    assert_eq!((ran.count(), ran.log.most), (100, 8));
    let levels: Vec<u32> = ran.log.pushed.iter().map(|(.., under_way)| *under_way).collect();
    for pair in levels.windows(2) {
        assert!(pair[1] == pair[0] + 1 || pair[0] == 7 && pair[1] <= 2, "{levels:?}");
    }
    assert!(levels.windows(2).any(|pair| pair == [7, 2]), "{levels:?}");
}

#[test]
fn without_a_least_batch_nothing_is_waited_for_until_the_queue_is_full() {
    let job = "rw=read\nbs=4k\nsize=64k\niodepth=4\niodepth_batch_complete_min=0";
    let ran = Machine::new(job, always(10)).submits_in(20).run();
    assert_eq!(ran.count(), 16);
    // Each is complete by the time that the next one is submitted.
    assert!(ran.log.most <= 2, "{}", ran.log.most);
}

/// Kinds in the order in which they were pushed, as a text: `w`, and `s`, `d`, `r` for syncs.
fn kinds(ran: &super::scripted::Ran) -> String {
    let letter = |request: &Request| match request.kind {
        IoKind::Read => 'R',
        IoKind::Write => 'w',
        IoKind::Trim => 't',
        IoKind::Sync => 's',
        IoKind::DataSync => 'd',
        IoKind::RangeSync(_) => 'r',
    };
    ran.log.pushed.iter().map(|(request, ..)| letter(request)).collect()
}

#[test]
fn syncs_come_after_their_writes_and_before_the_next_ones() {
    for (depth, inline) in [(1, true), (1, false), (8, false)] {
        let run = |options: &str| {
            let job = format!("rw=write\nbs=4k\nsize=48k\niodepth={depth}\n{options}");
            let machine = Machine::new(&job, |_, number| (100 + number * 7 % 50, Answer::All));
            let ran = if inline { machine.inline() } else { machine }.run();
            for (_, _, under_way) in ran.log.pushed.iter().filter(|(request, ..)| is_sync(request)) {
                assert_eq!(*under_way, 0, "{options}: it waits for what is under way");
            }
            kinds(&ran)
        };
        assert_eq!(run("fsync=4"), "wwwwswwwwswwwws");
        assert_eq!(run("fdatasync=5"), "wwwwwdwwwwwdww");
        // As in fio, a sync that has to be done anyway stands for the lesser one of the same write.
        assert_eq!(run("fsync=4\nfdatasync=2"), "wwdwwswwdwwswwdwws");
        assert_eq!(run("end_fsync=1"), "wwwwwwwwwwwws");
        assert_eq!(run("sync_file_range=write:6"), "wwwwwwrwwwwwwr");
    }
}

#[test]
fn a_range_sync_has_the_range_that_was_written() {
    let ran =
        Machine::new("rw=write\nbs=4k\nsize=32k\nsync_file_range=wait_before,write:4\niodepth=4", always(9)).run();
    let ranges: Vec<(u64, u32)> = ran
        .log
        .pushed
        .iter()
        .filter(|(request, ..)| is_sync(request))
        .map(|(request, ..)| (request.offset, request.bytes))
        .collect();
    assert_eq!(ranges, [(0, 16 << 10), (16 << 10, 16 << 10)]);
}

#[test]
fn each_file_has_a_range_of_its_own() {
    // Two files in turns: of each half is written between two syncs of it.
    let job = "rw=write\nbs=4k\nsize=32k\nsync_file_range=write:3";
    let ran = Machine::new(job, always(9)).files(2).inline().run();
    let mut written = [const { Vec::new() }; 2];
    let mut syncs = 0;
    for (request, ..) in &ran.log.pushed {
        let of_file: &mut Vec<u64> = &mut written[request.file as usize];
        if is_sync(request) {
            syncs += 1;
            let (first, last) = (*of_file.iter().min().unwrap(), *of_file.iter().max().unwrap());
            assert_eq!((request.offset, u64::from(request.bytes)), (first, last + 4096 - first));
            of_file.clear();
        } else {
            of_file.push(request.offset);
        }
    }
    assert_eq!(syncs, ran.count() / 3);
    let files: std::collections::BTreeSet<u32> =
        ran.log.pushed.iter().filter(|(request, ..)| is_sync(request)).map(|(request, ..)| request.file).collect();
    assert_eq!(files.len(), 2);
}

#[test]
fn thinking_is_no_work() {
    let job = "rw=read\nbs=4k\nsize=24k\nthinktime=1000\nthinktime_blocks=2";
    let ran = Machine::new(job, always(5000)).inline().run();
    let ms = 1_000_000;
    let second = 10_000 + ms;
    assert_eq!(ran.starts_ns(), [0, 5000, second, second + 5000, 2 * second, 2 * second + 5000]);
    // Part of it at work, part of it asleep, is as long.
    let spun = Machine::new(&format!("{job}\nthinktime_spin=300"), always(5000)).inline().run();
    assert_eq!(spun.starts_ns(), ran.starts_ns());
    // With a queue, all that is under way is waited for first.
    let ran = Machine::new(&format!("{job}\niodepth=2"), always(5000)).run();
    assert_eq!(ran.count(), 6);
    assert_eq!(ran.starts_ns()[2], 5000 + ms);
    assert!(ran.log.pushed[2].2 == 0 && ran.log.pushed[4].2 == 0);
}

#[test]
fn a_pause_moves_the_intended_starts_unless_it_is_to_be_ignored() {
    let job = "rw=read\nbs=4k\nsize=16k\nrate_iops=1000\nthinktime=10000\nthinktime_blocks=2";
    let ms = |starts: Vec<u64>| starts.iter().map(|ns| ns / 1_000_000).collect::<Vec<_>>();
    let ran = Machine::new(job, always(1000)).inline().run();
    // The pause begins when the second one is done, at 1 ms.
    assert_eq!(ms(ran.starts_ns()), [0, 1, 12, 13]);
    let ran = Machine::new(&format!("{job}\nrate_ignore_thinktime=1"), always(1000)).inline().run();
    assert_eq!(ms(ran.starts_ns()), [0, 1, 11, 11]);
}

/// How often an operation was pushed while another one on the same bytes was under way; each takes as long as all others.
fn overlaps(options: &str) -> usize {
    let job = format!("rw=randwrite\nnorandommap\nbs=4k\nsize=16k\nio_size=1m\niodepth=8\n{options}");
    let ran = Machine::new(&job, always(1000)).run();
    assert_eq!(ran.count(), 256);
    let mut count = 0;
    for (index, (request, now, _)) in ran.log.pushed.iter().enumerate() {
        let others = ran.log.pushed[..index].iter().filter(|(_, start, _)| start + 1000 > *now);
        count += others.filter(|(other, ..)| other.offset == request.offset).count();
    }
    count
}

#[test]
fn overlapping_accesses_are_put_in_order_if_asked() {
    assert!(overlaps("") > 100);
    assert_eq!(overlaps("serialize_overlap=1"), 0);
}
