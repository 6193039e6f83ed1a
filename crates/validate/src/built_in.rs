//! The tables that flashmark brings along.

use crate::table::{Table, TableError};

/// Name and text, a line a table.
static TABLES: &[(&str, &str)] = &[
    ("published/esp_idf_perf_benchmark.csv", include_str!("../../../published/esp_idf_perf_benchmark.csv")),
    ("published/esp_idf_perf_benchmark_2023.csv", include_str!("../../../published/esp_idf_perf_benchmark_2023.csv")),
];

/// What is validated where no table is given.
///
/// # Errors
/// [`TableError`], which a test of this crate excludes.
pub fn built_in_tables() -> Result<Vec<Table>, TableError> {
    TABLES.iter().map(|(name, text)| Table::parse(text, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_sound() {
        let tables = built_in_tables().unwrap();
        assert_eq!(tables.iter().map(|table| table.rows.len()).collect::<Vec<_>>(), [43, 40]);
        assert!(tables.iter().all(|table| table.messages.is_empty()));
    }
}
