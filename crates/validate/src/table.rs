//! Published tables: CSV, a row a published value.

mod columns;
mod read;

use std::path::{Path, PathBuf};

use crate::metric::{Kind, Stat};
use crate::quantity::{Quantity, Unit};

/// Larger files are no tables.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// A table that was read.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its path, or a built-in table's name.
    pub name: String,
    /// Where boards and suites that are given by a relative path are looked for first.
    pub folder: Option<PathBuf>,
    /// Its rows, in order.
    pub rows: Vec<Row>,
    /// What the user has to know, e.g. columns that are passed over.
    pub messages: Vec<String>,
}

/// A published value, with everything that the table says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The table's name.
    pub table: String,
    /// From 1.
    pub line: u64,
    /// The set of measurements that it belongs to, e.g. `esp_idf_perf_benchmark`.
    pub set: String,
    /// What stores the bytes, e.g. `spi-nor`, `sd`.
    pub medium: String,
    /// How it is connected, e.g. `QIO 80MHz`.
    pub bus: String,
    /// The file system, or `raw`.
    pub fs: String,
    /// How the file is treated, e.g. `new-file`.
    pub mode: String,
    /// `read` or `write`; a phase's description.
    pub op: String,
    /// Bytes of one call.
    pub io_bytes: Option<u64>,
    /// Bytes of one repeat.
    pub total_bytes: Option<u64>,
    /// Repeats.
    pub runs: Option<u32>,
    /// Whether only the best of the repeats was published.
    pub best_only: bool,
    /// The metric's name.
    pub metric: String,
    /// What it means; `None` if it is not known.
    pub stat: Option<Stat>,
    /// The value as it is written.
    pub value: String,
    /// Its unit; `None` if the metric is not known.
    pub unit: Option<Unit>,
    /// The value; `None` if the metric is not known.
    pub published: Option<Quantity>,
    /// The board's name or path, with settings after commas; empty if no board is meant.
    pub board: String,
    /// The suite's name or path, if the table says it.
    pub suite: Option<String>,
    /// Settings of the suite.
    pub settings: Vec<String>,
}

impl Row {
    /// Whether it is a measurement or a phase of the log.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.stat == Some(Stat::Wall) || self.set.ends_with("_phases") || self.set.ends_with("-phases") {
            Kind::Phase
        } else {
            Kind::Row
        }
    }

    /// The set without the ending of its phases.
    #[must_use]
    pub fn base_set(&self) -> &str {
        let set = self.set.as_str();
        set.strip_suffix("_phases").or_else(|| set.strip_suffix("-phases")).unwrap_or(set)
    }

    /// Short, for people: `fatfs new-file write 65536`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.kind() == Kind::Phase {
            return self.op.clone();
        }
        let medium = if is_nor(&self.medium) { "" } else { self.medium.as_str() };
        let mode = if self.mode == self.fs { "" } else { self.mode.as_str() };
        let size = match (self.io_bytes, self.total_bytes) {
            (Some(io), Some(total)) if total != io => format!("{total} by {io}"),
            (Some(bytes), _) | (None, Some(bytes)) => bytes.to_string(),
            (None, None) => String::new(),
        };
        let stat = if self.stat == Some(Stat::Mean) { String::new() } else { format!("({})", self.metric) };
        let parts = [medium, &self.fs, mode, &self.op, &size, &stat];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// An error about this row.
    pub(crate) fn error(&self, reason: impl Into<String>) -> TableError {
        TableError { file: self.table.clone(), line: Some(self.line), reason: reason.into() }
    }
}

/// Whether a medium is flash that hosts erase themselves; so are rows that name none.
pub(crate) fn is_nor(medium: &str) -> bool {
    let medium = medium.to_lowercase();
    medium.is_empty() || medium.contains("nor") || medium.contains("flash")
}

/// What is wrong with a table, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {reason}", .line.map_or_else(String::new, |line| format!(":{line}")))]
pub struct TableError {
    /// The table.
    pub file: String,
    /// The line, from 1, if it is about one.
    pub line: Option<u64>,
    /// What is wrong, and what is expected.
    pub reason: String,
}

impl Table {
    /// Reads a table from a file.
    ///
    /// # Errors
    /// [`TableError`], for a file that cannot be read too.
    pub fn load(path: &Path) -> Result<Self, TableError> {
        let name = path.display().to_string();
        let text =
            read::text(path, TEXT_BYTES_MAX).map_err(|reason| TableError { file: name.clone(), line: None, reason })?;
        let folder = path.parent().map(Path::to_owned);
        Ok(Self { folder, ..Self::parse(&text, &name)? })
    }

    /// Reads a table's text; `name` is what errors call it.
    ///
    /// # Errors
    /// [`TableError`] at the first thing that is wrong.
    pub fn parse(text: &str, name: &str) -> Result<Self, TableError> {
        read::table(text, name)
    }

    /// The path of a board or suite in a cell: beside the table if it is there, and as it stands otherwise.
    pub(crate) fn path_of(&self, cell: &str) -> String {
        let beside = self.folder.as_ref().map(|folder| folder.join(cell));
        match beside {
            Some(beside) if cell.ends_with(".toml") && beside.is_file() => beside.display().to_string(),
            _ => cell.to_owned(),
        }
    }
}
