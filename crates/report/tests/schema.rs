//! The schema, the documentation and the records say the same.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use flashmark_core::ledger::{Account, Layer};
use flashmark_core::record::{FAULTS_KEPT, Form, OpKind, Reached, Record, SCHEMA, Status, TargetKind, WarningCode};
use flashmark_core::simulation::{LayerTime, WEAR_CELLS};
use flashmark_core::target::FaultKind;
use flashmark_core::workload::{
    Access, Data, Direct, Erase, FileMode, Medium, Order, REPEATS_MAX, Reopen, SyncPolicy, Verify, Workload,
};
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
    records.push(samples::of_a_job());
    records.splice(0..0, samples::simulated::side_by_side());
    let with_all = records.last_mut().unwrap();
    with_all.run.only = vec!["write".into()];
    let device = with_all.environment.device.as_mut().unwrap();
    device.serial = Some("0x1234abcd".into());
    device.model = Some("ATA FLASH".into());
    with_all.environment.file_system.as_mut().unwrap().made_with = vec!["mkfs.ext4 -F -q".into()];
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
    let expected = BTreeMap::from(
        [
            ("run/properties/form", words(Form::ALL)),
            ("target/properties/kind", words(TargetKind::ALL)),
            ("workload/properties/file", words(&[FileMode::New, FileMode::Existing, FileMode::Append])),
            ("workload/properties/reopen", words(&[Reopen::Once, Reopen::EachRepeat])),
            ("workload/properties/verify", words(&[Verify::None, Verify::LastByte, Verify::Full])),
            ("workload/properties/direct", words(&[Direct::Auto, Direct::Required, Direct::Buffered])),
            ("outcome/properties/status", words(Status::ALL)),
            ("outcome/properties/reached", words(Reached::ALL)),
            ("workload/properties/erase", words(&[Erase::Inside, Erase::Outside, Erase::Never])),
            ("workload/properties/access", words(&[Access::Any, Access::Raw, Access::Files])),
            ("workload/properties/medium", words(&[Medium::Any, Medium::Nor, Medium::NotNor])),
            ("layer", words(&Layer::ALL)),
            ("op_kind", words(OpKind::ALL)),
            ("fault/properties/kind", words(FaultKind::ALL)),
            ("warning/properties/code", words(WarningCode::ALL)),
        ]
        .map(|(path, words)| (format!("/$defs/{path}"), words)),
    );
    assert_eq!(enums(), expected);
}

/// Every kind of order, sync and data has a form in the schema, and a row in the documentation.
#[test]
fn every_kind_is_in_the_schema() {
    let validator = validator();
    let text = documented("records.md");
    let fits = |set: &dyn Fn(&mut Workload)| {
        let mut record = samples::full();
        record.workload.order = Order::Sequential;
        record.workload.file = FileMode::Existing;
        set(&mut record.workload);
        assert_eq!(complaints(&validator, &written(&record)), Vec::<String>::new(), "{:?}", record.workload);
        for kind in ["order", "sync", "data"].map(|field| written(&record)["workload"][field]["kind"].clone()) {
            assert!(text.contains(&format!("\n| `{}` |", kind.as_str().unwrap())), "{kind}");
        }
    };
    for order in [Order::Sequential, Order::Random, Order::RandomOnce, Order::Zipf { theta_milli: 1 }] {
        fits(&|workload| workload.order = order);
    }
    for sync in [SyncPolicy::Never, SyncPolicy::End, SyncPolicy::Every { ops: 1 }] {
        fits(&|workload| workload.sync = sync);
    }
    let text_data = Data::Text { text: "a".into(), end: String::new() };
    for data in [Data::Zeros, Data::Random, Data::Fixed, text_data, Data::Compressible { percent: 1 }] {
        fits(&|workload| workload.data = data.clone());
    }
}

