//! The terminal as the progress bar sees it: a little narrower than it is.
//!
//! The bar fills its line to the end. There, the `^C` that a terminal shows for a Ctrl-C would begin a new line, and the
//! bar's own line would stay when it is cleared.

use std::io::{self, Write};

use indicatif::TermLike;

/// Columns kept free at the end of the line.
const MARGIN: u16 = 3;

/// Standard error, which has to be a terminal.
#[derive(Debug)]
pub struct Terminal;

impl Terminal {
    fn put(text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }

    fn moved(by: usize, direction: char) -> io::Result<()> {
        // A count of 0 means 1 to a terminal.
        if by == 0 { Ok(()) } else { Self::put(&format!("\x1b[{by}{direction}")) }
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
        width.saturating_sub(MARGIN).max(1)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        Self::moved(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        Self::moved(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        Self::moved(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        Self::moved(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        Self::put(text)?;
        Self::put("\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        Self::put(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        Self::put("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}
