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
fn many_are_appended_as_one_after_the_other() {
    let records = samples::mixed_bag();
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("run.jsonl");
    let mut run = RunFile::create(&path).unwrap();
    run.append_all(&[]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    run.append_all(&records[..4]).unwrap();
    run.append(&records[4]).unwrap();
    run.append_all(&records[5..]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records));
    drop(run);

    // Behind a torn line, and behind one without its newline.
    for lost in [1, 100] {
        let content = lines(&records[..2]);
        let (_dir, path) = in_a_file(&content[..content.len() - lost]);
        let (mut run, found, _) = RunFile::resume(&path).unwrap();
        run.append_all(&[]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), &content[..content.len() - lost]);
        run.append_all(&records[found.len()..]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), lines(&records), "{lost}");
    }
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
fn a_missing_parent_is_an_error_with_its_name() {
    let dir = TempDir::new().unwrap();
    let message = RunFile::create(&dir.path().join("no/run.jsonl")).unwrap_err().to_string();
    assert!(message.starts_with("cannot open ") && message.contains("no/run.jsonl"), "{message}");
    let message = RunFile::resume(&dir.path().join("run.jsonl")).unwrap_err().to_string();
    assert!(message.contains("does not exist"), "{message}");
}

#[test]
fn resuming_changes_nothing_until_it_appends() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..2]);
    content.extend_from_slice(&lines(&records[2..3])[..100]);
    let (_dir, path) = in_a_file(&content);

    let (run, found, torn) = RunFile::resume(&path).unwrap();
    assert_eq!(found, records[..2]);
    assert_eq!(torn, Some(TornLine { line: 3, bytes: 100 }));
    assert_eq!(torn.unwrap().to_string(), "line 3 is torn (100 bytes of a record) and left out");
    // Whoever resumes may refuse what is in it.
    drop(run);
    assert_eq!(fs::read(&path).unwrap(), content);

    RunFile::resume(&path).unwrap().0.append(&records[2]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[..3]));
}

/// The newline is the last byte to be written, so a record without it is still complete.
#[test]
fn a_record_without_its_newline_is_kept() {
    let records = samples::mixed_bag();
    let content = &lines(&records[..2])[..];
    let content = &content[..content.len() - 1];
    let (_dir, path) = in_a_file(content);
    let (mut run, found, torn) = RunFile::resume(&path).unwrap();
    assert_eq!((&found[..], torn), (&records[..2], None));
    assert_eq!(fs::read(&path).unwrap(), content);
    run.append(&records[2]).unwrap();
    run.append(&records[3]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[..4]));
}

