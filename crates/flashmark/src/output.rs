//! Putting records on standard output.

use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use flashmark_core::record::Record;
use flashmark_report::format::{Format, FormatError, Style, format_named, formats};

use crate::args::FormatArgs;

/// The chosen format and its style.
pub struct Output {
    format: &'static dyn Format,
    style: Style,
}

impl Output {
    /// # Errors
    /// [`FormatError::Unknown`], and bits in a format that has none.
    pub fn new(args: &FormatArgs) -> anyhow::Result<Self> {
        let format = format_named(&args.format)?;
        if args.bits && !format.knows_bits() {
            let knowing: Vec<&str> = formats().iter().filter(|f| f.knows_bits()).map(|f| f.name()).collect();
            bail!("--bits is for format {}, not for {}: leave it out", knowing.join(", "), format.name());
        }
        let terminal = io::stdout().is_terminal();
        let width = if terminal { terminal_width() } else { None };
        let color = terminal && std::env::var_os("NO_COLOR").is_none();
        let style = Style { width, color, rate_unit: args.rate_unit(), bits: args.bits };
        Ok(Self { format, style })
    }

    /// Whether the format can show the records of this suite, before they are made.
    ///
    /// # Errors
    /// [`FormatError::NotApplicable`].
    pub fn check(&self, suite: &str, original: Option<&str>) -> Result<(), FormatError> {
        match self.format.original() {
            Some(wanted) if original != Some(wanted) => Err(FormatError::NotApplicable {
                format: self.format.name(),
                original: wanted,
                suite: suite.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether warnings and faults have to go to standard error, since the format does not show them.
    pub fn is_machine(&self) -> bool {
        self.format.is_machine()
    }

    /// Prints the records.
    ///
    /// # Errors
    /// [`FormatError`] if they do not fit the format or the output fails.
    pub fn print(&self, records: &[Record]) -> Result<(), FormatError> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        self.format.write(records, &self.style, &mut out)?;
        out.flush()?;
        Ok(())
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
