//! What a run consists of: from the command line, or from the records of the run to resume.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use flashmark_core::record::{Form, Record, RunInfo, Status};
use flashmark_core::workload::{Verify, Workload};
use flashmark_host::test_file::random_id;
use flashmark_suite::{Settings, Source, Suite, digest};

use crate::args::RunArgs;

/// Every workload on every target, in order: all workloads on the first target, then on the next.
pub struct Plan {
    /// The run's description, with index 0.
    pub info: RunInfo,
    /// What runs on each target.
    pub workloads: Vec<Workload>,
    /// Complete records that an earlier part of the run made, by their place.
    pub done: BTreeMap<u32, Record>,
    /// Records of what it left out (refused, or the target was gone), by their place.
    pub left_out: BTreeMap<u32, Record>,
}

impl Plan {
    /// The plan that the command line asks for.
    pub fn of_args(args: &RunArgs, mut settings: Settings) -> anyhow::Result<Self> {
        for pair in &args.set {
            settings.push_pair(pair)?;
        }
        let describes_one = settings.0.iter().any(|setting| setting.key == "op" || setting.key == "read-percent");
        let suite = match &args.suite {
            Some(name) => Suite::load(name)?,
            None if describes_one => Suite::ad_hoc(&settings)?,
            None => Suite::load("quick")?,
        };
        let form = if args.compat { Form::Compat } else { Form::Corrected };
        let targets = args.targets.iter().map(|path| name_of(path)).collect::<anyhow::Result<_>>()?;
        Self::new(&suite, form, &settings, args.only.clone(), targets)
    }

    fn new(
        suite: &Suite,
        form: Form,
        settings: &Settings,
        only: Vec<String>,
        targets: Vec<String>,
    ) -> anyhow::Result<Self> {
        // A suite from the command line has its settings in it already.
        let again = if suite.source == Source::CommandLine { &Settings::new() } else { settings };
        let all = suite.expand(form, again)?;
        let names: Vec<String> = all.iter().map(|w| w.name.clone()).collect();
        let chosen = |w: &Workload| only.is_empty() || only.iter().any(|part| w.name.contains(part.as_str()));
        let workloads: Vec<Workload> = all.into_iter().filter(chosen).collect();
        if workloads.is_empty() {
            bail!("--only {} fits no workload of suite {}; it has: {}", only.join(" "), suite.name(), names.join(", "));
        }
        let total = u32::try_from(workloads.len() * targets.len()).map_err(|_| anyhow!("too many workloads"))?;
        let info = RunInfo {
            id: format!("{:016x}", random_id()),
            suite: suite.name().to_owned(),
            suite_source: suite.source.to_string(),
            form,
            settings: settings.to_pairs(),
            only,
            plan: digest(&workloads, &targets),
            targets,
            index: 0,
            total,
            original: suite.original().map(str::to_owned),
        };
        Ok(Self { info, workloads, done: BTreeMap::new(), left_out: BTreeMap::new() })
    }

    /// The plan of the run that these records are of.
    pub fn of_records(records: Vec<Record>) -> anyhow::Result<Self> {
        let Some(last) = records.last() else {
            bail!("it holds no whole record, so nothing tells what ran: start the run again with -o");
        };
        let info = last.run.clone();
        let mut settings = Settings::new();
        for pair in &info.settings {
            settings.push_pair(pair)?;
        }
        let suite = match info.suite_source.as_str() {
            "built-in" => Suite::load(&info.suite)?,
            "command line" => Suite::ad_hoc(&settings)?,
            path => Suite::load(path)?,
        };
        let mut plan = Self::new(&suite, info.form, &settings, info.only.clone(), info.targets.clone())?;
        if plan.info.plan != info.plan {
            bail!(
                "suite {} ({}) has changed since the run began, so that old and new records would not be of one run: \
                 start again with -o",
                info.suite,
                info.suite_source
            );
        }
        plan.info.id = info.id;
        for record in records.into_iter().filter(|record| record.run.id == plan.info.id) {
            let at = record.run.index as usize % plan.workloads.len();
            if record.run.plan != info.plan
                || record.run.index >= plan.info.total
                || plan.workloads.get(at) != Some(&record.workload)
            {
                bail!("its record {} is not of the run that its last line is of: it was edited", record.run.index);
            }
            let places = match record.outcome.status {
                Status::Done => &mut plan.done,
                Status::Skipped => &mut plan.left_out,
                Status::Failed | Status::Interrupted => continue,
            };
            places.insert(record.run.index, record);
        }
        Ok(plan)
    }

    /// The targets as paths.
    pub fn target_paths(&self) -> Vec<PathBuf> {
        self.info.targets.iter().map(PathBuf::from).collect()
    }

    /// Whether any workload needs what is on the targets to be overwritten: to write, or to lay out what it reads and
    /// checks.
    pub fn needs_consent(&self) -> bool {
        self.workloads.iter().any(|workload| workload.writes() || workload.verify != Verify::None)
    }

    /// Whether the command line sets this suite key.
    pub fn sets(&self, key: &str) -> bool {
        self.info.settings.iter().any(|pair| pair.split_once('=').is_some_and(|(given, _)| given == key))
    }

    /// A record that an earlier part of the run made on this target.
    pub fn earlier_on(&self, target: &str) -> Option<&Record> {
        self.done.values().chain(self.left_out.values()).find(|record| record.target.name == target)
    }
}

/// A target as records name it.
fn name_of(path: &Path) -> anyhow::Result<String> {
    match path.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => bail!("{} is not UTF-8, and a record could not name it: use a link to it", path.display()),
    }
}
