//! The schema, the documentation and the records say the same.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use flashmark_core::record::{FAULTS_KEPT, Form, OpKind, Reached, Record, SCHEMA, Status, TargetKind, WarningCode};
use flashmark_core::target::FaultKind;
use flashmark_core::workload::{Direct, FileMode, Reopen, Verify};
use jsonschema::Validator;
use serde::Serialize;
use serde_json::{Value, json};

#[path = "../src/samples.rs"]
mod samples;

fn documented(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema() -> Value {
    serde_json::from_str(&documented("record.schema.json")).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::options().build(&schema()).unwrap()
}

/// Records with every field filled in somewhere.
fn records() -> Vec<Record> {
    let mut records = samples::mixed_bag();
    for original in ["esp-idf", "sdfat", "sd-bench"] {
        records.extend(samples::of_original(Some(original)));
    }
    let with_all = records.last_mut().unwrap();
    with_all.run.only = vec!["write".into()];
    let device = with_all.environment.device.as_mut().unwrap();
    device.serial = Some("0x1234abcd".into());
    device.model = Some("ATA FLASH".into());
    records
}

fn written(record: &Record) -> Value {
    serde_json::to_value(record).unwrap()
}

fn complaints(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn it_is_a_json_schema() {
    assert!(jsonschema::draft202012::meta::is_valid(&schema()));
    assert_eq!(schema()["properties"]["schema"]["const"], json!(SCHEMA));
}

#[test]
fn what_flashmark_writes_fits() {
    let validator = validator();
    for record in records() {
        assert_eq!(complaints(&validator, &written(&record)), Vec::<String>::new(), "{}", record.workload.name);
    }
}

/// Calls `visit` with the path and the definition of every property in the schema.
fn each_property(value: &Value, path: &str, visit: &mut dyn FnMut(&str, &str, &Value)) {
    let Value::Object(members) = value else { return };
    for (key, member) in members {
        let below = format!("{path}/{key}");
        match (key.as_str(), member) {
            ("properties", Value::Object(properties)) => {
                for (name, definition) in properties {
                    visit(name, &format!("{below}/{name}"), definition);
                    each_property(definition, &format!("{below}/{name}"), visit);
                }
            }
            (_, Value::Array(items)) => {
                items.iter().enumerate().for_each(|(nth, item)| each_property(item, &format!("{below}/{nth}"), visit));
            }
            _ => each_property(member, &below, visit),
        }
    }
}

#[test]
fn every_field_is_described() {
    let mut count = 0;
    each_property(&schema(), "", &mut |_, path, definition| {
        let text = definition["description"].as_str().unwrap_or_default();
        assert!(text.len() > 5 && text.ends_with('.'), "{path} has no description");
        count += 1;
    });
    assert!(count > 100, "{count}");
    for (name, definition) in schema()["$defs"].as_object().unwrap() {
        assert!(definition["description"].as_str().is_some_and(|text| text.ends_with('.')), "{name}");
    }
}

#[test]
fn every_field_is_in_the_documentation() {
    let text = documented("records.md");
    let mut undocumented = BTreeSet::new();
    each_property(&schema(), "", &mut |name, _, _| {
        if !text.contains(&format!("`{name}`")) {
            undocumented.insert(name.to_owned());
        }
    });
    assert_eq!(undocumented, BTreeSet::new());
}

/// Every word that a field can hold is explained, too.
#[test]
fn every_value_is_in_the_documentation() {
    let text = documented("records.md");
    let mut undocumented = BTreeSet::new();
    for word in enums().values().flatten() {
        if !text.contains(&format!("`{word}`")) {
            undocumented.insert(word.clone());
        }
    }
    assert_eq!(undocumented, BTreeSet::new());
}

/// Every set of words in the schema, by path.
fn enums() -> BTreeMap<String, BTreeSet<String>> {
    fn collect(value: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::Array(words)) = members.get("enum") {
                    let words = words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
                    found.insert(path.to_owned(), words);
                }
                members.iter().for_each(|(key, member)| collect(member, &format!("{path}/{key}"), found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(nth, item)| collect(item, &format!("{path}/{nth}"), found));
            }
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    collect(&schema(), "", &mut found);
    found
}

fn words<T: Serialize>(all: &[T]) -> BTreeSet<String> {
    all.iter().map(|one| serde_json::to_value(one).unwrap().as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_words_are_those_of_the_code() {
    use WarningCode as W;
    let warnings = [
        W::PageCache,
        W::NotDirect,
        W::LowerCache,
        W::Sparse,
        W::SmallTarget,
        W::NotDurable,
        W::ClockStepped,
        W::Suspended,
        W::ShortTransfer,
        W::Skipped,
        W::Environment,
    ];
    // A new word in the code breaks this match: then it has to go into the list above, the schema and the text.
    for warning in warnings {
        match warning {
            W::PageCache
            | W::NotDirect
            | W::LowerCache
            | W::Sparse
            | W::SmallTarget
            | W::NotDurable
            | W::ClockStepped => {}
            W::Suspended | W::ShortTransfer | W::Skipped | W::Environment => {}
        }
    }
    use {FaultKind as F, OpKind as O, Status as S, TargetKind as T};
    let expected = BTreeMap::from(
        [
            ("run/properties/form", words(&[Form::Corrected, Form::Compat])),
            ("target/properties/kind", words(&[T::Directory, T::File, T::Device, T::Lab, T::Board])),
            ("workload/properties/file", words(&[FileMode::New, FileMode::Existing, FileMode::Append])),
            ("workload/properties/reopen", words(&[Reopen::Once, Reopen::EachRepeat])),
            ("workload/properties/verify", words(&[Verify::None, Verify::LastByte, Verify::Full])),
            ("workload/properties/direct", words(&[Direct::Auto, Direct::Required, Direct::Buffered])),
            ("outcome/properties/status", words(&[S::Done, S::Interrupted, S::Failed, S::Skipped])),
            ("outcome/properties/reached", words(&[Reached::Cache, Reached::Device, Reached::Medium])),
            ("op_kind", words(&[O::Read, O::Write, O::Sync, O::Open, O::Close, O::Drain, O::Layout, O::Verify])),
            (
                "fault/properties/kind",
                words(&[F::NoSpace, F::Gone, F::ReadOnly, F::Denied, F::Unsupported, F::Short, F::Corrupt, F::Io]),
            ),
            ("warning/properties/code", words(&warnings)),
        ]
        .map(|(path, words)| (format!("/$defs/{path}"), words)),
    );
    assert_eq!(enums(), expected);
}

/// No field is described that no record has: the schema knows no more than the code.
#[test]
fn every_field_is_written() {
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    found.insert(key.clone());
                    names(member, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let (mut in_records, mut in_schema) = (BTreeSet::new(), BTreeSet::new());
    records().iter().for_each(|record| names(&written(record), &mut in_records));
    each_property(&schema(), "", &mut |name, _, _| {
        in_schema.insert(name.to_owned());
    });
    assert_eq!(in_schema, in_records);
}

/// What is wrong is refused, wherever it is.
#[test]
fn records_with_a_defect_do_not_fit() {
    let validator = validator();
    let good = written(&samples::mixed_bag()[4]);
    assert!(validator.is_valid(&good));
    let refuse = |what: &str, spoil: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        spoil(&mut value);
        assert_ne!(value, good, "{what} changes nothing");
        assert!(!validator.is_valid(&value), "{what} is let through");
    };
    for field in ["schema", "flashmark", "run", "started_at", "target", "workload", "outcome", "environment"] {
        refuse(field, &|value| drop(value.as_object_mut().unwrap().remove(field)));
    }
    refuse("a missing latency", &|value| {
        drop(value["outcome"]["ops"][0]["latency_ns"].as_object_mut().unwrap().remove("p99"));
    });
    refuse("an unknown field", &|value| value["extra"] = json!(1));
    refuse("an unknown field below", &|value| value["outcome"]["ops"][0]["extra"] = json!(1));
    refuse("text for a number", &|value| value["outcome"]["bytes"] = json!("4096"));
    refuse("a negative size", &|value| value["outcome"]["bytes"] = json!(-1));
    refuse("a fraction", &|value| value["outcome"]["elapsed_ns"] = json!(1.5));
    refuse("null for a number", &|value| value["workload"]["block_bytes"] = Value::Null);
    refuse("a block of no bytes", &|value| value["workload"]["block_bytes"] = json!(0));
    refuse("over 100 percent", &|value| value["workload"]["read_percent"] = json!(101));
    refuse("an order that is none", &|value| value["workload"]["order"] = json!({"kind": "backwards"}));
    refuse("a zipf without theta", &|value| value["workload"]["order"] = json!({"kind": "zipf"}));
    refuse("a status that is none", &|value| value["outcome"]["status"] = json!("fine"));
    refuse("another version", &|value| value["schema"] = json!(2));
    refuse("a histogram that is not base64", &|value| value["outcome"]["ops"][0]["histogram"] = json!("*"));
    let mut most = good.clone();
    most["outcome"]["faults"] = json!(vec![good["outcome"]["faults"][0].clone(); FAULTS_KEPT]);
    assert!(validator.is_valid(&most));
    refuse("more faults than are kept", &|value| {
        let fault = value["outcome"]["faults"][0].clone();
        value["outcome"]["faults"] = json!(vec![fault; FAULTS_KEPT + 1]);
    });
}
