//! Reading, programming and erasing.

use core::ops::Range;

use super::{Chip, Job, Overwrite};
use crate::nor::timing::{EraseRun, erase_ns};
use crate::nor::violation::{Operation, Violation};

impl Chip {
    /// Reads memory. What cannot be read comes as ones.
    ///
    /// # Errors
    /// [`Violation::OutsideChip`]: the read went on at address 0. [`Violation::Busy`], [`Violation::PowerDown`],
    /// [`Violation::Suspended`]: there was nothing to read.
    #[inline]
    pub fn read(&mut self, now_ns: u64, address: u64, buf: &mut [u8]) -> Result<(), Violation> {
        if let Err(violation) = self.begin_read(now_ns, address, buf.len() as u64) {
            buf.fill(0xff);
            return Err(violation);
        }
        self.stream(address, buf);
        let end = address.saturating_add(buf.len() as u64);
        if end > self.profile.capacity_bytes { Err(self.outside(Operation::Read, address)) } else { Ok(()) }
    }

    /// The checks of a read of `bytes`, but not that of the range; counts it.
    pub(in crate::nor) fn begin_read(&mut self, now_ns: u64, address: u64, bytes: u64) -> Result<(), Violation> {
        self.admit(now_ns, Operation::Read)?;
        if let Some(suspended) = &self.suspended
            && address < suspended.unit.end
            && address.saturating_add(bytes) > suspended.unit.start
        {
            return Err(self.report(Violation::Suspended { operation: Operation::Read, address }));
        }
        self.counters.reads += 1;
        Ok(())
    }

    /// Reads on, around the end of the chip.
    pub(in crate::nor) fn stream(&mut self, address: u64, buf: &mut [u8]) {
        self.counters.read_bytes += buf.len() as u64;
        self.peek(address, buf);
    }

    /// The check of the range of a read of `bytes`.
    pub(in crate::nor) fn end_read(&mut self, address: u64, bytes: u64) -> Result<(), Violation> {
        // A start outside was reported when the read began.
        let capacity = self.profile.capacity_bytes;
        let crosses = address < capacity && address.saturating_add(bytes) > capacity;
        if crosses { Err(self.outside(Operation::Read, address)) } else { Ok(()) }
    }

    /// Programs a page, or a part of one, and takes away the write enable.
    ///
    /// # Errors
    /// [`Violation::PageWrap`], [`Violation::NeedsErase`], [`Violation::OutsideChip`]: the chip programs, and is busy until
    /// [`Chip::busy_until_ns`]. All others: nothing happens.
    pub fn program(&mut self, now_ns: u64, address: u64, data: &[u8]) -> Result<u64, Violation> {
        self.admit_write(now_ns, Operation::Program)?;
        if data.is_empty() {
            return Err(self.report(Violation::NoData));
        }
        let page_bytes = u64::from(self.profile.page_bytes);
        let inside = address & (self.profile.capacity_bytes - 1);
        let page = inside & !(page_bytes - 1);
        self.admit_beside_suspended(Operation::Program, page..page + page_bytes)?;

        // Of more than a page the chip keeps the last ones, each where it arrived.
        let start = (inside - page + (data.len() as u64).saturating_sub(page_bytes)) % page_bytes;
        let kept = &data[data.len().saturating_sub(page_bytes as usize)..];
        let (to_end, wrapped) = kept.split_at(kept.len().min((page_bytes - start) as usize));
        let mut changes = self.memory.program(page + start, to_end);
        if !wrapped.is_empty() {
            let more = self.memory.program(page, wrapped);
            changes.changed += more.changed;
            changes.stuck += more.stuck;
        }

        let busy_ns = self.profile.program.busy_ns(kept.len() as u32, changes.changed);
        self.counters.programs += 1;
        self.counters.program_bytes += data.len() as u64;
        self.counters.changed_bits += u64::from(changes.changed);
        self.counters.stuck_bits += u64::from(changes.stuck);
        self.start(now_ns, busy_ns, Job::Unit { operation: Operation::Program, unit: page..page + page_bytes });

        let mut violation = Ok(busy_ns);
        if address != inside {
            violation = Err(self.outside(Operation::Program, address));
        }
        if inside - page + data.len() as u64 > page_bytes {
            let wrap = self.report(Violation::PageWrap { address, bytes: data.len() as u64 });
            violation = violation.and(Err(wrap));
        }
        if changes.stuck > 0 && self.overwrite == Overwrite::Report {
            let stuck = self.report(Violation::NeedsErase { address, bits: changes.stuck });
            violation = violation.and(Err(stuck));
        }
        violation
    }

