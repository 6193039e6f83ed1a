//! Every built-in suite expands to what its original does, and to what its header says the corrected form does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::fmt::Write as _;

use flashmark_core::record::Form;
use flashmark_core::workload::{
    Access, Data, Direct, Erase, FileMode, Medium, Order, Reopen, SyncPolicy, Verify, Workload,
};
use flashmark_suite::{ORIGINALS, Settings, Source, Suite, built_in};

fn set(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    pairs.iter().for_each(|pair| settings.push_pair(pair).unwrap());
    settings
}

fn expand(suite: &str, form: Form, pairs: &[&str]) -> Vec<Workload> {
    Suite::load(suite).unwrap().expand(form, &set(pairs)).unwrap()
}

fn named<'a>(workloads: &'a [Workload], name: &str) -> &'a Workload {
    workloads.iter().find(|workload| workload.name == name).unwrap_or_else(|| panic!("no workload {name}"))
}

/// One line a workload, with what differs from the default.
fn summary(workloads: &[Workload]) -> String {
    let mut out = String::new();
    for w in workloads {
        let mut parts = vec![
            match w.read_percent {
                100 => "read".to_owned(),
                0 => "write".to_owned(),
                percent => format!("read {percent}%"),
            },
            format!("{:?}", w.order).to_lowercase(),
            format!("block={}", w.block_bytes),
        ];
        let option = |value: Option<u64>| value.map_or("all".to_owned(), |value| value.to_string());
        parts.push(format!("size={} file-size={}", option(w.size_bytes), option(w.file_bytes)));
        parts.extend(w.time_ns.map(|ns| format!("time={}s", ns as f64 / 1e9)));
        parts.push(format!("{:?}/{:?}", w.file, w.reopen).to_lowercase());
        match w.sync {
            SyncPolicy::Never => {}
            SyncPolicy::End => parts.push("sync=end".to_owned()),
            SyncPolicy::Every { ops } => parts.push(format!("sync=every:{ops}")),
        }
        if let Data::Text { text, end } = &w.data {
            parts.push(format!("text={text:?} end={end:?}"));
        }
        if w.data == Data::Fixed {
            parts.push("data=fixed".to_owned());
        }
        if w.verify != Verify::None {
            parts.push(format!("verify={:?}", w.verify));
        }
        parts.push(format!("repeats={}+{}", w.warm_up, w.repeats));
        if w.queue_depth > 1 {
            parts.push(format!("depth={}", w.queue_depth));
        }
        if w.engine != "sync" {
            parts.push(format!("engine={}", w.engine));
        }
        if w.direct != Direct::Auto {
            parts.push(format!("{:?}", w.direct).to_lowercase());
        }
        for (flag, name) in [
            (w.time_open_close, "time-open-close"),
            (w.time_repeats, "time-repeats"),
            (!w.drain, "no-drain"),
            (w.accept_short, "accept-short"),
            (w.preallocate, "preallocate"),
        ] {
            parts.extend(flag.then(|| name.to_owned()));
        }
        if w.erase != Erase::Inside {
            parts.push(format!("erase={:?}", w.erase).to_lowercase());
        }
        if w.access != Access::Any {
            parts.push(format!("on={:?}", w.access).to_lowercase());
        }
        if w.medium != Medium::Any {
            parts.push(format!("medium={:?}", w.medium).to_lowercase());
        }
        parts.extend(w.fill_percent.map(|percent| format!("fill={percent}%")));
        if w.max_errors > 0 {
            parts.push(format!("max-errors={}", w.max_errors));
        }
        writeln!(out, "{}\n    {}", w.name, parts.join(" ")).unwrap();
    }
    out
}

#[test]
fn every_suite_expands_in_every_form_it_has() {
    for suite in built_in() {
        let loaded = Suite::load(suite.name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.name(), suite.name);
        assert_eq!(loaded.source, Source::BuiltIn);
        assert!(
            loaded.text.starts_with(&format!("# {}: ", suite.name)),
            "{} has a header that explains it",
            suite.name
        );
        assert!(!loaded.about().is_empty() && loaded.about().len() < 110, "{}", suite.name);
        assert!(loaded.original().is_none_or(|original| ORIGINALS.contains(&original)));
        assert_eq!(loaded.forms().contains(&Form::Compat), !matches!(suite.name, "quick" | "raw-read" | "fill"));
        for form in loaded.forms() {
            let workloads = loaded.expand(*form, &Settings::new()).unwrap();
            let form = serde_json::to_value(form).unwrap();
            insta::assert_snapshot!(format!("{}-{}", suite.name, form.as_str().unwrap()), summary(&workloads));
        }
    }
}

