//! Registers, suspension, power and reset.

use super::{Chip, Job, Power, Suspended};
use crate::nor::violation::{Operation, Violation};

impl Chip {
    /// Writes status registers from the one of index `first` on (0 to 2), and takes away the write enable. Gives the time
    /// it takes: none after [`Chip::volatile_write_enable`].
    ///
    /// # Errors
    /// [`Violation::WriteDisabled`], [`Violation::Busy`], [`Violation::PowerDown`], [`Violation::NoData`]; nothing happens.
    pub fn write_status(&mut self, now_ns: u64, first: u8, values: &[u8]) -> Result<u64, Violation> {
        if self.registers.volatile_write {
            self.admit(now_ns, Operation::WriteStatus)?;
        } else {
            self.admit_write(now_ns, Operation::WriteStatus)?;
        }
        if values.is_empty() {
            return Err(self.report(Violation::NoData));
        }
        let registers = usize::from(first)..usize::from(self.profile.status_registers);
        for (index, value) in registers.zip(values) {
            self.registers.set(index, *value);
        }
        self.counters.status_writes += 1;
        if core::mem::take(&mut self.registers.volatile_write) {
            return Ok(0);
        }
        let busy_ns = self.profile.latencies.write_status_ns;
        self.start(now_ns, busy_ns, Job::Whole);
        Ok(busy_ns)
    }

    /// The next status write changes the registers at once and until the next reset.
    ///
    /// # Errors
    /// [`Violation::Busy`], [`Violation::PowerDown`].
    pub fn volatile_write_enable(&mut self, now_ns: u64) -> Result<(), Violation> {
        self.admit(now_ns, Operation::WriteEnable)?;
        self.registers.volatile_write = true;
        Ok(())
    }

    /// Suspends the program or erase under way. Gives the time until the chip can be read.
    ///
    /// # Errors
    /// [`Violation::NothingToSuspend`], also for a chip that cannot suspend; [`Violation::PowerDown`].
    pub fn suspend(&mut self, now_ns: u64) -> Result<u64, Violation> {
        self.admit_power(now_ns, Operation::Suspend)?;
        let remaining_ns = self.busy_until_ns.saturating_sub(now_ns);
        let (Job::Unit { operation, unit }, None, true, Some(_)) =
            (&self.job, &self.suspended, remaining_ns > 0, self.profile.suspend)
        else {
            return Err(self.report(Violation::NothingToSuspend));
        };
        self.suspended = Some(Suspended { operation: *operation, unit: unit.clone(), remaining_ns });
        self.job = Job::Suspending;
        self.busy_until_ns = now_ns.saturating_add(self.profile.latencies.suspend_ns);
        Ok(self.profile.latencies.suspend_ns)
    }

    /// Lets the suspended operation go on. Gives the time it still takes.
    ///
    /// # Errors
    /// [`Violation::NothingToResume`], [`Violation::Busy`], [`Violation::PowerDown`].
    pub fn resume(&mut self, now_ns: u64) -> Result<u64, Violation> {
        self.admit(now_ns, Operation::Resume)?;
        let Some(Suspended { operation, unit, remaining_ns }) = self.suspended.take() else {
            return Err(self.report(Violation::NothingToResume));
        };
        let busy_ns = remaining_ns.saturating_add(self.profile.latencies.resume_ns);
        self.job = Job::Unit { operation, unit };
        self.busy_until_ns = now_ns.saturating_add(busy_ns);
        Ok(busy_ns)
    }

    /// Goes to power-down. Gives the time until it is there and can be released.
    ///
    /// # Errors
    /// [`Violation::Busy`], [`Violation::PowerDown`].
    pub fn power_down(&mut self, now_ns: u64) -> Result<u64, Violation> {
        self.admit(now_ns, Operation::PowerDown)?;
        let latency_ns = self.profile.latencies.power_down_ns;
        self.power = Power::Down { from_ns: now_ns.saturating_add(latency_ns) };
        Ok(latency_ns)
    }

    /// Comes back from power-down; harmless outside of it. Gives the time until the chip takes commands.
    ///
    /// # Errors
    /// [`Violation::PowerDown`] where the chip is still on its way into power-down; [`Violation::Busy`].
    pub fn release(&mut self, now_ns: u64) -> Result<u64, Violation> {
        match self.power {
            Power::Down { from_ns } if now_ns < from_ns => {
                Err(self.report(Violation::PowerDown { operation: Operation::Release }))
            }
            Power::Down { .. } => {
                let latency_ns = self.profile.latencies.release_ns;
                self.power = Power::On { from_ns: now_ns.saturating_add(latency_ns) };
                Ok(latency_ns)
            }
            Power::On { .. } => self.admit(now_ns, Operation::Release).map(|()| 0),
        }
    }

    /// Whether the chip is in power-down, or on its way there.
    #[must_use]
    pub const fn is_powered_down(&self) -> bool {
        matches!(self.power, Power::Down { .. })
    }

    /// Resets registers, modes and what is under way or suspended. Gives the time until the chip takes commands.
    ///
    /// # Errors
    /// [`Violation::Interrupted`]: the chip resets. [`Violation::PowerDown`]: nothing happens.
    pub fn reset(&mut self, now_ns: u64) -> Result<u64, Violation> {
        self.admit_power(now_ns, Operation::Reset)?;
        let interrupted = now_ns < self.busy_until_ns && self.job != Job::Suspending || self.suspended.is_some();
        self.registers.reset();
        self.suspended = None;
        self.job = Job::Whole;
        self.busy_until_ns = now_ns;
        let latency_ns = self.profile.latencies.reset_ns;
        self.power = Power::On { from_ns: now_ns.saturating_add(latency_ns) };
        if interrupted { Err(self.report(Violation::Interrupted)) } else { Ok(latency_ns) }
    }

    /// Sets the upper byte of three-byte addresses.
    pub(in crate::nor) fn write_extended_address(&mut self, data: &[u8]) -> Result<(), Violation> {
        if !core::mem::take(&mut self.registers.write_enabled) {
            return Err(self.report(Violation::WriteDisabled { operation: Operation::Address }));
        }
        self.registers.extended_address = data.last().copied().unwrap_or_default();
        Ok(())
    }
}
