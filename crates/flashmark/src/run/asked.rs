//! What was asked for, on the command line or in the records of the run to resume: before anything is expanded.

use std::path::{Path, PathBuf};

use anyhow::bail;
use flashmark_core::record::{Form, RunInfo};
use flashmark_core::workload::Workload;
use flashmark_suite::{Settings, Suite};

use super::place::lab;
use super::place::made::Making;
use super::sweep::{Sweep, TARGETS_MAX, combination_count, combinations};
use crate::args::RunArgs;

/// How records tell of options that are no suite keys; no key begins like this.
const SWEEP: &str = "--sweep ";
const IMAGE: &str = "--image";

/// A suite, the targets, and what is set for both.
pub struct Asked {
    /// As records keep it: `key=value`, in the order given, with sweeps and the image.
    pub pairs: Vec<String>,
    /// The form of the suite.
    pub form: Form,
    /// Parts of workloads' names.
    pub only: Vec<String>,
    /// As given.
    pub targets: Vec<String>,
    /// Set for every simulated board.
    pub board: Vec<(String, String)>,
    /// Swept over every simulated board.
    pub board_sweeps: Vec<Sweep>,
    /// What a simulated storage holds at the start.
    pub image: Option<PathBuf>,
    /// File systems that are made in the directories.
    pub making: Option<Making>,
    /// The suite's name or path; `None` for a workload from the command line.
    suite: Option<String>,
    settings: Settings,
    sweeps: Vec<Sweep>,
}

/// The workloads to run, once for each combination of swept suite keys.
pub struct Variants {
    /// The suite.
    pub suite: Suite,
    /// At least one, none of them empty.
    pub workloads: Vec<Vec<Workload>>,
}

impl Asked {
    /// By the command line; `settings` are those given as options of their own.
    pub fn of_args(args: &RunArgs, settings: Settings) -> anyhow::Result<Self> {
        let mut given = settings;
        for pair in &args.set {
            given.push_pair(pair)?;
        }
        let mut asked = Self {
            pairs: Vec::new(),
            form: if args.compat { Form::Compat } else { Form::Corrected },
            only: args.only.clone(),
            targets: args.targets.iter().map(|path| text_of(path)).collect::<anyhow::Result<_>>()?,
            board: Vec::new(),
            board_sweeps: Vec::new(),
            image: args.image.clone(),
            making: Making::of_args(args)?,
            suite: args.suite.clone(),
            settings: Settings::new(),
            sweeps: Vec::new(),
        };
        asked.sort_out(given, args.sweep.clone())?;
        if asked.suite.is_none() && !asked.describes_one() {
            asked.suite = Some(asked.default_suite());
        }
        Ok(asked)
    }

    /// By a record of the run.
    pub fn of_info(info: &RunInfo) -> anyhow::Result<Self> {
        let (mut given, mut sweeps, mut image) = (Settings::new(), Vec::new(), None);
        let mut pairs = info.settings.clone();
        let making = Making::take_from(&mut pairs)?;
        for pair in &pairs {
            if let Some(sweep) = pair.strip_prefix(SWEEP) {
                sweeps.push(sweep.parse()?);
            } else if let Some(path) = pair.strip_prefix(IMAGE).and_then(|pair| pair.strip_prefix('=')) {
                image = Some(PathBuf::from(path));
            } else {
                given.push_pair(pair)?;
            }
        }
        let suite = match info.suite_source.as_str() {
            "built-in" => Some(info.suite.clone()),
            "command line" => None,
            path => Some(path.to_owned()),
        };
        let mut asked = Self {
            pairs: Vec::new(),
            form: info.form,
            only: info.only.clone(),
            targets: info.targets.clone(),
            board: Vec::new(),
            board_sweeps: Vec::new(),
            image,
            making,
            suite,
            settings: Settings::new(),
            sweeps: Vec::new(),
        };
        asked.sort_out(given, sweeps)?;
        Ok(asked)
    }

    /// What is run where no suite is named: on simulated boards alone the one that they are made for, if they agree.
    fn default_suite(&self) -> String {
        let boards = lab::boards_of(&self.targets);
        let suite = boards.first().filter(|_| self.targets.iter().all(|target| lab::is_lab(target)));
        let suite = suite.and_then(|board| board.suite()).filter(|suite| {
            boards.len() == self.targets.len() && boards.iter().all(|board| board.suite() == Some(suite))
        });
        suite.unwrap_or("quick").to_owned()
    }