#[test]
fn every_suite_has_a_verifying_form() {
    for suite in built_in() {
        let loaded = Suite::load(suite.name).unwrap();
        for form in loaded.forms() {
            let workloads = loaded.expand(*form, &set(&["verify=full"])).unwrap();
            assert!(workloads.iter().all(|workload| workload.verify == Verify::Full), "{}", suite.name);
        }
    }
}

#[test]
fn no_compatibility_form_measures_what_its_original_did_not_do() {
    for suite in built_in() {
        let loaded = Suite::load(suite.name).unwrap();
        if !loaded.forms().contains(&Form::Compat) {
            assert!(loaded.expand(Form::Compat, &Settings::new()).is_err());
            continue;
        }
        for workload in loaded.expand(Form::Compat, &Settings::new()).unwrap() {
            // The one original that passes the cache by itself.
            let is_mix = suite.name == "emmc-sd" && workload.queue_depth > 1;
            let direct = if is_mix { Direct::Auto } else { Direct::Buffered };
            assert_eq!(workload.direct, direct, "{}", suite.name);
            assert_eq!(workload.warm_up, 0, "{}", suite.name);
            assert!(!workload.time_open_close, "{}", suite.name);
            assert_eq!(
                workload.sync != SyncPolicy::Never,
                matches!(suite.name, "sdfat" | "emmc-sd") && workload.writes() && !is_mix,
                "{}",
                suite.name
            );
        }
    }
}

#[test]
fn corrected_forms_of_originals_sync_what_they_write_and_finish_what_they_start() {
    for name in ["esp-idf", "sd-bench", "sdfat", "stream-10m", "sync-async"] {
        for workload in expand(name, Form::Corrected, &[]) {
            assert_eq!(workload.sync == SyncPolicy::End, workload.writes(), "{name}");
            assert!(workload.drain && !workload.accept_short, "{name}");
            // Of engines that are compared, one cannot pass the cache by: then neither may.
            let direct = if name == "sync-async" { Direct::Buffered } else { Direct::Auto };
            assert_eq!(workload.direct, direct, "{name}");
        }
    }
}

#[test]
fn esp_idf_has_the_originals_rows_in_its_order() {
    let sizes = |workloads: &[Workload]| workloads.iter().map(|w| u64::from(w.block_bytes)).collect::<Vec<_>>();
    let expected: Vec<u64> = [65_536, 78_643, 54_613, 255].iter().flat_map(|size| [*size, *size]).collect();
    for form in [Form::Corrected, Form::Compat] {
        let all = expand("esp-idf", form, &[]);
        let (raw, workloads) = all.split_at(2);
        assert_eq!(raw.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["raw write", "raw read"]);
        assert_eq!(sizes(raw), [65_536, 65_536]);
        assert_eq!((raw[0].read_percent, raw[1].read_percent), (0, 100));
        assert!(raw.iter().all(|w| w.size_bytes == Some(65_536) && w.reopen == Reopen::Once && w.repeats == 10));
        let (new_file, normal) = workloads.split_at(8);
        assert_eq!(sizes(new_file), expected);
        assert_eq!(sizes(normal), expected);
        assert!(new_file.iter().all(|w| w.name.starts_with("(new file): ") && w.reopen == Reopen::EachRepeat));
        assert!(normal.iter().all(|w| w.name.starts_with(": ") && w.reopen == Reopen::Once));
        assert!(workloads.iter().step_by(2).all(|w| w.read_percent == 0 && w.name.contains(": write ")));
        assert!(workloads.iter().skip(1).step_by(2).all(|w| w.read_percent == 100 && w.name.contains(": read ")));
    }
    let append = named(&expand("esp-idf", Form::Compat, &["tries=100"]), ": write more than target size").clone();
    assert_eq!((append.file, append.repeats, append.size_bytes), (FileMode::New, 1, Some(7_864_300)));
    let overwrite = named(&expand("esp-idf", Form::Corrected, &["tries=100"]), ": write target size").clone();
    assert_eq!((overwrite.file, overwrite.repeats, overwrite.size_bytes), (FileMode::Existing, 100, Some(65_536)));
}

