//! ESP-IDF's `esp_flash` with its generic chip driver.
//!
//! What it does on the bus is read from ESP-IDF's sources (`components/spi_flash`): `esp_flash_api.c` for chunks, erase
//! commands and the yield check, `spi_flash_chip_generic.c` for the sequence of commands and the polling,
//! `memspi_host_driver.c` for the pieces of 64 bytes, `spi_flash_os_func_app.c` for the yield rule. What its code costs
//! is in the board's profile.

use std::rc::Rc;

use flashmark_chips::nor;
use flashmark_core::clock::Clock as _;
use flashmark_core::ledger::{Account, Layer, Ledger};

use super::{Driver, DriverFault, FlashDriver, Memory};
use crate::board::value::Kind;
use crate::board::{Board, BoardError, Key};
use crate::booking::Carry;
use crate::bus::{AddressWidth, SpiBus, read_kind};
use crate::rtos::Rtos;

pub(super) const DRIVER: Driver = Driver {
    name: "esp-flash",
    about: "ESP-IDF's SPI flash driver (esp_flash, generic chip)",
    keys: KEYS,
    check: |board, chip| Params::of(board, chip).map(|_| ()),
    make: |board, ledger, chip| Ok(Box::new(EspFlash::new(board, ledger, chip)?)),
};

static KEYS: &[Key] = &[
    Key::new(
        "esp-flash.call",
        Kind::Work,
        "work of taking the flash and giving it back: locks, caches, the other core",
    ),
    Key::new("esp-flash.command", Kind::Work, "work of one bus transaction"),
    Key::new("esp-flash.byte", Kind::Work, "work of moving one byte through the controller's buffer"),
    Key::new("esp-flash.transfer", Kind::Bytes, "the most bytes of a bus transaction"),
    Key::new("esp-flash.read-chunk", Kind::Bytes, "the most bytes that are read before the flash is given back"),
    Key::new("esp-flash.write-chunk", Kind::Bytes, "the most bytes that are written before the flash is given back"),
    Key::new("esp-flash.bounce", Kind::Bytes, "the pieces in which data outside internal RAM is copied to be written"),
    Key::new("esp-flash.poll", Kind::Time, "the pause between two looks at the chip's status"),
    Key::new("esp-flash.block-erase", Kind::Flag, "whether 64 KiB are erased with one command where they are aligned"),
    Key::new("esp-flash.yield", Kind::Flag, "whether a long erase or write sleeps now and then for other tasks"),
    Key::new("esp-flash.yield-after", Kind::Time, "how long it works until it sleeps"),
    Key::new(
        "esp-flash.yield-ticks",
        Kind::Count,
        "how many ticks it sleeps, and how long a pause makes it start anew",
    ),
];

/// The block that command 0xD8 erases.
const BLOCK_BYTES: u32 = 64 << 10;
/// The sector that command 0x20 erases.
const SECTOR_BYTES: u32 = 4 << 10;

/// The parameters, in picoseconds where they are short.
#[derive(Clone, Debug)]
struct Params {
    call_ps: u64,
    command_ps: u64,
    byte_ps: u64,
    copy_byte_ps: u64,
    transfer_bytes: usize,
    read_chunk_bytes: usize,
    write_chunk_bytes: usize,
    bounce_bytes: usize,
    poll_ps: u64,
    block_erase: bool,
    yields: bool,
    yield_after_us: u64,
    yield_ticks: u64,
    tick_hz: u64,
    bus: SpiBus,
}

/// What a transaction, or a fixed sequence of them, costs.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    work_ps: u64,
    bus_ps: u64,
}

impl Cost {
    const fn and(self, other: Self) -> Self {
        Self { work_ps: self.work_ps + other.work_ps, bus_ps: self.bus_ps + other.bus_ps }
    }
}

