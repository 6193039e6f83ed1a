//! From CSV to rows.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::columns::{Column, Columns, names};
use super::{Row, Table, TableError};
use crate::metric;
use crate::quantity::{Decimal, Unit};

/// A file's text, or why it has none.
pub(super) fn text(path: &Path, bytes_max: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("cannot open the table: {error}"))?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read the table: {error}"))?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("it has more than {bytes_max} bytes, which no table has"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8 text")
    })
}

pub(super) fn table(text: &str, name: &str) -> Result<Table, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut records = reader.records();
    let unreadable = |error: csv::Error| TableError {
        file: name.to_owned(),
        line: error.position().map(|position| line_at(text, position)),
        reason: format!("this is not CSV: {error}"),
    };
    let header = records.next().transpose().map_err(unreadable)?;
    let Some(header) = header else {
        let reason = format!("the table is empty; a header is expected: {}", names());
        return Err(TableError { file: name.to_owned(), line: Some(1), reason });
    };
    let header_line = header.position().map_or(1, |position| line_at(text, position));
    let columns = Columns::of(header.iter(), name, header_line)?;
    let mut rows = Vec::new();
    for record in records {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, |position| line_at(text, position));
        let cells = Cells { columns: &columns, record: &record, file: name, line };
        rows.push(cells.row()?);
    }
    let unknown = columns.unknown.join(", ");
    let messages = match columns.unknown.len() {
        0 => Vec::new(),
        _ => vec![format!("{name}:{header_line}: passed over columns: {unknown} (known are {})", names())],
    };
    Ok(Table { name: name.to_owned(), folder: None, rows, messages })
}

/// The line at which a record starts. The reader's position may be that of empty lines before it.
fn line_at(text: &str, position: &csv::Position) -> u64 {
    let at = usize::try_from(position.byte()).unwrap_or(usize::MAX).min(text.len());
    let bytes = text.as_bytes();
    let empty = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let before = bytes.get(..at + empty).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

struct Cells<'a> {
    columns: &'a Columns,
    record: &'a csv::StringRecord,
    file: &'a str,
    line: u64,
}

impl Cells<'_> {
    fn error(&self, reason: String) -> TableError {
        TableError { file: self.file.to_owned(), line: Some(self.line), reason }
    }

    fn text(&self, column: Column) -> &str {
        self.columns.cell(self.record, column)
    }

    fn row(&self) -> Result<Row, TableError> {
        let (found, expected) = (self.record.len(), self.columns.count());
        if found != expected {
            let reason = format!(
                "it has {found} cells, but the header has {expected} (a text with commas stands in quotation marks)"
            );
            return Err(self.error(reason));
        }
        let metric = self.text(Column::Metric).to_owned();
        let parsed = metric::parse(&metric);
        let value = self.text(Column::Value);
        let number = Decimal::parse(value).map_err(|reason| self.error(format!("value: {reason}")))?;
        let unit = parsed.map(|(_, unit)| self.unit(&metric, unit)).transpose()?;
        let published = unit
            .map(|unit| unit.of(number).map_err(|reason| self.error(format!("value: {value} {unit}: {reason}"))))
            .transpose()?;
        let (runs, best_only) = self.runs()?;
        let suite = self.text(Column::Suite);
        let set = self.text(Column::Set);
        if set.is_empty() {
            return Err(self.error("set is empty: the name of the set of measurements is expected".into()));
        }
        Ok(Row {
            table: self.file.to_owned(),
            line: self.line,
            set: set.to_owned(),
            medium: self.text(Column::Medium).to_owned(),
            bus: self.text(Column::Bus).to_owned(),
            fs: self.text(Column::Fs).to_owned(),
            mode: self.text(Column::Mode).to_owned(),
            op: self.text(Column::Op).to_owned(),
            io_bytes: self.bytes(Column::IoBytes, "io_bytes")?,
            total_bytes: self.bytes(Column::TotalBytes, "total_bytes")?,
            runs,
            best_only,
            stat: parsed.map(|(stat, _)| stat),
            metric,
            value: value.to_owned(),
            unit,
            published,
            board: self.text(Column::Board).to_owned(),
            suite: (!suite.is_empty()).then(|| suite.to_owned()),
            settings: self.settings()?,
        })
    }

    /// The unit that the metric's name and the column `unit` agree on.
    fn unit(&self, metric: &str, unit: Unit) -> Result<Unit, TableError> {
        let written = self.text(Column::Unit);
        if written.is_empty() {
            return Ok(unit);
        }
        match Unit::named(written) {
            Some(named) if named == unit => Ok(unit),
            Some(_) => Err(self.error(format!("metric {metric} is in {unit}, but unit says {written}"))),
            None => Err(self.error(format!("unit {written} is not known: known are {}", Unit::names()))),
        }
    }

    fn bytes(&self, column: Column, name: &str) -> Result<Option<u64>, TableError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse() {
            Ok(bytes) if bytes > 0 && is_digits(text) => Ok(Some(bytes)),
            _ => Err(self.error(format!("{name}: {text:?} is no number of bytes: digits alone, at least 1"))),
        }
    }

    /// How many repeats, and whether only the best of them counts.
    fn runs(&self) -> Result<(Option<u32>, bool), TableError> {
        let text = self.text(Column::Runs);
        if text.is_empty() {
            return Ok((None, false));
        }
        let (number, best_only) = text.strip_prefix("best of ").map_or((text, false), |number| (number, true));
        match number.parse() {
            Ok(runs) if runs > 0 && is_digits(number) => Ok((Some(runs), best_only)),
            _ => Err(self.error(format!("runs: {text:?} is neither a number from 1 on nor \"best of 3\""))),
        }
    }

    fn settings(&self) -> Result<Vec<String>, TableError> {
        let settings = self.text(Column::Settings).split(';').map(str::trim).filter(|setting| !setting.is_empty());
        settings
            .map(|setting| match setting.split_once('=') {
                Some((key, _)) if !key.trim().is_empty() => Ok(setting.to_owned()),
                _ => Err(self.error(format!("settings: {setting:?}: key=value is expected, separated by ;"))),
            })
            .collect()
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