    /// Parts what is for boards from what is for the suite.
    fn sort_out(&mut self, given: Settings, sweeps: Vec<Sweep>) -> anyhow::Result<()> {
        self.pairs = given.to_pairs();
        self.pairs.extend(sweeps.iter().map(|sweep| format!("{SWEEP}{sweep}")));
        if let Some(path) = &self.image {
            self.pairs.push(format!("{IMAGE}={}", text_of(path)?));
        }
        if let Some(making) = &self.making {
            self.pairs.extend(making.pairs());
            if self.targets.iter().all(|target| lab::is_lab(target)) {
                bail!("--mkfs makes file systems in directories, and no target of this run is one: name a directory");
            }
        }
        let boards = lab::boards_of(&self.targets);
        for setting in given.0 {
            if !lab::is_board_key(&setting.key, &boards) {
                self.settings.0.push(setting);
                continue;
            }
            let shown = format!("--set {}={}", setting.key, setting.value);
            self.needs_lab(&setting.key, &shown)?;
            lab::check_value(&setting.value, &shown)?;
            self.board.push((setting.key, setting.value));
        }
        for sweep in sweeps {
            let key = &sweep.key;
            if self.sweeps.iter().chain(&self.board_sweeps).any(|known| known.key == *key) {
                bail!("--sweep {sweep}: {key} is swept twice: give all of its values in one --sweep");
            }
            let set = self.settings.0.iter().map(|setting| &setting.key).chain(self.board.iter().map(|(key, _)| key));
            if set.into_iter().any(|set| set == key) {
                bail!("--sweep {sweep}: {key} is set as well, and can be only one of both: leave one out");
            }
            if lab::is_board_key(key, &boards) {
                self.needs_lab(key, &format!("--sweep {sweep}"))?;
                self.board_sweeps.push(sweep);
            } else {
                self.sweeps.push(sweep);
            }
        }
        let count = combination_count(&self.sweeps).saturating_mul(combination_count(&self.board_sweeps));
        if count > TARGETS_MAX as u128 {
            bail!(too_many(count));
        }
        Ok(())
    }

    fn needs_lab(&self, key: &str, shown: &str) -> anyhow::Result<()> {
        if self.targets.iter().any(|target| lab::is_lab(target)) {
            return Ok(());
        }
        bail!(
            "{shown}: {key} is a key of simulated boards, and no target of this run is one: name one (lab:esp32; \
             flashmark boards lists them), or leave {key} out"
        )
    }

    /// Whether the suite is one workload that the command line describes.
    fn describes_one(&self) -> bool {
        let keys = self.settings.0.iter().map(|setting| &setting.key).chain(self.sweeps.iter().map(|sweep| &sweep.key));
        keys.into_iter().any(|key| key == "op" || key == "read-percent")
    }

    /// Whether anything is swept.
    pub fn is_sweep(&self) -> bool {
        !self.sweeps.is_empty() || !self.board_sweeps.is_empty()
    }

    /// Reads the suite and expands it.
    ///
    /// # Errors
    /// Whatever is wrong with the suite or its settings; `--only` that chooses nothing.
    pub fn variants(&self) -> anyhow::Result<Variants> {
        let loaded = self.suite.as_ref().map(|name| Suite::load(name)).transpose()?;
        let mut first = None;
        let mut workloads = Vec::new();
        for combination in combinations(&self.sweeps) {
            let mut settings = self.settings.clone();
            combination.iter().for_each(|(key, value)| settings.push(*key, *value));
            // A suite from the command line has its settings in it already.
            let (suite, settings) = match &loaded {
                Some(suite) => (suite.clone(), settings),
                None => (Suite::ad_hoc(&settings)?, Settings::new()),
            };
            workloads.push(self.chosen(&suite, &settings)?);
            first.get_or_insert(suite);
        }
        match first {
            Some(suite) => Ok(Variants { suite, workloads }),
            None => bail!("a sweep has at least one value"),
        }
    }

    fn chosen(&self, suite: &Suite, settings: &Settings) -> anyhow::Result<Vec<Workload>> {
        let all = suite.expand(self.form, settings)?;
        let names: Vec<String> = all.iter().map(|workload| workload.name.clone()).collect();
        let is_chosen = |workload: &Workload| {
            self.only.is_empty() || self.only.iter().any(|part| workload.name.contains(part.as_str()))
        };
        let chosen: Vec<Workload> = all.into_iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            let only = self.only.join(" ");
            bail!("--only {only} fits no workload of suite {}; it has: {}", suite.name(), names.join(", "));
        }
        Ok(chosen)
    }

    /// Whether the command line sets or sweeps this suite key.
    pub fn sets(&self, key: &str) -> bool {
        self.settings.0.iter().any(|setting| setting.key == key) || self.sweeps.iter().any(|sweep| sweep.key == key)
    }
}

/// What is said of a run with too many targets.
pub fn too_many(count: u128) -> String {
    format!(
        "the run would have {count} targets; the most is {TARGETS_MAX}: sweep over fewer values, or run it in parts"
    )
}

/// A path as records name it.
fn text_of(path: &Path) -> anyhow::Result<String> {
    match path.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => bail!("{} is not UTF-8, and a record could not name it: use a link to it", path.display()),
    }
}
