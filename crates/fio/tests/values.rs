//! What values mean. Where no refusal is expected, fio means the same: the numbers are its own.

mod support;

use flashmark_fio::options::{BlockSizes, Engine, Fadvise, ServiceKind, VerifyKind};
use flashmark_fio::value::access::Access;
use flashmark_fio::value::decimal::Billionths;
use flashmark_fio::value::distribution::{Distribution, Zone, ZoneOfBytes};
use flashmark_fio::value::quantity::Amount;
use flashmark_fio::value::split::Share;
use flashmark_fio::value::triple::Triple;
use support::{options, refusal, warnings};

#[test]
fn sizes() {
    for (text, bytes) in [
        ("4096", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4ki", 4096),
        ("4KiB", 4000),
        ("1m", 1 << 20),
        ("1Mb", 1 << 20),
        ("1MiB", 1_000_000),
        ("2g", 2 << 30),
        ("1t", 1 << 40),
        ("1p", 1 << 50),
        ("512b", 512),
        ("0x1000", 4096),
        ("+4k", 4096),
        ("(4*1k)", 4096),
        ("(2+3k*4)", 12290),
        ("(2^3^2)", 512),
        ("(7%4*2k)", 6144),
        ("(4m*1024)", 4 << 30),
        ("8192 ", 8192),
    ] {
        assert_eq!(options(&format!("bs=1\nsize={text}")).access.size, Some(Amount::Bytes(bytes)), "{text}");
    }
    for text in [
        "(10-2)",
        "1.5g",
        " 4k",
        "4x",
        "4kk",
        "0x10k",
        "-4k",
        "k",
        "",
        "(4",
        "(1+)",
        "(1/0)",
        "(1.5g)",
        "4z",
        "101%",
        "(4*1024*1024*1024)",
        "(4*1024*1024*1024b)",
        "9223372036854775808",
        "(3000000000)",
        "(9999999p)",
        "4-8",
        "4,8",
    ] {
        refusal(&format!("bs=1\nsize={text}"));
    }
    assert_eq!(options("size=20%").access.size, Some(Amount::Percent(20)));
    assert_eq!(Amount::Percent(20).of(1000), 200);
    assert_eq!(Amount::Bytes(7).of(1000), 7);
}

#[test]
fn units_follow_kb_base_wherever_it_stands_in_a_section() {
    for (text, bytes) in
        [("4k", 4000), ("4kb", 4000), ("4KiB", 4096), ("1m", 1_000_000), ("1MiB", 1 << 20), ("4ki", 4000)]
    {
        let access = options(&format!("bs=1\nsize={text}\nkb_base=1000")).access;
        assert_eq!(access.size, Some(Amount::Bytes(bytes)), "{text}");
    }
    insta::assert_snapshot!(warnings("size=4KiB\nbs=1").join("\n"), @"test.fio:2:6: `size`: `4KiB` is 4000 bytes: `KiB` is a power of 1000 with kb_base=1024, the default; write `k`");
    assert_eq!(warnings("size=4KiB\nkb_base=1000"), Vec::<String>::new());
}

#[test]
fn times() {
    for (text, runtime_us, thinktime_us) in [
        ("10", 10_000_000, 10),
        ("10s", 10_000_000, 10_000_000),
        ("10ms", 10_000, 10_000),
        ("10msec", 10_000, 10_000),
        ("10us", 10, 10),
        ("10usec", 10, 10),
        ("2m", 120_000_000, 120_000_000),
        ("1H", 3_600_000_000, 3_600_000_000),
        ("1d", 86_400_000_000, 86_400_000_000),
        ("(3)", 3_000_000, 3),
        ("(3*2s)", 6_000_000, 6_000_000),
        ("(20-10)", 10_000_000, 10),
        ("(1m+30s)", 90_000_000, 90_000_000),
    ] {
        assert_eq!(options(&format!("runtime={text}")).run.runtime_us, runtime_us, "{text}");
        assert_eq!(options(&format!("thinktime={text}")).pace.thinktime_us, thinktime_us, "{text}");
    }
    assert_eq!(options("thinktime=(500ms*3)").pace.thinktime_us, 1_500_000);
    assert_eq!(options("startdelay=5-10").run.startdelay_us, (5_000_000, 10_000_000));
    for text in ["10sec", "10min", "1.5", "-1", "", "5k", " 10m", "(500ms*3)", "10 s"] {
        refusal(&format!("runtime={text}"));
    }
}

#[test]
fn directions() {
    for (text, access, run_length, skip_bytes) in [
        ("read", Access::Read, 1, 0),
        ("readwrite", Access::Rw, 1, 0),
        ("randrw:8", Access::RandRw, 8, 0),
        ("read:-8k", Access::Read, 1, -8192),
        ("write:4k", Access::Write, 1, 4096),
        ("randtrimwrite", Access::RandTrimWrite, 1, 0),
    ] {
        let rw = options(&format!("rw={text}")).access.rw;
        assert_eq!((rw.access, rw.run_length, rw.skip_bytes), (access, run_length, skip_bytes), "{text}");
    }
    for text in ["", "rand", "randread:0", "randread:-1", "read:x", "READ", "read,write"] {
        refusal(&format!("rw={text}"));
    }
    assert_eq!(options("rwmixread=75").access.rwmixread, 75);
    assert_eq!(options("rwmixread=40\nrwmixwrite=30").access.rwmixread, 70);
    assert!(options("buffered=0").engine.direct);
    assert!(!options("direct=1\nbuffered=1").engine.direct);
}

#[test]
fn block_sizes() {
    let sizes = |line: &str| options(line).access.block_sizes();
    assert_eq!(
        sizes("bs=4k,8k"),
        Triple { read: BlockSizes::Fixed(4096), write: BlockSizes::Fixed(8192), trim: BlockSizes::Fixed(8192) }
    );
    assert_eq!(sizes("bs=1k\nbs=,8k,").each().map(BlockSizes::most), [1024, 8192, 1024]);
    assert_eq!(sizes("blocksize=4k,").each().map(BlockSizes::most), [4096, 4096, 4096]);
    // A range goes before a size, whichever comes first, and a mix before both.
    let range = |least, most| BlockSizes::Range { least, most };
    assert_eq!(
        sizes("bsrange=4k-1k,2k:8k\nbs=512"),
        Triple { read: range(1024, 4096), write: range(2048, 8192), trim: range(2048, 8192) }
    );
    let mix = sizes("bssplit=4k/50:8k/:16k/,1k\nbs=512\nbsrange=1k-2k");
    let share = |bytes, percent| Share { bytes, percent };
    assert_eq!(mix.read, BlockSizes::Mix(vec![share(4096, 50), share(8192, 25), share(16384, 25)]));
    assert_eq!(mix.write, BlockSizes::Mix(vec![share(1024, 100)]));
    assert_eq!(mix.trim, mix.write);
    assert_eq!((mix.read.least(), mix.read.most()), (4096, 16384));
    assert_eq!(sizes("bssplit=,4k").read, BlockSizes::Fixed(4096));
    for line in [
        "bs=0",
        "bs=4k:8k",
        "bsrange=1k",
        "bsrange=1k-4k/8k-32k",
        "bssplit=4k/60:8k/60",
        "bssplit=x/20",
        "bssplit=1k,1k,1k,1k",
    ] {
        refusal(line);
    }
}

#[test]
fn distributions() {
    let of = |text: &str| options(&format!("rw=randread\nrandom_distribution={text}")).access.random_distribution;
    let tenths = |tenths: u64| Billionths(tenths * 100_000_000);
    assert_eq!(of("zipf"), Distribution::Zipf { theta: tenths(11), center: None });
    assert_eq!(of("zipf:1.2:0.5"), Distribution::Zipf { theta: tenths(12), center: Some(tenths(5)) });
    assert_eq!(of("zipf:1.2:-1"), Distribution::Zipf { theta: tenths(12), center: None });
    assert_eq!(of("pareto:0.9"), Distribution::Pareto { power: tenths(9), center: None });
    assert_eq!(of("normal:20"), Distribution::Normal { deviation: Billionths::whole(20), center: None });
    assert_eq!(of("sequence:2,0,1"), Distribution::Sequence(vec![2, 0, 1]));
    let zone = |access_percent, size_percent| Zone { access_percent, size_percent };
    assert_eq!(
        of("zoned:50/5:30/15:20/"),
        Distribution::Zoned(Triple::all(vec![zone(50, 5), zone(30, 15), zone(20, 80)]))
    );
    let Distribution::Zoned(zones) = of("zoned:60/10:40/90,30/10:70/90") else { panic!() };
    assert_eq!(zones.write, [zone(30, 10), zone(70, 90)]);
    let Distribution::ZonedAbs(zones) = of("zoned_abs:60/20G:40/100G") else { panic!() };
    assert_eq!(zones.read[0], ZoneOfBytes { access_percent: 60, bytes: 20 << 30 });
    for text in [
        "zipf:1",
        "zipf:1.0",
        "zipf:1.2:1.5",
        "pareto:0",
        "pareto:1",
        "normal:100",
        "zoned:60/10:30/20",
        "zoned:50/60:50/60",
        "zoned",
        "sequence:2,x",
        "foo",
        "zipf:",
        "zipf:1e3",
    ] {
        refusal(&format!("rw=randread\nrandom_distribution={text}"));
    }
}

#[test]
fn lists() {
    let report = options("percentile_list=99.9:50:99.99").report;
    assert_eq!(report.percentile_list, [Billionths::whole(50), Billionths(99_900_000_000), Billionths(99_990_000_000)]);
    assert_eq!(options("").report.percentile_list.len(), 17);
    assert_eq!(options("").report.percentile_list[13].to_string(), "99.5");
    let cpus = options("cpus_allowed=7,0-2,1").run.cpus_allowed;
    assert_eq!(cpus.0.iter().copied().collect::<Vec<_>>(), [0, 1, 2, 7]);
    assert_eq!(cpus.to_string(), "0-2,7");
    assert_eq!(options("cpumask=6").run.cpus_allowed.to_string(), "1-2");
    assert_eq!(options("filename=a:b\\:c:d").files.filename, ["a", "b:c", "d"]);
    assert_eq!(options("filename=::a").files.filename, ["a"]);
    let ignored = options("ignore_error=EAGAIN,ENOSPC:122,0x10").run.ignore_error;
    assert_eq!((ignored.read, ignored.write, ignored.verify), (vec![11], vec![28, 122], vec![16]));
    let service = options("file_service_type=random:4").files.file_service_type;
    assert_eq!((service.kind, service.accesses), (ServiceKind::Random, 4));
    let range = options("sync_file_range=wait_before,write:8").engine.sync_file_range.unwrap();
    assert_eq!((range.wait_before, range.write, range.wait_after, range.every), (true, true, false, 8));
    for line in [
        "percentile_list=101",
        "percentile_list=0",
        "percentile_list=50::60",
        "cpus_allowed=1-0",
        "cpus_allowed=x",
        "cpus_allowed=99999",
        "ignore_error=EFOO",
        "file_service_type=zipf:1",
        "filename=:",
        "replay_align=3",
        "replay_skip=foo",
    ] {
        refusal(line);
    }
}

#[test]
fn patterns() {
    let bytes = |text: &str| options(&format!("verify_pattern={text}\nbs=64k")).verify.verify_pattern.unwrap();
    assert_eq!(bytes("0xdeadface").bytes, [0xde, 0xad, 0xfa, 0xce]);
    assert_eq!(bytes("\"abcd\"-12").bytes, [b'a', b'b', b'c', b'd', 0xf4, 0xff, 0xff, 0xff]);
    assert_eq!(bytes("0xFF0X1").bytes, [0xff, 1]);
    assert_eq!(bytes("\"123\"0xFFeeCC").bytes, [0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]);
    assert_eq!(bytes("0xf12").bytes, [0xf, 0x12]);
    assert_eq!(bytes("-1024").bytes, [0, 0xfc, 0xff, 0xff]);
    assert_eq!(bytes("66").bytes, [66]);
    assert_eq!(bytes("0").bytes, [0]);
    let mixed = bytes("-100xab\"1\"%o\"2\"");
    assert_eq!(mixed.bytes, [0xf6, 0xff, 0xff, 0xff, 0xab, b'1', 0, 0, 0, 0, 0, 0, 0, 0, b'2']);
    assert_eq!(mixed.offsets, [6]);
    for text in ["%x", "0x", "abc", "\"abc", "'file'", "99999999999", ""] {
        refusal(&format!("verify_pattern={text}"));
    }
    refusal("buffer_pattern=%o");
    assert_eq!(options("verify_pattern=1").verify.verify, VerifyKind::PatternHeader);
    assert_eq!(options("verify_pattern=1\nverify=crc32c-intel").verify.verify, VerifyKind::Crc32c);
}

#[test]
fn switches_and_words() {
    assert!(options("time_based\nruntime=1").run.time_based);
    assert!(!options("time_based=0").run.time_based);
    assert!(options("group_reporting=1").report.group_reporting);
    assert_eq!(options("ioengine=io_uring").engine.ioengine, Engine::IoUring);
    assert_eq!(options("fadvise_hint=random").files.fadvise_hint, Fadvise::Random);
    assert_eq!(options("write_bw_log").log.write_bw_log.as_deref(), Some(""));
    assert_eq!(options("write_bw_log=x").log.write_bw_log.as_deref(), Some("x"));
    assert_eq!(options("description=\"a b\"").run.description.as_deref(), Some("\"a b\""));
    assert_eq!(options("iodepth=1k\nioengine=libaio").engine.iodepth, 1024);
    for line in [
        "direct=2",
        "direct",
        "direct=yes",
        "time_based=x",
        "iodepth=0",
        "iodepth=4:8",
        "unit_base=2",
        "significant_figures=11",
        "flow=1001",
    ] {
        refusal(line);
    }
}
