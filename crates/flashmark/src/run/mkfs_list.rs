//! `flashmark run --mkfs list`: which file systems can be made here.

use std::io::{self, Write as _};

use flashmark_host::make_fs::{FILE_SYSTEMS, FsEntry, FsOption, Takes, availability};

use crate::args::RunArgs;
use crate::exit::Exit;

/// Whether the command line asks for the list.
pub fn is_asked_for(args: &RunArgs) -> bool {
    args.mkfs.iter().any(|list| list == "list")
}

/// Prints it on standard output.
///
/// # Errors
/// If the output fails.
pub fn print() -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    for entry in FILE_SYSTEMS {
        let reasons = availability(entry);
        let state = if reasons.is_empty() { "available".to_owned() } else { format!("no: {}", reasons.join("; ")) };
        writeln!(out, "{:<6} {state}", entry.name)?;
        for option in entry.options {
            writeln!(out, "         {:<32} {}", written(entry, option), option.about)?;
        }
    }
    writeln!(out, "\nall take")?;
    let own = |entry: &FsEntry, option: &FsOption| entry.options.iter().any(|known| known.name == option.name);
    for entry in FILE_SYSTEMS.iter().take(1) {
        for option in entry.all_options().filter(|option| !own(entry, option)) {
            writeln!(out, "         {:<32} {}", format!(":{}=[...]", option.name), option.about)?;
        }
    }
    Ok(Exit::Done)
}

/// An option as it is written.
fn written(entry: &FsEntry, option: &FsOption) -> String {
    let values = match option.takes {
        Takes::Nothing => String::new(),
        Takes::Text => "=TEXT".to_owned(),
        Takes::OneOf { values, .. } => format!("={}", values.join("|")),
    };
    format!("{}:{}{values}", entry.name, option.name)
}
