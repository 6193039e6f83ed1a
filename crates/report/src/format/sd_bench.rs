//! The text of `esp-idf-sd-bench`, byte for byte.
//!
//! The original takes the time after each `fwrite` of 16384 bytes, and prints sum, average, maximum and minimum in
//! whole microseconds and three speeds by integer division: `16384 * 1000 * 1000 / minimum` and so on. Its "highest"
//! and "lowest" speed are thus one single write each. It runs once; here each repeat has its own text.
//!
//! The original would divide by zero where a write took less than a microsecond; here such a time counts as one
//! microsecond in the division, and is printed as 0.

use std::io;

use flashmark_core::record::{OpKind, Record, Repeat, Status};

use super::{Format, FormatError, Style};

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
                out.write_all(text(record.workload.block_bytes, repeat).as_bytes())?;
            }
        }
        Ok(())
    }
}

fn text(block_bytes: u32, repeat: &Repeat) -> String {
    let (sum_us, min_us, max_us) = (repeat.sum_ns / 1000, repeat.min_ns / 1000, repeat.max_ns / 1000);
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

    #[test]
    fn a_write_within_a_microsecond_does_not_divide_by_zero() {
        let repeat = Repeat { count: 3, min_ns: 999, max_ns: 1_000, sum_ns: 2_900, ..Repeat::default() };
        insta::assert_snapshot!(text(16_384, &repeat), @r"
        write buffer size = 16384
        sum=2 microseconds, average=0 microseconds
        maximum=1 microseconds, minimum=0 microseconds
        highest write speed = 16384000000 byte/s
        average write speed = 16384000000 byte/s
        lowest write speed = 16384000000 byte/s
        ");
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
