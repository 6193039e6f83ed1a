//! What tests beside a real fio share: whether there is one, and which keys its JSON has.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "what tests share fails as tests do")]

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Whether fio is installed. If not, says so, and panics if `FLASHMARK_REQUIRE_ALL=1`.
pub fn can_run() -> bool {
    if Command::new("fio").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    let required = std::env::var_os("FLASHMARK_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "FLASHMARK_REQUIRE_ALL=1, but missing: fio");
    // The test harness would swallow what print macros write.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), b"SKIPPED: fio\n");
    false
}

/// Every key from the top, and the type of what it has; the keys of bins are all the same.
fn keys(value: &Value, path: &str, found: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
        Value::Bool(_) | Value::Null => panic!("{path}: fio has no {value}"),
    };
    if let Some(other) = found.insert(path.to_owned(), kind) {
        assert_eq!(other, kind, "{path}");
    }
    match value {
        Value::Array(list) => {
            let is_of_jobs = path == "/jobs";
            for (index, value) in list.iter().enumerate() {
                let index = if is_of_jobs { index.to_string() } else { "N".into() };
                keys(value, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                keys(value, &format!("{path}/{}", if path.ends_with("/bins") { "N" } else { key }), found);
            }
        }
        _ => {}
    }
}

/// The keys of a text, by their paths, and the type of what each has.
pub fn keys_of(json: &str) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    keys(&serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}\n{json}")), "", &mut found);
    found
}

/// Keys that fio 3.33 does not have: those of later versions, and what says nothing of the run.
pub fn may_be_ours_alone(path: &str, kind: &str) -> bool {
    const LATER: [&str; 5] =
        ["/job_start", "/latency_target_ns", "/latency_window_us", "/read_sectors", "/write_sectors"];
    // Options without a value are left out by 3.33, and are empty texts in later versions.
    path.starts_with("/flashmark")
        || LATER.iter().any(|key| path.ends_with(key))
        || (path.contains("/job options/") && kind == "text")
}
