//! fio checks what was stamped here, and what fio stamped is checked here.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod verify_support;

use std::fs;
use std::path::Path;

use flashmark_fio::options::VerifyKind;
use flashmark_load::verify::{Check, Expectation, Stamp, Verifier};
use verify_support::{KINDS, fio, has_fio, header_bytes, job, text};

const BLOCK_BYTES: usize = 4096;
const BLOCKS: usize = 16;

/// The options that fio and we are given, for each kind in several layouts.
fn cases() -> Vec<(VerifyKind, Vec<String>)> {
    let mut cases = Vec::new();
    for kind in KINDS {
        // `pattern_hdr` has no name in fio 3.33; a pattern without a kind means it.
        let named = match kind {
            VerifyKind::PatternHeader => vec!["--verify_pattern=0xabcdef%o\"xyz\"".to_owned()],
            VerifyKind::Pattern => vec!["--verify=pattern".to_owned(), "--verify_pattern=%o0x0102030405".to_owned()],
            kind => vec![format!("--verify={kind}")],
        };
        let offset = header_bytes(kind).max(40);
        let layouts: [&[String]; 4] = [
            &[],
            &["--verify_interval=1024".to_owned()],
            &[format!("--verify_offset={offset}")],
            &["--verify_interval=512".to_owned(), format!("--verify_offset={}", 500 - offset.max(header_bytes(kind)))],
        ];
        for layout in layouts {
            cases.push((kind, [&named[..], layout].concat()));
        }
    }
    let also = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    cases.push((VerifyKind::Meta, also(&["--verify=meta", "--verify_pattern=0x1234%o"])));
    cases.push((VerifyKind::Sha512, also(&["--verify=sha512", "--verify_pattern=0x1234%o", "--verify_interval=1k"])));
    cases.push((VerifyKind::Sha512, also(&["--verify=sha512", "--buffer_compress_percentage=40"])));
    cases.push((
        VerifyKind::Crc32c,
        also(&["--verify=crc32c", "--buffer_compress_percentage=70", "--buffer_pattern=0xdeadbeef01"]),
    ));
    cases.push((VerifyKind::Crc32c, also(&["--verify=crc32c", "--verify_interval=80"])));
    cases
}

fn arguments(case: &[String], file: &str, words: &[&str]) -> Vec<String> {
    let size = format!("--size={}", BLOCK_BYTES * BLOCKS);
    let (name, file) = (format!("--name={file}"), format!("--filename={file}"));
    let common = [&*name, &file, "--bs=4k", &size, "--ioengine=psync", "--verify_fatal=1"];
    let common = common.iter().chain(words).map(|word| (*word).to_owned());
    common.chain(case.iter().cloned()).collect()
}

fn verifier(kind: VerifyKind, arguments: &[String]) -> Verifier {
    let mut options = job(arguments).options;
    options.verify.verify = kind;
    Verifier::new(&options.verify, &options.buffers, 11).unwrap()
}

/// Runs each case as a job on a file of its own, `case0` and so on, and says which of them fio called failed.
fn run(folder: &Path, cases: &[(VerifyKind, Vec<String>)], words: &[&str]) -> Vec<bool> {
    let jobs = (0..).zip(cases).flat_map(|(number, (_, case))| arguments(case, &format!("case{number}"), words));
    let output = text(&fio(folder, &jobs.collect::<Vec<_>>()));
    let failed = (0..cases.len()).map(|number| {
        let job = format!("case{number}: (groupid=0, jobs=1): err=");
        let error = output.split(&job).nth(1).unwrap_or_else(|| panic!("no job {number} in\n{output}"));
        !error.trim_start().starts_with("0:")
    });
    failed.collect()
}

/// A byte of the second block that each kind checks.
fn damaged(kind: VerifyKind, case: &[String]) -> usize {
    let moved = case.iter().find_map(|word| word.strip_prefix("--verify_offset=")).map_or(0, |at| at.parse().unwrap());
    if kind == VerifyKind::Sha512 {
        // fio looks at the data's end only, and at what is left of its first 128 bytes.
        return 2 * BLOCK_BYTES - 1;
    }
    // The header's offset, or the data's first byte.
    let header_only = kind == VerifyKind::Meta && !case.iter().any(|word| word.starts_with("--verify_pattern"));
    BLOCK_BYTES
        + if header_only {
            moved + 17
        } else if moved == 0 {
            header_bytes(kind)
        } else {
            0
        }
}

