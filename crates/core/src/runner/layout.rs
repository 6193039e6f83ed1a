//! Writing the file that a workload will read or overwrite, outside the time.

use alloc::string::ToString;

use super::{Halt, Observer, Phase, Runner, Step};
use crate::clock::Clock;
use crate::data::{CELL_BYTES, Pattern, fingerprint, hash};
use crate::record::OpKind;
use crate::runner::meters::Tally;
use crate::runner::plan::Plan;
use crate::target::{Contents, Fault, FaultKind, OpenAs, Ownership, Target};
use crate::workload::{Data, FileMode, Verify, Workload};

impl<C: Clock> Runner<'_, C> {
    /// Makes sure that the region holds what the workload needs.
    pub(super) fn lay_out<T: Target, O: Observer>(
        &mut self,
        workload: &Workload,
        plan: &Plan,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
    ) -> Result<(), Halt> {
        if workload.file != FileMode::Existing || suffices(&target.contents(), workload, plan) {
            return Ok(());
        }
        let must_know = workload.reads() && workload.verify != Verify::None;
        match target.ownership() {
            Ownership::Own => {}
            Ownership::Given if must_know => {}
            Ownership::Foreign if must_know => {
                let message = "verify needs data that flashmark wrote, and this target is only read: leave verify out, \
                               or allow its loss with --destroy";
                return tally.fail(OpKind::Layout, 0, Fault::new(FaultKind::Unsupported, message.to_string()));
            }
            // What is there is good enough to be read or overwritten.
            Ownership::Given | Ownership::Foreign => return Ok(()),
        }
        observer.step(Step { phase: Phase::Layout, repeat: 0, bytes: Some(plan.region_bytes), time_ns: None });
        target.open(OpenAs::Layout).or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
        tally.open = true;
        let pass = target.contents().pass.wrapping_add(1);
        target.set_contents(Contents { pass, ..Contents::default() });
        self.write_region(workload, plan.region_bytes, pass, target, observer, tally)?;
        target.sync().or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
        tally.open = false;
        target.close().or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
        target.set_contents(Contents {
            bytes: plan.region_bytes,
            block_bytes: workload.block_bytes,
            data: fingerprint_of(&workload.data),
            stamped: (workload.verify == Verify::Full).then_some(workload.seed),
            pass,
        });
        Ok(())
    }

    fn write_region<T: Target, O: Observer>(
        &mut self,
        workload: &Workload,
        bytes: u64,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
    ) -> Result<(), Halt> {
        let block = workload.block_bytes as usize;
        let mut pattern = Pattern::new(workload);
        // Whole blocks as long as they fit, since a text starts anew in each.
        let len = (self.buf.len() / block).max(1) * block;
        let buf = &mut self.buf[..len];
        pattern.prime(buf);
        pattern.start_pass(pass);
        let mut at = 0;
        while at < bytes {
            let len = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(buf.len());
            let part = &mut buf[..len];
            pattern.fill(part, at, pass);
            match target.write(at, part) {
                Ok(moved) if moved == len => {}
                moved => return tally.fail(OpKind::Layout, at, super::short_or(moved, len)),
            }
            at += len as u64;
            observer.moved(len as u64);
            if observer.stop() {
                return Err(Halt::Interrupted);
            }
        }
        Ok(())
    }
}

fn suffices(contents: &Contents, workload: &Workload, plan: &Plan) -> bool {
    // What is left of a block at the end is never moved.
    if contents.bytes < plan.region_blocks.saturating_mul(u64::from(workload.block_bytes)) {
        return false;
    }
    if !workload.reads() {
        // What will be overwritten may be anything that occupies its blocks.
        return true;
    }
    let same_data = contents.data == fingerprint_of(&workload.data);
    match workload.verify {
        Verify::Full => same_data && contents.stamped == Some(workload.seed),
        Verify::LastByte => same_data && contents.stamped.is_none() && contents.block_bytes == workload.block_bytes,
        Verify::None => same_data,
    }
}

/// Tells kinds of data apart.
pub(super) fn fingerprint_of(data: &Data) -> u64 {
    match data {
        Data::Zeros => fingerprint(b"zeros"),
        Data::Random => fingerprint(b"random"),
        Data::Fixed => fingerprint(b"fixed"),
        Data::Text { text, end } => fingerprint(text.as_bytes()) ^ hash(fingerprint(end.as_bytes())),
        Data::Compressible { percent } => fingerprint(&[b'c', *percent]),
    }
}

// A layout buffer that is no multiple of a cell still stamps right, since cells are found by their offsets.
const _: () = assert!(CELL_BYTES.is_power_of_two());
