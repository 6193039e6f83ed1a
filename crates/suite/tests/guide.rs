//! The guide, `docs/suites.md`, says what the code does.

use flashmark_core::record::Form;
use flashmark_suite::{Settings, Suite, built_in, keys_markdown};

const GUIDE: &str = include_str!("../../../docs/suites.md");

/// The content of each fenced block of this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    GUIDE.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn it_has_the_table_of_keys() {
    let table = keys_markdown();
    assert!(GUIDE.contains(&table), "docs/suites.md needs this table:\n{table}");
}

#[test]
fn it_describes_every_suite_and_parameter() {
    for suite in built_in() {
        let start = GUIDE.find(&format!("### {}\n", suite.name)).expect("a section for each suite");
        let section = GUIDE[start + 4..].split("\n##").next().unwrap_or_default();
        for param in Suite::load(suite.name).expect("built in").params() {
            assert!(section.contains(&format!("| `{}` |", param.name)), "{}: {}", suite.name, param.name);
            assert!(section.contains(&param.about), "{}: {}", suite.name, param.about);
        }
    }
}

#[test]
fn its_example_is_a_suite() {
    let examples = blocks("toml");
    assert_eq!(examples.len(), 1);
    let suite = Suite::parse(examples[0], "camera.toml").unwrap_or_else(|error| panic!("{error}"));
    let workloads = suite.expand(Form::Corrected, &Settings::new()).expect("it expands");
    let sizes: Vec<_> = workloads.iter().map(|w| (w.size_bytes, w.file_bytes)).collect();
    assert_eq!(sizes, [(Some(80 << 20), Some(80 << 20)), (Some(4 << 20), Some(80 << 20))]);
}

#[test]
fn its_error_messages_are_the_real_ones() {
    let example = blocks("toml")[0];
    let parse = |text: String| Suite::parse(&text, "camera.toml").err().map(|error| error.to_string());
    let mut settings = Settings::new();
    settings.push("block", "0");
    let suite = Suite::parse(example, "camera.toml").expect("it is one");
    let real = [
        parse(example.replace("block =", "blok =")),
        parse(example.replace("\"write\"", "\"wirte\"")),
        suite.expand(Form::Corrected, &settings).err().map(|error| error.to_string()),
    ];
    let shown: Vec<&str> = blocks("text")[0].lines().collect();
    assert_eq!(shown.len(), real.len());
    for (shown, real) in shown.iter().zip(real) {
        let real = real.expect("it is an error");
        assert!(real.starts_with(shown.trim_end_matches('…')), "shown: {shown}\nreal:  {real}");
    }
}
