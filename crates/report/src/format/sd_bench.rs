//! The text of `esp-idf-sd-bench`, byte for byte.
//!
//! The original takes the time after each `fwrite` of 16384 bytes, and prints sum, average, maximum and minimum in
//! whole microseconds and three speeds by integer division: `16384 * 1000 * 1000 / minimum` and so on. Its "highest"
//! and "lowest" speed are thus one single write each. It runs once; here each repeat has its own text.
//!
//! In the corrected form, which syncs inside the time, what is said of all writes together (sum, average and average
//! speed) comes from the elapsed time, the sync included. What is said of a single write stays that of a single write.
//!
//! The original would divide by zero where a write took less than a microsecond; here such a time counts as one
//! microsecond in the division, and is printed as 0.

use std::io;

use flashmark_core::record::{OpKind, Record, Repeat, Status};

use super::{Format, FormatError, Style, whole_ns};

/// The format.
pub(super) struct SdBench;

impl Format for SdBench {
    fn name(&self) -> &'static str {
        "sd-bench"
    }

    fn about(&self) -> &'static str {
        "the text of esp-idf-sd-bench, byte for byte (byte/s, whole microseconds)"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn original(&self) -> Option<&'static str> {
        Some("sd-bench")
    }

    fn write(&self, records: &[Record], _: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        self.applies(records)?;
        let written =
            |record: &&Record| record.outcome.status == Status::Done && record.outcome.op(OpKind::Write).is_some();
        for record in records.iter().filter(written) {
            for repeat in record.outcome.repeats.iter().filter(|repeat| repeat.count > 0) {
                let time_ns = whole_ns(record.run.form, repeat.sum_ns, repeat.elapsed_ns);
                out.write_all(text(record.workload.block_bytes, repeat, time_ns).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// The text of a repeat whose writes took `time_ns` together.
fn text(block_bytes: u32, repeat: &Repeat, time_ns: u64) -> String {
    let (sum_us, min_us, max_us) = (time_ns / 1000, repeat.min_ns / 1000, repeat.max_ns / 1000);
    let average_us = sum_us / repeat.count.max(1);
    let speed = |time_us: u64| u64::from(block_bytes) * 1000 * 1000 / time_us.max(1);
    format!(
        "write buffer size = {block_bytes}\n\
         sum={sum_us} microseconds, average={average_us} microseconds\n\
         maximum={max_us} microseconds, minimum={min_us} microseconds\n\
         highest write speed = {} byte/s\n\
         average write speed = {} byte/s\n\
         lowest write speed = {} byte/s\n",
        speed(min_us),
        speed(average_us),
        speed(max_us)
    )
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::Form;

    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn the_text_is_that_of_the_original() {
        insta::assert_snapshot!(shown(&SdBench, &samples::sd_bench(), &Style::default()), @r"
        write buffer size = 16384
        sum=51234567 microseconds, average=5123 microseconds
        maximum=134957 microseconds, minimum=3190 microseconds
        highest write speed = 5136050 byte/s
        average write speed = 3198126 byte/s
        lowest write speed = 121401 byte/s
        ");
    }

    /// The sample's writes took 51.2 s, the whole with its sync 52 s.
    #[test]
    fn the_corrected_form_has_the_sync_in_what_it_says_of_all_writes() {
        let mut records = samples::sd_bench();
        let compat = shown(&SdBench, &records, &Style::default());
        records[0].run.form = Form::Corrected;
        let text = shown(&SdBench, &records, &Style::default());
        let changed: Vec<&str> = text.lines().filter(|line| !compat.lines().any(|other| other == *line)).collect();
        assert_eq!(
            changed,
            ["sum=52000000 microseconds, average=5200 microseconds", "average write speed = 3150769 byte/s"]
        );
    }

    #[test]
    fn a_write_within_a_microsecond_does_not_divide_by_zero() {
        let repeat = Repeat { count: 3, min_ns: 999, max_ns: 1_000, ..Repeat::default() };
        let text = text(16_384, &repeat, 2_900);
        for part in ["sum=2 ", "average=0 ", "maximum=1 ", "minimum=0 "] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(text.matches("speed = 16384000000 byte/s\n").count(), 3, "{text}");
    }

    #[test]
    fn each_repeat_has_its_text() {
        let mut records = samples::sd_bench();
        let one = shown(&SdBench, &records, &Style::default());
        assert!(one.ends_with("byte/s\n"));
        let repeat = records[0].outcome.repeats[0];
        records[0].outcome.repeats.push(repeat);
        assert_eq!(shown(&SdBench, &records, &Style::default()), one.repeat(2));
    }

    #[test]
    fn an_incomplete_run_has_no_result() {
        let mut records = samples::sd_bench();
        records[0].outcome.status = Status::Interrupted;
        assert_eq!(shown(&SdBench, &records, &Style::default()), "");
    }
}
