//! Every format, on predictions made by hand.
#![allow(clippy::unwrap_used, clippy::panic)]

use flashmark_validate::{Limits, Prediction, Quantity, Report, Row, Table, format::Format, report};

const TABLE: &str = "\
set,medium,bus,fs,mode,op,io_bytes,total_bytes,runs,metric,value,unit,note,board
bench,spi-nor,QIO 80MHz,raw,raw,write,65536,65536,100,mean_ms,96.610,ms,,esp32
bench,spi-nor,QIO 80MHz,raw,raw,read,65536,65536,100,mean_ms,8.076,ms,,esp32
bench,spi-nor,QIO 80MHz,fatfs,new-file,write,65536,65536,100,mean_ms,1053.682,ms,,esp32
bench,spi-nor,QIO 80MHz,fatfs,new-file,write,255,255,100,mean_ms,1.180,ms,,esp32
bench,spi-nor,QIO 80MHz,fatfs,new-file,read,255,255,100,mean_ms,0.585,ms,,esp32
bench,spi-nor,QIO 80MHz,fatfs,stream,read,4096,1048576,3,speed_kBps,957.67,kB/s,,esp32
bench,spi-nor,QIO 80MHz,spiffs,new-file,write,65536,65536,1,mean_ms,464.198,ms,,esp32
bench,sd,SDMMC 4-line 40MHz,littlefs,new-file,read,255,255,100,mean_ms,0.348,ms,,esp32
bench,sd,SDMMC 4-line 40MHz,littlefs,new-file,write,255,255,100,mean_ms,17.263,ms,,esp32
bench,spi-nor,QIO 80MHz,raw,raw,read,65536,65536,1,joules,12,J,,esp32
bench_phases,,,,,fatfs format on spi-nor,,,,wall_ms,420,ms,resolution 10 ms,esp32
bench_phases,,,,,\"fatfs spi-nor 8 tests x100 incl. untimed open/close/unlink | *all* of it, from the first to the last\",,,,wall_ms,498610,ms,,esp32
bench_phases,,,,,\"sd littlefs format (incl. full erase)\",,,,wall_ms,2620,ms,,esp32
";

fn ms(ms: f64) -> Prediction {
    Prediction::Value(Quantity::Ns((ms * 1e6).round() as u64))
}

fn sample() -> Report {
    let table = Table::parse(TABLE, "mine.csv").unwrap();
    let no = |why: &str| Prediction::NotRun(why.to_owned());
    let predictions = [
        ms(97.0),
        ms(8.1),
        ms(1200.5),
        ms(1.3),
        ms(0.9),
        Prediction::Value(Quantity::MilliBytesPerS(1_000_000_000)),
        no("board esp32 has no storage spiffs (it has raw, fatfs, littlefs)"),
        no("board esp32 has no SD card"),
        no("board esp32 has no SD card"),
        Prediction::NotCompared("metric \"joules\" is not known".to_owned()),
        ms(430.0),
        ms(560_000.0),
        no("board esp32 has no SD card"),
    ];
    let fitted: Vec<bool> = (0..table.rows.len()).map(|nth| nth == 1).collect();
    let messages = vec!["mine.csv:1: passed over columns: colour".to_owned()];
    report(&table.rows, &fitted, &predictions, Limits::default(), messages)
}

fn shown(format: &str, report: &Report) -> String {
    let mut text = Vec::new();
    Format::named(format).unwrap().write(report, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn table() {
    let text = shown("table", &sample());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::assert_snapshot!("table", text);
}

#[test]
fn markdown() {
    insta::assert_snapshot!("markdown", shown("markdown", &sample()));
}

#[test]
fn csv() {
    insta::assert_snapshot!("csv", shown("csv", &sample()));
    insta::assert_snapshot!("remarks", flashmark_validate::format::remarks(&sample()).join("\n"));
}

#[test]
fn json() {
    let text = shown("json", &sample());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["rows"].as_array().unwrap().len(), 13);
    insta::assert_snapshot!("json", text);
}

#[test]
fn a_report_of_nothing_keeps_no_limits() {
    let empty = report(&[], &[], &[], Limits::default(), Vec::new());
    assert!(!empty.summary.keeps_limits());
    for format in flashmark_validate::format::FORMATS {
        assert!(!shown(format.name, &empty).is_empty());
    }
}

/// One row under 2 ms and one over, of which the second is what is compared in percent.
fn two(small: f64, large: f64) -> Report {
    let rows: Vec<Row> = Table::parse(TABLE, "mine.csv").unwrap().rows;
    let rows = [rows[4].clone(), rows[0].clone()];
    report(&rows, &[false, false], &[ms(small), ms(large)], Limits::default(), Vec::new())
}

#[test]
fn limits_are_kept_up_to_the_limit_itself() {
    // 96.610 ms and 8 percent of it.
    let kept = |report: &Report| report.summary.limits.iter().map(|limit| limit.kept).collect::<Vec<_>>();
    assert_eq!(kept(&two(0.585, 96.61 * 1.08)), [Some(true), Some(true), None]);
    assert_eq!(kept(&two(0.585, 96.61 * 1.080_01)), [Some(false), Some(true), None]);
    assert_eq!(kept(&two(0.585, 96.61 * 0.75)), [Some(false), Some(true), None]);
    assert_eq!(kept(&two(0.585, 96.61 * 0.749_9)), [Some(false), Some(false), None]);
}

#[test]
fn small_rows_may_miss_by_a_time_and_count_in_percent_beyond_it() {
    let within = two(0.885, 96.61);
    assert!(within.rows[0].small && within.summary.keeps_limits());
    assert_eq!((within.summary.small, within.summary.mean_all.count()), (1, 1));
    let beyond = two(0.886, 96.61);
    assert!(!beyond.rows[0].small && !beyond.summary.keeps_limits());
    assert_eq!((beyond.summary.worst, beyond.summary.mean_unfitted.count()), (Some(0), 2));
}

#[test]
fn fitted_rows_count_in_no_limit() {
    let rows: Vec<Row> = Table::parse(TABLE, "mine.csv").unwrap().rows;
    let rows = [rows[0].clone(), rows[1].clone(), rows[10].clone()];
    let predictions = [ms(1000.0), ms(8.076), ms(1000.0)];
    let found = report(&rows, &[true, false, true], &predictions, Limits::default(), Vec::new());
    assert!(found.summary.keeps_limits());
    assert_eq!((found.summary.worst, found.summary.worst_unfitted), (Some(0), Some(1)));
    assert_eq!((found.summary.rows.fitted, found.summary.phases.fitted), (1, 1));
}
