//! Whether there is room for all files of a run, before any of them is made.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use flashmark_fio::Job;
use flashmark_fio::options::Fallocate;

use super::layout::free_bytes_at;
use super::{FileKind, FilePlan, PlannedFile};
use crate::error::LoadProblem;

/// What the files on one file system need.
struct Needed {
    free: u64,
    /// What each file needs, by the path without links.
    files: BTreeMap<PathBuf, u64>,
    /// All of them together.
    bytes: u64,
}

/// Sums up what is written or reserved before the jobs begin, for each file system.
///
/// # Errors
/// [`LoadProblem::NoRoom`] or [`LoadProblem::NoRoomTogether`], with the job that is the first to find no room. A file system
/// that does not tell how much is free is no error.
pub(crate) fn check_room<'a>(
    plans: impl IntoIterator<Item = (&'a Job, &'a FilePlan)>,
) -> Result<(), (String, LoadProblem)> {
    let mut systems: BTreeMap<u64, Needed> = BTreeMap::new();
    for (job, plan) in plans {
        let is_read = plan.reads(job);
        let is_reserved = !matches!(job.options.files.fallocate, Fallocate::None | Fallocate::Truncate)
            && !job.options.access.fill_device;
        if !(is_read || is_reserved) {
            continue;
        }
        for file in plan.files.iter().filter(|file| file.kind == FileKind::Regular) {
            let Some((device, place, free)) = place_of(file) else { continue };
            let more = file.needed_bytes.saturating_sub(file.found_bytes.unwrap_or(0));
            let system = systems.entry(device).or_insert_with(|| Needed { free, files: BTreeMap::new(), bytes: 0 });
            let known = system.files.entry(place).or_default();
            system.bytes = system.bytes.saturating_add(more.saturating_sub(*known));
            *known = (*known).max(more);
            let (needed, free) = (system.bytes, system.free);
            let problem = if more > free {
                LoadProblem::NoRoom { path: file.path.clone(), needed: more, free }
            } else if needed > free {
                LoadProblem::NoRoomTogether { folder: folder_of(&file.path).into(), needed, free }
            } else {
                continue;
            };
            return Err((job.name.clone(), problem));
        }
    }
    Ok(())
}

/// The file system that a file is or will be on, its path without links, and what is free there.
fn place_of(file: &PlannedFile) -> Option<(u64, PathBuf, u64)> {
    let (there, place) = match file.path.canonicalize() {
        Ok(place) => (file.path.clone(), place),
        Err(_) => {
            let folder = folder_of(&file.path);
            (folder.into(), folder.canonicalize().ok()?.join(file.path.file_name()?))
        }
    };
    Some((there.metadata().ok()?.dev(), place, free_bytes_at(&there)?))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
