//! The text of SdFat's `bench` sketch in its form of 2015.
//!
//! A row for each pass: speed, maximum, minimum, average. The speed is `s / t`, the file's bytes as a `float` over the
//! whole milliseconds of the pass, so `KB` is 1000 bytes; it is printed with two decimals by the sketch's own routine
//! (`ostream::putDouble`), which adds half of the last digit and cuts. The times are whole microseconds, the average is
//! their sum divided by their number, without remainder.
//!
//! A pass that takes less than a millisecond divides by zero in the sketch, which then prints `BIG FLT`; here the time
//! is taken to the nanosecond instead. The sketch sends `\r\n` over its serial line; here lines end in `\n`.

use std::io;

use flashmark_core::record::{OpKind, Record, Repeat, Status};
use flashmark_core::workload::Workload;

use super::{Format, FormatError, Style};
use crate::targets::{Group, runs};

/// The format.
pub(super) struct SdFat;

impl Format for SdFat {
    fn name(&self) -> &'static str {
        "sdfat"
    }

    fn about(&self) -> &'static str {
        "the text of SdFat's bench sketch (its KB is 1000 bytes)"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn original(&self) -> Option<&'static str> {
        Some("sdfat")
    }

    fn write(&self, records: &[Record], _: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        self.applies(records)?;
        for run in runs(records) {
            for group in &run.groups {
                out.write_all(text(group).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// The sketch's whole text: the write test, then the read test. Where a test is not complete, its complete passes are
/// there and the text ends with the sketch's own word for it.
fn text(group: &Group<'_>) -> String {
    let of = |op| group.records.iter().copied().filter(move |record| is_test(&record.workload, op));
    let (writes, reads): (Vec<_>, Vec<_>) = (of(OpKind::Write).collect(), of(OpKind::Read).collect());
    let mut text = String::new();
    if let Some(first) = writes.first().or(reads.first()) {
        text += &format!(
            "File size {} MB\nBuffer size {} bytes\n",
            megabytes(file_bytes(first)),
            first.workload.block_bytes
        );
    }
    for (op, tests) in [("write", writes), ("read", reads)] {
        if tests.is_empty() {
            continue;
        }
        text += &format!("Starting {op} test, please wait.\n\n");
        text += &format!("{op} speed and latency\nspeed,max,min,avg\nKB/Sec,usec,usec,usec\n");
        for test in tests {
            complete_passes(test).for_each(|pass| text += &row(pass));
            if test.outcome.status != Status::Done {
                return text + &format!("error: {op} failed\n");
            }
        }
        text.push('\n');
    }
    text + "Done\n"
}

const fn is_test(workload: &Workload, op: OpKind) -> bool {
    match op {
        OpKind::Write => workload.writes(),
        _ => !workload.writes(),
    }
}

/// The size that the test was told, which its whole blocks may not fill (5 MB are 1220 blocks of 4096 bytes and a
/// rest).
fn file_bytes(record: &Record) -> u64 {
    let workload = &record.workload;
    let moved = record.outcome.repeats.first().map_or(0, |pass| pass.bytes);
    workload.size_bytes.or(workload.file_bytes).unwrap_or(moved)
}

/// Megabytes; the sketch knows whole ones only.
fn megabytes(bytes: u64) -> String {
    let text = format!("{}.{:06}", bytes / 1_000_000, bytes % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Passes that moved all that they should; the sketch prints a pass when it is through.
fn complete_passes(record: &Record) -> impl Iterator<Item = &Repeat> {
    let block = u64::from(record.workload.block_bytes.max(1));
    let whole = match record.outcome.status {
        Status::Done => 0,
        Status::Interrupted | Status::Failed | Status::Skipped => file_bytes(record) / block * block,
    };
    record.outcome.repeats.iter().filter(move |pass| pass.count > 0 && pass.bytes >= whole)
}

fn row(pass: &Repeat) -> String {
    let average_us = pass.sum_ns / 1000 / pass.count.max(1);
    format!("{},{},{},{average_us}\n", speed(pass), pass.max_ns / 1000, pass.min_ns / 1000)
}

/// Thousands of bytes a second as the sketch prints them.
fn speed(pass: &Repeat) -> String {
    let whole_ms = pass.elapsed_ns / 1_000_000;
    let time_ms = if whole_ms > 0 { whole_ms as f32 } else { pass.elapsed_ns as f32 / 1e6 };
    let speed = f64::from(pass.bytes as f32 / time_ms);
    if speed > 4.0e9 {
        // What the sketch prints instead of a number beyond its 32 bits.
        return "BIG FLT".into();
    }
    let rounded = speed + 0.5 * 0.1 * 0.1;
    let whole = rounded.floor();
    let mut rest = rounded - whole;
    let mut text = format!("{whole}.");
    for _ in 0..2 {
        rest *= 10.0;
        text += &format!("{}", rest.floor());
        rest -= rest.floor();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn the_text_is_that_of_the_sketch() {
        insta::assert_snapshot!(shown(&SdFat, &samples::sdfat(), &Style::default()), @r"
        File size 5 MB
        Buffer size 4096 bytes
        Starting write test, please wait.

        write speed and latency
        speed,max,min,avg
        KB/Sec,usec,usec,usec
        957.67,12269,4088,4272
        964.70,11783,4087,4242

        Starting read test, please wait.

        read speed and latency
        speed,max,min,avg
        KB/Sec,usec,usec,usec
        2461.64,2076,1527,1660
        12492800.00,0,0,0

        Done
        ");
    }

    #[test]
    fn a_test_that_failed_ends_as_in_the_sketch() {
        let mut records = samples::sdfat();
        let whole = shown(&SdFat, &records, &Style::default());
        records[0].outcome.status = Status::Failed;
        records[0].outcome.repeats[1].bytes -= 4096;
        let (first_pass, _) = whole.split_once("964.70,").unwrap();
        assert_eq!(shown(&SdFat, &records, &Style::default()), format!("{first_pass}error: write failed\n"));
    }

    #[test]
    fn two_targets_have_a_text_each() {
        let mut records = samples::sdfat();
        records.extend(samples::sdfat().into_iter().map(|mut record| {
            record.target.name = "/mnt/other".into();
            record
        }));
        let text = shown(&SdFat, &records, &Style::default());
        let one = shown(&SdFat, &samples::sdfat(), &Style::default());
        assert!(one.ends_with("\n\nDone\n"));
        assert_eq!(text, one.repeat(2));
    }

    #[test]
    fn speeds_are_rounded_as_the_sketch_does() {
        let speed = |bytes, elapsed_ns| speed(&Repeat { bytes, elapsed_ns, ..Repeat::default() });
        assert_eq!(speed(4_997_120, 5_218_000_000), "957.67");
        assert_eq!(speed(4_997_120, 5_218_999_999), "957.67");
        assert_eq!(speed(1_000, 1_000_000_000), "1.00");
        assert_eq!(speed(125, 1_000_000_000), "0.13");
        assert_eq!(speed(4_997_120, 500_000), "9994240.00");
        assert_eq!(speed(4_997_120, 0), "BIG FLT");
        assert_eq!(megabytes(5_000_000), "5");
        assert_eq!(megabytes(10 << 20), "10.48576");
    }
}
