//! The kinds of targets. Each has a file of its own and a line in [`Place`] and [`places`].

pub mod host;
pub mod lab;
pub mod made;

use std::sync::Arc;

use flashmark_core::workload::{Access, Medium};

use super::asked::Asked;

/// One target as it is planned; nothing is open yet.
pub enum Place {
    /// A directory, a file or a block device of this machine.
    Host(host::Place),
    /// A storage of a simulated board.
    Lab(Arc<lab::Place>),
}

/// What a name on the command line stands for.
pub struct Places {
    /// In the order in which they run.
    pub places: Vec<Place>,
    /// Whether the name stands for whatever there is, so that a place that no workload is for is passed over.
    pub is_expanded: bool,
}

/// The targets of a name.
///
/// # Errors
/// What is wrong with the name.
pub fn places(name: &str, asked: &Asked) -> anyhow::Result<Places> {
    if lab::is_lab(name) { lab::places(name, asked) } else { host::places(name, asked) }
}

impl Place {
    /// As records name it.
    pub fn name(&self) -> &str {
        match self {
            Self::Host(place) => &place.name,
            Self::Lab(place) => &place.name,
        }
    }

    /// What it shows of its storage, and what that is.
    pub fn shows(&self) -> (Access, Medium) {
        match self {
            Self::Host(place) => (place.access, Medium::NotNor),
            Self::Lab(place) => place.shows,
        }
    }

    /// The file system that is made for it.
    pub const fn made(&self) -> Option<&made::Made> {
        match self {
            Self::Host(place) => place.made.as_ref(),
            Self::Lab(_) => None,
        }
    }

    /// Whether it is made anew each time, so that nothing that ran elsewhere matters to it.
    pub const fn is_lab(&self) -> bool {
        matches!(self, Self::Lab(_))
    }
}
