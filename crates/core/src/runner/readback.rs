//! Reading back what a repeat wrote, outside the time.

use super::job::{Job, Written};
use super::{Halt, Observer, Phase, Runner, Step, short_or};
use crate::clock::Clock;
use crate::record::OpKind;
use crate::runner::meters::Tally;
use crate::target::Target;

impl<C: Clock> Runner<'_, C> {
    /// Replays the repeat's sequence and checks each block that it wrote. Drops caches first, where the target can, so
    /// that the medium is checked and not memory.
    pub(super) fn read_back<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        written: Written,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
    ) -> Result<(), Halt> {
        let workload = job.workload;
        let block = workload.block_bytes as usize;
        let Written { repeat, base, pass } = written;
        let bytes = job.issued.saturating_mul(block as u64);
        observer.step(Step { phase: Phase::Verify, repeat, bytes: Some(bytes), time_ns: None });
        target.sync().or_else(|fault| tally.fail(OpKind::Verify, 0, fault))?;
        target.drop_caches();
        job.offsets.start_repeat(repeat, base);
        job.mix.start_repeat(repeat);
        let buf = &mut self.buf[..block];
        for _ in 0..job.issued {
            let offset = job.offsets.next_offset();
            if job.mix.next_is_read() {
                continue;
            }
            job.pattern.spoil(buf);
            match target.read(offset, buf) {
                Ok(moved) if moved == block => match job.pattern.check(buf, offset, pass..=pass) {
                    Ok(()) => tally.verified_bytes += job.pattern.checked_bytes(block),
                    Err(mismatch) => tally.fault(OpKind::Verify, mismatch.offset(), mismatch.into())?,
                },
                moved => tally.fault(OpKind::Verify, offset, short_or(moved, block))?,
            }
            observer.moved(block as u64);
            if observer.stop() {
                return Err(Halt::Interrupted);
            }
        }
        Ok(())
    }
}
