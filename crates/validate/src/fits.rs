//! Which rows parameters of a board were fitted on.

use crate::metric::Kind;
use crate::table::{Row, Table, is_nor};

/// Whether a board with these fits (as [`flashmark_lab::Board::fitted_rows`] lists them) was fitted on the row.
///
/// A fit names a row by its set and `fs/mode/op/io_bytes`, or by a phase's description, and means a row of the
/// `originals`. Another run of the same benchmark has rows of the same names: a row of a name that the originals have is
/// the one that was fitted on only if it has the value as well.
pub(crate) fn is_fitted(row: &Row, fits: &[String], originals: &[Table]) -> bool {
    if !fits.iter().any(|fit| names(fit, row)) {
        return false;
    }
    let of_this_name = |other: &&Row| {
        (&other.set, &other.medium, &other.metric) == (&row.set, &row.medium, &row.metric) && id(other) == id(row)
    };
    let mut originals = originals.iter().flat_map(|table| &table.rows).filter(of_this_name).peekable();
    originals.peek().is_none() || originals.any(|original| original.published == row.published)
}

/// The fits that name a row of a set that is there, but none of its rows: a mistake of the board's profile.
pub(crate) fn strays<'a>(fits: &'a [String], rows: &[&Row]) -> Vec<&'a str> {
    let has_set = |fit: &str| fit.split_once(' ').is_some_and(|(set, _)| rows.iter().any(|row| row.set == set));
    let is_stray = |fit: &&String| has_set(fit) && !rows.iter().any(|row| names(fit, row));
    fits.iter().filter(is_stray).map(String::as_str).collect()
}

fn names(fit: &str, row: &Row) -> bool {
    let Some((set, name)) = fit.split_once(' ') else { return false };
    if set != row.set {
        return false;
    }
    let id = id(row);
    // Names say no medium where it is the flash.
    (is_nor(&row.medium) && name == id) || name == format!("{}/{id}", row.medium)
}

fn id(row: &Row) -> String {
    match row.kind() {
        Kind::Phase => row.op.clone(),
        Kind::Row => {
            let io_bytes = row.io_bytes.map_or_else(String::new, |bytes| bytes.to_string());
            format!("{}/{}/{}/{io_bytes}", row.fs, row.mode, row.op)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in_tables;

    const FIT: &str = "esp_idf_perf_benchmark littlefs/new-file/read/65536";

    #[test]
    fn a_fit_is_on_one_row_of_the_flash() {
        let tables = built_in_tables().unwrap();
        let fits = [FIT.to_owned()];
        let fitted: Vec<u64> =
            tables[0].rows.iter().filter(|row| is_fitted(row, &fits, &tables)).map(|row| row.line).collect();
        assert_eq!(fitted, [21]);
    }

    #[test]
    fn another_run_of_the_same_benchmark_was_not_fitted_on() {
        let tables = built_in_tables().unwrap();
        let fits = [FIT.to_owned(), "other raw/raw/read/65536".to_owned()];
        let mut row = tables[0].rows[19].clone();
        assert!(is_fitted(&row, &fits, &tables));
        row.published = Some(crate::Quantity::Ns(29_000_000));
        assert!(!is_fitted(&row, &fits, &tables));
        let mut row = tables[0].rows[1].clone();
        row.set = "other".into();
        assert!(is_fitted(&row, &fits, &tables));
    }

    #[test]
    fn phases_are_named_by_their_description_and_misspelt_fits_are_found() {
        let tables = built_in_tables().unwrap();
        let rows: Vec<&Row> = tables[0].rows.iter().collect();
        let fits = [
            "esp_idf_perf_benchmark_phases littlefs format spi-nor".to_owned(),
            "esp_idf_perf_benchmark litlefs/new-file/read/65536".to_owned(),
            "elsewhere raw/raw/read/1".to_owned(),
        ];
        assert_eq!(rows.iter().filter(|row| is_fitted(row, &fits, &tables)).count(), 1);
        assert_eq!(strays(&fits, &rows), [fits[1].as_str()]);
    }
}
