//! Jobs that get in each other's way where what they write is verified.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashmark_fio::options::VerifyKind;

use super::Run;
use crate::accesses::FilePart;
use crate::files::FileKind;
use crate::thread::ThreadPlan;

impl Run<'_> {
    /// Doubts about files of which two threads write the same part at the same time, if either checks it; one for a file.
    pub(super) fn overlaps(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for batch in self.batches() {
            let mut writers: BTreeMap<PathBuf, Vec<(&ThreadPlan<'_>, FilePart)>> = BTreeMap::new();
            for thread in batch.iter().filter(|thread| thread.files.changes(thread.job)) {
                for file in thread.files.files.iter().filter(|file| file.kind != FileKind::Imagined) {
                    writers.entry(real(&file.path)).or_default().push((thread, file.part));
                }
            }
            for (path, mut writers) in writers {
                writers.sort_by_key(|(_, part)| part.start);
                // In this order, one that overlaps any before it overlaps the one before it that goes farthest.
                let mut farthest = None::<(&ThreadPlan<'_>, FilePart)>;
                let has_checks = writers.iter().any(|(thread, _)| checks(thread));
                for (thread, part) in writers.into_iter().filter(|_| has_checks) {
                    match farthest {
                        Some((other, before)) if part.start < before.end() && (checks(thread) || checks(other)) => {
                            doubts.push(told(&path, [other, thread], part.start, part.end().min(before.end())));
                            break;
                        }
                        Some((_, before)) if before.end() >= part.end() => {}
                        _ => farthest = Some((thread, part)),
                    }
                }
            }
        }
        doubts
    }
}

/// One path for one file, however jobs name it.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn checks(thread: &ThreadPlan<'_>) -> bool {
    !matches!(thread.job.options.verify.verify, VerifyKind::None | VerifyKind::Null)
}

fn told(path: &Path, [one, other]: [&ThreadPlan<'_>; 2], from: u64, to: u64) -> String {
    let who = if one.job_index == other.job_index {
        format!("copies of job `{}`", one.job.name)
    } else {
        format!("jobs `{}` and `{}`", one.job.name, other.job.name)
    };
    format!(
        "{who} write bytes {from} to {to} of {} at the same time, and verify finds there what the other one wrote: give each \
         a file or a part (offset=, offset_increment=) of its own, or let one wait for the other (stonewall)",
        path.display()
    )
}
