//! Tables that run, from text to report.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use flashmark_validate::{Report, RowReport, Table, Verdict, built_in_tables, validate};

const HEADER: &str = "set,medium,bus,fs,mode,op,io_bytes,total_bytes,runs,metric,value,unit,note,board";

fn run(rows: &str) -> Report {
    validate(&[Table::parse(&format!("{HEADER}\n{rows}"), "t.csv").unwrap()]).unwrap()
}

fn predicted(row: &RowReport) -> u64 {
    row.predicted.unwrap_or_else(|| panic!("{}: {:?}", row.row.name(), row.reason)).number()
}

/// The built-in table with few repeats, so that it is quick without optimisation.
fn quick_built_in() -> Table {
    let mut table = built_in_tables().unwrap().remove(0);
    for row in &mut table.rows {
        row.runs = row.runs.map(|runs| runs.min(2));
    }
    table
}

#[test]
fn the_built_in_table_is_compared_but_for_what_the_board_does_not_have() {
    let report = validate(&[quick_built_in()]).unwrap();
    assert!(!report.summary.failed);
    for row in &report.rows {
        let on_card = row.row.medium == "sd" || row.row.op.starts_with("sd ");
        let expected = if on_card { Verdict::NotRun } else { Verdict::Compared };
        assert_eq!(row.verdict, expected, "{row:?}");
        assert_eq!(row.reason.is_some(), row.verdict != Verdict::Compared);
    }
    assert!(report.rows.iter().filter(|row| row.fitted).count() >= 2);
    assert!(report.messages.is_empty(), "{:?}", report.messages);
}

#[test]
fn the_same_comes_out_every_time() {
    let json = || {
        let mut text = Vec::new();
        let report = validate(&[quick_built_in()]).unwrap();
        flashmark_validate::format::Format::named("json").unwrap().write(&report, &mut text).unwrap();
        text
    };
    assert_eq!(json(), json());
}

