//! The rows of ESP-IDF's `examples/storage/perf_benchmark` (`print_results`), byte for byte.
//!
//! ```text
//! printf("[%-55s] (%dx) %8.3f ms %8.2f kB %10.3f MB/s\n", name, repeat_count,
//!        (float) average / 1000, (float) size * UNIT_MULTIPLIER / 1024, speed)
//! ```
//!
//! with `average = time / repeat_count` in microseconds and `speed = (size / average) / (1024 * 1024) * (1000 * 1000)`,
//! both `double`. So `kB` is 1024 bytes and `MB/s` is 2^20 bytes a second here, and here alone. With bits, the original
//! scales the size only, though it calls the rate `Mb/s`; the corrected form scales both.
//!
//! Where the original sums whole microseconds (`gettimeofday`), the sum is exact to the nanosecond here.

use std::io;

use flashmark_core::record::{Form, OpStats, Record, Status};

use super::{Format, FormatError, Style};
use crate::figures::printable;
use crate::rows::is_main;

/// The format.
pub(super) struct EspIdf;

impl Format for EspIdf {
    fn name(&self) -> &'static str {
        "esp-idf"
    }

    fn about(&self) -> &'static str {
        "the rows of ESP-IDF's perf_benchmark, byte for byte (its MB is 2^20 bytes)"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn original(&self) -> Option<&'static str> {
        Some("esp-idf")
    }

    fn knows_bits(&self) -> bool {
        true
    }

    fn write(&self, records: &[Record], style: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        self.applies(records)?;
        // The original drops the row of a test that failed.
        for record in records.iter().filter(|record| record.outcome.status == Status::Done) {
            for op in record.outcome.ops.iter().filter(|op| is_main(op.op) && op.count > 0) {
                out.write_all(row(record, op, style.bits).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// The name of a row: what is measured, then which test. A test's name that starts with a colon follows at once
/// (`SD FATFS` and `: write target size`).
fn name(record: &Record) -> String {
    let (label, test) = (printable(&record.target.label), printable(&record.workload.name));
    let space = if test.starts_with(':') || label.is_empty() { "" } else { " " };
    format!("{label}{space}{test}")
}

fn row(record: &Record, op: &OpStats, bits: bool) -> String {
    let (unit, multiplier) = if bits { ("b", 8_u8) } else { ("B", 1) };
    let size_bytes = record.workload.block_bytes;
    let average_us = op.latency_ns.sum as f64 / 1000.0 / op.count as f64;
    // Multiplied and divided in the original's order: floats are not associative.
    let mut speed = f64::from(size_bytes) / average_us / (1024.0 * 1024.0) * (1000.0 * 1000.0);
    if record.run.form == Form::Corrected {
        speed *= f64::from(multiplier);
    }
    // Single precision, as the original's casts have it.
    let average_ms = average_us as f32 / 1000.0;
    let size_k = size_bytes as f32 * f32::from(multiplier) / 1024.0;
    format!(
        "[{}] ({}x) {average_ms:8.3} ms {size_k:8.2} k{unit} {speed:10.3} M{unit}/s\n",
        padded(&name(record)),
        op.count
    )
}

/// C's `%-55s`, which counts bytes.
fn padded(name: &str) -> String {
    format!("{name}{}", " ".repeat(55_usize.saturating_sub(name.len())))
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn rows_are_those_of_the_original() {
        insta::assert_snapshot!(shown(&EspIdf, &samples::esp_idf(Form::Compat), &Style::default()), @r"
        [SPI FATFS (new file): write target size                ] (2x) 1053.682 ms    64.00 kB      0.059 MB/s
        [SPI FATFS (new file): read target size                 ] (2x)    8.124 ms    64.00 kB      7.693 MB/s
        [SPI FATFS: write more than target size                 ] (2x) 1259.972 ms    76.80 kB      0.060 MB/s
        [SD: read tiny size                                     ] (2x)    0.585 ms     0.25 kB      0.416 MB/s
        ");
    }

    #[test]
    fn columns_are_where_the_original_has_them() {
        let mut record = samples::esp_idf(Form::Compat).remove(1);
        record.target.label = "É".into();
        let text = shown(&EspIdf, &[record.clone()], &Style::default());
        // C pads by bytes: 55 between the brackets, whatever the characters.
        assert_eq!(text.find(']'), Some(56));
        assert!(text.ends_with("7.693 MB/s\n"), "{text:?}");
        // A name that is too long is not cut, and no time at all is an infinite rate, as in C.
        record.workload.name = "n".repeat(60);
        record.outcome.ops[0].latency_ns.sum = 0;
        let text = shown(&EspIdf, &[record], &Style::default());
        assert!(text.ends_with("n] (2x)    0.000 ms    64.00 kB        inf MB/s\n"), "{text:?}");
    }

    #[test]
    fn bits_scale_the_size_only_as_in_the_original() {
        let style = Style { bits: true, ..Style::default() };
        insta::assert_snapshot!(shown(&EspIdf, &samples::esp_idf(Form::Compat), &style), @r"
        [SPI FATFS (new file): write target size                ] (2x) 1053.682 ms   512.00 kb      0.059 Mb/s
        [SPI FATFS (new file): read target size                 ] (2x)    8.124 ms   512.00 kb      7.693 Mb/s
        [SPI FATFS: write more than target size                 ] (2x) 1259.972 ms   614.40 kb      0.060 Mb/s
        [SD: read tiny size                                     ] (2x)    0.585 ms     1.99 kb      0.416 Mb/s
        ");
    }

    #[test]
    fn bits_scale_both_in_the_corrected_form() {
        let style = Style { bits: true, ..Style::default() };
        insta::assert_snapshot!(shown(&EspIdf, &samples::esp_idf(Form::Corrected), &style), @r"
        [SPI FATFS (new file): write target size                ] (2x) 1053.682 ms   512.00 kb      0.475 Mb/s
        [SPI FATFS (new file): read target size                 ] (2x)    8.124 ms   512.00 kb     61.546 Mb/s
        [SPI FATFS: write more than target size                 ] (2x) 1259.972 ms   614.40 kb      0.476 Mb/s
        [SD: read tiny size                                     ] (2x)    0.585 ms     1.99 kb      3.327 Mb/s
        ");
    }
}
