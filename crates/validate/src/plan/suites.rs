//! Suites that rows name, and which workload of one a row is.

use flashmark_core::record::Form;
use flashmark_core::workload::{OpMix, Reopen, Workload};
use flashmark_lab::Board;
use flashmark_suite::{Settings, Suite, built_in};

use super::own::op_of;
use crate::table::{Row, Table, TableError};

/// Sets of measurements that were made with an original by another name than the suite's: a part of the set's name, and
/// the suite.
const ORIGINALS: &[(&str, &str)] = &[("perf-benchmark", "esp-idf")];

/// The suite that a row names by its column or its set; `None` if its set is the name of none.
///
/// # Errors
/// [`TableError`] for a suite of the column that does not exist or is wrong.
pub(super) fn suite_of(row: &Row, table: &Table) -> Result<Option<String>, TableError> {
    if let Some(cell) = &row.suite {
        let name = table.path_of(cell);
        return Suite::load(&name).map(|_| Some(name)).map_err(|error| row.error(error.to_string()));
    }
    let set = row.base_set().to_lowercase().replace('_', "-");
    let original = ORIGINALS.iter().find(|(part, _)| set.contains(part)).map(|(_, suite)| *suite);
    let suite = original.or_else(|| built_in().iter().find(|suite| suite.name == set).map(|suite| suite.name));
    Ok(suite.map(str::to_owned))
}

/// The suite's workloads, its compatibility form's if there is one, with the settings of `row` over what its parameters
/// `tries` and `target-size` are by the rows.
///
/// # Errors
/// [`TableError`] for settings that the suite does not take.
pub(super) fn expand(
    suite: &str,
    row: &Row,
    tries: Option<u32>,
    target_size: Option<u64>,
) -> Result<Vec<Workload>, TableError> {
    let wrong = |error: flashmark_suite::SuiteError| row.error(error.to_string());
    let suite = Suite::load(suite).map_err(wrong)?;
    let mut settings = Settings::new();
    let has = |name: &str| suite.params().iter().any(|param| param.name == name);
    if let Some(tries) = tries.filter(|_| has("tries")) {
        settings.push("tries", tries.to_string());
    }
    if let Some(bytes) = target_size.filter(|_| has("target-size")) {
        settings.push("target-size", bytes.to_string());
    }
    row.settings.iter().try_for_each(|pair| settings.push_pair(pair)).map_err(wrong)?;
    let form = if suite.forms().contains(&Form::Compat) { Form::Compat } else { Form::Corrected };
    suite.expand(form, &settings).map_err(wrong)
}

/// Repeats workloads of a suite as often as the board does at most, where no row says how often they were repeated.
///
/// # Errors
/// [`TableError`] for a suite or a value of the board that is wrong.
pub(super) fn cut(
    workloads: &mut [Workload],
    suite: &str,
    row: &Row,
    board: &Board,
    storage: &str,
) -> Result<(), TableError> {
    let loaded = Suite::load(suite).map_err(|error| row.error(error.to_string()))?;
    let tries = board.tries(storage, suite, loaded.original()).map_err(|error| row.error(format!("board: {error}")))?;
    if let Some(tries) = tries {
        workloads.iter_mut().for_each(|workload| workload.repeats = workload.repeats.min(tries.get()));
    }
    Ok(())
}

/// The least target size of ESP-IDF's benchmark.
const TARGET_BYTES_MIN: u64 = 307;

/// The target size T of ESP-IDF's benchmark by the sizes in its rows: the one with which most of them are T, T x 1.2,
/// T / 1.2 or 255 bytes, a raw row's in case of doubt, since those have no other.
pub(super) fn target_size<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Option<u64> {
    let sizes = rows.clone().filter_map(|row| Some((row.io_bytes?, row.fs == "raw")));
    let score = |target: u64| {
        let made = [target, target.saturating_mul(12) / 10, target.saturating_mul(10) / 12, 255];
        let fitting = rows.clone().filter(|row| row.io_bytes.is_some_and(|bytes| made.contains(&bytes)));
        fitting.count()
    };
    sizes
        .filter(|(bytes, _)| *bytes >= TARGET_BYTES_MIN)
        .max_by_key(|(bytes, raw)| (score(*bytes), *raw, *bytes))
        .map(|(bytes, _)| bytes)
}

