//! A workload in the making.

use flashmark_core::workload::{FileMode, Workload};

/// What a workload's operations are, as the key `op` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Read,
    Write,
    Mixed,
}

impl Op {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mixed => "mixed",
        }
    }
}

/// A workload in the making: what was written so far. Fields that others' defaults depend on stay open until the end.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) workload: Workload,
    pub(crate) named: bool,
    pub(crate) op: Option<Op>,
    pub(crate) percent: Option<u8>,
    pub(crate) file: Option<FileMode>,
    pub(crate) file_bytes: Option<Option<u64>>,
}

impl Draft {
    pub(crate) fn new() -> Self {
        Self { workload: Workload::named(""), named: false, op: None, percent: None, file: None, file_bytes: None }
    }

    pub(crate) fn read_percent(&self) -> u8 {
        match (self.op, self.percent) {
            (Some(Op::Read), _) | (None, None) => 100,
            (Some(Op::Write), _) => 0,
            (Some(Op::Mixed), percent) => percent.unwrap_or(50),
            (None, Some(percent)) => percent,
        }
    }

    pub(crate) fn file_mode(&self) -> FileMode {
        self.file.unwrap_or(if self.read_percent() == 0 { FileMode::New } else { FileMode::Existing })
    }

    /// The workload with the open fields filled in.
    pub(crate) fn finish(self) -> Workload {
        let (read_percent, file) = (self.read_percent(), self.file_mode());
        let mut workload = self.workload;
        // Of a file that is written at its end only the size of what is added is known, not where that ends.
        let region = if file == FileMode::Append { None } else { workload.size_bytes };
        workload.file_bytes = self.file_bytes.unwrap_or(region);
        workload.read_percent = read_percent;
        workload.file = file;
        workload
    }
}