    /// Erases the unit of `unit_bytes` that `address` is in, and takes away the write enable. Gives the time it takes.
    ///
    /// # Errors
    /// [`Violation::OutsideChip`]: the chip erases. All others: nothing happens.
    pub fn erase(&mut self, now_ns: u64, unit_bytes: u32, address: u64) -> Result<u64, Violation> {
        self.admit_write(now_ns, Operation::Erase)?;
        let Some(index) = self.profile.erase_types.iter().position(|erase| erase.bytes == unit_bytes) else {
            return Err(self.report(Violation::NoSuchErase { bytes: unit_bytes }));
        };
        let bytes = u64::from(unit_bytes);
        let inside = address & (self.profile.capacity_bytes - 1);
        let unit = inside & !(bytes - 1)..(inside & !(bytes - 1)) + bytes;
        if let Some(suspended) = &self.suspended
            && suspended.operation == Operation::Erase
        {
            return Err(self.report(Violation::Suspended { operation: Operation::Erase, address }));
        }
        self.admit_beside_suspended(Operation::Erase, unit.clone())?;

        let worn = self.memory.erases((unit.start / u64::from(crate::nor::SECTOR_BYTES)) as u32);
        let blank = self.memory.erase(unit.start, bytes);
        let erase = &self.profile.erase_types[index];
        let busy_ns = self.erase_ns(erase.typical_ns, erase.max_ns, blank, worn);
        self.counters.erases += 1;
        self.counters.erases_by_type[index] += 1;
        self.counters.erase_bytes += bytes;
        self.counters.blank_erases += u64::from(blank);
        self.start(now_ns, busy_ns, Job::Unit { operation: Operation::Erase, unit });
        if address == inside { Ok(busy_ns) } else { Err(self.outside(Operation::Erase, address)) }
    }

    /// Erases everything, and takes away the write enable. Gives the time it takes.
    ///
    /// # Errors
    /// As [`Chip::erase`]; nothing happens.
    pub fn chip_erase(&mut self, now_ns: u64) -> Result<u64, Violation> {
        self.admit_write(now_ns, Operation::ChipErase)?;
        if self.suspended.is_some() {
            return Err(self.report(Violation::Suspended { operation: Operation::ChipErase, address: 0 }));
        }
        let worn = self.memory.erases(0);
        self.memory.erase_all();
        let profile = &self.profile;
        let busy_ns = self.erase_ns(profile.chip_erase_typical_ns, profile.chip_erase_max_ns, false, worn);
        self.counters.chip_erases += 1;
        self.counters.erase_bytes += self.profile.capacity_bytes;
        self.start(now_ns, busy_ns, Job::Whole);
        Ok(busy_ns)
    }

    /// Nothing is programmed or erased while a program is suspended, nor inside of an erase that is.
    fn admit_beside_suspended(&mut self, operation: Operation, unit: Range<u64>) -> Result<(), Violation> {
        let Some(suspended) = &self.suspended else { return Ok(()) };
        let overlaps = unit.start < suspended.unit.end && suspended.unit.start < unit.end;
        if overlaps || suspended.operation == Operation::Program {
            return Err(self.report(Violation::Suspended { operation, address: unit.start }));
        }
        Ok(())
    }

    fn erase_ns(&self, typical_ns: u64, max_ns: u64, blank: bool, worn: u32) -> u64 {
        let number = self.counters.erases + self.counters.chip_erases;
        erase_ns(&self.profile, EraseRun { typical_ns, max_ns, blank, worn, seed: self.seed, number })
    }
}
