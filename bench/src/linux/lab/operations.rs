//! What one operation of a device takes: of the chip alone, and through all that a board's raw storage has above it.

use flashmark_chips::nor::{self, SECTOR_BYTES};
use flashmark_core::target::Target as _;
use flashmark_core::workload::Workload;
use flashmark_lab::{Board, LabTarget};
use rustix::time::{ClockId, clock_gettime};

use super::Part;
use crate::linux::failure::Failure;
use crate::linux::interrupt;
use crate::linux::report::{Cell, Table};
use crate::linux::rounds::{Rounds, Spread, Variant};

/// What drivers move with one transaction.
const PIECE_BYTES: u64 = 64;
/// Few enough that the chip keeps their memory when it is erased.
const SECTORS: u64 = 16;
const REGION_BYTES: u64 = SECTORS * SECTOR_BYTES as u64;
const PIECES: u64 = REGION_BYTES / PIECE_BYTES;
/// How often the region is programmed, read and erased in a round.
const TURNS: u64 = 16;
const CHIP: &str = "w25q32jv";
const BOARD: &str = "esp32";

pub(super) fn measure(rounds: u32) -> Result<Part, Failure> {
    let mut rows = Vec::new();
    let names = [
        "write enable, program 64 B",
        "read 64 B",
        "write enable, erase 4 KiB",
        "write enable, erase 4 KiB, blank",
        "write enable",
    ];
    for (name, spread) in names.into_iter().zip(chip_alone(rounds)?) {
        rows.push(row("chip", name, spread));
    }
    let through = through_the_board(rounds)?;
    for (nth, name) in ["read 64 B", "program 64 B"].into_iter().enumerate() {
        rows.push(row("wear levelling, driver, bus, chip", name, through.of(nth)));
    }
    let table = Table {
        title: format!("CPU time of an operation: chip {CHIP}, raw storage of {BOARD}; {rounds} rounds; medians"),
        columns: vec!["through", "operation", "CPU ns", "25 %", "75 %"],
        rows,
        note: "Through the board a block of 64 KiB is 1024 reads, or 1024 programs and their share of the erase; each \
               program has the write enable and the status reads that the driver does.",
    };
    Ok((table, Vec::new()))
}

fn row(through: &str, name: &str, spread: Spread) -> Vec<Cell> {
    vec![
        through.into(),
        name.into(),
        Cell::Number(spread.median, 1),
        Cell::Number(spread.low, 1),
        Cell::Number(spread.high, 1),
    ]
}

/// CPU time of this thread, in nanoseconds.
fn thread_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// A chip in the hand of a program that always waits for it.
struct Bare {
    chip: nor::Chip,
}

impl Bare {
    fn now_ns(&self) -> u64 {
        self.chip.busy_until_ns()
    }

    fn write_enable(&mut self) -> Result<(), Failure> {
        self.chip.write_enable(self.now_ns()).map_err(Failure::lab)
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), Failure> {
        self.chip.program(self.now_ns(), address, data).map(drop).map_err(Failure::lab)
    }

    fn read(&mut self, address: u64, buf: &mut [u8]) -> Result<(), Failure> {
        self.chip.read(self.now_ns(), address, buf).map_err(Failure::lab)
    }

    fn erase(&mut self, address: u64) -> Result<(), Failure> {
        self.chip.erase(self.now_ns(), SECTOR_BYTES, address).map(drop).map_err(Failure::lab)
    }
}

/// Programs, reads, erases of what was written, erases of what was blank, write enables; nanoseconds each.
fn chip_alone(rounds: u32) -> Result<[Spread; 5], Failure> {
    let profile = nor::profiles::load(CHIP).map_err(Failure::lab)?;
    let mut bare = Bare { chip: nor::Chip::new(profile, 1).map_err(Failure::lab)? };
    let data: [u8; PIECE_BYTES as usize] = std::array::from_fn(|nth| (nth * 37) as u8);
    let mut buf = data;
    let mut values: [Vec<f64>; 5] = Default::default();
    // One round more, to warm up.
    for round in 0..=rounds {
        interrupt::check()?;
        let mut ns = [0.0; 5];
        for _ in 0..TURNS {
            let mut time = |nth: usize, bare: &mut Bare, work: &mut dyn FnMut(&mut Bare) -> Result<(), Failure>| {
                let start = thread_cpu_ns();
                let result = work(bare);
                ns[nth] += thread_cpu_ns() - start;
                result
            };
            let pieces = (0..PIECES).map(|piece| piece * PIECE_BYTES);
            let sectors = (0..SECTORS).map(|sector| sector * u64::from(SECTOR_BYTES));
            let mut enable = |bare: &mut Bare| (0..PIECES).try_for_each(|_| bare.write_enable());
            time(4, &mut bare, &mut enable)?;
            time(0, &mut bare, &mut |bare| {
                pieces.clone().try_for_each(|at| bare.write_enable().and_then(|()| bare.program(at, &data)))
            })?;
            time(1, &mut bare, &mut |bare| pieces.clone().try_for_each(|at| bare.read(at, &mut buf)))?;
            for nth in [2, 3] {
                time(nth, &mut bare, &mut |bare| {
                    sectors.clone().try_for_each(|at| bare.write_enable().and_then(|()| bare.erase(at)))
                })?;
            }
        }
        if buf != data {
            return Err(Failure::lab("what was read is not what was programmed"));
        }
        if round > 0 {
            let counts = [PIECES, PIECES, SECTORS, SECTORS, PIECES];
            for ((values, ns), count) in values.iter_mut().zip(ns).zip(counts) {
                values.push(ns / (TURNS * count) as f64);
            }
        }
    }
    Ok(values.map(Spread::of))
}

/// Reads and writes of the raw storage in blocks of the region's size; nanoseconds for each piece.
fn through_the_board(rounds: u32) -> Result<Rounds, Failure> {
    let board = Board::load(BOARD).map_err(Failure::lab)?;
    let target = || -> Result<LabTarget, Failure> {
        let mut target = LabTarget::open(&board, "raw", None).map_err(Failure::lab)?;
        // An erase is part of each write.
        target.begin(&Workload::named("operations"));
        Ok(target)
    };
    let (mut reads, mut writes) = (target()?, target()?);
    let mut buf = vec![0; REGION_BYTES as usize];
    let data: Vec<u8> = (0..REGION_BYTES).map(|nth| (nth * 37 % 251) as u8).collect();
    // So that there is something to read.
    reads.write(0, &data)?;
    let mut variants: [Variant<'_>; 2] = [
        Box::new(|| per_piece(|| reads.read(0, &mut buf).map_err(Failure::from))),
        Box::new(|| per_piece(|| writes.write(0, &data).map_err(Failure::from))),
    ];
    Rounds::run(rounds, &mut variants)
}

fn per_piece(mut work: impl FnMut() -> Result<usize, Failure>) -> Result<f64, Failure> {
    let start = thread_cpu_ns();
    for _ in 0..TURNS {
        if work()? as u64 != REGION_BYTES {
            return Err(Failure::lab("a block was not moved as a whole"));
        }
    }
    Ok((thread_cpu_ns() - start) / (TURNS * PIECES) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops would stop at the first refusal, and at data that differ: what is measured is work that is done.
    #[test]
    fn chip_and_board_take_all_operations() {
        assert!(chip_alone(1).unwrap().iter().all(|spread| spread.median.is_finite()));
        let through = through_the_board(1).unwrap();
        assert!(through.of(0).median.is_finite() && through.of(1).median.is_finite());
    }
}
