//! A chip on a serial bus.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::convert::Infallible;

use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use flashmark_core::clock::Clock;
use flashmark_core::ledger::{Account, Ledger};

use super::check::ProfileError;
use super::chip::Chip;
use super::command::Commands;
use super::transfer::Transfer;
use super::violation::Violation;

/// How many lines carry a part of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One each way: the ordinary SPI.
    One,
    /// Two, one way at a time.
    Two,
    /// Four, one way at a time.
    Four,
}

impl Lines {
    /// How many.
    #[must_use]
    pub const fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Clocks of a byte.
    #[must_use]
    pub const fn clocks_per_byte(self) -> u64 {
        8 / self.count() as u64
    }
}

/// A part of a transaction: what the host does while the chip is selected.
#[derive(Debug)]
pub enum Phase<'a> {
    /// Sends bytes: opcode, address, mode bits, data.
    Write(Lines, &'a [u8]),
    /// Clocks without driving the lines: dummy clocks.
    Clocks(u32),
    /// Receives bytes.
    Read(Lines, &'a mut [u8]),
    /// Sends and receives at once, on one line each way; the longer one goes on alone.
    Exchange(&'a [u8], &'a mut [u8]),
    /// Sends bytes and receives as many in their place, on one line each way.
    ExchangeInPlace(&'a mut [u8]),
    /// Waits with the chip selected.
    WaitNs(u32),
}

/// A chip on a serial bus with a clock: decodes commands, and spends the time of their clocks on [`Account::Bus`].
///
/// As an `embedded_hal::spi::SpiDevice` it has one line each way. Commands on two and four lines go through
/// [`Wire::transact`]. A bus does not notice what a chip makes of it, so `SpiDevice` never fails; what was against the data
/// sheet is in [`Chip::violations`].
#[derive(Debug)]
pub struct Wire<'a> {
    chip: &'a RefCell<Chip>,
    ledger: &'a Ledger,
    commands: Commands,
    clock_hz: u32,
    select_ns: u64,
    /// Program data, kept to be used again.
    data: Vec<u8>,
}

impl<'a> Wire<'a> {
    /// A bus with a clock of `clock_hz`; of 1 Hz where that is 0.
    ///
    /// # Errors
    /// None with a chip that was made of a checked profile, as they all are.
    pub fn new(chip: &'a RefCell<Chip>, ledger: &'a Ledger, clock_hz: u32) -> Result<Self, ProfileError> {
        let commands = Commands::new(chip.borrow().profile())?;
        Ok(Self { chip, ledger, commands, clock_hz: clock_hz.max(1), select_ns: 0, data: Vec::new() })
    }

    /// Adds a time to each transaction, for selecting and deselecting the chip.
    #[must_use]
    pub const fn with_select_ns(mut self, select_ns: u64) -> Self {
        self.select_ns = select_ns;
        self
    }

    /// One transaction: selects the chip, runs the phases, deselects it.
    ///
    /// # Errors
    /// The first thing that was against the data sheet. The time passes all the same.
    pub fn transact(&mut self, phases: &mut [Phase<'_>]) -> Result<(), Violation> {
        self.begin(|transfer| {
            for phase in phases {
                match phase {
                    Phase::Write(lines, bytes) => transfer.write(*lines, bytes),
                    Phase::Clocks(clocks) => transfer.idle(*clocks),
                    Phase::Read(lines, buf) => transfer.read(*lines, buf),
                    Phase::Exchange(bytes, buf) => transfer.exchange(bytes, buf),
                    Phase::ExchangeInPlace(buf) => transfer.exchange_in_place(buf),
                    Phase::WaitNs(ns) => transfer.wait(*ns),
                }
            }
        })
    }

    fn begin(&mut self, run: impl FnOnce(&mut Transfer<'_>)) -> Result<(), Violation> {
        let mut chip = self.chip.borrow_mut();
        let start_ns = self.ledger.now_ns();
        self.data.clear();
        let mut transfer = Transfer::new(&mut chip, &self.commands, &mut self.data, start_ns, self.clock_hz);
        run(&mut transfer);
        let (end_ns, result) = transfer.deselect();
        self.ledger.spend(Account::Bus, (end_ns - start_ns).saturating_add(self.select_ns));
        result
    }
}

impl ErrorType for Wire<'_> {
    type Error = Infallible;
}

impl SpiDevice for Wire<'_> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        // What was against the data sheet is kept by the chip.
        let _reported = self.begin(|transfer| {
            for operation in operations {
                match operation {
                    Operation::Read(buf) => transfer.read(Lines::One, buf),
                    Operation::Write(bytes) => transfer.write(Lines::One, bytes),
                    Operation::Transfer(buf, bytes) => transfer.exchange(bytes, buf),
                    Operation::TransferInPlace(buf) => transfer.exchange_in_place(buf),
                    Operation::DelayNs(ns) => transfer.wait(*ns),
                }
            }
        });
        Ok(())
    }
}