/// The names that outputs other than JSON use are the words of the JSON.
#[test]
fn the_names_of_the_code_are_the_words() {
    fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> BTreeSet<String> {
        all.iter().map(|one| name(*one).to_owned()).collect()
    }
    assert_eq!(named(Form::ALL, Form::name), words(Form::ALL));
    assert_eq!(named(TargetKind::ALL, TargetKind::name), words(TargetKind::ALL));
    assert_eq!(named(Status::ALL, Status::name), words(Status::ALL));
    assert_eq!(named(Reached::ALL, Reached::name), words(Reached::ALL));
    assert_eq!(named(OpKind::ALL, OpKind::name), words(OpKind::ALL));
    assert_eq!(named(WarningCode::ALL, WarningCode::name), words(WarningCode::ALL));
    assert_eq!(named(FaultKind::ALL, FaultKind::name), words(FaultKind::ALL));
    assert_eq!(named(&Account::ALL, Account::name), words(&Account::ALL));
    assert_eq!(named(&Layer::ALL, Layer::name), words(&Layer::ALL));
}

/// The accounts are fields in a record and words in the text, of the same names.
#[test]
fn every_account_is_a_field_of_a_layers_time() {
    let layer = LayerTime { layer: Layer::Data, cpu_ns: 0, bus_ns: 0, busy_ns: 0, sleep_ns: 0 };
    let fields: BTreeSet<String> = serde_json::to_value(layer).unwrap().as_object().unwrap().keys().cloned().collect();
    let expected = Account::ALL.iter().map(|account| format!("{}_ns", account.name())).chain(["layer".to_owned()]);
    assert_eq!(fields, expected.collect());
    let text = documented("records.md");
    assert!(Account::ALL.iter().all(|account| text.contains(&format!("`{}`", account.name()))));
}

/// The samples keep what records of simulated boards promise.
#[test]
fn the_layers_add_up_to_the_elapsed_time() {
    let mut count = 0;
    for record in records() {
        let Some(simulation) = &record.simulation else { continue };
        let sum = |spent: &[LayerTime]| spent.iter().map(LayerTime::total_ns).sum::<u64>();
        assert_eq!(sum(&simulation.spent), record.outcome.elapsed_ns, "{}", record.workload.name);
        assert_eq!(sum(&simulation.whole.spent), simulation.whole.elapsed_ns, "{}", record.workload.name);
        count += 1;
    }
    assert!(count > 1);
}

