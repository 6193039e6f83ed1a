//! Reading the text of `blkparse` in its default format (blkparse(1), "Default format"):
//!
//! ```text
//!   8,0    3        2     0.000123456   697  Q  WS 223490 + 8 [kjournald]
//! ```

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use super::lines::{Field, fields};
use super::{Action, Lines, Record, TraceError, TraceProblem};

const SECTOR_BYTES: u64 = 512;
const DEVICES_MAX: usize = 65_536;

/// Reads what was queued (`Q`), as fio does of a blktrace, one record after another. After an error it goes on with the
/// next line; at the summary that `blkparse` writes below the events it stops.
///
/// A discard is a trim, and a flush is a sync; a write that carries a flush is both, where fio's own reader forgets the
/// write.
#[derive(Debug)]
pub struct BlkparseReader<R> {
    lines: Lines<R>,
    devices: HashMap<(u32, u32), Arc<str>>,
    /// The write of a flush that was told last.
    pending: Option<Record>,
    over: bool,
}

impl<R: BufRead> BlkparseReader<R> {
    /// Reads from the first line on. `name` is for errors.
    pub fn new(reader: R, name: &str) -> Self {
        Self { lines: Lines::new(reader, name), devices: HashMap::new(), pending: None, over: false }
    }

    fn record(&mut self) -> Result<Option<Record>, TraceError> {
        let words = fields(self.lines.text()?);
        let Some(first) = words.first() else {
            return Ok(None);
        };
        if first.text.starts_with("CPU") || first.text.starts_with("Total") || first.text == "Throughput" {
            self.over = true;
            return Ok(None);
        }
        let device = device(first.text).ok_or_else(|| self.misread(*first, "a device (MAJOR,MINOR)"))?;
        let [_, _, _, time, _, action, flags, rest @ ..] = words.as_slice() else {
            let expected = "at least 7 (DEVICE CPU SEQUENCE TIME PID ACTION RWBS)";
            return Err(self.lines.error(1, TraceProblem::Fields { found: words.len(), expected }));
        };
        if action.text != "Q" {
            return Ok(None);
        }
        let time_ns = time_ns(time.text).ok_or_else(|| self.misread(*time, "a time (SECONDS.NANOSECONDS)"))?;
        let (offset, bytes) = match rest {
            [sector, plus, count, ..] if plus.text == "+" => {
                let sectors = |field: &Field<'_>| {
                    let number: Option<u64> = field.text.parse().ok();
                    number.ok_or_else(|| self.misread(*field, "a number of sectors"))
                };
                let (sector, count) = (sectors(sector)?, sectors(count)?);
                let end = sector.checked_add(count).and_then(|end| end.checked_mul(SECTOR_BYTES));
                end.ok_or_else(|| self.lines.error(rest[0].column, TraceProblem::TooLarge))?;
                (sector * SECTOR_BYTES, count * SECTOR_BYTES)
            }
            _ => (0, 0),
        };
        let (flush, kind) = match flags.text.strip_prefix('F') {
            Some(rest) => (true, rest.chars().next()),
            None => (false, flags.text.chars().next()),
        };
        let action = match kind {
            Some('D') => Some(Action::Trim),
            Some('R') => Some(Action::Read),
            Some('W') => Some(Action::Write),
            // `N` is neither, and a flush may be alone.
            Some('N') => None,
            None if flush => None,
            _ => return Err(self.misread(*flags, "the kind of a request (R, W, D, N or F first)")),
        };
        let column = first.column;
        let file = self.device(device, column)?;
        let at = |action, offset, bytes| Record { time_ns, file: Arc::clone(&file), action, offset, bytes };
        let transfer = action.filter(|_| bytes > 0).map(|action| at(action, offset, bytes));
        if flush {
            self.pending = transfer;
            return Ok(Some(at(Action::Sync, 0, 0)));
        }
        Ok(transfer)
    }

    fn misread(&self, field: Field<'_>, what: &'static str) -> TraceError {
        self.lines.error(field.column, TraceProblem::Number { found: field.text.to_owned(), what })
    }

    fn device(&mut self, device: (u32, u32), column: u32) -> Result<Arc<str>, TraceError> {
        if let Some(file) = self.devices.get(&device) {
            return Ok(Arc::clone(file));
        }
        if self.devices.len() >= DEVICES_MAX {
            return Err(self.lines.error(column, TraceProblem::TooManyFiles(DEVICES_MAX)));
        }
        let file: Arc<str> = format!("/dev/block/{}:{}", device.0, device.1).into();
        self.devices.insert(device, Arc::clone(&file));
        Ok(file)
    }
}

fn device(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(',')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `SECONDS.NANOSECONDS` in nanoseconds.
fn time_ns(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    if fraction.len() != 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}

impl<R: BufRead> Iterator for BlkparseReader<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.pending.take() {
            return Some(Ok(record));
        }
        loop {
            if self.over {
                return None;
            }
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if let Some(record) = self.record().transpose() {
                return Some(record);
            }
        }
    }
}
