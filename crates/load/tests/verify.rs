//! What was stamped checks out, and what was changed since is found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod verify_support;

use flashmark_fio::options::{BufferOptions, VerifyKind, VerifyOptions};
use flashmark_load::verify::{Check, Expectation, Stamp, Verifier, VerifyError};
use proptest::prelude::*;
use verify_support::{KINDS, header_bytes, options, pattern, verifier};

const STAMP: Stamp = Stamp { offset: 1 << 20, number: 70_001, time_ns: 5_000_000_123, thread: 3 };
const WRITE: Expectation = Expectation::Write { number: STAMP.number };

fn stamped(verifier: &mut Verifier, bytes: usize, stamp: &Stamp) -> Vec<u8> {
    let mut block = vec![0x5a; bytes];
    verifier.stamp(&mut block, stamp);
    block
}

/// Every kind with pieces and offsets that it has room for, and a block of such pieces.
fn any_layout() -> impl Strategy<Value = (VerifyOptions, usize)> {
    (0..KINDS.len(), 0_usize..600, 1_usize..5, 0_usize..3, any::<prop::sample::Index>()).prop_map(
        |(kind, more, pieces, moved, index)| {
            let kind = KINDS[kind];
            let head = header_bytes(kind);
            let offset = if moved == 0 { 0 } else { head.max(40) + index.index(50) };
            let piece = (offset + head).max(head + 128) + 1 + more;
            let interval = if pieces == 1 && moved == 1 { 0 } else { piece as u32 };
            (options(kind, interval, offset as u32), piece * pieces)
        },
    )
}

/// Whether a byte of a block is covered by a check.
fn is_checked(options: &VerifyOptions, piece_bytes: usize, at: usize) -> bool {
    let at = at % piece_bytes;
    let offset = options.verify_offset as usize;
    options.verify != VerifyKind::Meta || (offset..offset + 40).contains(&at)
}

proptest! {
    #[test]
    fn what_was_stamped_checks_out((options, bytes) in any_layout(), offset in 0..u64::MAX / 2, number: u64, thread: u32) {
        let mut verifier = verifier(&options);
        let stamp = Stamp { offset, number, time_ns: number, thread };
        let block = stamped(&mut verifier, bytes, &stamp);
        prop_assert_eq!(verifier.check(&block, offset, Expectation::Write { number }), Ok(()));
        prop_assert_eq!(verifier.check(&block, offset, Expectation::Any), Ok(()));
        let mut other = Verifier::new(&options, &BufferOptions::default(), 8).unwrap();
        prop_assert_eq!(other.check(&block, offset, Expectation::Any), Ok(()), "another run's");
    }

    #[test]
    fn every_flipped_bit_is_found((options, bytes) in any_layout(), at: prop::sample::Index, bit in 0_u8..8) {
        let mut verifier = verifier(&options);
        let mut block = stamped(&mut verifier, bytes, &STAMP);
        let at = at.index(bytes);
        block[at] ^= 1 << bit;
        let piece_bytes = if options.verify_interval == 0 { bytes } else { options.verify_interval as usize };
        let result = verifier.check(&block, STAMP.offset, Expectation::Any);
        if !is_checked(&options, piece_bytes, at) {
            prop_assert_eq!(result, Ok(()));
            return Ok(());
        }
        let mismatch = result.unwrap_err();
        let piece = (at / piece_bytes * piece_bytes) as u64 + STAMP.offset;
        prop_assert_eq!((mismatch.piece_offset, mismatch.piece_bytes), (piece, piece_bytes));
        let place = STAMP.offset + at as u64;
        if let Some(byte) = mismatch.wrong_byte {
            prop_assert_eq!((mismatch.offset, byte.got), (place, block[at]));
            prop_assert_eq!(byte.expected, block[at] ^ (1 << bit));
        } else if matches!(mismatch.check, Check::Checksum(_)) {
            // The checksum itself.
            prop_assert_eq!(mismatch.offset, place);
        } else {
            let header = piece + u64::from(options.verify_offset);
            prop_assert!((header..header + 40).contains(&mismatch.offset), "{}", mismatch);
            prop_assert!(mismatch.check.is_of_header());
        }
    }

    #[test]
    fn another_place_and_another_write_are_found((options, bytes) in any_layout(), other in 1_u64..1 << 40) {
        let mut verifier = verifier(&options);
        let block = stamped(&mut verifier, bytes, &STAMP);
        let elsewhere = verifier.check(&block, STAMP.offset + other, Expectation::Any).unwrap_err();
        let later = verifier.check(&block, STAMP.offset, Expectation::Write { number: STAMP.number + other });
        if options.verify == VerifyKind::Pattern {
            prop_assert_eq!(elsewhere.check, Check::Pattern);
            prop_assert_eq!(later, Ok(()));
        } else {
            prop_assert_eq!(elsewhere.check, Check::Place);
            prop_assert_eq!(elsewhere.got, STAMP.offset.to_string());
            let expected = if other % (1 << 16) == 0 { Check::Seed } else { Check::Number };
            prop_assert_eq!(later.unwrap_err().check, expected);
        }
    }

    #[test]
    fn any_bytes_are_checked_without_panic(
        (options, _) in any_layout(), block in prop::collection::vec(any::<u8>(), 0..2000), offset: u64,
    ) {
        let mut verifier = verifier(&options);
        let offset = offset / 2;
        match verifier.check(&block, offset, WRITE) {
            // A few bytes may be a pattern's.
            Ok(()) => prop_assert!(options.verify == VerifyKind::Pattern && block.len() < 3),
            Err(mismatch) => {
                prop_assert!(!mismatch.to_string().is_empty());
                prop_assert!(!verifier.dump("a/b", &block, offset, &mismatch).is_empty());
            }
        }
        let mut block = block;
        verifier.stamp(&mut block, &STAMP);
    }

    #[test]
    fn dumps_show_the_damage_and_nothing_else((options, bytes) in any_layout(), at: prop::sample::Index) {
        let mut verifier = verifier(&options);
        let whole = stamped(&mut verifier, bytes, &STAMP);
        let mut block = whole.clone();
        let at = at.index(bytes);
        block[at] ^= 0x11;
        let Err(mismatch) = verifier.check(&block, STAMP.offset, Expectation::Any) else { return Ok(()) };
        let files = verifier.dump("folder/some.file", &block, STAMP.offset, &mismatch);
        let start = (mismatch.piece_offset - STAMP.offset) as usize;
        let piece = start..start + mismatch.piece_bytes;
        let name = format!("some.file.{}", mismatch.piece_offset);
        if mismatch.check.is_of_header() {
            prop_assert_eq!(files.len(), 1);
            prop_assert_eq!(&files[0].name, &format!("{name}.hdr_fail"));
            prop_assert_eq!(&files[0].bytes, &block[piece]);
        } else {
            prop_assert_eq!(files.len(), 2);
            prop_assert_eq!(&files[0].name, &format!("{name}.received"));
            prop_assert_eq!(&files[0].bytes, &block[piece.clone()]);
            prop_assert_eq!(&files[1].name, &format!("{name}.expected"));
            prop_assert_eq!(&files[1].bytes, &whole[piece]);
        }
    }
}