/// The storages of the original's board, and what runs on each.
#[test]
fn esp_idf_runs_on_each_storage_what_the_original_does() {
    for form in [Form::Corrected, Form::Compat] {
        let workloads = expand("esp-idf", form, &[]);
        let rows = |access, medium| {
            let fitting = workloads.iter().filter(move |w| w.is_for(access, medium));
            fitting.map(|w| w.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(rows(Access::Raw, Medium::Nor), ["raw write", "raw read"]);
        let on_flash = rows(Access::Files, Medium::Nor);
        assert!(on_flash.len() == 8 && on_flash.iter().all(|name| name.starts_with("(new file): ")), "{on_flash:?}");
        let on_card = rows(Access::Files, Medium::NotNor);
        assert!(on_card.len() == 16 && !on_card.contains(&"raw write"), "{on_card:?}");
        assert_eq!(rows(Access::Raw, Medium::NotNor).len(), if form == Form::Corrected { 2 } else { 0 });
    }
}

/// Programming the same again is what the original measures, and it takes the very same data to do so.
#[test]
fn esp_idfs_raw_rows_write_the_same_again_only_in_the_compatibility_form() {
    use flashmark_core::data::Pattern;
    let written = |workload: &Workload, pass| {
        let mut block = vec![0; workload.block_bytes as usize];
        let mut pattern = Pattern::new(workload);
        pattern.prime(&mut block);
        pattern.start_pass(pass);
        pattern.fill(&mut block, 0, pass);
        block
    };
    let compat = expand("esp-idf", Form::Compat, &[]);
    assert_eq!((compat[0].erase, compat[1].erase), (Erase::Never, Erase::Inside));
    let first = written(&compat[0], 1);
    assert!((2..10).all(|pass| written(&compat[0], pass) == first));
    let zeros: u32 = first.iter().map(|byte| byte.count_zeros()).sum();
    assert!(zeros.abs_diff(65_536 * 4) < 4096, "random data has half of its bits 0: {zeros}");
    // What is read is what was written, so that nothing is laid out in between.
    assert_eq!(compat[0].data, compat[1].data);

    let corrected = expand("esp-idf", Form::Corrected, &[]);
    assert_eq!(corrected[0].erase, Erase::Inside);
    assert_ne!(written(&corrected[0], 1), written(&corrected[0], 2));
}

#[test]
fn parameters_change_what_depends_on_them() {
    let workloads = expand("esp-idf", Form::Compat, &["target-size=128k", "tries=3"]);
    assert_eq!(named(&workloads, "(new file): write more than target size").block_bytes, 157_286);
    assert_eq!(named(&workloads, ": read less than target size").size_bytes, Some(3 * 109_226));

    let writes = expand("sd-bench", Form::Compat, &["writes=8"]);
    assert_eq!(writes[0].size_bytes, Some(8 * 16_384));

    let sdfat = expand("sdfat", Form::Compat, &["block=512", "write-passes=2", "read-passes=1", "size=1MB"]);
    assert_eq!((sdfat[0].block_bytes, sdfat[0].repeats, sdfat[0].size_bytes), (512, 2, Some(1_000_000)));
    assert_eq!((sdfat[1].block_bytes, sdfat[1].repeats, sdfat[1].file_bytes), (512, 1, Some(1_000_000)));
}

#[test]
fn sd_bench_writes_the_originals_64_characters() {
    let Data::Text { text, end } = expand("sd-bench", Form::Compat, &[])[0].data.clone() else {
        panic!("a text is expected");
    };
    assert!((0..64).map(|i| b' ' + i).eq(text.bytes()));
    assert_eq!(end, "");
}

#[test]
fn raw_read_takes_the_whole_target_or_its_start() {
    let whole = expand("raw-read", Form::Corrected, &[]);
    assert_eq!((whole[0].size_bytes, whole[0].file_bytes), (None, None));
    let start = expand("raw-read", Form::Corrected, &["size=4GiB"]);
    assert_eq!((start[0].size_bytes, start[0].file_bytes), (Some(4 << 30), Some(4 << 30)));
}

#[test]
fn quick_is_bounded_in_time_and_in_bytes_written() {
    let workloads = expand("quick", Form::Corrected, &[]);
    let time_ns: u64 = workloads.iter().map(|w| w.time_ns.unwrap()).sum();
    assert!(time_ns <= 12_000_000_000);
    assert!(workloads.iter().all(|w| w.size_bytes.unwrap() <= 1 << 30 && w.file_bytes == Some(64 << 20)));
}

#[test]
fn sync_async_differs_in_the_engine_alone() {
    for form in [Form::Corrected, Form::Compat] {
        let workloads = expand("sync-async", form, &[]);
        let same =
            |w: &Workload| Workload { name: w.name.replace("async", "sync"), engine: String::new(), ..w.clone() };
        for w in workloads.iter().filter(|w| w.engine == "tokio") {
            assert_eq!(same(w), same(named(&workloads, &w.name.replace("async", "sync"))));
            assert_eq!(w.size_bytes, Some(13_107_200));
        }
        assert_eq!(workloads.iter().filter(|w| w.engine == "tokio").count() * 2, workloads.len());
    }
}

/// A whole device is read, and everything else is on files: on a target of one kind nothing of the other kind runs.
#[test]
fn emmc_sd_has_the_originals_steps() {
    for form in [Form::Corrected, Form::Compat] {
        let workloads = expand("emmc-sd", form, &[]);
        let names = |access| {
            let fitting = workloads.iter().filter(move |w| w.is_for(access, Medium::NotNor));
            fitting.map(|w| w.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(Access::Raw), ["whole read"]);
        assert_eq!(names(Access::Files), ["random mix 75/25", "compressible stream", "incompressible stream"]);

        let whole = named(&workloads, "whole read");
        assert_eq!((whole.block_bytes, whole.size_bytes, whole.file_bytes), (131_072, None, None));
        assert_eq!((whole.read_percent, whole.direct), (100, Direct::Buffered));

        let mix = named(&workloads, "random mix 75/25");
        assert_eq!((mix.read_percent, mix.block_bytes, mix.queue_depth, mix.repeats), (75, 4096, 64, 3));
        assert_eq!((mix.size_bytes, mix.file_bytes, mix.file), (Some(64 << 20), Some(64 << 20), FileMode::Existing));
        assert_eq!((mix.order, mix.engine.as_str(), mix.direct), (Order::RandomOnce, "libaio", Direct::Auto));

        let block = if form == Form::Compat { 4098 } else { 4096 };
        let [text, random] = ["compressible stream", "incompressible stream"].map(|name| named(&workloads, name));
        assert!(matches!(&text.data, Data::Text { text, end } if text.ends_with('\n') && end.is_empty()));
        assert_eq!(random.data, Data::Random);
        for stream in [text, random] {
            assert_eq!((stream.block_bytes, stream.size_bytes), (block, Some(u64::from(block) * 50_000)));
            assert_eq!((stream.sync, stream.direct, stream.file), (SyncPolicy::End, Direct::Buffered, FileMode::New));
        }
    }
    let small = expand("emmc-sd", Form::Compat, &["mix-size=1m", "depth=4", "stream-calls=10"]);
    assert_eq!((named(&small, "random mix 75/25").size_bytes, small[1].queue_depth), (Some(1 << 20), 4));
    assert_eq!(named(&small, "compressible stream").size_bytes, Some(40_980));
}

#[test]
fn fill_goes_up_and_measures_the_same_at_each_level() {
    let workloads = expand("fill", Form::Corrected, &["rewrites=7", "reads=3"]);
    let levels: Vec<u8> = workloads.iter().map(|w| w.fill_percent.unwrap()).collect();
    assert!(levels.is_sorted() && levels.last() == Some(&95), "{levels:?}");
    let nameless = |w: &Workload| Workload { name: String::new(), fill_percent: None, ..w.clone() };
    for pair in workloads.chunks(2) {
        let [rewrite, read] = pair else { panic!("a level has two rows") };
        assert_eq!([nameless(rewrite), nameless(read)], [nameless(&workloads[0]), nameless(&workloads[1])]);
        assert_eq!((rewrite.repeats, rewrite.sync, rewrite.file), (7, SyncPolicy::End, FileMode::New));
        assert_eq!((read.repeats, read.read_percent, read.reopen), (3, 100, Reopen::EachRepeat));
        for (workload, what) in [(rewrite, "rewrite 4 KiB"), (read, "read 4 KiB")] {
            assert_eq!(workload.name, format!("{} % full: {what}", workload.fill_percent.unwrap()));
            assert!(workload.time_repeats && workload.size_bytes == Some(4096) && workload.block_bytes == 4096);
            assert_eq!((workload.access, workload.medium), (Access::Files, Medium::Any));
            assert_eq!(workload.max_errors, 7);
        }
    }
    // A partition of the boards has 2 MiB, of which the first levels leave no more than two rows write.
    let defaults = expand("fill", Form::Corrected, &[]);
    assert!(u64::from(defaults[0].repeats) * 4096 > (2 << 20) * 90 / 100);
}
