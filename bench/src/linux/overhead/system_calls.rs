//! The runner on a real target whose data is all in memory, against a loop of the same system calls at the same offsets
//! with the same buffer, written by hand.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use flashmark_core::order::Offsets;
use flashmark_core::runner::{Meters, Runner};
use flashmark_core::workload::{Data, Direct, Order, Workload};
use flashmark_host::buffer::AlignedBuffer;
use flashmark_host::clock::MonotonicClock;
use flashmark_host::consent::ConsentArgs;
use flashmark_host::target::HostTarget;

use super::{Watcher, run};
use crate::linux::failure::Failure;
use crate::linux::media;
use crate::linux::report::{Cell, Table};
use crate::linux::rounds::{Rounds, Spread, Variant};

const OPS: u64 = 100_000;
/// Small enough for the second-level cache of most CPUs, so that memory's own swings do not cover the difference.
const FILE_BYTES: u64 = 512 << 10;

struct Case {
    name: &'static str,
    write: bool,
    order: Order,
    order_name: &'static str,
    block_bytes: u32,
    data: Data,
}

fn cases() -> Vec<Case> {
    let case = |write, (order_name, order), block_bytes, data: Data| Case {
        name: match (write, &data) {
            (false, _) => "pread",
            (true, Data::Zeros) => "pwrite of zeros",
            (true, _) => "pwrite of random data",
        },
        write,
        order,
        order_name,
        block_bytes,
        data,
    };
    let [sequential, random, ..] = super::ORDERS;
    vec![
        case(false, sequential, 512, Data::Zeros),
        case(false, random, 512, Data::Zeros),
        case(false, sequential, 4096, Data::Zeros),
        case(false, random, 4096, Data::Zeros),
        case(true, sequential, 4096, Data::Zeros),
        case(true, random, 4096, Data::Random),
    ]
}

/// The table, and the dearest row's nanoseconds an operation.
pub(super) fn measure(rounds: u32) -> Result<(Table, Spread), Failure> {
    let dir = media::directory(Path::new(media::IN_MEMORY))?;
    let file = dir.path().join("file");
    media::filled_file(&file, FILE_BYTES)?;
    let mut rows = Vec::new();
    let mut worst = Spread { median: f64::NEG_INFINITY, low: f64::NAN, high: f64::NAN };
    for case in cases() {
        let figures = one_case(&case, dir.path(), &file, rounds)?;
        let over_bare = figures.pairs(2, 0, |flashmark, bare| flashmark - bare);
        let over_timed = figures.pairs(2, 1, |flashmark, timed| flashmark - timed);
        worst = worst.worse(over_bare);
        rows.push(vec![
            case.name.into(),
            case.order_name.into(),
            Cell::Number(f64::from(case.block_bytes), 0),
            Cell::Number(figures.of(0).median, 1),
            Cell::Number(figures.of(1).median, 1),
            Cell::Number(figures.of(2).median, 1),
            Cell::Number(over_bare.median, 1),
            Cell::Number(over_bare.low, 1),
            Cell::Number(over_bare.high, 1),
            Cell::Number(over_timed.median, 1),
        ]);
    }
    let table = Table {
        title: format!(
            "a file of {} KiB in {}: {OPS} operations a round, {rounds} rounds; medians",
            FILE_BYTES >> 10,
            media::IN_MEMORY
        ),
        columns: vec![
            "call",
            "order",
            "block B",
            "bare ns",
            "timed ns",
            "flashmark ns",
            "over bare ns",
            "25 %",
            "75 %",
            "over timed ns",
        ],
        rows,
        note: "bare: the system calls alone; timed: each of them between two looks at the clock, and the sum; flashmark: \
               the runner on its engine `sync`. Differences are medians over the rounds.",
    };
    Ok((table, worst))
}

