//! The chip: what it is, what state it is in, and who may do what when.

mod memory;
mod state;

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::SECTOR_BYTES;
use super::check::ProfileError;
use super::counters::Counters;
use super::memory::Memory;
use super::profile::Profile;
use super::registers::{Registers, SUSPENDED, WEL, WIP};
use super::violation::{Operation, Violation};
use super::wear::Wear;
use crate::random::draw;

/// How many violations are kept: the first ones, since those after them often only follow from them.
const KEPT_VIOLATIONS: usize = 64;

/// What a chip says of programs that want bits to go from 0 to 1, which no program can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// They are violations ([`Violation::NeedsErase`]).
    #[default]
    Report,
    /// They are counted in [`Counters::stuck_bits`], and no more: for software that writes over data on purpose, knowing
    /// that only zeros arrive.
    Count,
}

/// What a chip is busy with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Job {
    /// A program or an erase of a part of the memory.
    Unit { operation: Operation, unit: Range<u64> },
    /// What cannot be suspended.
    Whole,
    /// The way to suspension.
    Suspending,
}

#[derive(Clone, Debug)]
struct Suspended {
    operation: Operation,
    unit: Range<u64>,
    remaining_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    /// On, and takes commands from then on.
    On { from_ns: u64 },
    /// In power-down, and can be released from then on.
    Down { from_ns: u64 },
}

/// A chip at the level of its commands.
///
/// Every method that a command stands for takes the time at which the command has arrived, which must not go back from call
/// to call. Its effect on the memory is there at once, and the chip is busy for the time that the method returns. A request
/// against the data sheet does what it does on such a chip, and comes back as an error that tells which
/// ([`Violation::effect`]); it is also counted and, of the first 64, kept.
#[derive(Debug)]
pub struct Chip {
    profile: Profile,
    seed: u64,
    /// The answer to Read SFDP; empty without one.
    sfdp: Vec<u8>,
    overwrite: Overwrite,
    memory: Memory,
    pub(in crate::nor) registers: Registers,
    busy_until_ns: u64,
    job: Job,
    suspended: Option<Suspended>,
    power: Power,
    counters: Counters,
    violations: Vec<Violation>,
    violation_count: u64,
}

impl Chip {
    /// A blank chip. The seed determines its erase times and its unique id.
    ///
    /// # Errors
    /// What [`Profile::check`] finds.
    pub fn new(profile: Profile, seed: u64) -> Result<Self, ProfileError> {
        profile.check()?;
        Ok(Self {
            memory: Memory::new(profile.capacity_bytes),
            registers: Registers::new(&profile),
            sfdp: profile.sfdp_table().unwrap_or_default(),
            profile,
            seed,
            overwrite: Overwrite::default(),
            busy_until_ns: 0,
            job: Job::Whole,
            suspended: None,
            power: Power::On { from_ns: 0 },
            counters: Counters::default(),
            violations: Vec::new(),
            violation_count: 0,
        })
    }

    /// What programs over zeros are.
    pub const fn set_overwrite(&mut self, overwrite: Overwrite) {
        self.overwrite = overwrite;
    }

