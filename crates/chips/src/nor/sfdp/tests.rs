use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::nor::profile::{ContinuousRead, EraseType, Profile, QuadEnable, ReadKind, SfdpSource};

const MS: u64 = 1_000_000;

/// A header with one basic table of 16 words at 0x30.
fn dump(header: &str, table: &str) -> Vec<u8> {
    let hex =
        |text: &str| -> Vec<u8> { text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect() };
    let mut bytes = hex(header);
    bytes.resize(0x30, 0xff);
    bytes.extend(hex(table));
    bytes
}

fn w25q64jv() -> Profile {
    // As read from a W25Q64JV, its table moved to 0x30.
    let bytes = dump(
        "53 46 44 50 05 01 00 ff 00 05 01 10 30 00 00 ff",
        "e5 20 f9 ff ff ff ff 03 44 eb 08 6b 08 3b 42 bb fe ff ff ff ff ff 00 00 ff ff 40 eb 0c 20 0f 52
         10 d8 00 00 36 02 a6 00 82 ea 14 c4 e9 63 76 33 7a 75 7a 75 f7 a2 d5 5c 19 f7 4d ff e9 30 f8 80",
    );
    Profile::from_sfdp("W25Q64JV", &bytes).unwrap()
}

fn mx25r6435f() -> Profile {
    let bytes = dump(
        "53 46 44 50 06 01 02 ff 00 06 01 10 30 00 00 ff c2 00 01 04 10 01 00 ff 84 00 01 02 c0 00 00 ff",
        "e5 20 f1 ff ff ff ff 03 44 eb 08 6b 08 3b 04 bb ee ff ff ff ff ff 00 ff ff ff 00 ff 0c 20 0f 52
         10 d8 00 ff 23 72 f5 00 82 ed 04 cc 44 83 48 44 30 b0 30 b0 f7 c4 d5 5c 00 be 29 ff f0 d0 ff ff",
    );
    Profile::from_sfdp("MX25R6435F", &bytes).unwrap()
}

#[test]
fn a_winbond_dump_is_read() {
    let profile = w25q64jv();
    assert_eq!((profile.capacity_bytes, profile.page_bytes), (8 << 20, 256));
    let erase = |opcode, bytes, typical_ns| EraseType {
        opcode,
        address4_opcode: None,
        bytes,
        typical_ns,
        max_ns: typical_ns * 14,
    };
    let erases = [erase(0x20, 4096, 64 * MS), erase(0x52, 32768, 128 * MS), erase(0xd8, 65536, 160 * MS)];
    assert_eq!(profile.erase_types, erases);
    assert_eq!((profile.chip_erase_typical_ns, profile.chip_erase_max_ns), (20_000 * MS, 280_000 * MS));
    let program = profile.program;
    assert_eq!((program.first_byte_ns, program.next_byte_ns), (32_000, 3_000));
    assert_eq!((program.page_typical_ns, program.page_max_ns), (704_000, 6 * 704_000));
    assert_eq!((profile.latencies.suspend_ns, profile.latencies.release_ns), (20_000, 3_000));
    let suspend = profile.suspend.unwrap();
    assert_eq!((suspend.suspend, suspend.resume), (0x75, 0x7a));
    assert_eq!(profile.quad_enable, QuadEnable::Status2Bit1);
    assert!(!profile.four_byte_address && profile.software_reset);
    let quad = profile.read_mode(ReadKind::QuadIo).unwrap();
    assert_eq!((quad.opcode, quad.mode_clocks, quad.dummy_clocks, quad.setup_clocks(3)), (0xeb, 2, 4, 20));
    let dual = profile.read_mode(ReadKind::DualIo).unwrap();
    assert_eq!((dual.opcode, dual.mode_clocks, dual.dummy_clocks, dual.clocks(3, 2)), (0xbb, 2, 2, 8 + 12 + 4 + 8));
    assert_eq!(profile.reads.len(), 6);
}

#[test]
fn a_macronix_dump_is_read() {
    let profile = mx25r6435f();
    assert_eq!((profile.capacity_bytes, profile.jedec_id[0]), (8 << 20, 0xc2));
    let erases: Vec<_> = profile.erase_types.iter().map(|e| (e.bytes, e.typical_ns / MS, e.max_ns / MS)).collect();
    assert_eq!(erases, [(4096, 48, 384), (32768, 240, 1920), (65536, 480, 3840)]);
    assert_eq!((profile.program.page_typical_ns, profile.program.page_max_ns), (896_000, 6 * 896_000));
    assert_eq!((profile.program.first_byte_ns, profile.program.next_byte_ns), (32_000, 1_000));
    assert_eq!(profile.quad_enable, QuadEnable::Status1Bit6);
    assert_eq!(profile.quad_program.unwrap().opcode, 0x38);
    let suspend = profile.suspend.unwrap();
    assert_eq!((suspend.suspend, suspend.resume), (0xb0, 0x30));
}

