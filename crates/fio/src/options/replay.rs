//! Traces (fio HOWTO, "I/O replay").

use super::table::options;
use crate::value::names::names;
use crate::value::quantity::count32;
use crate::value::{Misfit, Part, Scope, boolean, some, text};

/// What of a trace is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySkip {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
    /// Syncs.
    pub sync: bool,
}

#[derive(Clone, Copy)]
enum Skip {
    Read,
    Write,
    Trim,
    Sync,
}

const SKIPS: &[(&str, Skip)] =
    &[("read", Skip::Read), ("write", Skip::Write), ("trim", Skip::Trim), ("sync", Skip::Sync)];

fn replay_skip(part: Part<'_>, _: &mut Scope) -> Result<ReplaySkip, Misfit> {
    let mut skip = ReplaySkip::default();
    for piece in part.trimmed().split(',') {
        match crate::value::choice::pick(piece, SKIPS)? {
            Skip::Read => skip.read = true,
            Skip::Write => skip.write = true,
            Skip::Trim => skip.trim = true,
            Skip::Sync => skip.sync = true,
        }
    }
    Ok(skip)
}

fn power_of_two(part: Part<'_>, scope: &mut Scope) -> Result<u32, Misfit> {
    let number = count32(0, u32::MAX)(part, scope)?;
    if number.is_power_of_two() { Ok(number) } else { Err(Misfit::new(part, "a power of two")) }
}

options! {
    /// Traces.
    ReplayOptions in replay;
    fields {
        /// Where the job is recorded.
        write_iolog: Option<String> = None, "write_iolog" [] => some(text);
        /// What is replayed; copies of the job take turns with several.
        read_iolog: Vec<String> = Vec::new(), "read_iolog" [] => names;
        /// Whether it is replayed as fast as it goes.
        replay_no_stall: bool = false, "replay_no_stall" [] => boolean;
        /// The file or device to use instead of the trace's.
        replay_redirect: Option<String> = None, "replay_redirect" [] => some(text);
        /// What offsets are divided by.
        replay_scale: u32 = 1, "replay_scale" [] => count32(1, u32::MAX);
        /// What they are rounded down to; 0 is nothing.
        replay_align: u32 = 0, "replay_align" [] => power_of_two;
        /// How fast, in percent.
        replay_time_scale_percent: u32 = 100, "replay_time_scale" [] => count32(1, u32::MAX);
        /// What is left out.
        replay_skip: ReplaySkip = ReplaySkip::default(), "replay_skip" [] => replay_skip;
    }
    triples {}
    also {}
}
