//! What all threads give together.

use flashmark_fio::results::{DiskUse, JobReport, Results};

use super::Run;
use crate::report::{group_report, leave_out, merge};
use crate::thread::{ThreadOutcome, unix_ms};

impl Run<'_> {
    /// In fio's terms, with the reports of a group as one where the jobs want it.
    pub(super) fn results(&self, outcomes: &[ThreadOutcome], disks: Vec<DiskUse>) -> Results {
        let mut reports: Vec<JobReport> = Vec::new();
        let groups = outcomes.iter().map(|outcome| outcome.report.group).max().map_or(0, |last| last + 1);
        for outcome in outcomes {
            let job = &self.set.jobs[outcome.job];
            if !job.options.report.stats {
                continue;
            }
            let whole = reports.last_mut().filter(|last| {
                job.options.report.group_reporting
                    && last.options.report.group_reporting
                    && last.group == outcome.report.group
            });
            match whole {
                Some(whole) => merge(whole, &outcome.report),
                None => reports.push(outcome.report.clone()),
            }
        }
        reports.iter_mut().for_each(leave_out);
        let group = |number| {
            let jobs = outcomes.iter().filter(|outcome| outcome.report.group == number);
            group_report(jobs.map(|outcome| &outcome.report))
        };
        Results {
            ended_at_unix_ms: unix_ms(),
            global_settings: self.set.jobs.first().map(|job| job.global_settings.clone()).unwrap_or_default(),
            reports,
            groups: (0..groups).map(group).collect(),
            disks,
        }
    }
}
