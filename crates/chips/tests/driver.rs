//! A driver that others wrote, for a real W25Q32JV, on the simulated wire.
#![allow(clippy::unwrap_used)]

mod common;

use core::cell::RefCell;
use core::convert::Infallible;

use common::{MS, profile};
use embedded_hal::digital::{ErrorType, OutputPin};
use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
use flashmark_chips::nor::{Chip, Wire};
use flashmark_core::clock::Clock;
use flashmark_core::ledger::{Account, Ledger};
use w25q32jv::W25q32jv;

/// HOLD# and WP#, which the chip takes as inactive.
struct Pin;

impl ErrorType for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[test]
fn it_identifies_erases_writes_and_reads_back() {
    let chip = RefCell::new(Chip::new(profile(), 3).unwrap());
    let ledger = Ledger::new();
    let wire = Wire::new(&chip, &ledger, 40_000_000).unwrap();
    let mut driver = W25q32jv::new(wire, Pin, Pin).unwrap();
    assert_eq!(driver.device_id().unwrap(), chip.borrow().unique_id());

    chip.borrow_mut().load(0x2000, &[0; 0x3000]).unwrap();
    // It reads back what it erased and wrote, and fails if that differs.
    driver.erase_range(0x2000, 0x4000).unwrap();
    driver.erase_block_32k(1).unwrap();
    driver.erase_block_64k(1).unwrap();
    let data: Vec<u8> = (0..1000_u32).map(|byte| ((byte * 31) >> 2) as u8).collect();
    NorFlash::write(&mut driver, 0x20f0, &data).unwrap();
    let mut buf = vec![0; data.len()];
    ReadNorFlash::read(&mut driver, 0x20f0, &mut buf).unwrap();
    assert_eq!(buf, data);
    assert_eq!(chip.borrow().dump(0x20f0..0x20f0 + 1000).unwrap(), data);
    assert_eq!(chip.borrow().dump(0x3fff..0x4001).unwrap(), [0xff, 0]);

    driver.enable_power_down_mode().unwrap();
    ledger.spend(Account::Sleep, MS);
    driver.disable_power_down_mode().unwrap();
    ledger.spend(Account::Sleep, MS);
    driver.reset().unwrap();
    ledger.spend(Account::Sleep, MS);
    driver.read(0x20f0, &mut buf[..4]).unwrap();
    assert_eq!(buf[..4], data[..4]);

    let chip = chip.borrow();
    assert_eq!(chip.violations(), []);
    let counters = chip.counters();
    assert_eq!((counters.erases, counters.programs, counters.program_bytes), (4, 5, 1000));
    let erase_ns = 2 * 45 * MS + 120 * MS + 150 * MS;
    assert!(ledger.now_ns() > erase_ns * 9 / 10 && ledger.now_ns() < erase_ns * 3 / 2, "{}", ledger.now_ns());
    assert_eq!(ledger.spent().account_ns(Account::Busy), 0, "it polls");
}

#[test]
fn it_erases_the_chip() {
    let chip = RefCell::new(Chip::new(profile(), 3).unwrap());
    let ledger = Ledger::new();
    // Slow enough that polling ten seconds away is cheap.
    let wire = Wire::new(&chip, &ledger, 100_000).unwrap();
    let mut driver = W25q32jv::new(wire, Pin, Pin).unwrap();
    chip.borrow_mut().load(0, &[0; 100]).unwrap();
    driver.erase_chip().unwrap();
    assert_eq!((chip.borrow().counters().chip_erases, chip.borrow().allocated_sectors()), (1, 0));
}
