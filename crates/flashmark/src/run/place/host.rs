//! Targets of this machine: what a path leads to.

use std::path::PathBuf;

use anyhow::bail;
use flashmark_core::workload::Access;
use flashmark_host::target::TargetError;
use flashmark_lab::built_in_boards;
use flashmark_lab::target_name::TargetName;

use super::Places;
use super::made::{self, Made};
use crate::run::asked::Asked;

/// A path.
pub struct Place {
    /// As given.
    pub name: String,
    /// What it leads to.
    pub access: Access,
    /// A file system that is made there for the run.
    pub made: Option<Made>,
}

/// The target that a path is, or those that are made there.
///
/// # Errors
/// [`TargetError::Missing`], or a hint at the board of that name; file systems that are to be made elsewhere than in a
/// directory.
pub fn places(name: &str, asked: &Asked) -> anyhow::Result<Places> {
    let path = PathBuf::from(name);
    let access = match path.metadata() {
        Ok(metadata) if metadata.is_dir() || metadata.is_file() => Access::Files,
        Ok(_) => Access::Raw,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let lab = format!("lab:{name}");
            let board = lab.parse::<TargetName>().map(|lab| lab.board).unwrap_or_default();
            if built_in_boards().iter().any(|known| known.name == board) {
                bail!("{name} does not exist; the simulated board of that name is {lab}: did you mean that?");
            }
            return Err(TargetError::Missing { path }.into());
        }
        // Opening it will say what is wrong.
        Err(_) => Access::Any,
    };
    let place = Place { name: name.to_owned(), access, made: None };
    let places = match &asked.making {
        Some(making) => made::places(place, making)?,
        None => vec![super::Place::Host(place)],
    };
    Ok(Places { places, is_expanded: false })
}
