//! `flashmark boards`: the list, the profile of one, and what can be set.

use std::io::{self, Write};

use flashmark_lab::{Board, BoardError, built_in_boards};

use crate::args::{BoardsArgs, BoardsCommand};
use crate::exit::Exit;

pub fn run(args: BoardsArgs) -> anyhow::Result<Exit> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.command {
        Some(BoardsCommand::Show { name }) => out.write_all(Board::load(&name)?.text().as_bytes())?,
        Some(BoardsCommand::Keys { name: Some(name) }) => keys_of(&Board::load(&name)?, &mut out)?,
        Some(BoardsCommand::Keys { name: None }) => keys(&boards()?, &mut out)?,
        None => list(&boards()?, &mut out)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn boards() -> Result<Vec<Board>, BoardError> {
    built_in_boards().iter().map(|board| Board::load(board.name)).collect()
}

fn list(boards: &[Board], out: &mut impl Write) -> io::Result<()> {
    let width = boards.iter().map(|board| board.name().len()).max().unwrap_or(0);
    for board in boards {
        writeln!(out, "{:width$}  {} [{}]", board.name(), board.about(), board.storages().join(", "))?;
    }
    Ok(())
}

/// Every key that any board has, once.
fn keys(boards: &[Board], out: &mut impl Write) -> io::Result<()> {
    let mut seen: Vec<String> = Vec::new();
    for key in boards.iter().flat_map(Board::keys) {
        if !seen.contains(&key.name) {
            writeln!(out, "{}: {} ({})", key.name, key.about, key.values)?;
            seen.push(key.name);
        }
    }
    Ok(())
}

/// A board's keys, each with its value and where that is from.
fn keys_of(board: &Board, out: &mut impl Write) -> io::Result<()> {
    let settings = board.settings();
    for key in board.keys() {
        writeln!(out, "{}: {} ({})", key.name, key.about, key.values)?;
        match settings.iter().find(|setting| setting.key == key.name) {
            Some(setting) => writeln!(out, "    {}    {}", setting.value, setting.source)?,
            None => writeln!(out, "    not set")?,
        }
    }
    Ok(())
}
