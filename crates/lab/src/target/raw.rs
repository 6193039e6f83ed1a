//! A partition without a file system.

use flashmark_core::ledger::Layer;
use flashmark_core::record::{Doubts, WarningCode};
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::{Erase, FileMode, Order, Workload};
use flashmark_embedded_fs::{Device, DeviceError, Geometry, Purpose};

use super::LabTarget;
use crate::storage::Store;

fn fault(error: &DeviceError) -> Fault {
    let kind = match error {
        DeviceError::OutOfRange { .. } => FaultKind::NoSpace,
        _ => FaultKind::Io,
    };
    Fault::new(kind, error.to_string())
}

/// Whether a workload can run on flash that is erased in sectors of `erase_bytes`.
pub(super) fn check(workload: &Workload, erase_bytes: u32) -> Result<(), Fault> {
    let unsupported = |message: String| Err(Fault::new(FaultKind::Unsupported, message));
    if !workload.writes() {
        return Ok(());
    }
    if workload.file == FileMode::Append {
        return unsupported("raw flash has no end to append to: file = \"existing\"".to_owned());
    }
    let only_writes = workload.read_percent == 0;
    let in_order = only_writes && workload.order == Order::Sequential;
    if workload.erase == Erase::Inside && !workload.block_bytes.is_multiple_of(erase_bytes) && !in_order {
        return unsupported(format!(
            "raw flash is erased in sectors of {erase_bytes} bytes: blocks that are no multiple of that can only be \
             written in sequence, and without reads in between"
        ));
    }
    // What is erased before a repeat takes each block once.
    let once = only_writes
        && matches!(workload.order, Order::Sequential | Order::RandomOnce)
        && workload.time_ns.is_none()
        && workload.size_bytes.is_none_or(|size| workload.file_bytes.is_none_or(|file| size <= file));
    if workload.erase == Erase::Outside && !once {
        return unsupported(
            "erase = \"outside\" erases before a repeat, in which every block can be written once only: order = \
             \"sequential\" or \"random-once\", size no more than file-size, no time limit and no reads"
                .to_owned(),
        );
    }
    Ok(())
}

fn device(target: &mut LabTarget) -> Option<&mut Box<dyn Device>> {
    match &mut target.store {
        Store::Raw(device) => Some(device),
        Store::Files(_) => None,
    }
}

/// Runs an access on behalf of the data.
fn access(target: &mut LabTarget, work: impl FnOnce(&mut dyn Device) -> Result<(), DeviceError>) -> Result<(), Fault> {
    target.enter_raw();
    let before = target.ledger.enter(Layer::Data);
    let result = device(target).map_or(Ok(()), |device| {
        device.purpose(Purpose::Data);
        work(device.as_mut())
    });
    target.ledger.enter(before);
    target.app.forget();
    result.map_err(|error| fault(&error))
}

pub(super) fn read(target: &mut LabTarget, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
    target.app.is(buf);
    access(target, |device| device.read(offset, buf))?;
    Ok(buf.len())
}

/// The sectors that begin inside a write: those that an erase inside the write's time erases. The rest of a first sector
/// was erased when its beginning was written.
const fn sectors_begun(offset: u64, bytes: u64, sector_bytes: u64) -> (u64, u64) {
    let first = offset.next_multiple_of(sector_bytes);
    let end = (offset + bytes).next_multiple_of(sector_bytes);
    (first, end.saturating_sub(first))
}

pub(super) fn write(target: &mut LabTarget, offset: u64, data: &[u8]) -> Result<usize, Fault> {
    let erases_inside = target.erase == Erase::Inside;
    target.app.is(data);
    access(target, |device| {
        let (first, bytes) = sectors_begun(offset, data.len() as u64, u64::from(device.geometry().erase_bytes));
        if erases_inside && bytes > 0 {
            device.erase(first, bytes)?;
        }
        device.program(offset, data)
    })?;
    Ok(data.len())
}

/// Erases what the workload is about to write, outside the time.
pub(super) fn erase_region(target: &mut LabTarget, workload: &Workload, doubts: &mut Doubts) {
    let Some(device) = device(target) else { return };
    let Geometry { size_bytes, erase_bytes, .. } = device.geometry();
    let wanted = workload.file_bytes.or(workload.size_bytes).unwrap_or(size_bytes);
    let bytes = wanted.min(size_bytes).next_multiple_of(u64::from(erase_bytes)).min(size_bytes);
    if let Err(error) = device.erase(0, bytes) {
        doubts.add(WarningCode::Skipped, format!("the flash could not be erased before a repeat: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::sectors_begun;

    #[test]
    fn a_sector_is_erased_when_its_beginning_is_written() {
        let begun = |offset, bytes| sectors_begun(offset, bytes, 4096);
        assert_eq!(begun(0, 65_536), (0, 65_536));
        assert_eq!(begun(0, 256), (0, 4096));
        assert_eq!(begun(256, 256), (4096, 0));
        assert_eq!(begun(4000, 200), (4096, 4096));
        assert_eq!(begun(8192, 5000), (8192, 8192));
        assert_eq!(sectors_begun(512, 600, 512), (512, 1024));
    }
}
