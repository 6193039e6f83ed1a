//! Simulated boards: `lab:BOARD[/STORAGE][,key=value…]`, and the keys that are set for them.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use flashmark_core::workload::{Access, Medium};
use flashmark_lab::board::all_keys;
use flashmark_lab::target_name::TargetName;
use flashmark_lab::{Board, BoardError, LabError, LabTarget};
use flashmark_suite::{Source, Suite};

use super::Places;
use crate::run::asked::{Asked, too_many};
use crate::run::sweep::{TARGETS_MAX, combination_count, combinations};

/// A storage of a board, with everything that is set.
pub struct Place {
    /// The whole name, by which alone the target can be repeated.
    pub name: String,
    /// What it shows of its storage, and what that is.
    pub shows: (Access, Medium),
    /// The board without what is swept.
    base: Arc<Board>,
    storage: String,
    swept: Vec<(String, String)>,
}

impl Place {
    /// The board as it is to be measured; whether its settings go together is seen when it is opened.
    ///
    /// # Errors
    /// [`BoardError`], for a value that its key does not take.
    pub fn board(&self) -> Result<Board, BoardError> {
        let mut board = (*self.base).clone();
        self.swept.iter().try_for_each(|(key, value)| board.set(key, value))?;
        Ok(board)
    }

    /// Makes the board and gets the storage ready.
    ///
    /// # Errors
    /// [`LabError`], e.g. for a partition that is too small for its file system, or a corrupt image.
    pub fn open(&self, board: &Board, image: Option<&[u8]>) -> Result<LabTarget, LabError> {
        LabTarget::open(board, &self.storage, image)
    }

    /// How often a workload of the suite is repeated here at most; `None` is as often as the suite says.
    ///
    /// # Errors
    /// As [`Place::board`].
    pub fn tries(&self, suite: &Suite) -> Result<Option<NonZeroU32>, BoardError> {
        let asked_by = match &suite.source {
            Source::BuiltIn => suite.name(),
            Source::Path(path) => path,
            Source::CommandLine => return Ok(None),
        };
        let key = self.tries_key();
        // A board is not copied for each of many combinations.
        if self.swept.iter().any(|(swept, _)| *swept == key) {
            return self.board()?.tries(&self.storage, asked_by, suite.original());
        }
        self.base.tries(&self.storage, asked_by, suite.original())
    }

    /// The key that tells how often workloads are repeated here at most.
    pub fn tries_key(&self) -> String {
        format!("{}.tries", self.storage)
    }

    /// What the target is called with another value of a key.
    pub fn name_with(&self, key: &str, value: &str) -> String {
        let setting = (key.to_owned(), value.to_owned());
        match self.name.parse::<TargetName>() {
            Ok(name) => {
                let settings = last_of_each([name.settings, vec![setting]].concat());
                TargetName { settings, ..name }.to_string()
            }
            Err(_) => format!("{},{key}={value}", self.name),
        }
    }

    /// The storage's name.
    pub fn storage(&self) -> &str {
        &self.storage
    }

    /// The board without what is swept; places of one name share it.
    pub const fn base(&self) -> &Arc<Board> {
        &self.base
    }

    /// The chip that is swept to, if chips are swept: its numbers are no part of the target's name.
    pub fn swept_chip(&self) -> Option<&str> {
        self.swept.iter().find(|(key, _)| key == "chip").map(|(_, chip)| chip.as_str())
    }
}

/// Whether a target is meant for the lab.
pub fn is_lab(name: &str) -> bool {
    TargetName::is_lab(name)
}

/// The boards of these targets, as far as they can be read.
pub fn boards_of(targets: &[String]) -> Vec<Board> {
    let names = targets.iter().filter(|target| is_lab(target)).filter_map(|target| target.parse::<TargetName>().ok());
    names.filter_map(|name| Board::load(&name.board).ok()).collect()
}

/// Whether a key is one of boards: no suite key and no parameter has a dot.
pub fn is_board_key(key: &str, boards: &[Board]) -> bool {
    let is_known = || !boards.is_empty() && all_keys().iter().any(|known| known.name == key);
    let is_of_suites = || flashmark_suite::keys().iter().any(|known| known.name == key);
    key.contains('.') || key == "chip" || (!is_of_suites() && is_known())
}

/// Whether a value can stand in a target's name, in which commas part the settings.
///
/// # Errors
/// `shown` and what to do.
pub fn check_value(value: &str, shown: &str) -> anyhow::Result<()> {
    if value.contains(',') {
        bail!("{shown}: a value of a board's key has no comma; several values are swept: --sweep KEY=VALUE,VALUE");
    }
    Ok(())
}

/// The storages that a name stands for, each with every combination of what is swept.
///
/// # Errors
/// What is wrong with the name, the board or a setting; a storage that cannot be made even without what is swept.
pub fn places(name: &str, asked: &Asked) -> anyhow::Result<Places> {
    let mut target: TargetName = name.parse()?;
    let mut base = Board::load(&target.board).with_context(|| name.to_owned())?;
    for (key, value) in &asked.board {
        target.settings.push((key.clone(), value.clone()));
    }
    target.settings = last_of_each(target.settings);
    for (key, value) in &target.settings {
        base.set(key, value).with_context(|| name.to_owned())?;
    }
    for sweep in &asked.board_sweeps {
        if target.settings.iter().any(|(key, _)| *key == sweep.key) {
            bail!("--sweep {sweep}: {name} sets {}, which can be only one of both: leave one out", sweep.key);
        }
        for value in &sweep.values {
            base.clone().set(&sweep.key, value).with_context(|| format!("--sweep {sweep}"))?;
        }
    }
    let storages = match &target.storage {
        Some(storage) => vec![base.storage(storage).with_context(|| name.to_owned())?.to_owned()],
        None => base.storages().to_vec(),
    };
    let count = combination_count(&asked.board_sweeps).saturating_mul(storages.len() as u128);
    if count > TARGETS_MAX as u128 {
        bail!(too_many(count));
    }
    let base = Arc::new(base);
    let mut places = Vec::new();
    for storage in storages {
        let whole = TargetName { storage: Some(storage.clone()), ..target.clone() };
        base.check().with_context(|| whole.to_string())?;
        let shows = base.shows(&storage);
        for combination in combinations(&asked.board_sweeps) {
            let swept: Vec<(String, String)> =
                combination.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let settings = [whole.settings.as_slice(), &swept].concat();
            let name = TargetName { settings, ..whole.clone() }.to_string();
            let place = Place { name, shows, base: Arc::clone(&base), storage: storage.clone(), swept };
            places.push(super::Place::Lab(Arc::new(place)));
        }
    }
    Ok(Places { places, is_expanded: target.storage.is_none() })
}

/// A setting that is given twice counts as it was given last.
fn last_of_each(settings: Vec<(String, String)>) -> Vec<(String, String)> {
    settings.into_iter().fold(Vec::new(), |mut kept: Vec<(String, String)>, (key, value)| {
        match kept.iter_mut().find(|(known, _)| *known == key) {
            Some((_, before)) => *before = value,
            None => kept.push((key, value)),
        }
        kept
    })
}
