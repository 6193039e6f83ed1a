//! `flashmark suites`: the list, or the text of one.

use std::io::{self, Write};

use flashmark_core::record::Form;
use flashmark_suite::{Suite, built_in};

use crate::args::{SuitesArgs, SuitesCommand};
use crate::exit::Exit;

pub fn run(args: SuitesArgs) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match args.command {
        Some(SuitesCommand::Show { name }) => out.write_all(Suite::load(&name)?.text.as_bytes())?,
        None => {
            let suites: Vec<Suite> =
                built_in().iter().map(|entry| Suite::load(entry.name)).collect::<Result<_, _>>()?;
            let width = suites.iter().map(|suite| suite.name().len()).max().unwrap_or(0);
            for suite in &suites {
                let compat = if suite.forms().contains(&Form::Compat) { " [--compat]" } else { "" };
                writeln!(out, "{:width$}  {}{compat}", suite.name(), suite.about())?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
