//! One JSON document: `{"schema": 1, "records": [...]}`.
//!
//! The records are those of a run file, described in `docs/records.md`.

use std::io;

use flashmark_core::record::{Record, SCHEMA};
use serde::Serialize;

use super::{Format, FormatError, Style};

/// The format.
pub(super) struct Json;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    records: &'a [Record],
}

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "all records, whole, as one JSON document"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn write(&self, records: &[Record], _: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        serde_json::to_writer_pretty(&mut *out, &Document { schema: SCHEMA, records }).map_err(io::Error::from)?;
        writeln!(out)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn the_records_come_back_as_they_were() {
        let records = samples::mixed_bag();
        let text = shown(&Json, &records, &Style::default());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema"], 1);
        let back: Vec<Record> = serde_json::from_value(document["records"].clone()).unwrap();
        assert_eq!(back, records);
    }

    #[test]
    fn the_document_looks_so() {
        let records = samples::mixed_bag();
        insta::assert_snapshot!("json", shown(&Json, &records[3..4], &Style::default()));
        insta::assert_snapshot!(
            "json_simulated",
            shown(&Json, &samples::simulated::on_fatfs()[1..], &Style::default())
        );
        insta::assert_snapshot!(shown(&Json, &[], &Style::default()), @r#"
        {
          "schema": 1,
          "records": []
        }
        "#);
    }
}
