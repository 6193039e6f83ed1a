//! The table for people: a box of rows for each target, above it what the target is, below it what to know.
//!
//! Where the terminal is too narrow for a column each, two figures share a cell, one above the other; nothing is left
//! out. Text is wrapped in the workload's column only, numbers never.

use std::io;

use comfy_table::{Cell, Color, Table as Grid};
use flashmark_core::record::{Record, Status};

use super::{Format, FormatError, Style};
use crate::comparison;
use crate::notes::{Note, Weight, notes};
use crate::rows::{Place, Row, rows};
use crate::sparkline::{Range, STEPS};
use crate::targets::{Group, runs};
use crate::terminal::{Paint, align, empty_grid, natural_width, paragraph, parts, squeeze};
use crate::views;

/// The format.
pub(super) struct Table;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn about(&self) -> &'static str {
        "a table with its doubts, for people"
    }

    fn is_machine(&self) -> bool {
        false
    }

    fn knows_views(&self) -> bool {
        true
    }

    fn write(&self, records: &[Record], style: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        if records.is_empty() {
            writeln!(out, "no records")?;
            return Ok(());
        }
        let shown = records.iter().flat_map(rows).filter_map(|row| row.stats);
        let timed = shown.filter(|stats| stats.count > 0).map(|stats| (stats.latency_ns.min, stats.latency_ns.max));
        let range = Range::over(timed);
        for (nth, run) in runs(records).iter().enumerate() {
            if nth > 0 {
                writeln!(out)?;
            }
            paragraph(out, style, "", &run.headline(), None)?;
            for group in &run.groups {
                writeln!(out)?;
                title(out, style, group)?;
                if let Some(phases) = group.phases() {
                    paragraph(out, style, "  ", &phases, None)?;
                }
                writeln!(out, "{}", grid(group, style, range))?;
                for note in notes(group, style.rate_unit) {
                    remark(out, style, &note)?;
                }
                if style.attribution {
                    views::attribution_of(group, style, out)?;
                }
                if style.wear {
                    views::wear_of(group, style, out)?;
                }
            }
            if let Some(comparison) = comparison::wanted(run, style) {
                writeln!(out)?;
                views::comparison_of(comparison.as_ref(), style, out)?;
            }
            if let Some(predicted) = run.predicted() {
                writeln!(out)?;
                paragraph(out, style, "", predicted, None)?;
            }
            if let Some(missing) = run.missing() {
                writeln!(out)?;
                remark(out, style, &Note { weight: Weight::Doubt, text: missing })?;
            }
        }
        if let Some(range) = range {
            writeln!(out)?;
            let legend = format!(
                "latency: {} from left to right, logarithmic, each row's tallest bar full; {} is {} bytes",
                range.describe(),
                style.rate_unit.name(),
                match style.rate_unit {
                    crate::figures::RateUnit::MB => "10^6",
                    crate::figures::RateUnit::MiB => "2^20",
                }
            );
            paragraph(out, style, "", &legend, Some(Paint::Dim))?;
        }
        Ok(())
    }
}

/// What the target is. The parts of a simulated board are many, and are kept whole.
fn title(out: &mut dyn io::Write, style: &Style, group: &Group<'_>) -> io::Result<()> {
    let title = format!("{} · {}", group.name(), group.describe());
    if group.is_simulated() {
        parts(out, style, &title, Paint::Bold)
    } else {
        paragraph(out, style, "", &title, Some(Paint::Bold))
    }
}

/// The wide form if it fits, else the narrow one.
fn grid(group: &Group<'_>, style: &Style, range: Option<Range>) -> Grid {
    let wide = wide(group, style, range);
    match style.width {
        Some(width) if natural_width(&wide) > width => {
            let mut narrow = narrow(group, style, range);
            squeeze(&mut narrow, width);
            narrow
        }
        _ => wide,
    }
}

