//! What holds for any text.

mod exercise;
mod support;

use exercise::{exercise_job, exercise_trace};
use flashmark_fio::options::known_options;
use flashmark_fio::value::access::{AccessPattern, access_pattern};
use flashmark_fio::value::cpus::cpus;
use flashmark_fio::value::decimal::{Billionths, decimal};
use flashmark_fio::value::names::{escaped, names};
use flashmark_fio::value::pattern::with_offsets;
use flashmark_fio::value::quantity::{Amount, amount, bytes};
use flashmark_fio::value::triple::{Triple, triple};
use flashmark_fio::value::{Part, Scope};
use proptest::prelude::*;
use proptest::sample::select;

/// Values, good and bad, of all kinds.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{0,4}[kmgKbi%zs.:,/-]{0,3}",
        "\\([0-9a-fx+*/%^().kmgsuh -]{0,16}\\)?",
        "[0-9]{1,3}[km]?(/[0-9]{0,3})?(:[0-9]{1,3}[km]?(/[0-9]{0,3})?){0,3}(,[0-9]{1,2}k)?",
        "(zipf|pareto|normal|zoned|zoned_abs|sequence|random|rand|randrw|read|write):?[0-9.:/,-]{0,10}",
        "(\"[a-z]{0,4}\"|0x[0-9a-f]{0,5}|-?[0-9]{1,5}|%o){1,4}",
        "[$]([{][A-Z]{0,4}[}]|ncpus|pagesize|mb_memory|jobnum)[-+*/^0-9]{0,3}",
        "\\PC{0,12}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> =
        known_options().flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied())).collect();
    prop_oneof![
        8 => (select(names), "[ \t]?", proptest::option::weighted(0.9, value())).prop_map(|(name, blank, value)| match value {
            Some(value) => format!("{name}{blank}={value}"),
            None => name.to_owned(),
        }),
        1 => "\\[[a-z \\]]{0,8}\\]?",
        1 => "include (self|other|./self)?",
        1 => "\\PC{0,20}",
        1 => "[;#].{0,5}",
    ]
}

fn record() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,5} /[ab] (add|open|close|read|write|sync|trim|wait)( [0-9]{1,12} [0-9]{1,6})?",
        "8,[01] [0-9] [0-9] [0-9].[0-9]{9} [0-9] [QCD] (R|W|FW|FN|D|WS|X)( [0-9]{1,9} [+] [0-9]{1,4})?",
        "\\PC{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_job_file_is_read_or_refused_at_its_place(lines in prop::collection::vec(line(), 0..8)) {
        exercise_job(format!("[a]\n{}", lines.join("\n")).as_bytes());
    }

    #[test]
    fn any_bytes_are(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise_job(&bytes);
        exercise_trace(&bytes);
    }

    #[test]
    fn any_text_is(text in "(\\PC|[\n\r\t\\[\\]=;#]){0,200}") {
        exercise_job(text.as_bytes());
        exercise_trace(text.as_bytes());
    }

    #[test]
    fn any_trace_is(
        head in select(vec!["fio version 2 iolog", "fio version 3 iolog", ""]),
        lines in prop::collection::vec(record(), 0..20),
    ) {
        exercise_trace(format!("{head}\n0 /a add\n0 /a open\n{}", lines.join("\n")).as_bytes());
    }

    #[test]
    fn sizes_mean_what_they_print(size in 0..=i64::MAX as u64, percent in 0..=100_u8) {
        let scope = &mut Scope::default();
        prop_assert_eq!(bytes(Part::whole(&size.to_string()), scope).unwrap(), size);
        for value in [Amount::Bytes(size), Amount::Percent(percent)] {
            prop_assert_eq!(amount(Part::whole(&value.to_string()), scope).unwrap(), value);
        }
        let three = Triple { read: size, write: u64::from(percent), trim: size / 2 };
        let read = triple(&Triple::all(0), Part::whole(&three.to_string()), scope, bytes).unwrap();
        prop_assert_eq!(read, three);
    }

    #[test]
    fn an_expression_is_calculated_as_in_any_language(a in 1..1000_i64, b in 1..1000_i64, c in 1..1000_i64) {
        let scope = &mut Scope::default();
        for (text, value) in [
            (format!("({a}+{b}*{c})"), a + b * c),
            (format!("(({a}+{b})*{c})"), (a + b) * c),
            (format!("( {a}*{b} /{c})"), a * b / c),
            (format!("({a}+{b}%{c})"), a + b % c),
            (format!("({a}k+{b})"), a * 1024 + b),
        ] {
            prop_assert_eq!(bytes(Part::whole(&text), scope).unwrap() as i64, value, "{}", text);
        }
    }

    #[test]
    fn other_values_mean_what_they_print(
        number in any::<u32>(), skip in any::<i32>(), processors in prop::collection::btree_set(0..64_u32, 1..8),
        files in prop::collection::vec("[a-z/.:]{0,6}[a-z]", 1..4), data in prop::collection::vec(any::<u8>(), 1..9),
    ) {
        let scope = &mut Scope::default();
        let fraction = Billionths(u64::from(number) * 1_000_003);
        prop_assert_eq!(decimal(Part::whole(&fraction.to_string()), scope).unwrap(), fraction);
        let pattern = AccessPattern { skip_bytes: skip.into(), ..AccessPattern::default() };
        prop_assert_eq!(access_pattern(Part::whole(&pattern.to_string()), scope).unwrap(), pattern);
        let set = flashmark_fio::value::cpus::CpuSet(processors);
        prop_assert_eq!(cpus(Part::whole(&set.to_string()), scope).unwrap(), set);
        prop_assert_eq!(names(Part::whole(&escaped(&files)), scope).unwrap(), files);
        let hexadecimal: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = with_offsets(Part::whole(&format!("%o0x{hexadecimal}%o")), scope).unwrap();
        prop_assert_eq!(&bytes.bytes[8..8 + data.len()], data.as_slice());
        prop_assert_eq!(with_offsets(Part::whole(&bytes.to_string()), scope).unwrap(), bytes);
    }
}
