//! `flashmark chips`: the list, or the profile of one.

use std::fs;
use std::io::{self, Write};

use flashmark_chips::nor::profiles::{ProfileFileError, built_in, load, load_with_facts};
use flashmark_report::figures;

use crate::args::{ChipsArgs, ChipsCommand};
use crate::exit::Exit;

pub fn run(args: ChipsArgs) -> anyhow::Result<Exit> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.command {
        Some(ChipsCommand::Show { name }) => show(&name, &mut out)?,
        None => list(&mut out)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Name, maker, size, and what decides over the speed.
fn list(out: &mut impl Write) -> anyhow::Result<()> {
    let width = built_in().iter().map(|chip| chip.name.len()).max().unwrap_or(0);
    for chip in built_in() {
        let profile = load(chip.name)?;
        let size = figures::size(profile.capacity_bytes);
        let page = figures::size(profile.page_bytes.into());
        let erases: Vec<String> = profile.erase_types.iter().map(|erase| figures::size(erase.bytes.into())).collect();
        let (name, maker) = (chip.name, &profile.manufacturer);
        writeln!(out, "{name:width$}  {maker}, {size}, pages of {page}, erases of {}", erases.join(", "))?;
    }
    Ok(())
}

/// A profile's text as it is, after it was read; a dump has none, and is shown as what it tells.
fn show(name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let found = load_with_facts(name)?;
    if let Some(chip) = built_in().iter().find(|chip| chip.name.eq_ignore_ascii_case(name)) {
        out.write_all(chip.text.as_bytes())?;
    } else if name.ends_with(".toml") {
        let unreadable =
            |error: io::Error| ProfileFileError::Unreadable { file: name.to_owned(), reason: error.to_string() };
        out.write_all(fs::read_to_string(name).map_err(unreadable)?.as_bytes())?;
    } else {
        for fact in &found.facts {
            writeln!(out, "{} = {}    # {}", fact.key, fact.value, fact.source)?;
        }
    }
    Ok(())
}
