//! Jobs that are wrong, and jobs that ask for what is not there: said with its place, and nothing is touched.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use support::process::flashmark;
use support::{Scratch, names_in};

/// The job file is refused, and the message has all of these.
#[track_caller]
fn refused(text: &str, says: &[&str]) {
    let dir = Scratch::new();
    dir.write("bad.fio", text);
    flashmark("fio bad.fio").in_dir(dir.path()).exits(2).printed_nothing().says(says);
    assert_eq!(names_in(dir.path()), ["bad.fio"]);
}

#[test]
fn mistakes_are_told_with_file_line_and_column() {
    refused("[j]\nrw=reed\nsize=1m\n", &["bad.fio:2:4:", "`rw`", "`reed`", "did you mean `read`?"]);
    refused("[j]\nrw=read\nsize=1m\nbs=4x\n", &["bad.fio:4:", "`bs`", "4x"]);
    refused("[j]\nrw=read\nsizee=1m\n", &["bad.fio:3:1:", "sizee", "size"]);
    refused("[j\nrw=read\nsize=1m\n", &["bad.fio:1:"]);
    refused("rw=read\nsize=1m\n", &["bad.fio:1:"]);
    refused("[j]\nrw=read\nsize=1m\nrwmixread=101\n", &["bad.fio:4:", "rwmixread", "101"]);
    refused("[j]\nrw=read\nsize=1m\ninclude none.fio\n", &["bad.fio:4:", "none.fio"]);
    refused("[j]\nrw=read\nsize=${NO_SUCH_VARIABLE}\n", &["bad.fio:3:6:", "`size`", "found nothing"]);
    refused("[j]\nrw=read\nsize=1m\nioengine=posixaio\n", &["bad.fio:4:", "posixaio", "libaio or io_uring"]);
    refused("[j]\nrw=read\nsize=1m\nioengine=rados\n", &["bad.fio:4:", "rados", "mount it"]);
}

/// Some editors put a byte order mark before the text.
#[test]
fn a_byte_order_mark_is_no_part_of_the_job_file() {
    let dir = Scratch::new();
    dir.write("marked.fio", "\u{feff}[j]\r\nrw=write\r\nsize=64k\r\n");
    flashmark("fio marked.fio --minimal").in_dir(dir.path()).exits(0);
    dir.write("wrong.fio", "\u{feff}rw=write\n[j]\n");
    flashmark("fio wrong.fio").in_dir(dir.path()).exits(2).says(&["wrong.fio:1:1: `rw=write` stands before"]);
}

#[test]
fn what_variables_left_out_and_negative_times_are_told() {
    let dir = Scratch::new();
    dir.write("unset.fio", "[j]\nrw=read\nsize=${FLASHMARK_TEST_NOT_SET}\n");
    let says = "unset.fio:3:6: `size`: expected a size (4096, 4k, 1g) or a part (20%), found nothing (the value came from \
                `${FLASHMARK_TEST_NOT_SET}`, which is not set)";
    flashmark("fio unset.fio").in_dir(dir.path()).exits(2).says(&[says]);
    for option in ["startdelay", "runtime", "ramp_time"] {
        let line = flashmark(&format!("fio --name=j --{option}=-1")).in_dir(dir.path());
        line.exits(2).says(&[
            "argument 2:",
            &format!("`{option}`: expected a time"),
            "`-1` (a time must not be negative)",
        ]);
    }
}

#[test]
fn a_mistake_in_an_included_file_has_its_place_there() {
    let dir = Scratch::new();
    dir.write("part.fio", "bs=4k\nrw=nothing\n");
    dir.write("job.fio", "[global]\nsize=1m\ninclude part.fio\n[j]\n");
    flashmark("fio job.fio").in_dir(dir.path()).exits(2).says(&["part.fio:2:4:", "nothing"]);
}

