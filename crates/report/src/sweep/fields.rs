//! The fields of a workload as columns, each by the suite key that sets it.

use flashmark_core::workload::Workload;
use serde::Serialize;
use serde_json::Value;

use crate::figures::{size, time};

/// A suite key, and what of a workload it sets, as text.
pub(super) type Field = (&'static str, fn(&Workload) -> String);

/// All fields but the name.
pub(super) const FIELDS: [Field; 28] = [
    ("read-percent", |w| w.read_percent.to_string()),
    ("order", |w| word(&w.order)),
    ("block", |w| size(w.block_bytes.into())),
    ("size", |w| w.size_bytes.map_or_else(none, size)),
    ("file-size", |w| w.file_bytes.map_or_else(none, size)),
    ("time", |w| w.time_ns.map_or_else(none, time)),
    ("file", |w| word(&w.file)),
    ("reopen", |w| word(&w.reopen)),
    ("preallocate", |w| w.preallocate.to_string()),
    ("sync", |w| word(&w.sync)),
    ("erase", |w| word(&w.erase)),
    ("drain", |w| w.drain.to_string()),
    ("data", |w| word(&w.data)),
    ("verify", |w| word(&w.verify)),
    ("repeats", |w| w.repeats.to_string()),
    ("warm-up", |w| w.warm_up.to_string()),
    ("pause", |w| time(w.pause_ns)),
    ("queue-depth", |w| w.queue_depth.to_string()),
    ("seed", |w| w.seed.to_string()),
    ("engine", |w| w.engine.clone()),
    ("direct", |w| word(&w.direct)),
    ("time-open-close", |w| w.time_open_close.to_string()),
    ("time-repeats", |w| w.time_repeats.to_string()),
    ("fill", |w| w.fill_percent.map_or_else(none, |percent| format!("{percent}%"))),
    ("max-errors", |w| w.max_errors.to_string()),
    ("accept-short", |w| w.accept_short.to_string()),
    ("access", |w| word(&w.access)),
    ("medium", |w| word(&w.medium)),
];

fn none() -> String {
    "-".into()
}

/// A word of a record, with what stands beside it: `every 10`.
fn word(value: &impl Serialize) -> String {
    fn text(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => {
            let kind = members.get("kind").map(text);
            let others = members.iter().filter(|(name, _)| *name != "kind").map(|(_, value)| text(value));
            kind.into_iter().chain(others).collect::<Vec<_>>().join(" ")
        }
        Ok(other) => text(&other),
        Err(_) => none(),
    }
}

#[cfg(test)]
mod tests {
    use flashmark_core::workload::{Access, Erase, Medium, Order, SyncPolicy};

    use super::*;

    /// A field that is added to a workload needs a line here.
    #[test]
    fn every_field_has_a_column() {
        let mut workload = Workload::named("all");
        // These are left out of a record where they are nothing special.
        (workload.erase, workload.access, workload.medium) = (Erase::Never, Access::Raw, Medium::Nor);
        (workload.time_repeats, workload.fill_percent) = (true, Some(60));
        let value = serde_json::to_value(&workload).unwrap();
        assert_eq!(FIELDS.len() + 1, value.as_object().unwrap().len());
        let mut keys: Vec<&str> = FIELDS.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), FIELDS.len());
    }

    #[test]
    fn words_have_their_numbers() {
        assert_eq!(word(&SyncPolicy::Every { ops: 10 }), "every 10");
        assert_eq!(word(&Order::Zipf { theta_milli: 1200 }), "zipf 1200");
        assert_eq!(word(&Erase::Outside), "outside");
    }
}
