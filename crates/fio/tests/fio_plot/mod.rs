//! Drawing with PyPI's `fio-plot`.
//!
//! The Python that has it is told by `FLASHMARK_PYTHON`, or is `python3`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what tests share fails as tests do")]

use std::path::Path;
use std::process::Command;

/// Python with `fio-plot`. If there is none, says so, and panics if `FLASHMARK_REQUIRE_ALL=1`.
pub fn python() -> Option<String> {
    let python = std::env::var("FLASHMARK_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import fio_plot"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let required = std::env::var_os("FLASHMARK_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "FLASHMARK_REQUIRE_ALL=1, but missing: {python} with fio-plot");
    // The test harness would swallow what print macros write.
    let line = format!("SKIPPED: {python} with fio-plot\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    None
}

/// Draws the results of random reads in `dir`, which must give an image; `cache` is for matplotlib.
pub fn draw(python: &str, dir: &Path, cache: &Path, graph: &str, index: usize) {
    let image = dir.join(format!("{index}.png"));
    let output = Command::new(python)
        .args(["-m", "fio_plot", "-r", "randread", "-T", "made up", "-i"])
        .arg(dir)
        .arg("-o")
        .arg(&image)
        .args(graph.split_whitespace())
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", cache)
        .current_dir(dir)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "fio-plot {graph}: {said}");
    let bytes = std::fs::read(&image).unwrap_or_else(|error| panic!("fio-plot {graph}: {error}: {said}"));
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 10_000, "fio-plot {graph}: {said}");
}
