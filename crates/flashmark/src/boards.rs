//! `flashmark boards`: the list, the profile of one, and what can be set.

use std::io::{self, Write};

use flashmark_lab::board::all_keys;
use flashmark_lab::{Board, BoardError, BoardKey, built_in_boards};

use crate::args::{BoardsArgs, BoardsCommand};
use crate::exit::Exit;

pub fn run(args: BoardsArgs) -> anyhow::Result<Exit> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.command {
        Some(BoardsCommand::Show { name }) => out.write_all(Board::load(&name)?.text().as_bytes())?,
        Some(BoardsCommand::Keys { name: Some(name) }) => keys_of(&Board::load(&name)?, &mut out)?,
        Some(BoardsCommand::Keys { name: None }) => keys(all_keys(), &mut out)?,
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

/// The columns that the text about a key may take.
const ABOUT_WIDTH: usize = 66;

/// Every key that boards have, by section.
fn keys(keys: &[BoardKey], out: &mut impl Write) -> io::Result<()> {
    let section = |key: &BoardKey| key.name.split_once('.').map_or("board", |(section, _)| section).to_owned();
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
    let mut sections: Vec<String> = Vec::new();
    for key in keys {
        if !sections.contains(&section(key)) {
            sections.push(section(key));
        }
    }
    for name in sections {
        writeln!(out, "[{name}]")?;
        for key in keys.iter().filter(|key| section(key) == name) {
            let mut lines = wrapped(&format!("{}: {}", key.about, key.values), ABOUT_WIDTH).into_iter();
            writeln!(out, "  {:width$}  {}", key.name, lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| writeln!(out, "  {:width$}  {line}", ""))?;
        }
    }
    Ok(())
}

/// What a board sets its keys to, and where that is from; then the keys that it leaves alone.
fn keys_of(board: &Board, out: &mut impl Write) -> io::Result<()> {
    let settings = board.settings();
    let width = settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    for setting in &settings {
        writeln!(out, "{:width$}  {}", setting.key, setting.value)?;
        for line in wrapped(&setting.source, ABOUT_WIDTH) {
            writeln!(out, "{:width$}    {line}", "")?;
        }
    }
    let keys = board.keys();
    let left: Vec<&str> = keys
        .iter()
        .map(|key| key.name.as_str())
        .filter(|name| settings.iter().all(|setting| setting.key != *name))
        .collect();
    writeln!(out, "\nnot set:")?;
    wrapped(&left.join(", "), ABOUT_WIDTH + width).into_iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// A text in lines of at most `width` characters, but for words that are longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    text.split_whitespace().fold(Vec::new(), |mut lines: Vec<String>, word| {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
        lines
    })
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_no_longer_than_they_may_be() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable x", 3), ["unbreakable", "x"]);
        assert!(wrapped("", 5).is_empty());
    }
}
