//! How flashmark ends.

use std::io;
use std::process::ExitCode;

use crate::message::say;
use flashmark_host::device::Refusal;
use flashmark_report::format::FormatError;
use flashmark_report::run_file::RunFileError;

/// The exit codes, as the README lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything ran.
    Done,
    /// A workload failed, or the output could not be written.
    Failed,
    /// The command line or a file named in it is wrong; nothing ran.
    Usage,
    /// Nothing ran because it would destroy data.
    Refused,
    /// The user stopped it: 128 and the number of SIGINT, as shells have it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// An error that ends flashmark in another way than [`Exit::Usage`].
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// A write was refused.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// A file that is somebody's would have been written; the text says which.
    #[error("{0}")]
    WouldOverwrite(String),
}

/// Tells the user, and chooses the exit code. Errors are of usage unless they are known to be something else.
pub fn report(error: &anyhow::Error) -> Exit {
    if is_closed_pipe(error) {
        // Whoever reads the output has seen enough (`flashmark suites | head`).
        return Exit::Done;
    }
    say(format_args!("{}", one_line(error)));
    match error.downcast_ref::<Ended>() {
        Some(Ended::Refused(refusal)) => return if protects_data(refusal) { Exit::Refused } else { Exit::Usage },
        Some(Ended::WouldOverwrite(_)) => return Exit::Refused,
        None => {}
    }
    let output_failed = matches!(error.downcast_ref(), Some(FormatError::Write(_)))
        || matches!(error.downcast_ref(), Some(RunFileError::Write { .. }))
        || error.downcast_ref::<io::Error>().is_some();
    if output_failed { Exit::Failed } else { Exit::Usage }
}

/// Whether it is for the sake of data that nothing was written; otherwise there was nothing to write to.
fn protects_data(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::NoConsent { .. }
            | Refusal::OtherConsent { .. }
            | Refusal::InUse { .. }
            | Refusal::Locked { .. }
            | Refusal::Unchecked { .. }
    )
}

/// The error and its causes, without those that the text before them has already.
fn one_line(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |line, cause| match line.contains(&cause) {
        true => line,
        false if line.is_empty() => cause,
        false => format!("{line}: {cause}"),
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let source = match error.downcast_ref() {
        Some(FormatError::Write(source)) => Some(source),
        _ => error.downcast_ref::<io::Error>(),
    };
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