/// The sequences of commands that the driver repeats all the time.
#[derive(Clone, Copy, Debug)]
struct Sequences {
    /// `read_status`: one byte.
    look: Cost,
    /// `set_write_protect(false)` and the wait before the command: look, write enable, look; look.
    write_enable: Cost,
    /// Reading as much as a transaction takes, from the first 16 MiB.
    full_read: Cost,
    /// Programming as much as a transaction takes, in the first 16 MiB.
    full_program: Cost,
}

impl Params {
    /// A transaction of this many clocks that moves `bytes`.
    fn cost(&self, clocks: u64, bytes: usize) -> Cost {
        Cost { work_ps: self.command_ps + self.byte_ps * bytes as u64, bus_ps: self.bus.clocks_ps(clocks) }
    }

    fn read(&self, width: AddressWidth, bytes: usize) -> Cost {
        self.cost(self.bus.read_clocks(width, bytes as u64), bytes)
    }

    fn program(&self, width: AddressWidth, bytes: usize) -> Cost {
        self.cost(self.bus.program_clocks(width, bytes as u64), bytes)
    }

    fn sequences(&self) -> Sequences {
        let look = self.cost(self.bus.command_clocks(1), 1);
        let enable = self.cost(self.bus.command_clocks(0), 0);
        Sequences {
            look,
            write_enable: look.and(enable).and(look).and(look),
            full_read: self.read(AddressWidth::Bits24, self.transfer_bytes),
            full_program: self.program(AddressWidth::Bits24, self.transfer_bytes),
        }
    }

    fn of(board: &Board, chip: &nor::Profile) -> Result<Self, BoardError> {
        let mode_name = board.text_of("bus.mode")?;
        let clock_hz = board.hz("bus.clock")?;
        let Some(mode) = read_kind(mode_name).and_then(|kind| chip.read_mode(kind)) else {
            return Err(board.misfit("bus.mode", format!("the chip {} cannot be read in this mode", chip.name)));
        };
        if clock_hz > u64::from(mode.clock_max_hz) {
            let most = mode.clock_max_hz / 1_000_000;
            let reason = format!("the chip {} is read at {most} MHz at most in mode {mode_name}", chip.name);
            return Err(board.misfit("bus.clock", reason));
        }
        let tick_hz = board.hz("rtos.tick")?;
        if tick_hz > 1_000_000 {
            return Err(board.misfit("rtos.tick", "at most 1 MHz is expected".to_owned()));
        }
        let yield_ticks = board.count("esp-flash.yield-ticks")?;
        if !(1..=1_000_000).contains(&yield_ticks) {
            return Err(board.misfit("esp-flash.yield-ticks", "1 to 1000000 ticks are expected".to_owned()));
        }
        let block_erase = board.flag("esp-flash.block-erase")?;
        for (bytes, key) in [(SECTOR_BYTES, "chip"), (BLOCK_BYTES, "esp-flash.block-erase")] {
            if chip.erase_type(bytes).is_none() && (bytes == SECTOR_BYTES || block_erase) {
                let reason =
                    format!("the driver erases {bytes} bytes with one command, which the chip {} has not", chip.name);
                return Err(board.misfit(key, reason));
            }
        }
        if chip.page_bytes < 1 || !chip.page_bytes.is_power_of_two() {
            return Err(board.misfit("chip", format!("the chip {} has no pages of a power of two", chip.name)));
        }
        // A processor slower than this makes times that no counter holds.
        if board.hz("cpu.clock")? < 1_000_000 {
            return Err(board.misfit("cpu.clock", "at least 1 MHz is expected".to_owned()));
        }
        if clock_hz < 10_000 {
            return Err(board.misfit("bus.clock", "at least 10 kHz is expected".to_owned()));
        }
        let bytes = |key: &str| board.bytes_u32(key, 1).map(|bytes| bytes as usize);
        Ok(Self {
            call_ps: board.work_ps("esp-flash.call")?,
            command_ps: board.work_ps("esp-flash.command")?,
            byte_ps: board.work_ps("esp-flash.byte")?,
            copy_byte_ps: board.work_ps("code.copy-byte")?,
            transfer_bytes: bytes("esp-flash.transfer")?,
            read_chunk_bytes: bytes("esp-flash.read-chunk")?,
            write_chunk_bytes: bytes("esp-flash.write-chunk")?,
            bounce_bytes: bytes("esp-flash.bounce")?,
            poll_ps: board.ns("esp-flash.poll")?.saturating_mul(1000),
            block_erase,
            yields: board.flag("esp-flash.yield")?,
            yield_after_us: board.ns("esp-flash.yield-after")? / 1000,
            yield_ticks,
            tick_hz,
            bus: SpiBus::new(clock_hz, *mode),
        })
    }
}