#[test]
fn phases_hold_the_rows_and_more() {
    let report = run("\
esp_idf_perf_benchmark,spi-nor,,littlefs,new-file,write,8192,8192,2,mean_ms,100,ms,,esp32
esp_idf_perf_benchmark,spi-nor,,littlefs,new-file,write,9830,9830,2,mean_ms,100,ms,,esp32
esp_idf_perf_benchmark_phases,,,,,littlefs 8 tests x2,,,,wall_ms,1000,ms,,esp32
esp_idf_perf_benchmark_phases,,,,,littlefs format,,,,wall_ms,80,ms,,esp32
esp_idf_perf_benchmark_phases,,,,,raw wl mount,,,,wall_ms,80,ms,,esp32
esp_idf_perf_benchmark_phases,,,,,boot,,,,wall_ms,80,ms,,esp32
");
    let timed = predicted(&report.rows[0]) * 2 + predicted(&report.rows[1]) * 2;
    assert!(predicted(&report.rows[2]) > timed);
    // Rows that follow the esp-idf suite's sizes for a target of 8 KiB are that suite's.
    assert!(report.messages.is_empty(), "{:?}", report.messages);
    assert!(predicted(&report.rows[3]) > 0 && predicted(&report.rows[4]) > 0);
    assert_eq!(report.rows[5].verdict, Verdict::NotCompared);
    assert_eq!(report.summary.phases.compared, 3);
}

#[test]
fn rows_of_unknown_sets_run_as_they_describe_themselves() {
    let report = run("\
mine,spi-nor,,littlefs,new-file,write,4096,65536,2,total_ms,1000,ms,,esp32
mine,spi-nor,,littlefs,new-file,write,4096,65536,2,mean_ms,60,ms,,esp32
mine,spi-nor,,littlefs,new-file,read,4096,65536,2,KiBps,900,KiB/s,,esp32
mine_phases,,,,,littlefs tests,,,,wall_ms,3000,ms,,esp32
mine,spi-nor,,littlefs,new-file,write,4096,1073741824,2,mean_ms,60,ms,,\"esp32,board.seed=2\"
");
    let [total, mean, rate, phase, too_large] = report.rows.as_slice() else { panic!() };
    // Sixteen calls, and what is between them.
    assert!(predicted(total) >= 16 * (predicted(mean) - 1));
    assert!(predicted(total) < 17 * predicted(mean));
    assert!(predicted(rate) > 1_000_000);
    // One measurement has two figures: it ran once.
    let whole = predicted(phase);
    assert!(whole > 2 * predicted(total) && whole < 4 * predicted(total), "{whole}");
    assert!(matches!(too_large.verdict, Verdict::Failed | Verdict::NotRun), "{too_large:?}");
    assert!(report.messages[0].contains("no suite is known for mine on esp32/littlefs"), "{:?}", report.messages);
}

#[test]
fn rows_that_a_suite_does_not_have_run_as_they_describe_themselves() {
    let report = run("\
esp_idf_perf_benchmark,spi-nor,,raw,raw,read,8192,8192,2,mean_ms,1,ms,,esp32
esp_idf_perf_benchmark,spi-nor,,raw,raw,read,1024,8192,2,mean_ms,1,ms,,esp32
esp_idf_perf_benchmark,spi-nor,,raw,raw,erase,8192,8192,2,mean_ms,1,ms,,esp32
");
    assert!(predicted(&report.rows[1]) < predicted(&report.rows[0]));
    assert_eq!(report.rows[2].verdict, Verdict::NotCompared);
    assert!(report.messages[0].contains("suite esp-idf has no workloads for some rows"), "{:?}", report.messages);
}

#[test]
fn boards_are_set_by_the_cell_and_found_beside_the_table() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("slow.toml"), "name = \"slow\"\nbase = \"esp32\"\n[bus]\nmode = \"dout\"\n").unwrap();
    let row = "esp_idf_perf_benchmark,spi-nor,QIO 80MHz,raw,raw,read,65536,65536,1,mean_ms,8.076,ms,";
    let text = format!("{HEADER}\n{row},slow.toml\n{row},\"esp32,bus.mode=dio\"\n{row},esp32\n{row},\n");
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let report = validate(&[Table::load(&folder.path().join("t.csv")).unwrap()]).unwrap();
    let [dout, dio, qio, nowhere] = report.rows.as_slice() else { panic!() };
    assert!(predicted(dout) > predicted(qio) && predicted(dio) > predicted(qio));
    assert_eq!(nowhere.reason.as_deref(), Some("the table names no board"));
    // The row says QIO, two of the boards are set otherwise.
    assert_eq!(report.messages.iter().filter(|message| message.contains("bus is QIO 80MHz, but board")).count(), 2);
}

/// A table says how often a row was repeated; where it does not, the board does.
#[test]
fn rows_that_do_not_say_are_repeated_as_the_board_does() {
    let tests_ns = |tests: &str, board: &str| {
        let report = run(&format!("esp_idf_perf_benchmark_phases,,,,,{tests},,,,wall_ms,3900,ms,,{board}\n"));
        predicted(&report.rows[0])
    };
    let once = tests_ns("spiffs 8 tests x1", "esp32");
    assert_eq!(tests_ns("spiffs 8 tests", "esp32"), once);
    let twice = tests_ns("spiffs 8 tests", "\"esp32,spiffs.tries=2\"");
    assert_eq!(twice, tests_ns("spiffs 8 tests x2", "esp32"));
    assert!(twice > once);
}

#[test]
fn suites_and_settings_of_the_columns_are_run() {
    let text = format!(
        "{HEADER},suite,settings\n\
         mine,nor,,littlefs,,seq write,,,,mean_ms,10,ms,,esp32,my.toml,\n\
         mine,nor,,littlefs,new-file,write,512,512,1,mean_ms,10,ms,,esp32,esp-idf,target-size=512;tries=1\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let suite = "name = \"my\"\n[[workload]]\nname = \"seq write\"\nop = \"write\"\nblock = \"4k\"\nsize = \"16k\"\n";
    fs::write(folder.path().join("my.toml"), suite).unwrap();
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let report = validate(&[Table::load(&folder.path().join("t.csv")).unwrap()]).unwrap();
    assert!(report.rows.iter().all(|row| predicted(row) > 0));
}

#[test]
fn boards_of_the_same_name_beside_two_tables_are_two() {
    let table = |mode: &str| {
        let folder = tempfile::tempdir().unwrap();
        let profile = format!("name = \"b\"\nbase = \"esp32\"\n[bus]\nmode = \"{mode}\"\n");
        fs::write(folder.path().join("b.toml"), profile).unwrap();
        let row = "mine,nor,,raw,raw,read,4096,4096,1,mean_ms,1,ms,,b.toml";
        fs::write(folder.path().join("t.csv"), format!("{HEADER}\n{row}\n")).unwrap();
        (Table::load(&folder.path().join("t.csv")).unwrap(), folder)
    };
    let ((fast, _one), (slow, _other)) = (table("qio"), table("dout"));
    let report = validate(&[fast, slow]).unwrap();
    assert!(predicted(&report.rows[0]) < predicted(&report.rows[1]));
}