/// Which of the workloads a row is.
///
/// # Errors
/// Why it is none of them.
pub(super) fn find(workloads: &[Workload], row: &Row) -> Result<usize, String> {
    if let Some(at) = workloads.iter().position(|workload| workload.name == row.op) {
        return Ok(at);
    }
    let Some(op) = op_of(&row.op) else { return Err(format!("op {:?} is neither read nor write", row.op)) };
    let mix = if op.reads { OpMix::Read } else { OpMix::Write };
    let io_bytes = row.io_bytes.ok_or("io_bytes is empty")?;
    let is_candidate = |workload: &Workload| workload.mix() == mix && u64::from(workload.block_bytes) == io_bytes;
    let mut found: Vec<usize> =
        workloads.iter().enumerate().filter(|(_, workload)| is_candidate(workload)).map(|(at, _)| at).collect();
    // What tells sets of a suite apart, as far as the row says it.
    let reopen = match row.mode.replace('_', "-").to_lowercase().as_str() {
        "new-file" | "new file" => Some(Reopen::EachRepeat),
        "raw" | "normal" | "open" | "append" => Some(Reopen::Once),
        _ => None,
    };
    found.retain(|at| workloads.get(*at).is_some_and(|workload| reopen.is_none_or(|reopen| workload.reopen == reopen)));
    // A repeat of several calls is another thing than one call of that size.
    let is_stream = row.total_bytes.is_some_and(|bytes| bytes != io_bytes);
    if found.len() > 1 || is_stream {
        let of_total = |at: &&usize| workloads.get(**at).is_some_and(|workload| workload.size_bytes == row.total_bytes);
        found = found.iter().filter(of_total).copied().collect();
    }
    match found.as_slice() {
        [at] => Ok(*at),
        [] => Err(format!("it has no workload that does what the row says ({})", row.name())),
        _ => Err(format!("several of its workloads do what the row says ({}): name one in op", row.name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in_tables;

    #[test]
    fn sets_name_suites() {
        let table = built_in_tables().unwrap().remove(0);
        for (set, suite) in [
            ("esp_idf_perf_benchmark", Some("esp-idf")),
            ("esp_idf_perf_benchmark_v5_0", Some("esp-idf")),
            ("esp_idf_perf_benchmark_phases", Some("esp-idf")),
            ("sd_bench", Some("sd-bench")),
            ("Stream-10m", Some("stream-10m")),
            ("esp_idf_sd_bench", None),
            ("mine", None),
        ] {
            let row = Row { set: set.into(), ..table.rows[0].clone() };
            assert_eq!(suite_of(&row, &table).unwrap().as_deref(), suite, "{set}");
        }
    }

    #[test]
    fn the_target_size_is_that_which_explains_most_rows() {
        let row = built_in_tables().unwrap()[0].rows[2].clone();
        let of = |sizes: &[u64]| {
            let rows: Vec<Row> = sizes.iter().map(|bytes| Row { io_bytes: Some(*bytes), ..row.clone() }).collect();
            target_size(rows.iter())
        };
        assert_eq!(of(&[65536, 78643, 54613, 255]), Some(65536));
        assert_eq!(of(&[255, 9830, 8192]), Some(8192));
        assert_eq!(of(&[8192]), Some(8192));
        assert_eq!(of(&[255]), None);
        assert_eq!(of(&[]), None);
        let raw = Row { io_bytes: Some(4096), fs: "raw".into(), ..row.clone() };
        let rows = [raw, Row { io_bytes: Some(65536), ..row.clone() }];
        assert_eq!(target_size(rows.iter()), Some(4096));
    }

    #[test]
    fn rows_find_their_workloads() {
        let table = built_in_tables().unwrap().remove(0);
        let row = &table.rows[0];
        let workloads = expand("esp-idf", row, Some(7), Some(65536)).unwrap();
        assert_eq!(workloads[0].repeats, 7);
        for (nth, name) in [(0, "raw write"), (2, "(new file): write target size"), (9, "(new file): read tiny size")] {
            let found = find(&workloads, &table.rows[nth]).unwrap();
            assert_eq!(workloads[found].name, name);
        }
        let normal = Row { mode: "normal".into(), ..table.rows[4].clone() };
        assert_eq!(workloads[find(&workloads, &normal).unwrap()].name, ": write more than target size");
        let stream = Row { io_bytes: Some(1000), ..table.rows[4].clone() };
        assert!(find(&workloads, &stream).unwrap_err().contains("no workload"));
        let named = Row { op: ": read tiny size".into(), ..table.rows[4].clone() };
        assert_eq!(workloads[find(&workloads, &named).unwrap()].name, ": read tiny size");
    }

    #[test]
    fn wrong_settings_are_the_rows() {
        let table = built_in_tables().unwrap().remove(0);
        let row = Row { settings: vec!["target-size=100".into()], ..table.rows[0].clone() };
        let error = expand("esp-idf", &row, None, None).unwrap_err().to_string();
        assert!(error.starts_with("published/esp_idf_perf_benchmark.csv:2: --set target-size=100: "), "{error}");
    }
}