fn wide(group: &Group<'_>, style: &Style, range: Option<Range>) -> Grid {
    let rows: Vec<Row<'_>> = group.records.iter().flat_map(|record| rows(record)).collect();
    let spread = rows.iter().any(|row| row.spread(style.rate_unit).is_some());
    let mut headers = vec!["workload", "size", "rate"];
    if spread {
        headers.push("repeats");
    }
    headers.extend(["IOPS", "mean", "median", "p99", "max", "stalls", "latency"]);
    let mut grid = empty_grid(style, &headers);
    for row in &rows {
        let [mean, median, p99, max] = row.latencies();
        let rate = [row.rate(style.rate_unit), cache_mark(row).into()].join(" ");
        let mut cells = vec![name_cell(row, row.name()), plain(row.size()), rate_cell(row, rate.trim_end().into())];
        if spread {
            let spread = row.spread(style.rate_unit).map(|rates| format!("{rates} {}", style.rate_unit.name()));
            cells.push(plain(spread.unwrap_or_default()));
        }
        cells.extend([row.iops(), mean, median, p99, max].map(plain));
        cells.push(stall_cell(row));
        cells.push(Cell::new(spark(row, range)));
        grid.add_row(cells);
    }
    align(&mut grid, 1);
    grid
}

fn narrow(group: &Group<'_>, style: &Style, range: Option<Range>) -> Grid {
    let headers = ["workload\n  size", "rate\nrepeats", "IOPS\nstalls", "mean\nmedian", "p99\nmax", "latency"];
    let mut grid = empty_grid(style, &headers);
    for row in group.records.iter().flat_map(|record| rows(record)) {
        let [mean, median, p99, max] = row.latencies();
        let indent = if row.place == Place::Main { "  " } else { "    " };
        let below_rate = [cache_mark(&row).to_owned(), row.spread(style.rate_unit).unwrap_or_default()].join(" ");
        let rate = two(row.rate(style.rate_unit), below_rate.trim().into());
        grid.add_row([
            name_cell(&row, format!("{}\n{indent}{}", row.name(), row.size())),
            rate_cell(&row, rate),
            plain(two(row.iops(), row.stalls())),
            plain(two(mean, median)),
            plain(two(p99, max)),
            Cell::new(spark(&row, range)),
        ]);
    }
    align(&mut grid, 1);
    grid
}

fn two(upper: String, lower: String) -> String {
    format!("{upper}\n{lower}")
}

fn plain(text: String) -> Cell {
    Cell::new(text)
}

fn name_cell(row: &Row<'_>, text: String) -> Cell {
    let cell = Cell::new(text);
    match row.record.outcome.status {
        Status::Done => cell,
        Status::Failed => cell.fg(Color::Red),
        Status::Interrupted | Status::Skipped => cell.fg(Color::Yellow),
    }
}

