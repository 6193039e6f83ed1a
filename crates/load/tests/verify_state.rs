//! The state of a run that verifies later: what is written is read, damage is told, fio reads it, and fio's is read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod verify_support;

use std::fs;

use flashmark_load::verify::{Completion, Stamp, StateError, Verifier, VerifyState, state_file_name};
use proptest::prelude::*;
use verify_support::{fio, has_fio, job, text};

fn any_state() -> impl Strategy<Value = VerifyState> {
    (1_u32..40, 1_u32..5).prop_flat_map(|(depth, files)| {
        let completion = (any::<u64>(), any::<u64>()).prop_map(|(file, offset)| Completion { file, offset });
        let completions = prop::collection::vec(completion, 0..=(depth * files) as usize);
        let random: [BoxedStrategy<u64>; 6] = std::array::from_fn(|_| any::<u64>().boxed());
        ("[a-zä-]{0,31}", any::<u64>(), any::<u64>(), random, completions).prop_map(
            move |(job, index, writes, random, completions)| VerifyState {
                job,
                index,
                depth,
                files,
                writes,
                random,
                completions,
            },
        )
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read(state in any_state()) {
        prop_assert_eq!(VerifyState::decode(&state.encode().unwrap()), Ok(state));
    }

    #[test]
    fn damage_is_told(state in any_state(), at: prop::sample::Index, bit in 0_u8..8, cut: prop::sample::Index) {
        let bytes = state.encode().unwrap();
        let mut damaged = bytes.clone();
        damaged[at.index(bytes.len())] ^= 1 << bit;
        prop_assert!(VerifyState::decode(&damaged).is_err());
        prop_assert!(VerifyState::decode(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_refused_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), fronted: bool) {
        let mut bytes = bytes;
        if fronted && bytes.len() > 24 {
            // The front of a real file, so that what is behind is read.
            let body = bytes.len() as u64 - 24;
            let crc = !crc32c::crc32c(&bytes[24..]);
            bytes[..8].copy_from_slice(&3_u64.to_le_bytes());
            bytes[8..16].copy_from_slice(&body.to_le_bytes());
            bytes[16..24].copy_from_slice(&u64::from(crc).to_le_bytes());
        }
        prop_assert!(VerifyState::decode(&bytes).is_err());
    }
}

fn state(depth: u32, writes: u64, completions: &[u64]) -> VerifyState {
    VerifyState {
        job: "j".into(),
        index: 0,
        depth,
        files: 1,
        writes,
        random: [0; 6],
        completions: completions.iter().map(|offset| Completion { file: 0, offset: *offset }).collect(),
    }
}

#[test]
fn verification_ends_where_writing_did() {
    let state = state(3, 10, &[9, 7, 6]);
    for verified in 0..7 {
        assert!(!state.ends_before(verified, 0, 1234), "{verified}");
    }
    assert!(!state.ends_before(7, 0, 7));
    assert!(state.ends_before(8, 0, 8));
    assert!(state.ends_before(7, 1, 7), "another file");
    assert!(state.ends_before(10, 0, 7), "never issued");
    assert_eq!(VerifyState::provable_writes(100, Some(20), 32), 52);
    assert_eq!(VerifyState::provable_writes(100, Some(90), 32), 100);
    assert_eq!(VerifyState::provable_writes(100, None, 32), 100);
}

#[test]
fn what_does_not_fit_is_refused_and_long_names_are_cut() {
    assert_eq!(
        state(1, 10, &[1, 2]).encode().unwrap_err().to_string(),
        "2 completions are more than the queue depth 1 times 1 files; keep the last ones only"
    );
    assert_eq!(VerifyState { job: "a\0b".into(), ..state(1, 1, &[]) }.encode(), Err(StateError::Name));
    let long = VerifyState { job: "ä".repeat(40), ..state(1, 1, &[]) };
    assert_eq!(VerifyState::decode(&long.encode().unwrap()).unwrap().job, "ä".repeat(31));
    assert_eq!(state_file_name("a/b", 2), "local-a.b-2-verify.state");
}

fn arguments(words: &[&str]) -> Vec<String> {
    let common = ["--name=j", "--filename=file", "--bs=4k", "--size=256k", "--ioengine=psync", "--verify=crc32c"];
    common.iter().chain(words).map(|word| (*word).to_owned()).collect()
}

#[test]
fn fio_reads_our_state() {
    if !has_fio() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = job(&arguments(&["--rw=write"])).options;
    let mut verifier = Verifier::new(&options.verify, &options.buffers, 3).unwrap();
    // Of 64 blocks 20 were written.
    let mut file = vec![0; 256 << 10];
    for (number, block) in (0..20).zip(file.chunks_mut(4096)) {
        verifier.stamp(block, &Stamp { offset: number * 4096, number, time_ns: 0, thread: 1 });
    }
    fs::write(folder.path().join("file"), file).unwrap();
    let check = |load: &str| fio(folder.path(), &arguments(&["--rw=write", "--verify_only", load]));
    let without = check("--verify_state_load=0");
    assert!(!without.status.success(), "{}", text(&without));
    let state = state(1, 20, &[19 * 4096]);
    fs::write(folder.path().join(state_file_name("j", 0)), state.encode().unwrap()).unwrap();
    let with = check("--verify_state_load=1");
    assert!(with.status.success(), "{}", text(&with));
}

#[test]
fn fio_s_state_is_read() {
    if !has_fio() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = fio(
        folder.path(),
        &arguments(&[
            "--rw=write",
            "--do_verify=0",
            "--verify_state_save=1",
            "--number_ios=20",
            "--trigger-timeout=1",
            "--thinktime=100ms",
            "--trigger=true",
        ]),
    );
    let bytes = fs::read(folder.path().join(state_file_name("j", 0))).unwrap_or_else(|_| panic!("{}", text(&output)));
    let state = VerifyState::decode(&bytes).unwrap();
    assert_eq!((state.job.as_str(), state.index, state.depth, state.files), ("j", 0, 1, 1));
    assert!((1..=20).contains(&state.writes), "{state:?}");
    // A write may be under way.
    let [Completion { file: 0, offset }] = state.completions[..] else { panic!("{state:?}") };
    assert!((state.writes - 2) * 4096 <= offset && offset < state.writes * 4096, "{state:?}");
}
