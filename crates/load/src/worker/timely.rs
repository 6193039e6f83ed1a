//! What goes by time: the end, the ramp, samples, rates that must not be too low.

use flashmark_core::clock::Clock;

use super::{Halt, Worker, libc_numbers};
use crate::accesses::Direction;

/// The fewest bytes and accesses a second, over windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinimumRate {
    pub window_ns: u64,
    pub window_start_ns: u64,
    pub bytes: [u64; 3],
    pub counts: [u64; 3],
}

impl<C: Clock> Worker<C> {
    /// Looks at what goes by time: the end, the ramp, samples, minimum rates. To be asked with every completion's time.
    #[inline]
    pub(super) fn tick(&mut self, now_ns: u64) -> Result<(), Halt> {
        if now_ns >= self.next_sample_ns {
            self.periodic(now_ns)?;
        }
        if now_ns >= self.deadline_ns {
            return Err(Halt::TimeUp);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn periodic(&mut self, now_ns: u64) -> Result<(), Halt> {
        if self.ramp_end_ns > 0 {
            if now_ns >= self.ramp_end_ns {
                self.ramp_end_ns = 0;
                // Seen a little late: the time that is measured is as long as the job says all the same.
                if self.deadline_ns != u64::MAX
                    && let Some(runtime_ns) = self.limits.runtime_ns
                {
                    self.deadline_ns = now_ns.saturating_add(runtime_ns);
                }
                self.start_measuring(now_ns);
            }
            return Ok(());
        }
        self.tally.sample(now_ns);
        self.next_sample_ns = self.tally.next_sample_ns();
        self.check_minimum(now_ns)
    }

    /// Everything counts from here.
    pub(super) fn start_measuring(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
        self.tally.restart(now_ns);
        if let Some(series) = &mut self.series {
            series.start(now_ns);
        }
        if let Some(minimum) = &mut self.minimum {
            *minimum = MinimumRate { window_start_ns: now_ns, bytes: [0; 3], counts: [0; 3], ..*minimum };
        }
        self.next_sample_ns = self.tally.next_sample_ns();
    }

    /// Least rates count from here.
    pub(super) fn minimum_from_here(&self, minimum: MinimumRate) -> MinimumRate {
        let of = |value: fn(&crate::tally::DirectionTally) -> u64| {
            Direction::ALL.map(|direction| value(self.tally.direction(direction)))
        };
        MinimumRate {
            window_start_ns: self.clock.now_ns(),
            bytes: of(|tally| tally.bytes),
            counts: of(|tally| tally.count),
            ..minimum
        }
    }

    /// Whether a job that is too slow is to end (`rate_min`, `rate_iops_min`).
    pub(super) fn check_minimum(&mut self, now_ns: u64) -> Result<(), Halt> {
        let Some(minimum) = &mut self.minimum else { return Ok(()) };
        let access = self.options.access.rw.access;
        let uses = [access.reads(), access.writes(), access.trims()];
        let elapsed_ns = now_ns.saturating_sub(minimum.window_start_ns);
        if elapsed_ns < minimum.window_ns.max(1) {
            return Ok(());
        }
        let pace = &self.options.pace;
        // A rate without a direction is meant for those that the job has.
        for direction in Direction::ALL.into_iter().filter(|direction| uses[*direction as usize]) {
            let index = direction as usize;
            let tally = self.tally.direction(direction);
            let bytes = tally.bytes - minimum.bytes[index];
            let count = tally.count - minimum.counts[index];
            let least_bytes = *pace.rate_min.each()[index];
            let least_count = u64::from(*pace.rate_iops_min.each()[index]);
            let rate = crate::tally::per_second(bytes, elapsed_ns);
            let iops = crate::tally::per_second(count, elapsed_ns);
            let too_slow = if least_bytes > 0 && rate < least_bytes {
                Some(format!("rate_min={least_bytes} bytes/s not met, got {rate} bytes/s"))
            } else if least_count > 0 && iops < least_count {
                Some(format!("rate_iops_min={least_count} not met, got {iops}"))
            } else {
                None
            };
            if let Some(text) = too_slow {
                return Err(Halt::Failed { code: libc_numbers::ETIME, text });
            }
            minimum.bytes[index] = tally.bytes;
            minimum.counts[index] = tally.count;
        }
        minimum.window_start_ns = now_ns;
        Ok(())
    }
}