struct EspFlash {
    chip: nor::Chip,
    ledger: Rc<Ledger>,
    rtos: Rtos,
    params: Params,
    sequences: Sequences,
    page_bytes: usize,
    /// Microseconds at which the flash was given back last, and from which the time until the next sleep counts.
    released_us: u64,
    acquired_us: u64,
    carry: Carry,
}

impl EspFlash {
    fn new(board: &Board, ledger: &Rc<Ledger>, chip: nor::Chip) -> Result<Self, BoardError> {
        let params = Params::of(board, chip.profile())?;
        Ok(Self {
            page_bytes: chip.profile().page_bytes as usize,
            rtos: Rtos::new(Rc::clone(ledger), params.tick_hz),
            ledger: Rc::clone(ledger),
            chip,
            sequences: params.sequences(),
            params,
            released_us: 0,
            acquired_us: 0,
            carry: Carry::default(),
        })
    }

    fn now_us(&self) -> u64 {
        self.ledger.now_ns() / 1000
    }

    fn spend_ps(&self, layer: Layer, account: Account, ps: u64) {
        self.carry.spend_ps(&self.ledger, layer, account, ps);
    }

    fn work_ps(&mut self, ps: u64) {
        self.spend_ps(Layer::Driver, Account::Cpu, ps);
    }

    fn transact(&mut self, cost: Cost) {
        self.work_ps(cost.work_ps);
        self.spend_ps(self.ledger.layer(), Account::Bus, cost.bus_ps);
    }

    /// Half of the work of a call: taking the flash.
    fn take(&mut self) {
        self.work_ps(self.params.call_ps / 2);
    }

    /// The other half: giving it back.
    fn give_back(&mut self) {
        self.work_ps(self.params.call_ps - self.params.call_ps / 2);
        self.released_us = self.now_us();
    }

    /// `spi_flash_os_check_yield` and `spi_flash_os_yield`.
    fn yield_if_due(&mut self) {
        if !self.params.yields {
            return;
        }
        let now_us = self.now_us();
        // `CONFIG_SPI_FLASH_ERASE_YIELD_TICKS * portTICK_PERIOD_MS * 1000`, where a tick's period is whole milliseconds.
        let pause_us = self.params.yield_ticks * (1000 / self.params.tick_hz) * 1000;
        if now_us - self.released_us >= pause_us {
            self.acquired_us = now_us;
        } else if now_us - self.acquired_us >= self.params.yield_after_us {
            self.rtos.delay(self.params.yield_ticks);
            self.acquired_us = self.now_us();
        }
    }

    /// Everything before a command that changes the flash, and the command itself.
    fn command(&mut self, command: Cost) -> Result<(), DriverFault> {
        self.transact(self.sequences.write_enable.and(command));
        self.chip.write_enable(self.ledger.now_ns()).map_err(DriverFault)
    }

    /// `wait_idle` after a command that keeps the chip busy for `busy_ns`: looks at the status, and again after each
    /// pause. What the chip needs is booked as busy; what the last pause and the looks go beyond it, as the driver's
    /// work.
    fn wait_idle(&mut self, busy_ns: u64) {
        let params = &self.params;
        let look_ps = self.sequences.look.work_ps + self.sequences.look.bus_ps;
        let busy_ps = busy_ns.saturating_mul(1000);
        let pauses = busy_ps.saturating_sub(look_ps).div_ceil((params.poll_ps + look_ps).max(1));
        let waited_ps = look_ps + pauses.saturating_mul(params.poll_ps + look_ps);
        let busy_ps = busy_ps.min(waited_ps);
        self.spend_ps(self.ledger.layer(), Account::Busy, busy_ps);
        self.work_ps(waited_ps - busy_ps);
    }

