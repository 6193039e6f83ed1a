//! What the tests of verification share.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;
use std::process::{Command, Output};

use flashmark_fio::options::{BufferOptions, VerifyKind, VerifyOptions};
use flashmark_fio::value::pattern::Pattern;
use flashmark_fio::{CommandLine, Job, Surroundings, ThisMachine};
use flashmark_load::verify::Verifier;

/// All kinds that write headers or a pattern.
pub const KINDS: [VerifyKind; 13] = [
    VerifyKind::Md5,
    VerifyKind::Crc64,
    VerifyKind::Crc32,
    VerifyKind::Crc32c,
    VerifyKind::Crc16,
    VerifyKind::Crc7,
    VerifyKind::Sha1,
    VerifyKind::Sha256,
    VerifyKind::Sha512,
    VerifyKind::Xxhash,
    VerifyKind::Meta,
    VerifyKind::Pattern,
    VerifyKind::PatternHeader,
];

/// How long header and checksum are.
pub fn header_bytes(kind: VerifyKind) -> usize {
    match kind {
        VerifyKind::None | VerifyKind::Null | VerifyKind::Pattern => 0,
        VerifyKind::Meta | VerifyKind::PatternHeader => 40,
        VerifyKind::Crc7 => 41,
        VerifyKind::Crc16 => 42,
        VerifyKind::Crc32 | VerifyKind::Crc32c | VerifyKind::Xxhash => 44,
        VerifyKind::Crc64 => 48,
        VerifyKind::Md5 => 56,
        VerifyKind::Sha1 => 60,
        VerifyKind::Sha256 => 104,
        VerifyKind::Sha512 => 168,
    }
}

pub fn pattern() -> Pattern {
    Pattern { bytes: b"abc\0\0\0\0\0\0\0\0-xyz".to_vec(), offsets: vec![3] }
}

pub fn needs_pattern(kind: VerifyKind) -> bool {
    matches!(kind, VerifyKind::Pattern | VerifyKind::PatternHeader)
}

pub fn options(kind: VerifyKind, interval: u32, offset: u32) -> VerifyOptions {
    VerifyOptions {
        verify: kind,
        verify_interval: interval,
        verify_offset: offset,
        verify_pattern: needs_pattern(kind).then(pattern),
        ..VerifyOptions::default()
    }
}

pub fn verifier(options: &VerifyOptions) -> Verifier {
    Verifier::new(options, &BufferOptions::default(), 7).unwrap()
}

/// The job that fio's arguments describe.
pub fn job(arguments: &[String]) -> Job {
    let line = CommandLine::parse(arguments).unwrap();
    let surroundings: &dyn Surroundings = &ThisMachine;
    line.resolve(surroundings).unwrap().jobs.remove(0)
}

/// Whether there is the oracle; if not, says so, and panics if `FLASHMARK_REQUIRE_ALL=1`.
pub fn has_fio() -> bool {
    let version = Command::new("fio").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let minor = version.strip_prefix("fio-3.").and_then(|rest| rest.split(['.', '-']).next()?.parse::<u32>().ok());
    // Newer ones have another `sha512`, other states and longer headers.
    if minor.is_some_and(|minor| (33..=38).contains(&minor)) {
        return true;
    }
    let missing = format!("fio 3.33 to 3.38 (found: {version:?})");
    assert!(
        std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none_or(|value| value != "1"),
        "FLASHMARK_REQUIRE_ALL=1, but missing: {missing}"
    );
    // The test harness would swallow what print macros write.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("SKIPPED: {missing}\n").as_bytes());
    false
}

pub fn fio(folder: &Path, arguments: &[String]) -> Output {
    Command::new("fio").args(arguments).current_dir(folder).output().unwrap()
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