/// What sets a write apart that only reached a cache.
fn cache_mark(row: &Row<'_>) -> &'static str {
    if row.in_cache() { "cache!" } else { "" }
}

fn rate_cell(row: &Row<'_>, text: String) -> Cell {
    let cell = Cell::new(text);
    if row.in_cache() { cell.fg(Color::Yellow) } else { cell }
}

fn stall_cell(row: &Row<'_>) -> Cell {
    let cell = Cell::new(row.stalls());
    if row.stats.is_some_and(|stats| stats.stalls.count > 0) { cell.fg(Color::Yellow) } else { cell }
}

fn spark(row: &Row<'_>, range: Option<Range>) -> String {
    match (row.stats, range) {
        (Some(stats), Some(range)) => range.line(&stats.histogram.histogram()),
        _ => " ".repeat(STEPS),
    }
}

fn remark(out: &mut dyn io::Write, style: &Style, note: &Note) -> io::Result<()> {
    let (mark, paint) = match note.weight {
        Weight::Error => ("error: ", Some(Paint::Red)),
        Weight::Doubt => ("warning: ", Some(Paint::Yellow)),
        Weight::Fact => ("", None),
    };
    paragraph(out, style, "  ", &format!("{mark}{}", note.text), paint)
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::OpKind;

    use super::super::tests::shown;
    use super::*;
    use crate::figures::RateUnit;
    use crate::samples;

    fn table(records: &[Record], style: &Style) -> String {
        shown(&Table, records, style)
    }

    #[test]
    fn every_kind_of_trouble_is_on_the_screen() {
        insta::assert_snapshot!("table_wide", table(&samples::mixed_bag(), &Style::default()));
    }

    #[test]
    fn a_narrow_terminal_shows_the_same_figures() {
        let style = Style { width: Some(80), ..Style::default() };
        insta::assert_snapshot!("table_80_columns", table(&samples::mixed_bag(), &style));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 72..200 {
            let style = Style { width: Some(width), ..Style::default() };
            for line in table(&samples::mixed_bag(), &style).lines() {
                // A word that is longer than the line cannot be broken; there is none in the samples.
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn no_figure_is_left_out_when_there_is_no_room() {
        let records = samples::mixed_bag();
        let figures = |text: &str| -> Vec<String> {
            let mut words: Vec<String> = text
                .lines()
                .filter(|line| line.starts_with('│'))
                .flat_map(|line| line.split(['│', ' ']))
                .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                .map(str::to_owned)
                .collect();
            words.sort();
            words
        };
        let wide = figures(&table(&records, &Style::default()));
        assert!(wide.len() > 100, "{wide:?}");
        for width in [80, 60, 20, 1] {
            let narrow = table(&records, &Style { width: Some(width), ..Style::default() });
            if width >= 80 {
                assert_eq!(figures(&narrow), wide);
            }
            assert!(narrow.contains("cache!"), "{narrow}");
        }
    }

    #[test]
    fn mebibytes_are_asked_for_and_said() {
        let style = Style { rate_unit: RateUnit::MiB, ..Style::default() };
        let text = table(&samples::mixed_bag()[..1], &style);
        assert!(!text.contains("MB/s"), "{text}");
        // 64 MiB over 64 reads of 8 ms each and what they took longer.
        let elapsed_ns = samples::mixed_bag()[0].outcome.elapsed_ns;
        let rate = format!("{:.0} MiB/s", 64e9 / elapsed_ns as f64);
        assert!(text.contains(&rate), "{rate} in {text}");
    }

    #[test]
    fn colours_are_there_only_when_asked_for() {
        let records = samples::mixed_bag();
        assert!(!table(&records, &Style::default()).contains('\u{1b}'));
        let coloured = table(&records, &Style { color: true, ..Style::default() });
        assert!(coloured.contains("\u{1b}[1m") && coloured.contains("\u{1b}[0m"));
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain += before;
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        assert_eq!(plain + rest, table(&records, &Style::default()));
    }

    #[test]
    fn views_follow_the_rows() {
        let style = Style { width: Some(100), attribution: true, wear: true, ..Style::default() };
        insta::assert_snapshot!("table_views", table(&samples::simulated::on_fatfs(), &style));
        let text = table(&[samples::full()], &style);
        assert!(text.contains("simulated boards only"), "{text}");
    }

    #[test]
    fn the_parts_of_a_board_are_not_torn() {
        let mut records = samples::simulated::on_fatfs();
        records[0].environment.system = Some("classic ESP32 at 160 MHz, cached flash (the published run)".into());
        records[0].environment.cpu_model = Some("esp32 at 160 MHz".into());
        let title = |width| {
            let text = table(&records[..1], &Style { width, ..Style::default() });
            let lines = text.lines().skip_while(|line| !line.starts_with("lab:"));
            lines.take_while(|line| !line.contains("getting ready")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            title(Some(80)),
            [
                "lab:esp32/fatfs,fatfs.cluster=4k,chip=w25q32jv · simulated board",
                "  · classic ESP32 at 160 MHz, cached flash (the published run) · SPI FATFS",
                "  · cluster=4k sector=4096 fats=2 · W25Q32JV 4.19 MB",
            ]
        );
        // A part that has no room is torn after all.
        for line in title(Some(40)).iter().skip(1) {
            assert!(line.chars().count() <= 40, "{line}");
        }
        assert_eq!(title(None).len(), 1);
    }

    /// Raw flash has nothing to open, to close or to sync, and that is not measured either.
    #[test]
    fn rows_that_took_no_time_change_nothing() {
        let plain = samples::simulated::esp_idf_raw(flashmark_core::record::Form::Compat);
        let mut with = plain.clone();
        for record in &mut with {
            let nothing = samples::outcome(&[(OpKind::Open, 0, &[0, 0]), (OpKind::Sync, 0, &[0, 0])]);
            record.outcome.ops.extend(nothing.ops);
        }
        for style in [Style::default(), Style { width: Some(80), ..Style::default() }] {
            assert_eq!(table(&with, &style), table(&plain, &style));
        }
    }

    #[test]
    fn nothing_is_said_of_no_records() {
        assert_eq!(table(&[], &Style::default()), "no records\n");
    }
}