    /// One page program of at most `transfer_bytes`.
    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DriverFault> {
        let width = AddressWidth::of(address, 1);
        let is_usual = data.len() == self.params.transfer_bytes && width == AddressWidth::Bits24;
        self.command(if is_usual { self.sequences.full_program } else { self.params.program(width, data.len()) })?;
        let busy_ns = self.chip.program(self.ledger.now_ns(), address, data).map_err(DriverFault)?;
        self.wait_idle(busy_ns);
        Ok(())
    }

    /// One piece of `esp_flash_write`, with the flash taken.
    fn write_chunk(&mut self, address: u64, data: &[u8]) -> Result<(), DriverFault> {
        let mut done = 0;
        while done < data.len() {
            let at = address + done as u64;
            let to_page_end = self.page_bytes - (at % self.page_bytes as u64) as usize;
            let bytes = (data.len() - done).min(to_page_end).min(self.params.transfer_bytes);
            self.program(at, &data[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }

    fn erase_one(&mut self, address: u64, bytes: u32) -> Result<(), DriverFault> {
        let clocks = self.params.bus.erase_clocks(AddressWidth::of(address, 1));
        self.command(self.params.cost(clocks, 0))?;
        let busy_ns = self.chip.erase(self.ledger.now_ns(), bytes, address).map_err(DriverFault)?;
        self.wait_idle(busy_ns);
        Ok(())
    }
}

impl FlashDriver for EspFlash {
    fn read(&mut self, address: u64, buf: &mut [u8], memory: Memory) -> Result<(), DriverFault> {
        let mut at = address;
        for chunk in buf.chunks_mut(self.params.read_chunk_bytes) {
            self.take();
            // `IS_REGION_32BIT`: the width is that of the whole call.
            let width = AddressWidth::of(at, chunk.len() as u64);
            let mut result = Ok(());
            for piece in chunk.chunks_mut(self.params.transfer_bytes) {
                let is_usual = piece.len() == self.params.transfer_bytes && width == AddressWidth::Bits24;
                let cost = if is_usual { self.sequences.full_read } else { self.params.read(width, piece.len()) };
                self.transact(cost);
                result = self.chip.read(self.ledger.now_ns(), at, piece).map_err(DriverFault);
                if result.is_err() {
                    break;
                }
                at += piece.len() as u64;
            }
            self.give_back();
            result?;
            if memory == Memory::External {
                self.work_ps(self.params.copy_byte_ps * chunk.len() as u64);
            }
        }
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8], memory: Memory) -> Result<(), DriverFault> {
        let chunk_bytes = match memory {
            Memory::Internal => self.params.write_chunk_bytes,
            Memory::External => self.params.bounce_bytes,
        };
        let mut at = address;
        for chunk in data.chunks(chunk_bytes) {
            if memory == Memory::External {
                self.work_ps(self.params.copy_byte_ps * chunk.len() as u64);
            }
            self.yield_if_due();
            self.take();
            let result = self.write_chunk(at, chunk);
            self.give_back();
            result?;
            at += chunk.len() as u64;
        }
        Ok(())
    }

    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DriverFault> {
        let end = address + bytes;
        let mut at = address;
        while at < end {
            self.yield_if_due();
            self.take();
            let block_bytes = u64::from(BLOCK_BYTES);
            let whole_block = self.params.block_erase && end - at >= block_bytes && at.is_multiple_of(block_bytes);
            let unit = if whole_block { BLOCK_BYTES } else { SECTOR_BYTES };
            let result = self.erase_one(at, unit);
            self.give_back();
            result?;
            at += u64::from(unit);
        }
        Ok(())
    }

    fn chip(&self) -> &nor::Chip {
        &self.chip
    }

    fn chip_mut(&mut self) -> &mut nor::Chip {
        &mut self.chip
    }
}
