//! The boards that rows name.

use std::path::PathBuf;

use flashmark_core::workload::{Access, Medium};
use flashmark_lab::target_name::{PREFIX, TargetName};
use flashmark_lab::{Board, LabError, LabTarget};

use super::Fate;
use crate::table::{Row, Table, TableError, is_nor};

/// A board's cell, and the folder that it is relative to.
type Key = (Option<PathBuf>, String);

/// What a storage shows, or why it cannot be made ready.
type Shows = Result<(Access, Medium), String>;

/// Boards and storages, each made once.
#[derive(Default)]
pub(super) struct Boards {
    boards: Vec<(Key, Board)>,
    storages: Vec<(Key, String, Shows)>,
    mismatches: Vec<(String, String)>,
}

impl Boards {
    /// The board that a row names.
    ///
    /// # Errors
    /// [`TableError`]: no such board, or settings that it does not take.
    pub(super) fn of(&mut self, row: &Row, table: &Table) -> Result<Board, TableError> {
        let key = (table.folder.clone(), row.board.clone());
        if let Some((_, board)) = self.boards.iter().find(|(known, _)| *known == key) {
            return Ok(board.clone());
        }
        let wrong = |error: &dyn std::fmt::Display| row.error(format!("board: {error}"));
        let text = row.board.strip_prefix(PREFIX).unwrap_or(&row.board);
        let name: TargetName = format!("{PREFIX}{text}").parse().map_err(|error| wrong(&error))?;
        if let Some(storage) = &name.storage {
            return Err(
                row.error(format!("board: {text} names the storage {storage}, which the column fs does: leave it out"))
            );
        }
        let mut board = Board::load(&table.path_of(&name.board)).map_err(|error| wrong(&error))?;
        name.settings.iter().try_for_each(|(key, value)| board.set(key, value)).map_err(|error| wrong(&error))?;
        board.check().map_err(|error| wrong(&error))?;
        self.boards.push((key, board.clone()));
        Ok(board)
    }

    /// What the storage of a row shows, or why nothing can run on it.
    ///
    /// # Errors
    /// [`TableError`] for settings of the storage that the board cannot have.
    pub(super) fn shows(
        &mut self,
        row: &Row,
        table: &Table,
        board: &Board,
        storage: &str,
    ) -> Result<Result<(Access, Medium), Fate>, TableError> {
        if !board.storages().iter().any(|has| has == storage) {
            return Ok(Err(Fate::NotRun(missing(row, board, storage))));
        }
        let key = (table.folder.clone(), row.board.clone());
        let known = self.storages.iter().find(|(board, of, _)| *board == key && of == storage);
        if let Some((_, _, shows)) = known {
            return Ok(shows.clone().map_err(Fate::Failed));
        }
        let shows = match LabTarget::open(board, storage, None) {
            Ok(target) => Ok((target.access(), target.medium())),
            Err(LabError::Board(error)) => return Err(row.error(format!("board: {error}"))),
            Err(error) => Err(error.to_string()),
        };
        self.storages.push((key, storage.to_owned(), shows.clone()));
        Ok(shows.map_err(Fate::Failed))
    }

    /// What the user has to know if the row was measured over another bus than the board has; once for each.
    pub(super) fn bus_mismatch(&mut self, row: &Row, board: &Board) -> Option<String> {
        let told = (row.board.clone(), row.bus.clone());
        if !is_nor(&row.medium) || self.mismatches.contains(&told) {
            return None;
        }
        let settings = board.settings();
        let set = |key: &str| settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str());
        let squeezed = |text: &str| text.to_lowercase().replace(' ', "");
        let (mode, clock) = (squeezed(set("bus.mode")?), squeezed(set("bus.clock")?));
        let bus = squeezed(&row.bus);
        let row_mode = flashmark_lab::bus::MODES.iter().find(|mode| bus.starts_with(**mode))?;
        let row_clock = bus.strip_prefix(*row_mode).filter(|clock| clock.ends_with("mhz"));
        if *row_mode == mode && row_clock.is_none_or(|row_clock| row_clock == clock) {
            return None;
        }
        self.mismatches.push(told);
        Some(format!(
            "{}:{}: bus is {}, but board {} runs at {mode} {clock}: set bus.mode and bus.clock in the column board",
            row.table, row.line, row.bus, row.board
        ))
    }
}

fn missing(row: &Row, board: &Board, storage: &str) -> String {
    if is_nor(&row.medium) {
        return format!("board {} has no storage {storage} (it has {})", board.name(), board.storages().join(", "));
    }
    format!("board {} has no {}", board.name(), medium_name(&row.medium))
}

/// What a medium is called in messages.
pub(super) fn medium_name(medium: &str) -> String {
    if medium.to_lowercase().starts_with("sd") { "SD card".to_owned() } else { format!("medium {medium}") }
}