#[test]
fn fio_checks_what_was_stamped_here() {
    if !has_fio() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    let mut files = Vec::new();
    for (number, (kind, case)) in cases.iter().enumerate() {
        let name = format!("case{number}");
        let mut verifier = verifier(*kind, &arguments(case, &name, &["--rw=read"]));
        let mut file = vec![0; BLOCK_BYTES * BLOCKS];
        for (number, block) in (0..).zip(file.chunks_mut(BLOCK_BYTES)) {
            let stamp = Stamp { offset: number * BLOCK_BYTES as u64, number, time_ns: 3 << 30, thread: 1 };
            verifier.stamp(block, &stamp);
        }
        fs::write(folder.path().join(&name), &file).unwrap();
        files.push((name, file));
    }
    for (failed, (_, case)) in run(folder.path(), &cases, &["--rw=read"]).iter().zip(&cases) {
        assert!(!failed, "{case:?}: fio found damage");
    }
    for ((name, file), (kind, case)) in files.iter_mut().zip(&cases) {
        file[damaged(*kind, case)] ^= 0x20;
        fs::write(folder.path().join(name), file).unwrap();
    }
    for (failed, (_, case)) in run(folder.path(), &cases, &["--rw=read"]).iter().zip(&cases) {
        assert!(failed, "{case:?}: fio found no damage");
    }
}

#[test]
fn what_fio_stamped_is_checked_here() {
    if !has_fio() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    let words = ["--rw=write", "--do_verify=0"];
    assert!(run(folder.path(), &cases, &words).iter().all(|failed| !failed));
    for (number, (kind, case)) in cases.iter().enumerate() {
        let name = format!("case{number}");
        let mut verifier = verifier(*kind, &arguments(case, &name, &words));
        let mut check = |bytes: &[u8]| {
            (0..)
                .zip(bytes.chunks(BLOCK_BYTES))
                .try_for_each(|(number, block)| verifier.check(block, number * BLOCK_BYTES as u64, Expectation::Any))
        };
        let mut bytes = fs::read(folder.path().join(name)).unwrap();
        assert_eq!(bytes.len(), BLOCK_BYTES * BLOCKS);
        assert_eq!(check(&bytes), Ok(()), "{case:?}");

        let at = damaged(*kind, case);
        bytes[at] ^= 0x20;
        let mismatch = check(&bytes).unwrap_err();
        assert_eq!(mismatch.offset, at as u64, "{case:?}: {mismatch}");
        // That it is known which byte was written shows that fio's data was made again.
        let known = mismatch.check != Check::Header;
        assert_eq!(mismatch.wrong_byte.map(|byte| byte.expected), known.then_some(bytes[at] ^ 0x20), "{case:?}");
    }
}

#[test]
fn dumps_are_fio_s() {
    if !has_fio() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let case = ["--verify=crc32c".to_owned(), "--verify_interval=1024".to_owned(), "--verify_dump=1".to_owned()];
    let reads = arguments(&case, "file", &["--rw=read"]);
    // In the data of a block's second piece, and in the header of its third.
    for (at, kinds) in [(4096 + 1024 + 300, &["received", "expected"][..]), (4096 + 2048 + 17, &["hdr_fail"])] {
        let mut verifier = verifier(VerifyKind::Crc32c, &reads);
        let mut file = vec![0; BLOCK_BYTES * BLOCKS];
        for (number, block) in (0..).zip(file.chunks_mut(BLOCK_BYTES)) {
            let offset = number * BLOCK_BYTES as u64;
            verifier.stamp(block, &Stamp { offset, number, time_ns: 0, thread: 1 });
        }
        file[at] ^= 0x20;
        fs::write(&path, &file).unwrap();
        fio(folder.path(), &reads);
        let block = &file[BLOCK_BYTES..2 * BLOCK_BYTES];
        let mismatch = verifier.check(block, BLOCK_BYTES as u64, Expectation::Any).unwrap_err();
        let ours = verifier.dump(path.to_str().unwrap(), block, BLOCK_BYTES as u64, &mismatch);
        assert_eq!(ours.len(), kinds.len());
        for (ours, kind) in ours.iter().zip(kinds) {
            assert!(ours.name.ends_with(kind), "{}", ours.name);
            let theirs = fs::read(folder.path().join(&ours.name)).unwrap();
            // What fio expects has the time and the number of its read.
            let same = if *kind == "expected" { 40 } else { 0 };
            assert_eq!(theirs[same..], ours.bytes[same..], "{}", ours.name);
        }
    }
}
