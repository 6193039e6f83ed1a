//! What is wrong with a table is said with file, line and reason.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use flashmark_validate::{Table, validate};
use proptest::prelude::*;

const HEADER: &str = "set,medium,bus,fs,mode,op,io_bytes,total_bytes,runs,metric,value,unit,note,board,suite,settings";
const ROW: &str = "esp_idf_perf_benchmark,spi-nor,,raw,raw,read,65536,65536,1,mean_ms,8.076,ms,,esp32,,";

/// The error of a table, whether reading or planning finds it.
fn error(text: &str) -> String {
    match Table::parse(text, "t.csv") {
        Ok(table) => validate(&[table]).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// The error of a table whose third line is the given row.
fn error_of(row: &str) -> String {
    error(&format!("{HEADER}\n{ROW}\n{row}\n"))
}

#[test]
fn headers_and_cells_are_checked() {
    for (text, expected) in [
        ("", "t.csv:1: the table is empty; a header is expected: set, "),
        ("\n\nset,op\n", "t.csv:3: columns are missing: medium ("),
        (&HEADER.replace(",board", ""), "t.csv:1: column board (the board to run"),
        (&HEADER.replace("note", "value"), "t.csv:1: column value is there twice"),
    ] {
        let error = error(text);
        assert!(error.starts_with(expected), "{error}");
    }
    for (from, to, expected) in [
        ("8.076", "8,076", "t.csv:3: it has 17 cells, but the header has 16"),
        ("8.076", "fast", "t.csv:3: value: \"fast\" is no number"),
        ("8.076", "-8", "t.csv:3: value: \"-8\" is no number"),
        ("8.076", "", "t.csv:3: value: \"\" is no number"),
        ("8.076", "0.0", "t.csv:3: value: 0.0 ms: it is 0"),
        ("8.076", "0.0000001", "t.csv:3: value: 0.0000001 ms: it is too large, or finer than a nanosecond"),
        (",ms,", ",us,", "t.csv:3: metric mean_ms is in ms, but unit says us"),
        (",ms,", ",jiffies,", "t.csv:3: unit jiffies is not known: known are ns, "),
        ("65536,65536", "64k,65536", "t.csv:3: io_bytes: \"64k\" is no number of bytes"),
        ("65536,65536", "65536,0", "t.csv:3: total_bytes: \"0\" is no number of bytes"),
        ("65536,1,", "65536,+1,", "t.csv:3: runs: \"+1\" is neither a number"),
        ("65536,1,", "65536,best,", "t.csv:3: runs: \"best\" is neither a number"),
        ("esp_idf_perf_benchmark", "", "t.csv:3: set is empty"),
        ("esp32,,", "esp32,,tries", "t.csv:3: settings: \"tries\": key=value is expected"),
    ] {
        let error = error_of(&ROW.replacen(from, to, 1));
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn boards_suites_and_settings_are_checked() {
    for (from, to, expected) in [
        ("esp32", "esp23", "t.csv:3: board: there is no board esp23 (did you mean esp32?)"),
        ("esp32", "nothere.toml", "t.csv:3: board: cannot read the board nothere.toml: "),
        ("esp32", "esp32/raw", "t.csv:3: board: esp32/raw names the storage raw"),
        ("esp32", "\"esp32,fatfs.clutser=4k\"", "t.csv:3: board: setting: fatfs.clutser is no setting of a board"),
        ("esp32", "\"esp32,fatfs\"", "t.csv:3: board: fatfs in lab:esp32,fatfs is no setting"),
        ("esp32", "\"esp32,partition.size=1G\"", "t.csv:3: board: setting: partition.size = 1G: "),
        ("esp32,,", "esp32,esp-dif,", "t.csv:3: suite `esp-dif`: there is no such suite; did you mean `esp-idf`?"),
        ("esp32,,", "esp32,nothere.toml,", "t.csv:3: nothere.toml: the suite cannot be read"),
        ("esp32,,", "esp32,,tires=3", "t.csv:3: there is no suite key or parameter `tires`"),
        ("esp32,,", "esp32,,target-size=3", "t.csv:3: --set target-size=3: "),
    ] {
        let error = error_of(&ROW.replacen(from, to, 1));
        assert!(error.contains(expected) || error.starts_with("t.csv:3: "), "{error}");
        assert!(error.contains(expected.trim_start_matches("t.csv:3: ")), "{error}");
    }
    let incomplete = ROW.replacen("esp_idf_perf_benchmark", "mine", 1).replacen("65536,65536,1", "65536,65536,", 1);
    let error = error_of(&incomplete);
    assert!(error.starts_with("t.csv:3: set mine is the name of no suite"), "{error}");
    assert!(error.contains("runs is missing"), "{error}");
}

#[test]
fn lines_are_counted_over_empty_ones_and_quoted_line_breaks() {
    let quoted = ROW.replacen("ms,,", "ms,\"a\nb\",", 1);
    let bad = ROW.replacen("8.076", "x", 1);
    let error = error(&format!("\u{feff}{HEADER}\r\n\r\n{quoted}\n\n\n{bad}\n"));
    assert!(error.starts_with("t.csv:7: value: "), "{error}");
}

#[test]
fn unknown_columns_are_passed_over_with_a_message() {
    let table = Table::parse(&format!("{HEADER},colour\n{ROW},red\n"), "t.csv").unwrap();
    assert!(
        table.messages[0].starts_with("t.csv:1: passed over columns: colour (known are set, "),
        "{:?}",
        table.messages
    );
    assert!(validate(&[table]).unwrap().messages[0].contains("colour"));
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let error = || Table::load(&path).unwrap_err().to_string();
    assert!(error().contains("t.csv: cannot open the table"), "{}", error());
    fs::write(&path, b"set\n\xff\xfe").unwrap();
    assert!(error().contains("line 2 is not UTF-8 text"), "{}", error());
    fs::write(&path, [0_u8; 100]).unwrap();
    assert!(error().contains("t.csv:1: columns are missing"), "{}", error());
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = Table::parse(&text, "t.csv");
    }

    /// Whatever stands in a cell, the row is read as it is or refused with its line.
    #[test]
    fn no_cell_panics(at in 0_usize..16, cell in "[^\",\r\n]{0,20}") {
        let mut cells: Vec<&str> = ROW.split(',').collect();
        cells[at] = &cell;
        match Table::parse(&format!("{HEADER}\n{}\n", cells.join(",")), "t.csv") {
            Ok(table) => prop_assert_eq!(table.rows.len(), 1),
            Err(error) => prop_assert!(error.to_string().starts_with("t.csv:2: "), "{}", error),
        }
    }
}