    /// What the chip is.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// How often each sector was erased.
    #[must_use]
    pub const fn wear(&self) -> Wear<'_> {
        Wear { memory: &self.memory }
    }

    /// How many sectors of [`crate::nor::SECTOR_BYTES`] hold something, and so take memory.
    #[must_use]
    pub const fn allocated_sectors(&self) -> u32 {
        self.memory.allocated()
    }

    /// The first violations, up to 64 of them.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// All violations so far, also those that were not kept.
    #[must_use]
    pub const fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// Forgets the violations so far.
    pub fn clear_violations(&mut self) {
        self.violations.clear();
        self.violation_count = 0;
    }

    /// When the operation under way ends; in the past if there is none.
    #[must_use]
    pub const fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// Status register 1: bit 0 write in progress, bit 1 write enabled, the others as they were written.
    #[must_use]
    #[inline]
    pub fn status(&self, now_ns: u64) -> u8 {
        self.status_register(0, now_ns)
    }

    /// One of the status registers 1 to 3, by index from 0; 0 for others. Bit 7 of the second one: something is suspended.
    #[must_use]
    pub fn status_register(&self, index: u8, now_ns: u64) -> u8 {
        let busy = now_ns < self.busy_until_ns;
        match index {
            0 => {
                // The latch falls at the end of the operation.
                let enabled = self.registers.write_enabled || busy && self.job != Job::Suspending;
                self.registers.get(0) | if busy { WIP } else { 0 } | if enabled { WEL } else { 0 }
            }
            1 => self.registers.get(1) | if self.suspended.is_some() { SUSPENDED } else { 0 },
            2 => self.registers.get(2),
            _ => 0,
        }
    }

    /// Sets the write enable latch.
    ///
    /// # Errors
    /// [`Violation::Busy`], [`Violation::PowerDown`].
    pub fn write_enable(&mut self, now_ns: u64) -> Result<(), Violation> {
        self.admit(now_ns, Operation::WriteEnable)?;
        self.registers.write_enabled = true;
        Ok(())
    }

    /// Clears the write enable latch.
    ///
    /// # Errors
    /// [`Violation::Busy`], [`Violation::PowerDown`].
    pub fn write_disable(&mut self, now_ns: u64) -> Result<(), Violation> {
        self.admit(now_ns, Operation::WriteEnable)?;
        self.registers.write_enabled = false;
        Ok(())
    }

    /// Puts bytes into the memory: no time, no wear, no rules. For images.
    ///
    /// # Errors
    /// [`Violation::OutsideChip`]: nothing happens.
    pub fn load(&mut self, address: u64, bytes: &[u8]) -> Result<(), Violation> {
        self.check_range(Operation::Program, address, bytes.len() as u64)?;
        self.memory.load(address, bytes);
        Ok(())
    }

    /// Fills the sectors of a range of addresses with old data, as on a chip that was in use before: random bits, the same
    /// for the same seed. It costs memory only where it is programmed over. There is one such range; another one takes its
    /// place. No time, no wear, no rules.
    ///
    /// # Errors
    /// [`Violation::OutsideChip`]: nothing happens.
    pub fn age(&mut self, range: Range<u64>, seed: u64) -> Result<(), Violation> {
        self.check_range(Operation::Program, range.start, range.end.saturating_sub(range.start))?;
        let sector = |address: u64| (address / u64::from(SECTOR_BYTES)) as usize;
        self.memory.age(sector(range.start)..sector(range.end), seed);
        Ok(())
    }

    /// Takes bytes out of the memory: no time, no rules, not counted. Addresses wrap at the end of the chip.
    pub fn peek(&self, address: u64, buf: &mut [u8]) {
        let capacity = self.profile.capacity_bytes;
        let mut address = address & (capacity - 1);
        let mut rest = buf;
        while rest.len() as u64 > capacity - address {
            let (part, more) = rest.split_at_mut((capacity - address) as usize);
            self.memory.read(address, part);
            (address, rest) = (0, more);
        }
        self.memory.read(address, rest);
    }

    /// A part of the memory, without time and rules: for images.
    ///
    /// # Errors
    /// [`Violation::OutsideChip`].
    pub fn dump(&self, range: Range<u64>) -> Result<Vec<u8>, Violation> {
        let bytes = range.end.saturating_sub(range.start);
        self.check_range(Operation::Read, range.start, bytes)?;
        let mut image = vec![0; bytes as usize];
        self.memory.read(range.start, &mut image);
        Ok(image)
    }

    /// The unique id, from the chip's seed.
    #[must_use]
    pub const fn unique_id(&self) -> [u8; 8] {
        draw(self.seed, u64::MAX).to_be_bytes()
    }

    /// One byte of the SFDP table; ones after its end.
    pub(in crate::nor) fn sfdp_byte(&self, address: u64) -> u8 {
        usize::try_from(address).ok().and_then(|at| self.sfdp.get(at)).copied().unwrap_or(0xff)
    }

    pub(in crate::nor) fn report(&mut self, violation: Violation) -> Violation {
        self.violation_count += 1;
        if self.violations.len() < KEPT_VIOLATIONS {
            self.violations.push(violation);
        }
        violation
    }

    pub(in crate::nor) fn outside(&mut self, operation: Operation, address: u64) -> Violation {
        let capacity_bytes = self.profile.capacity_bytes;
        self.report(Violation::OutsideChip { operation, address: address.max(capacity_bytes), capacity_bytes })
    }

    /// Whether the chip takes commands at all.
    pub(in crate::nor) fn admit_power(&mut self, now_ns: u64, operation: Operation) -> Result<(), Violation> {
        match self.power {
            Power::On { from_ns } if now_ns >= from_ns => Ok(()),
            _ => Err(self.report(Violation::PowerDown { operation })),
        }
    }

    /// Whether the chip takes a command that a busy one would not take.
    #[inline]
    pub(in crate::nor) fn admit(&mut self, now_ns: u64, operation: Operation) -> Result<(), Violation> {
        self.admit_power(now_ns, operation)?;
        if now_ns < self.busy_until_ns {
            let remaining_ns = self.busy_until_ns - now_ns;
            return Err(self.report(Violation::Busy { operation, remaining_ns }));
        }
        Ok(())
    }

    fn admit_write(&mut self, now_ns: u64, operation: Operation) -> Result<(), Violation> {
        self.admit(now_ns, operation)?;
        if self.registers.write_enabled {
            return Ok(());
        }
        Err(self.report(Violation::WriteDisabled { operation }))
    }

    fn start(&mut self, now_ns: u64, busy_ns: u64, job: Job) {
        self.registers.write_enabled = false;
        self.busy_until_ns = now_ns.saturating_add(busy_ns);
        self.job = job;
        self.counters.busy_ns = self.counters.busy_ns.saturating_add(busy_ns);
    }

    fn check_range(&self, operation: Operation, address: u64, bytes: u64) -> Result<(), Violation> {
        let capacity_bytes = self.profile.capacity_bytes;
        if address.saturating_add(bytes) > capacity_bytes {
            let address = address.max(capacity_bytes);
            return Err(Violation::OutsideChip { operation, address, capacity_bytes });
        }
        Ok(())
    }
}
