//! Markdown: a GitHub table for each table and board, then what it comes to as a list.

use flashmark_report::format::markdown::escaped;
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
