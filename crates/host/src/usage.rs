//! What a thread has used of processors and memory.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "getrusage is not in rustix")]

use std::mem::MaybeUninit;

/// What the calling thread has used since it began (`getrusage(RUSAGE_THREAD)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Time in user mode, in nanoseconds; the kernel counts in microseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Context switches, wanted and not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl ThreadUsage {
    /// Of the calling thread, until now; zeros if the system does not tell.
    #[must_use]
    pub fn now() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel writes one `rusage` to a place that has room for it.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        if result != 0 {
            return Self::default();
        }
        // SAFETY: zeroed, which is a value of every field, and then written by the kernel.
        let usage = unsafe { usage.assume_init() };
        let ns = |time: libc::timeval| {
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
        };
        let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            context_switches: count(usage.ru_nvcsw) + count(usage.ru_nivcsw),
            major_faults: count(usage.ru_majflt),
            minor_faults: count(usage.ru_minflt),
        }
    }

    /// What was used since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_of_the_thread_that_does_it() {
        let start = ThreadUsage::now();
        let mut sum = 0_u64;
        while ThreadUsage::now().since(&start).user_ns < 20_000_000 {
            for value in 0..100_000_u64 {
                sum = sum.wrapping_add(std::hint::black_box(value));
            }
        }
        let other = std::thread::spawn(ThreadUsage::now).join().unwrap();
        assert!(other.user_ns < ThreadUsage::now().user_ns, "{sum}");
    }
}
