//! The runner on a target that does nothing: all that remains is its own time.

use std::time::Instant;

use flashmark_core::clock::Clock;
use flashmark_core::runner::{Meters, Runner};
use flashmark_core::target::{Contents, Fault, OpenAs, Ownership, Target};
use flashmark_core::workload::{Order, Workload};
use flashmark_host::clock::MonotonicClock;

use super::{ORDERS, Watcher, run};
use crate::linux::failure::Failure;
use crate::linux::report::{Cell, Table};
use crate::linux::rounds::{Rounds, Spread, Variant};

const BLOCK_BYTES: u32 = 4096;
const OPS: u64 = 20_000;
/// 64 GiB of blocks.
const REGION_BYTES: u64 = 64 << 30;

/// The table, and the nanoseconds an operation of the dearest row that is the runner's and the histogram's alone.
pub(super) fn measure(rounds: u32) -> Result<(Table, Spread), Failure> {
    let mut rows = Vec::new();
    let mut worst = Spread { median: f64::NEG_INFINITY, low: f64::NAN, high: f64::NAN };
    for (op, read_percent) in [("read", 100), ("write", 0), ("50 % reads", 50)] {
        for (name, order) in ORDERS {
            let workload = workload(order, read_percent);
            let (mut buf, mut again) = (vec![0; 2 * BLOCK_BYTES as usize], vec![0; 2 * BLOCK_BYTES as usize]);
            let (mut meters, mut more_meters) = (Meters::boxed(), Meters::boxed());
            let mut variants: [Variant<'_>; 2] = [
                Box::new(|| one_round(MonotonicClock, &workload, &mut buf, &mut meters)),
                Box::new(|| one_round(Stopped, &workload, &mut again, &mut more_meters)),
            ];
            let rounds = Rounds::run(rounds, &mut variants)?;
            let (whole, clockless) = (rounds.of(0), rounds.of(1));
            let clock = rounds.pairs(0, 1, |whole, clockless| whole - clockless);
            // Drawing from a law is the workload's own work, shown beside that of the runner.
            if !matches!(order, Order::Zipf { .. }) {
                worst = worst.worse(whole);
            }
            rows.push(vec![
                op.into(),
                name.into(),
                Cell::Number(whole.median, 1),
                Cell::Number(whole.low, 1),
                Cell::Number(whole.high, 1),
                Cell::Number(clockless.median, 1),
                Cell::Number(clock.median, 1),
            ]);
        }
    }
    let table = Table {
        title: format!("null target: {OPS} operations a round, {rounds} rounds, no verification; medians"),
        columns: vec!["operation", "order", "ns/op", "25 %", "75 %", "clock stopped ns/op", "clock ns/op"],
        rows,
        note: "ns/op is all that the runner does, its two looks at the clock included; \"clock stopped\" is the same \
               without them. zipf is shown and not judged: drawing from a law is work that the workload asks for.",
    };
    Ok((table, worst))
}

fn workload(order: Order, read_percent: u8) -> Workload {
    Workload {
        order,
        read_percent,
        block_bytes: BLOCK_BYTES,
        file_bytes: Some(REGION_BYTES),
        size_bytes: Some(OPS * u64::from(BLOCK_BYTES)),
        ..Workload::named("null")
    }
}

/// Nanoseconds an operation.
fn one_round<C: Clock>(clock: C, workload: &Workload, buf: &mut [u8], meters: &mut Meters) -> Result<f64, Failure> {
    let mut watcher = Watcher::default();
    let mut runner = Runner::new(clock, buf, meters);
    let start = Instant::now();
    run(&mut runner, workload, &mut Null, &mut watcher)?;
    Ok(start.elapsed().as_nanos() as f64 / OPS as f64)
}

/// A clock that costs nothing.
struct Stopped;

impl Clock for Stopped {
    #[inline]
    fn now_ns(&self) -> u64 {
        0
    }

    fn sleep_ns(&self, _: u64) {}
}

/// A target without a medium, that moves nothing and says that it did.
struct Null;

impl Target for Null {
    fn open(&mut self, _: OpenAs) -> Result<(), Fault> {
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    // Not inlined, so that it is a call as a real target's is, and nothing of the loop is optimised away for it.
    #[inline(never)]
    fn read(&mut self, _: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        Ok(buf.len())
    }

    #[inline(never)]
    fn write(&mut self, _: u64, data: &[u8]) -> Result<usize, Fault> {
        Ok(data.len())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn len_bytes(&mut self) -> Result<u64, Fault> {
        Ok(REGION_BYTES)
    }

    fn truncate(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn contents(&self) -> Contents {
        Contents::default()
    }

    fn set_contents(&mut self, _: Contents) {}

    // What is not its own is not laid out.
    fn ownership(&self) -> Ownership {
        Ownership::Given
    }
}
