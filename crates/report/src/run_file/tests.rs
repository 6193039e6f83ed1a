use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::samples;

fn lines(records: &[Record]) -> Vec<u8> {
    let mut text = Vec::new();
    for record in records {
        serde_json::to_writer(&mut text, record).unwrap();
        text.push(b'\n');
    }
    text
}

fn in_a_file(content: &[u8]) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("run.jsonl");
    fs::write(&path, content).unwrap();
    (dir, path)
}

fn refused(content: &[u8]) -> String {
    read_records(content).map(|(records, torn)| (records.len(), torn)).unwrap_err().to_string()
}

#[test]
fn what_is_appended_is_read_back() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("run.jsonl");
    let records = samples::mixed_bag();
    let mut run = RunFile::create(&path).unwrap();
    for (nth, record) in records.iter().enumerate() {
        run.append(record).unwrap();
        // Each record is there as soon as it is appended.
        assert_eq!(fs::read(&path).unwrap(), lines(&records[..=nth]));
    }
    assert_eq!(read_records(&*fs::read(&path).unwrap()).unwrap(), (records, None));
}

#[test]
fn a_file_with_content_is_not_overwritten() {
    let (_dir, path) = in_a_file(b"precious\n");
    let message = RunFile::create(&path).unwrap_err().to_string();
    assert!(message.contains("not empty") && message.contains(&format!("--resume {}", path.display())), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"precious\n");
}

#[test]
fn an_empty_file_is_taken() {
    let (_dir, path) = in_a_file(b"");
    RunFile::create(&path).unwrap().append(&samples::mixed_bag()[0]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&samples::mixed_bag()[..1]));
}

#[test]
fn a_directory_or_a_missing_parent_is_an_error_with_its_name() {
    let dir = TempDir::new().unwrap();
    assert!(matches!(RunFile::create(dir.path()), Err(RunFileError::Open { .. })));
    let message = RunFile::create(&dir.path().join("no/run.jsonl")).unwrap_err().to_string();
    assert!(message.starts_with("cannot open ") && message.contains("no/run.jsonl"), "{message}");
    let message = RunFile::resume(&dir.path().join("run.jsonl")).unwrap_err().to_string();
    assert!(message.contains("does not exist"), "{message}");
}

#[test]
fn resuming_cuts_a_torn_line_off_and_goes_on() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..2]);
    let whole_bytes = content.len();
    content.extend_from_slice(&lines(&records[2..3])[..100]);
    let (_dir, path) = in_a_file(&content);

    let (mut run, found, torn) = RunFile::resume(&path).unwrap();
    assert_eq!(found, records[..2]);
    assert_eq!(torn, Some(TornLine { line: 3, bytes: 100 }));
    assert_eq!(fs::metadata(&path).unwrap().len(), whole_bytes as u64);

    run.append(&records[2]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[..3]));
}

/// The newline is the last byte to be written, so a record without it is still complete.
#[test]
fn a_record_without_its_newline_is_kept() {
    let records = samples::mixed_bag();
    let content = lines(&records[..2]);
    let (_dir, path) = in_a_file(&content[..content.len() - 1]);
    let (mut run, found, torn) = RunFile::resume(&path).unwrap();
    assert_eq!((&found[..], torn), (&records[..2], None));
    run.append(&records[2]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[..3]));
}

/// After a power cut a file system may have the file's new size, but zeros where the data was to be.
#[test]
fn zeros_in_the_last_line_are_a_torn_line() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..2]);
    let start = content.len();
    content.extend(lines(&records[2..3]));
    content[start..start + 64].fill(0);
    assert_eq!(read_records(&*content).unwrap().0, records[..2]);

    let (_dir, path) = in_a_file(&content);
    RunFile::resume(&path).unwrap().0.append(&records[2]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[..3]));
}

/// A wrong argument of `--resume` must not cost anybody a file.
#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    for content in [&b"shopping list\n"[..], b"no newline", b"{\"a\":1}\n", b"{\"a\"", &[0; 4096], b"\x7fELF\n", b"[]"]
    {
        let (_dir, path) = in_a_file(content);
        let message = RunFile::resume(&path).unwrap_err().to_string();
        assert!(message.contains("line 1 "), "{message}");
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

#[test]
fn a_torn_line_is_forgiven_at_the_end_only() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..1]);
    content.extend_from_slice(&lines(&records[1..2])[..200]);
    content.push(b'\n');
    content.extend(lines(&records[2..3]));
    let message = refused(&content);
    assert!(message.starts_with("line 2 is not JSON"), "{message}");
}

