//! `flashmark validate`: the tables that come along, and tables of the user's.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::Path;

use support::Scratch;
use support::process::flashmark;

fn published() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published/esp_idf_perf_benchmark.csv")
}

#[test]
fn the_tables_that_come_along_are_compared() {
    // The limits of the accuracy hold for both published runs.
    let default = flashmark("validate --limits").exits(0);
    assert!(!default.stdout.contains("which is no published row"), "{default}");
    assert_eq!(default.stdout.matches("limit kept").count(), 3, "{default}");
    for part in ["published", "predicted", "error", "fatfs", "littlefs"] {
        assert!(default.stdout.to_lowercase().contains(part), "nothing of {part}: {default}");
    }
    let json = flashmark("validate --format json").arg(published()).end();
    serde_json::from_str::<serde_json::Value>(&json.stdout).unwrap();
    let csv = flashmark("validate --format csv").arg(published()).end();
    assert!(csv.stdout.lines().count() > 20, "{csv}");
    assert!(!csv.stderr.is_empty(), "the summary is said beside the rows: {csv}");
    assert!(flashmark("validate --format markdown").end().stdout.contains("| "));
}

#[test]
fn what_is_no_table_is_refused() {
    let out = Scratch::new();
    flashmark("validate /nonexistent.csv").exits(2).printed_nothing().says(&["/nonexistent.csv"]);
    let wrong = out.write("wrong.csv", "a,b,c\n1,2,3\n");
    flashmark("validate").arg(&wrong).exits(2).printed_nothing().says(&["wrong.csv"]);
    flashmark("validate --format xml").exits(2).printed_nothing().says(&["xml", "markdown"]);
}