/// A part of a record that is missing means what it meant before there was such a part.
#[test]
fn a_record_without_the_later_fields_is_one() {
    let mut value = written(&samples::simulated::on_fatfs()[0]);
    value.as_object_mut().unwrap().remove("simulation");
    for field in ["erase", "access", "medium", "fill_percent"] {
        assert!(value["workload"].as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    assert!(validator().is_valid(&value));
    let record: Record = serde_json::from_value(value.clone()).unwrap();
    assert_eq!((record.workload.erase, record.simulation.clone()), (Erase::Inside, None));
    assert_eq!(written(&record), value);
}

/// A workload that the code lets run is one that the schema lets pass, at both ends of each range and one beyond.
#[test]
fn the_ranges_are_those_of_the_code() {
    type Set = fn(&mut Workload, u64);
    let validator = validator();
    let fields: [(&str, Set, u64); 13] = [
        ("read_percent", |w, n| w.read_percent = n as u8, u8::MAX.into()),
        ("block_bytes", |w, n| w.block_bytes = n as u32, u32::MAX.into()),
        ("file_bytes", |w, n| w.file_bytes = Some(n), u64::MAX),
        ("size_bytes", |w, n| w.size_bytes = Some(n), u64::MAX),
        ("time_ns", |w, n| w.time_ns = Some(n), u64::MAX),
        ("repeats", |w, n| w.repeats = n as u32, u32::MAX.into()),
        ("warm_up", |w, n| w.warm_up = n as u32, u32::MAX.into()),
        ("queue_depth", |w, n| w.queue_depth = n as u32, u32::MAX.into()),
        ("max_errors", |w, n| w.max_errors = n as u32, u32::MAX.into()),
        ("sync", |w, n| w.sync = SyncPolicy::Every { ops: n as u32 }, u32::MAX.into()),
        ("data", |w, n| w.data = Data::Compressible { percent: n as u8 }, u8::MAX.into()),
        ("fill_percent", |w, n| w.fill_percent = Some(n as u8), u8::MAX.into()),
        ("order", |w, n| w.order = Order::Zipf { theta_milli: n as u16 }, u16::MAX.into()),
    ];
    for (field, set, most) in fields {
        let mut refused = 0;
        let ends = [0, 1, 99, 100, 101, 10_000, 10_001, REPEATS_MAX.into(), u64::from(REPEATS_MAX) + 1, most];
        for value in ends.into_iter().filter(|value| *value <= most) {
            let mut record = samples::full();
            record.workload.block_bytes = 1;
            // An existing file may be read, too.
            record.workload.file = FileMode::Existing;
            set(&mut record.workload, value);
            let checked = record.workload.check();
            assert_eq!(validator.is_valid(&written(&record)), checked.is_ok(), "{field} = {value}: {checked:?}");
            refused += usize::from(checked.is_err());
        }
        assert!(refused > 0 || field == "max_errors", "{field} has no limit");
    }
}

/// How the documentation writes a number.
fn in_words(number: &Value) -> String {
    match number.to_string().as_str() {
        "18446744073709551615" => "2^64 - 1".into(),
        "4294967295" => "2^32 - 1".into(),
        "2147483647" => "2^31 - 1".into(),
        "-2147483648" => "-2^31".into(),
        other => other.into(),
    }
}

#[test]
fn the_ranges_are_those_of_the_documentation() {
    let text = documented("records.md");
    let schema = schema();
    let mut count = 0;
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let section = text.split("\n### ").find(|section| section.starts_with(&format!("{name}\n")));
        let fields = definition["properties"].as_object().into_iter().flatten();
        for (field, definition) in fields.filter(|(_, definition)| definition.get("maximum").is_some()) {
            let range = format!("number, {} to {}", in_words(&definition["minimum"]), in_words(&definition["maximum"]));
            let row = format!("\n| `{field}` | {range}");
            assert!(section.is_some_and(|section| section.contains(&row)), "{name} has no row{row}");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
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
    let simulated = written(&samples::simulated::on_fatfs()[0]);
    assert!(validator.is_valid(&simulated));
    let refuse_simulated = |what: &str, spoil: &dyn Fn(&mut Value)| {
        let mut value = simulated.clone();
        spoil(&mut value);
        assert_ne!(value, simulated, "{what} changes nothing");
        assert!(!validator.is_valid(&value), "{what} is let through");
    };
    refuse_simulated("a layer that is none", &|value| value["simulation"]["spent"][0]["layer"] = json!("kernel"));
    refuse_simulated("a time without a layer", &|value| {
        drop(value["simulation"]["spent"][0].as_object_mut().unwrap().remove("layer"));
    });
    refuse_simulated("an erase that is none", &|value| value["workload"]["erase"] = json!("before"));
    refuse_simulated("a full volume", &|value| value["workload"]["fill_percent"] = json!(100));
    refuse_simulated("a level without a whole", &|value| {
        drop(value["simulation"]["filled"].as_object_mut().unwrap().remove("total_bytes"));
    });
    refuse_simulated("a missing whole", &|value| {
        drop(value["simulation"].as_object_mut().unwrap().remove("whole"));
    });
    refuse_simulated("a map that is too long", &|value| {
        value["simulation"]["wear"]["map"] = json!(vec![1; WEAR_CELLS + 1]);
    });
    let mut most = good.clone();
    most["outcome"]["faults"] = json!(vec![good["outcome"]["faults"][0].clone(); FAULTS_KEPT]);
    assert!(validator.is_valid(&most));
    refuse("more faults than are kept", &|value| {
        let fault = value["outcome"]["faults"][0].clone();
        value["outcome"]["faults"] = json!(vec![fault; FAULTS_KEPT + 1]);
    });
}
