//! Whatever the text, a suite is read or refused; whatever is read passes the workload's own check.

use flashmark_core::record::Form;
use flashmark_suite::{Settings, Suite, built_in, keys};
use proptest::prelude::*;

/// Values of every kind, right and wrong for any key.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        (0..200_u32).prop_map(|n| n.to_string()),
        any::<bool>().prop_map(|b| b.to_string()),
        "\"(4k|64KiB|1m|10MB|10s|2ms|all|none|never|end|every:3|zipf:1.1|random|sequential|text:abc|new|append)\"",
        "\"(read|write|mixed|full|each|once|zeros|compressible:7|\\$p|\\$p \\* 1.5|\\$q / 0|sync|tokio|auto)\"",
        "\"[ -!#-\\[\\]-~]{0,12}\"",
        Just("[1, 2]".to_owned()),
        Just("{ a = 1 }".to_owned()),
        Just("1.5".to_owned()),
        Just("1979-05-27".to_owned()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = keys().iter().map(|key| key.name).collect();
    (prop_oneof![8 => proptest::sample::select(names).prop_map(str::to_owned), 1 => "[a-z-]{1,8}"], value())
        .prop_map(|(key, value)| format!("{key} = {value}"))
}

fn suite_text() -> impl Strategy<Value = String> {
    let lines = || proptest::collection::vec(line(), 0..5).prop_map(|lines| lines.join("\n"));
    (lines(), lines(), lines(), lines()).prop_map(|(defaults, first, second, compat)| {
        format!(
            "name = \"s\"\n[params.p]\ndefault = \"4k\"\n[defaults]\n{defaults}\n[[workload]]\nname = \"a\"\n{first}\n\
             [[workload]]\nname = \"b\"\n{second}\n[[compat.workload]]\nname = \"a\"\n{compat}\n"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = Suite::parse(&text, "t.toml").map_err(|error| error.to_string());
    }

    #[test]
    fn no_damage_to_a_built_in_suite_panics(which in 0..7_usize, at: prop::sample::Index, cut in 0..40_usize, with in ".{0,6}") {
        let text = built_in()[which].text;
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let damaged: String =
            chars[..at].iter().copied().chain(with.chars()).chain(chars.iter().skip(at + cut).copied()).collect();
        if let Err(error) = Suite::parse(&damaged, "t.toml") {
            prop_assert!(error.to_string().starts_with("t.toml"));
        }
    }

    #[test]
    fn what_is_taken_passes_the_check(text in suite_text()) {
        if let Ok(suite) = Suite::parse(&text, "t.toml") {
            for form in suite.forms() {
                for workload in suite.expand(*form, &Settings::new()).expect("it was expanded when it was read") {
                    prop_assert_eq!(workload.check(), Ok(()));
                }
            }
        }
    }

    #[test]
    fn no_setting_panics(settings in proptest::collection::vec(("[a-z-]{1,8}|block|size|op|order|data|sync|tries", ".{0,12}|4k|write|8"), 0..4)) {
        let mut all = Settings::new();
        settings.into_iter().for_each(|(key, value)| all.push(key, value));
        let _ = Suite::load("esp-idf").expect("built in").expand(Form::Compat, &all).map_err(|error| error.to_string());
        if let Ok(suite) = Suite::ad_hoc(&all) {
            let again = Suite::parse(&suite.text, "t.toml");
            prop_assert!(again.is_ok(), "{}\n{:?}", suite.text, again.err());
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("name = {}", "[".repeat(100_000));
    assert!(Suite::parse(&text, "t.toml").is_err());
}
