//! `flashmark clean`: removes what killed runs left behind.

use std::path::Path;

use flashmark_host::leftovers::{Sweep, sweep};
use flashmark_report::figures;

use crate::args::CleanArgs;
use crate::exit::Exit;
use crate::message::say;

pub fn run(args: &CleanArgs) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for directory in &args.directories {
        let found =
            sweep(directory).map_err(|error| anyhow::anyhow!("cannot read {}: {error}", directory.display()))?;
        let none = found.removed.is_empty() && found.in_use.is_empty() && found.unknown.is_empty();
        if none && found.failed.is_empty() {
            say(format_args!("nothing left behind in {}", directory.display()));
        }
        for leftover in &found.in_use {
            say(format_args!("{} is in use by a running flashmark; left alone", leftover.path.display()));
        }
        for leftover in &found.unknown {
            say(format_args!(
                "{} may be in use: its file system has no locks to tell by; remove it by hand if no flashmark runs",
                leftover.path.display()
            ));
        }
        exit = if tell(&found) { exit } else { Exit::Failed };
    }
    Ok(exit)
}

/// Before a run: removes leftovers, and says so unless `quiet`.
pub fn before_run(directory: &Path, quiet: bool) {
    // A directory that cannot be read is about to be reported by the run itself.
    if let Ok(found) = sweep(directory)
        && !quiet
    {
        tell(&found);
    }
}

/// Says what was removed and what could not be; false if something could not.
fn tell(found: &Sweep) -> bool {
    for leftover in &found.removed {
        let size = figures::size(leftover.bytes);
        say(format_args!("removed {} ({size}), left behind by an earlier run", leftover.path.display()));
    }
    for (leftover, error) in &found.failed {
        say(format_args!("cannot remove {}, left behind by an earlier run: {error}", leftover.path.display()));
    }
    found.failed.is_empty()
}
