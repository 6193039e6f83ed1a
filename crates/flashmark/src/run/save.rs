//! `--save-image`: what a simulated storage holds at the end, in a file.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

use super::plan::Plan;
use crate::message::say;

/// A file that does not exist yet.
pub struct ImageFile {
    path: PathBuf,
}

impl ImageFile {
    /// Looks whether there will be one content, and a place for it.
    ///
    /// # Errors
    /// More than one simulated storage, or none; a file that exists; a directory that does not.
    pub fn for_plan(path: &Path, plan: &Plan) -> anyhow::Result<Self> {
        let name = path.display();
        let lab_count = plan.seats.iter().filter(|seat| seat.place.is_lab()).count();
        if lab_count != 1 {
            bail!(
                "--save-image {name} takes what one simulated storage holds after the run, and this run has {lab_count} \
                 of them: name one (lab:esp32/fatfs)"
            );
        }
        if path.symlink_metadata().is_ok() {
            bail!("--save-image {name}: the file exists: choose another name, or remove it");
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            // A mistake of the command line, and no failure to write.
            fs::read_dir(parent).map_err(|error| anyhow!("--save-image {name}: {}: {error}", parent.display()))?;
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Writes it. An interrupted run has no content that means anything, which is told.
    ///
    /// # Errors
    /// The system's.
    pub fn save(self, content: Option<Vec<u8>>) -> anyhow::Result<()> {
        let name = self.path.display();
        let Some(content) = content else {
            say(format_args!("--save-image {name}: the run did not come to its end, so there is nothing to save"));
            return Ok(());
        };
        let file = OpenOptions::new().write(true).create_new(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(&content).and_then(|()| file.sync_all()));
        written.with_context(|| format!("--save-image {name}"))
    }
}
