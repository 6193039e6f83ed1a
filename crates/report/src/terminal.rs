//! Grids and paragraphs as wide as the terminal.

use std::io;

use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid};

use crate::format::Style;

/// Corners and outer lines, a line below the header, nothing between rows and columns. The order is comfy-table's.
const BORDERS: &str = "││──├──┤     ──┌┐└┘";

/// Names are not wrapped more narrowly than this; a terminal that has no room for it wraps the table itself.
const NAME_COLUMNS_MIN: usize = 16;

/// What a grid takes if nothing is wrapped: content, two columns of air after each (one of them in place of a line),
/// the first one's and the outer lines.
pub(crate) fn natural_width(grid: &Grid) -> usize {
    grid.column_max_content_widths().iter().map(|width| usize::from(*width) + 2).sum::<usize>() + 2
}

pub(crate) fn empty_grid(style: &Style, headers: &[&str]) -> Grid {
    let mut grid = Grid::new();
    grid.load_preset(BORDERS);
    if style.color {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    grid.set_header(headers.iter().map(|header| Cell::new(header).add_attribute(Attribute::Bold)));
    grid
}

/// Sets two spaces between columns, and aligns all but the first one and the last `texts` ones to the right.
pub(crate) fn align(grid: &mut Grid, texts: usize) {
    let columns = grid.column_count();
    for (nth, column) in grid.column_iter_mut().enumerate() {
        // What would be a line between two columns is a space already.
        column.set_padding((1, if nth + 1 == columns { 1 } else { 0 }));
    }
    for column in grid.column_iter_mut().skip(1).take(columns.saturating_sub(1 + texts)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Lets the first column wrap where the grid is wider than the terminal; no other one does.
pub(crate) fn squeeze(grid: &mut Grid, width: usize) {
    if natural_width(grid) <= width {
        return;
    }
    let name = grid.column_max_content_widths().first().copied().unwrap_or(0);
    let figures = natural_width(grid) - usize::from(name);
    grid.set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(width.max(figures + NAME_COLUMNS_MIN)).unwrap_or(u16::MAX));
    for column in grid.column_iter_mut().skip(1) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// How text outside of the grid is set off.
#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Bold,
    Dim,
    Red,
    Yellow,
}

impl Paint {
    /// The SGR sequence that turns it on (ECMA-48, 8.3.117).
    const fn on(self) -> &'static str {
        match self {
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Yellow => "\u{1b}[33m",
        }
    }
}

/// Writes text in lines no longer than the terminal, broken at spaces; lines after the first are indented by two more.
pub(crate) fn paragraph(
    out: &mut dyn io::Write,
    style: &Style,
    indent: &str,
    text: &str,
    paint: Option<Paint>,
) -> io::Result<()> {
    let width = style.width.map(|width| width.saturating_sub(indent.len()));
    lines(out, style, indent, &wrapped(text.split(' ').map(str::to_owned), width), paint)
}

/// Writes text whose parts are set off by `·`, as [`paragraph`] does, but broken before these as long as a part has room
/// in a line.
pub(crate) fn parts(out: &mut dyn io::Write, style: &Style, text: &str, paint: Paint) -> io::Result<()> {
    const MARK: &str = " · ";
    let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(HANG.len()));
    let whole =
        text.split(MARK).enumerate().map(|(nth, part)| if nth == 0 { part.into() } else { format!("· {part}") });
    let pieces = whole.flat_map(|part| {
        if part.chars().count() <= room { vec![part] } else { part.split(' ').map(str::to_owned).collect() }
    });
    lines(out, style, "", &wrapped(pieces, style.width), Some(paint))
}

/// What lines after the first are indented by.
const HANG: &str = "  ";

fn lines(
    out: &mut dyn io::Write,
    style: &Style,
    indent: &str,
    lines: &[String],
    paint: Option<Paint>,
) -> io::Result<()> {
    for (nth, line) in lines.iter().enumerate() {
        let hang = if nth == 0 { "" } else { HANG };
        match paint.filter(|_| style.color) {
            Some(paint) => writeln!(out, "{indent}{hang}{}{line}\u{1b}[0m", paint.on())?,
            None => writeln!(out, "{indent}{hang}{line}")?,
        }
    }
    Ok(())
}

/// Lines of whole pieces with a space between them.
fn wrapped(pieces: impl Iterator<Item = String>, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return vec![pieces.collect::<Vec<_>>().join(" ")] };
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        let room = if lines.len() > 1 { width.saturating_sub(HANG.len()) } else { width };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + piece.chars().count() <= room => {
                line.push(' ');
                line.push_str(&piece);
            }
            _ => lines.push(piece),
        }
    }
    lines
}
