//! `flashmark show`: records of earlier runs.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use anyhow::Context as _;
use flashmark_core::record::Record;
use flashmark_report::run_file::read_records;

use crate::args::ShowArgs;
use crate::exit::Exit;
use crate::message::say;
use crate::output::Output;
use crate::run::newest_of_each;

pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let output = Output::new(&args.show)?;
    let mut records = Vec::new();
    for path in &args.files {
        records.extend(read(path)?);
    }
    output.print(newest_of_each(records))?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> anyhow::Result<Vec<Record>> {
    let name = path.display();
    let (records, torn) = if path.as_os_str() == "-" {
        read_records(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|error| anyhow::anyhow!("cannot open {name}: {error}"))?;
        read_records(BufReader::new(file))
    }
    .with_context(|| name.to_string())?;
    if let Some(torn) = torn {
        say(format_args!("{name}: {torn}"));
    }
    Ok(records)
}
