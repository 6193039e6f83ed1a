//! The table: a grid for each table and board, then what it comes to.

use std::io;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid};

use super::words;
use crate::metric::Kind;
use crate::report::{Report, RowReport};

/// The most columns of a line.
const WIDTH: u16 = 100;

/// Corners and outer lines, a line below the header, nothing between rows and columns. The order is comfy-table's.
const BORDERS: &str = "││──├──┤     ──┌┐└┘";

pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    for (title, kind, rows) in words::parts(report) {
        paragraph(out, &title)?;
        writeln!(out, "{}\n", grid(kind, &rows))?;
    }
    let blocks = [words::summary(report), words::limits(report), words::left_out(report), report.messages.clone()];
    for (nth, lines) in blocks.iter().filter(|lines| !lines.is_empty()).enumerate() {
        if nth > 0 {
            writeln!(out)?;
        }
        lines.iter().try_for_each(|line| paragraph(out, line))?;
    }
    Ok(())
}

fn grid(kind: Kind, rows: &[&RowReport]) -> Grid {
    let mut grid = Grid::new();
    grid.load_preset(BORDERS).force_no_tty().set_header(words::headers(kind));
    grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    for row in rows {
        let mut cells = words::cells(row);
        // Room for the mark in all rows, so that the digits stand below each other.
        if let Some(error) = cells.get_mut(3).filter(|error| !error.is_empty() && !error.ends_with(words::SMALL)) {
            error.push_str("  ");
        }
        grid.add_row(cells);
    }
    let columns = grid.column_count();
    for (nth, column) in grid.column_iter_mut().enumerate() {
        // What would be a line between two columns is a space already.
        column.set_padding((1, u16::from(nth + 1 == columns)));
        if nth > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if (1..=3).contains(&nth) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid
}

/// Text in lines of at most [`WIDTH`] columns, broken at spaces; lines after the first are indented.
fn paragraph(out: &mut dyn io::Write, text: &str) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split(' ') {
        let is_first = line.trim().is_empty();
        if !is_first && line.chars().count() + 1 + word.chars().count() > usize::from(WIDTH) {
            writeln!(out, "{line}")?;
            line = format!("  {word}");
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{line}")
}