#[test]
fn people_are_told_where_and_what() {
    let mut verifier = verifier(&options(VerifyKind::Crc32c, 512, 0));
    let whole = stamped(&mut verifier, 2048, &STAMP);
    let mut block = whole.clone();
    block[700] = !whole[700];
    let mismatch = verifier.check(&block, STAMP.offset, WRITE).unwrap_err();
    let expected = format!("written was {:#04x}", whole[700]);
    assert!(mismatch.to_string().starts_with("offset 1049276: crc32c of the data: expected 0x"), "{mismatch}");
    assert!(mismatch.to_string().ends_with(&expected), "{mismatch}");

    let misplaced = verifier.check(&whole, 4096, Expectation::Any).unwrap_err();
    assert_eq!(
        misplaced.to_string(),
        "offset 4113: a block of another place: offset in the header: expected 4096, got 1048576"
    );
    let stale = verifier.check(&whole, STAMP.offset, Expectation::Write { number: 70_002 }).unwrap_err();
    assert_eq!(
        stale.to_string(),
        "offset 1048610: a block of another write: number in the header: expected 4466, got 4465"
    );
    let zeros = verifier.check(&[0; 2048], STAMP.offset, WRITE).unwrap_err();
    assert_eq!(zeros.to_string(), "offset 1048576: magic number of the header: expected 0xacca, got 0x0");
    let mut other = verifier_of(VerifyKind::Md5);
    let mismatch = other.check(&whole, STAMP.offset, WRITE).unwrap_err();
    assert_eq!(mismatch.to_string(), "offset 1048578: kind of verification: expected md5, got crc32c");
    let mut damaged = whole.clone();
    damaged[16] ^= 1;
    let mismatch = verifier.check(&damaged, STAMP.offset, WRITE).unwrap_err();
    assert_eq!(mismatch.to_string(), "offset 1048592: damaged header: expected offset 1048576, got 1048577");
}

fn verifier_of(kind: VerifyKind) -> Verifier {
    verifier(&options(kind, 512, 0))
}