#[test]
fn what_is_no_dump_is_refused() {
    assert_eq!(Profile::from_sfdp("", b"PDFS"), Err(SfdpError::Signature));
    assert_eq!(Profile::from_sfdp("", b""), Err(SfdpError::Signature));
    let mut bytes = w25q64jv().sfdp_table().unwrap();
    bytes.truncate(0x40);
    assert_eq!(Profile::from_sfdp("", &bytes), Err(SfdpError::Short { bytes: 0x40, needed: 0x70 }));
    let old = dump(
        "53 46 44 50 00 01 00 ff 00 00 01 09 30 00 00 ff",
        "e5 20 f9 ff ff ff ff 03 44 eb 08 6b 08 3b 42 bb fe ff ff ff ff ff 00 00 ff ff 40 eb 0c 20 0f 52 10 d8 00 00",
    );
    assert_eq!(Profile::from_sfdp("", &old), Err(SfdpError::NoTimes { words: 9 }));
    let mut odd = w25q64jv().sfdp_table().unwrap();
    odd[0x34] = 0xfe;
    assert_eq!(Profile::from_sfdp("", &odd), Err(SfdpError::Density { word: 0x03ff_fffe }));
}

proptest! {
    #[test]
    fn any_bytes_are_a_chip_or_an_error(header in proptest::collection::vec(any::<u8>(), 0..40),
                                        table in proptest::collection::vec(any::<u8>(), 0..80), count in 0_u8..4) {
        let mut bytes = w25q64jv().sfdp_table().unwrap();
        bytes[6] = count;
        for (at, byte) in header.iter().enumerate() { bytes[16 + at % 24] ^= byte & 3; }
        for (at, byte) in table.iter().enumerate() { bytes[0x30 + at % 64] ^= *byte; }
        if let Ok(profile) = Profile::from_sfdp("any", &bytes) {
            profile.check().unwrap();
        }
    }

    #[test]
    fn generated_tables_tell_the_profile(
        log in 16_u32..32, page in 4_u32..10, sizes in proptest::collection::btree_set(12_u32..16, 1..4),
        erase_ms in 1_u64..4000, factor in 1_u64..30, first_us in 1_u64..120, next_ns in 100_u64..16_000,
        page_us in 120_u64..2000, four in any::<bool>(), release_us in 1_u64..100,
    ) {
        let mut profile = w25q64jv();
        profile.sfdp = SfdpSource::Generated;
        profile.capacity_bytes = 1 << log;
        profile.page_bytes = 1 << page;
        profile.four_byte_address = four || log > 24;
        profile.continuous_read = ContinuousRead::None;
        profile.erase_types = sizes.iter().map(|log| EraseType {
            opcode: 0xd0 + *log as u8, address4_opcode: profile.four_byte_address.then_some(0x20 + *log as u8),
            bytes: 1 << log, typical_ns: erase_ms * MS, max_ns: erase_ms * factor * MS,
        }).collect();
        profile.program.first_byte_ns = first_us * 1000;
        profile.program.next_byte_ns = next_ns;
        profile.program.page_typical_ns = page_us * 1000;
        profile.program.page_max_ns = page_us * factor * 1000;
        profile.latencies.release_ns = release_us * 1000;
        profile.check().unwrap();

        let table = profile.sfdp_table().unwrap();
        let told = Profile::from_sfdp("", &table).unwrap();
        prop_assert_eq!(told.capacity_bytes, profile.capacity_bytes);
        prop_assert_eq!(told.page_bytes, profile.page_bytes);
        prop_assert_eq!(told.four_byte_address, profile.four_byte_address);
        prop_assert_eq!(told.quad_enable, profile.quad_enable);
        prop_assert_eq!(told.suspend, profile.suspend);
        prop_assert_eq!(told.erase_types.len(), profile.erase_types.len());
        for (told, own) in told.erase_types.iter().zip(&profile.erase_types) {
            prop_assert_eq!((told.opcode, told.bytes, told.address4_opcode), (own.opcode, own.bytes, own.address4_opcode));
            let unit = if own.typical_ns <= 32 * MS { MS } else if own.typical_ns <= 512 * MS { 16 * MS } else { 128 * MS };
            prop_assert!(told.typical_ns >= own.typical_ns && told.typical_ns < own.typical_ns + unit);
            prop_assert!(told.max_ns >= own.max_ns);
        }
        for (told, own, unit) in [
            (told.program.first_byte_ns, profile.program.first_byte_ns, 8_000),
            (told.program.next_byte_ns, profile.program.next_byte_ns, 1_000),
            (told.program.page_typical_ns, profile.program.page_typical_ns, 64_000),
            (told.latencies.release_ns, profile.latencies.release_ns, 8_000),
        ] {
            prop_assert!(told >= own && told < own + unit, "{told} for {own}");
        }
        prop_assert!(told.program.page_max_ns >= profile.program.page_max_ns);
        for (told, own) in told.reads.iter().zip(&profile.reads) {
            prop_assert_eq!((told.kind, told.opcode, told.mode_clocks, told.dummy_clocks),
                            (own.kind, own.opcode, own.mode_clocks, own.dummy_clocks));
        }
    }
}
