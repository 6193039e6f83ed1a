//! Views beside the rows, for a terminal: of simulated boards where the time went and how the medium wore, of several
//! targets how they compare.
//!
//! The formats that know these views ([`crate::format::Format::knows_views`]) show them below each target's rows. These
//! functions write them alone, to stand beside a format that does not, on another stream.

use std::io;

use comfy_table::Cell;
use flashmark_core::record::Record;

use crate::attribution::{self, Pair, Part, WIDTH_MAX};
use crate::comparison::{self, Comparison, FIGURES};
use crate::format::Style;
use crate::targets::{Group, runs};
use crate::terminal::{Paint, align, empty_grid, natural_width, paragraph, squeeze};
use crate::wear;

/// Writes where the time of every target's workloads went: by account, by layer, and what the device did. No line of
/// the tables is wider than 100 columns, or than the terminal.
///
/// # Errors
/// If `out` fails.
pub fn write_attribution(records: &[Record], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for_each_target(records, style, out, attribution_of)
}

/// Writes how every target's medium wore: totals, and a map.
///
/// # Errors
/// If `out` fails.
pub fn write_wear(records: &[Record], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for_each_target(records, style, out, wear_of)
}

/// Writes every run's targets side by side.
///
/// # Errors
/// If `out` fails.
pub fn write_comparison(records: &[Record], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for (nth, run) in runs(records).iter().enumerate() {
        if nth > 0 {
            writeln!(out)?;
        }
        comparison_of(comparison::of(run).as_ref(), style, out)?;
    }
    Ok(())
}

type View = fn(&Group<'_>, &Style, &mut dyn io::Write) -> io::Result<()>;

fn for_each_target(records: &[Record], style: &Style, out: &mut dyn io::Write, view: View) -> io::Result<()> {
    let runs = runs(records);
    for (nth, group) in runs.iter().flat_map(|run| &run.groups).enumerate() {
        if nth > 0 {
            writeln!(out)?;
        }
        paragraph(out, style, "", &group.name(), Some(Paint::Bold))?;
        view(group, style, out)?;
    }
    Ok(())
}

/// Where the time of one target's workloads went.
pub(crate) fn attribution_of(group: &Group<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(parts) = attribution::parts(group) else {
        return paragraph(out, style, "  ", attribution::UNKNOWN, None);
    };
    let width = style.width.map_or(WIDTH_MAX, |width| width.min(WIDTH_MAX));
    let narrow = Style { width: Some(width), ..*style };
    for Part { title, headers, rows } in parts {
        paragraph(out, &narrow, "  ", title, None)?;
        let stacked = |Pair(upper, lower): &Pair| match lower.as_str() {
            "" => upper.clone(),
            lower => format!("{upper}\n{lower}"),
        };
        let headers: Vec<String> = headers.iter().map(stacked).collect();
        let mut grid = empty_grid(style, &headers.iter().map(String::as_str).collect::<Vec<_>>());
        for row in rows {
            grid.add_row(row.iter().map(|cell| Cell::new(stacked(cell))));
        }
        align(&mut grid, 0);
        squeeze(&mut grid, width);
        writeln!(out, "{grid}")?;
    }
    Ok(())
}

/// How one target's medium wore.
pub(crate) fn wear_of(group: &Group<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(found) = wear::of(group) else {
        return paragraph(out, style, "  ", wear::UNKNOWN, None);
    };
    paragraph(out, style, "  ", &format!("wear: {}", wear::summary(found)), None)?;
    let lines = wear::map(found, style.width.map(|width| width.saturating_sub(2)), style.ascii);
    if let Some((legend, map)) = lines.split_last() {
        for line in map {
            writeln!(out, "  {line}")?;
        }
        paragraph(out, style, "  ", legend, None)?;
    }
    Ok(())
}

/// Targets side by side: with a column for each figure if they fit, else with a column for each target.
pub(crate) fn comparison_of(comparison: Option<&Comparison>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(comparison) = comparison else {
        return paragraph(out, style, "", comparison::NOTHING, None);
    };
    paragraph(out, style, "", &comparison.title(), Some(Paint::Bold))?;
    let mut headers = vec!["\nworkload".to_owned()];
    for target in &comparison.targets {
        headers.extend(FIGURES.iter().enumerate().map(|(nth, figure)| match nth {
            0 => format!("{target}\n{figure}"),
            _ => format!("\n{figure}"),
        }));
    }
    let mut grid = empty_grid(style, &headers.iter().map(String::as_str).collect::<Vec<_>>());
    for line in &comparison.lines {
        let cells = line.cells.iter().flat_map(|cell| cell.shown(style.rate_unit));
        grid.add_row(std::iter::once(line.name.clone()).chain(cells));
    }
    if let Some(width) = style.width.filter(|width| natural_width(&grid) > *width) {
        let figures = FIGURES.join("\n");
        let headers = comparison.targets.iter().map(|target| format!("{target}\n{figures}"));
        let headers: Vec<String> = std::iter::once("workload".to_owned()).chain(headers).collect();
        grid = empty_grid(style, &headers.iter().map(String::as_str).collect::<Vec<_>>());
        for line in &comparison.lines {
            let cells = line.cells.iter().map(|cell| cell.shown(style.rate_unit).join("\n"));
            grid.add_row(std::iter::once(line.name.clone()).chain(cells));
        }
        squeeze(&mut grid, width);
    }
    align(&mut grid, 0);
    writeln!(out, "{grid}")?;
    comparison.remarks().iter().try_for_each(|remark| paragraph(out, style, "  ", remark, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn shown(view: fn(&[Record], &Style, &mut dyn io::Write) -> io::Result<()>, style: &Style) -> String {
        let mut out = Vec::new();
        let mut records = samples::simulated::on_fatfs();
        // The longest name of the built-in suites.
        records[1].workload.name = "(new file): write more than target size".into();
        records.push(samples::full());
        view(&records, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_view_stands_alone() {
        insta::assert_snapshot!("attribution", shown(write_attribution, &Style::default()));
        insta::assert_snapshot!("wear_ascii", shown(write_wear, &Style { ascii: true, ..Style::default() }));
        let ascii = shown(write_wear, &Style { ascii: true, ..Style::default() });
        assert!(ascii.is_ascii(), "{ascii}");
    }

    #[test]
    fn targets_stand_side_by_side() {
        let shown = |width| {
            let mut out = Vec::new();
            let style = Style { width, ..Style::default() };
            write_comparison(&samples::simulated::side_by_side(), &style, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!("comparison", shown(None));
        insta::assert_snapshot!("comparison_60_columns", shown(Some(60)));
        let narrow = shown(Some(60));
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
        let mut out = Vec::new();
        write_comparison(&[samples::full()], &Style::default(), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().starts_with("nothing to compare"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_or_100_columns() {
        for width in [None, Some(72), Some(80), Some(99), Some(300)] {
            let style = Style { width, ..Style::default() };
            for line in shown(write_attribution, &style).lines() {
                assert!(line.chars().count() <= width.unwrap_or(100).min(100), "{width:?}: {line}");
            }
            for line in shown(write_wear, &style).lines().filter(|_| width.is_some()) {
                assert!(line.chars().count() <= width.unwrap_or(100), "{width:?}: {line}");
            }
        }
    }
}
