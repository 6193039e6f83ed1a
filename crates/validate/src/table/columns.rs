//! The columns of a table.

use super::TableError;

/// A column that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Set,
    Medium,
    Bus,
    Fs,
    Mode,
    Op,
    IoBytes,
    TotalBytes,
    Runs,
    Metric,
    Value,
    Unit,
    Note,
    Board,
    Suite,
    Settings,
}

/// Every column with its name, whether a table must have it, and what it holds.
const COLUMNS: &[(Column, &str, bool, &str)] = &[
    (Column::Set, "set", true, "the set of measurements, which names the suite"),
    (Column::Medium, "medium", true, "what stores the bytes: spi-nor, sd"),
    (Column::Bus, "bus", true, "how it is connected"),
    (Column::Fs, "fs", true, "the file system, or raw"),
    (Column::Mode, "mode", true, "how the file is treated: new-file, raw"),
    (Column::Op, "op", true, "read or write; a phase's description"),
    (Column::IoBytes, "io_bytes", true, "bytes of one call"),
    (Column::TotalBytes, "total_bytes", true, "bytes of one repeat"),
    (Column::Runs, "runs", true, "how often it was repeated"),
    (Column::Metric, "metric", true, "what the value is: mean_ms, wall_ms"),
    (Column::Value, "value", true, "the published number"),
    (Column::Unit, "unit", true, "its unit"),
    (Column::Note, "note", true, "anything, for people"),
    (Column::Board, "board", true, "the board to run: a name or path, with settings after commas, or nothing"),
    (Column::Suite, "suite", false, "the suite to run: a name or path"),
    (Column::Settings, "settings", false, "settings of the suite, key=value;key=value"),
];

/// Where each column stands.
pub(super) struct Columns {
    places: Vec<Option<Column>>,
    /// Names of columns that mean nothing here.
    pub(super) unknown: Vec<String>,
}

impl Columns {
    /// From the header's cells.
    pub(super) fn of<'a>(header: impl Iterator<Item = &'a str>, file: &str, line: u64) -> Result<Self, TableError> {
        let error = |reason| TableError { file: file.to_owned(), line: Some(line), reason };
        let mut columns = Self { places: Vec::new(), unknown: Vec::new() };
        for name in header.map(str::trim) {
            let known = COLUMNS.iter().find(|(_, known, ..)| *known == name).map(|(column, ..)| *column);
            if known.is_some() && columns.places.contains(&known) {
                return Err(error(format!("column {name} is there twice")));
            }
            if known.is_none() {
                columns.unknown.push(name.to_owned());
            }
            columns.places.push(known);
        }
        let missing: Vec<String> = COLUMNS
            .iter()
            .filter(|(column, _, needed, _)| *needed && !columns.places.contains(&Some(*column)))
            .map(|(_, name, _, about)| format!("{name} ({about})"))
            .collect();
        match missing.as_slice() {
            [] => Ok(columns),
            [one] => Err(error(format!("column {one} is missing"))),
            many => Err(error(format!("columns are missing: {}", many.join(", ")))),
        }
    }

    /// How many cells a row has.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// A row's cell of a column; empty for a column that the table does not have.
    pub(super) fn cell<'a>(&self, record: &'a csv::StringRecord, column: Column) -> &'a str {
        let at = self.places.iter().position(|place| *place == Some(column));
        at.and_then(|at| record.get(at)).unwrap_or_default().trim()
    }
}

/// The names of all columns.
pub(super) fn names() -> String {
    COLUMNS.iter().map(|(_, name, ..)| *name).collect::<Vec<_>>().join(", ")
}
