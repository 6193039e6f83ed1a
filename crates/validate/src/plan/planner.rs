//! Planning: rows with a suite first, then those that describe themselves, then the phases.

use flashmark_lab::Board;
use flashmark_lab::storage::RAW;

use super::boards::{Boards, medium_name};
use super::{Fate, Job, Origin, Plan, own, phases, suites};
use crate::fits;
use crate::metric::{KNOWN, Kind};
use crate::table::{Row, Table, TableError, is_nor};

/// Rows that a suite is run for on one storage.
struct Group {
    origin: Origin,
    suite: String,
    storage: String,
    rows: Vec<usize>,
}

/// A row that nothing is in the way of.
struct Ready {
    board: Board,
    storage: String,
}

pub(super) struct Planner<'a> {
    tables: &'a [Table],
    originals: &'a [Table],
    /// Each row with its table's place.
    rows: Vec<(usize, &'a Row)>,
    boards: Boards,
    jobs: Vec<Job>,
    fates: Vec<Option<Fate>>,
    messages: Vec<String>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(tables: &'a [Table], originals: &'a [Table]) -> Self {
        let rows: Vec<_> =
            tables.iter().enumerate().flat_map(|(nth, table)| table.rows.iter().map(move |row| (nth, row))).collect();
        Self {
            tables,
            originals,
            fates: vec![None; rows.len()],
            rows,
            boards: Boards::default(),
            jobs: Vec::new(),
            messages: tables.iter().flat_map(|table| table.messages.clone()).collect(),
        }
    }

    pub(super) fn plan(mut self) -> Result<Plan, TableError> {
        let mut groups: Vec<Group> = Vec::new();
        let mut own = Vec::new();
        for at in self.of_kind(Kind::Row) {
            let Some(ready) = self.ready(at)? else { continue };
            let Some((table, row)) = self.row(at) else { continue };
            match suites::suite_of(row, table)? {
                Some(suite) => self.join(&mut groups, at, suite, ready.storage),
                None => own.push(at),
            }
        }
        for group in &groups {
            own.extend(self.suite_job(group, &groups)?);
        }
        own.sort_unstable();
        for at in own {
            self.own_row(at)?;
        }
        for at in self.of_kind(Kind::Phase) {
            let fate = self.phase(at)?;
            self.settle(at, fate);
        }
        let fitted = self.fitted()?;
        let unknown = || Fate::NotCompared("it is not understood".into());
        let fates = self.fates.into_iter().map(|fate| fate.unwrap_or_else(unknown)).collect();
        Ok(Plan { jobs: self.jobs, fates, fitted, messages: self.messages })
    }

    fn of_kind(&self, kind: Kind) -> Vec<usize> {
        let all = self.rows.iter().enumerate();
        all.filter(|(_, (_, row))| row.kind() == kind).map(|(at, _)| at).collect()
    }

    fn row(&self, at: usize) -> Option<(&'a Table, &'a Row)> {
        let (table, row) = self.rows.get(at)?;
        Some((self.tables.get(*table)?, row))
    }

    fn settle(&mut self, at: usize, fate: Fate) {
        if let Some(slot) = self.fates.get_mut(at) {
            *slot = Some(fate);
        }
    }

    fn origin(&self, at: usize) -> Origin {
        let (table, row) = self.rows.get(at).map_or((0, None), |(table, row)| (*table, Some(row)));
        Origin {
            table,
            board: row.map(|row| row.board.clone()).unwrap_or_default(),
            sets: row.map(|row| row.base_set().to_owned()).into_iter().collect(),
            settings: row.map(|row| row.settings.clone()).unwrap_or_default(),
        }
    }

    /// The row's board and storage, or its fate.
    fn ready(&mut self, at: usize) -> Result<Option<Ready>, TableError> {
        let Some((table, row)) = self.row(at) else { return Ok(None) };
        if row.board.is_empty() {
            self.settle(at, Fate::NotRun("the table names no board".into()));
            return Ok(None);
        }
        let board = self.boards.of(row, table)?;
        if row.stat.is_none() {
            self.settle(at, Fate::NotCompared(format!("metric {:?} is not known: known are {KNOWN}", row.metric)));
            return Ok(None);
        }
        if row.fs.is_empty() {
            self.settle(at, Fate::NotCompared("fs is empty: a file system or raw is expected".into()));
            return Ok(None);
        }
        let storage = storage_of(&row.medium, &row.fs);
        match self.boards.shows(row, table, &board, &storage)? {
            Ok(_) => {
                self.messages.extend(self.boards.bus_mismatch(row, &board));
                Ok(Some(Ready { board, storage }))
            }
            Err(fate) => {
                self.settle(at, fate);
                Ok(None)
            }
        }
    }

    fn join(&self, groups: &mut Vec<Group>, at: usize, suite: String, storage: String) {
        let origin = self.origin(at);
        let is_its = |group: &&mut Group| group.origin == origin && group.suite == suite && group.storage == storage;
        match groups.iter_mut().find(is_its) {
            Some(group) => group.rows.push(at),
            None => groups.push(Group { origin, suite, storage, rows: vec![at] }),
        }
    }

    /// Plans a suite on a storage; gives the rows that it has no workload for, but that describe themselves.
    fn suite_job(&mut self, group: &Group, groups: &[Group]) -> Result<Vec<usize>, TableError> {
        let rows: Vec<&Row> = group.rows.iter().filter_map(|at| self.row(*at)).map(|(_, row)| row).collect();
        let Some(first) = group.rows.first().copied() else { return Ok(Vec::new()) };
        let tries = rows.iter().filter_map(|row| row.runs).max();
        let of_suite = |other: &&Group| other.origin == group.origin && other.suite == group.suite;
        let all_rows = groups.iter().filter(of_suite).flat_map(|group| &group.rows);
        let all: Vec<&Row> = all_rows.filter_map(|at| self.row(*at)).map(|(_, row)| row).collect();
        let size = suites::target_size(all.into_iter());
        let Some(job) = self.add_suite(first, &group.suite, &group.storage, tries, size)? else {
            return Ok(Vec::new());
        };
        let mut unmatched = Vec::new();
        for at in &group.rows {
            let Some((_, row)) = self.row(*at) else { continue };
            let workloads = self.jobs.get(job).map(|job| job.workloads.as_slice()).unwrap_or_default();
            match suites::find(workloads, row) {
                Ok(index) => self.settle(*at, Fate::Workload { job, index }),
                Err(_) if own::lacks(row).is_none() => unmatched.push(*at),
                Err(why) => self.settle(*at, Fate::NotCompared(format!("suite {}: {why}", group.suite))),
            }
        }
        Ok(unmatched)
    }

    /// Adds the job that runs a suite on a storage; `at` is a row that asks for it.
    fn add_suite(
        &mut self,
        at: usize,
        suite: &str,
        storage: &str,
        tries: Option<u32>,
        size: Option<u64>,
    ) -> Result<Option<usize>, TableError> {
        let Some((table, row)) = self.row(at) else { return Ok(None) };
        let board = self.boards.of(row, table)?;
        let Ok((access, medium)) = self.boards.shows(row, table, &board, storage)? else { return Ok(None) };
        let mut workloads = suites::expand(suite, row, tries, size)?;
        if tries.is_none() {
            suites::cut(&mut workloads, suite, row, &board, storage)?;
        }
        workloads.retain(|workload| workload.is_for(access, medium));
        self.jobs.push(Job {
            board,
            storage: storage.to_owned(),
            workloads,
            is_of_rows: false,
            origin: self.origin(at),
        });
        Ok(Some(self.jobs.len() - 1))
    }

    /// Plans a row as it describes itself, on the machine of all such rows of its table, board and storage.
    fn own_row(&mut self, at: usize) -> Result<(), TableError> {
        let Some((table, row)) = self.row(at) else { return Ok(()) };
        let has_suite = suites::suite_of(row, table)?;
        if let Some(column) = own::lacks(row) {
            return Err(row.error(format!(
                "set {} is the name of no suite, and the row does not describe its measurement: {column} is missing \
                 (or name a suite in the column suite)",
                row.set
            )));
        }
        let Some(ready) = self.ready(at)? else { return Ok(()) };
        let workload = match own::workload(row, ready.storage == RAW) {
            Ok(workload) => workload,
            Err(why) => {
                self.settle(at, Fate::NotRun(why));
                return Ok(());
            }
        };
        let origin = Origin { settings: Vec::new(), ..self.origin(at) };
        let why = match has_suite {
            Some(suite) => format!("suite {suite} has no workloads for some rows of"),
            None => "no suite is known for".to_owned(),
        };
        let message = format!(
            "{}: {why} {} on {}/{}: they run as the rows describe them",
            row.table, row.set, row.board, ready.storage
        );
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
        let is_its = |job: &Job| {
            job.is_of_rows
                && (job.origin.table, &job.origin.board, &job.storage) == (origin.table, &origin.board, &ready.storage)
        };
        let index = match self.jobs.iter().position(is_its) {
            Some(job) => job,
            None => {
                self.jobs.push(Job {
                    board: ready.board,
                    storage: ready.storage,
                    workloads: Vec::new(),
                    is_of_rows: true,
                    origin: Origin { sets: Vec::new(), ..origin.clone() },
                });
                self.jobs.len() - 1
            }
        };
        let shared = self.shares(at, index);
        let Some(job) = self.jobs.get_mut(index) else { return Ok(()) };
        for set in origin.sets {
            if !job.origin.sets.contains(&set) {
                job.origin.sets.push(set);
            }
        }
        if !shared {
            job.workloads.push(workload);
        }
        let last = job.workloads.len().saturating_sub(1);
        self.settle(at, Fate::Workload { job: index, index: last });
        Ok(())
    }

    /// Whether a row is another figure of the measurement that the job's last workload was made from.
    fn shares(&self, at: usize, job: usize) -> bool {
        let Some(last) = self.jobs.get(job).and_then(|job| job.workloads.len().checked_sub(1)) else { return false };
        let of_last = Some(Fate::Workload { job, index: last });
        let with_fate = self.rows.iter().zip(&self.fates).filter(|(_, fate)| **fate == of_last);
        let mut others = with_fate.map(|((_, row), _)| *row).peekable();
        let Some((_, row)) = self.row(at) else { return false };
        others.peek().is_some() && others.all(|other| own::is_same(other, row) && other.metric != row.metric)
    }

    fn phase(&mut self, at: usize) -> Result<Fate, TableError> {
        let Some((table, row)) = self.row(at) else { return Ok(Fate::NotRun(String::new())) };
        if row.board.is_empty() {
            return Ok(Fate::NotRun("the table names no board".into()));
        }
        let board = self.boards.of(row, table)?;
        if row.unit.is_none_or(|unit| !matches!(unit, crate::Unit::Time(_))) {
            return Ok(Fate::NotCompared(format!("metric {:?} is none of a phase: wall_ms is expected", row.metric)));
        }
        let phase = match phases::parse(&row.op, &row.fs.to_lowercase()) {
            Ok(phase) => phase,
            Err(why) => return Ok(Fate::NotCompared(why)),
        };
        let on_card = phase.on_card || !is_nor(&row.medium);
        let medium = if phase.on_card && is_nor(&row.medium) { "sd" } else { row.medium.as_str() };
        let storage = if on_card { storage_of(medium, phase.storage) } else { phase.storage.to_owned() };
        if on_card && !board.storages().contains(&storage) {
            return Ok(Fate::NotRun(format!("board {} has no {}", board.name(), medium_name(medium))));
        }
        if let Err(fate) = self.boards.shows(row, table, &board, &storage)? {
            return Ok(fate);
        }
        let origin = self.origin(at);
        let is_near = |job: &&(usize, &Job)| {
            let own = &job.1.origin;
            (own.table, &own.board, &job.1.storage) == (origin.table, &origin.board, &storage)
                && origin.sets.iter().any(|set| own.sets.contains(set))
        };
        let near: Vec<(usize, &Job)> = self.jobs.iter().enumerate().collect();
        let mut near = near.iter().filter(is_near);
        let same = near.clone().find(|(_, job)| job.origin.settings == origin.settings);
        if let Some((job, _)) = same.or_else(|| near.next()) {
            return Ok(Fate::Phase { job: *job, step: phase.step });
        }
        let Some(suite) = suites::suite_of(row, table)? else {
            return Ok(Fate::NotCompared(format!("no row of set {} runs on {storage}", row.base_set())));
        };
        match self.add_suite(at, &suite, &storage, row.runs.or(phase.tries), None)? {
            Some(job) => Ok(Fate::Phase { job, step: phase.step }),
            None => Ok(Fate::NotRun(format!("{storage} is not there"))),
        }
    }

    fn fitted(&mut self) -> Result<Vec<bool>, TableError> {
        let mut fitted = Vec::new();
        let mut boards: Vec<(String, Vec<String>)> = Vec::new();
        for (table, row) in self.rows.clone() {
            let Some(table) = self.tables.get(table).filter(|_| !row.board.is_empty()) else {
                fitted.push(false);
                continue;
            };
            let board = self.boards.of(row, table)?;
            let fits = board.fitted_rows();
            fitted.push(fits::is_fitted(row, &fits, self.originals));
            if !boards.iter().any(|(name, _)| name == board.name()) {
                boards.push((board.name().to_owned(), fits));
            }
        }
        let originals: Vec<&Row> = self.originals.iter().flat_map(|table| &table.rows).collect();
        for (board, fits) in boards {
            for stray in fits::strays(&fits, &originals) {
                self.messages
                    .push(format!("board {board}: a parameter was fitted on {stray:?}, which is no published row"));
            }
        }
        Ok(fitted)
    }
}

/// What a board calls the storage of a row: the file system's name on flash, with the medium before it elsewhere.
fn storage_of(medium: &str, fs: &str) -> String {
    let fs = fs.to_lowercase();
    let word = fs.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let storage = phases::storage_named(word).unwrap_or(&fs);
    if is_nor(medium) { storage.to_owned() } else { format!("{}-{storage}", medium.to_lowercase()) }
}