/// Nothing tells what ran, and the file may be anybody's: it is not emptied.
#[test]
fn a_file_without_a_whole_record_is_not_resumed() {
    let first = lines(&samples::mixed_bag()[..1]);
    for content in [&b""[..], b"\n", br#"{"schema":"#, br#"{"schema":1,"flash"#, &first[..first.len() - 2]] {
        let (_dir, path) = in_a_file(content);
        let error = RunFile::resume(&path).unwrap_err();
        assert!(matches!(error, RunFileError::NoRecord { .. }), "{error:?}");
        assert!(error.to_string().ends_with("holds no whole record, so nothing tells what ran; start again with -o"));
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

#[test]
fn a_first_line_is_torn_only_if_it_starts_like_a_record() {
    assert_eq!(read_records(&br#"{"schema":"#[..]).unwrap().1, Some(TornLine { line: 1, bytes: 10 }));
    for content in ["{", "{\"schema\"", "{\"a\":", "\0\0", "{\"schema\" :1,"] {
        assert!(refused(content.as_bytes()).starts_with("line 1 is not JSON"), "{content}");
    }
    // After a record, what may be the start of another is.
    let mut content = lines(&samples::mixed_bag()[..1]);
    content.push(b'{');
    let torn = read_records(&*content).unwrap().1.unwrap();
    assert_eq!(torn.to_string(), "line 2 is torn (1 byte of a record) and left out");
}

#[test]
fn a_file_has_one_writer() {
    let records = samples::mixed_bag();
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("run.jsonl");
    let in_use = |result: Result<RunFile, RunFileError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, RunFileError::InUse { .. }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.ends_with("run.jsonl is in use by another flashmark; wait for it, or choose another name"),
            "{message}"
        );
    };
    let mut first = RunFile::create(&path).unwrap();
    // Empty, and taken all the same.
    in_use(RunFile::create(&path));
    in_use(RunFile::resume(&path).map(|(run, ..)| run));
    first.append(&records[0]).unwrap();
    in_use(RunFile::create(&path));
    in_use(RunFile::resume(&path).map(|(run, ..)| run));
    // Readers need not wait.
    assert_eq!(read_records(&*fs::read(&path).unwrap()).unwrap().0, records[..1]);
    drop(first);

    assert!(matches!(RunFile::create(&path), Err(RunFileError::Exists { .. })));
    let (mut second, ..) = RunFile::resume(&path).unwrap();
    in_use(RunFile::resume(&path).map(|(run, ..)| run));
    second.append(&records[1]).unwrap();
    drop(second);
    // A refused file is free again, too.
    fs::write(&path, "{}\n").unwrap();
    for _ in 0..2 {
        assert!(matches!(RunFile::resume(&path), Err(RunFileError::Read { .. })));
    }
}

/// Where a file system has no locks, two may write at once: then each record is still there.
#[test]
fn what_others_have_written_is_neither_overwritten_nor_cut() {
    let records = samples::mixed_bag();
    let mut content = lines(&records[..1]);
    content.extend_from_slice(&lines(&records[1..2])[..100]);
    for torn_bytes in [0, 100] {
        let start = &content[..content.len() - 100 + torn_bytes];
        let (_dir, path) = in_a_file(start);
        let (mut run, ..) = RunFile::resume(&path).unwrap();
        // Another takes the torn line off and adds a record.
        let theirs = lines(&[records[0].clone(), records[4].clone()]);
        fs::write(&path, &theirs).unwrap();
        run.append(&records[1]).unwrap();
        run.append(&records[2]).unwrap();
        let (found, torn) = read_records(&*fs::read(&path).unwrap()).unwrap();
        assert_eq!(torn, None);
        assert_eq!(found, [0, 4, 1, 2].map(|nth| records[nth].clone()));
    }
    // Emptied by somebody: no zeros in front.
    let (_dir, path) = in_a_file(&content);
    let (mut run, ..) = RunFile::resume(&path).unwrap();
    fs::write(&path, "").unwrap();
    run.append(&records[1]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lines(&records[1..2]));
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
    let foreign: [&[u8]; 10] = [
        b"shopping list\n",
        b"no newline",
        b"{\"a\":1}\n",
        b"{\"schema\":\"draft\"}",
        b"{\"a\"",
        b"{",
        &[0; 4096],
        b"\x7fELF\n",
        b"[]",
        b"[1,\"0.1.0\"]",
    ];
    for content in foreign {
        let (_dir, path) = in_a_file(content);
        let message = RunFile::resume(&path).unwrap_err().to_string();
        assert!(message.contains("line 1 ") && message.contains("not a flashmark record"), "{message}");
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

/// The member is named; the parser's own words for types and places are not for users.
#[test]
fn what_is_wrong_with_a_record_is_named_with_its_line() {
    let record = serde_json::to_value(&samples::mixed_bag()[4]).unwrap();
    let spoilt = |spoil: &dyn Fn(&mut serde_json::Value)| {
        let mut value = record.clone();
        spoil(&mut value);
        refused(format!("\n{value}\n").as_bytes())
    };
    let no = "line 2 is not a flashmark record";
    let message = spoilt(&|value| value["outcome"]["bytes"] = "many".into());
    assert_eq!(message, format!("{no}: outcome.bytes: invalid type: string \"many\""));
    let message = spoilt(&|value| value["outcome"]["faults"][1]["op"] = "fly\u{1b}".into());
    assert_eq!(message, format!("{no}: outcome.faults[1].op: unknown variant `fly\\u{{1b}}`"));
    let message = spoilt(&|value| drop(value.as_object_mut().unwrap().remove("workload")));
    assert_eq!(message, format!("{no}: missing field `workload`"));
    let message = spoilt(&|value| value["target"] = 7.into());
    assert_eq!(message, format!("{no}: target: invalid type: integer `7`"));
    let message = spoilt(&|value| value["run"]["id"] = vec!["x".repeat(9999)].into());
    assert!(message.starts_with(&format!("{no}: run.id: ")) && message.len() < 300, "{message}");
    for content in ["[]", "7", "{}", "{\"schema\":\"1\"}", "[1,\"0.1.0\"]"] {
        assert_eq!(refused(content.as_bytes()), "line 1 is not a flashmark record");
    }
    assert_eq!(
        refused(b"Dear Sir,\n"),
        "line 1 is not JSON (see column 1), so it is not a flashmark record; a run file has one a line"
    );
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

/// Neither for a new run nor for an old one.
#[track_caller]
fn unsuitable(path: &Path, is: &str) {
    for result in [RunFile::create(path).err(), RunFile::resume(path).err()] {
        let error = result.unwrap();
        assert!(matches!(error, RunFileError::Unsuitable { .. }), "{error:?}");
        let wanted = format!("{} is {is}, and a run file is a regular file or a pipe: name a", path.display());
        assert!(error.to_string().starts_with(&wanted), "{error}");
    }
}

#[test]
fn a_directory_is_no_run_file() {
    let dir = TempDir::new().unwrap();
    unsuitable(dir.path(), "a directory");
}

/// Of disks the tests of the whole program tell: they need one that may be lost.
#[cfg(unix)]
#[test]
fn a_device_is_no_run_file() {
    let dir = TempDir::new().unwrap();
    // It takes all bytes and keeps none, but so does a watchdog.
    let zero = Path::new("/dev/zero");
    if zero.exists() {
        unsuitable(zero, "a device that is no terminal");
        let link = dir.path().join("run.jsonl");
        std::os::unix::fs::symlink(zero, &link).unwrap();
        unsuitable(&link, "a device that is no terminal");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_can_be_written_to() {
    let dir = TempDir::new().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let records = samples::mixed_bag();
    let mut run = RunFile::create(&pipe).unwrap();
    records.iter().for_each(|record| run.append(record).unwrap());
    drop(run);
    assert_eq!(reader.join().unwrap(), lines(&records));
    // Nobody reads or writes it: opening it would wait for ever.
    assert!(matches!(RunFile::resume(&pipe), Err(RunFileError::NotAFile { .. })));
}

#[test]
fn what_keeps_nothing_can_be_written_to() {
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

/// With fewer bytes of its first record, a file may be anything.
const START_BYTES: usize = br#"{"schema":"#.len();

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cut_anywhere_costs_one_record_at_most(part in 0.0..=1.0_f64) {
        let records = samples::mixed_bag();
        let content = lines(&records);
        let cut = ((content.len() as f64 * part) as usize).max(START_BYTES);
        let complete = content[..cut].iter().filter(|byte| **byte == b'\n').count();
        let (found, torn) = read_records(&content[..cut]).map_err(|e| TestCaseError::fail(e.to_string()))?;
        // One more where just the newline is missing.
        prop_assert!(found.len() == complete || (found.len() == complete + 1 && torn.is_none()));
        prop_assert_eq!(&found[..], &records[..found.len()]);
        let dangling = content[..cut].last().is_some_and(|byte| *byte != b'\n');
        prop_assert_eq!(torn.is_some(), dangling && found.len() == complete);

        let (_dir, path) = in_a_file(&content[..cut]);
        if found.is_empty() {
            let refused = matches!(RunFile::resume(&path), Err(RunFileError::NoRecord { .. }));
            prop_assert!(refused);
            prop_assert_eq!(fs::read(&path)?, &content[..cut]);
            return Ok(());
        }
        let (mut run, resumed, _) = RunFile::resume(&path).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(fs::read(&path)?, &content[..cut]);
        // One, and all that follow at once.
        let (one, others) = records[resumed.len()..].split_at((records.len() - resumed.len()).min(1));
        for records in [one, others] {
            run.append_all(records).map_err(|e| TestCaseError::fail(e.to_string()))?;
        }
        let resumed_all = resumed.len() == records.len();
        prop_assert_eq!(fs::read(&path)?, if resumed_all { &content[..cut] } else { &content[..] });
    }

    #[test]
    fn no_bytes_panic_and_none_are_lost(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (_dir, path) = in_a_file(&content);
        let _ = RunFile::resume(&path);
        prop_assert_eq!(fs::read(&path)?, content);
    }
}

/// Every cut, not a sample of them, for one small file.
#[test]
fn every_cut_of_a_file_is_read() {
    let records: Vec<_> = samples::mixed_bag().into_iter().take(2).collect();
    let content = lines(&records);
    for cut in START_BYTES..content.len() {
        let (found, _) = read_records(&content[..cut]).unwrap();
        let complete = content[..cut].iter().filter(|byte| **byte == b'\n').count();
        assert!(found.len() >= complete && found[..] == records[..found.len()], "cut at {cut}");
    }
}