#[test]
fn joined_files_and_blank_lines_are_read() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..2]);
    content.extend_from_slice(b"\n \r\n");
    content.extend(lines(&records[2..]));
    assert_eq!(read_records(&*content).unwrap(), (records, None));
}

#[test]
fn a_newer_schema_says_who_wrote_it() {
    let text = br#"{"schema":99,"flashmark":"9.1.0","all":"else is new"}"#;
    assert_eq!(
        refused(text),
        "line 1 has a record of schema version 99, written by flashmark 9.1.0; this flashmark reads versions up to 1: \
         use that version or a later one"
    );
}

#[test]
fn a_record_with_a_wrong_member_is_named_with_its_line() {
    let mut value = serde_json::to_value(&samples::mixed_bag()[0]).unwrap();
    value["outcome"]["bytes"] = "many".into();
    let message = refused(format!("\n{value}\n").as_bytes());
    assert!(message.starts_with("line 2 is not a flashmark record: invalid type: string \"many\""), "{message}");
}

#[test]
fn members_that_are_not_known_are_passed_over() {
    let record = &samples::mixed_bag()[0];
    let mut value = serde_json::to_value(record).unwrap();
    value["later"] = 1.into();
    value["outcome"]["later"] = 2.into();
    value["environment"]["later"] = 3.into();
    let (records, torn) = read_records(value.to_string().as_bytes()).unwrap();
    assert_eq!((&records[0], torn), (record, None));
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let endless = io::BufReader::new(io::repeat(b'x'));
    assert!(matches!(read_records(endless), Err(ReadError::LineTooLong { line: 1 })));
}

#[test]
fn a_pipe_can_be_written_to() {
    // `/dev/null` and `/dev/full` stand for all that cannot be synced or cut.
    let null = Path::new("/dev/null");
    if null.exists() {
        RunFile::create(null).unwrap().append(&samples::mixed_bag()[0]).unwrap();
        assert!(matches!(RunFile::resume(null), Err(RunFileError::NotAFile { .. })));
    }
    let full = Path::new("/dev/full");
    if full.exists() {
        let error = RunFile::create(full).unwrap().append(&samples::mixed_bag()[0]).unwrap_err();
        assert!(error.to_string().starts_with("cannot write to /dev/full: No space left"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_anywhere_costs_one_record_at_most(part in 0.0..=1.0_f64) {
        let records = samples::mixed_bag();
        let content = lines(&records);
        let cut = (content.len() as f64 * part) as usize;
        let complete = content[..cut].iter().filter(|byte| **byte == b'\n').count();
        let (found, torn) = read_records(&content[..cut]).map_err(|e| TestCaseError::fail(e.to_string()))?;
        // One more where just the newline is missing.
        prop_assert!(found.len() == complete || (found.len() == complete + 1 && torn.is_none()));
        prop_assert_eq!(&found[..], &records[..found.len()]);
        let dangling = content[..cut].last().is_some_and(|byte| *byte != b'\n');
        prop_assert_eq!(torn.is_some(), dangling && found.len() == complete);

        let (_dir, path) = in_a_file(&content[..cut]);
        let (mut run, resumed, _) = RunFile::resume(&path).map_err(|e| TestCaseError::fail(e.to_string()))?;
        for record in &records[resumed.len()..] {
            run.append(record).map_err(|e| TestCaseError::fail(e.to_string()))?;
        }
        prop_assert_eq!(fs::read(&path)?, content);
    }

    #[test]
    fn no_bytes_panic_and_none_are_lost(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (_dir, path) = in_a_file(&content);
        if RunFile::resume(&path).is_err() {
            prop_assert_eq!(fs::read(&path)?, content);
        }
    }
}

/// Every cut, not a sample of them, for one small file.
#[test]
fn every_cut_of_a_file_is_read() {
    let records: Vec<_> = samples::mixed_bag().into_iter().take(2).collect();
    let content = lines(&records);
    for cut in 0..content.len() {
        let (found, _) = read_records(&content[..cut]).unwrap();
        let complete = content[..cut].iter().filter(|byte| **byte == b'\n').count();
        assert!(found.len() >= complete && found[..] == records[..found.len()], "cut at {cut}");
    }
}
