//! Putting records on standard output.

use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use flashmark_core::record::Record;
use flashmark_report::format::{Format, FormatError, Style, format_named, formats};
use flashmark_report::sweep::{Metric, sort_by, sweep_table};
use flashmark_report::views::{write_attribution, write_comparison, write_wear};

use crate::args::FormatArgs;

/// The format whose place a sweep's table takes.
const TABLE: &str = "table";

/// The chosen format and its style.
pub struct Output {
    format: &'static dyn Format,
    style: Style,
    sort: Option<Metric>,
}

impl Output {
    /// # Errors
    /// [`FormatError::Unknown`]; bits or an order in a format that has none.
    pub fn new(args: &FormatArgs) -> anyhow::Result<Self> {
        let format = format_named(&args.format)?;
        if args.bits && !format.knows_bits() {
            let knowing: Vec<&str> = formats().iter().filter(|f| f.knows_bits()).map(|f| f.name()).collect();
            bail!("--bits is for format {}, not for {}: leave it out", knowing.join(", "), format.name());
        }
        if let Some(sort) = args.sort.filter(|_| format.original().is_some()) {
            bail!("--sort {sort}: format {} has the order of the original: leave one of both out", format.name());
        }
        let terminal = io::stdout().is_terminal();
        let width = if terminal { terminal_width() } else { None };
        let color = terminal && std::env::var_os("NO_COLOR").is_none();
        let style = Style {
            width,
            color,
            rate_unit: args.rate_unit(),
            bits: args.bits,
            attribution: args.attribution,
            wear: args.wear,
            compare: args.compare,
            ascii: !takes_unicode(),
        };
        Ok(Self { format, style, sort: args.sort })
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

    /// Whether warnings and faults have to go to standard error, since what is printed does not show them.
    pub fn hides_remarks(&self) -> bool {
        self.format.is_machine() || self.is_sorted_table()
    }

    /// Whether what is printed needs no more of a record than its main figures.
    pub fn needs_figures_only(&self) -> bool {
        self.is_sorted_table() && !self.style.attribution && !self.style.wear && !self.style.compare
    }

    fn is_sorted_table(&self) -> bool {
        self.sort.is_some() && self.format.name() == TABLE
    }

    /// Sorts by `metric` where the format is a table, unless the command line says otherwise.
    pub fn sorted_by(self, metric: Metric) -> Self {
        let sort = self.sort.or_else(|| (self.format.name() == TABLE).then_some(metric));
        Self { sort, ..self }
    }

    /// Shows the targets side by side, where the format knows how.
    pub fn comparing(mut self) -> Self {
        self.style.compare |= self.format.knows_views();
        self
    }

    /// Prints the records.
    ///
    /// # Errors
    /// [`FormatError`] if they do not fit the format or the output fails.
    pub fn print(&self, mut records: Vec<Record>) -> Result<(), FormatError> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        match self.sort {
            Some(metric) if self.format.name() == TABLE => {
                sweep_table(&records, metric, &self.style, &mut out)?;
                self.print_views(&records, &self.style, &mut out)?;
            }
            sort => {
                if let Some(metric) = sort {
                    sort_by(&mut records, metric);
                }
                self.format.write(&records, &self.style, &mut out)?;
                if !self.format.knows_views() {
                    out.flush()?;
                    // Nothing may stand beside data.
                    let style = Style { color: false, width: None, ..self.style };
                    self.print_views(&records, &style, &mut io::stderr().lock())?;
                }
            }
        }
        out.flush()?;
        Ok(())
    }

    fn print_views(&self, records: &[Record], style: &Style, out: &mut dyn Write) -> io::Result<()> {
        if style.attribution {
            writeln!(out)?;
            write_attribution(records, style, out)?;
        }
        if style.wear {
            writeln!(out)?;
            write_wear(records, style, out)?;
        }
        if style.compare {
            writeln!(out)?;
            write_comparison(records, style, out)?;
        }
        Ok(())
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Whether the user's locale says so: the first of these variables that is set counts (POSIX.1-2017, 8.2). Other systems
/// have none of them, and take it.
fn takes_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    match locale {
        Some(locale) => locale.to_lowercase().replace('-', "").contains("utf8"),
        None => !cfg!(unix),
    }
}
