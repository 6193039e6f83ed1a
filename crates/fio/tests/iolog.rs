//! Traces.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::io::BufReader;

use flashmark_fio::iolog::{Action, IologReader, IologWriter, Record, Trace, TraceError, TraceFormat, WaitRule};

fn read(text: &str) -> Vec<Result<Record, TraceError>> {
    Trace::new(text.as_bytes(), "t").unwrap_or_else(|error| panic!("{error}")).collect()
}

fn short(record: &Record) -> String {
    format!("{} {} {} {} {}", record.time_ns, record.file, record.action, record.offset, record.bytes)
}

fn good(text: &str) -> Vec<String> {
    read(text).into_iter().map(|record| short(&record.unwrap_or_else(|error| panic!("{error}")))).collect()
}

#[test]
fn version_3_has_times_in_microseconds() {
    let text = "fio version 3 iolog\n34 /tf add\n185 /tf open\n190 /tf read 12288 4096\n\n100590 /tf write 0 4096\n\
        100600 /tf sync 0 0\n100601 /tf datasync 0 0\n100602 /tf trim 4096 4096\n401469 /tf close\n";
    assert_eq!(
        good(text),
        [
            "34000 /tf add 0 0",
            "185000 /tf open 0 0",
            "190000 /tf read 12288 4096",
            "100590000 /tf write 0 4096",
            "100600000 /tf sync 0 0",
            "100601000 /tf datasync 0 0",
            "100602000 /tf trim 4096 4096",
            "401469000 /tf close 0 0",
        ]
    );
}

#[test]
fn version_2_has_waits() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a read 0 512\n/a wait 1000 0\n/a read 512 512\n/a wait 3000 0\n/a close\n";
    let times = |waits| {
        let reader = IologReader::new(text.as_bytes(), "t").unwrap().with_waits(waits);
        assert_eq!(reader.format(), TraceFormat::Version2);
        reader.map(|record| record.unwrap().time_ns / 1000).collect::<Vec<_>>()
    };
    assert_eq!(times(WaitRule::AbsoluteMilliseconds), [0, 0, 0, 1_000_000, 3_000_000]);
    assert_eq!(times(WaitRule::RelativeMicroseconds), [0, 0, 0, 1000, 4000]);
}

