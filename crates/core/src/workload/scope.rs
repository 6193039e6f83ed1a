//! What a workload is for: kinds of storage and medium, and what raw flash needs before a write.

use serde::{Deserialize, Serialize};

/// When raw flash is erased before a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Erase {
    /// As part of the write, inside its time.
    #[default]
    Inside,
    /// Before the repeat, outside the time: what is measured is programming.
    Outside,
    /// Not at all: compatibility forms only. Bits that are 0 stay 0.
    Never,
}

/// What a target shows of its storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Whatever it is.
    #[default]
    Any,
    /// The storage itself: a device, a partition without a file system.
    Raw,
    /// A file in a file system.
    Files,
}

/// What a target's medium is, as far as suites make a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// Whatever it is.
    #[default]
    Any,
    /// NOR flash that the host erases itself.
    Nor,
    /// Anything that takes writes without an erase: cards, disks, a file of the machine.
    NotNor,
}
