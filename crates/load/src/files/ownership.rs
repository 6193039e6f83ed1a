//! What may be written: files that flashmark made, and what the user gave for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashmark_fio::Job;
use flashmark_fio::options::Engine;
use flashmark_host::consent::ConsentArgs;
use flashmark_host::device::{self, Claim};
use rustix::fs::XattrFlags;

use super::{FileKind, FilePlan, PlannedFile};
use crate::error::LoadProblem;

/// The extended attribute of files that a job made. Such a file is written again by the next job without asking, as a job
/// that writes and one that reads go together.
const MADE: &str = "user.flashmark.job";

/// By what right a file is used.
#[derive(Clone, Debug)]
pub(crate) enum Owned {
    /// It is not there yet.
    New,
    /// flashmark made it.
    Ours,
    /// The user consented to its loss.
    Claimed(Arc<Claim>),
    /// It is only read.
    Foreign,
    /// There is nothing to have a right to.
    Imagined,
}

/// By what right each file of a run is used.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    files: BTreeMap<PathBuf, Owned>,
}

/// Whether a job changes a file: by its accesses, or because it has to be made longer before.
fn is_changed(job: &Job, plan: &FilePlan, file: &PlannedFile) -> bool {
    let too_short = file.kind == FileKind::Regular && file.found_bytes.is_some_and(|found| found < file.needed_bytes);
    plan.changes(job) || too_short || job.options.files.unlink
}

/// Whether flashmark made the file.
fn is_ours(path: &Path) -> bool {
    let mut value = [0_u8; 8];
    // A link to it may have been put there by anybody.
    let is_plain = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    is_plain && rustix::fs::getxattr(path, MADE, &mut value).is_ok()
}

/// Marks a file that was just made. Where the file system has no such attributes it is not known again, which is safe.
pub(super) fn mark(file: &File) -> io::Result<()> {
    rustix::fs::fsetxattr(file, MADE, b"1", XattrFlags::empty())?;
    Ok(())
}

impl Rights {
    /// Finds out for every file, and claims what the user consented to. Nothing is changed.
    pub(crate) fn of<'a>(
        plans: impl IntoIterator<Item = (&'a Job, &'a FilePlan)>,
        consent: &ConsentArgs,
    ) -> Result<Self, (String, LoadProblem)> {
        let mut rights = Self::default();
        for (job, plan) in plans {
            for file in &plan.files {
                let changes = is_changed(job, plan, file);
                let known = rights.files.get(&file.path);
                // What an earlier job only reads may still be claimed for this one.
                if known.is_some() && !(changes && matches!(known, Some(Owned::Foreign))) {
                    continue;
                }
                let owned = own(job, file, changes, consent).map_err(|problem| (job.name.clone(), problem))?;
                rights.files.insert(file.path.clone(), owned);
            }
        }
        Ok(rights)
    }

    pub(crate) fn to(&self, path: &Path) -> Owned {
        self.files.get(path).cloned().unwrap_or(Owned::Foreign)
    }

    /// What the claims could not check, for people.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = &String> {
        self.files.values().flat_map(|owned| match owned {
            Owned::Claimed(claim) => claim.doubts(),
            _ => &[],
        })
    }
}

fn own(job: &Job, file: &PlannedFile, changes: bool, consent: &ConsentArgs) -> Result<Owned, LoadProblem> {
    if job.options.engine.ioengine == Engine::Null {
        return Ok(Owned::Imagined);
    }
    if file.found_bytes.is_none() {
        if !job.options.files.allow_file_create {
            return Err(LoadProblem::Missing { path: file.path.clone() });
        }
        return Ok(Owned::New);
    }
    let ours = file.kind == FileKind::Regular && is_ours(&file.path);
    if ours {
        return Ok(Owned::Ours);
    }
    if !changes {
        return Ok(Owned::Foreign);
    }
    match consent.consent_to(&file.path) {
        Some(consent) => {
            let claim = match file.kind {
                FileKind::Device => device::claim(&file.path, &consent),
                _ => device::claim_file(&file.path, &consent),
            };
            Ok(Owned::Claimed(Arc::new(claim.map_err(|refusal| LoadProblem::Refused(Box::new(refusal)))?)))
        }
        None if file.kind == FileKind::Device => {
            Err(LoadProblem::Refused(Box::new(device::refuse_without_consent(&file.path))))
        }
        None => Err(LoadProblem::Foreign { path: file.path.clone() }),
    }
}
