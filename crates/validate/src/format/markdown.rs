//! Markdown: a GitHub table for each table and board, then what it comes to as a list.

use std::io;

use super::words;
use crate::report::Report;

pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    for (title, kind, rows) in words::parts(report) {
        writeln!(out, "### {}\n", escaped(&title))?;
        writeln!(out, "| {} |", words::headers(kind).join(" | "))?;
        writeln!(out, "| :-- | --: | --: | --: | :-- |")?;
        for row in rows {
            writeln!(out, "| {} |", words::cells(row).map(|cell| escaped(&cell)).join(" | "))?;
        }
        writeln!(out)?;
    }
    words::remarks(report).iter().try_for_each(|line| writeln!(out, "* {}", escaped(line)))
}

/// Text that Markdown takes as it is (CommonMark 2.4: a backslash before punctuation).
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '~' | '&') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