#[test]
fn numbers_and_seeds_are_checked_as_asked() {
    for (check_number, check_seed, next, sixteen_bits_later) in [
        (true, true, Some(Check::Number), Some(Check::Seed)),
        (true, false, Some(Check::Number), None),
        (false, true, None, None),
    ] {
        let options = VerifyOptions {
            verify_write_sequence: check_number,
            verify_header_seed: check_seed,
            ..options(VerifyKind::Crc32c, 0, 0)
        };
        let mut verifier = verifier(&options);
        let block = stamped(&mut verifier, 4096, &STAMP);
        let mut check = |number| {
            verifier.check(&block, STAMP.offset, Expectation::Write { number }).err().map(|mismatch| mismatch.check)
        };
        assert_eq!(check(STAMP.number), None);
        assert_eq!(check(STAMP.number + 1), next);
        assert_eq!(check(STAMP.number + 65_536), sixteen_bits_later);
    }
}

#[test]
fn null_and_none_leave_blocks_alone() {
    for kind in [VerifyKind::None, VerifyKind::Null] {
        let mut verifier = verifier(&options(kind, 0, 0));
        assert!(!verifier.is_active());
        assert_eq!(stamped(&mut verifier, 512, &STAMP), [0x5a; 512]);
        assert_eq!(verifier.check(&[1; 512], 0, WRITE), Ok(()));
    }
}

#[test]
fn what_has_no_room_is_refused() {
    let refused = |kind, interval, offset| {
        Verifier::new(&options(kind, interval, offset), &BufferOptions::default(), 1).unwrap_err()
    };
    assert!(matches!(refused(VerifyKind::Sha256, 104, 0), VerifyError::Small { least_bytes: 105, .. }));
    assert!(matches!(refused(VerifyKind::Sha512, 295, 0), VerifyError::Small { least_bytes: 296, .. }));
    assert!(matches!(refused(VerifyKind::Md5, 512, 40), VerifyError::OffsetInHeader { header_bytes: 56, .. }));
    assert!(matches!(refused(VerifyKind::Md5, 512, 457), VerifyError::OffsetOutside { .. }));
    let no_pattern = VerifyOptions { verify_pattern: None, ..options(VerifyKind::Pattern, 0, 0) };
    let error = Verifier::new(&no_pattern, &BufferOptions::default(), 1).unwrap_err();
    assert_eq!(error.to_string(), "verify=pattern needs `verify_pattern`, which says what is written");
    let mut verifier = verifier(&options(VerifyKind::Md5, 0, 0));
    assert!(verifier.reserve(56).is_err());
    assert!(verifier.reserve(57).is_ok());
    assert_eq!(verifier.check(&[0; 40], 0, WRITE).unwrap_err().check, Check::Size);
}

#[test]
fn meta_with_a_pattern_checks_the_pattern() {
    let options = VerifyOptions { verify_pattern: Some(pattern()), ..options(VerifyKind::Meta, 512, 0) };
    let mut verifier = verifier(&options);
    let mut block = stamped(&mut verifier, 1024, &STAMP);
    assert_eq!(verifier.check(&block, STAMP.offset, WRITE), Ok(()));
    block[1000] ^= 4;
    let mismatch = verifier.check(&block, STAMP.offset, WRITE).unwrap_err();
    assert_eq!((mismatch.check, mismatch.offset), (Check::Pattern, STAMP.offset + 1000));
}

#[test]
fn no_bytes_are_no_pattern_and_no_header() {
    assert_eq!(verifier(&options(VerifyKind::Pattern, 0, 0)).check(&[], 0, WRITE), Ok(()));
    let mismatch = verifier(&options(VerifyKind::Meta, 0, 0)).check(&[], 0, WRITE).unwrap_err();
    assert_eq!(mismatch.to_string(), "offset 0: bytes read: expected at least 41, got 0");
}

#[test]
fn the_offset_of_the_block_is_in_its_pattern() {
    let mut verifier = verifier(&options(VerifyKind::Pattern, 0, 0));
    let block = stamped(&mut verifier, 40, &STAMP);
    assert_eq!(&block[..18], b"abc\0\0\x10\0\0\0\0\0-xyzabc");
}

#[test]
fn writes_have_data_of_their_own() {
    let mut verifier = verifier(&options(VerifyKind::Crc32c, 0, 0));
    let first = stamped(&mut verifier, 512, &STAMP);
    let again = stamped(&mut verifier, 512, &STAMP);
    let next = stamped(&mut verifier, 512, &Stamp { number: STAMP.number + 1, ..STAMP });
    let beside = stamped(&mut verifier, 512, &Stamp { offset: STAMP.offset + 512, ..STAMP });
    assert_eq!(first, again);
    assert_ne!(first[44..], next[44..]);
    assert_ne!(first[44..], beside[44..]);
}