fn one_case(case: &Case, dir: &Path, file: &Path, rounds: u32) -> Result<Rounds, Failure> {
    let workload = Workload {
        read_percent: if case.write { 0 } else { 100 },
        order: case.order,
        block_bytes: case.block_bytes,
        file_bytes: Some(FILE_BYTES),
        size_bytes: Some(OPS * u64::from(case.block_bytes)),
        data: case.data.clone(),
        direct: Direct::Buffered,
        ..Workload::named("overhead")
    };
    let buffer = AlignedBuffer::new(1 << 20).ok_or(io::ErrorKind::OutOfMemory.into());
    let buffer = RefCell::new(buffer.map_err(Failure::io("allocating a buffer"))?);
    let opened = OpenOptions::new().read(true).write(true).open(file);
    let opened = opened.map_err(Failure::io(format!("opening {}", file.display())))?;
    let offsets: Vec<u64> = {
        let blocks = FILE_BYTES / u64::from(case.block_bytes);
        let mut offsets = Offsets::new(case.order, blocks, case.block_bytes, workload.seed);
        (0..OPS).map(|_| offsets.next_offset()).collect()
    };

    // Writing needs a file of flashmark's own; reading takes the one of the bare loop.
    let path = if case.write { dir } else { file };
    let mut target = HostTarget::open(path, &no_consent(), case.write, false)?;
    target.begin(&workload)?;
    let mut meters = Meters::boxed();
    let mut flashmark = || {
        let buf = &mut buffer.borrow_mut();
        let mut watcher = Watcher::default();
        let mut runner = Runner::new(MonotonicClock, buf, &mut meters);
        let start = Instant::now();
        run(&mut runner, &workload, &mut target, &mut watcher)?;
        Ok(ns_per_op(start))
    };
    let by_hand = |timed: bool| {
        let buf = &mut buffer.borrow_mut();
        // Random data comes from one place after the other, as flashmark takes it, so that both copy from as far away.
        let len = if case.write && case.data == Data::Random { buf.len() } else { case.block_bytes as usize };
        let mut blocks = Blocks { pool: &mut buf[..len], block: case.block_bytes as usize, next: 0 };
        let start = Instant::now();
        let result = match (timed, case.write) {
            (false, false) => bare(&opened, &offsets, &mut blocks, read),
            (false, true) => bare(&opened, &offsets, &mut blocks, write),
            (true, false) => with_clock(&opened, &offsets, &mut blocks, read),
            (true, true) => with_clock(&opened, &offsets, &mut blocks, write),
        };
        result.map_err(Failure::io("the loop by hand"))?;
        Ok(ns_per_op(start))
    };
    let mut variants: [Variant<'_>; 3] =
        [Box::new(|| by_hand(false)), Box::new(|| by_hand(true)), Box::new(&mut flashmark)];
    Rounds::run(rounds, &mut variants)
}

/// Only an argument parser makes consent, also the lack of it.
fn no_consent() -> ConsentArgs {
    #[derive(clap::Parser)]
    struct Nothing {
        #[command(flatten)]
        consent: ConsentArgs,
    }
    <Nothing as clap::Parser>::parse_from(["flashmark-bench"]).consent
}

fn ns_per_op(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / OPS as f64
}

fn read(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buf, offset)
}

fn write(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.write_at(buf, offset)
}

/// The memory of a loop by hand.
struct Blocks<'b> {
    pool: &'b mut [u8],
    block: usize,
    next: usize,
}

impl Blocks<'_> {
    #[inline]
    fn next_block(&mut self) -> &mut [u8] {
        let at = if self.next + self.block <= self.pool.len() { self.next } else { 0 };
        self.next = at + self.block;
        &mut self.pool[at..at + self.block]
    }
}

fn bare(
    file: &File,
    offsets: &[u64],
    blocks: &mut Blocks<'_>,
    call: impl Fn(&File, &mut [u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    for offset in offsets {
        if call(file, blocks.next_block(), *offset)? != blocks.block {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

fn with_clock(
    file: &File,
    offsets: &[u64],
    blocks: &mut Blocks<'_>,
    call: impl Fn(&File, &mut [u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    let mut sum_ns = 0;
    for offset in offsets {
        let block = blocks.next_block();
        let start = Instant::now();
        let moved = call(file, block, *offset)?;
        sum_ns += start.elapsed().as_nanos();
        if moved != blocks.block {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    // So that the compiler cannot find the clock useless.
    std::hint::black_box(sum_ns);
    Ok(())
}