#[test]
fn what_is_wrong_is_told_and_the_rest_is_read() {
    let text = "fio version 3 iolog\n0 /a add\n0 /a read 0 512\n0 /b open\n0 /a open\n1 /a raed 0 512\n2 /a read 0\n\
        x /a read 0 512\n3 /a read -1 512\n4 /a wait 5 0\n5 /a read 18446744073709551615 1\n6 /a opne\n\
        7  /a\tread 0 1k\n18446744073709551615 /a close\n8 /a read 0 512\n";
    let (records, errors): (Vec<_>, Vec<_>) = read(text).into_iter().partition(Result::is_ok);
    assert_eq!(records.len(), 3);
    assert_eq!(short(records[2].as_ref().unwrap()), "8000 /a read 0 512");
    let errors: Vec<String> = errors.into_iter().map(|error| error.unwrap_err().to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_is_no_trace_is_told() {
    let refused = |bytes: &[u8]| Trace::new(bytes, "t").unwrap_err().to_string();
    assert_eq!(refused(b""), "t:1:1: the trace is empty");
    assert_eq!(refused(b"\x07tae\x01\0\0\0"), "t:1:1: this is a binary blktrace; make it text with `blkparse -i FILE`");
    assert!(refused(b"fio version 1 iolog\n").contains("`fio version 1 iolog` begins no trace"));
    assert!(refused(b"rw, 0, 512\n").contains("`rw, 0, 512` begins no trace"));
    let long = [b"fio version 3 iolog\n0 ".as_slice(), &[b'a'; 100_000], b" add\n1 /b add\n2 /\xff add\n"].concat();
    let lines: Vec<_> = Trace::new(BufReader::with_capacity(100, long.as_slice()), "t").unwrap().collect();
    let texts: Vec<String> =
        lines.into_iter().map(|line| line.map_or_else(|error| error.to_string(), |record| short(&record))).collect();
    assert_eq!(
        texts,
        ["t:2:1: the line has more than 8192 bytes", "1000 /b add 0 0", "t:4:4: the line is not UTF-8 text"]
    );
}

#[test]
fn blkparse_tells_what_was_queued() {
    let text = "\
  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427
  8,0    3        2     0.000000829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000003000   697  C   W 223490 + 8 [0]
  8,16   3        4     1.000000001   697  Q  RA 0 + 256 [cat]
  8,0    3        5     1.500000000   697  Q  DS 2048 + 2048 [fstrim]
  8,0    3        6     2.000000000     0  Q FWFS 8 + 8 [jbd2/sda1-8]
  8,0    3        7     2.000000000     0  Q  FWS [jbd2/sda1-8]
  8,0    1        0     2.000000100     0  m   N cfq698 insert_request
  8,0    3        8     3.000000000     0  Q   R 16 + 0 [zero]
CPU3 (sda):
 Reads Queued:           1,        4KiB
";
    assert_eq!(
        good(text),
        [
            "829 /dev/block/8:0 write 114426880 4096",
            "1000000001 /dev/block/8:16 read 0 131072",
            "1500000000 /dev/block/8:0 trim 1048576 1048576",
            "2000000000 /dev/block/8:0 sync 0 0",
            "2000000000 /dev/block/8:0 write 4096 4096",
            "2000000000 /dev/block/8:0 sync 0 0",
        ]
    );
    let errors: Vec<String> = read("8,0 3 1 0.5 697 Q W 0 + 8 [x]\n8,x 1\n8,0 3 1 0.000000001 1 Q\n8,0 3 1 0.000000001 1 Q X 0 + 8\n8,0 1 1 0.000000001 1 Q R x + 8\n")
        .into_iter()
        .map(|record| record.unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let record = |time_us: u64, file: &str, action, offset, bytes| Record {
        time_ns: time_us * 1000,
        file: file.into(),
        action,
        offset,
        bytes,
    };
    let records = [
        record(5, "/a", Action::Read, 0, 4096),
        record(7_005, "/b", Action::Write, 8192, 512),
        record(7_006, "/a", Action::Sync, 0, 0),
        record(9_000, "/a", Action::Close, 0, 0),
        record(9_001, "/a", Action::Trim, 0, 512),
    ];
    for (format, text) in [
        (
            TraceFormat::Version3,
            "fio version 3 iolog\n5 /a add\n5 /a open\n5 /a read 0 4096\n7005 /b add\n7005 /b open\n7005 /b write 8192 512\n\
             7006 /a sync 0 0\n9000 /a close\n9001 /a open\n9001 /a trim 0 512\n10000 /a close\n10000 /b close\n",
        ),
        (
            TraceFormat::Version2,
            "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/b add\n/b open\n/b wait 7 0\n/b write 8192 512\n\
             /a sync 0 0\n/a close\n/a open\n/a wait 9 0\n/a trim 0 512\n/a close\n/b close\n",
        ),
    ] {
        let mut writer = IologWriter::new(Vec::new(), format).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        let written = String::from_utf8(writer.finish(10_000_000).unwrap()).unwrap();
        assert_eq!(written, text);
        assert_eq!(good(&written).iter().filter(|line| line.contains("read 0 4096")).count(), 1);
    }
    let mut writer = IologWriter::new(Vec::new(), TraceFormat::Version3).unwrap();
    for name in ["", "a b", &"x".repeat(257)] {
        assert!(writer.write(&record(0, name, Action::Read, 0, 1)).is_err(), "{name}");
    }
    assert!(IologWriter::new(Vec::new(), TraceFormat::Blkparse).is_err());
}
