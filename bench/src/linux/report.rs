//! What was found: tables for people, the same as JSON for programs.

use std::fmt;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};
use serde_json::{Value, json};

use crate::linux::rounds::Spread;

/// A result.
#[derive(Debug)]
pub struct Report {
    /// What was measured: the subcommand.
    pub name: &'static str,
    /// On which machine.
    pub machine: String,
    /// The figures.
    pub tables: Vec<Table>,
    /// The promises.
    pub promises: Vec<Promise>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Something that was not measured here.
#[derive(Debug)]
pub struct Skipped {
    /// What.
    pub what: String,
    /// Why, and what would help.
    pub why: String,
}

/// Figures in rows and columns.
#[derive(Debug)]
pub struct Table {
    /// What they are.
    pub title: String,
    /// Names with units.
    pub columns: Vec<&'static str>,
    /// As many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What has to be known to read them.
    pub note: &'static str,
}

/// One entry of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A figure, and how many decimals of it mean anything.
    Number(f64, usize),
    /// Not measured, or without meaning here.
    None,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Cell {
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            // Rounded to what is shown: more digits would promise what the measurement does not hold.
            Self::Number(value, decimals) => {
                format!("{value:.decimals$}").parse::<f64>().map_or(Value::Null, |v| json!(v))
            }
            Self::None => Value::Null,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(value, decimals) => write!(f, "{value:.decimals$}"),
            Self::None => f.write_str("-"),
        }
    }
}

/// A promise, and what was found.
#[derive(Debug)]
pub struct Promise {
    /// What is promised, without the figure.
    pub what: String,
    /// What was found.
    pub found: Spread,
    /// The limits, both included.
    pub limits: std::ops::RangeInclusive<f64>,
    /// Of found and limits.
    pub unit: &'static str,
}

/// Whether a promise is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The median is inside the limits.
    Kept,
    /// It is outside, but not all of the middle half of the rounds: too noisy to say. More rounds or a quieter machine
    /// may tell.
    Unclear,
    /// It is outside, with the middle half of the rounds.
    Missed,
}

impl Verdict {
    const fn text(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Unclear => "unclear",
            Self::Missed => "missed",
        }
    }
}

impl Promise {
    /// Whether it is kept; missed if there is nothing to tell by.
    pub fn verdict(&self) -> Verdict {
        let Spread { median, low, high } = self.found;
        let touches = low <= *self.limits.end() && high >= *self.limits.start();
        match (self.limits.contains(&median), touches) {
            (true, _) => Verdict::Kept,
            (false, true) => Verdict::Unclear,
            (false, false) => Verdict::Missed,
        }
    }

    fn limits_text(&self) -> String {
        let (low, high) = (self.limits.start(), self.limits.end());
        match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("{low} to {high}"),
            (true, false) => format!("at least {low}"),
            (false, _) => format!("at most {high}"),
        }
    }
}

impl Report {
    /// The whole as one object.
    pub fn to_json(&self) -> Value {
        let table = |table: &Table| {
            let row = |row: &Vec<Cell>| -> Value {
                table.columns.iter().zip(row).map(|(key, cell)| ((*key).to_owned(), cell.to_json())).collect()
            };
            json!({ "title": table.title, "rows": table.rows.iter().map(row).collect::<Vec<_>>() })
        };
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let promise = |p: &Promise| {
            json!({
                "what": p.what, "unit": p.unit, "verdict": p.verdict().text(),
                "median": number(p.found.median), "quarter": number(p.found.low), "three_quarters": number(p.found.high),
                "least": number(*p.limits.start()), "most": number(*p.limits.end()),
            })
        };
        let skipped = |skipped: &Skipped| json!({ "what": skipped.what, "why": skipped.why });
        json!({
            "bench": self.name,
            "flashmark_bench": env!("CARGO_PKG_VERSION"),
            "machine": self.machine,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "promises": self.promises.iter().map(promise).collect::<Vec<_>>(),
            "skipped": self.skipped.iter().map(skipped).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} · {}", self.name, self.machine)?;
        for table in &self.tables {
            writeln!(f, "\n{}\n{}", table.title, table.grid())?;
            if !table.note.is_empty() {
                writeln!(f, "{}", table.note)?;
            }
        }
        writeln!(f)?;
        for promise in &self.promises {
            let Promise { what, found, unit, .. } = promise;
            let (verdict, limits) = (promise.verdict().text(), promise.limits_text());
            writeln!(f, "{verdict:>7}: {what}: {:.2} {unit} (promised: {limits})", found.median)?;
        }
        for Skipped { what, why } in &self.skipped {
            writeln!(f, "skipped: {what}: {why}")?;
        }
        Ok(())
    }
}

impl Table {
    fn grid(&self) -> Grid {
        let mut grid = Grid::new();
        grid.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
        grid.set_header(self.columns.clone());
        for row in &self.rows {
            grid.add_row(row);
        }
        for (at, column) in grid.column_iter_mut().enumerate() {
            let is_number = self.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Number(..))));
            column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
        }
        grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(what: &str, [median, low, high]: [f64; 3], limits: std::ops::RangeInclusive<f64>) -> Promise {
        Promise { what: what.into(), found: Spread { median, low, high }, limits, unit: "ms" }
    }

    #[test]
    fn text_and_json_say_the_same() {
        let report = Report {
            name: "startup",
            machine: "one CPU".into(),
            tables: vec![Table {
                title: "a title".into(),
                columns: vec!["what", "ms"],
                rows: vec![vec!["x".into(), Cell::Number(1.256, 1)], vec!["y".into(), Cell::None]],
                note: "a note",
            }],
            promises: vec![
                promise("fast", [1.25, 1.0, 2.0], f64::NEG_INFINITY..=20.0),
                promise("alike", [1.25, 1.1, 1.3], 0.95..=1.05),
                promise("noisy", [1.06, 1.04, 1.3], 0.95..=1.05),
                promise("nothing", [f64::NAN; 3], 0.95..=1.05),
                promise("many", [3100.0, 2900.0, 3300.0], 3000.0..=f64::INFINITY),
            ],
            skipped: vec![Skipped { what: "a device".into(), why: "it needs root".into() }],
        };
        let text = report.to_string();
        assert!(text.contains("   kept: fast: 1.25 ms (promised: at most 20)"), "{text}");
        assert!(text.contains(" missed: alike: 1.25 ms (promised: 0.95 to 1.05)"), "{text}");
        assert!(text.contains("unclear: noisy"), "{text}");
        assert!(text.contains(" missed: nothing"), "what could not be measured is not kept: {text}");
        assert!(text.contains("   kept: many: 3100.00 ms (promised: at least 3000)"), "{text}");
        assert!(text.contains("skipped: a device: it needs root"), "{text}");
        let json = report.to_json();
        assert_eq!(json["skipped"], json!([{ "what": "a device", "why": "it needs root" }]));
        assert_eq!(json["tables"][0]["rows"][0], json!({ "what": "x", "ms": 1.3 }));
        assert_eq!(json["tables"][0]["rows"][1]["ms"], Value::Null);
        assert_eq!(json["promises"][1]["verdict"], json!("missed"));
        assert_eq!((&json["promises"][4]["least"], &json["promises"][4]["most"]), (&json!(3000.0), &Value::Null));
    }
}
