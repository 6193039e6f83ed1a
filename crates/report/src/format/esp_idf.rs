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
//!
//! In the corrected form `time` is the elapsed time instead of the sum of the calls: what the form syncs, it syncs inside
//! the time, and a rate without that would be the rate of something else than `size` bytes on the medium.

use std::io;

use flashmark_core::record::{Form, OpStats, Record, Status};

use super::{Format, FormatError, Style, whole_ns};
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
    let time_ns = whole_ns(record.run.form, op.latency_ns.sum, record.outcome.elapsed_ns);
    let average_us = time_ns as f64 / 1000.0 / op.count as f64;
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
        [SPI Flash raw write                                    ] (2x)   65.536 ms    64.00 kB      0.954 MB/s
        [SPI Flash raw read                                     ] (2x)    7.801 ms    64.00 kB      8.012 MB/s
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

    /// The numbers of a row: milliseconds, kB and MB/s.
    fn figures(row: &str) -> [f64; 3] {
        let (_, rest) = row.split_once("x) ").unwrap();
        let words: Vec<&str> = rest.split_whitespace().collect();
        [0, 2, 4].map(|nth| words[nth].parse().unwrap())
    }

    /// A sync inside the time is in the mean and in the rate, as in every other format.
    #[test]
    fn the_corrected_form_shows_the_elapsed_time() {
        let records = samples::esp_idf(Form::Corrected);
        let text = shown(&EspIdf, &records, &Style::default());
        assert_eq!(text.lines().count(), records.len() - 1, "one failed");
        for (row, record) in text.lines().zip(&records) {
            let outcome = &record.outcome;
            let [mean_ms, _, rate] = figures(row);
            assert!((mean_ms - outcome.elapsed_ns as f64 / 2.0 / 1e6).abs() < 0.001, "{row}");
            let exact = outcome.bytes as f64 / outcome.elapsed_ns as f64 * 1e9 / f64::from(1 << 20);
            assert!((rate - exact).abs() < 0.001, "{row}");
        }
        insta::assert_snapshot!(
            text.lines().next().unwrap(),
            @"[SPI FATFS (new file): write target size                ] (2x) 1303.682 ms    64.00 kB      0.048 MB/s"
        );
    }

    /// The original forgets the rate.
    #[test]
    fn bits_scale_the_rate_in_the_corrected_form_alone() {
        for (form, factor) in [(Form::Compat, 1.0), (Form::Corrected, 8.0)] {
            let rows = |bits| shown(&EspIdf, &samples::esp_idf(form), &Style { bits, ..Style::default() });
            for (in_bits, in_bytes) in rows(true).lines().zip(rows(false).lines()) {
                assert!(in_bits.contains(" kb ") && in_bits.ends_with(" Mb/s"), "{in_bits}");
                let ([mean_ms, size, rate], [mean_ms_before, size_before, rate_before]) =
                    (figures(in_bits), figures(in_bytes));
                assert_eq!(mean_ms, mean_ms_before);
                // What is compared is rounded to the last digit printed.
                assert!((size - size_before * 8.0).abs() < 0.05, "{in_bits} for {in_bytes}");
                assert!((rate - rate_before * factor).abs() < 0.005, "{in_bits} for {in_bytes}");
            }
        }
    }
}
