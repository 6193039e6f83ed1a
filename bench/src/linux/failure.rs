//! Why nothing could be measured.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use flashmark_core::target::Fault;
use flashmark_host::target::TargetError;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The build is not worth measuring.
    #[error("this is a debug build, whose times say nothing: cargo run --release -p flashmark-bench -- …")]
    DebugBuild,
    /// A program that the measurement compares with or needs is not installed.
    #[error("{program} is not installed, and this measurement needs it (Debian: apt install {package})")]
    Missing {
        /// Its name.
        program: &'static str,
        /// Where Debian has it.
        package: &'static str,
    },
    /// flashmark itself is not built.
    #[error("there is no flashmark at {}: build it with cargo build --release, or name it with --flashmark", .0.display())]
    NotBuilt(PathBuf),
    /// A program ended otherwise than well.
    #[error("{command}\nended with {status}:\n{stderr}")]
    Program {
        /// The whole command.
        command: String,
        /// How it ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// A program's output does not have what is looked for.
    #[error("{program} printed no {wanted}:\n{output}")]
    Output {
        /// Its name.
        program: &'static str,
        /// What was looked for.
        wanted: &'static str,
        /// What it printed.
        output: String,
    },
    /// Something in the way of the measurement's own files.
    #[error("{doing}: {error}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's error.
        error: io::Error,
    },
    /// The runner reported a fault.
    #[error("the measured workload failed: {0}")]
    Fault(#[from] Fault),
    /// The target could not be opened.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A simulated board or chip did not do what was asked of it.
    #[error("the simulated board: {0}")]
    Lab(String),
    /// A script of file system calls is none.
    #[error("the script of a workload: {0}")]
    Spiffs(String),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// An error of the system while `doing` something.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { doing: doing.into(), error }
    }

    /// Something that a simulated board or chip refused.
    pub fn lab(error: impl Display) -> Self {
        Self::Lab(error.to_string())
    }

    /// 2 where something has to be installed or built first, 130 on Ctrl-C, else 1.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::DebugBuild | Self::Missing { .. } | Self::NotBuilt(_) => 2,
            Self::Interrupted => 130,
            _ => 1,
        })
    }
}