#[test]
fn mistakes_of_the_command_line_have_their_word() {
    let dir = Scratch::new();
    let wrong = |words: &str, says: &[&str]| {
        flashmark("fio").words(words).in_dir(dir.path()).exits(2).printed_nothing().says(says);
    };
    wrong("--name=j --rw=read --size=1m --iodepht=4", &["argument 4", "iodepht", "iodepth"]);
    wrong("--name=j --rw=read --size=ten", &["argument 3", "size", "ten"]);
    wrong("none.fio", &["none.fio"]);
    wrong("--name=j --rw=read --bs=4k", &["size"]);
    wrong("--name=j --rw=read --size=1m --destroy", &["--destroy"]);
    wrong("--name=j --rw=read --size=1m --output-format=xml", &["xml"]);
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

const UNSUPPORTED: &str = "[j]\nioengine=null\nrw=read\nsize=1m\nzonemode=zbd\nlatency_target=10\n";

#[test]
fn what_is_known_and_not_supported_stops_with_the_nearest_way() {
    refused(UNSUPPORTED, &["bad.fio:5:1:", "`zonemode`", "known but not supported", "random_distribution=zoned"]);
    let line = "fio --name=j --ioengine=null --rw=read --size=1m --latency_target=10";
    flashmark(line).exits(2).printed_nothing().says(&["argument 5", "latency_target", "rate_iops"]);
}

#[test]
fn what_is_left_out_on_request_is_listed() {
    let dir = Scratch::new();
    dir.write("job.fio", UNSUPPORTED);
    let ran = flashmark("fio job.fio --ignore-unsupported --minimal").in_dir(dir.path()).exits(0);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran}");
    ran.says(&["job.fio:5:1: `zonemode=zbd` is left out as asked", "job.fio:6:1: `latency_target=10` is left out"]);
    let ran = flashmark("fio job.fio --ignore-unsupported --parse-only").in_dir(dir.path()).exits(0);
    ran.says(&["`zonemode=zbd`", "`latency_target=10`"]);
    // An option of the program's.
    let line = "fio --name=j --ioengine=null --rw=read --size=1m --status-interval=1 --minimal";
    let ways = ["write_bw_log", "--bandwidth-log", "--eta-newline"];
    let ran = flashmark(line).in_dir(dir.path()).exits(2).printed_nothing().says(&ways);
    ran.says(&["--status-interval is not supported"]);
    let ran = flashmark(line).words("--ignore-unsupported").in_dir(dir.path()).exits(0).says(&ways);
    ran.says(&["--status-interval is left out as asked"]);
    // Not what is simply wrong.
    dir.write("wrong.fio", "[j]\nrw=read\nsize=1m\nfrobnicate=1\n");
    flashmark("fio wrong.fio --ignore-unsupported").in_dir(dir.path()).exits(2).says(&["wrong.fio:4:1:"]);
}

#[test]
fn an_engine_that_cannot_be_had_is_told_with_what_to_do() {
    let dir = Scratch::new();
    let line = "fio --name=j --rw=read --bs=512 --size=1m --ioengine=libaio --iodepth=2000000";
    flashmark(line).in_dir(dir.path()).exits(2).printed_nothing().says(&["`libaio`", "65536", "2000000"]);
    for (depth, remedy) in
        [(100_000, ": use a queue of at most 32768\n"), (40_000, "libaio, or a queue of at most 32768\n")]
    {
        let line = format!("fio --name=j --rw=read --size=1m --ioengine=io_uring --iodepth={depth}");
        flashmark(&line).in_dir(dir.path()).exits(2).printed_nothing().says(&["`io_uring`", remedy]);
    }
}

#[test]
fn blocks_that_direct_io_cannot_move_are_told_with_what_to_do() {
    let dir = Scratch::new();
    let line = "fio --name=j --rw=write --size=1m --bs=1000 --direct=1 --minimal";
    let ran = flashmark(line).in_dir(dir.path()).exits(1);
    ran.says(&["write of 1000 bytes at offset 0", "Invalid argument", "direct=1", "multiples"]);
}
